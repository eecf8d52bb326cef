"""All cases, and the ops of the dialect that PyTorch has nothing to compare with."""

from collections.abc import Mapping, Sequence

from benchmarks.ops import along_axes, elementwise, movements, windows
from benchmarks.ops.case import Case

FAMILIES: Mapping[str, Sequence[Case]] = {
    "Elementwise": elementwise.CASES,
    "Along axes": along_axes.CASES,
    "Windows and products": windows.CASES,
    "Movements": movements.CASES,
}

WITHOUT_TWIN: Mapping[str, str] = {
    "gawee.identity": "nothing is computed",
    "gawee.flatten": "another shape of the same memory",
    "gawee.reshape": "another shape of the same memory",
    "gawee.constant": "known before calls",
    "gawee.iota": "known before calls",
    "gawee.fold_batch_norm": "weights alone, computed before calls",
    "gawee.non_max_suppression": "an op of torchvision, on boxes",
    "gawee.quantize": "computed by what reads integers: `benchmarks.quantized` measures networks",
    "gawee.dequantize": "computed by what reads integers: `benchmarks.quantized` measures networks",
    "gawee.scan": "a loop over a body: `benchmarks.recurrences` measures it",
    "gawee.getattr": "a value of Python",
    "gawee.getitem": "a value of Python",
}
"""Ops that are not measured, and why."""


def all_cases() -> dict[str, Case]:
    """Return every case by its name."""
    return {case.name: case for cases in FAMILIES.values() for case in cases}
