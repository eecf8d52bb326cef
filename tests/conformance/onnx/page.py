"""The page of the docs on conformance, made of verdicts."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.conformance.onnx.cases import REMARKS
from tests.conformance.onnx.verdict import Verdict

TITLES = {"gawee": "interpreter", "loops": "plain loops", "llvm": "native"}

HEAD = """# Conformance with ONNX

Made by `nice python -m tests.conformance.onnx --all --jobs 2`: every case of `onnx.backend.test` of
ONNX 1.22, run by ONNX's own runner through `gawee_dialect.onnx_backend`, with its tolerance. The
public scoreboard of ONNX backends counts the same cases.

A case is counted for a level where all its outputs agree. Nodes that are ops on tensors run at that
level; nodes on text, sequences and optional values, those whose results are as large as elements
say, random numbers, images in files, and the decisions of `If`, `Loop` and `Scan` run on the host,
in NumPy. *Wholly* are the cases of which no node does; *in part* those of which others run at the
level; *on the host* those of which none does. *By values* are cases for which code was made for the
elements of an input that says a shape, axes, pads or a count: other elements get code of their own.
"""


def counts_of(verdicts: Sequence[Verdict]) -> str:
    """Return how many of some cases passed, and what became of the others, in one line."""
    counts = Counter(each.status for each in verdicts)
    text = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    passed = [each for each in verdicts if each.status == "passed"]
    wholly, partly, host = (len(each) for each in _by_place(passed))
    by_values = sum(1 for each in passed if each.specialised)
    return (
        f"{len(verdicts)} cases, {text}; {wholly} wholly at this level, {partly} in part, "
        f"{host} on the host; {by_values} by values"
    )


def _by_place(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict], list[Verdict]]:
    return (
        [each for each in verdicts if not each.host],
        [each for each in verdicts if each.host and each.compiled],
        [each for each in verdicts if each.host and not each.compiled],
    )


def page(verdicts: Sequence[Verdict], levels: Sequence[str]) -> str:
    """Return the page: counts, what did not pass and why, and tables by op and by opset."""
    parts = [HEAD, _summary(verdicts, levels), _not_passed(verdicts, levels)]
    parts += ["## By opset\n", _table(verdicts, levels, "opset", lambda each: each.opset)]
    parts += ["## By op\n", _by_op(verdicts, levels)]
    return "\n".join(parts)


def _summary(verdicts: Sequence[Verdict], levels: Sequence[str]) -> str:
    columns = "passed failed refused crashed skipped wholly in_part on_the_host by_values".split()
    lines = [f"| level | cases | {' | '.join(each.replace('_', ' ') for each in columns)} |"]
    lines.append("|---" * (len(columns) + 2) + "|")
    for level in levels:
        own = [each for each in verdicts if each.level == level]
        counts = Counter(each.status for each in own)
        passed = [each for each in own if each.status == "passed"]
        statuses = [counts[each] for each in ("passed", "failed", "refused", "crashed", "skipped")]
        places = [len(each) for each in _by_place(passed)]
        by_values = sum(1 for each in passed if each.specialised)
        row = [TITLES[level], len(own), *statuses, *places, by_values]
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines) + "\n"


def _not_passed(verdicts: Sequence[Verdict], levels: Sequence[str]) -> str:
    lines = ["## What did not pass\n", "| case | level | verdict | why |", "|---|---|---|---|"]
    for each in verdicts:
        if each.status != "passed":
            reason = REMARKS.get(each.case, each.reason).replace("|", "\\|")
            lines.append(f"| {each.case} | {TITLES[each.level]} | {each.status} | {reason} |")
    return "\n".join(lines) + "\n"


def _table(
    verdicts: Sequence[Verdict],
    levels: Sequence[str],
    title: str,
    key: Callable[[Verdict], int | str],
) -> str:
    lines = [f"| {title} | cases | {' | '.join(TITLES[level] for level in levels)} |"]
    lines.append("|---" * (len(levels) + 2) + "|")
    for value in sorted({key(each) for each in verdicts}):
        own = [each for each in verdicts if key(each) == value]
        lines.append(f"| {value} | {_cases_and_passed(own, levels)} |")
    return "\n".join(lines) + "\n"


def _cases_and_passed(own: Sequence[Verdict], levels: Sequence[str]) -> str:
    passed = [
        sum(1 for each in own if each.level == level and each.status == "passed")
        for level in levels
    ]
    return " | ".join(map(str, (len({each.case for each in own}), *passed)))


def _by_op(verdicts: Sequence[Verdict], levels: Sequence[str]) -> str:
    """Return a row for each op: expansions are counted with what they expand to."""
    titles = " | ".join(TITLES[level] for level in levels)
    lines = [f"| op | cases | {titles} | on the host | by the values of |"]
    lines.append("|---" * (len(levels) + 4) + "|")
    for op_type in sorted({each.op_type for each in verdicts}):
        own = [each for each in verdicts if each.op_type == op_type]
        host = sorted({name for each in own for name in each.host})
        named = {name for each in own if not each.is_expansion for name in each.specialised}
        counts = _cases_and_passed(own, levels)
        lines.append(f"| {op_type} | {counts} | {', '.join(host)} | {', '.join(sorted(named))} |")
    return "\n".join(lines) + "\n"
