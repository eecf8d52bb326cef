"""Ops of ONNX that run on the host: on text, sequences and optional values, or of open sizes.

    @host_op("StringConcat")
    def string_concat(x: Array, y: Array) -> Array: ...

A function has the op's inputs as arguments, in ONNX's order, and its attributes by name. What
NumPy computes when a graph is read (`frontends/onnx/folding.py`) runs here too, on text.
"""
