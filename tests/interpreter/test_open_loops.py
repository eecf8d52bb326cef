"""Compiled nests on memory of open sizes and of affine maps, against the same nests op by op."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from xdsl.dialects import affine, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect.dialect.entry import find_function
from gawee_dialect.interpreter import RunError, run_module
from gawee_dialect.interpreter.loops.compiler import compile_nest
from gawee_dialect.interpreter.machine import make_machine
from gawee_dialect.interpreter.scf import SeesLoops
from tests.interpreter.modules import parse, random
from tests.upstream_mlir import requires_upstream, run_mlir_opt

Arrays = Mapping[str, np.ndarray]
LOOPS = (scf.ForOp, scf.ParallelOp, affine.ForOp, affine.ParallelOp)


def first_loop(module: ModuleOp) -> Operation:
    return next(op for op in module.walk() if isinstance(op, LOOPS))


def outputs(module: ModuleOp, arrays: Arrays, *listeners: SeesLoops) -> Arrays | str:
    """Run @main; returns what its memory holds then and what it returns, or what is wrong."""
    function = find_function(module)
    assert function is not None
    arguments = {name: array.copy(order="K")[()] for name, array in arrays.items()}
    try:
        machine = make_machine(module, listeners)
        results = machine.call_op(function, tuple(arguments.values()))
    except RunError as error:
        return str(error)
    return {**arguments, **{f"result{n}": np.asarray(each) for n, each in enumerate(results)}}


def check(text: str, **arrays: np.ndarray) -> Arrays | str:
    """Compare a nest that is compiled with the ops of it; returns what both make."""
    module = parse(text)
    compile_nest(first_loop(module))  # or it would be compared with itself
    compiled, interpreted = outputs(module, arrays), outputs(module, arrays, SeesLoops())

    if isinstance(compiled, str) or isinstance(interpreted, str):
        assert compiled == interpreted
        return compiled
    assert [*compiled] == [*interpreted]
    for name, array in compiled.items():
        assert array.dtype == interpreted[name].dtype
        np.testing.assert_array_equal(array, interpreted[name])
    return compiled


PRODUCT = """
func.func @main(%a: memref<?x?xf32>, %b: memref<?x5xf32, strided<[?, ?], offset: ?>>,
                %c: memref<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %n = memref.dim %b, %c0 : memref<?x5xf32, strided<[?, ?], offset: ?>>
      %s = scf.for %l = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) {
        %x = memref.load %a[%i, %l] : memref<?x?xf32>
        %y = memref.load %b[%l, %j] : memref<?x5xf32, strided<[?, ?], offset: ?>>
        %p = arith.mulf %x, %y : f32
        %u = arith.addf %t, %p : f32
        scf.yield %u : f32
      }
      memref.store %s, %c[%i, %j] : memref<?x5xf32>
    }
  }
  return
}"""


@pytest.mark.parametrize("rows", [3, 1, 0])
def test_memory_of_open_sizes_has_those_and_the_strides_of_its_array(rows: int) -> None:
    a, b = random((rows, 7)), random((5, 7), seed=1).T

    made = check(PRODUCT, a=a, b=b, c=np.zeros((rows, 5), np.float32))

    assert not isinstance(made, str)
    np.testing.assert_allclose(made["c"], a @ b, rtol=1e-4, atol=1e-5)


def test_memory_that_goes_backwards_is_read_op_by_op() -> None:
    a, b = random((3, 7)), random((7, 5), seed=1)

    c = np.zeros((3, 5), np.float32)
    function = find_function(module := parse(PRODUCT))
    assert function is not None
    make_machine(module).call_op(function, (a, b[::-1], c))

    np.testing.assert_allclose(c, a @ b[::-1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "said"), [(8, "index 7"), (9, "index 7")])
def test_what_is_beyond_an_open_size_is_told_as_op_by_op(rows: int, said: str) -> None:
    made = check(PRODUCT, a=random((3, 7)), b=random((rows, 5)), c=np.zeros((3, 5), np.float32))

    assert isinstance(made, str)
    assert f"'memref.load' op cannot run: {said} is out of bounds for dimension 1 of size 7" in made
    assert "test.mlir:14:9: error: " in made


PARTS = """
func.func @main(%x: memref<?x?xi32>, %y: memref<?x?xi32>, %from: index,
                %size: index, %step: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xi32>
  scf.for %i = %c0 to %m step %c1 {
    %part = memref.subview %x[%i, %from] [1, %size] [1, %step]
        : memref<?x?xi32> to memref<?xi32, strided<[?], offset: ?>>
    %t = memref.alloc(%size) : memref<2x?xi32>
    scf.for %j = %c0 to %size step %c1 {
      %a = memref.load %part[%j] : memref<?xi32, strided<[?], offset: ?>>
      %b = arith.addi %a, %a : i32
      memref.store %b, %t[%c1, %j] : memref<2x?xi32>
    }
    %row = memref.subview %t[1, 0] [1, %size] [1, 1]
        : memref<2x?xi32> to memref<1x?xi32, strided<[?, 1], offset: ?>>
    %to = memref.subview %y[%i, 0] [1, %size] [1, 1]
        : memref<?x?xi32> to memref<1x?xi32, strided<[?, 1], offset: ?>>
    "memref.copy"(%row, %to) : (memref<1x?xi32, strided<[?, 1], offset: ?>>,
                                memref<1x?xi32, strided<[?, 1], offset: ?>>) -> ()
    %any = "memref.cast"(%to) : (memref<1x?xi32, strided<[?, 1], offset: ?>>)
        -> memref<?x?xi32, strided<[?, ?], offset: ?>>
    memref.store %c7, %any[%c0, %c0] : memref<?x?xi32, strided<[?, ?], offset: ?>>
  }
  return
}""".replace("%c0 = arith", "%c7 = arith.constant 7 : i32\n  %c0 = arith", 1)


@pytest.mark.parametrize(
    ("first", "size", "step", "said"),
    [
        (1, 3, 2, None),
        (5, 3, -2, None),
        (0, 6, 1, None),
        (2, 3, 2, "offset 2, size 3 and stride 2 are out of bounds for dimension 1 of size 6"),
        (-1, 2, 1, "offset -1, size 2 and stride 1 are out of bounds for dimension 1 of size 6"),
        (3, 2, -4, "offset 3, size 2 and stride -4 are out of bounds for dimension 1 of size 6"),
        (3, -1, 1, "offset 3, size -1 and stride 1 are out of bounds for dimension 1 of size 6"),
        (7, 0, 1, "index 0 is out of bounds for dimension 1 of size 0"),
    ],
)
def test_parts_of_open_sizes(first: int, size: int, step: int, said: str | None) -> None:
    x = random((4, 6), "int32")
    numbers = {"from": first, "size": size, "step": step}

    made = check(
        PARTS,
        x=x,
        y=np.zeros((4, 6), np.int32),
        **{name: np.array(value) for name, value in numbers.items()},
    )

    if said is not None:
        assert isinstance(made, str)
        assert said in made
        return
    assert not isinstance(made, str)
    np.testing.assert_array_equal(made["y"][:, 0], 7)
    chosen = [first + step * each for each in range(1, size)]
    np.testing.assert_array_equal(made["y"][:, 1:size], 2 * x[:, chosen])


CARRIED = """
func.func @main(%x: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<?x3xf32>) {
    %a = tensor.extract %t[%i, %c1] : tensor<?x3xf32>
    %b = arith.addf %a, %a : f32
    %u = tensor.insert %b into %t[%i, %c0] : tensor<?x3xf32>
    scf.yield %u : tensor<?x3xf32>
  }
  return %r : tensor<?x3xf32>
}"""


@pytest.mark.parametrize("rows", [5, 0, 6])
def test_tensors_of_open_sizes_are_carried(rows: int) -> None:
    x = random((5, 3))

    made = check(CARRIED, x=x, n=np.array(rows))

    if rows > 5:
        assert "index 5 is out of bounds for dimension 0 of size 5 ('tensor<?x3xf32>')" in made
        return
    assert not isinstance(made, str)
    result = made["result0"]
    np.testing.assert_array_equal(result[:, 0], 2 * x[:, 1] if rows else x[:, 0])


@pytest.mark.parametrize("place", ["%x", "%t"])
def test_an_insertion_that_is_not_carried_leaves_the_tensor_as_it_is(place: str) -> None:
    text = """
func.func @main(%x: tensor<4xf32>, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %s, %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%w = %zero, %t = %x) -> (f32, tensor<4xf32>) {
    scf.if %true {
      %dead = tensor.insert %v into PLACE[%i] : tensor<4xf32>
    }
    %a = tensor.extract PLACE[%i] : tensor<4xf32>
    %b = arith.addf %w, %a : f32
    scf.yield %b, %t : f32, tensor<4xf32>
  }
  return %s : f32
}""".replace("PLACE", place)
    x = np.arange(4, dtype=np.float32)

    (made,) = run_module(parse(text), {"x": x, "v": np.float32(100)}).values()

    assert made == 6
    np.testing.assert_array_equal(x, np.arange(4))


MAPS = """
#q = affine_map<(d0)[s0] -> ((d0 + s0) floordiv 3)>
#r = affine_map<(d0)[s0] -> ((d0 * 2 - s0) mod 3)>
#c = affine_map<(d0, d1) -> ((d0 * 5 - d1) ceildiv 4, d0, d1 * 3)>
func.func @main(%n: index, %y: memref<?x4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = memref.dim %y, %c0 : memref<?x4xindex>
  scf.for %i = %c0 to %m step %c1 {
    %q = affine.apply #q(%i)[%n]
    %r = affine.apply #r(%i)[%n]
    %l = affine.min #c(%i, %n)
    %g = affine.max #c(%i, %n)
    memref.store %q, %y[%i, %c0] : memref<?x4xindex>
    memref.store %r, %y[%i, %c1] : memref<?x4xindex>
    memref.store %l, %y[%i, %c2] : memref<?x4xindex>
    memref.store %g, %y[%i, %c3] : memref<?x4xindex>
  }
  return
}"""


@pytest.mark.parametrize("n", [4, 0, -7, 3_000_000_000])
def test_maps_are_those_of_affine(n: int) -> None:
    made = check(MAPS, n=np.array(n), y=np.zeros((6, 4), np.int64))

    assert not isinstance(made, str)
    rows = [
        [(i + n) // 3, (2 * i - n) % 3, min(up, i, 3 * n), max(up, i, 3 * n)]
        for i in range(6)
        for up in [-((n - 5 * i) // 4)]
    ]
    np.testing.assert_array_equal(made["y"], rows)


def test_an_index_of_more_than_64_bits_is_told() -> None:
    text = re.sub(r"#q = .*", f"#q = affine_map<(d0)[s0] -> (d0 + s0 * {1 << 40})>", MAPS)

    made = check(text, n=np.array(1 << 25), y=np.zeros((6, 4), np.int64))

    assert isinstance(made, str)
    assert f"'affine.apply' op cannot run: index {1 << 65} has more than 64 bits" in made


NEST = """
#set = affine_set<(d0, d1)[s0] : (d0 - d1 >= 0, s0 - 1 >= 0)>
func.func @main(%x: memref<?x?xf32>, %n: index, %y: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to min affine_map<()[s0] -> (s0, 4)>()[%n] {
    affine.for %j = max affine_map<(d0) -> (0, d0 - 2)>(%i) to 5 step 2 {
      %s = affine.for %k = 0 to 3 iter_args(%t = %zero) -> (f32) {
        %a = affine.load %x[%i + %k, %n - 1] : memref<?x?xf32>
        %b = arith.addf %t, %a : f32
        affine.yield %b : f32
      }
      %r = affine.if #set(%i, %j)[%n] -> f32 {
        affine.yield %s : f32
      } else {
        %m = arith.negf %s : f32
        affine.yield %m : f32
      }
      affine.store %r, %y[%i, %j] : memref<?x?xf32>
    }
  }
  affine.parallel (%i, %j) = (0, max(1, %n - 2)) to (min(3, %n + 3), 5) step (2, 1) {
    %a = affine.load %y[%i, %j] : memref<?x?xf32>
    affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%j) {
      affine.store %a, %y[%i + 1, %j] : memref<?x?xf32>
    }
  }
  return
}"""


@requires_upstream
@pytest.mark.parametrize(("n", "columns"), [(3, 5), (0, 5), (6, 5), (3, 4)])
def test_nests_of_affine_loops(n: int, columns: int) -> None:
    text = run_mlir_opt(NEST, "--mlir-print-op-generic")  # xDSL does not read the other form

    made = check(text, x=random((6, 5)), n=np.array(n), y=np.zeros((5, columns), np.float32))

    assert isinstance(made, str) == (n > 5 or columns < 5)
    if n > 5:
        assert "'affine.load' op cannot run: index 5 is out of bounds for dimension 1" in made
    elif columns < 5:
        assert "'affine.store' op cannot run: index 4 is out of bounds for dimension 1" in made


def test_a_store_beyond_memory_is_told_as_op_by_op() -> None:
    text = """
func.func @main(%y: memref<5x3xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %y[%c1, %i] : memref<5x3xf32>
  }
  return
}"""
    made = check(text, y=np.zeros((5, 3), np.float32), n=np.array(4))

    assert "index 3 is out of bounds for dimension 1 of size 3 ('memref<5x3xf32>')" in made


def test_vectors_of_open_rows() -> None:
    text = """
func.func @main(%x: memref<?x?xf32>, %n: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant dense<0.0> : vector<4xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %x[%c1, %i] : memref<?x?xf32>, vector<4xf32>
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<4xi1>
    %w = vector.maskedload %x[%c0, %i], %mask, %none
        : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %s = arith.addf %v, %w : vector<4xf32>
    vector.store %s, %y[%c0, %i] : memref<?x?xf32>, vector<4xf32>
  }
  return
}"""
    y = np.zeros((1, 8), np.float32)

    for n, columns in ((6, 8), (8, 8), (9, 8), (9, 11)):
        made = check(text, x=random((2, columns)), n=np.array(n), y=y)
        assert isinstance(made, str) == (n > 8)
