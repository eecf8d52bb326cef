"""What rounding explains: how far f32 outputs may be from those of the same module in f64."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
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
from gawee_dialect.dialect.graph.movement import MovementOp
from gawee_dialect.dialect.graph.scatter import ScatterOp
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.compare import absolute_difference, magnitude
from gawee_dialect.instruments.check.execute import CannotRun, Plan, is_array, plan_run
from gawee_dialect.instruments.check.inputs import SPECIAL, DataSet
from gawee_dialect.interpreter.arrays import Array, unwritten_memory
from gawee_dialect.interpreter.machine import Machine
from gawee_dialect.interpreter.run import Program

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
        plans = {name: plan_run(copy, name) for name in data}
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
