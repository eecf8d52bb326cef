"""Ops that a graph is made of: one family a file."""
