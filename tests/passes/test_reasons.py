"""A pattern that declines an op says why: what it expected, and what it got."""

import pytest
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.passes.instrument import Instrument, instrumented
from tests.passes.modules import parse, transform

WINDOW = "strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1"
CONV = f"""%y = gawee.conv %x, %w {WINDOW}
  : (tensor<2x3x4x4xf32>, tensor<4x3x1x1xf32>) -> tensor<2x4x4x4xf32>"""
IMAGE = "tensor<2x4x4x4xf32>"
NORM = "tensor<2x4x4x4xf32>, tensor<4xf32>"
ADD = "tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>"

BOTH = f"tensor<2x4x4x4xf32>, {ADD}"
UNARY = "tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>"
PRODUCT, SCORES = "%z = gawee.batch_matmul", "%s = gawee.batch_matmul"
WEIGHTS = "%v = gawee.softmax"

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
        (
            f"{CONV}\n%z = gawee.mul %y, %i : (tensor<2x4x4x4xf32>, tensor<4xf32>) "
            "-> tensor<2x4x4x4xf32>",
            "expected factors, weights and biases to be computed from parameters and constants "
            "alone, got a function argument",
        ),
        (
            f"{CONV}\n%z = gawee.mul %y, %m : (tensor<2x4x4x4xf32>, tensor<4xf32>) "
            "-> tensor<2x4x4x4xf32>",
            "expected a shape of channels alone, such as 4x1x1, got 4",
        ),
        (
            "%z = gawee.add %a, %m : (tensor<2x4x4x4xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32>",
            "expected an operand from a batch or group normalization, got a function argument "
            "and a function argument",
        ),
        (
            "%r = gawee.reshape %a shape [32, 4] : (tensor<2x4x4x4xf32>) -> tensor<32x4xf32>\n"
            f"%z = gawee.reshape %r shape [2, 4, 4, 4] : (tensor<32x4xf32>) -> {IMAGE}",
            "expected input from a product, got a function argument",
        ),
        (
            f"{SCORES} %a, %a : ({BOTH}\n"
            "%r = gawee.reshape %s shape [32, 4] : (tensor<2x4x4x4xf32>) -> tensor<32x4xf32>\n"
            f"%z = gawee.reshape %r shape [2, 4, 4, 4] : (tensor<32x4xf32>) -> {IMAGE}",
            "expected a 'gawee.batch_norm' to read the reshaped product, and nothing else",
        ),
        (
            f"{SCORES} %a, %a : ({BOTH}\n"
            "%r = gawee.reshape %s shape [32, 4] : (tensor<2x4x4x4xf32>) -> tensor<32x4xf32>\n"
            "%n = gawee.batch_norm %r mean %m variance %m eps 1.0e-5 : tensor<32x4xf32>, "
            "tensor<4xf32>\n"
            f"%z = gawee.reshape %n shape [2, 4, 4, 4] : (tensor<32x4xf32>) -> {IMAGE}",
            "expected rows of a product with one matrix of weights, got 32x4",
        ),
        (
            f"%u = gawee.matmul %a, %p : (tensor<2x4x4x4xf32>, tensor<4x4xf32>) -> {IMAGE}\n"
            "%r = gawee.reshape %u shape [32, 4] : (tensor<2x4x4x4xf32>) -> tensor<32x4xf32>\n"
            "%n = gawee.batch_norm %r mean %m variance %m eps 1.0e-5 : tensor<32x4xf32>, "
            "tensor<4xf32>\n"
            f"%z = gawee.reshape %n shape [2, 4, 4, 4] : (tensor<32x4xf32>) -> {IMAGE}",
            "expected the result of 'gawee.matmul' to have one reader",
        ),
    ],
    "fold-conv-add": [
        (
            "%z = gawee.hard_sigmoid %a : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>",
            "expected input from a convolution, got a function argument",
        ),
        (
            f"{CONV}\n%z = gawee.hard_sigmoid %y : ({UNARY}\n%u = gawee.relu %y : ({UNARY}",
            "expected the result of 'gawee.conv' to have one reader, got 2",
        ),
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
    "fuse-attention": [
        (f"{PRODUCT} %a, %a : ({BOTH}", "expected weights from a softmax along the last axis"),
        (
            f"{PRODUCT} %a, %a transpose_a : ({BOTH}",
            "expected weights as they are stored, got them transposed",
        ),
        (
            f"%v = gawee.softmax %a axis 3 : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>\n"
            f"{PRODUCT} %v, %a : ({BOTH}",
            "expected a softmax of scaled products of queries and keys",
        ),
        (
            f"{SCORES} %a, %a : ({BOTH}\n%t = gawee.add %s, %i : (tensor<2x4x4x4xf32>, "
            f"tensor<4xf32>) -> tensor<2x4x4x4xf32>\n{WEIGHTS} %t axis 3 : ({UNARY}\n"
            f"{PRODUCT} %v, %a : ({BOTH}",
            "expected a mask that hides no query from all keys, or zeros where one does",
        ),
        (
            f"{SCORES} %a, %a : ({BOTH}\n{WEIGHTS} %s axis 3 : ({UNARY}\n"
            f"{PRODUCT} %v, %a : ({BOTH}\n%u = gawee.relu %v : ({UNARY}",
            "expected the result of 'gawee.softmax' to be read by attention alone",
        ),
        (
            f"%k = gawee.constant dense<1.0> : tensor<4x4xf32>\n{SCORES} %a, %k : "
            f"(tensor<2x4x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4x4xf32>\n"
            f"{WEIGHTS} %s axis 3 : ({UNARY}\n{PRODUCT} %v, %a : ({BOTH}",
            "expected queries, keys and values with the same leading axes, "
            "got 2x4x4x4, 4x4, 2x4x4x4",
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
                      %p: tensor<4x4xf32> {{gawee.parameter = "p"}},
                      %m: tensor<4xf32> {{gawee.parameter = "m"}}) -> ({types}) {{
        {body}
        func.return {used} : {types}
      }}""")
    reasons = Reasons()

    with instrumented(reasons):
        after = transform(module, name)

    assert any(reason in heard for heard in reasons.heard), reasons.heard
    assert after.is_structurally_equivalent(module)
