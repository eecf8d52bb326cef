"""Long sums in every op, at every level, against NumPy in f64.

Allowed are 4 times the error of the same formula in f32 where NumPy adds up pairwise (along
contiguous axes), and the rounding of the result. Numbers of one sign show what is lost when small
terms are added to a large total, equal ones roundings that all point one way, and normal ones what
cancellation leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.ir import SSAValue

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import EXACT, PLAIN, CodeOptions
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.normalization import GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp
from gawee_dialect.dialect.graph.reduction import (
    CumSumOp,
    LogSoftmaxOp,
    ReduceMeanOp,
    ReduceSumOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.types import LONG_SUM
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import Level, lower_to
from tests.effort import crossed, full_run
from tests.kernels.compiled import Array, module_of

FACTOR = 4
ROUNDING = 2.0**-24
"""Half a unit in the last place of f32, relative."""

EQUAL = 16
"""How many roundings a block of 64 equal products may be off by: all point one way."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """An op whose sums have about so many terms: its inputs, itself, and its formula in NumPy."""

    shapes: Callable[[int], Sequence[Shape]]
    build: Callable[..., SSAValue]
    formula: Callable[..., Array]


def last(*leading: int) -> Callable[[int], Sequence[Shape]]:
    return lambda length: [(*leading, length)]


def rows(x: Array) -> Array:
    """Move the first axis last, in memory too, so that NumPy adds along it pairwise."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1))


def normalized(x: Array, *, centred: bool = True) -> Array:
    x = x - x.mean(-1, keepdims=True) if centred else x
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(1e-5))


def grouped(x: Array, groups: int) -> Array:
    return normalized(x.reshape(x.shape[0], groups, -1)).reshape(x.shape)


def softmax(x: Array) -> Array:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def log_softmax(x: Array) -> Array:
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def products(a: Array, b: Array) -> Array:
    """Rows of a times rows of b."""
    return (a[..., :, None, :] * b[..., None, :, :]).sum(-1)


def convolved(x: Array, w: Array) -> Array:
    """Convolve (n, c, h, w) with (f, c, 3, 3)."""
    windows = np.moveaxis(sliding_window_view(x, (3, 3), (2, 3)), 1, 3)[:, None]
    return (windows * w[None, :, None, None]).reshape(*windows.shape[:1], len(w), 2, 2, -1).sum(-1)


def variance(x: SSAValue) -> SSAValue:
    mean = ReduceMeanOp(x, axes=[1], keep_dims=True).output
    deviation = SubOp(x, mean).output
    return ReduceMeanOp(MulOp(deviation, deviation).output, axes=[1]).output


def squared_error(x: SSAValue, y: SSAValue) -> SSAValue:
    difference = SubOp(x, y).output
    return ReduceMeanOp(MulOp(difference, difference).output).output


CASES = {
    "sum along the last axis": Case(
        last(5), lambda x: ReduceSumOp(x, axes=[1]).output, lambda x: x.sum(-1)
    ),
    "sum along the first axis": Case(
        lambda length: [(length, 19)],
        lambda x: ReduceSumOp(x, axes=[0]).output,
        lambda x: rows(x).sum(-1),
    ),
    "sum along a middle axis": Case(
        lambda length: [(3, length, 5)],
        lambda x: ReduceSumOp(x, axes=[1]).output,
        lambda x: rows(np.moveaxis(x, 1, 0)).sum(-1),
    ),
    "one sum": Case(last(1), lambda x: ReduceSumOp(x, axes=[1]).output, lambda x: x.sum(-1)),
    "one column": Case(
        lambda length: [(length, 1)],
        lambda x: ReduceSumOp(x, axes=[0]).output,
        lambda x: x.reshape(1, -1).sum(-1),
    ),
    "one mean of squares": Case(
        last(1),
        lambda x: ReduceMeanOp(MulOp(x, x).output, axes=[1]).output,
        lambda x: (x * x).mean(-1),
    ),
    "mean of everything": Case(
        lambda length: [(7, length // 7 + 1)],
        lambda x: ReduceMeanOp(x).output,
        lambda x: x.reshape(-1).mean(-1),
    ),
    "mean of batches": Case(
        lambda length: [(length // 9 + 1, 4, 9)],
        lambda x: ReduceMeanOp(x, axes=[0, 2]).output,
        lambda x: np.ascontiguousarray(np.moveaxis(x, 1, 0)).reshape(4, -1).mean(-1),
    ),
    "mean of squares": Case(
        last(5),
        lambda x: ReduceMeanOp(MulOp(x, x).output, axes=[1]).output,
        lambda x: (x * x).mean(-1),
    ),
    "norm": Case(
        last(5),
        lambda x: SqrtOp(ReduceSumOp(MulOp(x, x).output, axes=[1]).output).output,
        lambda x: np.sqrt((x * x).sum(-1)),
    ),
    "variance": Case(last(5), variance, lambda x: x.var(-1)),
    "mean squared error": Case(
        lambda length: [(3, length // 3 + 1)] * 2,
        squared_error,
        lambda x, y: ((x - y) * (x - y)).reshape(-1).mean(-1),
    ),
    "layer norm": Case(last(3), lambda x: LayerNormOp(x).output, normalized),
    "rms norm": Case(
        last(3), lambda x: RmsNormOp(x, eps=1e-5).output, lambda x: normalized(x, centred=False)
    ),
    "group norm": Case(
        lambda length: [(2, 4, length // 2 + 1)],
        lambda x: GroupNormOp(x, groups=2).output,
        lambda x: grouped(x, 2),
    ),
    "mean after instance norm": Case(
        lambda length: [(1, 3, length)],
        lambda x: ReduceMeanOp(GroupNormOp(x, groups=3).output).output,
        lambda x: grouped(x, 3).reshape(-1).mean(-1),
    ),
    "softmax": Case(last(3), lambda x: SoftmaxOp(x).output, softmax),
    "log softmax": Case(last(3), lambda x: LogSoftmaxOp(x).output, log_softmax),
    "running sum": Case(last(2), lambda x: CumSumOp(x).output, lambda x: running_sum(x)),
    "global pooling": Case(
        lambda length: [(1, 3, 31, length // 31 + 1)],
        lambda x: AdAvgPoolOp(x, output_size=[1, 1]).output,
        lambda x: x.reshape(1, 3, 1, 1, -1).mean(-1),
    ),
    "pooling": Case(
        lambda length: [(1, 2, 5, length // 5 + 1)],
        lambda x: (
            AvgPoolOp(x, kernel=[5, x.type.get_shape()[3]], strides=[1, 1], padding=[0] * 4).output
        ),
        lambda x: x.reshape(1, 2, 1, 1, -1).mean(-1),
    ),
    "matrix product": Case(
        lambda length: [(3, length), (21, length)], lambda a, b: MatMulOp(a, b).output, products
    ),
    "batched product": Case(
        lambda length: [(2, 3, length), (2, length, 17)],
        lambda a, b: BatchMatMulOp(a, b).output,
        lambda a, b: products(a, np.ascontiguousarray(b.swapaxes(1, 2))),
    ),
    "convolution": Case(
        lambda length: [(1, length // 9 + 1, 4, 4), (18, length // 9 + 1, 3, 3)],
        lambda x, w: ConvOp(x, w).output,
        convolved,
    ),
    "attention": Case(
        lambda length: [(2, 3, 4), (2, length, 4), (2, length, 4)],
        lambda q, k, v: AttentionOp(q, k, v, scale=0.5).output,
        lambda q, k, v: products(
            softmax(products(q, k) * q.dtype.type(0.5)), np.ascontiguousarray(v.swapaxes(1, 2))
        ),
    ),
}


def running_sum(x: Array) -> Array:
    """Sum blocks of 128, then their totals, as pairs would be: NumPy adds one after the other."""
    if x.dtype == np.float64:
        return np.cumsum(x, -1)
    whole = -(-x.shape[-1] // 128) * 128
    blocks = np.pad(x, ((0, 0), (0, whole - x.shape[-1]))).reshape(len(x), -1, 128)
    before = [blocks[:, :index].reshape(len(x), -1).sum(-1) for index in range(blocks.shape[1])]
    summed = np.cumsum(blocks, -1) + np.stack(before, 1)[..., None]
    return summed.reshape(len(x), -1)[:, : x.shape[-1]]


def drawn(kind: str, shape: Shape, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    if kind == "of one sign":
        return generator.random(shape, np.float32)
    if kind == "equal":
        return np.full(shape, np.float32(0.1 + seed))
    return generator.standard_normal(shape).astype(np.float32)


DATA = ("of one sign", "equal", "of both signs")

Run = Callable[[Sequence[Array]], Array]

INTERPRETED_AND_PLAIN = ("gawee", "linalg", "plain loops")
WAYS = (*INTERPRETED_AND_PLAIN, "kernels")
COMPILED = {
    "kernels": CodeOptions(),
    "exact kernels of another processor": CodeOptions(algorithms=EXACT, target="generic-avx2"),
    "plain loops": CodeOptions(algorithms=PLAIN),
}


def runner(case: Case, arrays: Sequence[Array], way: str) -> Run:
    """Lower a case once, to run it on any arrays of these shapes."""
    module = module_of(case.build, arrays)
    options = COMPILED.get(way)
    if options is None:
        lowered = lower_to(module, Level(way.removeprefix("interpreted ")))
        run = partial(run_module, lowered)
    else:
        run = CompiledModel(lower_to(module, Level.LLVM, options), num_threads=2).run

    def call(inputs: Sequence[Array]) -> Array:
        (result,) = run({f"arg{index}": array for index, array in enumerate(inputs)}).values()
        return result

    return call


def check(name: str, way: str, length: int, data: Sequence[str] = DATA, draws: int = 1) -> None:
    """Compare the largest errors of some draws of each kind of data."""
    case = CASES[name]
    shapes = case.shapes(length)
    run = runner(case, [np.empty(shape, np.float32) for shape in shapes], way)
    for kind in data:
        errors = [errors_of(case, run, kind, shapes, draw) for draw in range(draws)]
        error, pairwise, rounding = (max(each) for each in zip(*errors, strict=True))
        if kind == "equal":
            rounding *= EQUAL
        found = f"{kind}: {error:.2e}, pairwise {pairwise:.2e}, rounding {rounding:.2e}"
        assert error <= FACTOR * pairwise + rounding, found


def errors_of(
    case: Case, run: Run, kind: str, shapes: Sequence[Shape], draw: int
) -> tuple[float, float, float]:
    """Return how far results are off, NumPy's of pairwise sums, and what rounding them costs."""
    arrays = [drawn(kind, shape, seed) for seed, shape in enumerate(shapes, draw * len(shapes))]
    result, pairwise = run(arrays), case.formula(*arrays)
    exact = case.formula(*(array.astype(np.float64) for array in arrays))
    assert result.dtype == pairwise.dtype == np.float32
    scale = np.abs(exact).max()
    return np.abs(result - exact).max(), np.abs(pairwise - exact).max(), ROUNDING * scale


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, marks=full_run if (number + turn) % 2 else ())
        for number, name in enumerate(CASES)
        for turn, way in enumerate(("kernels", INTERPRETED_AND_PLAIN[number % 3]))
    ],
)
def test_a_long_sum_is_as_exact_as_a_pairwise_one(name: str, way: str) -> None:
    check(name, way, 20_011)


@pytest.mark.parametrize("way", ["interpreted kernels", "exact kernels of another processor"])
@pytest.mark.parametrize("name", ["sum along the first axis", "mean of squares", "matrix product"])
def test_so_it_is_whatever_runs_the_kernels(name: str, way: str) -> None:
    check(name, way, 20_011)


LENGTHS = (LONG_SUM + 1, 65_536, 524_288 + 17)
SUMS = ("sum along the last axis", "sum along the first axis", "mean squared error")


@pytest.mark.parametrize(("name", "length"), crossed((*SUMS, "matrix product"), LENGTHS))
def test_so_it_is_at_any_length(name: str, length: int) -> None:
    check(name, "kernels", length)


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [2**20, 2**23 + 1, 2**26])
@pytest.mark.parametrize("name", ["one sum", "one mean of squares", "one column"])
def test_so_it_is_up_to_many_millions(name: str, length: int, way: str) -> None:
    # One row fits in memory; of several draws the worst is taken, as of several rows.
    check(name, way, length, draws=4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [524_288, 2**22 + 1])
def test_so_is_a_product_of_long_rows(length: int, way: str) -> None:
    check("matrix product", way, length)


@pytest.mark.parametrize("way", WAYS)
def test_sums_and_products_of_f16_are_taken_in_a_wider_type(way: str) -> None:
    a, b = (
        drawn("of one sign", shape, 1).astype(np.float16) for shape in ((3, 30_001), (2, 30_001))
    )
    # Means: the sums themselves are more than f16 holds.
    b /= np.float16(30_001)
    case = Case(lambda length: (), lambda a, b: MatMulOp(a, b).output, products)

    result = runner(case, [a, b], way)([a, b])

    # Half a unit in the last place.
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, products(a.astype(float), b.astype(float)), rtol=2**-11)


@pytest.mark.parametrize("way", WAYS)
def test_long_sums_of_integers_wrap_around(way: str) -> None:
    x = np.full((3, 70_001), 123_457, np.int32)
    case = Case(lambda length: (), lambda x: ReduceSumOp(x, axes=[1]).output, np.sum)

    np.testing.assert_array_equal(runner(case, [x], way)([x]), x.sum(1, dtype=np.int32))


@pytest.mark.parametrize("way", WAYS)
def test_a_long_sum_hands_on_what_is_not_finite(way: str) -> None:
    x = np.ones((4, 9_001), np.float32)
    x[0, 5], x[1, 8_999], x[2, [3, 7]] = np.nan, -np.inf, (np.inf, -np.inf)
    case = CASES["sum along the last axis"]

    np.testing.assert_array_equal(runner(case, [x], way)([x]), [np.nan, -np.inf, np.nan, 9_001])
