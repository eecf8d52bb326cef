"""Products with 4-bit numbers in blocks are those of the numbers that the blocks stand for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from gawee_dialect.frontends.op_mapping.entry_function import EntryFunction
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType, f32

from gawee_dialect import CodeOptions, Model
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.levels import Level
from gawee_dialect.parameters.store import MemoryStore
from gawee_dialect.target.machine import find_processor
from tests.closeness import assert_allclose
from tests.example_files import imported_files

FOLDER = Path(__file__).parent.parent.parent / "examples" / "llm"
OUT, IN = 37, 96
FORMATS = ("q4_0", "q4_k")


@pytest.fixture(scope="module")
def example() -> Iterator[Mapping[str, ModuleType]]:
    """Import the files of the example that know the formats."""
    pytest.importorskip("ml_dtypes")
    with imported_files(FOLDER, ["products", "weights", "quantization"]) as modules:
        yield modules


def product(
    example: Mapping[str, ModuleType], dtype: str, columns: int
) -> tuple[Model, NDArray[np.float64]]:
    """Return a product of any number of rows, and the weight in f64."""
    values = np.random.default_rng(3).standard_normal((OUT, columns)).astype(np.float32)
    parts = example["quantization"].stored_as(dtype, "w", values)
    function = EntryFunction()
    rows = OpenSize.named(SizeName("rows", 1, 20))
    x = function.add_argument(ArgumentKind.INPUT, "x", TensorType(f32, [rows, columns]))
    weight = example["weights"].weight_of(function, "w", dtype, (OUT, columns))
    module = function.module([weight.product(x, 0, OUT, None)], ["y"])
    wide = example["quantization"].widened({name[1:]: each for name, each in parts.items()})
    return Model(module, MemoryStore(dict(parts))), wide.astype(np.float64)


def columns_of(dtype: str) -> int:
    return 256 if dtype == "q4_k" else IN


def rows_of(count: int, columns: int) -> NDArray[np.float32]:
    """Return rows with a block of zeros, one of small numbers, and one number that is large."""
    x = np.random.default_rng(count).standard_normal((count, columns)).astype(np.float32)
    x[0, :32] = 0
    x[-1, 32:64] *= 1e-33
    x[0, 70] = 3e4
    return x


@pytest.mark.parametrize("target", ["host", "haswell"])
@pytest.mark.parametrize("dtype", FORMATS)
def test_products_are_those_of_the_numbers_that_are_stored(
    dtype: str, target: str, example: Mapping[str, ModuleType]
) -> None:
    columns = columns_of(dtype)
    model, wide = product(example, dtype, columns)
    code = model.compile(CodeOptions(num_threads=1, target=target), sizes={"rows": (1, 20)})
    for count in (1, 2, 7, 8, 19):
        x = rows_of(count, columns)
        made = code.run({"x": x})["y"]
        # Half a step of each block is 6e-8 of its largest number, and sums round as f32 does.
        close = 4e-7 * np.abs(x).max(1, keepdims=True) * np.abs(wide).sum(1).max() / 3
        assert np.all(np.abs(np.asarray(made, np.float64) - x.astype(np.float64) @ wide.T) <= close)
        assert_allclose(made, x @ wide.T, rtol=0, atol=1e-6 * np.abs(made).max())


def test_each_level_of_blocks_as_bytes_computes_the_same(
    example: Mapping[str, ModuleType],
) -> None:
    model, wide = product(example, "q4_0", IN)
    options = CodeOptions(num_threads=1, target="znver5")
    x = rows_of(3, IN)
    own = model.for_inputs({"x": x})
    for level in (Level.KERNELS, Level.LOOPS):
        lowered = Model(own.lowered(level, options), own.parameters)
        made = lowered.run({"x": x}, level)["y"]
        assert_allclose(made, x @ wide.T, rtol=0, atol=1e-6 * np.abs(made).max())


def test_what_is_no_number_comes_out_as_none(example: Mapping[str, ModuleType]) -> None:
    model, wide = product(example, "q4_0", IN)
    x = rows_of(3, IN)
    x[1, 40] = np.nan
    made = model.compile(CodeOptions(num_threads=1), sizes={"rows": (1, 20)}).run({"x": x})["y"]
    assert np.isnan(made[1]).all()
    close = 1e-6 * np.abs(made[[0, 2]]).max()
    assert_allclose(made[[0, 2]], x[[0, 2]] @ wide.T, rtol=0, atol=close)


@pytest.mark.skipif(not find_processor("host").byte_products, reason="multiplies no bytes")
def test_code_multiplies_bytes(example: Mapping[str, ModuleType]) -> None:
    model, _ = product(example, "q4_0", IN)
    lowered = model.lowered(Level.LLVM, CodeOptions(num_threads=1, target="znver5"))
    assert "vpdpbusd.512" in str(lowered)
    assert "permvar" not in str(lowered)
