"""Exact numbers in machine code: what proves loops, threads and the llvm dialect.

A module of the llvm dialect becomes another one in which a float is four doubles: its value and its
three residues, in registers and in memory alike. `rewriting.py` says what ops do, `functions.py`
and `lanes.py` are the functions that they call, written with `writer.py`, and `run.py` runs it.
"""
