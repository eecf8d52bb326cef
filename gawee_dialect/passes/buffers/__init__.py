"""Passes over kernels on buffers, as far as loops."""
