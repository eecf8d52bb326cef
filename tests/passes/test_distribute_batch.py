"""Parts of a batch that threads compute at the same time are checked and proved, pass by pass."""

import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.universe import make_context
from tests.instruments.checking import check
from tests.instruments.prove.proving import prove, unproved

# Three parts on two threads: one thread has two of them, in one and the same memory.
TEXT = """func.func @main(%x: tensor<3x2x5x4xf32>, %w: tensor<6x2x3x3xf32> {gawee.parameter = "w"}) -> tensor<3x6x5x4xf32> {
  %0 = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<3x2x5x4xf32>, tensor<6x2x3x3xf32>) -> tensor<3x6x5x4xf32>
  %1 = gawee.max_pool %0 kernel [3, 3] strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] ceil_mode false : (tensor<3x6x5x4xf32>) -> tensor<3x6x5x4xf32>
  func.return %1 : tensor<3x6x5x4xf32>
}
"""
PARTS = "tile-batch{images=1 threads=2}"
PASSES = f"{PARTS},gawee-to-kernels{{num-threads=2}},gawee-kernels-to-loops,convert-scf-to-openmp,convert-to-llvm"


def test_every_pass_on_parts_of_threads_is_run_before_and_after() -> None:
    checked = check(parse_mlir(make_context(), TEXT, "net.mlir"), PASSES)

    ran = {step.name: step.engine for step in checked.steps if step.note != "unchanged"}
    assert {"tile-batch", "distribute-batch", "plan-memory", "convert-scf-to-openmp"} <= {*ran}
    assert set(ran.values()) <= {"interpreter", "native"}


def test_every_pass_on_parts_of_threads_is_proved() -> None:
    proof = prove(parse_mlir(make_context(), TEXT, "net.mlir"), PASSES)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["distribute-batch"] == verdicts["plan-memory"] == "proved"


@pytest.mark.parametrize("without", [",distribute-batch", ",convert-scf-to-openmp"])
def test_parts_of_threads_need_neither_threads_nor_memory_of_their_own(without: str) -> None:
    expanded = (
        f"{PARTS},gawee-to-kernels{{num-threads=2}},bufferize,coalesce-copies,outline-kernels,"
        "distribute-batch,plan-memory,lower-winograd-to-loops,lower-kernels-to-loops,"
        "lower-linalg-to-loops,cse,convert-scf-to-openmp,convert-to-llvm"
    )

    checked = check(parse_mlir(make_context(), TEXT, "net.mlir"), expanded.replace(without, "", 1))

    assert checked.steps[-1].engine == "native"
