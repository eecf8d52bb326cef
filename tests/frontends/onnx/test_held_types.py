"""Element types that other ones hold, compared with ml_dtypes and NumPy."""

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from gawee_dialect.onnx_backend.values import as_array

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
helper = onnx.helper

FLOATS = (
    *("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float4_e2m1fn",),
)
INTEGERS = ("int4", "uint4", "int2", "uint2")


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def code_of(name: str) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype_of(name))


def run(op: str, *inputs: np.ndarray, level: str = "gawee", **attributes: object) -> np.ndarray:
    names = [f"i{at}" for at in range(len(inputs))]
    node = helper.make_node(op, names, ["y"], **attributes)
    (made,) = onnx_backend.run_node(node, list(inputs), opset_version=25, level=level)
    return as_array(made)


def numbers(dtype: str) -> np.ndarray:
    """Numbers around all that a small float type has, those half between them, and special ones."""
    rng = np.random.default_rng(2)
    own = np.arange(256, dtype=np.uint8) if "8" in dtype else np.arange(16, dtype=np.uint8)
    if dtype == "bfloat16":
        own = rng.integers(0, 1 << 16, 4000).astype(np.uint16)
    every = own.view(dtype_of(dtype)).astype(np.float32)
    every = np.sort(every[np.isfinite(every)])
    with np.errstate(over="ignore"):
        between = (every[1:] + every[:-1]) / 2
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 1e-9, -1e-9], np.float32)
    return np.concatenate([every, between, np.nextafter(between, 1e30), special])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_rounded_to_the_nearest(dtype: str) -> None:
    x = numbers(dtype)
    largest = float(ml_dtypes.finfo(dtype_of(dtype)).max)
    wanted = x.astype(dtype_of(dtype)).astype(np.float32)
    wanted[np.isnan(x)] = np.nan if dtype != "float4_e2m1fn" else 0
    inside = (np.abs(x) <= largest) | np.isnan(x)

    for saturate in (0, 1):
        made = run("Cast", x, to=code_of(dtype), saturate=saturate)
        assert made.dtype == dtype_of(dtype)
        np.testing.assert_array_equal(made.astype(np.float32)[inside], wanted[inside])
        if saturate and dtype != "bfloat16":
            beyond = made.astype(np.float32)[np.abs(x) > largest]
            np.testing.assert_array_equal(beyond, np.sign(x[np.abs(x) > largest]) * largest)
    np.testing.assert_array_equal(run("Cast", wanted.astype(dtype_of(dtype)), to=1), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_small_integers_have_the_low_bits(dtype: str) -> None:
    x = np.arange(-40, 40, dtype=np.int32)
    held = dtype_of(dtype)
    bits = 4 if "4" in dtype else 2
    wanted = (x & ((1 << bits) - 1)).astype(np.int8)
    if dtype.startswith("int"):
        wanted = np.where(wanted >= 1 << bits - 1, wanted - (1 << bits), wanted)

    made = run("Cast", x, to=code_of(dtype))

    assert made.dtype == held
    np.testing.assert_array_equal(made.astype(np.int8), wanted)
    np.testing.assert_array_equal(run("Reshape", made, np.array([8, 10])), made.reshape(8, 10))


LARGE = np.array([0, 1, 7, 2**32, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1], np.uint64)
OF_TWO = {
    **{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum},
    **{"Min": np.minimum, "Less": np.less, "GreaterOrEqual": np.greater_equal},
    **{"Equal": np.equal, "BitwiseXor": np.bitwise_xor},
}


@pytest.mark.parametrize("level", ["gawee", "llvm"])
@pytest.mark.parametrize("op", [*OF_TWO, "Div", "Mod"])
def test_uint64_is_unsigned(op: str, level: str) -> None:
    a, b = (each.ravel() for each in np.meshgrid(LARGE, LARGE))
    if op in ("Div", "Mod"):
        a, b = a[b > 0], b[b > 0]
    wanted = {**OF_TWO, "Div": np.floor_divide, "Mod": np.mod}[op](a, b)

    made = run(op, a, b, level=level)

    assert made.dtype == wanted.dtype
    np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("op", [*OF_TWO, "Div", "Mod"])
def test_uint32_wraps_around(op: str) -> None:
    numbers = np.array([0, 1, 9, 2**31, 2**32 - 1], np.uint32)
    a, b = (each.ravel() for each in np.meshgrid(numbers, numbers))
    if op in ("Div", "Mod"):
        a, b = a[b > 0], b[b > 0]

    made = run(op, a, b)

    np.testing.assert_array_equal(made, {**OF_TWO, "Div": np.floor_divide, "Mod": np.mod}[op](a, b))


def test_shifts_and_casts_of_uint64() -> None:
    counts = np.array([0, 1, 5, 31, 32, 33, 62, 63], np.uint64)

    np.testing.assert_array_equal(
        run("BitShift", LARGE, counts, direction="RIGHT"), np.right_shift(LARGE, counts)
    )
    np.testing.assert_array_equal(
        run("BitShift", LARGE, counts, direction="LEFT"), np.left_shift(LARGE, counts)
    )
    np.testing.assert_array_equal(run("Cast", LARGE, to=11), LARGE.astype(np.float64))
    np.testing.assert_array_equal(run("Cast", LARGE, to=6), LARGE.astype(np.int32))
    (values, indices) = onnx_backend.run_node(
        helper.make_node("TopK", ["x", "k"], ["v", "i"]),
        [LARGE, np.array([3])],
        level="gawee",
    )
    assert as_array(values).tolist() == sorted(LARGE.tolist(), reverse=True)[:3]
    assert as_array(indices).tolist() == [7, 6, 5]


def test_arithmetic_on_bfloat16_is_rounded() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal(50).astype(ml_dtypes.bfloat16) for _ in range(2))

    made = run("Mul", a, b)

    assert made.dtype == a.dtype
    np.testing.assert_array_equal(made, a * b)
