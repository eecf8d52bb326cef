"""What rounding explains: how far f32 outputs may be from those of the same module in f64.

Some elements of outputs go by what no pass declares: the sign of a zero, or a last digit. A bitcast
shows the sign of a zero, atan2 turns by it, a comparison of two roundings goes by either. The graph
runs again with other signs of the zeros that its ops compute, and where passes may sum in another
order with other last digits of what they compute: an element that one of these runs moves further
than a pass may is decided by none of them. Zeros and digits of inputs stay what they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float32Type,
    FloatAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    UnitAttr,
    f64,
)
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.rewriter import Rewriter

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import find_function, output_names
from gawee_dialect.dialect.equation import IN_F64, EquationOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.indexing import ScatterOp
from gawee_dialect.dialect.graph.movement import MovementOp
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import (
    Tolerance,
    absolute_difference,
    magnitude,
    same_values,
)
from gawee_dialect.instruments.check.execute import CannotRun, Engine, Plan, is_array, plan_runs
from gawee_dialect.instruments.check.inputs import SPECIAL, DataSet
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program
from gawee_dialect.passes.numerics import EXACT, REASSOCIATES

# A module on tensors with f64 in the place of f32: what it computes but for rounding.

BY_BITS = (BitcastOp, arith.BitcastOp)
"""Ops that read a float as something else of its size."""


def in_f64(module: ModuleOp) -> ModuleOp | None:
    """Return a copy of a module that computes in f64; None where it has no f32, or needs its bits.

    In a buffer an element's size decides where the next one lies; C takes elements as they are.
    """
    if any(isinstance(op, BY_BITS) for op in module.walk()) or sources_of(module):
        return None
    copy = module.clone()
    blocks = [block for op in copy.walk() for region in op.regions for block in region.blocks]
    values: list[SSAValue] = [argument for block in blocks for argument in block.args]
    values += [result for op in copy.walk() for result in op.results]
    if any(isinstance(value.type, MemRefType) for value in values):
        return None
    changed = False
    for value in values:
        type = _wide(value.type)
        if type is not value.type:
            changed = True
            Rewriter.replace_value_with_new_type(value, type)
    for op in copy.walk():
        for attributes in (op.properties, op.attributes):
            attributes.update({name: _wide(each) for name, each in attributes.items()})
        if isinstance(op, EquationOp):
            op.attributes[IN_F64] = UnitAttr()
    return copy if changed else None


def _wide(attribute: Attribute) -> Attribute:
    """Return an attribute with f64 for f32, numbers as they are; itself where nothing changes."""
    if isinstance(attribute, Float32Type):
        return f64
    if isa(attribute, DenseIntOrFPElementsAttr):
        return _wide_constant(attribute)
    if isa(attribute, FloatAttr[Float32Type]):
        return FloatAttr(attribute.value.data, f64)
    if isa(attribute, ArrayAttr[Attribute]):
        parts = [_wide(each) for each in attribute.data]
        same = all(new is old for new, old in zip(parts, attribute.data, strict=True))
        return attribute if same else ArrayAttr(parts)
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr({name: _wide(each) for name, each in attribute.data.items()})
    if isinstance(attribute, ParametrizedAttribute):
        parameters = [_wide(each) for each in attribute.parameters]
        pairs = zip(parameters, attribute.parameters, strict=True)
        return attribute if all(a is b for a, b in pairs) else attribute.new(parameters)
    return attribute


def _wide_constant(attribute: DenseIntOrFPElementsAttr) -> Attribute:
    if not isinstance(attribute.get_element_type(), Float32Type):
        return attribute
    type = TensorType(f64, attribute.get_shape())
    values = [float(value) for value in attribute.get_values() if not isinstance(value, tuple)]
    return DenseIntOrFPElementsAttr.from_list(type, values)


def arrays_in_f64(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays with those of f32 as f64."""
    return {
        name: array.astype(np.float64) if array.dtype == np.float32 else array
        for name, array in arrays.items()
    }


ORDER = 16
"""How much larger the error of a sum in another order may be: sums of thousands of terms one after
the other against NumPy's, which add up blocks; Winograd's tiles against either."""

CONSTANTS = 4
"""The same of two modules in f64, which differ by constants that were rounded to f32."""

NEAR = 2
"""A pass that uses more than one part in so many of what it may is a near miss."""

EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Reference:
    """A module that was run in f64: how each function ran, and what it returned for each data set.

    Data sets with NaN and infinities are left out: they come last.
    """

    plans: Mapping[str, Plan]
    outputs: Mapping[str, Sequence[Mapping[str, Array]]]


def reference_of(module: ModuleOp, data: Mapping[str, Sequence[DataSet]]) -> Reference | None:
    """Run the functions of a module in f64; None where it is at no level that can be."""
    copy = in_f64(module)
    if copy is None:
        return None
    try:
        plans = plan_runs(copy, dict.fromkeys(data, ()))
        outputs = {
            name: plan.run([wide(each) for each in data[name] if each.name != SPECIAL])
            for name, plan in plans.items()
        }
    except (CannotRun, GaweeError):
        return None
    return Reference(plans, outputs)


def wide(data: DataSet) -> DataSet:
    """Return a data set with f64 for f32."""
    return DataSet(arrays_in_f64(data.arrays), data.unwritten)


def explained_by(errors: Mapping[str, float], outputs: Mapping[str, Array], name: str) -> float:
    """Return how far roundings at every op move an output: its error, and one rounding of it."""
    return errors[name] + EPS * magnitude(outputs[name])


@dataclass(frozen=True)
class Excess:
    """An output that is further from another than rounding explains, or nearly so."""

    output: str
    index: tuple[int, ...]
    expected: float
    actual: float
    distance: float
    allowed: float

    @property
    def is_wrong(self) -> bool:
        """Whether rounding does not explain it."""
        return self.distance > self.allowed

    @property
    def text(self) -> str:
        """Where, and how far: `output 'y' at [0, 3]: expected 1.5, got 1.6, 0.1 apart, ...`."""
        at = f" at [{', '.join(map(str, self.index))}]" if self.index else ""
        return (
            f"output '{self.output}'{at}: expected {self.expected:.9g}, got {self.actual:.9g}, "
            f"{self.distance:.2g} apart, where rounding explains {self.allowed:.2g}"
        )


def excess(
    outputs: Mapping[str, Array],
    reference: Mapping[str, Array],
    errors: Mapping[str, float],
    order: int = ORDER,
) -> Sequence[Excess]:
    """Return the outputs that use a good part of what rounding explains, or more than that.

    That is `order` times the error before the pass, and so many roundings of the largest magnitude.
    """
    found: list[Excess] = []
    for name, expected in reference.items():
        if name not in errors or outputs[name].shape != expected.shape:
            continue
        distance = _distance(outputs[name], expected)
        index = tuple(map(int, np.unravel_index(int(np.argmax(distance)), distance.shape)))
        allowed = order * explained_by(errors, reference, name)
        largest = float(distance[index])
        if largest > allowed / NEAR:
            values = float(np.asarray(expected)[index]), float(np.asarray(outputs[name])[index])
            found.append(Excess(name, index, *values, largest, allowed))
    return found


def errors_of(outputs: Mapping[str, Array], reference: Mapping[str, Array]) -> dict[str, float]:
    """Return how far outputs are from those in f64, by name: those of f32, and wider ones that
    were computed of numbers rounded to f32."""
    errors: dict[str, float] = {}
    for name, expected in reference.items():
        dtype = outputs[name].dtype
        if expected.dtype != np.float64 or not expected.size:
            continue
        error = float(_distance(outputs[name], expected).max(initial=0.0))
        if dtype == np.float32 or (dtype == np.float64 and error > 0):
            errors[name] = error
    return errors


def _distance(left: Array, right: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return |left - right| in f64, 0 where either is not finite."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(first - second)
    return np.where(np.isfinite(first) & np.isfinite(second), distance, 0.0)


# How far outputs move where ops read their operands a unit in the last place off.
#
# Roundings inside of an op move its result as far, and those of another program with the same
# meaning are others: this is Monte Carlo arithmetic. By the error of one run alone, a result that
# is exact by chance would have to stay exact: rows of one number, whose mean a sum in another
# order misses by a rounding, which a small deviation then makes large.

TRIES = 4

WIDE = (np.dtype(np.float32), np.dtype(np.float64))
"""What ops compute in."""

NARROW = (np.dtype(np.float16),)
"""What they round results to: those are off. Operands of f16 are read as they are."""

JUMPS = frozenset(
    f"gawee.{name}"
    for name in (
        *("floor", "ceil", "round", "sign", "compare", "floor_div", "remainder", "fmod"),
        *("arg_max", "arg_min", "sort", "top_k", "bitcast", "non_max_suppression", "grid_sample"),
    )
)
"""Ops at whose jumps a last digit decides: of what they make nothing can be said so."""


class LastDigits(Interpreter.Listener):
    """Draws which way each element is off."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def read(self, op: Operation, inputs: PythonValues) -> PythonValues:
        """Return what an op reads in the place of its operands."""
        return self.moved(inputs, WIDE)

    def written(self, op: Operation, results: PythonValues) -> PythonValues:
        """Return what is in the place of an op's results."""
        return self.moved(results, NARROW)

    def moved(self, values: PythonValues, dtypes: Sequence[np.dtype[np.generic]]) -> PythonValues:
        """Return values with other last digits in arrays of some dtypes; equal ones stay equal."""
        arrays = (each for each in values if is_array(each) and each.dtype in dtypes)
        known = {id(each): self._moved(each) for each in arrays}
        return tuple(known.get(id(each), each) for each in values)

    def _moved(self, array: Array) -> Array:
        ways = self.random.choice((-np.inf, np.inf), array.shape).astype(array.dtype)
        is_moved = np.isfinite(array) & (array != 0)
        return np.where(is_moved, np.nextafter(array, ways), array)


class MovingMachine(Machine):
    """An interpreter in which ops read what a `LastDigits` makes of their operands."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        digits = next((each for each in self.listeners if isinstance(each, LastDigits)), None)
        if digits is None or not _computes(op):
            return super()._run_op(op, inputs)
        result = super()._run_op(op, digits.read(op, inputs))
        return OpImplResult(digits.written(op, result.values), result.terminator_value)


def _computes(op: Operation) -> bool:
    """Whether an op makes numbers that were not there; a scatter may add them up."""
    if isinstance(op, ScatterOp):
        return op.reduction.data != "none"
    return isinstance(op, GaweeOp) and not isinstance(op, MovementOp | ConstantOp)


def moved_by_last_digits(
    module: ModuleOp | None, function: str, data: DataSet
) -> Mapping[str, float]:
    """Return how far outputs of a graph move by name, without those that jump.

    That is half of it: a rounding is half a unit in the last place.
    """
    found = None if module is None else find_function(module, function)
    steady = [] if found is None else [*_steady_outputs(found)]
    if module is None or not steady:
        return {}
    usual = run_with(module, function, data, None)
    runs = [run_with(module, function, data, LastDigits(seed)) for seed in range(TRIES)]
    return {
        name: max(_last_digits_distance(each[name], usual[name]) for each in runs if each) / 2
        for name in steady
        if usual and any(runs)
    }


def _last_digits_distance(left: Array, right: Array) -> float:
    if right.dtype.kind != "f":
        return 0.0
    distance = absolute_difference(left, right)
    return float(np.where(np.isfinite(distance), distance, 0.0).max(initial=0.0))


def run_with(
    module: ModuleOp, function: str, data: DataSet, digits: LastDigits | None
) -> Mapping[str, Array]:
    """Return outputs with other digits, or the usual ones; none where the module does not run."""
    listeners = () if digits is None else (digits,)
    try:
        program = Program(module, function, listeners, kind=MovingMachine)
        with unwritten_memory(data.unwritten):
            return program.run(data.arrays)
    except GaweeError:
        return {}


def _steady_outputs(function: FuncOp) -> Iterator[str]:
    """Yield the outputs that no op with jumps is before."""
    last = function.body.block.last_op
    if not isinstance(last, func.ReturnOp):
        return
    for name, value in zip(output_names(function), last.operands, strict=False):
        waiting, seen = [value.owner], set[Operation]()
        while waiting:
            op = waiting.pop()
            if isinstance(op, Operation) and op not in seen:
                seen.add(op)
                waiting += [each.owner for inner in op.walk() for each in inner.operands]
        if not any(map(is_jump, (inner for op in seen for inner in op.walk()))):
            yield name


def is_jump(op: Operation) -> bool:
    """Whether a last digit of an op's operands decides what it makes."""
    if op.name != "gawee.cast":
        return op.name in JUMPS
    type = op.results[0].type
    return isa(type, TensorType[Attribute]) and not isinstance(type.element_type, AnyFloat)


Mask: TypeAlias = NDArray[np.bool_]

UNDECIDED_TRIES = 8
"""Runs: a tie of two roundings is broken in one of two of them."""

SIGNS = ((1,), (-1,))
"""Which signs zeros may have in the first runs; both in later ones."""


class Undecided(LastDigits):
    """Draws signs of zeros that ops compute, and where digits may move, which way these do."""

    def __init__(self, seed: int, *, digits: bool) -> None:
        super().__init__(seed)
        self._digits = digits
        self._signs = SIGNS[seed] if seed < len(SIGNS) else (1, -1)

    def read(self, op: Operation, inputs: PythonValues) -> PythonValues:
        return inputs if is_jump(op) or not self._digits else super().read(op, inputs)

    def written(self, op: Operation, results: PythonValues) -> PythonValues:
        if isinstance(op, BitcastOp):
            return results
        moves = self._digits and not is_jump(op)
        digits = self.moved(results, WIDE + NARROW) if moves else results
        return tuple(self._signed(each) if is_array(each) else each for each in digits)

    def _signed(self, array: Array) -> Array:
        """Return an array with other signs of zeros: extremes of both zeros may be either."""
        if array.dtype.kind != "f" or array.all():
            return array
        signs = self.random.choice(self._signs, array.shape).astype(array.dtype)
        return np.where(array == 0, np.copysign(array, signs), array)


def undecided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    tolerance: Tolerance,
    *,
    digits: bool = True,
) -> Mapping[str, Mask]:
    """Return which elements of outputs no pass decides that keeps to a tolerance, where any are.

    Without `digits` that is by signs of zeros alone. Nothing is said of a module that does not run,
    or is no graph.
    """
    if module is None or not any(map(_computes, module.walk())):
        return {}
    digits &= tolerance.allowed != (EXACT,)
    usual = run_with(module, function, data, None)
    found = {name: np.zeros(array.shape, np.bool_) for name, array in usual.items()}
    for seed in range(UNDECIDED_TRIES):
        moved = run_with(module, function, data, Undecided(seed, digits=digits))
        for name, array in moved.items():
            found[name] |= tolerance.wrong(array, usual[name])
    return {name: mask for name, mask in found.items() if mask.any()}


def with_undecided(
    outputs: Mapping[str, Array], expected: Mapping[str, Array], masks: Mapping[str, Mask]
) -> Mapping[str, Array]:
    """Return outputs that are what was expected where no pass decides what they are."""
    return {
        name: np.where(masks[name], expected[name], array) if name in masks else array
        for name, array in outputs.items()
    }


def decided(
    module: ModuleOp | None,
    function: str,
    data: DataSet,
    outputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> Mapping[str, Array]:
    """Return outputs of a graph that may sum in another order, as expected where none decides."""
    masks = undecided(module, function, data, Tolerance((REASSOCIATES,)))
    return with_undecided(outputs, expected, masks)


def undecided_text(output: str, mask: Mask) -> str:
    """Say how many elements are left out: `2 of 5 elements of 'y' go by ...`."""
    return f"{mask.sum()} of {mask.size} elements of '{output}' go by signs of zeros or last digits"


# Which ops no data reaches: their values could be others, and no output would show it.

MOST_NUMBERS = 2_000_000
"""Numbers times ops of a network that is looked at: it runs once for each op."""


class Change(Interpreter.Listener):
    """Which op's results are others."""

    def __init__(self) -> None:
        self.op: Operation | None = None


class ChangedMachine(Machine):
    """An interpreter in which the results of the op that a `Change` names are others."""

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        result = super()._run_op(op, inputs)
        if not any(isinstance(each, Change) and each.op is op for each in self.listeners):
            return result
        return OpImplResult(tuple(map(_changed, result.values)), result.terminator_value)


def _changed(value: object) -> object:
    """Return another array: each element is off by one and by its own magnitude."""
    if not is_array(value):
        return value
    if value.dtype.kind == "b":
        return ~value.astype(np.bool_)
    if value.dtype.kind == "f":
        wide = value.astype(np.float64)
        return (wide + 1.0 + np.abs(wide)).astype(value.dtype)
    return (value.astype(np.int64) + 1).astype(value.dtype)


def unreached(
    plans: Mapping[str, Plan], data: Mapping[str, Sequence[DataSet]]
) -> Sequence[Operation]:
    """Return the ops on tensors whose values no output depends on, on none of the data.

    Nothing is said of large networks, and of what does not run in the interpreter.
    """
    return [op for name, plan in plans.items() for op in _unreached(plan, data[name])]


def _unreached(plan: Plan, data: Sequence[DataSet]) -> Iterator[Operation]:
    function = find_function(plan.module, plan.function)
    if plan.engine is not Engine.INTERPRETER or function is None or plan.native:
        return
    ops = [op for op in function.body.block.ops if _makes_tensors(op)]
    numbers = sum(array.size for array in data[0].arrays.values())
    if numbers * len(ops) > MOST_NUMBERS:
        return
    change = Change()
    try:
        program = Program(plan.module, plan.function, (change,), kind=ChangedMachine)
        usual = [_run(program, each) for each in data if each.name != SPECIAL]
    except GaweeError:
        return
    for op in ops:
        change.op = op
        if not any(_differs(program, each, was) for each, was in zip(data, usual, strict=False)):
            yield op


def _makes_tensors(op: Operation) -> bool:
    types = [result.type for result in op.results]
    return any(isa(each, TensorType[Attribute]) for each in types) and op.name != "tensor.empty"


def _run(program: Program, data: DataSet) -> dict[str, Array]:
    with unwritten_memory(data.unwritten):
        return program.run(data.arrays)


def _differs(program: Program, data: DataSet, usual: Mapping[str, Array]) -> bool:
    try:
        outputs = _run(program, data)
    except GaweeError:
        return True  # its operand is out of range, which shows
    return any(not same_values(outputs[name], array).all() for name, array in usual.items())
