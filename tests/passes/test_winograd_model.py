"""The model of Winograd's convolution, held to what was measured on Zen 5."""

from math import exp, log
from statistics import mean

import pytest

from benchmarks.winograd_plans import CONSTANTS, COSTS, FILE, choices, lines, main, read


def test_choices_are_near_the_best_that_was_measured() -> None:
    ratios = [ratio for _, ratio in choices(read(FILE))]

    # By how much two measurements of one plan differ, and what a model may leave.
    assert len(ratios) >= 17
    assert exp(mean(map(log, ratios))) < 1.05
    assert max(ratios) < 1.15


def test_measurements_are_read_as_they_were_written() -> None:
    written = FILE.read_text("utf-8")

    assert "".join(lines(read(FILE))) == written


def test_each_fitted_constant_is_tried_smaller_and_larger(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["--fit"])

    _, *tried = capsys.readouterr().out.splitlines()
    assert [line.split(" = ")[0] for line in tried[::2]] == [*CONSTANTS, *COSTS]
    assert [line.split(" = ")[0] for line in tried[1::2]] == [*CONSTANTS, *COSTS]
