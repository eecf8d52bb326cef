"""A pattern that declines an op says why: what it expected, and what it got."""

import pytest
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.passes.instrument import Instrument, instrumented
from tests.passes.modules import parse, transform

WINDOW = "strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1"
CONV = f"""%y = gawee.conv %x, %w {WINDOW}
  : (tensor<2x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x4xf32>"""
NORM = "tensor<2x4x4x4xf32>, tensor<4xf32>"
ADD = "tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>"

CASES = {
    "fold-batch-norm": [
        (
            f"%z = gawee.batch_norm %a mean %m variance %m eps 1.0e-5 : {NORM}",
            "expected input from a convolution or matmul, got a function argument",
        ),
        (
            f"{CONV}\n%z = gawee.batch_norm %y mean %m variance %m eps 1.0e-5 : {NORM}\n"
            "%u = gawee.relu %y : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>",
            "expected the result of 'gawee.conv' to have one reader, got 2",
        ),
        (
            f"{CONV}\n%z = gawee.batch_norm %y mean %m variance %i eps 1.0e-5 : {NORM}",
            "expected variance to be computed from parameters and constants alone, "
            "got a function argument",
        ),
        (
            f"{CONV}\n%s = gawee.sqrt %i : (tensor<4xf32>) -> tensor<4xf32>\n"
            f"%z = gawee.batch_norm %y mean %m variance %m scale %s eps 1.0e-5 : {NORM}",
            "expected scale to be computed from parameters and constants alone, got 'gawee.sqrt'",
        ),
    ],
    "fold-conv-add": [
        (
            "%z = gawee.add %a, %m : (tensor<2x4x4x4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>",
            "expected an operand from 'gawee.conv', got a function argument "
            "and a function argument",
        ),
        (
            f"{CONV}\n%z = gawee.add %y, %m : (tensor<2x4x4x4xf32>, tensor<4xf32>) "
            "-> tensor<2x4x4x4xf32>",
            "expected a scalar or a shape that broadcasts along 4 channels alone, "
            "such as 4x1x1, got 4",
        ),
        (
            f"{CONV}\n%z = gawee.add %y, %a : (tensor<2x4x4x4xf32>, {ADD}",
            "expected the other operand to be computed from parameters and constants alone, "
            "got a function argument",
        ),
        (
            f"{CONV}\n%z = gawee.add %y, %y : (tensor<2x4x4x4xf32>, {ADD}",
            "expected the result of 'gawee.conv' to have one reader, got 2",
        ),
    ],
}


class Reasons(Instrument):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        self.heard.append(reason)


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [(name, body, reason) for name, cases in CASES.items() for body, reason in cases],
)
def test_a_declined_fold_says_why(name: str, body: str, reason: str) -> None:
    used = "%z, %u" if "%u" in body else "%z"
    result = "tensor<2x4x4x4xf32>"
    types = f"{result}, {result}" if "%u" in body else result
    module = parse(f"""
      func.func @main(%x: tensor<2x3x4x4xf32>, %a: tensor<2x4x4x4xf32>, %i: tensor<4xf32>,
                      %w: tensor<4x3x1x1xf32> {{gawee.parameter = "w"}},
                      %m: tensor<4xf32> {{gawee.parameter = "m"}}) -> ({types}) {{
        {body}
        func.return {used} : {types}
      }}""")
    reasons = Reasons()

    with instrumented(reasons):
        after = transform(module, name)

    assert any(reason in heard for heard in reasons.heard), reasons.heard
    assert after.is_structurally_equivalent(module)
