"""What `--prove-each` proves of loops, vectors, threads and the llvm dialect.

Loops run as machine code on exact numbers; the levels above are interpreted. Oracle: that both
compute the same numbers, and wrong changes by hand, which do not.
"""

import re

import pytest
from xdsl.dialects import arith, llvm, math, vector

from gawee_dialect.instruments.check.each import CheckFailure
from tests.instruments.checking import parse
from tests.instruments.prove import networks, wrong
from tests.instruments.prove.proving import Case, Wrong, prove, prove_after, unproved

BY_KERNELS = "gawee-to-kernels,gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"
PLAIN = "gawee-to-loops,convert-to-llvm"
LOOPS = "gawee-to-kernels,gawee-kernels-to-loops"


@pytest.mark.parametrize(
    ("name", "pipeline"),
    [
        ("MOBILE", BY_KERNELS),
        ("MOBILE", PLAIN),
        ("TRANSFORMER", PLAIN),
        ("SUM", BY_KERNELS),
    ],
)
def test_every_pass_to_the_llvm_dialect_is_proved(name: str, pipeline: str) -> None:
    proof = prove(parse(getattr(networks, name)), pipeline)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["bufferize"] == verdicts["plan-memory"] == "proved"
    assert verdicts["convert-to-llvm"] == "proved"


def test_loops_of_winograd_are_proved() -> None:
    proof = prove(parse(networks.WINOGRAD), LOOPS)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["lower-winograd-to-loops"] == "proved"


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


def test_halves_and_integers_are_proved() -> None:
    assert unproved(prove(parse(networks.HALVES), BY_KERNELS)) == {}


def test_bf16_is_bits_in_loops_and_checked_by_data() -> None:
    proof = prove(parse(networks.BRAINS), "gawee-to-loops")

    reasons = unproved(proof)
    assert list(reasons) == ["lower-linalg-to-loops", "cse"]
    assert "no exact meaning of the bits of bf16" in reasons["lower-linalg-to-loops"]


CASES = {
    "a loop that ends one earlier": Case("MOBILE", LOOPS, wrong.nudge_index(3), "'func.call'"),
    "a vector of the first lane alone": Case(
        "MOBILE", LOOPS, wrong.same_operands(arith.AddfOp), "'func.call'"
    ),
    "a fused product of other operands": Case(
        "MOBILE", LOOPS, wrong.swap_last_operands(math.FmaOp), "'func.call'"
    ),
    "one unit in the last place of a constant": Case(
        "MOBILE", LOOPS, wrong.nudge_float(-1), "'func.call'"
    ),
    "a tail that is stored whole": Case(
        "TRANSFORMER", LOOPS, wrong.set_mask(vector.MaskedStoreOp), "'func.call'"
    ),
    "a difference as a sum": Case(
        "TRANSFORMER",
        "gawee-to-loops",
        wrong.replace_first(arith.SubfOp, arith.AddfOp),
        "'func.call'",
    ),
    "a product of LLVM's as a sum": Case(
        "SUM",
        BY_KERNELS,
        wrong.replace_first(llvm.FMulOp, llvm.FAddOp),
        "natively cannot be seen",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_wrong_loops_are_caught_with_their_node(name: str) -> None:
    case = CASES[name]

    with pytest.raises(CheckFailure) as caught:
        prove_after(parse(getattr(networks, case.network)), case.before, Wrong(case.change))

    message = caught.value.diagnostics[0].message
    assert caught.value.pass_name == "wrong"
    assert re.search(
        r"moved output 'y' at .* different numbers in exact arithmetic", message
    ) or re.search("cannot be run", message), message
    assert case.op in message


FILL = """
func.func @main(%y: memref<5x7xf32> {gawee.output = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %v = arith.constant 2.5 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      memref.store %v, %y[%i, %j] : memref<5x7xf32>
    }
  }
  func.return
}
"""


def test_a_row_after_the_last_is_written_outside_of_the_buffer() -> None:
    with pytest.raises(CheckFailure, match="'@main' writes outside of its argument 0"):
        prove(parse(FILL), "", Wrong(wrong.nudge_index(2, by=1)))


@pytest.mark.parametrize("before", ["gawee-to-kernels,bufferize,plan-memory", LOOPS])
def test_elements_have_their_places_in_the_workspace(before: str) -> None:
    module = parse(networks.MOBILE)

    with pytest.raises(CheckFailure, match="byte 1 is no place for elements of 4 bytes"):
        prove_after(module, before, Wrong(wrong.misplace_view))
