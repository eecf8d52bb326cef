"""Searches: spaces of knobs, what strategies suggest, and what is measured of it."""

import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.evaluator import Evaluator, Figures
from gawee_dialect.evaluation.figures import Code, Proof, Validity
from gawee_dialect.evaluation.search import (
    STRATEGIES,
    Exhaustive,
    HillClimbing,
    Point,
    Random,
    Ranked,
    Space,
    Strategy,
    search,
)
from gawee_dialect.schedules.script import Script
from gawee_dialect.scheduling import schedule
from tests.test_scheduling import FIRST, ONE_THREAD, products


class Table(Evaluator[float]):
    """Measures numbers: the number itself, and a little more each time."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def figures(self, candidates: Sequence[float]) -> list[Figures]:
        self.asked += candidates
        return [{"seconds": each + 1e-6 * len(self.asked)} for each in candidates]


def numbers(*values: float) -> Space[float]:
    return Space(lambda number: number, {"number": values})


def bowl(x: int, y: int, kind: str) -> float:
    """A function with one lowest point, 0.5, at (7, 3, "b"); not defined where y is 5."""
    if y == 5:
        raise GaweeError(f"expected another y, got {y}")
    return 0.5 + (x - 7) ** 2 + 2 * (y - 3) ** 2 + 10 * (kind != "b")


def valley() -> Space[float]:
    return Space(bowl, {"x": range(10), "y": range(8), "kind": ["a", "b", "c"]})


# Spaces.


def test_a_space_has_points_by_knobs_and_says_which_are_illegal() -> None:
    space = valley()

    assert space.count == len(list(space.points())) == 10 * 8 * 3
    assert space.values((7, 3, 1)) == {"x": 7, "y": 3, "kind": "b"}
    assert space.candidate((7, 3, 1)) == 0.5
    assert space.problem((7, 3, 1)) is None
    assert space.problem((0, 5, 0)) == "error: expected another y, got 5"
    assert (0, 7, 2) in space
    assert [point in space for point in [(10, 0, 0), (0, -1, 0), (0, 0)]] == [False] * 3


def test_a_sample_is_of_different_legal_points_by_its_seed() -> None:
    space = valley()

    first = space.sample(50, seed=1)

    assert first == valley().sample(50, seed=1) != space.sample(50, seed=2)
    assert len(set(first)) == 50
    assert all(space.problem(point) is None for point in first)
    assert len(space.sample(1000, seed=1)) == 10 * 7 * 3


def test_neighbours_differ_by_a_step_of_a_number_or_any_other_value() -> None:
    near = valley().neighbours((0, 4, 1))

    assert sorted(near) == [(0, 3, 1), (0, 4, 0), (0, 4, 2), (1, 4, 1)]  # (0, 5, 1) is illegal


def test_features_are_numbers_and_one_of_several_others() -> None:
    assert valley().features((7, 3, 1)) == [7, 3, 0, 1, 0]


def test_the_programs_of_a_kernel_with_knobs_are_a_space() -> None:
    model, x, expected = products()

    def steps(rows: int, width: int) -> Script:
        named = Script().name("m", "n", "k").tile(m=rows, n=width)
        return named.vectorize(n=8).unroll("m", "n")

    kernel = schedule(model, ONE_THREAD)[FIRST]
    space = kernel.space(steps, rows=[1, 4, 8], width=[8, 16, 40])

    assert "cannot take the step tile(m=8, n=8)" in str(space.problem((2, 0)))
    assert "in 'n by 40', got 40" in str(space.problem((0, 2)))
    assert kernel.script == Script()
    found = search(space, Code(), "instructions", Exhaustive, rounds=(1, 0))
    assert set(found) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    build = space.candidate((1, 1))
    (y,) = build.compiled.run({"x": x}).values()
    assert np.abs(y - expected).max() <= 1e-5 * np.ptp(expected)
    assert Validity().figures([build])[0]["valid"]
    proof = Proof().figures([build])[0]
    assert proof["valid"]
    assert proof["proved"]


# Searches.


def test_the_fastest_and_the_start_are_measured_again() -> None:
    table = Table()
    best = search(numbers(5.0, 9.0, 1.0, 3.0, 2.0, 8.0), table, "seconds")

    assert min(best, key=best.__getitem__) == (2,)
    assert table.asked.count(1.0) == table.asked.count(5.0) == 10
    assert table.asked.count(9.0) == table.asked.count(8.0) == 3


def test_no_more_points_are_measured_than_the_budget_says() -> None:
    table = Table()
    space = numbers(5.0, 9.0, 1.0, 3.0, 2.0)

    assert set(search(space, table, "seconds", budget=3)) == {(0,), (1,), (2,)}
    assert set(search(space, Table(), "seconds", budget=1)) == {(0,)}
    assert len(search(space, Table(), "seconds", Random, budget=3)) == 3


def test_a_search_whose_time_is_up_measures_each_point_once() -> None:
    table = Table()

    assert len(search(numbers(5.0, 9.0, 1.0), table, "seconds", seconds=-1)) == 1
    assert table.asked == [5.0]


class Few(Strategy):
    """The third point, then nothing."""

    def suggest(self, most: int) -> Sequence[Point]:
        return [] if self.best else [(2,)]


def test_a_strategy_may_leave_points_out() -> None:
    assert set(search(numbers(5.0, 9.0, 1.0), Table(), "seconds", Few)) == {(0,), (2,)}


class Beyond(Few):
    def suggest(self, most: int) -> Sequence[Point]:
        return [(0,), (7,)]


def test_a_strategy_that_suggests_nothing_that_exists_is_refused() -> None:
    message = r"expected a strategy to suggest points of the space, got \(7,\): there is no such"
    with pytest.raises(GaweeError, match=message):
        search(numbers(1.0, 2.0), Table(), "seconds", Beyond)


def test_an_objective_must_be_measured() -> None:
    message = "expected a number 'cycles' of the evaluator, got seconds"
    with pytest.raises(GaweeError, match=message):
        search(numbers(1.0), Table(), "cycles", Ranked)


# Strategies.

NEEDED = {"learned": "sklearn", "optuna": "optuna"}


def strategy(name: str) -> Callable[[Space[object]], Strategy]:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    return STRATEGIES[name]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_suggests_new_legal_points_and_repeats_itself(name: str) -> None:
    searches = [
        search(valley(), Table(), "seconds", strategy(name), budget=24, rounds=(1, 0))
        for _ in range(2)
    ]

    assert list(searches[0]) == list(searches[1])
    assert len(searches[0]) == 24
    assert all(y != 5 for _, y, _ in searches[0])


@pytest.mark.parametrize("name", ["hill-climbing", "evolutionary", "learned", "optuna"])
def test_what_was_measured_leads_to_better_points(name: str) -> None:
    found = search(valley(), Table(), "seconds", strategy(name), budget=60, rounds=(1, 0))
    by_order = search(valley(), Table(), "seconds", Exhaustive, budget=60, rounds=(1, 0))

    assert min(found.values()) < 4 < min(by_order.values())


def test_neighbours_are_climbed_down_to_the_lowest_point() -> None:
    found = search(valley(), Table(), "seconds", HillClimbing, budget=120, rounds=(1, 0))

    assert min(found, key=found.__getitem__) == (7, 3, 1)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_space_that_is_used_up_ends_the_search(name: str) -> None:
    found = search(numbers(5.0, 2.0, 3.0), Table(), "seconds", strategy(name), budget=9)

    assert len(found) == 3


@pytest.mark.parametrize(("name", "package"), [("learned", "scikit-learn"), ("optuna", "optuna")])
def test_a_strategy_whose_package_is_absent_is_told(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sklearn.ensemble", "optuna"):
        monkeypatch.setitem(sys.modules, module, None)

    message = f"cannot search by the strategy '{name}': it needs {package}"
    with pytest.raises(GaweeError, match=message) as caught:
        search(valley(), Table(), "seconds", STRATEGIES[name], budget=12, rounds=(1, 0))
    assert "hint: pip install 'gawee-dialect[search]'" in str(caught.value)
