"""What canonicalize computes of constants is what PyTorch computes."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import AnyFloat, ModuleOp, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, ReshapeOp
from gawee_dialect.dialect.types import AnyTensor, tensor_type
from tests.dialect.random_ops import OPS
from tests.effort import examples
from tests.passes.modules import evaluate, op_names, transform

WIDTHS: dict[int, Literal[16, 32, 64]] = {2: 16, 4: 32, 8: 64}
FOLDED = (AddOp, SubOp, MulOp, DivOp, ReluOp, SqrtOp, FlattenOp, ReshapeOp, CatOp)


def random_constant(type: AnyTensor, data: st.DataObject) -> ConstantOp:
    element = type.get_element_type()
    if isinstance(element, AnyFloat):
        numbers = st.floats(width=WIDTHS[element.size], allow_subnormal=False)
    else:
        numbers = st.integers(0, 1 if element == i1 else 100)
    few = data.draw(st.lists(numbers, min_size=1, max_size=7))
    return ConstantOp(dense_of(np.resize(few, type.get_shape()), type))


def on_constants(op: Operation, data: st.DataObject) -> ModuleOp:
    """A module that applies an op to constants of its operands' types."""
    operands = list(dict.fromkeys(op.operands))
    constants = [random_constant(tensor_type(operand), data) for operand in operands]
    for operand, constant in zip(operands, constants, strict=True):
        operand.replace_all_uses_with(constant.result)
    block = Block([*constants, op, ReturnOp(*op.results)])
    return ModuleOp([FuncOp("main", ([], [op.results[0].type]), Region(block))])


@pytest.mark.parametrize("op_class", FOLDED, ids=lambda op_class: op_class.name)
@given(data=st.data())
@examples(40)
def test_constants_fold_to_what_pytorch_computes(
    op_class: type[Operation], data: st.DataObject
) -> None:
    before = on_constants(data.draw(OPS[op_class]), data)

    after = transform(before, "canonicalize")

    assert op_names(after) in (["constant"], [])
    (expected,), (actual,) = evaluate(before, {}).values(), evaluate(after, {}).values()
    assert actual.dtype == expected.dtype
    # All are exactly rounded, but PyTorch's square root, which may be off by one in the last place.
    rtol = np.finfo(actual.dtype).eps if op_class is SqrtOp else 0
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=0)
