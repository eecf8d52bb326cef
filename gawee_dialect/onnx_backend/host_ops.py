"""Ops in NumPy."""
HOST_OPS = {}
