"""Random valid ops of the dialect: one function an op, a file a family."""
