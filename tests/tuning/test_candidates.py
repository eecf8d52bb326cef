"""What is worth measuring: it fits, it differs, and the model's choice comes first."""

import re
from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.kernels.algorithm import Direct
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.winograd import Winograd
from gawee_dialect.passes.tensors.assign_schedules import accesses_of
from gawee_dialect.passes.tensors.assign_schedules.loop_order import schedule_of
from gawee_dialect.passes.tensors.assign_schedules.tiles import best_tile
from gawee_dialect.passes.tensors.convert_to_winograd import ConvertConvolution
from gawee_dialect.passes.tensors.convert_to_winograd.choose import Convolution, problem
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.schedules.keys import algorithm_key, describe, schedule_key
from gawee_dialect.target.machine import Machine, find_processor
from gawee_dialect.tuning.candidates import ScheduleSpace, algorithms, prefetches, schedules
from tests.passes.modules import parse

TARGETS = ("skylake-avx512", "haswell")

PRODUCT = """
func.func @main(%x: tensor<MxKxf32>, %w: tensor<KxNxf32> {gawee.parameter = "w"}) -> tensor<MxNxf32> {
  %y = gawee.kernel parallel [M, N] reduce [K] ins(%x, %w : tensor<MxKxf32>, tensor<KxNxf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %zero = arith.constant 0.0 : f32
      %2 = arith.maximumf %sum, %zero : f32
      gawee.yield %2 : f32
    } : tensor<MxNxf32>
  func.return %y : tensor<MxNxf32>
}
"""


def product(m: int, n: int, k: int) -> KernelOp:
    text = PRODUCT
    for name, size in (("M", m), ("N", n), ("K", k)):
        text = text.replace(f"{name}x", f"{size}x").replace(f"[{name}", f"[{size}")
        text = text.replace(f" {name}]", f" {size}]")
    return kernel_of(parse(text))


CONVOLUTION = """
func.func @main(%x: tensor<NxCxPxQxf32>, %w: tensor<FxCx3x3xf32> {gawee.parameter = "w"}) -> tensor<NxFxHxWxf32> {
  %y = gawee.kernel parallel [N, F, H, W] reduce [C, 3, 3] ins(%x, %w : tensor<NxCxPxQxf32>, tensor<FxCx3x3xf32>)
    maps [affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>, affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>,
          affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>]
    initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      gawee.yield %sum : f32
    } : tensor<NxFxHxWxf32>
  func.return %y : tensor<NxFxHxWxf32>
}
"""


def convolution(n: int, f: int, h: int, w: int, c: int) -> KernelOp:
    sizes = {"N": n, "F": f, "H": h, "W": w, "C": c, "P": h + 2, "Q": w + 2}
    text = re.sub(r"(?<![A-Z])([NFHWCPQ])(?=x|,|\])", lambda m: str(sizes[m[1]]), CONVOLUTION)
    return kernel_of(parse(text))


def kernel_of(module: ModuleOp) -> KernelOp:
    return next(op for op in module.walk() if isinstance(op, KernelOp))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [(37, 100, 65), (1, 1000, 512), (5, 3, 2), (256, 17, 64)])
def test_schedules_fit_and_the_models_is_first(sizes: tuple[int, int, int], target: str) -> None:
    op, processor = product(*sizes), find_processor(target)
    kernel = accesses_of(op, ParameterAnalysis())

    found = schedules(kernel, processor, 8)

    assert found[0] == schedule_of(kernel, best_tile(kernel, processor), processor)
    assert len(found) == len(set(found)) <= 8
    assert [each.problem(op.sizes, 1) for each in found] == [None] * len(found)


def test_a_large_product_has_other_tiles_and_other_orders() -> None:
    processor = find_processor("skylake-avx512")
    found = schedules(accesses_of(product(256, 320, 64), ParameterAnalysis()), processor, 8)

    assert len({each.tile((256, 320, 64)) for each in found}) >= 4
    assert {each.loops[0].dim for each in found} == {0, 1}
    assert schedules(accesses_of(product(9, 8, 7), ParameterAnalysis()), processor, 1) == [
        schedules(accesses_of(product(9, 8, 7), ParameterAnalysis()), processor, 8)[0]
    ]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ((256, 320, 64), "no register tile is 128 points of (1, 16) and ((0, 28),)"),
        ((256, 320, 64), "expected a block smaller than the dimension, got 'd"),
        ((1, 8, 64), "no input is to be fetched ahead"),
        ((1, 8, 64), "loops, got 1"),
    ],
)
def test_points_that_are_no_schedule_have_a_reason(
    sizes: tuple[int, int, int], reason: str
) -> None:
    kernel = accesses_of(product(*sizes), ParameterAnalysis())
    space = ScheduleSpace(kernel, find_processor("skylake-avx512"))

    assert space.problem(space.start) is None
    assert any(reason in str(space.problem(point)) for point in space.points())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [(1, 64, 56, 55, 64), (3, 48, 7, 5, 16)])
def test_algorithms_fit_and_the_models_is_first(sizes: tuple[int, ...], target: str) -> None:
    op, conversion = convolution(*sizes), ConvertConvolution(find_processor(target))

    first, *others = algorithms(op, [conversion], 6)

    assert first == (conversion.choose(op) or Direct())
    assert Direct() in (first, *others)
    assert {conversion.problem(op, each) for each in (first, *others) if each != Direct()} <= {None}


def test_the_models_choice_is_tried_with_prefetches_and_without() -> None:
    conversion = ConvertConvolution(Machine("skylake-avx512", 1).processor)

    first, *others = algorithms(convolution(1, 128, 28, 27, 128), [conversion], 6)

    assert isinstance(first, Winograd)
    assert first.prefetch
    assert replace(first, prefetch=False) in others
    assert replace(first, prefetch_inputs=not first.prefetch_inputs) in others


def test_a_products_schedule_is_tried_with_prefetches_and_without() -> None:
    kernel = accesses_of(product(256, 320, 64), ParameterAnalysis())
    processor = Machine("skylake-avx512", 1).processor

    found = schedules(kernel, processor, 8)

    other = next(prefetches(kernel, found[0]))
    assert (found[0].prefetch is None) != (other.prefetch is None)
    assert replace(other, prefetch=found[0].prefetch) == found[0]
    assert other in found
    assert next(prefetches(kernel, replace(found[0], prefetch=None))).prefetch is not None


def test_a_kernel_that_no_algorithm_is_for_has_one_way() -> None:
    conversion = ConvertConvolution(find_processor("haswell"))

    assert algorithms(product(5, 3, 2), [conversion], None) == [Direct()]


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (Winograd(3, False, 4, 4, 16, 16), "expected a tile of 2 or 4, got 3"),
        (Winograd(4, False, 4, 4, 24, 16), "expected 'lanes' to divide 'panel' (24), got 16"),
        (Winograd(4, False, 4, 4, 32, 16), "divide the output channels (48), got 32"),
        (Winograd(4, False, 4, 4, 24, 12), "divide the input channels (16), got 12"),
        (Winograd(4, False, 5, 4, 16, 16), "expected a block of at most 4 tiles, got 5"),
        (Winograd(4, True, 3, 3, 16, 16), "expected a block of 4 tiles, got 3"),
        (Winograd(4, False, 3, 4, 16, 16), "expected at most 3 rows"),
        (
            Winograd(4, False, 4, 4, 16, 16, filters=True),
            "expected 'by_channel' with 'filters', got blocks of tiles",
        ),
        (
            Winograd(4, False, 4, 4, 24, 8, wide=True),
            "expected twice 'lanes' to divide 'panel' (24), got 16",
        ),
        (Winograd(4, True, 4, 4, 32, 8, wide=True), "divide the output channels (48), got 32"),
        (
            Winograd(4, False, 4, 4, 64, 32, wide=True),
            "expected 'lanes' to divide the output channels (48), got 32",
        ),
        (
            Winograd(4, True, 4, 4, 48, 16, filters=True),
            "expected a panel of 16 channels with 'filters', got 48",
        ),
    ],
)
def test_a_plan_that_does_not_fit_has_a_reason(choice: Winograd, reason: str) -> None:
    found = problem(Convolution(1, 48, 7, 5, 16), choice)

    assert found is not None
    assert reason in found


def test_a_key_is_of_what_is_computed_and_not_of_names() -> None:
    op = product(5, 3, 2)
    renamed = kernel_of(parse(str(op.get_toplevel_object()).replace("%zero", "%nothing")))
    other = kernel_of(parse(str(op.get_toplevel_object()).replace("maximumf", "minimumf")))
    wider = product(5, 4, 2)

    keys = [schedule_key(each, [False, True]) for each in (op, renamed, other, wider)]

    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert schedule_key(op, [False, False]) not in keys
    assert algorithm_key(op) not in keys
    assert describe(op) == "matmul 5x3 over 2 f32, maximumf"
