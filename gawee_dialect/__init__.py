"""gawee: neural-network graphs as MLIR, in Python, down to native code."""
