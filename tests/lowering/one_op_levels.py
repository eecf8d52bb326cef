"""One op at every level but the loops, against PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.lowering.native import assert_close
from tests.lowering.torch_levels import FAST_LEVELS, Array, Make, run_levels

if TYPE_CHECKING:
    import torch  # absent on machines without that oracle


def check_op(make: Make, arrays: Sequence[Array], expected: torch.Tensor) -> None:
    """Compare what one op makes of arrays, at each level, with what PyTorch does."""
    for level, (result,) in run_levels([make], arrays, FAST_LEVELS).items():
        try:
            assert_close(result, expected)
        except AssertionError as error:
            raise AssertionError(f"at {level}: {error}") from None
