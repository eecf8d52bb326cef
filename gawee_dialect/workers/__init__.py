"""Who does the work of many tasks: this process, or workers on other machines, by one interface."""
