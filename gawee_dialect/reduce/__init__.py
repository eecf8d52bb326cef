"""Make a failing module small: fewer ops, smaller tensors, plainer attributes, the same failure.

`failure.py` and `numeric.py` say what failing is, `draft.py` and `sizes.py` make smaller modules,
`links.py` says which sizes go together, `reducer.py` proposes and tries.
"""
