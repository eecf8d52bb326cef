"""Make a failing module small: fewer ops, smaller tensors, plainer attributes, the same failure.

`failure.py` and `numeric.py` say what failing is, `cut.py`, `sizes.py` and `attributes.py` propose
smaller modules, `reducer.py` tries them.
"""
