"""Passes that are left out of the pipeline, by name."""

import numpy as np
import pytest

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.levels import Level, passes_to
from tests.closeness import assert_allclose
from tests.tuning.networks import network


def names(*without: str, level: Level = Level.LLVM) -> list[str]:
    return [each.name for each in passes_to(level, CodeOptions(without=without))]


def test_all_of_a_name_are_left_out() -> None:
    everything = names()

    assert [each for each in everything if each != "canonicalize"] == names("canonicalize")
    assert "canonicalize" in everything


def test_a_number_says_which() -> None:
    everything = names()
    second = [index for index, each in enumerate(everything) if each == "canonicalize"][1]

    assert names("canonicalize#2") == [*everything[:second], *everything[second + 1 :]]


def test_what_the_pipeline_does_not_have_is_an_error() -> None:
    with pytest.raises(GaweeError) as error:
        names("fold-batchnorm", "cse#99")

    assert [each.message for each in error.value.diagnostics] == [
        "cannot leave out 'fold-batchnorm': the pipeline has no such pass",
        "cannot leave out 'cse#99': the pipeline has no such pass",
    ]
    assert "fold-batch-norm" in str(error.value.diagnostics[0].hint)


def test_code_without_an_algorithm_computes_the_same() -> None:
    model, inputs = network()
    left_out = CodeOptions(without=("convert-to-winograd",), num_threads=1)

    assert "gawee.winograd" not in str(model.lowered(Level.KERNELS, left_out))
    (direct,) = model.compile(left_out).run(inputs).values()
    (expected,) = model.run(inputs, Level.GAWEE).values()
    # 144 products in f32.
    assert_allclose(direct, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
