"""Loop nests on exact numbers: structured ops of linalg, and `gawee.kernel`."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects import linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.kernel import KernelOp, Number, element_of, shape_of
from gawee_dialect.instruments.prove.fresh import filled
from gawee_dialect.instruments.prove.views import target_by_loops, view_by_loops, write
from gawee_dialect.interpreter.arrays import Array, attribute_value, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.kernel import finish
from gawee_dialect.interpreter.linalg import broadcast_maps
from gawee_dialect.interpreter.loop_views import loop_ranges
from gawee_dialect.interpreter.structured import Nest, own_loops, run_on_views


def run_nest(
    interpreter: Interpreter,
    body: Block,
    maps: Sequence[AffineMap],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
) -> None:
    """Run a structured op, writing into `outputs`; raises InterpretationError."""
    ranges = loop_ranges(maps, [np.shape(array) for array in (*inputs, *outputs)])
    if 0 in ranges:
        return
    first = len(inputs)
    views = [view_by_loops(*each, ranges) for each in zip(inputs, maps[:first], strict=True)]
    targets = [target_by_loops(*each, ranges) for each in zip(outputs, maps[first:], strict=True)]
    written = [view for view in targets if view is not None]
    if len(written) < len(targets):
        raise InterpretationError("unsupported map of an output")
    inner = frozenset(range(len(ranges))).intersection(*map(own_loops, maps[first:]))
    outer = tuple(dim for dim in range(len(ranges)) if dim not in inner and ranges[dim] > 1)
    run_on_views(Nest(interpreter, body, ranges, tuple(views), tuple(written), outer))


def _run(
    interpreter: Interpreter,
    op: Operation,
    body: Block,
    maps: Sequence[AffineMap],
    args: PythonValues,
    outputs: int,
) -> PythonValues:
    inputs, initial = args[: len(args) - outputs], args[len(args) - outputs :]
    targets = initial if not op.results else tuple(each.copy() for each in initial)
    run_nest(interpreter, body, maps, inputs, targets)
    return targets if op.results else ()


def run_structured(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    """Run any structured op: tensors give new arrays, memrefs are written in place."""
    assert isinstance(op, LinalgStructuredOperation)
    maps = [attribute.data for attribute in op.get_indexing_maps()]
    return _run(interpreter, op, op.body.block, maps, args, len(op.outputs))


def structured_functions(kinds: frozenset[type[Operation]]) -> type[OpFunctions]:
    """Make the implementations of every structured op among some classes."""
    return _functions_for(
        frozenset(kind for kind in kinds if issubclass(kind, LinalgStructuredOperation))
    )


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    members = {f"run_{index}": impl(each)(run_structured) for index, each in enumerate(classes)}
    return register_impls(type("ExactStructuredFunctions", (OpFunctions,), members))


def accumulate(
    interpreter: Interpreter, op: KernelOp, initial: Number, views: Sequence[Array]
) -> Array:
    """Return the accumulator of every parallel point; reduction axes have size 1."""
    first = op.num_parallel
    shape = (*op.sizes[:first], *(1 for _ in op.sizes[first:]))
    type = initial.get_type()
    accumulator = filled(shape, attribute_value(initial, type), dtype_of(type))
    outer = tuple(dim for dim in range(first, len(op.sizes)) if op.sizes[dim] > 1)
    if 0 not in op.sizes:
        block = op.accumulate.block
        run_on_views(Nest(interpreter, block, op.sizes, tuple(views), (accumulator,), outer))
    return accumulator


@register_impls
class ExactNests(OpFunctions):
    """Kernels, and what xDSL has no structured op for."""

    @impl(linalg.ops.BroadcastOp)
    def broadcast(
        self, interpreter: Interpreter, op: linalg.ops.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        maps = broadcast_maps(op, args[1].ndim)
        return _run(interpreter, op, op.hidden_region.block, maps, args, 1)

    @impl(KernelOp)
    def kernel(self, interpreter: Interpreter, op: KernelOp, args: PythonValues) -> PythonValues:
        parallel = (*op.sizes[: op.num_parallel], *(1 for _ in op.sizes[op.num_parallel :]))
        maps, count = op.maps, len(op.inputs)
        views = [
            view_by_loops(array, affine_map, op.sizes)
            for array, affine_map in zip(args[:count], maps[:count], strict=True)
        ]
        if op.initial is not None:
            views.append(accumulate(interpreter, op, op.initial, views))
        element = element_of(op.target)
        outside = 0 if op.outside is None else attribute_value(op.outside, element)
        result = filled(shape_of(op.target), outside, dtype_of(element))
        total = finish(interpreter, op.finish.block, op.yielded(op.finish), views)
        write(total, maps[-1], parallel, result)
        return stored(result, args[count:])


def stored(result: Array, output: PythonValues) -> PythonValues:
    """Return a tensor, or write a buffer."""
    if not output:
        return (result,)
    output[0][...] = result
    return ()
