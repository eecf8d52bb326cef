"""Make a failing module small: fewer ops, smaller tensors, plainer attributes, the same failure.

`failure.py` says what failing is, `draft.py`, `cuts.py` and `sizes.py` make smaller modules,
`reducer.py` proposes and tries.
"""
