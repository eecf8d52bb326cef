"""What a proof need not compute again, and what it must."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.instruments.check.failure import CheckFailure
from tests.instruments.checking import parse
from tests.instruments.prove.proving import prove
from tests.instruments.wrong.changes import first
from tests.instruments.wrong.wrong_pass import Wrong

CALL = """
func.func private @inner(%a: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %s = gawee.add %a, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %s : tensor<3x5xf32>
}
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"}) -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %y = func.call @inner(%x, %z) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
"""


def difference_for_sum(module: ModuleOp) -> None:
    op = first(module, AddOp)
    Rewriter.replace_op(op, SubOp(op.lhs, op.rhs))


def test_a_call_computes_what_its_function_does_now() -> None:
    with pytest.raises(CheckFailure, match="different numbers in exact arithmetic"):
        prove(parse(CALL), "", Wrong(difference_for_sum))
