"""What xDSL lacks or gets wrong, a file each, until it has it; docs/xdsl.md lists the reports."""
