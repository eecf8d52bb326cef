"""What linalg ops compute, on tensors and on memrefs.

Structured ops are run by their maps, loops and body alone, whatever their class; those that xDSL
defines otherwise (broadcast) have their own entry.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects import linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.arrays import in_loop_order
from gawee_dialect.dialect.special_functions import softmax
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.structured import own_loops, run_nest, uses_initial_value
from gawee_dialect.upstream.linalg import BroadcastOp, IndexOp, PackOp, SoftmaxOp, UnpackOp
from gawee_dialect.upstream.linalg.named_op import element_shape


def run_destination_style(
    interpreter: Interpreter,
    op: Operation,
    body: Block,
    maps: Sequence[AffineMap],
    args: PythonValues,
    outputs: int,
) -> PythonValues:
    """Run a structured op: tensors give new arrays, memrefs are written in place."""
    inputs, initial = args[: len(args) - outputs], args[len(args) - outputs :]
    if not op.results:
        run_nest(interpreter, body, maps, inputs, initial)
        return ()
    results = tuple(
        _result_array(array, affine_map, uses_initial_value(body, index, outputs))
        for index, (array, affine_map) in enumerate(zip(initial, maps[len(inputs) :], strict=True))
    )
    run_nest(interpreter, body, maps, inputs, results)
    return results


def _result_array(initial: Array, affine_map: AffineMap, read: bool) -> Array:
    covered = len(own_loops(affine_map)) == len(affine_map.results)
    return np.empty_like(initial) if covered and not read else np.copy(initial)


def run_structured(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    """Run any structured op."""
    assert isinstance(op, LinalgStructuredOperation)
    maps = [attribute.data for attribute in op.get_indexing_maps()]
    return run_destination_style(interpreter, op, op.body.block, maps, args, len(op.outputs))


def structured_functions(kinds: frozenset[type[Operation]]) -> type[OpFunctions]:
    """Make the implementations of every structured op among some classes."""
    return _functions_for(
        frozenset(kind for kind in kinds if issubclass(kind, LinalgStructuredOperation))
    )


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    # Two classes may have one name: ours, and the one of xDSL that it derives from.
    members = {f"run_{index}": impl(each)(run_structured) for index, each in enumerate(classes)}
    return register_impls(type("StructuredFunctions", (OpFunctions,), members))


def broadcast_maps(op: BroadcastOp, rank: int) -> tuple[AffineMap, AffineMap]:
    """Return the maps of input and output, the loops being the axes of the output."""
    added = op.dimensions.get_values()
    kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in added)
    return AffineMap(rank, 0, kept), AffineMap.identity(rank)


@register_impls
class LinalgFunctions(OpFunctions):
    """Linalg ops that are not structured ops by class, and what bodies are made of."""

    @impl(BroadcastOp)
    def broadcast(
        self, interpreter: Interpreter, op: BroadcastOp, args: PythonValues
    ) -> PythonValues:
        maps = broadcast_maps(op, args[1].ndim)
        return run_destination_style(interpreter, op, op.hidden_region.block, maps, args, 1)

    @impl(IndexOp)
    def index(self, interpreter: Interpreter, op: IndexOp, args: PythonValues) -> PythonValues:
        raise InterpretationError("expected to be in the body of a structured op")

    @impl(linalg.ops.IndexOp)
    def xdsl_index(
        self, interpreter: Interpreter, op: linalg.ops.IndexOp, args: PythonValues
    ) -> PythonValues:
        raise InterpretationError("expected to be in the body of a structured op")

    @impl_terminator(linalg.ops.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: linalg.ops.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()


# Ops of linalg that are no loop nest by themselves, on whole arrays.


def _written(destination: Array, result: Array, *, is_tensor: bool) -> PythonValues:
    if is_tensor:
        return (in_loop_order(result),)
    destination[...] = result
    return ()


@register_impls
class AggregateFunctions(OpFunctions):
    """Implementations on tensors, and on memrefs, which are written in place."""

    @impl(SoftmaxOp)
    def softmax(self, interpreter: Interpreter, op: SoftmaxOp, args: PythonValues) -> PythonValues:
        axis = op.dimension.value.data
        wide = args[0].astype(np.promote_types(args[0].dtype, np.float32), copy=False)
        result = softmax(wide, axis).astype(args[0].dtype)
        return _written(args[1], result, is_tensor=op.result is not None)

    @impl(PackOp)
    def pack(self, interpreter: Interpreter, op: PackOp, args: PythonValues) -> PythonValues:
        source, destination, *padding = args
        tiling = op.tiling()
        missing = [(0, more) for more in tiling.missing(source.shape)]
        full = np.pad(source, missing, constant_values=padding[0] if padding else 0)
        split = full.reshape(tiling.split_shape(full.shape))
        result = split.transpose(tiling.packed_order())
        return _written(destination, result, is_tensor=op.result is not None)

    @impl(UnpackOp)
    def unpack(self, interpreter: Interpreter, op: UnpackOp, args: PythonValues) -> PythonValues:
        source, destination = args
        tiling, wanted = op.tiling(), element_shape(op.dest)
        split = source.transpose(np.argsort(tiling.packed_order()))
        whole = [int(np.prod([split.shape[axis] for axis in group])) for group in tiling.groups()]
        result = split.reshape(whole)[tuple(slice(0, size) for size in wanted)]
        return _written(destination, result, is_tensor=op.result is not None)
