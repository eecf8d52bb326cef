"""Requests of editors on MLIR text: errors as one types, hover, completion, definitions, rename."""
