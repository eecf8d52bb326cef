"""Run a function of a module on exact numbers."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.analysis.open_sizes import has_forms, open_names, sizes_of_shapes, specialized
from gawee_dialect.analysis.signature import Entry, Signature
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.instruments.prove import arithmetic, functions, movements
from gawee_dialect.instruments.prove.arithmetic import made
from gawee_dialect.instruments.prove.buffers import Bytes, allocated, viewed, viewed_bytes
from gawee_dialect.instruments.prove.from_integers import (
    FROM_INTEGERS,
    ExactFromIntegers,
    converted,
)
from gawee_dialect.instruments.prove.known import KnownOps
from gawee_dialect.instruments.prove.numbers import (
    Numbers,
    as_array,
    filled,
    is_float,
    unwritten,
)
from gawee_dialect.instruments.prove.residues import (
    NotProvable,
    current,
    of_fraction,
)
from gawee_dialect.instruments.prove.wrong_indices import worst_names
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.machine import Machine, check_implemented, implementations
from gawee_dialect.interpreter.run import numbers_of_arguments
from gawee_dialect.interpreter.scalars import OtherFloats

NUMPY = (arithmetic, functions, movements)
"""Where NumPy's functions on `Numbers` are registered."""

# The numbers that a function is run on: values from data, residues drawn at random.


def drawn(array: Array, seed: int) -> Array:
    """Return exact numbers for floats, and anything else as it is.

    A float that is no whole number stands for a variable: its residues are drawn by the seed and by
    its bits, so that equal floats stay equal. Whole numbers, masks of 0 and 1 among them, and what
    is not finite are themselves. Of numbers that were drawn it is a copy, which a run may write.
    """
    if isinstance(array, Numbers):
        return as_array(array.copy())
    if not is_float(array.dtype):
        return array
    value = np.asarray(array).astype(np.float64)
    return as_array(made(value, current().variables(value, seed), array.dtype))


def plain(array: Array) -> Array:
    """Return the floats that numbers were drawn of."""
    return array.value.astype(array.dtype) if isinstance(array, Numbers) else array


FLOATS = AnyFloat | TensorType | VectorType
"""Types of values that may be floats; of buffers, the op that makes one takes care."""


MOST_STEPS = 100_000
"""So many ops are run one by one, in some seconds; loops over large tensors have more."""


COPIED_IN_A_STEP = 1024
"""So many numbers are copied in the time of an op."""


def _erf(input: Array) -> Array:
    return as_array(functions.erf(input))


OF_EQUATIONS: Mapping[str, Callable[..., Array]] = {"erf": _erf, "converted": converted}


class ExactMachine(Machine, OtherFloats):
    """An interpreter on exact numbers; an op that cannot take them raises NotProvable."""

    functions = OF_EQUATIONS
    scalars = FROM_INTEGERS
    known: KnownOps | None = None
    """What need not be computed again; nothing where a listener sees every op."""
    _steps = 0

    def taken_up(self, array: Array) -> Array:
        return exact(array)

    def fresh(self, type: Attribute, sizes: Sequence[Array] = ()) -> Array:
        return unwritten(type, sizes)

    def buffer(self, buffer: SSAValue, sizes: Sequence[Array] = ()) -> object:
        return unwritten(buffer.type, sizes) if sizes else allocated(buffer)

    def viewed(
        self, source: Array, shift: int, result: SSAValue, sizes: Sequence[Array] = ()
    ) -> object:
        return viewed(source, shift, result, sizes)

    def is_dense(self, buffer: Array) -> bool:
        return buffer.is_dense if isinstance(buffer, Numbers) else super().is_dense(buffer)

    def filled(
        self, shape: Sequence[int], fill: Array | float, dtype: np.dtype[np.generic]
    ) -> Array:
        return filled(shape, fill, dtype)

    def fractions(self, rows: Sequence[Sequence[Fraction]], dtype: np.dtype[np.generic]) -> Array:
        parts = [[(float(each), *of_fraction(each)) for each in row] for row in rows]
        return as_array(Numbers(np.moveaxis(np.array(parts, np.float64), -1, 0), dtype))

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        self._steps += _steps_of(op)
        if self._steps > MOST_STEPS:
            message = f"loops over exact numbers of more than {MOST_STEPS} steps"
            raise NotProvable(Diagnostic.at(op, message))
        try:
            return self._known_or_run(op, self._taken_up(op, inputs))
        except (TypeError, AttributeError) as error:
            # How NumPy's protocols, and functions beside them, refuse what is no plain array.
            raise NotProvable(Diagnostic.at(op, str(error))) from error

    def _known_or_run(self, op: Operation, operands: PythonValues) -> OpImplResult:
        run = super()._run_op
        if self.known is None:
            return run(op, operands)
        return self.known.run(op, operands, lambda: run(op, operands))

    def _taken_up(self, op: Operation, inputs: PythonValues) -> PythonValues:
        """Return operands; buffers are what they are, as others view them."""
        return tuple(
            self.taken_up(value) if _may_be_floats(type(operand.type)) else value
            for operand, value in zip(op.operands, inputs, strict=False)
        )


@cache
def _may_be_floats(kind: type[Attribute]) -> bool:
    """Whether values of a kind of type may be floats; asked of each operand of each op."""
    return issubclass(kind, FLOATS)


def _steps_of(op: Operation) -> int:
    """Return how long an op takes that is run for each element: an insertion copies its tensor."""
    if not isinstance(op, tensor.InsertOp):
        return 1
    return 1 + abs(prod(tensor_shape(op.dest))) // COPIED_IN_A_STEP


def make_machine(
    module: ModuleOp,
    listeners: Sequence[Interpreter.Listener],
    more: Sequence[InterpreterFunctions] = (),
) -> ExactMachine:
    """Make an interpreter of a module on exact numbers; `more` implementations come first."""
    machine = ExactMachine(module, listeners=tuple(listeners))
    machine.take_over((*implementations(module), ExactFromIntegers))
    for each in more:
        machine.register_implementations(each, override=True)
    return machine


def run_exactly(
    module: ModuleOp,
    arguments: Mapping[str, Array],
    function: str,
    seed: int,
    listeners: Sequence[Interpreter.Listener] = (),
    more: Sequence[InterpreterFunctions] = (),
    known: KnownOps | None = None,
) -> dict[str, Array]:
    """Run a function; returns its outputs by name: exact numbers of floats, else plain arrays.

    Its index checks are among them (`worst_names`).

    Floats among the arguments become numbers that the seed draws (`inputs.py`). Raises NotProvable
    for an op that has no meaning on exact numbers, GaweeError where the program goes wrong.
    """
    called = Entry.of(module, function).called
    called_ops = [each.function for each in called if isinstance(each.function, FuncOp)]
    if len(called_ops) < len(called):
        raise NotProvable(Diagnostic("the llvm dialect runs as native code alone"))
    sizes: Mapping[str, int] = {}
    if open_names(module):
        shapes = {name: np.shape(each) for name, each in arguments.items()}
        sizes = sizes_of_shapes(called_ops[-1], shapes)
    if sizes and has_forms(called_ops[-1]):
        static = specialized(module, sizes)
        return run_exactly(static, arguments, function, seed, listeners, more, known)
    _check_implemented(module, called_ops)
    machine = make_machine(module, listeners, more)
    machine.known = known
    given = {name: drawn(array, seed) for name, array in arguments.items()}
    outputs: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for signature, op in zip(called, called_ops, strict=True):
            prepared = list(outputs.values())
            numbers = numbers_of_arguments(machine, signature, sizes)
            operands = [
                np.asarray(sizes[each.name])
                if each.kind is ArgumentKind.SIZE
                else _operand(each, given, prepared, numbers.get(each.index, ()))
                for each in signature.arguments
            ]
            results = machine.call_op(op, tuple(operands))
            outputs = _outputs(signature, operands, results)
    return outputs


def _check_implemented(module: ModuleOp, called: Sequence[FuncOp]) -> None:
    try:
        check_implemented(module, called)
    except GaweeError as error:
        raise NotProvable(error.diagnostics[0]) from error


def _operand(
    argument: EntryArgument,
    given: Mapping[str, Array],
    prepared: Sequence[Array],
    sizes: Sequence[Array],
) -> Array | Bytes:
    """Return what a function is called with; `sizes` are the numbers of those that are open."""
    match argument.kind:
        case ArgumentKind.WORKSPACE:
            bytes = viewed_bytes(argument.type, sizes)
            return unwritten(argument.type, sizes) if bytes is None else bytes
        case ArgumentKind.OUTPUT | ArgumentKind.INDICES:
            return unwritten(argument.type, sizes)
        case ArgumentKind.PREPARED:
            return prepared[int(argument.name)]
        case ArgumentKind.UPDATED:
            return given[argument.name].copy()
        case _:
            return given[argument.name]


def _outputs(
    signature: Signature, operands: Sequence[Array | Bytes], results: Sequence[Array]
) -> dict[str, Array]:
    outputs: dict[str, Array] = {}
    for each in signature.of_kind(ArgumentKind.OUTPUT, ArgumentKind.UPDATED):
        operand = operands[each.index]
        assert not isinstance(operand, Bytes)
        outputs[each.name] = operand
    for index, (name, result) in enumerate(zip(signature.returned, results, strict=True)):
        if index not in signature.checks:
            outputs[name] = result
    told = [operands[each.index] for each in signature.of_kind(ArgumentKind.INDICES)]
    told += [results[index] for index in signature.checks]
    for name, each in zip(worst_names(len(told)), told, strict=True):
        assert not isinstance(each, Bytes)
        outputs[name] = each
    return {name: exact(each) for name, each in outputs.items()}


def exact(array: Array) -> Array:
    """Return the numbers that floats are which no exact number has met."""
    if isinstance(array, Numbers) or not is_float(np.asarray(array).dtype):
        return array
    return as_array(Numbers.constants(array, array.dtype))
