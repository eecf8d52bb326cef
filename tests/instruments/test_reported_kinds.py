"""A hundred rewrites that are wrong in the way of reports on other compilers.

Oracle: each is wrong by hand; which tool names it is said beside it, or why none does.
"""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context
from tests.effort import mostly_full
from tests.instruments.checking import parse
from tests.instruments.wrong import table
from tests.instruments.wrong.reported import BOTH, CHECK, KINDS, PROOF, UNDECIDED, Rewrite

ROOT = Path(__file__).parents[2]
REWRITES = {
    f"{kind}: {what}": each for kind, rewrites in KINDS.items() for what, each in rewrites.items()
}


@dataclass(frozen=True)
class Becomes(ModulePass):
    """A pass that leaves another program."""

    name = "wrong"
    text: str = field(repr=False)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in list(op.body.block.ops):
            each.detach()
            each.erase()
        for each in list(parse(self.text).body.block.ops):
            each.detach()
            op.body.block.add_op(each)


def is_named(instrument: CheckEach | ProveEach, rewrite: Rewrite) -> bool:
    """Whether an instrument stops at the rewrite."""
    try:
        with instrumented(instrument):
            run_passes(make_context(), parse(rewrite.before), [Becomes(rewrite.after)])
    except CheckFailure as error:
        return error.pass_name == "wrong"
    return False


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewrite_of_a_reported_kind_is_named(name: str) -> None:
    rewrite = REWRITES[name]

    assert is_named(CheckEach(), rewrite) == (rewrite.seen in (CHECK, BOTH))
    assert is_named(ProveEach(), rewrite) == (rewrite.seen in (PROOF, BOTH))


PROVED_WRONG = [name for name, each in REWRITES.items() if each.seen in (PROOF, BOTH)]


@pytest.mark.parametrize("name", mostly_full(PROVED_WRONG))
def test_a_proof_by_other_primes_names_it_too(name: str) -> None:
    assert is_named(ProveEach(CheckSettings(seed=1)), REWRITES[name])


@pytest.mark.parametrize("name", mostly_full([*REWRITES]))
def test_the_program_alone_raises_no_alarm(name: str) -> None:
    rewrite = REWRITES[name]

    for text in (rewrite.before, rewrite.after):
        assert not is_named(CheckEach(), Rewrite(text, text, ""))


def test_the_docs_have_the_table() -> None:
    assert table.reported_text() in (ROOT / "docs" / "trust.md").read_text()


def test_there_are_a_hundred_and_few_are_undecided() -> None:
    undecided = [each for each in REWRITES.values() if each.seen.startswith(UNDECIDED)]

    assert len(REWRITES) >= 100
    assert len(undecided) <= 10
    assert all(each.seen in (CHECK, PROOF, BOTH) or each in undecided for each in REWRITES.values())
