"""Structured ops (linalg) on whole arrays, from nothing but maps, loops and body.

An array in a body has the rank of the loop nest; along loops that it does not depend on, size 1.
Loops that every output is indexed by are evaluated all at once. The others are a reduction:

1. a sum of products becomes matrix products;
2. another known combiner of a value that does not depend on the accumulator becomes one pass of
   `ufunc.reduce`, or one step per point of a small window;
3. any other body runs once per point of the reduction loops, in their order.

1 and 2 take floats in another order than a loop nest would: results differ by rounding. Where
arrays would get large, the parallel loops are cut in pieces.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith, linalg, memref, tensor
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.arrays import contract, in_loop_order, total_dtype
from gawee_dialect.interpreter.arith import ARITH
from gawee_dialect.interpreter.arrays import Array, is_half
from gawee_dialect.interpreter.cf import assertions, require
from gawee_dialect.interpreter.loop_views import (
    index_grid,
    loop_ranges,
    loop_view,
    operand_view,
    part,
    take,
)
from gawee_dialect.interpreter.math import MATH, Extreme, maximum, minimum
from gawee_dialect.interpreter.scalars import Evaluate, evaluate_scalar, floats_of

SCALARS: dict[type[Operation], Evaluate] = {**ARITH, **MATH}

IndexGrid = Callable[[int], Array]
"""Gives the index of a loop at every point that is being evaluated."""


def gather(op: Operation, array: Array, indices: Sequence[Array]) -> Array:
    """Read one element per index; the indices broadcast.

    Raises InterpretationError where an index is outside the array.
    """
    check_indices(op.operands[0], array, indices)
    return take(array, indices)


def check_indices(memory: SSAValue, array: Array, indices: Sequence[Array]) -> None:
    """Raise InterpretationError where an index is outside of an array; the indices broadcast."""
    for axis, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        if isinstance(index, np.integer) and 0 <= int(index) < size:
            continue
        outside = np.logical_or(np.less(index, 0), np.greater_equal(index, size))
        if np.any(outside):
            wrong = np.asarray(index)[np.asarray(outside)].flat[0]
            raise InterpretationError(
                f"index {wrong} is out of bounds for dimension {axis} of size {size} "
                f"('{memory.type}')"
            )


def axis_size(array: Array, axis: Array) -> np.int64:
    """Return the size of an axis; raises InterpretationError for one that the array has not."""
    number, count = int(axis), np.ndim(array)
    if not 0 <= number < count:
        raise InterpretationError(f"expected one of {count} dimensions, got {number}")
    return np.int64(np.shape(array)[number])


def needed_ops(block: Block, values: Sequence[SSAValue]) -> list[Operation]:
    """Return the ops of a block that some values are computed by, in order."""
    needed: set[Operation] = set()
    open_values = list(values)
    while open_values:
        owner = open_values.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in needed:
            needed.add(owner)
            open_values.extend(owner.operands)
    return [op for op in block.ops if op in needed]


def evaluate_values(
    interpreter: Interpreter,
    block: Block,
    arguments: Mapping[SSAValue, Array],
    index_of: IndexGrid,
    values: Sequence[SSAValue],
) -> list[Array]:
    """Compute values of a block at every point, given its arguments as arrays."""
    known = dict(arguments)

    floats = floats_of(interpreter)

    def lookup(value: SSAValue) -> Array:
        return known[value] if value in known else interpreter.get_values((value,))[0]

    def evaluate(wanted: Sequence[SSAValue]) -> list[Array]:
        for op in needed_ops(block, wanted):
            if op.results[0] not in known:
                operands = [lookup(operand) for operand in op.operands]
                own = floats.scalars.get(type(op))
                result = _evaluate_op(op, operands, index_of, own)
                known[op.results[0]] = floats.taken_up(result)
        return [lookup(value) for value in wanted]

    asserted = assertions(block)  # before what relies on them: an index that is read at
    for op, holds in zip(asserted, evaluate([op.arg for op in asserted]), strict=True):
        require(holds, op.msg.data)
    return evaluate(values)


def yielded_elements(interpreter: Interpreter, body: Block, shape: tuple[int, ...]) -> Array:
    """Compute what a body, whose arguments are indices, yields at every position of a shape."""
    grids: dict[SSAValue, Array] = {
        value: index_grid(dim, shape) for dim, value in enumerate(body.args)
    }
    terminator = body.last_op
    assert terminator is not None
    (elements,) = evaluate_values(
        interpreter, body, grids, lambda dim: index_grid(dim, shape), terminator.operands
    )
    return elements


def _evaluate_op(
    op: Operation, operands: Sequence[Array], index_of: IndexGrid, own: Evaluate | None
) -> Array:
    evaluate = own or SCALARS.get(type(op))
    if evaluate is not None:
        return evaluate_scalar(evaluate, op, operands)
    if isinstance(op, linalg.ops.IndexOp):
        return index_of(op.dim.value.data)
    if isinstance(op, tensor.ExtractOp | memref.LoadOp):
        return gather(op, operands[0], operands[1:])
    raise InterpretationError(f"unsupported op '{op.name}' in a body")


PIECE_ELEMENTS = 1 << 23
"""The most elements that an intermediate array of a reduction may have."""

SMALL_WINDOW = 64
"""Reductions of up to so many points go point by point: whole rows of outputs at a time."""

Combiner: TypeAlias = np.ufunc | Extreme

COMBINERS: dict[type[Operation], Combiner] = {
    arith.AddfOp: np.add,
    arith.AddiOp: np.add,
    arith.MulfOp: np.multiply,
    arith.MuliOp: np.multiply,
    arith.MaximumfOp: maximum,
    arith.MinimumfOp: minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
"""Ops that combine an accumulator with a value, in either operand order."""


@dataclass(frozen=True)
class Nest:
    """A loop nest: its body, the trip counts, and its operands with one axis per loop."""

    interpreter: Interpreter
    body: Block
    ranges: tuple[int, ...]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    outer: tuple[int, ...]
    """The loops that not every output is indexed by, alone: they run in order."""

    @property
    def everywhere(self) -> tuple[slice, ...]:
        """The box of all points."""
        return tuple(slice(0, size) for size in self.ranges)

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What the body yields, one value per output."""
        terminator = self.body.last_op
        assert terminator is not None
        return terminator.operands

    def evaluate(self, box: Sequence[slice], values: Sequence[SSAValue]) -> list[Array]:
        """Compute values of the body at every point of a box."""
        operands = (*self.inputs, *self.outputs)
        arguments: dict[SSAValue, Array] = {
            argument: part(operand, box)
            for argument, operand in zip(self.body.args, operands, strict=True)
        }

        def index_of(dim: int) -> Array:
            return part(index_grid(dim, self.ranges), box)

        return evaluate_values(self.interpreter, self.body, arguments, index_of, values)

    def write(self, box: Sequence[slice], results: Sequence[Array]) -> None:
        """Store one result per output at every point of a box."""
        for output, result in zip(self.outputs, results, strict=True):
            part(output, box)[...] = result


def run_nest(
    interpreter: Interpreter,
    body: Block,
    maps: Sequence[AffineMap],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> None:
    """Run a structured op on arrays, writing into `outputs`.

    Raises InterpretationError where a map leaves an operand or an op of the body cannot run.
    """
    ranges = loop_ranges(maps, [np.shape(array) for array in (*inputs, *outputs)])
    if 0 in ranges:
        return
    input_maps, output_maps = maps[: len(inputs)], maps[len(inputs) :]
    views = [
        operand_view(array, affine_map, ranges)
        for array, affine_map in zip(inputs, input_maps, strict=True)
    ]
    targets: list[Array] = []
    for array, affine_map in zip(outputs, output_maps, strict=True):
        view = loop_view(array, affine_map, ranges)
        if view is None:
            raise InterpretationError(f"unsupported map of an output, '{affine_map}'")
        targets.append(view)
    inner = frozenset(range(len(ranges))).intersection(*map(own_loops, output_maps))
    outer = tuple(dim for dim in range(len(ranges)) if dim not in inner and ranges[dim] > 1)
    run_on_views(Nest(interpreter, body, ranges, tuple(views), tuple(targets), outer))


def own_loops(affine_map: AffineMap) -> set[int]:
    """Return the loops that index a dimension alone, and no other dimension."""
    alone = [expr.position for expr in affine_map.results if isinstance(expr, AffineDimExpr)]
    mixed = {
        inner.position
        for expr in affine_map.results
        if not isinstance(expr, AffineDimExpr)
        for inner in expr.dfs()
        if isinstance(inner, AffineDimExpr)
    }
    return {dim for dim in alone if alone.count(dim) == 1 and dim not in mixed}


def run_on_views(nest: Nest) -> None:
    """Run a nest, writing into its outputs."""
    reduction = recognise(nest) if nest.outer else None
    if reduction is None:
        return _run_in_order(nest, nest.everywhere)
    combiner, value = reduction
    factors = product_of(nest.body, value) if combiner is np.add else None
    points = prod(nest.ranges[dim] for dim in nest.outer)
    if factors is None and points <= SMALL_WINDOW:
        return _run_in_order(nest, nest.everywhere)
    for box in pieces(nest, factors):
        if factors is None:
            (terms,) = nest.evaluate(box, [value])
            terms = in_loop_order(_along_outer(terms, nest))
            result = _reduce(combiner, terms, nest.outer)
        else:
            # A constant factor has no axes.
            axes = (1,) * len(nest.ranges)
            lhs, rhs = (
                np.broadcast_to(each, each.shape or axes) for each in nest.evaluate(box, factors)
            )
            absent = [dim for dim in nest.outer if lhs.shape[dim] == rhs.shape[dim] == 1]
            result = contract(_along_outer(lhs, nest, absent), rhs, nest.outer)
        target = part(nest.outputs[0], box)
        target[...] = combiner(target, result)


def _run_in_order(nest: Nest, box: Sequence[slice]) -> None:
    for point in product(*(range(nest.ranges[dim]) for dim in nest.outer)):
        where = list(box)
        for dim, index in zip(nest.outer, point, strict=True):
            where[dim] = slice(index, index + 1)
        nest.write(where, nest.evaluate(where, nest.yielded))


def recognise(nest: Nest) -> tuple[Combiner, SSAValue] | None:
    """Return (combiner, value) where the body only combines its accumulator with a value.

    yield combiner(accumulator, value), in either order, the value independent of the accumulator.
    """
    accumulator = nest.body.args[-1]
    op = nest.yielded[0].owner
    if len(nest.outputs) != 1 or not isinstance(op, Operation) or op.parent is not nest.body:
        return None
    combiner = COMBINERS.get(type(op))
    boolean = nest.outputs[0].dtype == np.bool_ and isinstance(op, arith.AddiOp | arith.MuliOp)
    others = [operand for operand in op.operands if operand is not accumulator]
    if combiner is None or boolean or accumulator.uses.get_length() != 1 or len(others) != 1:
        return None
    return combiner, others[0]


def product_of(body: Block, value: SSAValue) -> Sequence[SSAValue] | None:
    """Return the two factors of a value that the body computes as a product."""
    op = value.owner
    if isinstance(op, arith.MulfOp | arith.MuliOp) and op.parent is body:
        return op.operands
    return None


def pieces(nest: Nest, factors: Sequence[SSAValue] | None) -> Iterator[tuple[slice, ...]]:
    """Cut the parallel loops so that what is computed on the way stays in bounds.

    A product needs its two operands in matrix form; anything else the whole nest.
    """

    def largest(box: Sequence[slice]) -> Sequence[int]:
        if factors is None or not nest.inputs:
            return [where.stop - where.start for where in box]
        return max((part(operand, box).shape for operand in nest.inputs), key=prod)

    def cut(box: tuple[slice, ...]) -> Iterator[tuple[slice, ...]]:
        shape = largest(box)
        longer = [dim for dim, size in enumerate(shape) if size > 1 and dim not in nest.outer]
        if prod(shape) <= PIECE_ELEMENTS or not longer:
            yield box
            return
        # The first of the loops: its pieces are contiguous in memory.
        dim = longer[0]
        middle = box[dim].start + shape[dim] // 2
        for where in (slice(box[dim].start, middle), slice(middle, box[dim].stop)):
            yield from cut((*box[:dim], where, *box[dim + 1 :]))

    yield from cut(nest.everywhere)


def _along_outer(array: Array, nest: Nest, dims: Sequence[int] | None = None) -> Array:
    """Repeat an array along reduction loops that it does not depend on: each trip counts."""
    shape: list[int] = list(array.shape or (1,) * len(nest.ranges))
    for dim in nest.outer if dims is None else dims:
        shape[dim] = nest.ranges[dim]
    return np.broadcast_to(array, shape)


def _reduce(combiner: Combiner, terms: Array, axes: tuple[int, ...]) -> Array:
    # Sums are rounded once: those of float16 are taken in float32, those of float32 in float64.
    wide = np.dtype(np.float32) if is_half(terms.dtype) else terms.dtype
    if combiner is np.add:
        wide = total_dtype(wide)
    result = combiner.reduce(terms, axis=axes, dtype=wide, keepdims=True)
    return result.astype(terms.dtype, copy=False)


def uses_initial_value(body: Block, output: int, outputs: int) -> bool:
    """Whether a body reads what is in an output before it writes it."""
    return body.args[len(body.args) - outputs + output].uses.get_length() > 0
