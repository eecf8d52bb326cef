"""Workers for many tasks: this process, or others on other machines, by one interface."""
