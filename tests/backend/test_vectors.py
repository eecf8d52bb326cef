"""Vectors at the loops level, by our LLVM IR, upstream's and the interpreter, against NumPy."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.universe import make_context
from tests.loops_level import run_native
from tests.upstream_loops import run_upstream
from tests.upstream_mlir import requires_upstream

Arrays = dict[str, np.ndarray]
Engine = Callable[[str, str, Arrays], Arrays]


OPEN, CLOSE = "// the body begins", "// the body ends"


def run_interpreted(text: str, function: str, inputs: Arrays) -> Arrays:
    """Run a function by NumPy, op by op."""
    module = parse_mlir(make_context(), text, "test.mlir")
    return run_module(module, inputs, function=function)


def run_compiled_nest(text: str, function: str, inputs: Arrays) -> Arrays:
    """Run a function by NumPy, its body in a loop of one trip, which is compiled to Python."""
    looped = text.replace(OPEN, "scf.for %once = %c0 to %c1 step %c1 {").replace(CLOSE, "}")
    return run_interpreted(looped, function, inputs)


@pytest.fixture(
    params=[
        pytest.param(run_native, id="our LLVM IR"),
        pytest.param(run_upstream, id="upstream's LLVM IR", marks=requires_upstream),
        pytest.param(run_interpreted, id="interpreter"),
        pytest.param(run_compiled_nest, id="interpreter of loops"),
    ]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


def function(arguments: str, body: str) -> str:
    return f"""
func.func @f({arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  {OPEN}
  {body}
  {CLOSE}
  return
}}
"""


def elementwise(body: str, source: str, target: str, lanes: int, operands: int = 1) -> str:
    """Write ops that take %x (and %y) to %r, all vectors, between a load and a store."""
    loads = "\n".join(
        f"%{'xy'[i]} = vector.load %in{i}[%c0] : memref<{lanes}x{source}>, vector<{lanes}x{source}>"
        for i in range(operands)
    )
    store = f"vector.store %r, %out[%c0] : memref<{lanes}x{target}>, vector<{lanes}x{target}>"
    return f"{loads}\n{body}\n{store}"


def elementwise_arguments(source: str, target: str, lanes: int, operands: int = 1) -> str:
    inputs = [
        f'%in{i}: memref<{lanes}x{source}> {{gawee.input = "in{i}"}}' for i in range(operands)
    ]
    return ", ".join([*inputs, f'%out: memref<{lanes}x{target}> {{gawee.output = "out"}}'])


def all_ops(ops: Sequence[str], sources: Sequence[str], targets: Sequence[str]) -> str:
    """Write a function of one body for each op, from vectors %x and %y to %r of 8 lanes.

    The number of an op is the end of its names. One compilation of all costs as much as of one.
    """
    arguments, bodies = list[str](), list[str]()
    for number, (op, source, target) in enumerate(zip(ops, sources, targets, strict=True)):
        operands = 1 + ("%y" in op)
        body = elementwise(f"%r = {op}", source, target, 8, operands)
        arguments.append(elementwise_arguments(source, target, 8, operands))
        for name in ("%x", "%y", "%r", "%in0", "%in1", "%out"):
            body = re.sub(rf"{name}\b", f"{name}_{number}", body)
            arguments[-1] = re.sub(rf"{name}\b", f"{name}_{number}", arguments[-1])
        for name in ("in0", "in1", "out"):
            arguments[-1] = arguments[-1].replace(f'"{name}"', f'"{name}_{number}"')
        bodies.append(body)
    return function(", ".join(arguments), "\n".join(bodies))


VALUES = np.array([0.5, -1.25, 3.0, 0.0, -0.0, 7.5, 2.0, -8.0], np.float32)
OTHERS = np.array([2.0, -1.25, -3.0, 1.0, 4.0, 0.5, 2.0, 1.0], np.float32)
WHOLE = np.array([1, -2, 7, 0, 100, -100, 2**31 - 1, 5], np.int32)
DIVISORS = np.array([3, 5, -2, 7, -9, 9, 2, -1], np.int32)


def floor_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([a // b for a, b in zip(x.tolist(), y.tolist(), strict=True)], x.dtype)


FLOAT_OPS = {
    "arith.addf": np.add,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minnumf": np.fmin,
    "math.copysign": np.copysign,
}
INTEGER_OPS = {
    "arith.addi": np.add,
    "arith.floordivsi": floor_divide,
    "arith.ceildivsi": lambda x, y: -floor_divide(-x, y),
    "arith.maxsi": np.maximum,
    "arith.xori": np.bitwise_xor,
}


@pytest.mark.parametrize(
    ("ops", "element", "x", "y"),
    [(FLOAT_OPS, "f32", VALUES, OTHERS), (INTEGER_OPS, "i32", WHOLE, DIVISORS)],
    ids=["floats", "integers"],
)
def test_arithmetic(
    engine: Engine,
    ops: dict[str, Callable[..., np.ndarray]],
    element: str,
    x: np.ndarray,
    y: np.ndarray,
) -> None:
    lines = [f"{op} %x, %y : vector<8x{element}>" for op in ops]
    text = all_ops(lines, [element] * len(ops), [element] * len(ops))
    inputs = {f"in{i}_{number}": (x, y)[i] for number in range(len(ops)) for i in range(2)}

    found = engine(text, "f", inputs)

    for number, (op, meaning) in enumerate(ops.items()):
        np.testing.assert_array_equal(found[f"out_{number}"], meaning(x, y), op)


ZEROS, OTHER_ZEROS = np.array([[0.0, -0.0, 0.0, -0.0], [0.0, 0.0, -0.0, -0.0]], np.float32)


@pytest.mark.parametrize(
    ("op", "is_negative"),
    [("minimumf", [False, True, True, True]), ("maximumf", [False, False, False, True])],
)
@pytest.mark.parametrize("lanes", ["vector<4xf32>", "f32"])
def test_a_negative_zero_is_less(
    engine: Engine, op: str, is_negative: list[bool], lanes: str
) -> None:
    body = elementwise(f"%r = arith.{op} %x, %y : vector<4xf32>", "f32", "f32", 4, 2)
    if lanes == "f32":
        body = f"""
        %c4 = arith.constant 4 : index
        scf.for %i = %c0 to %c4 step %c1 {{
          %x = memref.load %in0[%i] : memref<4xf32>
          %y = memref.load %in1[%i] : memref<4xf32>
          %r = arith.{op} %x, %y : f32
          memref.store %r, %out[%i] : memref<4xf32>
        }}"""
    text = function(elementwise_arguments("f32", "f32", 4, 2), body)

    found = engine(text, "f", {"in0": ZEROS, "in1": OTHER_ZEROS})["out"]

    assert np.signbit(found).tolist() == is_negative


UNARY = {
    "arith.negf %x : vector<8xf32>": ("f32", "f32", np.negative),
    "math.absf %x : vector<8xf32>": ("f32", "f32", np.abs),
    "math.sqrt %x : vector<8xf32>": ("f32", "f32", np.sqrt),
    "math.rsqrt %x : vector<8xf32>": ("f32", "f32", lambda x: 1 / np.sqrt(x)),
    "math.cbrt %x : vector<8xf32>": ("f32", "f32", np.cbrt),
    "math.roundeven %x : vector<8xf32>": ("f32", "f32", np.rint),
    "math.absi %x : vector<8xi32>": ("i32", "i32", np.abs),
    "arith.extf %x : vector<8xf32> to vector<8xf64>": ("f32", "f64", np.float64),
    "arith.truncf %x : vector<8xf64> to vector<8xf32>": ("f64", "f32", np.float32),
    "arith.extsi %x : vector<8xi32> to vector<8xi64>": ("i32", "i64", np.int64),
    "arith.trunci %x : vector<8xi64> to vector<8xi32>": ("i64", "i32", np.int32),
    "arith.sitofp %x : vector<8xi32> to vector<8xf32>": ("i32", "f32", np.float32),
    "arith.fptosi %x : vector<8xf32> to vector<8xi32>": ("f32", "i32", np.int32),
    "arith.bitcast %x : vector<8xf32> to vector<8xi32>": ("f32", "i32", lambda x: x.view("i4")),
    "vector.bitcast %x : vector<8xi32> to vector<8xf32>": ("i32", "f32", lambda x: x.view("f4")),
}
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


def test_functions_and_casts(engine: Engine) -> None:
    sources, targets, meanings = zip(*UNARY.values(), strict=True)
    numbers = [np.array([1, 4, 9, 2, 100, 7, 25, 3], DTYPES[source]) for source in sources]
    inputs = {f"in0_{number}": x for number, x in enumerate(numbers)}

    found = engine(all_ops([*UNARY], sources, targets), "f", inputs)

    with np.errstate(all="ignore"):
        for number, (op, meaning, x) in enumerate(zip(UNARY, meanings, numbers, strict=True)):
            # rsqrt and cbrt: one or two roundings in f32, 6e-8 each
            np.testing.assert_allclose(found[f"out_{number}"], meaning(x), rtol=2e-7, err_msg=op)


def test_comparison_and_select(engine: Engine) -> None:
    body = elementwise(
        """
    %less = arith.cmpf olt, %x, %y : vector<8xf32>
    %limit = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
    %c4 = arith.constant dense<4> : vector<8xi32>
    %upper = arith.cmpi sge, %limit, %c4 : vector<8xi32>
    %both = arith.andi %less, %upper : vector<8xi1>
    %r = arith.select %both, %x, %y : vector<8xi1>, vector<8xf32>
""",
        "f32",
        "f32",
        8,
        2,
    )
    text = function(elementwise_arguments("f32", "f32", 8, 2), body)

    found = engine(text, "f", {"in0": VALUES, "in1": OTHERS})["out"]

    expected = np.where((VALUES < OTHERS) & (np.arange(8) >= 4), VALUES, OTHERS)
    np.testing.assert_array_equal(found, expected)


def test_bits_in_memory_are_bytes(engine: Engine) -> None:
    bits = np.array([True, False, True, True, False])
    body = """
    %x = vector.load %in0[%c0] : memref<5xi1>, vector<5xi1>
    %all = arith.constant dense<true> : vector<5xi1>
    %r = arith.xori %x, %all : vector<5xi1>
    vector.store %r, %out[%c0] : memref<5xi1>, vector<5xi1>
"""
    text = function(elementwise_arguments("i1", "i1", 5), body)

    np.testing.assert_array_equal(engine(text, "f", {"in0": bits})["out"], ~bits)


LANES = """
    %x = vector.load %in0[%c1] : memref<8xf32>, vector<4xf32>
    %s = memref.load %in0[%c2] : memref<8xf32>
    %all = vector.broadcast %s : f32 to vector<4xf32>
    %fma = vector.fma %x, %all, %x : vector<4xf32>
    %first = vector.extract %fma[0] : f32 from vector<4xf32>
    %third = vector.extract %fma[%c2] : f32 from vector<4xf32>
    %a = vector.insert %first, %x [3] : f32 into vector<4xf32>
    %b = vector.insert %third, %a [%c1] : f32 into vector<4xf32>
    %two = vector.shuffle %b, %b [2, 5] : vector<4xf32>, vector<4xf32>
    %r = vector.shuffle %b, %two [3, 5, 1, 4, 0, 2, 2, 4] : vector<4xf32>, vector<2xf32>
    vector.store %r, %out[%c0] : memref<8xf32>, vector<8xf32>
"""


def test_lanes_are_made_and_moved(engine: Engine) -> None:
    x = np.array([9, 1, 2, 3, 4, 8, 8, 8], np.float32)

    found = engine(function(elementwise_arguments("f32", "f32", 8), LANES), "f", {"in0": x})

    row = x[1:5]
    fma = row * x[2] + row
    b = np.array([row[0], fma[2], row[2], fma[0]])
    both = np.concatenate([b, [b[2], b[1]]])
    np.testing.assert_array_equal(found["out"], both[[3, 5, 1, 4, 0, 2, 2, 4]])


MASKED = """
    %n = memref.load %count[] : memref<i64>
    %lanes = arith.index_cast %n : i64 to index
    %mask = vector.create_mask %lanes : vector<8xi1>
    %others = arith.constant dense<-1.0> : vector<8xf32>
    %v = vector.maskedload %x[%c1, %c2], %mask, %others : memref<2x7xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.store %v, %read[%c0] : memref<8xf32>, vector<8xf32>
    %zeros = arith.constant dense<0.0> : vector<8xf32>
    vector.store %zeros, %out[%c0] : memref<8xf32>, vector<8xf32>
    vector.maskedstore %out[%c0], %mask, %v : memref<8xf32>, vector<8xi1>, vector<8xf32>
"""
MASKED_ARGUMENTS = (
    '%x: memref<2x7xf32> {gawee.input = "x"}, %count: memref<i64> {gawee.input = "count"}, '
    '%read: memref<8xf32> {gawee.output = "read"}, %out: memref<8xf32> {gawee.output = "out"}'
)


@pytest.mark.parametrize("lanes", [[0], [2], [0, 3]])
@pytest.mark.parametrize("bits", [8, 16])
def test_a_masked_store_of_narrowed_lanes_writes_no_others(
    engine: Engine, bits: int, lanes: list[int]
) -> None:
    mask = ["true" if lane in lanes else "false" for lane in range(8)]
    body = f"""
    %mask = arith.constant dense<[{", ".join(mask)}]> : vector<8xi1>
    %ones = arith.constant dense<-1> : vector<8xi{bits}>
    vector.store %ones, %out[%c0] : memref<8xi{bits}>, vector<8xi{bits}>
    %v = vector.load %x[%c0] : memref<8xi32>, vector<8xi32>
    %narrow = arith.trunci %v : vector<8xi32> to vector<8xi{bits}>
    vector.maskedstore %out[%c0], %mask, %narrow : memref<8xi{bits}>, vector<8xi1>, vector<8xi{bits}>
"""
    x = np.arange(5, 13, dtype=np.int32)
    arguments = (
        f'%x: memref<8xi32> {{gawee.input = "x"}}, %out: memref<8xi{bits}> {{gawee.output = "out"}}'
    )

    found = engine(function(arguments, body), "f", {"x": x})["out"]

    expected = [x[lane] if lane in lanes else -1 for lane in range(8)]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [-(2**40), -1, 0, 1, 3, 5])
def test_masks_reach_only_what_is_there(engine: Engine, count: int) -> None:
    x = np.arange(1, 15, dtype=np.float32).reshape(2, 7)
    text = function(MASKED_ARGUMENTS, MASKED)

    found = engine(text, "f", {"x": x, "count": np.array(count)})

    set_lanes = max(count, 0)
    read = np.full(8, -1, np.float32)
    read[:set_lanes] = x[1, 2 : 2 + set_lanes]
    np.testing.assert_array_equal(found["read"], read)
    np.testing.assert_array_equal(found["out"], np.where(np.arange(8) < count, read, 0))


FLOAT_REDUCTIONS = {
    "add": np.sum,
    "mul": np.prod,
    "maximumf": np.max,
    "minimumf": np.min,
    "maxnumf": np.max,
    "minnumf": np.min,
}
INTEGER_REDUCTIONS = {
    "add": np.sum,
    "mul": np.prod,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
    "maxsi": np.max,
    "minsi": np.min,
    "maxui": lambda x: x.view(np.uint32).max().astype(np.int32),
    "minui": lambda x: x.view(np.uint32).min().astype(np.int32),
}


@pytest.mark.parametrize(
    ("element", "reductions"),
    [("f32", FLOAT_REDUCTIONS), ("i32", INTEGER_REDUCTIONS)],
    ids=["floats", "integers"],
)
def test_reductions(
    engine: Engine, element: str, reductions: dict[str, Callable[..., np.generic]]
) -> None:
    x, memory = np.array([3, -2, 5, 1, -4], DTYPES[element]), f"memref<5x{element}>"
    arguments = [f'%in0: {memory} {{gawee.input = "in0"}}']
    body = f"""
    %x = vector.load %in0[%c0] : {memory}, vector<5x{element}>
    %start = memref.load %in0[%c1] : {memory}
"""
    for kind in reductions:
        for out, accumulator in ((f"{kind}_alone", ""), (f"{kind}_onto", ", %start")):
            arguments.append(f'%{out}: {memory} {{gawee.output = "{out}"}}')
            body += f"""
    %r_{out} = vector.reduction <{kind}>, %x{accumulator} : vector<5x{element}> into {element}
    memref.store %r_{out}, %{out}[%c2] : {memory}
    memref.store %r_{out}, %{out}[%c0] : {memory}
"""

    found = engine(function(", ".join(arguments), body), "f", {"in0": x})

    for kind, reduce in reductions.items():
        alone, onto = found[f"{kind}_alone"], found[f"{kind}_onto"]
        assert alone[0] == alone[2] == reduce(x), kind
        assert onto[0] == onto[2] == reduce(np.concatenate([x, x[1:2]])), kind


@pytest.mark.parametrize(
    ("kind", "values", "is_negative"),
    [
        ("minimumf", [0.0, 3, -0.0, 2, 0.0], True),
        ("minimumf", [0.0, 3, 5, 2, 0.0], False),
        ("maximumf", [-0.0, -3, 0.0, -2, -0.0], False),
        ("maximumf", [-0.0, -3, -5, -2, -0.0], True),
    ],
)
def test_among_zeros_a_reduction_finds_the_least(
    engine: Engine, kind: str, values: list[float], is_negative: bool
) -> None:
    body = f"""
    %x = vector.load %in0[%c0] : memref<5xf32>, vector<5xf32>
    %r = vector.reduction <{kind}>, %x : vector<5xf32> into f32
    memref.store %r, %out[%c0] : memref<5xf32>
"""
    text = function(elementwise_arguments("f32", "f32", 5), body)

    found = engine(text, "f", {"in0": np.array(values, np.float32)})["out"]

    assert found[0] == 0
    assert np.signbit(found[0]) == is_negative


TILE = """
func.func @f(%a: memref<6x5xf32> {gawee.input = "a"}, %b: memref<5x8xf32> {gawee.input = "b"},
             %out: memref<6x8xf32> {gawee.output = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  scf.for %i = %c0 to %c6 step %c3 {
    %acc = memref.alloca() : memref<3x2xvector<4xf32>>
    scf.for %t = %c0 to %c3 step %c1 {
      scf.for %v = %c0 to %c2 step %c1 {
        memref.store %zero, %acc[%t, %v] : memref<3x2xvector<4xf32>>
      } {gawee.unroll = "full"}
    } {gawee.unroll = "full"}
    scf.for %k = %c0 to %c5 step %c1 {
      scf.for %v = %c0 to %c2 step %c1 {
        %column = arith.muli %v, %c4 : index
        %y = vector.load %b[%k, %column] : memref<5x8xf32>, vector<4xf32>
        scf.for %t = %c0 to %c3 step %c1 {
          %row = arith.addi %i, %t : index
          %s = memref.load %a[%row, %k] : memref<6x5xf32>
          %x = vector.broadcast %s : f32 to vector<4xf32>
          %old = memref.load %acc[%t, %v] : memref<3x2xvector<4xf32>>
          %new = vector.fma %x, %y, %old : vector<4xf32>
          memref.store %new, %acc[%t, %v] : memref<3x2xvector<4xf32>>
        } {gawee.unroll = "full"}
      } {gawee.unroll = "full"}
    } {gawee.unroll = 2 : i64}
    %second = memref.subview %acc[0, 1] [3, 1] [1, 1] : memref<3x2xvector<4xf32>> to memref<3x1xvector<4xf32>, strided<[2, 1], offset: 1>>
    scf.for %t = %c0 to %c3 step %c1 {
      %row = arith.addi %i, %t : index
      %left = memref.load %acc[%t, %c0] : memref<3x2xvector<4xf32>>
      vector.store %left, %out[%row, %c0] : memref<6x8xf32>, vector<4xf32>
      %right = memref.load %second[%t, %c0] : memref<3x1xvector<4xf32>, strided<[2, 1], offset: 1>>
      vector.store %right, %out[%row, %c4] : memref<6x8xf32>, vector<4xf32>
    } {gawee.unroll = "full"}
  }
  return
}
"""


def test_a_register_tile_multiplies_matrices(engine: Engine) -> None:
    random = np.random.default_rng(5)
    a, b = random.standard_normal((6, 5), np.float32), random.standard_normal((5, 8), np.float32)

    found = engine(TILE, "f", {"a": a, "b": b})["out"]

    # five products in f32, one rounding each: a few ulp of values near 1
    np.testing.assert_allclose(found, a.astype(np.float64) @ b, rtol=1e-6, atol=1e-6)


CARRIED = """
    %n = memref.load %count[] : memref<i64>
    %trips = arith.index_cast %n : i64 to index
    %ones = arith.constant dense<1.0> : vector<8xf32>
    %x = vector.load %in0[%c0] : memref<8xf32>, vector<8xf32>
    %power = scf.for %i = %c0 to %trips step %c1 iter_args(%p = %ones) -> (vector<8xf32>) {
      %next = arith.mulf %p, %x : vector<8xf32>
      %odd = arith.remui %i, %c2 : index
      %is_odd = arith.cmpi eq, %odd, %c1 : index
      %kept = scf.if %is_odd -> (vector<8xf32>) {
        %negated = arith.negf %next : vector<8xf32>
        scf.yield %negated : vector<8xf32>
      } else {
        scf.yield %next : vector<8xf32>
      }
      scf.yield %kept : vector<8xf32>
    }
    vector.store %power, %out[%c0] : memref<8xf32>, vector<8xf32>
"""


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_vectors_are_carried_through_loops_and_branches(engine: Engine, trips: int) -> None:
    arguments = elementwise_arguments("f32", "f32", 8)
    text = function(f'%count: memref<i64> {{gawee.input = "count"}}, {arguments}', CARRIED)

    found = engine(text, "f", {"in0": VALUES, "count": np.array(trips)})["out"]

    expected = np.ones(8, np.float32)
    for trip in range(trips):
        expected = expected * VALUES * (-1 if trip % 2 else 1)
    np.testing.assert_array_equal(found, expected)
