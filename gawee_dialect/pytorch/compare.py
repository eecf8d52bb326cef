"""How far two arrays are apart, in their own dtype."""

from dataclasses import dataclass

import numpy as np

from gawee_dialect.pytorch.tensors import Array


@dataclass(frozen=True)
class Difference:
    """Whether two arrays are close, and how far apart; NaN counts as equal to NaN."""

    is_close: bool
    max_diff: float
    mean_diff: float
    reason: str | None = None
    """What differs other than elements."""


def compare(expected: Array, got: Array, rtol: float, atol: float) -> Difference:
    """Compare as `allclose` does: |got - expected| <= atol + rtol * |expected|.

    Integers and booleans have to be equal. A shape or dtype that differs, and NaN or infinity on
    one side alone, are infinitely far apart.
    """
    infinite = float("inf")
    if expected.shape != got.shape:
        return Difference(False, infinite, infinite, f"shape {got.shape}, not {expected.shape}")
    if expected.dtype != got.dtype:
        return Difference(False, infinite, infinite, f"dtype {got.dtype}, not {expected.dtype}")
    if expected.size == 0:
        return Difference(True, 0.0, 0.0)
    wide_expected, wide_got = expected.astype(np.float64), got.astype(np.float64)
    same = (expected == got) | (np.isnan(wide_expected) & np.isnan(wide_got))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(wide_expected - wide_got))
    apart = np.where(np.isnan(apart), infinite, apart)
    allowed = atol + rtol * np.abs(np.where(np.isfinite(wide_expected), wide_expected, 0.0))
    close = same | (apart <= allowed) if _is_float(expected) else same
    return Difference(bool(close.all()), float(apart.max()), float(apart.mean()))


def _is_float(array: Array) -> bool:
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"
