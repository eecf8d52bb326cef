"""Products in registers of tiles: what they are, where they are made, and what code is exported."""

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import gawee_dialect
from gawee_dialect import CodeOptions
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.export import write_code
from gawee_dialect.backend.jit import Target
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import Level, lower_to
from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
from gawee_dialect.target.machine import find_processor
from gawee_dialect.universe import make_context
from tests.kernels.compiled import Array, module_of
from tests.kernels.test_packed_products import drawn, matmul, of_centred

needs_tiles = pytest.mark.skipif(
    not find_processor("host").byte_tiles, reason="expected a processor with AMX"
)

BYTES = """
func.func @f(%a: memref<9x13xi32>, %b: memref<40x5xi32>, %o: memref<7x5xi32> {gawee.output = "o"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %z = amx.tile_zero : !amx.tile<7x5xi32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%c = %z) -> (!amx.tile<7x5xi32>) {
    %row = arith.muli %k, %c10 : index
    %x = amx.tile_load %a[%k, %c1] : memref<9x13xi32> into !amx.tile<7x40xi8>
    %y = amx.tile_load %b[%row, %c0] : memref<40x5xi32> into !amx.tile<10x20xi8>
    %d = amx.tile_muli %x FIRST, %y SECOND, %c : !amx.tile<7x40xi8>, !amx.tile<10x20xi8>, !amx.tile<7x5xi32>
    scf.yield %d : !amx.tile<7x5xi32>
  }
  amx.tile_store %o[%c0, %c0], %r : memref<7x5xi32>, !amx.tile<7x5xi32>
  return
}
"""

PAIRS = """
func.func @f(%a: memref<7x22xbf16>, %b: memref<11x10xbf16>, %c: memref<7x5xf32>,
             %o: memref<7x5xf32> {gawee.output = "o"}) {
  %c0 = arith.constant 0 : index
  %x = amx.tile_load %a[%c0, %c0] : memref<7x22xbf16> into !amx.tile<7x22xbf16>
  %y = amx.tile_load %b[%c0, %c0] : memref<11x10xbf16> into !amx.tile<11x10xbf16>
  %z = amx.tile_load %c[%c0, %c0] : memref<7x5xf32> into !amx.tile<7x5xf32>
  %d = amx.tile_mulf %x, %y, %z : !amx.tile<7x22xbf16>, !amx.tile<11x10xbf16>, !amx.tile<7x5xf32>
  amx.tile_store %o[%c0, %c0], %d : memref<7x5xf32>, !amx.tile<7x5xf32>
  return
}
"""


def interpreted(text: str, arrays: dict[str, Array]) -> Array:
    return run_module(parse_mlir(make_context(), text, "t.mlir"), arrays, function="f")["o"]


def native(text: str, arrays: dict[str, Array]) -> Array:
    module = parse_mlir(make_context(), text, "t.mlir")
    ConvertToLLVM(target="host").apply(make_context(), module)
    return CompiledModel(module, function="f").run(arrays)["o"]


RUNS = [interpreted, pytest.param(native, marks=needs_tiles)]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("signs", [("", "zext"), ("zext", ""), ("", ""), ("zext", "zext")])
def test_words_of_tiles_are_four_bytes_of_either_sign(
    run: Callable[[str, dict[str, Array]], Array], signs: tuple[str, str]
) -> None:
    random = np.random.default_rng(0)
    a, b = (random.integers(-(2**31), 2**31, size).astype(np.int32) for size in ((9, 13), (40, 5)))
    text = BYTES.replace("FIRST", signs[0]).replace("SECOND", signs[1])

    made = run(text, {"a": a, "b": b})

    first, second = (np.uint8 if sign else np.int8 for sign in signs)
    wanted = np.zeros((7, 5), np.int64)
    for step in range(2):
        rows = a[step : step + 7, 1:11].copy().view(first).reshape(7, 10, 4)
        columns = b[10 * step : 10 * step + 10].copy().view(second).reshape(10, 5, 4)
        wanted += np.einsum("mkw,knw->mn", rows.astype(np.int64), columns.astype(np.int64))
    np.testing.assert_array_equal(made, wanted.astype(np.int32))


@needs_tiles
def test_pairs_of_tiles_are_added_up_in_the_order_of_the_instruction() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(n).astype(ml_dtypes.bfloat16) for n in ((7, 22), (11, 10)))
    arrays = {"a": a, "b": b, "c": random.standard_normal((7, 5)).astype(np.float32)}

    np.testing.assert_array_equal(native(PAIRS, arrays), interpreted(PAIRS, arrays))


def test_rows_that_leave_the_memref_are_an_error() -> None:
    arrays = {"a": np.zeros((9, 13), np.int32), "b": np.zeros((40, 5), np.int32)}
    text = BYTES.replace("FIRST", "").replace("SECOND", "").replace("%a[%k, %c1]", "%a[%c10, %c1]")

    with pytest.raises(gawee_dialect.GaweeError, match="index 10 is out of bounds for dimension 0"):
        interpreted(text, arrays)
    arrays["a"] = np.zeros((7, 13), np.int32)
    text = text.replace("9x13", "7x13").replace("%a[%c10", "%a[%k")
    with pytest.raises(gawee_dialect.GaweeError, match="a row of a tile is out of bounds"):
        interpreted(text, arrays)


def test_tiles_are_multiplied_where_a_processor_has_them_and_they_pay() -> None:
    random = np.random.default_rng(0)
    for target, columns, are_used in (
        ("sapphirerapids", 64, True),
        ("sapphirerapids", 7, False),
        ("znver5", 64, False),
    ):
        a, b = drawn(random, "uint8", 48, 256), drawn(random, "int8", 256, columns)
        zeros = np.asarray(np.uint8(3)), np.asarray(np.int8(-5))
        module = module_of(of_centred(matmul), [a, zeros[0], b, zeros[1]], 2)
        text = str(lower_to(module, Level.KERNELS, CodeOptions(target=target)))
        assert ("tiles = d0 by 16" in text) == are_used


def test_exported_code_asks_for_tiles_when_it_is_loaded(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    arrays = [drawn(random, "uint8", 48, 256), np.asarray(np.uint8(3))]
    arrays += [drawn(random, "int8", 256, 64), np.asarray(np.int8(-5))]
    for name, asks in (("sapphirerapids", True), ("znver5", False)):
        module = module_of(of_centred(matmul), arrays, 2)
        low = lower_to(module, Level.LLVM, CodeOptions(target=name))
        target = Target.of(find_processor(name))
        (file,) = write_code(low, "product", tmp_path / name, ["ll"], target=target)
        assert ("@syscall(i64 158, i64 4131, i64 18)" in file.read_text()) == asks
