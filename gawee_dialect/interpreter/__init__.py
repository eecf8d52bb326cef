"""NumPy meaning of every level of the IR."""
