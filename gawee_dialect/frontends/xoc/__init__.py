"""XOC: computation graphs as JSON, with ONNX's names of operators and no weights.

{"id": ..., "name": ..., "tensors": [...], "nodes": [...], "inputs": [0], "outputs": [2]}

Everything refers to tensors by their index. `document.py` decodes and checks, and is the way back;
`xoc_graph.py` makes a module of it, `export.py` makes it of a module.
"""
