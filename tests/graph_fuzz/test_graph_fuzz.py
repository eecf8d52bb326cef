"""Some random graphs through random pipelines, and that what is wrong would be found.

The corpus is a seed: the same graphs each time.
"""

from random import Random

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.passes.lower_to_linalg import LowerToLinalg
from tests.graph_fuzz.judge import Skipped, data_for, judge
from tests.graph_fuzz.random_pipeline import random_pipeline
from tests.graph_fuzz.session import fuzz
from tests.instruments.checking import parse
from tests.instruments.wrong.changes import replace_first
from tests.instruments.wrong.wrong_pass import Wrong

SUM = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}) -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %y = gawee.add %x, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
"""


def test_random_graphs_compute_the_same_at_every_level() -> None:
    session = fuzz(minutes=1.0, count=20, first_seed=1, chunk=20, asks_torch=False)

    assert session.found == {}
    assert session.counts["graphs"] > 0


def test_a_wrong_pass_is_found_and_named() -> None:
    module = parse(SUM)
    passes = (LowerToLinalg(), Wrong(replace_first(arith.AddfOp, arith.SubfOp)))

    found = judge(module, passes, data_for(module, 0, whole=True), prove=False)

    assert found is not None
    assert (found.kind, found.cause) == ("wrong", "wrong: 'linalg.generic'")


def test_a_crash_is_found_and_named() -> None:
    def crash(module: ModuleOp) -> None:
        raise KeyError(module)

    module = parse(SUM)

    found = judge(module, (Wrong(crash),), data_for(module, 0, whole=True), prove=False)

    assert found is not None
    assert found.kind == "crash"
    assert found.cause.startswith("KeyError at test_graph_fuzz.py")


def test_a_graph_that_does_not_run_is_skipped() -> None:
    text = SUM.replace("gawee.add %x, %x", '"test.op"(%x, %x)')
    module = parse(text)

    with pytest.raises(Skipped, match="unsupported by the interpreter"):
        judge(module, (LowerToLinalg(),), data_for(module, 0, whole=True), prove=False)


def test_a_pipeline_is_chosen_by_the_seed() -> None:
    texts = [random_pipeline(Random(3), native=True).text for _ in range(2)]

    assert texts[0] == texts[1]
    assert random_pipeline(Random(3), native=True).is_native
