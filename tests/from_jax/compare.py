"""What a text of JAX's computes, against the outputs that JAX stored."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gawee_dialect import load

TOLERANCES = {"float32": (1e-4, 1e-5), "float64": (1e-12, 1e-12), "bfloat16": (2**-7, 2**-7)}
"""Relative and absolute: sums in another order, and other polynomials for functions; of bf16 one
bit. Integers are the same."""


def check(path: Path, level: str) -> None:
    """Run a text at a level; raises AssertionError where it does not compute what JAX did."""
    arrays = _arrays(path.with_suffix(".npz"))
    model = load(path)
    given = [array for name, array in arrays.items() if name.startswith("arg")]
    names = [argument.name for argument in model.entry.arguments]
    got = model.run(dict(zip(names, given, strict=True)), level).values()
    expected = [array for name, array in arrays.items() if name.startswith("out")]
    for made, wanted in zip(got, expected, strict=True):
        assert made.dtype == wanted.dtype
        relative, absolute = TOLERANCES.get(wanted.dtype.name, (0, 0))
        wide = [np.asarray(each, np.float64) for each in (made, wanted)]
        np.testing.assert_allclose(*wide, rtol=relative, atol=absolute, err_msg=level)


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    stored = np.load(path)
    found: dict[str, NDArray[np.generic]] = {}
    for key in stored.files:
        name, _, element = key.partition(".")
        if element:
            from ml_dtypes import bfloat16

            found[name] = stored[key].view(bfloat16)
        else:
            found[name] = stored[key]
    return found
