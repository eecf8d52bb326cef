"""Kernels of bytes alone, whose vectors have four times as many lanes, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gawee_dialect.dialect.graph.arithmetic import MaximumOp  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp  # noqa: E402
from gawee_dialect.dialect.graph.logic import BitwiseNotOp, LogicalNotOp  # noqa: E402
from tests.kernels.compiled import WAYS, check  # noqa: E402

# Below, at, and above one register of bytes, of 512 bits and of 256, and several with a rest.
SIZES = (1, 31, 32, 63, 64, 65, 131, 517)
CASES = [
    ("bool", lambda x, y: LogicalNotOp(x).result, lambda x, y: x.logical_not()),
    ("uint8", lambda x, y: BitwiseNotOp(x).result, lambda x, y: x.bitwise_not()),
    ("int8", lambda x, y: AddOp(x, y).output, lambda x, y: x + y),
    ("uint8", lambda x, y: MaximumOp(x, y).result, lambda x, y: torch.maximum(x, y)),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_bytes_are_computed_with_in_whole_registers(size, way):
    random = np.random.default_rng(0)
    for dtype, build, expected in CASES:
        x, y = (random.integers(0, 256, (3, size)).astype(np.uint8) for _ in range(2))
        x, y = (each > 127 if dtype == "bool" else each.view(dtype) for each in (x, y))

        check(build, [x, y], expected(torch.from_numpy(x), torch.from_numpy(y)), way, tolerance=0)
