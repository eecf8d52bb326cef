"""`--bisect` on wrong passes: it names the rewrite, its pattern and its op, or the pass as a whole."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.dialects.test import TestPureOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.graph.arithmetic import NegOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.instruments.check.bisect import Bisect
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import make_context
from tests.instruments.checking import parse
from tests.instruments.test_wrong_passes import CASES, PASSES, SUM, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rewrite_to_blame_is_named(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(case.module)
    file = PASSES / f"{case.name.replace('-', '_')}.py"
    words = ["--bisect", f"--load={file}", *case.before, f"--{case.name}", "--canonicalize"]

    code = gawee_opt.main([*words, str(path)])

    out, err = capsys.readouterr()
    print(err)
    assert (code, out) == (1, "")
    assert f"hint: the pass failed with: pass '{case.name}' moved output" in err
    first = err.splitlines()[0]
    if "RewritePass" not in file.read_text():
        message = f"error: '{case.name}' as a whole breaks what is computed: it has no patterns"
        assert first == f"{case.place}: {message}"
    else:
        assert f"error: rewrite 1 of '{case.name}' breaks what is computed: " in first
        assert f"/{file.name}:" in first
        assert re.search(r" on '[\w.]+' op$", first)


class ReluToUnknown(Pattern):
    """gawee.relu %x -> test.pureop %x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, TestPureOp([op.input], [op.output.type]))


class UnknownToNeg(Pattern):
    """test.pureop %x -> gawee.neg %x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestPureOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, NegOp(op.operands[0]))


@dataclass(frozen=True)
class ByWayOfUnknown(RewritePass):
    """Goes through a module that nothing runs."""

    name = "by-way-of-unknown"
    patterns = (ReluToUnknown, UnknownToNeg)


@dataclass(frozen=True)
class ToUnknown(RewritePass):
    """Leaves a module that nothing runs."""

    name = "to-unknown"
    patterns = (ReluToUnknown,)


@dataclass(frozen=True)
class FromUnknown(RewritePass):
    """Leaves one that runs, and computes something else."""

    name = "from-unknown"
    patterns = (UnknownToNeg,)


@dataclass(frozen=True)
class RemoveRelu(RewritePass):
    """Is to remove what it has no pattern for."""

    name = "remove-relu"
    removes = (ReluOp,)


def bisected(*passes: ModulePass) -> str:
    """Return the first line of what is found."""
    module = parse(SUM)
    with pytest.raises(GaweeError) as caught:
        Bisect(CheckSettings()).before_pipeline(make_context(), module, passes)
    return caught.value.diagnostics[0].message


def test_rewrites_that_cannot_be_told_apart_are_all_named() -> None:
    message = bisected(CanonicalizePass(), ByWayOfUnknown())

    assert message.startswith(
        "one of the rewrites 1 to 2 breaks what is computed, and the module cannot be run between "
        "them: ReluToUnknown ("
    )
    assert "; UnknownToNeg (" in message


def test_a_pass_that_could_not_be_checked_is_searched_with_the_next() -> None:
    assert bisected(ToUnknown(), FromUnknown()).startswith("one of the rewrites 1 to 2 breaks ")


def test_a_pass_that_fails_before_its_first_rewrite_is_told_as_it_failed() -> None:
    assert bisected(RemoveRelu()) == (
        "pass 'remove-relu' fails without a rewrite: 'gawee.relu' op cannot be removed by "
        "remove-relu: no pattern rewrote it"
    )
