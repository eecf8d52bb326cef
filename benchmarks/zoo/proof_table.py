"""The table of proofs in the docs: a row for each network, and why passes are not proved."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median

from gawee_dialect.instruments.prove.each import Verdict

PARTS = ("Winograd", "layouts", "tiles", "vectors", "threads")
OPEN = (Verdict.ASSUMED, Verdict.CHECKED)
VERDICTS = (Verdict.PROVED, *OPEN)

Record = Mapping[str, object]


def table(lines: Sequence[str]) -> Iterator[str]:
    """Yield how many networks are proved, a row for each, and why a pass of some is not proved.

    Of a network that was proved again the last proof counts. Those that no frontend reads, or that
    the library does not build, are named at the end.
    """
    last: dict[str, dict[str, object]] = {}
    for line in lines:
        record: dict[str, object] = json.loads(line)
        last[str(record["name"])] = record
    named = [last[name] for name in sorted(last)]
    records = [each for each in named if each["ops"]]
    yield from (_total(records), "")
    parts = " | ".join(PARTS)
    yield f"| network | ops | numbers | {parts} | proved | assumed | checked | seconds |"
    yield "|---" * (len(PARTS) + 7) + "|"
    yield from map(_row, records)
    yield ""
    yield from _reasons(records)
    unread = [str(each["name"]) for each in named if not each["ops"]]
    if unread:
        yield from (
            "",
            f"Tried, and not built by a library or read by a frontend: {', '.join(unread)}.",
        )


def _total(records: Sequence[Record]) -> str:
    """Say how many networks are proved, and by how much."""
    alarms = sum(str(each["failure"]).startswith("CheckFailure") for each in records)
    assumed, checked = (
        sum(_count(each, verdict) > 0 and not each["failure"] for each in records)
        for verdict in (Verdict.ASSUMED, Verdict.CHECKED)
    )
    proved = sum(
        not each["failure"] and not any(map(partial(_count, each), OPEN)) for each in records
    )
    return (
        f"{len(records)} networks, {alarms} alarms. Of {proved} every pass that changes something "
        f"is proved; of {assumed} one or two are assumed, of {checked} some are checked by data, "
        f"for the reasons below.{_ratio(records)}"
    )


def _ratio(records: Sequence[Record]) -> str:
    """Say how long proofs take beside compilations, of the networks where both were measured."""
    pairs = ((each["seconds"], each.get("compile_seconds")) for each in records)
    ratios = [a / b for a, b in pairs if isinstance(a, float) and isinstance(b, float) and b]
    if not ratios:
        return ""
    return (
        f" A proof takes {median(ratios):.1f} times the processor time of a compilation in the "
        f"median of {len(ratios)}, {max(ratios):.1f} times at most."
    )


def _count(record: Record, verdict: Verdict) -> int:
    verdicts = record["verdicts"]
    assert isinstance(verdicts, dict)
    return int(verdicts.get(verdict.value, 0))


def _row(record: Record) -> str:
    reached = record["reached"]
    assert isinstance(reached, list)
    marks = ("x" if part in reached else "" for part in PARTS)
    counts = (str(_count(record, verdict)) for verdict in VERDICTS)
    seconds = f"{record['seconds']:.0f}"
    cells = (str(record["name"]), str(record["ops"]), str(record["numbers"]))
    return f"| {' | '.join((*cells, *marks, *counts, seconds))} |"


def _reasons(records: Sequence[Record]) -> Iterator[str]:
    """Yield what is said of passes that are not proved, and of how many networks."""
    found = defaultdict[tuple[str, str], list[str]](list)
    for record in records:
        unproved = record["unproved"]
        assert isinstance(unproved, dict)
        for name, note in unproved.items():
            found[str(name), _without_places(str(note))].append(str(record["name"]))
        if record["failure"]:
            found["fails", _message(str(record["failure"]))].append(str(record["name"]))
    yield "| pass | why it is not proved | networks |"
    yield "|---|---|---|"
    for (name, note), networks in sorted(found.items(), key=lambda item: -len(item[1])):
        some = ", ".join(networks[:6]) + (", ..." if len(networks) > 6 else "")
        yield f"| {name} | {note} | {len(networks)}: {some} |"


def _message(failure: str) -> str:
    """Return the first line of a failure, without the place that it is about."""
    first = failure.splitlines()[0]
    return first.partition("error: ")[2] or first


def _without_places(note: str) -> str:
    """Return a reason without the node that it is about, and without how many ulp it is."""
    note = re.sub(r" of node \"[^\"]*\"( \([^)]*\))?", "", note)
    return re.sub(r"within [\d.]+ ulp", "within some ulp", note)
