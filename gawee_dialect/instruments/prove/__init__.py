"""Run a module before and after every pass on exact numbers, and compare what it computes.

`residues.py` is arithmetic modulo three primes, `constants.py` says which number a float constant
stands for, `numbers.py` are arrays of such numbers, `arithmetic.py`, `functions.py` and
`movements.py` what NumPy's functions compute of them. `graph_ops.py`, `tensors.py`,
`nests.py` and the files of algorithms are ops that make arrays of their own, `meanings.py` lists
them; the interpreter's meaning of all others serves as it is. `run.py` runs a function,
`each.py` is the instrument, and `summary.py` its table.
"""
