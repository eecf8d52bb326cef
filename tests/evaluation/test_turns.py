"""Taking turns: the order, what is repeated, how long a turn waits."""

import pytest

from gawee_dialect.evaluation import turns
from gawee_dialect.evaluation.machine import LineLatency
from gawee_dialect.evaluation.turns import (
    Judged,
    Referee,
    RunTimes,
    Turn,
    least_seconds,
    orders,
    take_turns,
    time_runs,
    time_turn,
)


def test_nobody_always_follows_the_same_one() -> None:
    found = list(orders(3, 6))

    assert all(sorted(order) == [0, 1, 2] for order in found)
    assert {order[0] for order in found} == {0, 1, 2}
    assert len({tuple(order) for order in found}) == 6


def test_functions_are_called_in_turns() -> None:
    seen: list[int] = []

    first, second = least_seconds([lambda: seen.append(0), lambda: seen.append(1)], 3)

    assert seen == [0, 1, 1, 0, 1, 0]
    assert first >= 0
    assert second >= 0


def test_a_turn_ends_after_its_runs_or_its_time() -> None:
    assert len(time_turn(lambda: None, 7, 10, least_seconds=0).seconds) == 7
    assert len(time_turn(lambda: None, 1000, 0).seconds) == 3
    assert len(time_turn(lambda: None, 1, 10, least_seconds=0.02).seconds) > 1


def test_every_subject_takes_a_turn_in_every_round() -> None:
    taken = take_turns(
        [lambda: Turn([1.0], 1, 1, 0), lambda: Turn([2.0], 1, 1, 0)],
        3,
        Referee(patience=0, retries=0),
    )

    assert [[judged.turn.best for judged in each] for each in taken] == [[1.0] * 3, [2.0] * 3]


def test_waiting_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def wait(_: float, patience: float) -> float:
        waited.append(patience)
        return patience

    monkeypatch.setattr(turns, "wait_until_quiet", wait)
    monkeypatch.setattr(turns, "perf_counter", iter(range(0, 1000, 2)).__next__)
    referee = Referee(1, patience=5, total_patience=6)
    for _ in range(4):
        referee.wait()

    assert waited == [5, 4, 2]


def test_a_line_that_takes_long_is_a_disturbed_turn() -> None:
    class Far(LineLatency):
        def measure(self) -> float:
            return 300.0

    referee = Referee(2, patience=0, retries=1, near=100, line=Far())
    judged = referee.judge(lambda: Turn([1.0], 1.0, 2.0, 0.0))

    assert judged is not None
    assert (judged.line_ns, judged.repeated, judged.is_disturbed) == (300.0, 1, True)


def test_runs_are_dealt_out_to_rounds() -> None:
    times = time_runs(lambda: None, 12, 0)

    assert len(times.rounds) == 5
    assert len(times.seconds) == 15
    assert times.noise >= 0.005
    assert "noise" in repr(times)
    assert "noise unknown" in repr(time_runs(lambda: None, 1, 0))


def test_the_ratio_is_that_of_pairs() -> None:
    base, other = (
        RunTimes([Judged(Turn([slow * factor], 1, 1, 0)) for slow in (1.0, 1.3, 0.8, 1.1, 1.0)])
        for factor in (1.0, 1.5)
    )
    ratio = other.ratio_to(base)

    assert ratio.value == pytest.approx(1.5)
    assert ratio.is_different
