"""The table of wrong passes in the docs: `python -m tests.instruments.wrong.table` prints it."""

import re
from collections.abc import Iterator

from tests.instruments.wrong import LEVELS
from tests.instruments.wrong.reported import BOTH, CHECK, KINDS, PROOF, UNDECIDED
from tests.instruments.wrong.wrong_pass import RULE

SIZE = re.compile(r"\w+ = \d+")
"""Which sizes a message says."""


def seen(message: str) -> str:
    """Say by what a message is about that a pass is wrong: by numbers, memory, or a rule."""
    if not message:
        return "-"
    if RULE in message or "claim" in message:
        return "a rule"
    if "writes " in message or "no place" in message:
        return "memory"
    data = message.partition("data with ")[2]
    if SIZE.search(message):
        return "numbers at " + message
    return data.partition(";")[0] if data else "numbers"


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| level | what the pass gets wrong | seen by `--check-each` | by `--prove-each` |"
    yield "|---|---|---|---|"
    for level, cases in LEVELS.items():
        for what, case in cases.items():
            by_rule = case.breaks_rule and not case.proof
            proof = seen(case.check if by_rule else case.proof)
            yield f"| {level} | {what} | {seen(case.check)} | {proof} |"


def text() -> str:
    """Return the table, and what it adds up to."""
    cases = [case for cases in LEVELS.values() for case in cases.values()]
    both = sum(bool(case.check) and bool(case.in_proof) for case in cases)
    checked = sum(bool(case.check) for case in cases) - both
    proved = sum(bool(case.in_proof) for case in cases) - both
    total = f"{len(cases)} wrong passes: {both} are seen by both"
    return "\n".join(
        (f"{total}, {checked} by a check alone, {proved} by a proof alone.", "", *rows())
    )


def reported_rows() -> Iterator[str]:
    """Yield the lines of the table of rewrites after reports."""
    yield "| of | what the pass gets wrong | after | seen by |"
    yield "|---|---|---|---|"
    for kind, rewrites in KINDS.items():
        for what, each in rewrites.items():
            yield f"| {kind} | {what} | {each.report} | {SEEN.get(each.seen, '-')} |"


SEEN = {BOTH: "both", CHECK: "`--check-each`", PROOF: "`--prove-each`"}


def reported_text() -> str:
    """Return the table of rewrites after reports, what it adds up to, and why some are not seen."""
    found = [each.seen for rewrites in KINDS.values() for each in rewrites.values()]
    counts = [sum(each == seen for each in found) for seen in (BOTH, CHECK, PROOF)]
    total = f"{len(found)} wrong rewrites: {counts[0]} are seen by both"
    unseen = [
        f"| {what} | {each.seen.removeprefix(UNDECIDED)} |"
        for rewrites in KINDS.values()
        for what, each in rewrites.items()
        if each.seen.startswith(UNDECIDED)
    ]
    return "\n".join(
        (
            f"{total}, {counts[1]} by a check alone, {counts[2]} by a proof alone, and "
            f"{len(unseen)} by neither.",
            "",
            *reported_rows(),
            "",
            "| not seen | why |",
            "|---|---|",
            *unseen,
        )
    )


if __name__ == "__main__":
    print(text())
    print()
    print(reported_text())
