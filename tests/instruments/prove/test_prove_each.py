"""What `--prove-each` proves of our passes, and which wrong ones it stops at.

Oracle of the wrong passes: each changes a module by hand, to one that computes something else.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
    f64,
)
from xdsl.ir import Operation

import gawee_dialect
from gawee_dialect.dialect.graph.arithmetic import LogOp, ReciprocalOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import DivOp, MulOp, SqrtOp
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.passes.numerics import FOLDS_CONSTANTS, Numerics, approximates
from gawee_dialect.tools import gawee_opt
from tests.effort import full_run
from tests.instruments.checking import parse
from tests.instruments.prove import networks
from tests.instruments.prove.proving import prove, unproved
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Wrong

ROOT = Path(__file__).parent.parent.parent.parent
NETWORKS = {
    "residual": networks.RESIDUAL,
    "mobile": networks.MOBILE,
    "transformer": networks.TRANSFORMER,
    "sum": networks.SUM,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_pass_from_graph_to_kernels_is_proved(name: str) -> None:
    proof = prove(parse(NETWORKS[name]), "gawee-to-kernels")

    assert unproved(proof) == {}
    proved = {step.name for step in proof.steps if step.verdict == "proved"}
    assert {"lower-to-linalg", "form-kernels", "assign-schedules"} <= proved


def test_winograd_is_proved() -> None:
    proof = prove(parse(networks.RESIDUAL), "gawee-to-kernels")

    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["convert-to-winograd"] == "proved"
    assert verdicts["fold-batch-norm"] == "proved"
    assert verdicts["assign-layouts"] == "proved"


def test_digits_example_is_proved_on_its_data() -> None:
    folder = ROOT / "examples" / "digits"
    model = gawee_dialect.load(folder / "graph.json")
    images = np.load(folder / "digits_test.npz")["images"]
    arrays = {**model.bound, "x": images[0][None]}

    proof = prove(model.module, "gawee-to-kernels", settings=CheckSettings(arrays=arrays))

    assert unproved(proof) == {}


REWRITES = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %q = gawee.div %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("quotient"("net.json":10:5))
  %y = gawee.tanh %q : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":20:5))
  return %y : tensor<3x5xf32>
}
"""


def multiply_by_inverse(module: ModuleOp) -> None:
    op = changes.first(module, DivOp)
    assert op.parent is not None
    inverse = ReciprocalOp(op.rhs)
    product = MulOp(op.lhs, inverse.result)
    op.parent.insert_ops_before([inverse, product], op)
    op.result.replace_all_uses_with(product.result)
    op.detach()
    op.erase()


def test_a_product_with_the_inverse_is_the_quotient() -> None:
    assert unproved(prove(parse(REWRITES), "", Wrong(multiply_by_inverse))) == {}


@dataclass(frozen=True)
class Approximate(Wrong):
    """A wrong pass that declares what it does."""

    name = "approximate"
    numerics: ClassVar[Numerics] = approximates(1 << 20)


def test_what_a_pass_declares_to_approximate_is_assumed_and_checked_by_data() -> None:
    proof = prove(parse(networks.SUM), "", Approximate(changes.nudge_constant))

    assert unproved(proof) == {"approximate": "assumed, declared: approximates(1048576 ulp)"}
    assert proof.steps[-1].is_checked


FOLDED = """
func.func @main(%x: tensor<3xf32> {gawee.input = "x"}) -> (tensor<3xf32> {gawee.output = "y"}) {
  %c = gawee.constant dense<2.0> : tensor<3xf32> loc("two"("net.json":5:5))
  %s = gawee.sqrt %c : (tensor<3xf32>) -> tensor<3xf32> loc("root"("net.json":10:5))
  %y = gawee.mul %x, %s : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("scaled"("net.json":20:5))
  return %y : tensor<3xf32>
}
"""


def test_constants_that_are_folded_in_floats_are_assumed() -> None:
    module = parse(FOLDED)

    proof = prove(module, "canonicalize")

    assert not any(isinstance(op, SqrtOp) for op in module.walk())
    assert unproved(proof) == {
        "canonicalize": "assumed, constants are folded in floats, within 0.2 ulp: "
        "'gawee.sqrt' op of node \"root\" (net.json:10:5)"
    }


FOLDED_TO_ONE = """
func.func @main()
    -> (tensor<2xf32> {gawee.output = "y"}, tensor<2xf64> {gawee.output = "w"}, tensor<2xi1> {gawee.output = "n"}) {
  %c = gawee.iota axis 0 : tensor<2xi64> loc("net.json":5:5)
  %z = gawee.cast %c : (tensor<2xi64>) -> tensor<2xf32> loc("net.json":8:5)
  %y = gawee.sqrt %z : (tensor<2xf32>) -> tensor<2xf32> loc("net.json":10:5)
  %w = gawee.cast %z : (tensor<2xf32>) -> tensor<2xf64> loc("net.json":11:5)
  %n = gawee.isnan %z : (tensor<2xf32>) -> tensor<2xi1> loc("net.json":12:5)
  return %y, %w, %n : tensor<2xf32>, tensor<2xf64>, tensor<2xi1>
}
"""


def test_a_folded_constant_may_be_what_another_op_computes() -> None:
    proof = prove(parse(FOLDED_TO_ONE), "canonicalize")

    assert unproved(proof) == {
        "canonicalize": "assumed, constants are folded in floats, within 0.1 ulp: "
        "'gawee.sqrt' op (net.json:10:5), 'gawee.cast' op (net.json:11:5), "
        "'gawee.isnan' op (net.json:12:5)"
    }


FOLDED_TO_INFINITIES = """
func.func @main() -> (tensor<3xf64> {gawee.output = "y"}) {
  %c = gawee.constant dense<[-1.0, 0.0, 1.0]> : tensor<3xf64> loc("net.json":5:5)
  %y = gawee.log %c : (tensor<3xf64>) -> tensor<3xf64> loc("net.json":8:5)
  return %y : tensor<3xf64>
}
"""


def test_folded_constants_keep_nan_and_infinities_where_they_were() -> None:
    assert unproved(prove(parse(FOLDED_TO_INFINITIES), "canonicalize")) == {
        "canonicalize": "assumed, constants are folded in floats, within 0.1 ulp: "
        "'gawee.log' op (net.json:8:5)"
    }


FOLDED_IN_F64 = """
func.func @main() -> (tensor<3xf64> {gawee.output = "y"}) {
  %c = gawee.constant dense<-25.5> : tensor<3xf64> loc("net.json":5:5)
  %y = gawee.elu %c alpha 1.6054728430566745 : (tensor<3xf64>) -> tensor<3xf64> loc("net.json":8:5)
  return %y : tensor<3xf64>
}
"""


def test_what_is_folded_in_f64_has_the_digits_of_f32_that_constants_stand_for() -> None:
    assert unproved(prove(parse(FOLDED_IN_F64), "canonicalize")) == {
        "canonicalize": "assumed, constants are folded in floats, within 0.3 ulp: "
        "'gawee.elu' op (net.json:8:5)"
    }


def folded_to(
    kind: type[Operation], type: Float32Type | Float64Type, values: Sequence[float]
) -> Callable[[ModuleOp], None]:
    """Return a rewrite that makes an op a constant, whatever it computes."""

    def fold(module: ModuleOp) -> None:
        op = changes.first(module, kind)
        assert op.parent is not None
        (result,) = op.results
        constant = ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(type, [3]), values))
        constant.location = op.location
        op.parent.insert_op_before(constant, op)
        result.replace_all_uses_with(constant.result)
        op.detach()
        op.erase()

    return fold


@pytest.mark.parametrize(
    ("text", "kind", "type", "values"),
    [
        (FOLDED, SqrtOp, f32, [1.41423] * 3),
        (FOLDED_TO_INFINITIES, LogOp, f64, [math.nan, 0.0, 0.0]),
        (FOLDED_TO_INFINITIES, LogOp, f64, [math.nan, -math.inf, math.nan]),
        (FOLDED_TO_INFINITIES, LogOp, f64, [-math.inf, -math.inf, 0.0]),
    ],
)
def test_a_constant_that_is_not_what_was_folded_is_wrong(
    text: str, kind: type[Operation], type: Float32Type | Float64Type, values: Sequence[float]
) -> None:
    wrong = Wrong(folded_to(kind, type, values))
    with pytest.raises(CheckFailure, match=rf"pass 'wrong' moved output 'y'.*'{kind.name}'"):
        prove(parse(text), "", wrong)


def recurrence(steps: int) -> str:
    """Return h <- tanh(w h + x), so many times."""
    rows = "tensor<3x16xf32>"
    lines = [f"%h0 = gawee.tanh %x : ({rows}) -> {rows}"]
    for step in range(steps):
        lines += [
            f"%m{step} = gawee.matmul %h{step}, %w : ({rows}, tensor<16x16xf32>) -> {rows}",
            f"%a{step} = gawee.add %m{step}, %x : ({rows}, {rows}) -> {rows}",
            f"%h{step + 1} = gawee.tanh %a{step} : ({rows}) -> {rows}",
        ]
    arguments = f'%x: {rows} {{gawee.input = "x"}}, %w: tensor<16x16xf32> {{gawee.parameter = "w"}}'
    body = "\n".join(lines)
    return f"""func.func @main({arguments}) -> ({rows} {{gawee.output = "y"}}) {{
{body}
return %h{steps} : {rows}
}}"""


@full_run
def test_errors_of_functions_add_up_along_a_recurrence() -> None:
    # After 20 steps outputs are thousands of ulp apart, where each tanh may be off by 7.
    proof = prove(parse(recurrence(20)), "gawee-to-kernels,gawee-kernels-to-loops,expand-math")

    assert unproved(proof) == {"expand-math": "assumed, declared: approximates(7 ulp)"}


SCALES = """
func.func @main(%q: tensor<2x5x8xf32> {gawee.input = "q"}, %k: tensor<2x7x8xf32> {gawee.input = "k"}, %v: tensor<2x7x3xf32> {gawee.input = "v"}) -> (tensor<2x5x3xf32> {gawee.output = "y"}) {
  %c = gawee.constant dense<0.594603539> : tensor<f32>
  %0 = gawee.mul %q, %c : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5x8xf32>
  %1 = gawee.mul %k, %c : (tensor<2x7x8xf32>, tensor<f32>) -> tensor<2x7x8xf32>
  %s = gawee.batch_matmul %0, %1 transpose_b : (tensor<2x5x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x7xf32>
  %w = gawee.softmax %s axis -1 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %y = gawee.batch_matmul %w, %v : (tensor<2x5x7xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}
"""


def test_two_scales_of_attention_that_become_one_are_assumed() -> None:
    proof = prove(parse(SCALES), "gawee-to-kernels")

    assert unproved(proof) == {"fuse-attention": "assumed, declared: folds constants"}


def test_one_scale_of_attention_is_proved() -> None:
    alone = SCALES.replace("%0, %1 transpose_b", "%0, %k transpose_b")

    proof = prove(parse(alone), "gawee-to-kernels")

    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["fuse-attention"] == "proved"
    assert unproved(proof) == {}


def double_scale(module: ModuleOp) -> None:
    op = changes.first(module, AttentionOp)
    op.properties["scale"] = FloatAttr(2 * op.scale.value.data, f64)


@dataclass(frozen=True)
class Folding(Wrong):
    """A wrong pass that declares to fold constants."""

    name = "folding"
    numerics: ClassVar[Numerics] = FOLDS_CONSTANTS


def test_what_folds_constants_is_checked_by_data() -> None:
    with pytest.raises(CheckFailure, match=r"pass 'folding' moved output 'y'.*folds constants"):
        prove(parse(SCALES), "fuse-attention", Folding(double_scale))


NO_DEVIATION = """
func.func @main(%x: tensor<7x1xf64> {gawee.input = "x"}) -> (tensor<7x11xf64> {gawee.output = "y"}) {
  %0 = gawee.broadcast_to %x shape [7, 11] : (tensor<7x1xf64>) -> tensor<7x11xf64>
  %y = gawee.layer_norm %0 normalized_rank 1 eps 0.0 : tensor<7x11xf64>
  return %y : tensor<7x11xf64>
}
"""


@pytest.mark.parametrize("level", ["lower-to-linalg", "gawee-to-kernels", "gawee-to-llvm"])
def test_nothing_by_nothing_is_nan_whatever_roundings_left_of_either(level: str) -> None:
    assert unproved(prove(parse(NO_DEVIATION), level)) == {}


def blended(mode: str) -> ModuleOp:
    return parse(f"""
    func.func @main(%x: tensor<2x3x4x5xf32> {{gawee.input = "x"}}) -> (tensor<2x3x7x11xf32> {{gawee.output = "y"}}) {{
      %y = gawee.interpolate %x size [7, 11] mode {mode} : (tensor<2x3x4x5xf32>) -> tensor<2x3x7x11xf32>
      return %y : tensor<2x3x7x11xf32>
    }}
    """)


@pytest.mark.parametrize(
    "mode",
    [
        '"bilinear"',
        '"bilinear" align_corners',
        '"bilinear" scales [1.75, 2.2]',
        '"bicubic"',
    ],
)
@pytest.mark.parametrize("pipeline", ["gawee-to-loops", "gawee-to-kernels"])
def test_weights_of_neighbours_are_exact(mode: str, pipeline: str) -> None:
    assert unproved(prove(blended(mode), pipeline)) == {}


def test_a_wrong_weight_is_no_proof() -> None:
    module = blended('"bicubic"')

    with pytest.raises(CheckFailure, match="different numbers in exact arithmetic"):
        prove(module, "lower-to-linalg", Wrong(changes.replace_first(arith.SubfOp, arith.AddfOp)))


def test_a_pass_that_is_wrong_where_nothing_is_proved_is_caught_by_data() -> None:
    with pytest.raises(CheckFailure, match=r"pass 'wrong' moved output 'y'.*reassociates"):
        prove(
            parse(networks.BRAINS),
            "gawee-to-loops",
            Wrong(changes.replace_first(arith.SubfOp, arith.AddfOp)),
        )


def test_the_command_line_says_what_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(networks.SUM)

    code = gawee_opt.main(["--prove-each", "--check-seed=3", "--lower-to-linalg", str(path)])

    out, err = capsys.readouterr()
    assert code == 0
    assert "linalg.generic" in out
    assert re.search(r"lower-to-linalg\s+│ proved", err)


CROPS = """
func.func @main(%x: tensor<5xf32> {gawee.input = "x"}) -> (tensor<4xf32> {gawee.output = "y"}) {
  %z = arith.constant 0.0 : f32
  %same = arith.constant 0.0 : f32
  %y = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    %v = arith.addf %z, %same : f32
    tensor.yield %v : f32
  } : tensor<5xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def test_what_the_interpreter_refuses_is_not_provable() -> None:
    first, *_ = prove(parse(CROPS), "cse").steps

    assert "'tensor.pad' op cannot run: expected padding of at least 0" in first.note


def test_memory_of_unknown_size_is_not_provable() -> None:
    proof = prove(
        parse("func.func @main(%w: memref<?xi8> {gawee.workspace}) {\n  func.return\n}"),
        "canonicalize",
    )

    assert proof.steps[0].note == "not provable: a buffer of bytes has an unknown size"


def test_an_output_of_unknown_size_is_not_provable() -> None:
    text = 'func.func @main(%y: memref<?x3xf32> {gawee.output = "y"}) {\n  func.return\n}'

    proof = prove(parse(text), "canonicalize")

    assert proof.steps[0].note == (
        "not provable: argument #0: expected a static shape, got 'memref<?x3xf32>'"
    )
