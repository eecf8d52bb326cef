"""Records on disk: what a kill may leave, and what is no record."""

from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.experiments.study import Journal, Record, latest, processor_of, read_records

FIRST, SECOND = {"key": "a", "network": "n"}, {"key": "b", "network": "m"}


def test_records_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "folder" / "records.jsonl")
    for record in (FIRST, SECOND):
        journal.add(record)

    assert read_records(journal.path) == [FIRST, SECOND]


@pytest.mark.parametrize("cut", range(1, 26))
def test_a_line_that_was_cut_is_dropped_wherever_it_was_cut(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    journal.add(FIRST)
    whole = path.read_bytes()
    journal.add(SECOND)
    path.write_bytes(path.read_bytes()[: len(whole) + cut])

    assert read_records(path) == [FIRST]
    Journal(path).add(SECOND)
    assert read_records(path) == [FIRST, SECOND]


def test_other_lines_that_are_no_records_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"key": "a"}\nnonsense\n[1]\n{"network": "n"}\n')

    with pytest.raises(GaweeError) as error:
        read_records(path)

    assert [str(each) for each in error.value.diagnostics] == [
        f"{path}:{line}:1: error: expected a record as a JSON object" for line in (2, 3, 4)
    ]


def test_there_may_be_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "records.jsonl") == []


def test_the_latest_record_of_each_processor_counts() -> None:
    here, there = {"processor": "A", "cpu": "a"}, {"processor": "B", "cpu": "b"}
    records: list[Record] = [
        {"key": "1", "network": "n", "machine": here, "seed": 1},
        {"key": "1", "network": "n", "machine": there, "seed": 2},
        {"key": "2", "network": "n", "machine": here, "seed": 3},
    ]

    assert [record["seed"] for record in latest(records)] == [3, 2]
    assert processor_of(records[0]) == "A (a)"
    assert processor_of({}) == "unknown"
