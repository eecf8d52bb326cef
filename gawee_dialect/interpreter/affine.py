"""What affine ops compute: their maps at the values of their operands."""

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import numpy as np
from xdsl.dialects import affine
from xdsl.dialects.builtin import DenseIntElementsAttr
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
from gawee_dialect.interpreter.loop_views import box
from gawee_dialect.interpreter.scf import iterations
from gawee_dialect.interpreter.structured import gather
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


def _groups(bounds: Sequence[int], sizes: DenseIntElementsAttr) -> list[Sequence[int]]:
    """Return the bounds of each loop of a nest: of the lower ones the greatest counts."""
    rest, found = iter(bounds), list[Sequence[int]]()
    for size in sizes.get_values():
        found.append([*islice(rest, size)])
    return found


@register_impls
class AffineFunctions(OpFunctions):
    """Implementations of index arithmetic, accesses and loops by affine maps."""

    @impl(affine.ApplyOp)
    def apply(
        self, interpreter: Interpreter, op: affine.ApplyOp, args: PythonValues
    ) -> PythonValues:
        return tuple(map(np.int64, results(op.map.data, args)))

    @impl(affine.MinOp)
    def min_(self, interpreter: Interpreter, op: affine.MinOp, args: PythonValues) -> PythonValues:
        return (np.int64(min(results(op.map.data, args))),)

    @impl(MaxOp)
    def max_(self, interpreter: Interpreter, op: MaxOp, args: PythonValues) -> PythonValues:
        return (np.int64(max(results(op.map.data, args))),)

    @impl(affine.LoadOp)
    def load(self, interpreter: Interpreter, op: affine.LoadOp, args: PythonValues) -> PythonValues:
        memory, *indices = args
        where = results(op.map.data, indices)
        return (gather(op, memory, [np.asarray(index) for index in where]),)

    @impl(affine.StoreOp)
    def store(
        self, interpreter: Interpreter, op: affine.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, memory, *indices = args
        where = results(op.map.data, indices)
        box(memory, where, [1] * len(where), [1] * len(where))[...] = value
        return ()

    @impl(affine.ForOp)
    def for_(self, interpreter: Interpreter, op: affine.ForOp, args: PythonValues) -> PythonValues:
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
        split = op.lowerBoundsMap.data.num_dims + op.lowerBoundsMap.data.num_symbols
        lower = _groups(results(op.lowerBoundsMap.data, args[:split]), op.lowerBoundsGroups)
        upper = _groups(results(op.upperBoundsMap.data, args[split:]), op.upperBoundsGroups)
        steps = [step.value.data for step in op.steps]
        for indices in iterations([*map(max, lower)], [*map(min, upper)], steps):
            interpreter.run_ssacfg_region(op.body, indices, "affine_parallel")
        return ()

    @impl_terminator(affine.YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: affine.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
