"""Loop nests as Python functions: source text made from the IR once, run on flat buffers.

Scalars are Python numbers: a float32 is a double that was rounded after every op, which is exact
for one operation each (a double has more than twice its digits). Memrefs are one-dimensional
memory views; offsets that do not change in an inner loop are computed outside it.
"""
