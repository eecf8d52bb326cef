"""Every op beside PyTorch's eager one, at three sizes.

`python -m benchmarks.ops`; `--only NAME ...` measures some.
"""
