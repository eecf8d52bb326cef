"""The table of proofs in the docs: a row for each network, and why passes are not proved."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from gawee_dialect.instruments.prove.summary import Verdict

PARTS = ("Winograd", "layouts", "tiles", "vectors", "threads")
VERDICTS = (Verdict.PROVED.value, Verdict.ASSUMED.value, Verdict.CHECKED.value)

Record = Mapping[str, object]


def table(lines: Sequence[str]) -> Iterator[str]:
    """Yield a table of networks, and the reasons why a pass of some is not proved."""
    records: list[dict[str, object]] = [json.loads(line) for line in lines]
    parts = " | ".join(PARTS)
    yield f"| network | ops | numbers | {parts} | proved | assumed | checked | seconds |"
    yield "|---" * (len(PARTS) + 7) + "|"
    for each in sorted(records, key=lambda record: str(record["name"])):
        yield _row(each)
    yield ""
    yield from _reasons(records)


def _row(record: Record) -> str:
    verdicts, reached = record["verdicts"], record["reached"]
    assert isinstance(verdicts, dict)
    assert isinstance(reached, list)
    marks = ("x" if part in reached else "" for part in PARTS)
    counts = (str(verdicts.get(verdict, 0)) for verdict in VERDICTS)
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
