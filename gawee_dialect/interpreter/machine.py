"""xDSL's interpreter with our implementations, and errors that say which op failed and where."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, TypeGuard

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import (
    Interpreter,
    OpImplResult,
    PythonValues,
    Successor,
    impl,
    register_impls,
)
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.scoped_dict import ScopedDict

from gawee_dialect.analysis.effects import WrittenBuffers, buffer_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.evaluated import NamedMeaningOp
from gawee_dialect.dialect.types import shape_text, tensor_type
from gawee_dialect.interpreter.affine import AffineFunctions
from gawee_dialect.interpreter.amx import AmxFunctions
from gawee_dialect.interpreter.arith import ArithFunctions
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.cf import CfFunctions
from gawee_dialect.interpreter.functions import OpFunctions, RunError, added_functions
from gawee_dialect.interpreter.gawee import GAWEE_FUNCTIONS
from gawee_dialect.interpreter.gawee.graph import OURS, evaluated_functions
from gawee_dialect.interpreter.linalg import (
    AggregateFunctions,
    LinalgFunctions,
    structured_functions,
)
from gawee_dialect.interpreter.math import MathFunctions
from gawee_dialect.interpreter.memref import MemrefFunctions
from gawee_dialect.interpreter.scf import OmpFunctions, ScfFunctions
from gawee_dialect.interpreter.tensor import TensorFunctions
from gawee_dialect.interpreter.vector import (
    VectorFunctions,
    VectorMemoryFunctions,
    VectorTransferFunctions,
)
from gawee_dialect.upstream.walk import all_ops, kinds_of

# Described ops whose meaning is a Python function that is registered for their name.


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, NamedMeaningOp)
    made = op.call_function([read_only(array) for array in args])
    return _checked(op, (made,) if isinstance(made, np.ndarray | np.generic) else tuple(made))


def read_only(array: Array) -> Array:
    """Return a view that cannot be written to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _checked(op: Operation, made: Sequence[Array]) -> tuple[Array, ...]:
    """Return what a function made; raises InterpretationError where it is not the op's results."""
    if len(made) != len(op.results):
        raise InterpretationError(
            f"expected its Python function to return {len(op.results)} arrays, got {len(made)}"
        )
    arrays = tuple(np.asarray(each) for each in made)
    for index, (array, result) in enumerate(zip(arrays, op.results, strict=True)):
        type = tensor_type(result)
        expected = f"{shape_text(type.get_shape())} of {dtype_of(type)}"
        got = f"{shape_text(array.shape)} of {array.dtype}"
        if got != expected:
            raise InterpretationError(
                f"expected its Python function to return result #{index} as {expected}, got {got}"
            )
    return arrays


def python_meaning_functions(
    kinds: frozenset[type[Operation]], module: ModuleOp
) -> type[OpFunctions]:
    """Make the implementations of every op of a module that a function is registered for."""
    named = any(issubclass(kind, NamedMeaningOp) for kind in kinds)
    ops = all_ops(module) if named else ()
    found = (op for op in ops if isinstance(op, NamedMeaningOp) and op.has_function())
    return _functions_for(frozenset(type(op) for op in found))


@lru_cache(maxsize=256)
def _functions_for(classes: frozenset[type[Operation]]) -> type[OpFunctions]:
    members = {kind.__name__: impl(kind)(_run) for kind in classes}
    return register_impls(type("PythonMeaningFunctions", (OpFunctions,), members))


FUNCTIONS: tuple[type[OpFunctions], ...] = (
    *GAWEE_FUNCTIONS,
    LinalgFunctions,
    AggregateFunctions,
    TensorFunctions,
    CfFunctions,
    MemrefFunctions,
    ScfFunctions,
    AffineFunctions,
    OmpFunctions,
    ArithFunctions,
    MathFunctions,
    VectorFunctions,
    VectorMemoryFunctions,
    VectorTransferFunctions,
    AmxFunctions,
)

FUNC_OPS: frozenset[type[Operation]] = frozenset((func.FuncOp, func.ReturnOp, func.CallOp))
"""What xDSL's own implementations are used for."""


Run: TypeAlias = Callable[[OpFunctions, Interpreter, Operation, PythonValues], OpImplResult]


class Machine(Interpreter):
    """An interpreter of every level; failures of an op become located errors (`RunError`)."""

    _functions: Mapping[type[Operation], tuple[OpFunctions, Run]] = {}
    protected: Mapping[str, Array] = {}
    """Arrays that belong to the caller of the function, by what they are: `parameter 'x'`."""

    def take_over(self, sets: tuple[type[OpFunctions], ...]) -> None:
        """Know what `_knowing` does; there are hundreds of ops, so that is put together once."""
        known = _knowing(sets)._impls
        self._impls = replace(known)
        for name, table in vars(known).items():
            setattr(self._impls, name, dict(table))
        self._functions = vars(self._impls)["_impl_dict"]

    def run_ssacfg_region(
        self, region: Region, args: PythonValues, name: str = "unknown"
    ) -> PythonValues:
        """Interpret a region, as xDSL does, which writes a message for every op that is right.

        A block that runs again overwrites its values: xDSL has a scope for each time.
        """
        outer, results, block = self._ctx, (), region.first_block
        values: dict[SSAValue, object] = {}
        self._ctx = scope = ScopedDict(outer, name=name, local_scope=values)
        while block is not None:
            values.update(zip(block.args, args, strict=False))
            op, block = block.first_op, None
            while op is not None:
                inputs = tuple([values[v] if v in values else scope[v] for v in op.operands])
                made, end = self._run_op(op, inputs)
                values.update(zip(op.results, made, strict=True))
                if end is not None:
                    if isinstance(end, Successor):
                        block, args = end
                    else:
                        results = end.values
                    break
                op = op.next_op
        self._ctx = outer
        return results

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        try:
            return self._listened(op, inputs)
        except GaweeError:
            raise
        except InterpretationError as error:
            if "read-only" in str(error):
                raise self._refused_write(op, inputs, error) from error
            raise RunError(Diagnostic.at(op, f"cannot run: {first_line(error)}")) from error
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise self._refused_write(op, inputs, error) from error
        except RecursionError:
            message = "cannot run: functions call each other more deeply than Python can"
            raise RunError(Diagnostic.at(op, message)) from None

    def _listened(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        # As xDSL's own method, which prints the whole module into an exception for each op around.
        found = self._functions.get(type(op))
        if found is None or len(op.operands) != len(inputs):
            return super()._run_op(op, inputs)  # says what is wrong
        for listener in self.listeners:
            listener.will_interpret_op(op, inputs)
        functions, run = found
        result = run(functions, self, op, inputs)
        expected, got = len(op.results), len(result.values)
        if expected != got:
            raise InterpretationError(f"expected {expected} results, got {got}")
        for listener in self.listeners:
            listener.did_interpret_op(op, result.values)
        return result

    def _refused_write(self, op: Operation, inputs: PythonValues, error: Exception) -> RunError:
        """Say what it is that an op writes, which belongs to the caller."""
        buffers = set(WrittenBuffers(self.module).of(op))
        written = [
            value
            for operand, value in zip(op.operands, inputs, strict=True)
            if buffer_of(operand) in buffers
        ]
        values = written or [*inputs, *self._captured(op)]
        for what, owned in self.protected.items():
            if any(_is_part_of(each, owned) for each in values):
                return RunError(Diagnostic.at(op, f"writes its {what}"))
        return RunError(Diagnostic.at(op, f"cannot run: {first_line(error)}"))

    def _captured(self, op: Operation) -> Iterable[object]:
        """Yield the values from outside that a loop's body uses."""
        inner = (used for each in op.walk() if each is not op for used in each.operands)
        for value in dict.fromkeys(inner):
            try:
                yield from self.get_values((value,))
            except KeyError:  # it was made inside
                continue


def _is_array(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def _is_part_of(value: object, array: Array) -> bool:
    return _is_array(value) and np.may_share_memory(value, array)


def implementations(module: ModuleOp) -> tuple[type[OpFunctions], ...]:
    """Return every set of implementations that a module may need, none of them xDSL's."""
    kinds = kinds_of(module)
    others = evaluated_functions(kinds - OURS)
    of_kinds = structured_functions(kinds), python_meaning_functions(kinds, module)
    return (*FUNCTIONS, others, *added_functions(), *of_kinds)


def make_machine(
    module: ModuleOp, listeners: Sequence[Interpreter.Listener] = (), kind: type[Machine] = Machine
) -> Machine:
    """Make an interpreter of a module in which every op of every level can run."""
    machine = kind(module, listeners=tuple(listeners))
    machine.take_over(implementations(module))
    return machine


@lru_cache(maxsize=64)
def _knowing(sets: tuple[type[OpFunctions], ...]) -> Interpreter:
    """Return an interpreter of an empty module with sets of implementations, and `func`."""
    known = Interpreter(ModuleOp([]))
    known.register_implementations(FuncFunctions())
    for functions in sets:
        known.register_implementations(functions(), override=True)
    return known


def check_implemented(module: ModuleOp, functions: Iterable[FuncOp]) -> None:
    """Raise GaweeError naming every op that cannot run in the functions and what they call."""
    implemented = _implemented_by(implementations(module))
    problems: list[Diagnostic] = []
    reached, waiting = set[FuncOp](), list(functions)
    while waiting:
        function = waiting.pop()
        if function in reached:
            continue
        reached.add(function)
        for op in all_ops(function):
            if type(op) not in implemented:
                problems.append(Diagnostic.at(op, "unsupported by the interpreter"))
            elif isinstance(op, func.CallOp):
                waiting.extend(_callee(module, op))
    if problems:
        raise GaweeError(problems)


@lru_cache(maxsize=64)
def _implemented_by(sets: tuple[type[OpFunctions], ...]) -> frozenset[type[Operation]]:
    return FUNC_OPS.union(*(functions.op_types() for functions in sets))


def _callee(module: ModuleOp, call: func.CallOp) -> Iterable[FuncOp]:
    callee = SymbolTable.lookup_symbol(module, call.callee)
    return (callee,) if isinstance(callee, FuncOp) else ()
