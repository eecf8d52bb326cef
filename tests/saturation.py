"""Processors on which ONNX Runtime's sums of products of bytes are not exact."""

import platform

import pytest
from llvmlite import binding

FOUR_BYTES = ("avx512vnni", "avxvnni")
"""Instructions that add up four products in 32 bits; without them pairs saturate in 16."""

_features = binding.get_host_cpu_features()

exact_onnx_runtime = pytest.mark.skipif(
    platform.machine() in ("x86_64", "AMD64")
    and not any(_features.get(each) for each in FOUR_BYTES),
    reason="products of bytes of ONNX Runtime saturate on this processor",
)
"""For tests whose oracle is ONNX Runtime on full-range bytes: elsewhere they are skipped."""
