"""Mutants of what our passes write, and whether `--prove-each` tells them from the original.

`python -m tests.lowering_mutants 1000` makes so many: one change each, drawn by a seed.
"""
