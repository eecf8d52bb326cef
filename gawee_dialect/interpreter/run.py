"""Run a function of a module on arrays, at whatever level its IR is."""

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN, PREPARE, ArgumentKind, find_function
from gawee_dialect.interpreter.arrays import Array, ShapedType, fresh_array
from gawee_dialect.interpreter.errors import RunError
from gawee_dialect.interpreter.machine import Machine, check_implemented, make_machine
from gawee_dialect.interpreter.signature import Signature
from gawee_dialect.locations import place


def run_module(
    module: ModuleOp,
    arguments: Mapping[str, Array],
    *,
    function: str = MAIN,
    listeners: Sequence[Interpreter.Listener] = (),
    implementations: Sequence[InterpreterFunctions] = (),
) -> dict[str, Array]:
    """Run a function of a module; returns its outputs by name.

    `arguments` are the entry arguments by name: inputs, parameters and constants together; names
    that the function does not have are left alone. Where the function takes prepared values,
    `@prepare` is run first. Output and workspace arguments are allocated here. `listeners` see
    every op of a function's body before and after it runs; `implementations` of ops take the place
    of those that are here.

    Raises GaweeError that lists every missing argument and every wrong shape or dtype, or every op
    that has no implementation; RunError, a GaweeError, where an op cannot be run.
    """
    signature = Signature.of(_function(module, function))
    called = [signature]
    if signature.needs_prepared and function != PREPARE:
        called.insert(0, Signature.of(_function(module, PREPARE)))
    _check_arguments(called, arguments)
    check_implemented(module, [signature.function for signature in called])
    machine = make_machine(module, listeners)
    for functions in implementations:
        machine.register_implementations(functions, override=True)
    outputs: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for signature in called:
            prepared = {str(index): value for index, value in enumerate(outputs.values())}
            outputs = _call(machine, signature, arguments, prepared)
    return outputs


def _function(module: ModuleOp, name: str) -> FuncOp:
    function = find_function(module, name)
    if function is None:
        functions = ", ".join(
            f"'@{op.sym_name.data}'" for op in module.ops if isinstance(op, FuncOp)
        )
        raise GaweeError(f"expected a function '@{name}', got {functions or 'no function'}")
    if not function.body.blocks:
        raise GaweeError(Diagnostic.at(function, f"expected '@{name}' to have a body"))
    return function


def _check_arguments(called: Sequence[Signature], arguments: Mapping[str, Array]) -> None:
    names = frozenset[str]().union(*(signature.names for signature in called))
    unknown = [name for name in arguments if name not in names]
    hint = f"unused arguments: {', '.join(unknown)}" if unknown else None
    problems = {
        message: Diagnostic(message, place(signature.function.location), hint=hint)
        for signature in called
        for message in signature.problems(arguments)
    }
    if problems:
        raise GaweeError(problems.values())


def _call(
    machine: Machine,
    signature: Signature,
    arguments: Mapping[str, Array],
    prepared: Mapping[str, Array],
) -> dict[str, Array]:
    values: dict[int, Array] = {}
    for argument in signature.inputs:
        named = prepared if argument.kind is ArgumentKind.PREPARED else arguments
        if argument.name not in named:
            raise GaweeError(f"expected '@{PREPARE}' to return value {argument.name}")
        array = named[argument.name]
        shaped = isa(argument.type, ShapedType)
        values[argument.index] = np.asarray(array, order="C") if shaped else array[()]
    block = signature.function.body.block
    for index in range(len(block.args)):
        if index not in values:  # a destination, or the workspace
            values[index] = fresh_array(block.args[index].type)
    operands = tuple(values[index] for index in range(len(block.args)))
    results = machine.call_op(signature.function, operands)
    if signature.destinations:
        _check_indices(signature, values)
        results = tuple(values[index] for index in signature.destinations)
    else:
        _check_indices(signature, dict(enumerate(results)))
        results = tuple(
            result for index, result in enumerate(results) if index not in signature.checks
        )
    return {
        name: _owned(result, operands)
        for name, result in zip(signature.output_names, results, strict=True)
    }


def _check_indices(signature: Signature, values: Mapping[int, Array]) -> None:
    found = (
        check.problem(np.atleast_1d(values[index]).tolist())
        for index, check in signature.checks.items()
    )
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise RunError(problems)


def _owned(result: Array, operands: Sequence[Array]) -> Array:
    # An output may be a view of an input (identity, flatten), which belongs to the caller.
    if any(result is operand for operand in operands) or np.asarray(result).base is not None:
        return np.array(result)
    return np.asarray(result)
