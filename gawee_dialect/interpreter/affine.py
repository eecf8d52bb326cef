"""What affine ops compute: their maps at the values of their operands."""

import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import affine
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir.affine import AffineConstraintKind, AffineMap, AffineSet
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.loops.affine import check_index_width, grouped
from gawee_dialect.interpreter.scf import iterations, run_compiled
from gawee_dialect.interpreter.structured import check_indices, gather
from gawee_dialect.interpreter.vector import row_from, vector_shape
from gawee_dialect.upstream.affine import MaxOp


def results(map: AffineMap, values: Sequence[Array]) -> list[int]:
    """Evaluate every result of a map; `values` are the dimensions, then the symbols."""
    numbers = [int(value) for value in values]
    return list(map.eval(numbers[: map.num_dims], numbers[map.num_dims :]))


COMPARED: Mapping[AffineConstraintKind, Callable[[int, int], bool]] = {
    AffineConstraintKind.ge: operator.ge,
    AffineConstraintKind.le: operator.le,
    AffineConstraintKind.eq: operator.eq,
}


def holds(condition: AffineSet, values: Sequence[Array]) -> bool:
    """Whether values, the dimensions and then the symbols, are in a set."""
    numbers = [int(value) for value in values]
    dims, symbols = numbers[: condition.num_dims], numbers[condition.num_dims :]
    return all(
        COMPARED[each.kind](each.lhs.eval(dims, symbols), each.rhs.eval(dims, symbols))
        for each in condition.constraints
    )


def _places(map: AffineMap, values: Sequence[Array]) -> list[Array]:
    return [np.asarray(place) for place in results(map, values)]


def _index(value: int) -> np.int64:
    check_index_width(value)
    return np.int64(value)


@register_impls
class AffineFunctions(OpFunctions):
    """Implementations of index arithmetic, accesses and loops by affine maps."""

    @impl(affine.ApplyOp)
    def apply(
        self, interpreter: Interpreter, op: affine.ApplyOp, args: PythonValues
    ) -> PythonValues:
        return tuple(map(_index, results(op.map.data, args)))

    @impl(affine.MinOp)
    def min_(self, interpreter: Interpreter, op: affine.MinOp, args: PythonValues) -> PythonValues:
        return (_index(min(results(op.map.data, args))),)

    @impl(MaxOp)
    def max_(self, interpreter: Interpreter, op: MaxOp, args: PythonValues) -> PythonValues:
        return (_index(max(results(op.map.data, args))),)

    @impl(affine.LoadOp)
    def load(self, interpreter: Interpreter, op: affine.LoadOp, args: PythonValues) -> PythonValues:
        memory, *indices = args
        return (gather(op, memory, _places(op.map.data, indices)),)

    @impl(affine.StoreOp)
    def store(
        self, interpreter: Interpreter, op: affine.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, memory, *indices = args
        where = results(op.map.data, indices)
        check_indices(op.memref, memory, [np.asarray(index) for index in where])
        memory[tuple(where)] = value
        return ()

    @impl(affine.VectorLoadOp)
    def vector_load(
        self, interpreter: Interpreter, op: affine.VectorLoadOp, args: PythonValues
    ) -> PythonValues:
        memory, *indices = args
        (lanes,) = vector_shape(op.result.type)
        return (row_from(memory, _places(op.map.data, indices), lanes)[:lanes].copy(),)

    @impl(affine.VectorStoreOp)
    def vector_store(
        self, interpreter: Interpreter, op: affine.VectorStoreOp, args: PythonValues
    ) -> PythonValues:
        value, memory, *indices = args
        row_from(memory, _places(op.map.data, indices), value.size)[: value.size] = value
        return ()

    @impl(affine.ForOp)
    def for_(self, interpreter: Interpreter, op: affine.ForOp, args: PythonValues) -> PythonValues:
        compiled = run_compiled(interpreter, op)
        if compiled is not None:
            return compiled
        first = len(op.lowerBoundOperands)
        last = first + len(op.upperBoundOperands)
        lower = max(results(op.lowerBoundMap.data, args[:first]))
        upper = min(results(op.upperBoundMap.data, args[first:last]))
        carried = args[last:]
        for index in range(lower, upper, op.step.value.data):
            carried = interpreter.run_ssacfg_region(
                op.body, (np.int64(index), *carried), "affine_loop"
            )
        return tuple(carried)

    @impl(affine.IfOp)
    def if_(self, interpreter: Interpreter, op: affine.IfOp, args: PythonValues) -> PythonValues:
        region = op.then_region if holds(op.condition.data, args) else op.else_region
        return interpreter.run_ssacfg_region(region, (), "affine_if") if region.blocks else ()

    @impl(affine.ParallelOp)
    def parallel(
        self, interpreter: Interpreter, op: affine.ParallelOp, args: PythonValues
    ) -> PythonValues:
        if op.results:
            raise InterpretationError(f"expected no reductions, got {len(op.results)}")
        if run_compiled(interpreter, op) is not None:
            return ()
        split = op.lowerBoundsMap.data.num_dims + op.lowerBoundsMap.data.num_symbols
        lower = grouped(results(op.lowerBoundsMap.data, args[:split]), op.lowerBoundsGroups)
        upper = grouped(results(op.upperBoundsMap.data, args[split:]), op.upperBoundsGroups)
        steps = [step.value.data for step in op.steps]
        for indices in iterations([*map(max, lower)], [*map(min, upper)], steps):
            interpreter.run_ssacfg_region(op.body, indices, "affine_parallel")
        return ()

    @impl_terminator(affine.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: affine.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
