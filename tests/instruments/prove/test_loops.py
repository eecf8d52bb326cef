"""What `--prove-each` proves of loops, vectors, threads and the llvm dialect.

Loops run as machine code on exact numbers; the levels above are interpreted. Oracle: that both
compute the same numbers, and wrong changes by hand, which do not.
"""

from contextlib import AbstractContextManager
from unittest.mock import patch

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.winograd import Winograd
from gawee_dialect.instruments.check.each import CheckEach, CheckFailure
from gawee_dialect.instruments.check.failure import CheckStep
from gawee_dialect.instruments.prove import run
from gawee_dialect.passes.tensors import convert_to_winograd
from gawee_dialect.passes.tensors.convert_to_winograd.choose import Convolution, plans
from gawee_dialect.target.description import Processor
from tests.effort import full_run
from tests.instruments.checking import parse
from tests.instruments.prove import networks
from tests.instruments.prove.proving import prove, prove_after, unproved
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Wrong

pytestmark = pytest.mark.usefixtures("runs_here", "unoptimized")

BY_KERNELS = "gawee-to-kernels,gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"
PLAIN = "gawee-to-loops,convert-to-llvm"
LOOPS = "gawee-to-kernels,gawee-kernels-to-loops"


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        ("MOBILE", BY_KERNELS),
        pytest.param("MOBILE", PLAIN, marks=full_run),
        ("TRANSFORMER", PLAIN),
        pytest.param("SUM", BY_KERNELS, marks=full_run),
    ],
)
def test_every_pass_to_the_llvm_dialect_is_proved(name: str, pipeline: str) -> None:
    proof = prove(parse(getattr(networks, name)), pipeline)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["bufferize"] == verdicts["plan-memory"] == "proved"
    assert verdicts["convert-to-llvm"] == "proved"


def test_loops_beside_empty_inputs_are_proved() -> None:
    text = """
    func.func @main(%x: memref<3xf32> {gawee.input = "x"}, %none: memref<0xi32> {gawee.input = "none"},
                    %y: memref<3xf32> {gawee.output = "y"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %a = memref.load %x[%i] : memref<3xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %y[%i] : memref<3xf32>
      }
      return
    }
    """

    proof = prove(parse(text), "convert-to-llvm")

    assert unproved(proof) == {}
    assert proof.steps[-1].verdict.value == "checked"


RUNNING_SUMS = """
func.func @main(%x: tensor<3x5x2xf32> {gawee.input = "x"}) -> (tensor<3x5x2xf32> {gawee.output = "y"}) {
  %y = gawee.cumsum %x axis 1 : (tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  return %y : tensor<3x5x2xf32>
}
"""


@pytest.mark.parametrize("pipeline", [BY_KERNELS, PLAIN])
def test_loops_over_elements_of_tensors_and_buffers_are_proved(pipeline: str) -> None:
    assert unproved(prove(parse(RUNNING_SUMS), pipeline)) == {}


@pytest.mark.parametrize("level", ["lower-to-linalg", "gawee-to-kernels,bufferize"])
def test_a_wrong_running_sum_is_no_proof(level: str) -> None:
    wrong = Wrong(changes.replace_first(arith.AddfOp, arith.SubfOp))

    with pytest.raises(CheckFailure, match="different numbers in exact arithmetic"):
        prove_after(parse(RUNNING_SUMS), level, wrong)


def test_loops_of_many_steps_are_checked_by_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MOST_STEPS", 50)

    found = unproved(prove(parse(RUNNING_SUMS), "lower-to-linalg"))

    assert "loops over exact numbers of more than 50 steps" in found["lower-to-linalg"]


def choosing_winograd(*, filters: bool) -> AbstractContextManager[object]:
    """Have every convolution that can be computed by Winograd's algorithm be."""

    def choose(convolution: Convolution, processor: Processor) -> Algorithm | None:
        found = (plan.algorithm for plan in plans(convolution, processor))
        wanted = (each for each in found if isinstance(each, Winograd) and each.filters == filters)
        return next(wanted, None)

    return patch.object(convert_to_winograd, "choose", choose)


def test_loops_of_winograd_are_proved() -> None:
    with choosing_winograd(filters=False):
        proof = prove(parse(networks.WINOGRAD), LOOPS)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["lower-winograd-to-loops"] == "proved"


@full_run
def test_filters_that_are_transformed_in_registers_are_proved() -> None:
    text = networks.WINOGRAD.replace("13x11", "7x6")
    with choosing_winograd(filters=True):
        proof = prove(parse(text), LOOPS.replace("kernels,", "kernels{target=skylake-avx512},"))

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["convert-to-winograd"] == verdicts["lower-winograd-to-loops"] == "proved"


FUNCTIONS = (
    *("absf", "acos", "asin", "atan", "cbrt", "ceil", "cos", "cosh"),
    *("erf", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "roundeven"),
    *("rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
TWO = ("math.atan2", "math.copysign", "math.powf", "arith.divf", "arith.maximumf", "arith.minnumf")


def test_functions_mean_the_same_natively_as_on_arrays() -> None:
    lines = [f"%{name} = math.{name} %a : f32" for name in FUNCTIONS]
    lines += [f"%{name.replace('.', '_')} = {name} %a, %b : f32" for name in TWO]
    names = [*FUNCTIONS, *(name.replace(".", "_") for name in TWO)]
    kind = "tensor<3x5xf32>"
    outputs = ", ".join(f'{kind} {{gawee.output = "{name}"}}' for name in names)
    empties = "\n".join(f"%o_{name} = tensor.empty() : {kind}" for name in names)
    same = ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * (2 + len(names)))
    module = parse(f"""
func.func @main(%x: {kind} {{gawee.input = "x"}}, %z: {kind} {{gawee.input = "z"}}) -> ({outputs}) {{
  {empties}
  %r:{len(names)} = linalg.generic {{indexing_maps = [{same}], iterator_types = ["parallel", "parallel"]}} ins(%x, %z : {kind}, {kind}) outs({", ".join(f"%o_{n}" for n in names)} : {", ".join([kind] * len(names))}) {{
  ^bb0(%a: f32, %b: f32, {", ".join(f"%u_{n}: f32" for n in names)}):
    {chr(10).join(lines)}
    linalg.yield {", ".join(f"%{n}" for n in names)} : {", ".join(["f32"] * len(names))}
  }} -> ({", ".join([kind] * len(names))})
  return {", ".join(f"%r#{i}" for i in range(len(names)))} : {", ".join([kind] * len(names))}
}}""")

    assert unproved(prove(module, PLAIN)) == {}


@pytest.mark.parametrize(("float_type", "integer"), [("f64", "i64"), ("f32", "i32")])
def test_floats_that_are_put_together_bit_by_bit_are_proved(float_type: str, integer: str) -> None:
    kind = f"memref<5x{float_type}>"
    module = parse(f"""
func.func @main(%x: {kind} {{gawee.input = "x"}}, %y: {kind} {{gawee.output = "y"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %two = arith.constant 2 : {integer}
  scf.for %i = %c0 to %c5 step %c1 {{
    %a = memref.load %x[%i] : {kind}
    %bits = arith.bitcast %a : {float_type} to {integer}
    %next = arith.addi %bits, %two : {integer}
    %float = arith.bitcast %next : {integer} to {float_type}
    memref.store %float, %y[%i] : {kind}
  }}
  return
}}""")

    assert unproved(prove(module, "convert-to-llvm")) == {}


POW = """
func.func @main(%a: tensor<f32> {gawee.parameter = "a"}, %x: tensor<1x1x2xf32> {gawee.input = "x"}) -> (tensor<1x1x2xf32> {gawee.output = "y"}) {
  %y = gawee.pow %a, %x : (tensor<f32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}
"""


def test_a_float_that_is_extended_is_taken_apart_as_itself() -> None:
    assert unproved(prove(parse(POW), "gawee-to-loops,expand-math,convert-to-llvm")) == {
        "expand-math": "assumed, declared: approximates(7 ulp)"
    }


def test_halves_and_integers_are_proved() -> None:
    assert unproved(prove(parse(networks.HALVES), BY_KERNELS)) == {}


@pytest.mark.parametrize("network", [networks.INTEGERS, networks.ACTIVATED_HALVES])
@pytest.mark.parametrize("pipeline", [PLAIN, BY_KERNELS])
def test_floats_of_integers_and_halves_in_functions_are_proved(network: str, pipeline: str) -> None:
    assert unproved(prove(parse(network), pipeline)) == {}


EXPM1 = """
func.func @main(%x: tensor<2x5xf32> {gawee.input = "x"}) -> (tensor<2x5xf32> {gawee.output = "y"}) {
  %y = gawee.elu %x alpha 1.500000e+00 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
"""


def test_bits_that_a_polynomial_is_scaled_by_are_one_number_on_arrays_and_natively() -> None:
    passes = "gawee-to-kernels,gawee-kernels-to-loops,expand-math,convert-to-llvm"

    assert unproved(prove(parse(EXPM1), passes)) == {
        "expand-math": "assumed, declared: approximates(7 ulp)"
    }


def test_bf16_is_bits_in_loops_and_checked_by_data(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, begun = CheckEach.begin, list[CheckEach]()

    def counted(self: CheckEach, module: ModuleOp, step: CheckStep) -> None:
        begun.append(self)
        begin(self, module, step)

    monkeypatch.setattr(CheckEach, "begin", counted)
    proof = prove(parse(networks.BRAINS), "gawee-to-loops")

    reasons = unproved(proof)
    assert list(reasons) == ["lower-linalg-to-loops", "cse"]
    assert "no exact meaning of the bits of bf16" in reasons["lower-linalg-to-loops"]
    assert len(begun) == 1  # what the first left is where the second begins


@pytest.mark.parametrize("before", ["gawee-to-kernels,bufferize,plan-memory", LOOPS])
def test_elements_have_their_places_in_the_workspace(before: str) -> None:
    module = parse(networks.MOBILE)

    with pytest.raises(CheckFailure, match="byte 1 is no place for elements of 4 bytes"):
        prove_after(module, before, Wrong(changes.misplace_view))
