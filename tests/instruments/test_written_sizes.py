"""Checks and proofs of a pipeline in which a pass writes numbers for open sizes.

Oracle: passes that are right, and passes that are wrong by hand.
"""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import EachPass, TimedStep
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.passes.graph.specialize_sizes import SpecializeSizes
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.instruments.checking import parse
from tests.instruments.wrong.changes import first
from tests.instruments.wrong.wrong_pass import Wrong

Kind = Callable[[], EachPass[TimedStep]]
KINDS = pytest.mark.parametrize("kind", [CheckEach, ProveEach])

TWO_NAMES = """
func.func @main(%x: tensor<?x?xf32> {gawee.input = "x", gawee.sizes = ["batch", "length"]},
                %z: tensor<?x?xf32> {gawee.input = "z", gawee.sizes = ["batch", "length"]})
    -> (tensor<?x?xf32> {gawee.output = "y"}) attributes {gawee.ranges = {batch = "1 to 32", length = "1 to 512"}} {
  %0 = gawee.add %x, %z : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = gawee.softmax %0 axis 1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %1 : tensor<?x?xf32>
}
"""


def difference_for_sum(module: ModuleOp) -> None:
    op = first(module, AddOp)
    Rewriter.replace_op(op, SubOp(op.lhs, op.rhs))


def rows(kind: Kind, pipeline: str, *more: Wrong) -> list[str]:
    """Return the rows of the table; raises CheckFailure for a pass that is wrong."""
    each = kind()
    with instrumented(each):
        passes = [*parse_passes(pipeline, all_passes()), *more]
        run_passes(make_context(), parse(TWO_NAMES), passes)
    assert all(step.is_checked for step in each.steps)
    return [step.name for step in each.steps]


@KINDS
@pytest.mark.parametrize(
    ("sizes", "row"),
    [
        ("batch=4", "(at batch = 4)"),
        ("length=17", "(at length = 17)"),
        ("batch=4 length=17", "(at batch = 4, length = 17)"),
    ],
)
def test_what_was_open_is_run_at_the_sizes_that_a_pass_writes(
    kind: Kind, sizes: str, row: str
) -> None:
    pipeline = f"canonicalize,specialize-sizes{{{sizes}}},lower-to-linalg"
    assert rows(kind, pipeline)[1:] == [
        *("canonicalize", row, "specialize-sizes", "lower-to-linalg"),
    ]


@KINDS
def test_a_pass_after_it_that_is_wrong_is_named(kind: Kind) -> None:
    with pytest.raises(CheckFailure, match="'wrong' moved output 'y'"):
        rows(kind, "specialize-sizes{batch=4}", Wrong(difference_for_sum))


@KINDS
def test_writing_sizes_and_another_sum_is_wrong(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = SpecializeSizes.apply

    def wrong(self: SpecializeSizes, ctx: object, op: ModuleOp) -> None:
        apply(self, make_context(), op)
        difference_for_sum(op)

    monkeypatch.setattr(SpecializeSizes, "apply", wrong)
    with pytest.raises(CheckFailure, match="'specialize-sizes' moved output 'y'"):
        rows(kind, "specialize-sizes{batch=4}")
