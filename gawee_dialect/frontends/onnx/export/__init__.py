"""Modules in the vocabulary of ONNX: one table of ops, for every file format that has that.

`ops/` says which nodes an op becomes, `exporter.py` makes a graph of a module, `model_file.py` an
.onnx file of that; `xoc/export.py` makes an XOC graph of it.
"""
