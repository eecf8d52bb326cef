"""Run a function of a module on arrays, at whatever level its IR is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.open_sizes import (
    argument_shapes,
    has_forms,
    open_names,
    sizes_of_shapes,
    specialized,
)
from gawee_dialect.analysis.signature import Entry, Signature
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    WEIGHTS,
    ArgumentKind,
    EntryArgument,
    find_function,
    workspace_size_name,
)
from gawee_dialect.dialect.open_size import numbers_of_open
from gawee_dialect.dialect.types import fits_shape, shape_text
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import (
    Array,
    ShapedType,
    array_shape,
    dtype_of,
    fresh_array,
)
from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.interpreter.machine import Machine, check_implemented, make_machine, read_only
from gawee_dialect.locations import place
from gawee_dialect.python_numbers import as_array


def run_module(
    module: ModuleOp,
    arguments: Mapping[str, object],
    *,
    function: str = MAIN,
    listeners: Sequence[Interpreter.Listener] = (),
    implementations: Sequence[InterpreterFunctions] = (),
) -> dict[str, Array]:
    """Run a function of a module; returns its outputs by name.

    `arguments` are the entry arguments by name: inputs, parameters and constants together; names
    that the function does not have are left alone. Where the function takes prepared values,
    `@prepare` is run first. Output and workspace arguments are allocated here; a buffer that is
    updated starts as a copy of what is given, or as zeros. `listeners` see every op of a function's
    body before and after it runs; `implementations` of ops take the place of those that are here.

    Raises GaweeError that lists every missing argument and every wrong shape or dtype, or every op
    that has no implementation; RunError, a GaweeError, where an op cannot be run.
    """
    return Program(module, function, listeners, implementations).run(arguments)


class Program:
    """A function of a module that is run any number of times; what its globals hold is kept.

    A run leaves alone what the function does not own: inputs, parameters, and in `@main` the
    values that `@prepare` made. `kind` is the interpreter.

    Raises GaweeError that lists every op without an implementation.
    """

    def __init__(
        self,
        module: ModuleOp,
        function: str = MAIN,
        listeners: Sequence[Interpreter.Listener] = (),
        implementations: Sequence[InterpreterFunctions] = (),
        kind: type[Machine] = Machine,
    ) -> None:
        self._called = Entry.of(module, function).called
        self._ops = [_interpreted(signature) for signature in self._called]
        self._module, self._listeners = module, listeners
        self._implementations, self._kind = implementations, kind
        self._is_open = bool(open_names(module))
        self._is_graph = self._is_open and has_forms(self._ops[-1])
        self._machine: Machine | None = None
        self._of_sizes: dict[object, Program] = {}
        """Of a graph whose sizes have names: the graphs for numbers of them."""

    def run(self, arguments: Mapping[str, object]) -> dict[str, Array]:
        """Run the function as `run_module` does."""
        sizes: Mapping[str, int] = {}
        if self._is_open:
            shapes = {name: np.shape(each) for name, each in arguments.items() if _is_array(each)}
            sizes = sizes_of_shapes(self._ops[-1], shapes)
            if self._is_graph:
                return self._for_sizes(sizes).run(arguments)
        given = _with_arrays(self._called, arguments)
        _check_arguments(self._called, given)
        arrays = {name: each for name, each in given.items() if _is_array(each)}
        machine = self._machine or self._make_machine()
        outputs: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for signature, called_op in zip(self._called, self._ops, strict=True):
                numbers = numbers_of_arguments(machine, signature, sizes)
                operands = _operands(signature, arrays, outputs, numbers, sizes)
                machine.protected = _protected(signature, operands)
                results = machine.call_op(called_op, tuple(operands))
                outputs = _outputs(signature, operands, results)
        return outputs

    def _for_sizes(self, sizes: Mapping[str, int]) -> "Program":
        """Return the program of a graph for numbers of its sizes."""
        key = tuple(sizes.items())
        if key not in self._of_sizes:
            self._of_sizes[key] = Program(
                specialized(self._module, sizes),
                self._ops[-1].sym_name.data,
                self._listeners,
                self._implementations,
                self._kind,
            )
        return self._of_sizes[key]

    def _make_machine(self) -> Machine:
        check_implemented(self._module, self._ops)
        self._machine = make_machine(self._module, self._listeners, self._kind)
        for functions in self._implementations:
            self._machine.register_implementations(functions, override=True)
        return self._machine


PROTECTED = (*WEIGHTS, ArgumentKind.INPUT, ArgumentKind.PREPARED)
"""What a function may read, and no more."""


def _protected(signature: Signature, operands: Sequence[Array]) -> dict[str, Array]:
    """Return what belongs to the caller, by what it is: `parameter 'x'`."""
    return {
        f"{each.kind} '{each.name}'": operands[each.index]
        for each in signature.of_kind(*PROTECTED)
        if isa(each.type, ShapedType)
    }


def _interpreted(signature: Signature) -> FuncOp:
    if isinstance(signature.function, FuncOp):
        return signature.function
    raise GaweeError(
        Diagnostic.at(
            signature.function,
            "unsupported by the interpreter",
            hint="the llvm dialect runs as native code: --level llvm",
        )
    )


GIVEN = (
    ArgumentKind.INPUT,
    ArgumentKind.PARAMETER,
    ArgumentKind.CONSTANT,
    ArgumentKind.UPDATED,
)


def _with_arrays(
    called: Sequence[Signature], arguments: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the arguments with arrays in the place of Python's numbers."""
    numbers: dict[str, Array] = {}
    for signature in called:
        for argument in signature.of_kind(*GIVEN):
            value = arguments.get(argument.name)
            if isinstance(value, int | float) and not isinstance(value, np.generic):
                array = None if _shape(argument) else as_array(value, dtype_of(argument.type))
                # What does not fit has its own dtype, which the message then names.
                numbers[argument.name] = np.asarray(value) if array is None else array
    return {**arguments, **numbers} if numbers else arguments


def _shape(argument: EntryArgument) -> tuple[int, ...]:
    return array_shape(argument.type) if isa(argument.type, ShapedType) else ()


def _check_arguments(called: Sequence[Signature], arguments: Mapping[str, object]) -> None:
    names = {argument.name for signature in called for argument in signature.of_kind(*GIVEN)}
    unknown = [name for name in arguments if name not in names]
    hint = f"unused arguments: {', '.join(unknown)}" if unknown else None
    problems = {
        message: Diagnostic(message, place(signature.function.location), hint=hint)
        for signature in called
        for argument in signature.of_kind(*GIVEN)
        for message in _problems(argument, arguments)
    }
    if problems:
        raise GaweeError(problems.values())


def _is_array(value: object) -> TypeGuard[Array]:
    """Whether a value is an array, or one of NumPy's numbers, which has all that one has."""
    return isinstance(value, np.ndarray | np.generic)


def _problems(argument: EntryArgument, arrays: Mapping[str, object]) -> Iterable[str]:
    """Say what is wrong with the array for an argument, one message per problem."""
    what = f"{argument.kind} '{argument.name}'"
    array = arrays.get(argument.name)
    if array is None:
        if argument.kind is not ArgumentKind.UPDATED:
            yield f"expected {what}, got none"
        return
    dtype = dtype_of(argument.type)
    if not _is_array(array):
        yield f"expected {what} of dtype {dtype.name}, got {type(array).__name__}"
        return
    if array.dtype != dtype:
        yield f"expected {what} of dtype {dtype.name}, got {array.dtype.name}"
    shape = _shape(argument)
    if not fits_shape(shape, np.shape(array)):  # open sizes are checked of all together
        yield f"expected {what} of shape {shape_text(shape)}, got {shape_text(np.shape(array))}"


def numbers_of_arguments(
    machine: Machine, signature: Signature, sizes: Mapping[str, int]
) -> Mapping[int, Sequence[Array]]:
    """Return the numbers of the open sizes of each argument; a function says the workspace's."""
    function = signature.function
    if not sizes or not isinstance(function, FuncOp):
        return {}
    numbers: dict[int, Sequence[Array]] = {
        index: [np.asarray(at) for at in numbers_of_open(shape, sizes)]
        for index, shape in enumerate(argument_shapes(function))
    }
    name = workspace_size_name(function.sym_name.data)
    sizing = find_function(machine.module, name)
    for workspace in signature.of_kind(ArgumentKind.WORKSPACE) if sizing is not None else ():
        given = [np.int64(sizes[each.name]) for each in signature.of_kind(ArgumentKind.SIZE)]
        numbers[workspace.index] = machine.call_op(sizing, tuple(given)) if sizing else ()
    return numbers


def _operands(
    signature: Signature,
    arguments: Mapping[str, Array],
    prepared: Mapping[str, Array],
    numbers: Mapping[int, Sequence[Array]],
    sizes: Mapping[str, int],
) -> list[Array]:
    """Return what a function is called with; `numbers` are those of open sizes, by argument."""
    return [
        np.asarray(sizes[argument.name])
        if argument.kind is ArgumentKind.SIZE
        else _operand(argument, arguments, prepared, numbers.get(argument.index, ()))
        for argument in signature.arguments
    ]


def _operand(
    argument: EntryArgument,
    arguments: Mapping[str, Array],
    prepared: Mapping[str, Array],
    sizes: Sequence[Array],
) -> Array:
    match argument.kind:
        case ArgumentKind.OUTPUT | ArgumentKind.INDICES | ArgumentKind.WORKSPACE:
            return _memory(argument, sizes)
        case ArgumentKind.UPDATED:
            if argument.name in arguments:
                return np.array(arguments[argument.name], order="C")
            return np.zeros_like(_memory(argument))
        case ArgumentKind.PREPARED:
            if argument.name not in prepared:
                raise GaweeError(f"expected '@{PREPARE}' to return value {argument.name}")
            return read_only(prepared[argument.name])
        case _:
            array = arguments[argument.name]
            if not isa(argument.type, ShapedType):
                return array[()]
            return read_only(np.asarray(array, order="C"))


def _memory(argument: EntryArgument, sizes: Sequence[Array] = ()) -> Array:
    try:
        return fresh_array(argument.type, sizes)
    except InterpretationError as error:
        message = f"cannot run with argument #{argument.index}: {error}"
        raise RunError(Diagnostic(message)) from error


def _outputs(
    signature: Signature, operands: Sequence[Array], results: Sequence[Array]
) -> dict[str, Array]:
    """Return what a call left in its buffers, and what it returned, by name."""
    _check_indices(signature, operands, results)
    written = signature.of_kind(ArgumentKind.OUTPUT, ArgumentKind.UPDATED)
    outputs = {argument.name: operands[argument.index] for argument in written}
    for index, (name, result) in enumerate(zip(signature.returned, results, strict=True)):
        if index not in signature.checks:
            outputs[name] = _owned(result, operands)
    return outputs


def _check_indices(
    signature: Signature, operands: Sequence[Array], results: Sequence[Array]
) -> None:
    told = [(each.check, operands[each.index]) for each in signature.arguments if each.check]
    told += [(check, results[index]) for index, check in signature.checks.items()]
    found = (check.problem(np.atleast_1d(worst).tolist()) for check, worst in told)
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise RunError(problems)


def _owned(result: Array, operands: Sequence[Array]) -> Array:
    # An output may be a view of an input (identity, flatten), which belongs to the caller.
    if any(result is operand for operand in operands) or np.asarray(result).base is not None:
        return np.array(result)
    return np.asarray(result)
