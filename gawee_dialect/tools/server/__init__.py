"""A process that has imported the tools, and forks itself for each command line: `gawee server`."""
