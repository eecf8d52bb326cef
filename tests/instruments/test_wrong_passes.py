"""Ten wrong passes: `--check-each` stops at each of them, and names the pass, the op and its node.

Every module has ops before and after the one that the pass breaks, so that naming the first op or
the last one would be wrong.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_opt

PASSES = Path(__file__).parent / "wrong_passes"


@dataclass(frozen=True)
class Case:
    """A wrong pass, the passes before it, a module, and what the message has to say."""

    name: str
    module: str
    op: str
    place: str
    node: str
    before: tuple[str, ...] = ()
    output: str = "y"
    allowed: str = "reassociates"
    hint: str = r"the op's value at \[.*\] was .* and is .*, largest difference"


CONV = """
func.func @main(%x: tensor<2x3x7x6xf32> {gawee.input = "x"},
                %w: tensor<4x3x3x2xf32> {gawee.parameter = "conv.weight"},
                %b: tensor<4xf32> {gawee.parameter = "conv.bias"})
    -> (tensor<2x4x4x4xf32> {gawee.output = "y"}) {
  %a = gawee.relu %x : (tensor<2x3x7x6xf32>) -> tensor<2x3x7x6xf32> loc("act"("net.json":10:5))
  %c = gawee.conv %a, %w bias %b strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x7x6xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x4x4xf32> loc("conv"("net.json":20:5))
  %y = gawee.add %c, %c : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> loc("twice"("net.json":30:5))
  return %y : tensor<2x4x4x4xf32>
}
"""

CAT = """
func.func @main(%x: tensor<2x3x4xf32> {gawee.input = "x"}, %z: tensor<2x3x4xf32> {gawee.input = "z"})
    -> (tensor<2x6x4xf32> {gawee.output = "y"}) {
  %a = gawee.relu %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("act"("net.json":10:5))
  %c = gawee.cat %a, %z dim 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32> loc("cat"("net.json":20:5))
  %y = gawee.add %c, %c : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32> loc("twice"("net.json":30:5))
  return %y : tensor<2x6x4xf32>
}
"""

SUM = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %a: tensor<3x5xf32> {gawee.input = "a"},
                %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %three = gawee.constant dense<3.000000e+00> : tensor<f32> loc("three"("net.json":5:5))
  %s = gawee.add %x, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum1"("net.json":10:5))
  %t = gawee.add %s, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum2"("net.json":20:5))
  %d = gawee.sub %t, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":30:5))
  %q = gawee.div %d, %three : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("third"("net.json":40:5))
  %y = gawee.relu %q : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":50:5))
  return %y : tensor<3x5xf32>
}
"""

MATMUL = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"},
                %w: tensor<5x5xf32> {gawee.parameter = "fc.weight"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %a = gawee.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":10:5))
  %m = gawee.matmul %a, %w : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32> loc("fc"("net.json":20:5))
  %y = gawee.add %m, %m : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("twice"("net.json":30:5))
  return %y : tensor<3x5xf32>
}
"""

OUTPUTS = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}, tensor<3x5xf32> {gawee.output = "w"}) {
  %s = gawee.add %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %d = gawee.sub %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":20:5))
  return %s, %d : tensor<3x5xf32>, tensor<3x5xf32> loc("output"("net.json":30:5))
}
"""

RESIDUAL = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %s = gawee.add %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("skip"("net.json":10:5))
  %t = gawee.mul %s, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("branch"("net.json":20:5))
  %d = gawee.sub %s, %t : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("join"("net.json":30:5))
  %y = gawee.relu %d : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":40:5))
  return %y : tensor<3x5xf32>
}
"""

BUFFERS = ("--lower-to-linalg", "--bufferize")
CASES = (
    Case("wrong-axis", CAT, "'gawee.cat', now 'gawee.reshape'", "net.json:20:5", "cat"),
    Case("dropped-bias", CONV, "'gawee.conv'", "net.json:20:5", "conv"),
    Case("swapped-operands", SUM, "'gawee.sub'", "net.json:30:5", "difference"),
    Case(
        "off-by-one-pad",
        CONV,
        "'tensor.pad'",
        "net.json:20:5",
        "conv",
        ("--lower-to-linalg",),
    ),
    Case("lost-stride", CONV, "'linalg.conv_2d_nchw_fchw'", "net.json:20:5", "conv", BUFFERS),
    Case(
        "wrong-matmul-map", MATMUL, "'linalg.matmul'", "net.json:20:5", "fc", ("--lower-to-linalg",)
    ),
    Case(
        "aliasing-buffers",
        RESIDUAL,
        "'func.call'",
        "net.json:30:5",
        "join",
        (*BUFFERS, "--outline-kernels", "--plan-memory"),
    ),
    Case("undeclared-reassociation", SUM, "'gawee.add'", "net.json:20:5", "sum2", allowed="exact"),
    Case(
        "wrong-constant",
        SUM,
        "'gawee.div', now 'gawee.mul'",
        "net.json:40:5",
        "third",
        allowed=r"approximates\(2 ulp\)",
    ),
    Case(
        "swapped-outputs",
        OUTPUTS,
        "the function returns another value",
        "net.json:30:5",
        "output",
        hint="",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_pass_is_caught_with_its_op(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(case.module)
    file = PASSES / f"{case.name.replace('-', '_')}.py"

    code = gawee_opt.main(
        [
            "--check-each",
            f"--load={file}",
            *case.before,
            f"--{case.name}",
            "--canonicalize",
            f"{path}",
        ]
    )

    out, err = capsys.readouterr()
    assert code == 1
    assert out == ""
    message = err[err.index(case.place) :]
    lines = message.splitlines()
    print(message)
    number = r"-?[0-9.e+-]+"
    assert re.match(
        rf"{re.escape(case.place)}: error: pass '{case.name}' moved output '{case.output}' "
        rf"at \[\d+(, \d+)*\]: expected {number}, got {number}; largest difference {number} "
        rf"\(\d+ ulp\), allowed: {case.allowed}; .*{re.escape(case.op)}",
        lines[0],
    )
    assert lines[1] == f'  node "{case.node}"'
    if case.hint:
        assert re.match(f"hint: {case.hint}", lines[2])
