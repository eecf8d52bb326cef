"""Passes over loops, as far as the llvm dialect."""
