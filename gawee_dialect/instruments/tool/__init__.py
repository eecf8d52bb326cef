"""Check the pipeline of another tool, such as `mlir-opt`, pass by pass.

`pipeline.py` runs the tool, `native.py` what it left as machine code, `check.py` is the check,
`reproducer.py` makes small what it finds.
"""
