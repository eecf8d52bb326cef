"""Inputs that only some modules need: numbers at which functions jump, and indices out of range.

Functions jump at halves, zeros, and numbers beyond the ends of bytes. The effect of an index out of
range is specified: `check-indices` clamps and reports.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from gawee_dialect.analysis.signature import Signature
from gawee_dialect.dialect.entry import entry_arguments, find_entry
from gawee_dialect.dialect.graph.arithmetic import (
    CeilOp,
    FloorDivOp,
    FloorOp,
    FmodOp,
    RemainderOp,
    RoundOp,
)
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import DivOp
from gawee_dialect.dialect.graph.indexing import IndexedOp
from gawee_dialect.dialect.graph.quantization import QuantizeOp
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import element_type, is_float
from gawee_dialect.instruments.check.functions import ArraySpec, argument_specs
from gawee_dialect.instruments.check.inputs import DataSet, array_with_ties
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.upstream.walk import all_ops

JUMPS = "halves, zeros and large numbers"
LARGE, EVERY = 450.0, 7
"""Such multiples of 1/4, up to 3/2, are beyond the ends of bytes, and have exponentials in f64."""
JUMPING = (
    *(FloorOp, CeilOp, RoundOp, RemainderOp, FmodOp, FloorDivOp, QuantizeOp),
    *(math.FloorOp, math.CeilOp, math.RoundOp, math.RoundEvenOp, math.TruncOp),
    *(arith.FPToSIOp, arith.FPToUIOp),
)


def has_jumps(module: ModuleOp) -> bool:
    """Whether some op of floats jumps: at halves, at zero, or at the ends of a type."""
    return any(map(_jumps, all_ops(module)))


def _jumps(op: Operation) -> bool:
    match op:
        case DivOp() | arith.DivfOp():
            return not isinstance(op.rhs.owner, ConstantOp | arith.ConstantOp)
        case CastOp():
            return is_float(element_type(op.input)) and not is_float(element_type(op.result))
        case _:
            return isinstance(op, JUMPING)


def array_of_jumps(spec: ArraySpec, seed: int) -> Array:
    """Draw multiples of 1/4, some of them LARGE times as large; divisors have zeros among them."""
    array = array_with_ties(
        replace(spec, use="number" if spec.use == "divisor" else spec.use), seed
    )
    if spec.use != "number" or spec.dtype.kind != "f":
        return array
    large = np.arange(array.size).reshape(array.shape) % EVERY == 0
    return np.where(large, array.astype(np.float64) * LARGE, array).astype(spec.dtype)


WRONG_INDICES = "indices out of range"
MOST_SETS = 3
FAR = 1 << 40


def index_checks(module: ModuleOp, function: str) -> Sequence[IndexCheck]:
    """Return the index checks that a function returns; none where indices are trusted."""
    found = find_entry(module, function)
    if found is None:
        return ()
    if isinstance(found, FuncOp) and (told := Signature.of(found).checks):
        return tuple(told.values())
    return tuple(each.check for each in entry_arguments(found) if each.check is not None)


def with_wrong_indices(module: ModuleOp, function: str, usual: DataSet) -> Iterator[DataSet]:
    """Yield data sets in which indices are at both ends of their axes, next to them, and far off.

    Where no op says which arguments are indices, integers are.
    """
    specs = [spec for spec in argument_specs(module, function) if spec.dtype.kind == "i"]
    known = (each for each in _sizes(module, function) if isinstance(each, int))
    sizes = sorted({*known, *(spec.size for spec in specs if spec.size)})
    indices = [spec for spec in specs if spec.use == "index"] or specs
    fewest = min((prod(spec.shape) for spec in indices), default=0)
    if not sizes or not fewest:
        return
    values = [value for size in sizes for value in (size, -size - 1, size - 1, -size)]
    values += [FAR, -FAR, 0, -1]
    sets = [values[start:] + values[:start] for start in range(0, len(values), fewest)]
    for each in [*sets[:MOST_SETS], [-sizes[0]]]:  # the last is the least that is in range
        arrays = {spec.name: _drawn(spec, each) for spec in indices}
        yield replace(usual, arrays={**usual.arrays, **arrays}, name=WRONG_INDICES)


def _sizes(module: ModuleOp, function: str) -> Iterator[int | str]:
    for check in index_checks(module, function):
        yield from check.sizes
    for op in module.walk():
        if isinstance(op, IndexedOp):
            yield from (each for each in op.named_sizes if not isinstance(each, OpenSize))


def _drawn(spec: ArraySpec, values: Sequence[int]) -> Array:
    """Return an array that has values in turn."""
    limits = np.iinfo(spec.dtype.name)
    places = np.arange(prod(spec.shape)) % len(values)
    wanted = np.clip(np.array(values)[places], limits.min, limits.max)
    return wanted.astype(spec.dtype).reshape(spec.shape)


def worst_names(count: int) -> Sequence[str]:
    """Return the names that a proof gives to the index checks of a function."""
    return [f"what is told of indices {number}" for number in range(count)]


def without_new(found: Mapping[str, Array], known: Mapping[str, Array]) -> dict[str, Array]:
    """Return outputs without index checks from now on."""
    told = worst_names(len(found))
    return {name: each for name, each in found.items() if name in known or name not in told}
