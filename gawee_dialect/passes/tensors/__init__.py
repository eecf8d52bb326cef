"""Passes over structured ops and kernels on tensors, as far as buffers."""
