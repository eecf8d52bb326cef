"""Elementwise kernels, transpositions and conversions, compiled, against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from xdsl.dialects.builtin import f32  # noqa: E402

from gawee_dialect.dialect.graph.arithmetic import FloorDivOp, MaximumOp, RemainderOp  # noqa: E402
from gawee_dialect.dialect.graph.cast import CastOp  # noqa: E402
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp  # noqa: E402
from gawee_dialect.dialect.graph.logic import (  # noqa: E402
    CompareOp,
    LogicalNotOp,
    WhereOp,
)
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp  # noqa: E402
from gawee_dialect.dialect.graph.movement import TransposeOp  # noqa: E402
from gawee_dialect.dialect.graph.reduction import ReduceSumOp  # noqa: E402
from gawee_dialect.interpreter.run import run_module  # noqa: E402
from tests.kernels.compiled import PLAIN, WAYS, WIDE, check, module_of, small  # noqa: E402

few = settings(max_examples=6)
ways = st.sampled_from(WAYS)
shapes = st.lists(st.sampled_from([1, 2, 5, 9, 16, 19, 33]), min_size=1, max_size=4)

OPS = {
    "add": (AddOp, torch.add),
    "sub": (SubOp, torch.sub),
    "mul": (MulOp, torch.mul),
    "maximum": (MaximumOp, torch.maximum),
    "floor_div": (FloorDivOp, torch.floor_divide),
    "remainder": (RemainderOp, torch.remainder),
    "compare": (lambda a, b: CompareOp(a, b, predicate="lt"), torch.lt),
}


@few
@given(
    st.data(),
    shapes,
    st.sampled_from(sorted(OPS)),
    st.sampled_from(["float32", "float64", "float16", "int32", "int64", "int8", "uint8"]),
    ways,
)
def test_two_operands_broadcast_and_are_transposed_as_by_pytorch(data, shape, name, dtype, way):
    kept = shape[data.draw(st.integers(0, len(shape))) :]
    other = [size if data.draw(st.booleans()) else 1 for size in kept]
    permutation = data.draw(st.permutations(range(len(shape))))
    op, torch_op = OPS[name]
    a, b = small(0, *shape, dtype=dtype), small(1, *other, dtype=dtype)
    # Small positive integers: no sum or difference of theirs wraps around in 8 bits.
    if a.dtype.kind != "f":
        a, b = np.asarray(a % 11 + 5, dtype), np.asarray(b % 5 + 1, dtype)

    def build(a, b):
        return TransposeOp(op(a, b).output, permutation=permutation).output

    expected = torch_op(torch.from_numpy(a), torch.from_numpy(b)).permute(*permutation)
    check(build, [a, b], expected.contiguous(), way)


@pytest.mark.parametrize("way", [*WAYS, PLAIN], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_zeros_of_a_division_rounded_down_have_its_sign(dtype, way):
    few = np.array([0.0, -0.0, 0.5, -0.5, 3.0, -3.0, 0.1, np.inf, -np.inf], dtype)
    a, b = (each.reshape(-1) for each in np.meshgrid(few, few))
    expected = torch.floor_divide(torch.from_numpy(a), torch.from_numpy(b))

    (result,) = way.run(module_of(lambda a, b: FloorDivOp(a, b).output, [a, b]), [a, b], 0)

    np.testing.assert_array_equal(result, expected.numpy())
    numbers = ~np.isnan(result)
    np.testing.assert_array_equal(
        np.signbit(result)[numbers], torch.signbit(expected).numpy()[numbers]
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_zeros_of_a_remainder_have_the_sign_of_what_is_divided(dtype):
    few = np.array([0.0, -0.0, 0.5, -0.5, 3.0, -3.0, np.inf, -np.inf], dtype)
    a, b = (each.reshape(-1) for each in np.meshgrid(few, few))
    expected = torch.remainder(torch.from_numpy(a), torch.from_numpy(b)).numpy()
    module = module_of(lambda a, b: RemainderOp(a, b).output, [a, b])
    named = {"arg0": a, "arg1": b}

    with np.errstate(invalid="ignore"):
        interpreted = [*run_module(module.clone(), named).values()]
    compiled = [way.run(module.clone(), [a, b], 0)[0] for way in (*WAYS, PLAIN)]

    numbers = ~np.isnan(expected)
    for result in (*interpreted, *compiled):
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(np.signbit(result)[numbers], np.signbit(expected)[numbers])


@few
@given(shapes, st.sampled_from(["float64", "float16", "int32", "int64", "int8", "bool"]), ways)
def test_conversion_and_choice_match_pytorch(shape, dtype, way):
    x, bits, y = small(0, *shape, dtype=dtype), small(1, *shape, dtype="bool"), small(2, *shape)

    def build(x, bits, y):
        number = CastOp(x, f32).output
        return [WhereOp(bits, number, y).output, LogicalNotOp(bits).output]

    tensor, truth, other = map(torch.from_numpy, (x, bits, y))
    check(build, [x, bits, y], [torch.where(truth, tensor.float(), other), ~truth], way)


@pytest.mark.parametrize("way", WAYS[:2], ids=str)
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (), (1, 1)])
def test_tensors_without_elements_and_scalars_are_no_exception(shape, way):
    x = small(0, *shape)
    tensor = torch.from_numpy(x)
    axes = list(range(len(shape)))

    def build(x):
        doubled = AddOp(x, x).output
        total = [ReduceSumOp(x, axes=axes).output] if axes else []
        return [doubled, ReluOp(doubled).output, *total]

    expected = [tensor + tensor, (tensor + tensor).relu(), *([tensor.sum()] if axes else [])]
    check(build, [x], expected, way)


def test_a_product_over_nothing_is_zero() -> None:
    a, b = small(0, 3, 0), small(1, 0, 17)

    check(lambda a, b: BatchMatMulOp(a, b).output, [a, b], torch.zeros(3, 17), WIDE, parameters=1)


def test_one_result_may_be_returned_twice() -> None:
    x = small(0, 3, 17)
    (first, second, given_back) = WIDE.run(
        module_of(lambda x: [ReluOp(x).output, ReluOp(x).output, x], [x]), [x], 0
    )

    assert (first == second).all()
    assert (given_back == x).all()
