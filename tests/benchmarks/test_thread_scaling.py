"""The times of nodes on one thread and on several, as a table."""

import pytest

pytest.importorskip("torch")

from benchmarks.thread_scaling import Row, lines


def test_what_is_lost_is_what_the_ideal_takes_less() -> None:
    rows = [Row("conv1", 4e-3, 2.5e-3), Row("tiny", 1e-6, 2e-6)]

    head, conv, total = (line.split() for line in lines(rows, 2))

    assert head == ["node", "1", "thread", "2", "threads", "speed", "lost", "ms"]
    assert conv == ["conv1", "4.000", "2.500", "1.60", "0.500"]
    assert total == ["total", "4.001", "2.502", "1.60", "0.501"]
