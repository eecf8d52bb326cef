"""Programs for several shapes of a network keep once what they make of its weights alike."""

import gc

import numpy as np
import pytest

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.prepared_family import PreparedFamily
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import program_of
from gawee_dialect.frontends.mlir_text import module_of_text
from tests.closeness import assert_allclose

LAYER = """
func.func @main(%x: tensor<{rows}x48xf32> {{gawee.input = "x"}},
                %w: tensor<80x48xf32> {{gawee.parameter = "w"}},
                %v: tensor<7x80xf32> {{gawee.parameter = "v"}})
    -> (tensor<{rows}x7xf32> {{gawee.output = "y"}}) {{
  %0 = gawee.matmul %x, %w : (tensor<{rows}x48xf32>, tensor<80x48xf32>) -> tensor<{rows}x80xf32>
  %1 = gawee.matmul %0, %v : (tensor<{rows}x80xf32>, tensor<7x80xf32>) -> tensor<{rows}x7xf32>
  return %1 : tensor<{rows}x7xf32>
}}
"""
RANDOM = np.random.default_rng(5)
W = RANDOM.standard_normal((80, 48)).astype(np.float32)
V = RANDOM.standard_normal((7, 80)).astype(np.float32)


def model(rows: int, family: PreparedFamily, **weights: np.ndarray) -> CompiledModel:
    text = LAYER.format(rows=rows)
    program = program_of(module_of_text(text), CodeOptions(num_threads=1), cache=False)
    return CompiledModel(program, {"w": W, "v": V} | weights, family=family)


def check(model: CompiledModel, w: np.ndarray = W) -> None:
    x = RANDOM.standard_normal(model.inputs[0].shape).astype(np.float32)
    # Sums of 48 and of 80 products of normal numbers, rounded at each step.
    assert_allclose(model(x), x @ w.T @ V.T, rtol=1e-4, atol=1e-3)


def shared(one: CompiledModel, other: CompiledModel) -> int:
    """Return how many prepared values of two models are in the same memory."""
    values = list(other.prepared_values().values())
    return sum(
        any(np.shares_memory(value, each) for each in values)
        for value in one.prepared_values().values()
    )


def test_programs_for_other_shapes_share_what_they_pack_alike() -> None:
    family = PreparedFamily()
    first, alike, other = (model(rows, family) for rows in (24, 24, 36))

    assert shared(first, alike) == len(first.prepared_values()) > 0
    for each in (first, alike, other):
        check(each)


def test_other_weights_are_not_shared() -> None:
    family = PreparedFamily()
    first, other = model(24, family), model(36, family, w=W + 1)

    assert shared(first, other) < len(first.prepared_values())
    check(first)
    check(other, W + 1)


def test_binding_others_leaves_those_of_the_family_alone() -> None:
    family = PreparedFamily()
    first, other = model(24, family), model(36, family)

    first.rebind({"w": W * 2, "v": V})

    check(first, W * 2)
    check(other)


@pytest.mark.parametrize("which", [0, 1])
def test_what_one_has_stays_when_the_other_is_gone(which: int) -> None:
    family = PreparedFamily()
    models = [model(24, family), model(36, family)]
    del models[which]
    gc.collect()

    check(models[0])
    check(model(48, family))
