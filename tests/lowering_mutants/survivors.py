"""The mutants that are not told apart, by reason, and the table of all of them in the docs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Record = Mapping[str, str]

LEVELS = ("gawee", "linalg", "kernels", "buffers", "loops", "llvm")

LEAST = ("1.401300e-45", "4.940660e-324")
"""The least floats above 0."""

OUT_OF_RANGE = "what is done with an index that is out of range: the data have none"
LANES = "lanes of a masked load that nobody stores"
INSERTED = "a vector all lanes of which are inserted afterwards"
BEGUN = "another buffer to begin with, of which nothing is read"
ZERO = "the least float, which stands for the fraction that it is nearest to: 0"
PADDING = "padding that no window reads"
UNKNOWN = "not looked into"


def reason_of(record: Record) -> str:
    """Say why a mutant computes what the original does, as far as the op and its users tell."""
    op, users, change = record["op"], record["users"], record["change"]
    if any(each in change for each in LEAST):
        return ZERO
    if "masked" in op.partition("%1")[0] or "maskedload" in users or "masked.load" in op:
        return LANES
    if "vector.insert 1" in users:
        return INSERTED
    if "static_high" in change or "static_low" in change:
        return PADDING
    if record["kind"] == "an operand" and "linalg.fill" in op:
        return BEGUN
    if record["kind"] == "an operand" and "linalg.generic" in op and _is_output(change):
        return BEGUN
    if record["network"] == "HALVES" and _is_of_indices(op, users, change):
        return OUT_OF_RANGE
    return UNKNOWN


def _is_output(change: str) -> bool:
    """Whether the operand that was changed is the last one: `operand 2 of 3`."""
    words = change.replace(",", "").split()
    return words[0] == "operand" and int(words[1]) == int(words[3]) - 1


def _is_of_indices(op: str, users: str, change: str) -> bool:
    if "i64" in op or "i64" in change:
        return True
    return "arith.cmpi 1 > arith.select 0" in users


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
    reasons = Counter(reason_of(each) for each in records if each["verdict"] == "survives")
    yield "| not told apart, since it is | mutants |"
    yield "|---|---|"
    for reason, count in reasons.most_common():
        yield f"| {reason} | {count} |"
