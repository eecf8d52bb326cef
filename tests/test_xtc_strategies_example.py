"""XTC's strategies run here: their samples are schedules, and what is compiled computes the same."""

import numpy as np
import pytest

from gawee_dialect.evaluation.figures import Validity
from gawee_dialect.evaluation.search import Random, search
from gawee_dialect.scheduling import schedule
from tests.test_scheduling import FIRST, ONE_THREAD, products

strategies = pytest.importorskip("xtc.search.strategies")


@pytest.mark.parametrize("name", ["Strategy_P1", "Strategy_OO", "Strategy_PRP", "Strategy_PPRPRP"])
def test_samples_of_a_strategy_are_schedules_that_compute_the_same(name: str) -> None:
    from examples.xtc_strategies import xtc_space

    model, x, expected = products()
    kernel = schedule(model, ONE_THREAD)[FIRST]
    space = xtc_space(kernel, getattr(strategies, name), max_unroll=32)

    found = search(space, Validity(), "difference", Random, budget=4, rounds=(1, 0))

    assert len(found) == 4
    for point in found:
        (y,) = space.candidate(point).compiled.run({"x": x}).values()
        assert np.abs(y - expected).max() <= 1e-5 * np.ptp(expected)


def test_what_is_no_sample_and_what_loops_cannot_do_is_illegal() -> None:
    from examples.xtc_strategies import xtc_space

    space = xtc_space(schedule(products()[0], ONE_THREAD)[FIRST], strategies.Strategy_OO)
    problems = {str(space.problem(point)) for point in space.points()}

    assert any("no sample of the strategy is" in problem for problem in problems)
    assert any("expected loop 'j' outside the reductions" in problem for problem in problems)
