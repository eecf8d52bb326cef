"""How close numbers have to be: tolerances, and NumPy's comparison for arrays of any element type."""

from typing import TypedDict

import numpy as np
import numpy.typing as npt


class Tolerances(TypedDict):
    """Keyword arguments of PyTorch's `assert_close` and of `assert_allclose`."""

    rtol: float
    atol: float


def assert_allclose(
    actual: npt.ArrayLike,
    desired: npt.ArrayLike,
    rtol: float = 1e-7,
    atol: float = 0,
    *,
    equal_nan: bool = True,
    err_msg: str = "",
) -> None:
    """`numpy.testing.assert_allclose`, whose types leave out arrays of an element type that is not known."""
    np.testing.assert_allclose(
        np.asarray(actual), np.asarray(desired), rtol, atol, equal_nan, err_msg
    )
