"""Studies: a file says what is compared, a folder holds what was measured, tables come of it."""
