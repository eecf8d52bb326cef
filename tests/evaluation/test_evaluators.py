"""What is measured of a build: against what is known of it in another way."""

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation import figures as evaluators
from gawee_dialect.evaluation.evaluator import Build, Figures
from gawee_dialect.evaluation.figures import Code, Cost, Counters, Memory, Time, Validity
from gawee_dialect.evaluation.turns import Referee
from gawee_dialect.model import Model
from gawee_dialect.target.description import PROCESSORS
from tests.tuning.networks import network


def number(figures: Figures, name: str) -> float:
    value = figures[name]
    assert isinstance(value, int | float)
    return value


@pytest.fixture(scope="module")
def build() -> Build:
    model, inputs = network()
    return Build(model, CodeOptions(num_threads=1), inputs=inputs)


@pytest.fixture(scope="module")
def plain() -> Build:
    model, inputs = network()
    return Build(model, CodeOptions(num_threads=1, algorithms="plain"), inputs=inputs)


def test_kernels_are_faster_than_plain_loops_and_the_ratio_says_so(
    build: Build, plain: Build
) -> None:
    time = Time(3, 3, least_seconds=0, referee=Referee(patience=0, retries=0))
    base, other = time.figures([build, plain])

    assert number(base, "seconds") < number(other, "seconds")
    assert "ratio" not in base
    assert number(other, "ratio") > 2  # vectors of 16, register tiles
    for rounds in (other["rounds"], other["base_rounds"]):
        assert isinstance(rounds, list)
        assert len(rounds) == 3
    assert number(base, "runs") >= 9


def test_code_that_is_valid_and_code_that_is_not(build: Build) -> None:
    (figures,) = Validity().figures([build])

    assert figures["valid"] is True
    assert 0 <= number(figures, "difference") < 2**-14

    model, inputs = network()
    other = Build(Model(model.module, {**model.parameters, "b": np.add(model.parameters["b"], 1)}))
    wrong = Build(model, build.options, inputs=inputs)
    vars(wrong)["compiled"] = other.compiled  # code of another network
    (figures,) = Validity().figures([wrong])

    assert figures["valid"] is False
    assert number(figures, "difference") > 0.01


def test_code_has_bytes_and_instructions(build: Build, plain: Build) -> None:
    tiled, simple = Code().figures([build, plain])

    assert 0 < number(tiled, "code_bytes") < sum(map(len, build.program.code.objects))
    # An instruction of x86 has 1 to 15 bytes, one of AArch64 four.
    assert (
        number(tiled, "code_bytes") / 15
        < number(tiled, "instructions")
        <= number(tiled, "code_bytes")
    )
    assert number(tiled, "spills") >= 0
    assert number(simple, "reloads") >= 0


def test_cost_is_the_arithmetic_of_kernels_before_any_of_them_runs(build: Build) -> None:
    options = CodeOptions(target="haswell", without=("convert-to-winograd",))
    (figures,) = Cost().figures([Build(build.model, options)])

    products = 2 * 32 * 10 * 9 * 16 * 9  # of the convolution; the bias, relu and pool are some more
    assert products < number(figures, "flops") < 1.1 * products
    moved = 4 * (16 * 90 + 32 * 16 * 9 + 32 + 32 * 20)  # if the pool is part of the kernel
    assert number(figures, "moved_bytes") >= moved
    assert number(figures, "predicted_seconds") >= products / PROCESSORS["haswell"].flops()


def test_memory_is_that_of_what_is_held(build: Build) -> None:
    (figures,) = Memory().figures([build])

    bias, weights = (build.model.parameters[name].nbytes for name in "bw")
    assert figures["weight_bytes"] == bias  # used as it is
    assert number(figures, "prepared_bytes") >= weights  # in another order
    assert figures["workspace_bytes"] == build.compiled.memory.workspace
    assert figures["peak_bytes"] is None or number(figures, "peak_bytes") > number(
        figures, "workspace_bytes"
    )


def test_counters_count_or_say_why_not(build: Build) -> None:
    (figures,) = Counters().figures([build])

    if "counters" in figures:
        assert str(figures["counters"]).startswith("absent: ")
    else:
        assert number(figures, "retired_instructions") > 1000


def test_a_system_without_counters_is_told(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluators, "SYSTEM_CALLS", {})

    assert Counters().figures([build]) == [
        {"counters": "absent: this system has no perf_event_open"}
    ]
