"""The elementwise family at every level against PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gawee_dialect.dialect.graph import activation, arithmetic, elementwise  # noqa: E402
from gawee_dialect.dialect.graph.activation import ClipOp, EluOp, GeluOp, LeakyReluOp  # noqa: E402
from gawee_dialect.dialect.graph.cast import BitcastOp, CastOp  # noqa: E402
from gawee_dialect.dialect.graph.logic import (  # noqa: E402  # noqa: E402
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    CompareOp,
    IsNanOp,
    LogicalNotOp,
    WhereOp,
)
from gawee_dialect.dialect.types import ELEMENT_TYPES  # noqa: E402
from tests.interpreter.modules import random  # noqa: E402
from tests.lowering.native import lowered_text  # noqa: E402
from tests.lowering.torch_levels import (  # noqa: E402
    FAST_LEVELS,
    LEVELS,
    check_levels,
    check_result,
    module_of,
)
from tests.upstream_mlir import requires_upstream, run_upstream  # noqa: E402

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]

NUMBER_UNARY = {
    "relu": (elementwise.ReluOp, torch.relu),
    "neg": (arithmetic.NegOp, torch.neg),
    "abs": (arithmetic.AbsOp, torch.abs),
    "sign": (arithmetic.SignOp, torch.sign),
    "clip": (lambda x: ClipOp(x, min=-1, max=2), lambda x: clamp(x, -1, 2)),
    "clip_low": (lambda x: ClipOp(x, min=1), lambda x: clamp(x, 1, None)),
    "clip_high": (lambda x: ClipOp(x, max=1), lambda x: clamp(x, None, 1)),
    "clip_crossed": (lambda x: ClipOp(x, min=3, max=1), lambda x: clamp(x, 3, 1)),
}
FLOAT_UNARY = {
    **NUMBER_UNARY,
    "exp": (arithmetic.ExpOp, torch.exp),
    "log": (arithmetic.LogOp, torch.log),
    "log1p": (arithmetic.Log1pOp, torch.log1p),
    "tanh": (arithmetic.TanhOp, torch.tanh),
    "erf": (arithmetic.ErfOp, torch.erf),
    "sin": (arithmetic.SinOp, torch.sin),
    "cos": (arithmetic.CosOp, torch.cos),
    "sqrt": (elementwise.SqrtOp, torch.sqrt),
    "rsqrt": (arithmetic.RsqrtOp, torch.rsqrt),
    "reciprocal": (arithmetic.ReciprocalOp, torch.reciprocal),
    "floor": (arithmetic.FloorOp, torch.floor),
    "ceil": (arithmetic.CeilOp, torch.ceil),
    "round": (arithmetic.RoundOp, torch.round),
    "sigmoid": (activation.SigmoidOp, torch.sigmoid),
    "silu": (activation.SiluOp, F.silu),
    "hard_sigmoid": (activation.HardSigmoidOp, F.hardsigmoid),
    "hard_swish": (activation.HardSwishOp, F.hardswish),
    "softplus": (activation.SoftplusOp, F.softplus),
    "leaky_relu": (lambda x: LeakyReluOp(x, alpha=0.2), lambda x: F.leaky_relu(x, 0.2)),
    "elu": (lambda x: EluOp(x, alpha=0.7), lambda x: F.elu(x, 0.7)),
    "gelu": (GeluOp, F.gelu),
    "gelu_tanh": (
        lambda x: GeluOp(x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
    ),
    "isnan": (IsNanOp, torch.isnan),
}
NUMBER_BINARY = {
    "add": (elementwise.AddOp, torch.add),
    "sub": (elementwise.SubOp, torch.sub),
    "mul": (elementwise.MulOp, torch.mul),
    "maximum": (arithmetic.MaximumOp, torch.maximum),
    "minimum": (arithmetic.MinimumOp, torch.minimum),
    "remainder": (arithmetic.RemainderOp, torch.remainder),
    "fmod": (arithmetic.FmodOp, torch.fmod),
    "floor_div": (arithmetic.FloorDivOp, torch.floor_divide),
    "eq": (lambda x, y: CompareOp(x, y, predicate="eq"), torch.eq),
    "ne": (lambda x, y: CompareOp(x, y, predicate="ne"), torch.ne),
    "lt": (lambda x, y: CompareOp(x, y, predicate="lt"), torch.lt),
    "le": (lambda x, y: CompareOp(x, y, predicate="le"), torch.le),
    "gt": (lambda x, y: CompareOp(x, y, predicate="gt"), torch.gt),
    "ge": (lambda x, y: CompareOp(x, y, predicate="ge"), torch.ge),
}
FLOAT_BINARY = {
    **NUMBER_BINARY,
    "div": (elementwise.DivOp, torch.div),
    "pow": (arithmetic.PowOp, torch.pow),
    "atan2": (arithmetic.Atan2Op, torch.atan2),
}
INTEGER_BINARY = {
    **NUMBER_BINARY,
    "bitwise_and": (BitwiseAndOp, torch.bitwise_and),
    "bitwise_or": (BitwiseOrOp, torch.bitwise_or),
    "bitwise_xor": (BitwiseXorOp, torch.bitwise_xor),
}
BOOLEAN_BINARY = {
    name: INTEGER_BINARY[name]
    for name in INTEGER_BINARY
    if name.startswith("bitwise") or name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def clamp(x, low, high):
    """PyTorch's clamp, which has no bounds below what unsigned bytes hold."""
    if x.dtype == torch.uint8:
        low = None if low is None else max(low, 0)
    return torch.clamp(x, low, high)


def check(table, arrays, levels=FAST_LEVELS):
    """Compare all ops of a table on the same arrays."""
    tensors = [torch.from_numpy(array) for array in arrays]
    check_levels(
        {name: make for name, (make, _) in table.items()},
        arrays,
        {name: oracle(*tensors) for name, (_, oracle) in table.items()},
        levels,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_unary_ops_on_floats_equal_pytorch(dtype):
    check(FLOAT_UNARY, [3 * random((2, 3, 5), dtype)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_unary_ops_on_special_values_equal_pytorch(dtype):
    special = [np.nan, np.inf, -np.inf, 0.0, 0.5, 1.5, 2.5, -2.5, 1e-4, -1e-4, 30.0, -30.0]

    # PyTorch says that the gelu of inf is NaN, in float32 alone.
    table = {name: FLOAT_UNARY[name] for name in FLOAT_UNARY if name != "gelu"}

    check(table, [np.array(special, dtype)])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_unary_ops_on_integers_equal_pytorch(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 1, 2, 3, 100], dtype)

    check({**NUMBER_UNARY, "not": (BitwiseNotOp, torch.bitwise_not)}, [x])


@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_ops_on_floats_equal_pytorch(dtype):
    x, y = 3 * random((2, 3, 5), dtype), random((3, 1), dtype, seed=1)

    check(FLOAT_BINARY, [x, y], LEVELS if dtype == "float16" else FAST_LEVELS)


@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_ops_on_special_values_equal_pytorch(dtype):
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 2.5, -7.0], dtype)
    table = {name: FLOAT_BINARY[name] for name in FLOAT_BINARY if name != "floor_div"}

    check(table, [special.reshape(8, 1), special])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floor_div_on_special_values_equals_numpy(dtype):
    special = np.array([np.nan, 0.0, 1.0, -1.0, 2.5, -7.0, 6.0, 0.1], dtype)
    x, y = special.reshape(8, 1), special
    with np.errstate(all="ignore"):
        expected = np.floor_divide(x.astype(np.float64), y).astype(dtype)
        if dtype != "float64":
            expected = np.floor_divide(x.astype(np.float32), y.astype(np.float32)).astype(dtype)

    check_levels(
        {"floor_div": arithmetic.FloorDivOp}, [x, y], {"floor_div": torch.from_numpy(expected)}
    )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_binary_ops_on_integers_equal_pytorch(dtype):
    x, y = random((2, 3, 5), dtype), random((3, 1), dtype, seed=1)
    y[y == 0] = 3

    check(INTEGER_BINARY, [x, y], LEVELS if dtype == "uint8" else FAST_LEVELS)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_division_of_integers_traps_nowhere(dtype):
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    minus = highest if dtype == "uint8" else -1
    x = np.array([lowest, highest, 7, 0], dtype).reshape(4, 1)
    y = np.array([0, minus, 2, lowest, highest], dtype)
    ops = {"floor_div": np.floor_divide, "remainder": np.remainder, "fmod": np.fmod}
    with np.errstate(all="ignore"):
        expected = {name: torch.from_numpy(oracle(x, y)) for name, oracle in ops.items()}

    check_levels({name: NUMBER_BINARY[name][0] for name in ops}, [x, y], expected)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
def test_integer_pow_equals_pytorch(dtype):
    x = np.array([0, 1, 2, 3, 5, 7, 200], np.int64).astype(dtype)
    y = np.array([0, 1, 2, 3, 7, 9, 40], np.int64).reshape(7, 1).astype(dtype)
    if dtype != "uint8":
        x, y = np.concatenate([x, -x]), np.concatenate([y, -y[1:]])

    check({"pow": FLOAT_BINARY["pow"]}, [x, y])


def test_ops_on_truth_values_equal_pytorch():
    x, y = np.array([[True], [False]]), np.array([True, False])
    checked = {**BOOLEAN_BINARY}

    check(checked, [x, y])
    check({"not": (BitwiseNotOp, torch.bitwise_not)}, [x])
    check({"not": (LogicalNotOp, torch.logical_not)}, [x])


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_where_equals_pytorch(dtype):
    condition = random((3, 1), "bool")
    x, y = random((2, 3, 5), dtype), random((5,), dtype, seed=1)

    check({"where": (WhereOp, torch.where)}, [condition, x, y])


CAST_VALUES = {
    "float": [0.0, -0.0, 0.5, 1.5, -1.5, 2.99, -2.99, 100.0, 127.0],
    "int": [0, 1, 2, 3, 100, 127, 5, 6, 7],
}


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_cast_to_every_type_equals_pytorch(dtype):
    values = CAST_VALUES["float" if dtype in FLOATS else "int"]
    x = np.array(values).astype(dtype)
    if dtype not in (*FLOATS, "bool"):
        x = np.append(x, np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype))
    if dtype in ("int64", "int32"):
        x = x[:-2]  # what f16 can't hold is infinite or rounded twice
        x = np.append(x, np.array([70000, -70000, 1 << 24], dtype))

    def to(target):
        element = ELEMENT_TYPES[target]
        return lambda x: CastOp(x, element), lambda x: x.to(getattr(torch, target))

    check({target: to(target) for target in ELEMENT_TYPES}, [x])


SAME_BITS = {
    **{"float16": ["int16", "uint16"], "float32": ["int32"], "float64": ["int64"]},
    **{"int8": ["uint8"], "int16": ["float16", "uint16"], "int32": ["float32"]},
    **{"int64": ["float64"], "uint8": ["int8"]},
}


@pytest.mark.parametrize("dtype", SAME_BITS)
def test_bits_are_those_of_pytorch(dtype):
    # Numbers of both signs, zeros, and bits that are a small float or a large one.
    x = np.array([-5, 0, 1, 3, 64, 100], np.int64).astype(dtype)
    x = np.append(x, np.array([-0.0, 0.0], dtype)) if dtype in FLOATS else np.append(x, x << 3)

    def to(target):
        element = ELEMENT_TYPES[target]
        return lambda x: BitcastOp(x, element), lambda x: x.view(getattr(torch, target))

    check({target: to(target) for target in SAME_BITS[dtype]}, [x])


@settings(max_examples=6)
@given(st.data())
def test_operands_broadcast_as_in_pytorch(data):
    wide = data.draw(st.lists(st.integers(1, 4), max_size=4))

    def narrower():
        shape = [data.draw(st.sampled_from([1, size])) for size in wide]
        return shape[data.draw(st.integers(0, len(shape))) :]

    c, x, y = random(narrower(), "bool"), random(narrower()), random(narrower(), seed=1)

    check({"where": (WhereOp, torch.where)}, [c, x, y])
    check({"max": NUMBER_BINARY["maximum"], "lt": NUMBER_BINARY["lt"]}, [x, y])


@settings(max_examples=6)
@given(
    low=st.none() | st.floats(-3, 3),
    high=st.none() | st.floats(-3, 3),
    alpha=st.floats(-2, 2),
    dtype=st.sampled_from(FLOATS),
    shape=st.lists(st.integers(0, 4), max_size=3),
)
def test_attributes_mean_what_they_mean_in_pytorch(low, high, alpha, dtype, shape):
    x = np.asarray(2 * random(shape, dtype))
    unbounded = low is None and high is None
    table = {
        "clip": (
            lambda x: ClipOp(x, min=low, max=high),
            lambda x: x if unbounded else torch.clamp(x, low, high),
        ),
        "leaky_relu": (lambda x: LeakyReluOp(x, alpha=alpha), lambda x: F.leaky_relu(x, alpha)),
        "elu": (lambda x: EluOp(x, alpha=alpha), lambda x: F.elu(x, alpha)),
    }

    check(table, [x])


# Upstream's lowering to LLVM does not store truth values.
STORES_TRUTH = ("isnan", "eq", "ne", "lt", "le", "gt", "ge")


@requires_upstream
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int64"])
def test_lowered_ops_mean_to_upstream_what_they_mean_in_pytorch(dtype):
    x, y = random((2, 3, 5), dtype), random((3, 1), dtype, seed=1)
    y[y == 0] = 3
    unary = FLOAT_UNARY if dtype in FLOATS else NUMBER_UNARY
    table = {**(FLOAT_BINARY if dtype in FLOATS else INTEGER_BINARY)}
    table |= {
        name: (lambda x, y, make=make: make(x), lambda x, y, oracle=oracle: oracle(x))
        for name, (make, oracle) in unary.items()
    }
    table = {name: pair for name, pair in table.items() if name not in STORES_TRUTH}

    module = module_of([make for make, _ in table.values()], [x, y])
    results = run_upstream(lowered_text(module), [x, y])

    for (name, (_, oracle)), result in zip(table.items(), results, strict=True):
        check_result(result, oracle(torch.from_numpy(x), torch.from_numpy(y)), name)
