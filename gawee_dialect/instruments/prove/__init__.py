"""Run a module before and after every pass on exact numbers, and compare what it computes.

`residues.py` is arithmetic modulo three primes, `numbers.py` are arrays of such numbers,
`arithmetic.py` and `functions.py` what NumPy's functions compute of them. The interpreter's meaning
of ops serves as it is. `run.py` runs a function, `native/` machine code, and `each.py` is the
instrument.
"""
