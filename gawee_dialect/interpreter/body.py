"""Bodies of structured ops, evaluated on whole arrays: one array axis per loop.

An array in a body has the rank of the loop nest; along loops that it does not depend on, size 1.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import linalg, memref, tensor
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arith import ARITH
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.cf import assertions, require
from gawee_dialect.interpreter.loop_views import index_grid, take
from gawee_dialect.interpreter.math import MATH
from gawee_dialect.interpreter.scalars import Evaluate, evaluate_scalar, floats_of

SCALARS: dict[type[Operation], Evaluate] = {**ARITH, **MATH}

IndexGrid = Callable[[int], Array]
"""Gives the index of a loop at every point that is being evaluated."""


def gather(op: Operation, array: Array, indices: Sequence[Array]) -> Array:
    """Read one element per index; the indices broadcast.

    Raises InterpretationError where an index is outside the array.
    """
    for axis, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        outside = np.logical_or(np.less(index, 0), np.greater_equal(index, size))
        if np.any(outside):
            wrong = np.asarray(index)[np.asarray(outside)].flat[0]
            raise InterpretationError(
                f"index {wrong} is out of bounds for dimension {axis} of size {size} "
                f"('{op.operands[0].type}')"
            )
    return take(array, indices)


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
