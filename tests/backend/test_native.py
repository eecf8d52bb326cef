"""Loops-level programs as native code, by our LLVM IR and by upstream's, against NumPy."""

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from math import erf

import numpy as np
import pytest

from gawee_dialect.backend.jit import NativeModule
from tests.closeness import assert_allclose
from tests.loops_level import llvm_module, run_native
from tests.upstream_loops import run_upstream
from tests.upstream_mlir import requires_upstream

MATMUL = """
func.func @matmul(%a: memref<5x7xf32>, %b: memref<7x3xf32>, %out: memref<5x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %sum = scf.for %k = %c0 to %c7 step %c1 iter_args(%acc = %zero) -> (f32) {
        %x = memref.load %a[%i, %k] : memref<5x7xf32>
        %y = memref.load %b[%k, %j] : memref<7x3xf32>
        %product = arith.mulf %x, %y : f32
        %next = arith.addf %acc, %product : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%i, %j] : memref<5x3xf32>
    }
  }
  return
}
"""

SUBVIEWS = """
func.func @every_second(%x: memref<4x9xf64>, %out: memref<6x5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %minus = arith.constant -1.0 : f64
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      memref.store %minus, %out[%i, %j] : memref<6x5xf64>
    }
  }
  %odd = memref.subview %x[1, 1] [2, 4] [2, 2] : memref<4x9xf64> to memref<2x4xf64, strided<[18, 2], offset: 10>>
  scf.for %i = %c0 to %c2 step %c1 {
    %row = memref.subview %out[%i, 1] [1, 4] [1, 1] : memref<6x5xf64> to memref<1x4xf64, strided<[5, 1], offset: ?>>
    scf.for %j = %c0 to %c4 step %c1 {
      %v = memref.load %odd[%i, %j] : memref<2x4xf64, strided<[18, 2], offset: 10>>
      memref.store %v, %row[%c0, %j] : memref<1x4xf64, strided<[5, 1], offset: ?>>
    }
  }
  %target = memref.subview %out[2, 0] [4, 3] [1, 1] : memref<6x5xf64> to memref<4x3xf64, strided<[5, 1], offset: 10>>
  %source = memref.subview %x[0, 6] [4, 3] [1, 1] : memref<4x9xf64> to memref<4x3xf64, strided<[9, 1], offset: 6>>
  "memref.copy"(%source, %target) : (memref<4x3xf64, strided<[9, 1], offset: 6>>, memref<4x3xf64, strided<[5, 1], offset: 10>>) -> ()
  return
}
"""

ARENA = """
func.func @arena(%x: memref<2x6xf32> {gawee.input = "x"}, %out: memref<12xf32> {gawee.output = "y"},
                 %work: memref<320xi8> {gawee.workspace}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %scale = memref.get_global @scale : memref<3xf32>
  %t = memref.view %work[%c64][] : memref<320xi8> to memref<12xf32>
  %stack = memref.alloca() : memref<2xf32>
  %flat = memref.collapse_shape %x [[0, 1]] : memref<2x6xf32> into memref<12xf32>
  "memref.copy"(%flat, %t) : (memref<12xf32>, memref<12xf32>) -> ()
  %wide = memref.expand_shape %t [[0, 1]] output_shape [4, 3] : memref<12xf32> into memref<4x3xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %v = memref.load %wide[%i, %j] : memref<4x3xf32>
      %s = memref.load %scale[%j] : memref<3xf32>
      %p = arith.mulf %v, %s : f32
      memref.store %p, %stack[%c1] : memref<2xf32>
      %q = memref.load %stack[%c1] : memref<2xf32>
      memref.store %q, %wide[%i, %j] : memref<4x3xf32>
    }
  }
  "memref.copy"(%t, %out) : (memref<12xf32>, memref<12xf32>) -> ()
  return
}
"memref.global"() <{sym_name = "scale", sym_visibility = "private", constant, type = memref<3xf32>, initial_value = dense<[1.5, -2.25, 0.1]> : tensor<3xf32>}> : () -> ()
"""

FIBONACCI = """
func.func @fibonacci(%n: memref<i64>, %out: memref<2xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %count = memref.load %n[] : memref<i64>
  %steps = arith.index_cast %count : i64 to index
  %pair:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%a = %zero, %b = %one) -> (i64, i64) {
    %next = arith.addi %a, %b : i64
    %is_even = arith.remsi %next, %one : i64
    %same = arith.cmpi eq, %is_even, %zero : i64
    %chosen = scf.if %same -> (i64) {
      scf.yield %next : i64
    } else {
      scf.yield %zero : i64
    }
    scf.yield %b, %chosen : i64, i64
  }
  memref.store %pair#0, %out[%c0] : memref<2xi64>
  memref.store %pair#1, %out[%c1] : memref<2xi64>
  return
}
"""


Engine = Callable[[str, str, dict], dict]


@pytest.fixture(
    params=[
        pytest.param(run_native, id="our LLVM IR"),
        pytest.param(run_upstream, id="upstream's LLVM IR", marks=requires_upstream),
    ]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


def assert_result(
    engine: Engine, text: str, function: str, inputs: dict, expected: dict, rtol: float
) -> None:
    found = engine(text, function, inputs)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].dtype == value.dtype, name
        assert_allclose(found[name], value, rtol=rtol, atol=rtol, err_msg=name)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


def test_matmul_reduces_in_a_carried_value(engine: Engine, random: np.random.Generator) -> None:
    a = random.standard_normal((5, 7), np.float32)
    b = random.standard_normal((7, 3), np.float32)

    expected = (a.astype(np.float64) @ b).astype(np.float32)

    # seven f32 products summed in one order: a few ulp of values near 1
    assert_result(engine, MATMUL, "matmul", {"a": a, "b": b}, {"out": expected}, 1e-6)


def test_subviews_and_copies_follow_strides_and_offsets(
    engine: Engine, random: np.random.Generator
) -> None:
    x = random.standard_normal((4, 9))
    expected = np.full((6, 5), -1.0)
    expected[:2, 1:] = x[1::2, 1:9:2]
    expected[2:, :3] = x[:, 6:]

    assert_result(engine, SUBVIEWS, "every_second", {"x": x}, {"out": expected}, 0)


def test_arena_views_globals_and_stack_buffers(engine: Engine, random: np.random.Generator) -> None:
    x = random.standard_normal((2, 6), np.float32)
    scale = np.array([1.5, -2.25, 0.1], np.float32)

    expected = (x.reshape(4, 3) * scale).reshape(12)

    assert_result(engine, ARENA, "arena", {"x": x}, {"y": expected}, 0)


@pytest.mark.parametrize("steps", [0, 1, 50])
def test_several_values_are_carried_through_a_branch(engine: Engine, steps: int) -> None:
    a, b = 0, 1
    for _ in range(steps):
        a, b = b, a + b

    n = np.array(steps, np.int64)

    assert_result(engine, FIBONACCI, "fibonacci", {"n": n}, {"out": np.array([a, b], np.int64)}, 0)


def elementwise(body: str, source: str, target: str, size: int, operands: int = 1) -> str:
    """Write a function that applies a body, from %x (and %y) to %r, to every element."""
    return all_elementwise({"out": body}, source, target, size, operands)


def all_elementwise(
    bodies: Mapping[str, str], source: str, target: str, size: int, operands: int = 1
) -> str:
    """Write a function that applies each body in a loop of its own; its results have their names.

    One compilation of many costs about as much as one of a few.
    """
    arguments = [f"%in{i}: memref<{size}x{source}>" for i in range(operands)]
    arguments += [f"%{name}: memref<{size}x{target}>" for name in bodies]
    loads = "\n".join(
        f"    %{'xyz'[i]} = memref.load %in{i}[%i] : memref<{size}x{source}>"
        for i in range(operands)
    )
    loops = "\n".join(
        f"""  scf.for %i = %c0 to %n step %c1 {{
{loads}
    {body}
    memref.store %r, %{name}[%i] : memref<{size}x{target}>
  }}"""
        for name, body in bodies.items()
    )
    return f"""
func.func @apply({", ".join(arguments)}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {size} : index
{loops}
  return
}}
"""


SPECIAL = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 3.0])
PAIRS = [array.reshape(-1) for array in np.meshgrid(SPECIAL, SPECIAL)]

PREDICATES = {
    "oeq": lambda x, y: x == y,
    "ogt": lambda x, y: x > y,
    "oge": lambda x, y: x >= y,
    "olt": lambda x, y: x < y,
    "ole": lambda x, y: x <= y,
    "one": lambda x, y: (x < y) | (x > y),
    "ord": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "ueq": lambda x, y: ~((x < y) | (x > y)),
    "ugt": lambda x, y: ~(x <= y),
    "uge": lambda x, y: ~(x < y),
    "ult": lambda x, y: ~(x >= y),
    "ule": lambda x, y: ~(x > y),
    "une": lambda x, y: ~(x == y),
    "uno": lambda x, y: np.isnan(x) | np.isnan(y),
}


def test_float_comparisons_store_a_byte(engine: Engine) -> None:
    x, y = (array.astype(np.float32) for array in PAIRS)
    bodies = {each: f"%r = arith.cmpf {each}, %x, %y : f32" for each in PREDICATES}
    text = all_elementwise(bodies, "f32", "i1", x.size, 2)

    expected = {name: function(x, y) for name, function in PREDICATES.items()}

    assert_result(engine, text, "apply", {"in0": x, "in1": y}, expected, 0)


EXTREMES = {
    "maximumf": np.maximum,  # NaN where either is
    "minimumf": np.minimum,
    "maxnumf": np.fmax,  # the number where one is NaN
    "minnumf": np.fmin,
}


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_extremes_treat_nan_as_their_name_says(engine: Engine, element: str) -> None:
    x, y = (array.astype(f"f{int(element[1:]) // 8}") for array in PAIRS)
    bodies = {op: f"%r = arith.{op} %x, %y : {element}" for op in EXTREMES}
    text = all_elementwise(bodies, element, element, x.size, 2)

    expected = {op: function(x, y) for op, function in EXTREMES.items()}

    assert_result(engine, text, "apply", {"in0": x, "in1": y}, expected, 0)


def test_maximum_of_zeros_is_the_positive_one() -> None:
    x, y = np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)
    text = elementwise("%r = arith.maximumf %x, %y : f32", "f32", "f32", 2, 2)

    found = run_native(text, "apply", {"in0": x, "in1": y})["out"]

    assert not np.signbit(found).any()


FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": lambda x: np.arcsin(x),
    "acos": lambda x: np.arccos(x),
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "erf": np.vectorize(erf, otypes=[np.float64]),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "roundeven": np.rint,
    "absf": np.abs,
}


@cache
def computed_natively(element: str) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """Return some numbers, and what each function makes of them."""
    x = np.linspace(0.03, 0.97, 23).astype(f"f{int(element[1:]) // 8}")
    bodies = {name: f"%r = math.{name} %x : {element}" for name in FUNCTIONS}
    return x, run_native(all_elementwise(bodies, element, element, 23), "apply", {"in0": x})


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("element", "rtol"), [("f64", 1e-14), ("f32", 1e-6), ("f16", 2e-3)])
def test_elementary_functions(name: str, element: str, rtol: float) -> None:
    # libm is within a few ulp: 2e-16, 1e-7 and 1e-3 relative
    x, found = computed_natively(element)

    expected = FUNCTIONS[name](x.astype(np.float64)).astype(x.dtype)

    assert_allclose(found[name], expected, rtol=rtol)


def test_math_ops_are_those_of_upstream(engine: Engine) -> None:
    x = np.linspace(0.03, 0.97, 23)
    body = "\n".join(
        f"    %s{index} = math.{name} %x : f64\n"
        f"    %t{index + 1} = arith.addf %t{index}, %s{index} : f64"
        for index, name in enumerate(FUNCTIONS)
    )
    zero = "%t0 = arith.constant 0.0 : f64\n"
    last = (
        f"\n    %one = arith.constant 1.0 : f64\n    %r = arith.mulf %t{len(FUNCTIONS)}, %one : f64"
    )
    text = elementwise(zero + body + last, "f64", "f64", 23)

    expected = sum(function(x) for function in FUNCTIONS.values())

    assert_result(engine, text, "apply", {"in0": x}, {"out": expected}, 1e-13)


def floor_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([a // b for a, b in zip(x.tolist(), y.tolist(), strict=True)], x.dtype)


INTEGER_OPS = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "floordivsi": floor_divide,
    "ceildivsi": lambda x, y: -floor_divide(-x, y),
    "divsi": lambda x, y: np.trunc(x / y).astype(x.dtype),
    "remsi": np.fmod,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}


@pytest.mark.parametrize("element", ["i64", "i32", "i8"])
def test_integer_arithmetic(engine: Engine, element: str) -> None:
    dtype = np.dtype(f"i{int(element[1:]) // 8}")
    x = np.array([-7, -6, -1, 0, 1, 6, 7, 9] * 4, dtype)
    y = np.repeat(np.array([-3, 2, 3, -1], dtype), 8)
    bodies = {op: f"%r = arith.{op} %x, %y : {element}" for op in INTEGER_OPS}
    text = all_elementwise(bodies, element, element, x.size, 2)

    expected = {op: function(x, y) for op, function in INTEGER_OPS.items()}

    assert_result(engine, text, "apply", {"in0": x, "in1": y}, expected, 0)


UNSIGNED_OPS = {
    "divui": np.floor_divide,
    "ceildivui": lambda x, y: (x.astype(np.int64) + y - 1) // y,
    "remui": np.remainder,
    "maxui": np.maximum,
    "minui": np.minimum,
    "shrui": np.right_shift,
}


def test_unsigned_arithmetic(engine: Engine) -> None:
    x, y = np.array([0, 1, 100, 200, 255], np.uint8), np.array([3, 1, 7, 2, 5], np.uint8)
    bodies = {op: f"%r = arith.{op} %x, %y : i8" for op in UNSIGNED_OPS}
    text = all_elementwise(bodies, "i8", "i8", 5, 2)

    expected = {
        op: function(x, y).astype(np.uint8).view(np.int8) for op, function in UNSIGNED_OPS.items()
    }

    inputs = {"in0": x.view(np.int8), "in1": y.view(np.int8)}
    assert_result(engine, text, "apply", inputs, expected, 0)


CASTS = [
    ("arith.extf", "f16", "f32", np.array([1.5, -2.25, 65504, 6e-8], np.float16), np.float32),
    ("arith.extf", "f32", "f64", np.array([1.1, -2.2], np.float32), np.float64),
    ("arith.truncf", "f32", "f16", np.array([1.1, -2.2, 1e9], np.float32), np.float16),
    ("arith.extsi", "i8", "i32", np.array([-128, 127, -1], np.int8), np.int32),
    ("arith.trunci", "i64", "i8", np.array([-129, 255, 7], np.int64), np.int8),
    ("arith.sitofp", "i32", "f32", np.array([-5, 2**30], np.int32), np.float32),
    ("arith.fptosi", "f32", "i32", np.array([-2.9, 2.9], np.float32), np.int32),
    ("arith.extui", "i1", "i32", np.array([True, False]), np.int32),
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("op", "source", "target", "x", "dtype"), CASTS)
def test_casts(
    engine: Engine, op: str, source: str, target: str, x: np.ndarray, dtype: type
) -> None:
    text = elementwise(f"%r = {op} %x : {source} to {target}", source, target, x.size)

    assert_result(engine, text, "apply", {"in0": x}, {"out": x.astype(dtype)}, 0)


def test_unsigned_bytes_become_floats_through_a_cast_of_sign(engine: Engine) -> None:
    x = np.array([0, 1, 128, 255], np.uint8)
    body = (
        "%bits = builtin.unrealized_conversion_cast %x : ui8 to i8\n"
        "    %r = arith.uitofp %bits : i8 to f32"
    )
    text = elementwise(body, "ui8", "f32", 4)

    assert_result(engine, text, "apply", {"in0": x}, {"out": x.astype(np.float32)}, 0)


def test_branches_between_blocks_and_calls(engine: Engine) -> None:
    text = """
func.func @absolute(%in: memref<5xi32>, %out: memref<5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %c5 : index
  cf.cond_br %more, ^body, ^end
^body:
  func.call @store_absolute(%in, %out, %i) : (memref<5xi32>, memref<5xi32>, index) -> ()
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^end:
  return
}
func.func private @store_absolute(%in: memref<5xi32>, %out: memref<5xi32>, %i: index) {
  %x = memref.load %in[%i] : memref<5xi32>
  %zero = arith.constant 0 : i32
  %minus = arith.subi %zero, %x : i32
  %negative = arith.cmpi slt, %x, %zero : i32
  cf.cond_br %negative, ^done(%minus : i32), ^done(%x : i32)
^done(%r: i32):
  memref.store %r, %out[%i] : memref<5xi32>
  return
}
"""
    x = np.array([3, -4, 0, -1, 9], np.int32)

    # The callee may write both, so both are outputs unless the markers say otherwise.
    marked = text.replace(
        "@absolute(%in: memref<5xi32>,", '@absolute(%in: memref<5xi32> {gawee.input = "in"},'
    )
    assert_result(engine, marked, "absolute", {"in": x}, {"out": np.abs(x)}, 0)


def test_argument_with_an_offset_points_to_its_base() -> None:
    text = """
func.func @shifted(%in: memref<3xf32, strided<[2], offset: 4>>, %out: memref<3xf32>) {
  "memref.copy"(%in, %out) : (memref<3xf32, strided<[2], offset: 4>>, memref<3xf32>) -> ()
  return
}
"""
    x = np.arange(20, dtype=np.float32)
    native = NativeModule(llvm_module(text))
    out = np.zeros(3, np.float32)
    native.function("shifted_packed")((ctypes.c_void_p * 2)(x.ctypes.data, out.ctypes.data))

    assert out.tolist() == [4.0, 6.0, 8.0]


CALLS = """
func.func private @cosf(f32) -> f32
func.func @calls(%x: memref<7xf32>, %y: memref<7xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %c7 step %c1 {
    %v = memref.load %x[%i] : memref<7xf32>
    %c = func.call @cosf(%v) : (f32) -> f32
    %s = func.call @minus_half(%c, %v) : (f32, f32) -> f32
    %j = func.call @backwards(%i) : (index) -> index
    memref.store %s, %y[%j] : memref<7xf32>
  }
  return
}
func.func private @minus_half(%a: f32, %b: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %b, %half : f32
  %1 = arith.subf %a, %0 : f32
  return %1 : f32
}
func.func private @backwards(%i: index) -> index {
  %c6 = arith.constant 6 : index
  %0 = arith.subi %c6, %i : index
  return %0 : index
}
"""


def test_calls_return_values_from_here_and_from_the_c_library(
    engine: Engine, random: np.random.Generator
) -> None:
    x = random.standard_normal(7).astype(np.float32)

    result = engine(CALLS, "calls", {"x": x})["y"]

    # the C library's cosine and NumPy's may differ in the last bit
    assert_allclose(result[::-1], np.cos(x) - x / 2, rtol=1e-6, atol=1e-6)
