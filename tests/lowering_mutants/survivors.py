"""The mutants that are not told apart, by reason, and the table of all of them in the docs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Record = Mapping[str, str]

LEVELS = ("linalg", "gawee", "buffers", "loops", "llvm")
"""Kernels on tensors count as `gawee`, as they are ops of that dialect."""

KINDS = ("an index", "a bound", "a coefficient", "an operand", "a map")


def reason_of(record: Record) -> str:
    """Say why a mutant computes what the original does; empty where nobody knows."""
    op = record["op"]
    is_zero = "0.000000e+00" in op and op.startswith(("%", '"')) and "constant" in op
    if record["kind"] == "an operand" and any(each in op for each in ("fill", "generic")):
        return "another buffer to begin with, of which nothing is read"
    if "maskedload" in op or "llvm.intr.masked.load" in op:
        return "what masked-out lanes hold, which nobody stores"
    if record["kind"] == "a coefficient" and is_zero and record["level"] in ("loops", "llvm"):
        return "what masked-out lanes hold, which nobody stores"
    return ""


def table(lines: Iterable[str]) -> Iterator[str]:
    """Yield the table of levels, and a list of what is not told apart."""
    records: list[Record] = [json.loads(line) for line in lines]
    counts = Counter((each["level"], each["verdict"]) for each in records)
    verdicts = ("caught", "stops", "survives", "unproved")
    yield "| level | told apart | stops running | not told apart | not provable |"
    yield "|---|---|---|---|---|"
    for level in sorted({each["level"] for each in records}, key=LEVELS.index):
        cells = (str(counts[level, verdict]) for verdict in verdicts)
        yield f"| {level} | {' | '.join(cells)} |"
    totals = (str(sum(counts[level, each] for level in LEVELS)) for each in verdicts)
    yield f"| all | {' | '.join(totals)} |"
    yield ""
    reasons = Counter(
        reason_of(each) or "not explained" for each in records if each["verdict"] == "survives"
    )
    yield "| not told apart, since it is | mutants |"
    yield "|---|---|"
    for reason, count in reasons.most_common():
        yield f"| {reason} | {count} |"
