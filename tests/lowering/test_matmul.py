"""Linear layers, lowered to linalg and compiled by upstream, against PyTorch."""

import pytest

torch = pytest.importorskip("torch")

from gawee_dialect.dialect.graph.matmul import MatMulOp  # noqa: E402
from tests.lowering.native import assert_close, numbers, run_native  # noqa: E402
from tests.upstream_mlir import requires_upstream  # noqa: E402

pytestmark = requires_upstream


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("leading", [(), (5,), (1,), (2, 5), (2, 1, 4)])
def test_matmul_matches_pytorch(leading, bias, dtype):
    x = numbers(0, *leading, 8, dtype=dtype)
    w = numbers(1, 3, 8, dtype=dtype)
    arrays = [x, w, numbers(2, 3, dtype=dtype)] if bias else [x, w]

    result = run_native(MatMulOp, *arrays)

    assert_close(result, torch.nn.functional.linear(*map(torch.from_numpy, arrays)))
