"""Rewrites: one pass a file, the file named as the pass."""
