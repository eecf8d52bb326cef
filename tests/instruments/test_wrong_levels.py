"""Wrong passes at every level: what a check and a proof of each pass say of them.

Oracle: each is made by hand, and computes something else, or the same by luck.
"""

from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.failure import CheckFailure
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context
from tests.effort import mostly_full
from tests.instruments.checking import parse
from tests.instruments.wrong import LEVELS, table
from tests.instruments.wrong.wrong_pass import WrongPass

pytestmark = pytest.mark.usefixtures("runs_here", "unoptimized")

ROOT = Path(__file__).parent.parent.parent
CASES = {
    f"{level}: {what}": case for level, cases in LEVELS.items() for what, case in cases.items()
}


@cache
def lowered(text: str, passes: str) -> ModuleOp:
    """Return what several wrong passes begin with."""
    module = parse(text)
    run_passes(make_context(), module, parse_passes(passes, all_passes()) if passes else ())
    return module


def said_by(instrument: CheckEach | ProveEach, case: WrongPass) -> str:
    """Return what is said of a wrong pass; nothing where it gets through."""
    module = lowered(case.module, case.before).clone()
    wrong: ModulePass = case.change
    try:
        with instrumented(instrument):
            run_passes(make_context(), module, [*case.watched, wrong])
    except CheckFailure as error:
        return str(error) if error.pass_name == wrong.name else f"blamed: {error.pass_name}"
    return ""


@pytest.mark.parametrize("name", mostly_full([*CASES]))
def test_a_check_says_what_is_wrong(name: str) -> None:
    case = CASES[name]
    message = said_by(CheckEach(), case)

    assert case.check in message
    assert bool(message) == bool(case.check), message


@pytest.mark.parametrize("name", mostly_full([*reversed(CASES)]))
def test_a_proof_says_what_is_wrong(name: str) -> None:
    case = CASES[name]
    message = said_by(ProveEach(), case)

    assert case.in_proof in message
    assert bool(message) == bool(case.in_proof), message


def test_every_wrong_pass_is_seen_by_one_of_them() -> None:
    assert [name for name, case in CASES.items() if not (case.check or case.in_proof)] == []


def test_there_are_eight_wrong_passes_at_each_level() -> None:
    assert all(len(cases) >= 8 for cases in LEVELS.values())
    assert len(CASES) >= 60


def test_the_docs_have_the_table() -> None:
    assert table.text() in (ROOT / "docs" / "trust.md").read_text()
