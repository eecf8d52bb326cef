"""Mixed element types: which one an op computes in, for every pair that PyTorch has."""

from importlib.util import find_spec
from itertools import product

import pytest

pytest.importorskip("torch")

import torch
from xdsl.dialects.builtin import i32

from gawee_dialect.dialect.types import ui16
from gawee_dialect.frontends.op_mapping.emitter import wider
from gawee_dialect.frontends.op_mapping.registry import Refusal
from tests.frontends.aten.calls import Call, check

DTYPES = (
    *(torch.float64, torch.float32, torch.float16, torch.int64, torch.int32),
    *(torch.int16, torch.int8, torch.uint8, torch.bool),
    *((torch.bfloat16,) if find_spec("ml_dtypes") else ()),
)


def of(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype) * (1 if dtype == torch.bool else 3)


@pytest.mark.parametrize("left", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())], ids=str)
def test_two_tensors(left: torch.dtype, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    for right in DTYPES:
        operands = [of(left, *shapes[0]), of(right, *shapes[1])]
        check("aten.mul.Tensor", Call(operands))
        check("aten.div.Tensor", Call(operands))
        check("aten.eq.Tensor", Call(operands))


@pytest.mark.parametrize("shape", [(2,), ()], ids=str)
def test_a_tensor_and_a_number(shape: tuple[int, ...]) -> None:
    for dtype, number in product(DTYPES, (True, 2, 0.5)):
        check("aten.add.Scalar", Call([of(dtype, *shape), number]))
        check("aten.lt.Scalar", Call([of(dtype, *shape), number]))


def test_uint16_meets_itself_alone() -> None:
    check("aten.eq.Tensor", Call([of(torch.uint16, 2), of(torch.uint16, 2)]))
    with pytest.raises(Refusal, match="unsupported promotion of uint16; supported: uint16 with"):
        wider(ui16, i32)  # PyTorch has no such call, other formats have


def test_a_vector_without_elements_is_put_behind_others_for_its_type_alone() -> None:
    check("aten.cat.default", Call([[of(torch.int64, 1, 3), of(torch.float32, 0)], 1]))
    check("aten.cat.default", Call([[of(torch.float64, 0), of(torch.int8, 3)]]))


def test_uint8_wraps_around() -> None:
    value = torch.tensor([0, 5, 250, 255], dtype=torch.uint8)

    for op in ("add", "sub", "mul"):
        check(f"aten.{op}.Tensor", Call([value, value.flip(0)]))
    check("aten.neg.default", Call([value]))


@pytest.mark.parametrize("number", [1e5, -1e9, 1e-7, 65520])
def test_a_factor_that_f16_has_no_number_for(number: float) -> None:
    value = torch.tensor([0.0, 0.25, -0.5, 60000.0]).half()

    for factor in (number, torch.tensor(number), torch.tensor(number, dtype=torch.float64)):
        check("aten.mul.Tensor", Call([value, factor]))
        check("aten.div.Tensor", Call([value, factor]))
