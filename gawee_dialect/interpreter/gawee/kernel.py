"""Kernels on whole arrays: each input gathered over the iteration space, then the two regions."""

from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, YieldOp, element_of
from gawee_dialect.dialect.open_size import sizes_at
from gawee_dialect.interpreter.arrays import Array, attribute_value, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.loop_views import element_indices, loop_view, operand_view
from gawee_dialect.interpreter.scalars import floats_of
from gawee_dialect.interpreter.structured import Nest, evaluate_values, run_on_views


def counted(op: KernelOp, counts: Sequence[int]) -> tuple[tuple[int, ...], Sequence[int]]:
    """Return the bounds and the shape of the output where names have values."""
    if not counts:
        return op.sizes, op.target_shape
    for name, value in zip(op.names, counts, strict=True):
        if not name.holds(value):
            text = f"expected size '{name.name}' to be {name.range_text()}, got {value}"
            raise InterpretationError(text)
    values = {name.name: value for name, value in zip(op.names, counts, strict=True)}
    return sizes_at(op.sizes, values), sizes_at(op.target_shape, values)


def accumulate(
    interpreter: Interpreter,
    op: KernelOp,
    sizes: tuple[int, ...],
    initial: Number,
    views: Sequence[Array],
) -> Array:
    """Return the accumulator of every parallel point; reduction axes have size 1."""
    first = op.num_parallel
    shape = (*sizes[:first], *(1 for _ in sizes[first:]))
    type = initial.get_type()
    value = attribute_value(initial, type)
    accumulator = floats_of(interpreter).filled(shape, value, dtype_of(type))
    outer = tuple(dim for dim in range(first, len(sizes)) if sizes[dim] > 1)
    if 0 not in sizes:
        block = op.accumulate.block
        run_on_views(Nest(interpreter, block, sizes, tuple(views), (accumulator,), outer))
    return accumulator


def finish(
    interpreter: Interpreter, block: Block, value: SSAValue, values: Sequence[Array]
) -> Array:
    """Return the element of the output at every parallel point."""
    arguments: dict[SSAValue, Array] = dict(zip(block.args, values, strict=True))

    def no_index(dim: int) -> Array:
        raise InterpretationError("unsupported index of a loop in a kernel")

    (result,) = evaluate_values(interpreter, block, arguments, no_index, [value])
    return result


def write(result: Array, affine_map: AffineMap, sizes: Sequence[int], output: Array) -> None:
    """Store the element of every parallel point in its place."""
    view = loop_view(output, affine_map, sizes)
    if view is not None:
        view[...] = result
        return
    indices = element_indices(affine_map, sizes, output.shape)
    points = np.broadcast_shapes(*(index.shape for index in indices), (1,) * len(sizes))
    output[tuple(index.astype(np.int64) for index in indices)] = np.broadcast_to(result, points)


def stored(result: Array, output: PythonValues) -> PythonValues:
    """Return a tensor, or write a buffer."""
    if not output:
        return (result,)
    output[0][...] = result
    return ()


@register_impls
class KernelFunctions(OpFunctions):
    """What the ops of `dialect/kernels/kernel.py` compute."""

    @impl(KernelOp)
    def kernel(self, interpreter: Interpreter, op: KernelOp, args: PythonValues) -> PythonValues:
        maps, count, end = op.maps, len(op.inputs), len(args) - len(op.counts)
        sizes, shape = counted(op, args[end:])
        output = args[count:end]
        parallel = (*sizes[: op.num_parallel], *(1 for _ in sizes[op.num_parallel :]))
        views = [
            operand_view(array, affine_map, sizes)
            for array, affine_map in zip(args[:count], maps[:count], strict=True)
        ]
        if op.initial is not None:
            views.append(accumulate(interpreter, op, sizes, op.initial, views))
        element = element_of(op.target)
        outside = 0 if op.outside is None else attribute_value(op.outside, element)
        result = floats_of(interpreter).filled(
            output[0].shape if output else shape, outside, dtype_of(element)
        )
        total = finish(interpreter, op.finish.block, op.yielded(op.finish), views)
        write(total, maps[-1], parallel, result)
        return stored(result, output)

    @impl_terminator(YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
