"""The benchmark of index checks runs, on a small table."""

import pytest

pytest.importorskip("torch")

from benchmarks.index_checks import embedding, row


def test_a_row_has_both_times_and_their_difference() -> None:
    name, checked, trusted, cost = row("lookup", embedding(3, 7, 5), words=7, rounds=2).split()

    assert name == "lookup"
    assert float(cost.rstrip("%")) == pytest.approx(
        100 * (float(checked) / float(trusted) - 1), abs=5
    )
