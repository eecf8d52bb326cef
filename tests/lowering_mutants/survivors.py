"""The mutants that survive, by reason, and the table of all of them in the docs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Record = Mapping[str, str]

LEVELS = ("gawee", "linalg", "kernels", "buffers", "loops", "llvm")

LANES = "lanes of a masked load, or of a vector, that are never stored"
INSERTED = "a vector all lanes of which are inserted afterwards"
BEGUN = "another buffer to begin with, of which nothing is read"
SHIFTED = "a shift of all that a softmax is taken of: it cancels"
PADDING = "padding that no window, tile or product reads"
PLACE = "another place in the workspace, where nothing lives then"
WORKSPACE = "the workspace of a network that needs none"
ROOM = "a row before the first or after the last, in room where nothing lives: machine code has no shapes"
APART = "a case that is set apart for speed alone"
OUTSIDE = "what becomes of indices out of range, where all were brought into range before"
TAKEN = "a vector of which no lane is taken there"
VIEW = "a size of a view, which its type says"
UNKNOWN = "not looked into"


def reason_of(record: Record) -> str:
    """Say why a mutant computes what the original does, as far as the op and its users tell.

    Each was looked at by hand once; what says which are alike is written down here.
    """
    return next((reason for reason, holds in REASONS if holds(record)), UNKNOWN)


def _is_masked(record: Record) -> bool:
    op, users = record["op"], record["users"]
    return "masked" in op.partition("%1")[0] or "maskedload" in users or "masked.load" in op


def _is_begun(record: Record) -> bool:
    op = record["op"]
    if record["kind"] != "an operand":
        return False
    return "linalg.fill" in op or ("linalg.generic" in op and _is_output(record["change"]))


def _is_shift(record: Record) -> bool:
    """Of the transformer, what is added to keys, to scores, and to what its last softmax is of.

    Scores alone are sums of lanes that are scaled and stored.
    """
    is_filled = "linalg.fill 0" in record["users"] and record["kind"] == "a coefficient"
    is_stored = record["op"].startswith("%l = ") and record["users"] == "llvm.store 0"
    is_score = record["users"] == "llvm.intr.vector.reduce.fadd 0 > llvm.fmul 0 > llvm.store 0"
    return record["network"] == "TRANSFORMER" and (is_filled or is_stored or is_score)


def _is_padding(record: Record) -> bool:
    """Of stores of padding: where they begin, and how many rows there are."""
    if "static_high" in record["change"] or "static_low" in record["change"]:
        return True
    is_store = record["users"] == "vector.broadcast 0 > vector.store 0"
    is_store = is_store or record["users"].startswith("vector.store")
    rows = record["network"] == "WINOGRAD" and record["change"].startswith("value 4 : index -> 3")
    return is_store or (rows and record["users"] == "scf.for 1")


def _is_place(record: Record) -> bool:
    op = record["op"]
    return record["kind"] == "an operand" and ("memref.view" in op or "func.call" in op)


def _is_outside(record: Record) -> bool:
    """Of HALVES, between which numbers an index is kept that is then made an i32."""
    clamped = "arith.minsi" in record["op"] + record["users"]
    return record["network"] == "HALVES" and clamped and "arith.trunci" in record["users"]


def _is_taken(record: Record) -> bool:
    """Of a shuffle that takes the first operand alone, the second; of one that repeats a lane which
    was just inserted, all others."""
    op, change = record["op"], record["change"]
    if "vector.shuffle" in op and change.startswith("operand 1 of 2"):
        lanes = int(op.rpartition("vector<")[2].partition("x")[0])
        return all(int(each) < lanes for each in op.partition("[")[2].partition("]")[0].split(","))
    repeated = record["users"].startswith("llvm.shufflevector 0 >")
    return "llvm.insertelement" in op and change.startswith("operand 0 of 3") and repeated


def _is_workspace(record: Record) -> bool:
    """Of SUM, and of what prepares the weights of MOBILE."""
    if record["network"] == "MOBILE":
        return "%workspace = llvm.load" in record["op"]
    return record["network"] == "SUM" and "args[3]" in record["op"]


def _is_room(record: Record) -> bool:
    """Of loops of machine code: where they end, or begin."""
    is_first = record["kind"] == "an index" and record["users"] == "llvm.br 0"
    return record["level"] == "llvm" and (record["kind"] == "a bound" or is_first)


def _is_apart(record: Record) -> bool:
    """Of Winograd: whole tiles, and a team of one thread."""
    if record["network"] != "WINOGRAD" or record["level"] not in ("loops", "llvm"):
        return False
    return "arith.andi 1 > scf.if 0" in record["users"] or "value 1 : i32" in record["change"]


REASONS: Sequence[tuple[str, Callable[[Record], bool]]] = (
    (LANES, _is_masked),
    (LANES, lambda record: record["level"] == "llvm" and "extractelement 1" in record["users"]),
    (INSERTED, lambda record: "vector.insert 1" in record["users"]),
    (BEGUN, _is_begun),
    (SHIFTED, _is_shift),
    (PADDING, _is_padding),
    (PLACE, _is_place),
    (WORKSPACE, _is_workspace),
    (OUTSIDE, _is_outside),
    (TAKEN, _is_taken),
    (APART, _is_apart),
    (VIEW, lambda record: "static_sizes" in record["change"]),
    (ROOM, _is_room),
)
"""Why mutants survive, and of which that is so: the first that holds."""


def _is_output(change: str) -> bool:
    """Whether the operand that was changed is the last one: `operand 2 of 3`."""
    words = change.replace(",", "").split()
    return words[0] == "operand" and int(words[1]) == int(words[3]) - 1


def table(lines: Iterable[str]) -> Iterator[str]:
    """Yield the table of levels, and a list of what survives."""
    records: list[Record] = [json.loads(line) for line in lines]
    counts = Counter((each["level"], each["verdict"]) for each in records)
    verdicts = ("caught", "stops", "survives", "unproved")
    yield "| level | killed | stops running | survives | not provable |"
    yield "|---|---|---|---|---|"
    for level in sorted({each["level"] for each in records}, key=LEVELS.index):
        cells = (str(counts[level, verdict]) for verdict in verdicts)
        yield f"| {level} | {' | '.join(cells)} |"
    totals = (str(sum(counts[level, each] for level in LEVELS)) for each in verdicts)
    yield f"| all | {' | '.join(totals)} |"
    yield ""
    reasons = Counter(reason_of(each) for each in records if each["verdict"] == "survives")
    yield "| survives, since it is | mutants |"
    yield "|---|---|"
    for reason, count in reasons.most_common():
        yield f"| {reason} | {count} |"
