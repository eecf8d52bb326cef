"""Calls on bytes and truth values, which most ops of the dialect compute in other integers."""

from random import Random

import pytest

pytest.importorskip("torch")
pytest.importorskip("hypothesis")

import torch

from tests.frontends.aten.calls import Call, Draw, check

D = Draw(Random(0))
BYTES = D.ints(3, 5, low=0, high=255, dtype=torch.uint8)
FLAGS = D.bools(3, 5)
INDEX = D.ints(3, 5, low=0, high=4)
ROW = torch.tensor([0, 0, 2])
IMAGE = D.ints(1, 2, 7, 5, low=0, high=255, dtype=torch.uint8)

CALLS = {
    "scatter_add.default": [1, INDEX, ...],
    "scatter.reduce": [1, INDEX, ..., {"reduce": "multiply"}],
    "scatter_reduce.two": [1, INDEX, ..., "amax", {"include_self": False}],
    "index_reduce.default": [0, ROW, ..., "amin", {"include_self": False}],
    "index_put.default": [[ROW], ..., True],
    "sort.default": [1],
    "topk.default": [4],
    "kthvalue.default": [2, 1],
    "median.dim": [1],
    "max.dim": [0, True],
    "min.dim": [1],
}
"""What comes after the input, keywords last; `...` are the same elements backwards."""


@pytest.mark.parametrize("level", ["gawee", "llvm"])
@pytest.mark.parametrize("value", [BYTES, FLAGS], ids=["bytes", "flags"])
@pytest.mark.parametrize("op", CALLS)
def test_a_call_on_bytes(op: str, value: torch.Tensor, level: str) -> None:
    if value is FLAGS and op.startswith(("topk", "kthvalue", "median", "index_reduce")):
        pytest.skip("PyTorch has none of truth values")
    ordered = op.split(".")[0] in ("topk", "kthvalue", "median")  # ties: of any of them
    *args, last = [value.flip(0).contiguous() if each is ... else each for each in CALLS[op]]
    args, keywords = (args, last) if isinstance(last, dict) else ([*args, last], {})
    check(f"aten.{op}", Call([value, *args], keywords, [0] if ordered else None), level)


@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_products_and_windows_of_bytes(level: str) -> None:
    check("aten.mm.default", Call([BYTES, BYTES.T.contiguous()]), level)
    check("aten.max_pool2d_with_indices.default", Call([IMAGE, [2, 3], [2, 1], [1, 1]]), level)
    kernel = D.ints(4, 2, 3, 2, low=0, high=255, dtype=torch.uint8)
    args = [IMAGE, kernel, None, [1, 2], [1, 1], [1, 1], False, [0, 0], 1]
    check("aten.convolution.default", Call(args), level)
