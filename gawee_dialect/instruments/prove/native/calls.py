"""Calls of kernels on exact numbers as machine code, in a function that is interpreted otherwise.

So what each node of a network computes can be seen at the level of loops.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.traits import SymbolTable

from gawee_dialect.instruments.check.isolated import run_isolated
from gawee_dialect.instruments.check.native_run import Bytes, GuardedMemory
from gawee_dialect.instruments.prove.lowered import lowered
from gawee_dialect.instruments.prove.native.run import (
    argument_memory,
    array_of,
    bytes_of,
    compile_exactly,
)
from gawee_dialect.interpreter.arrays import Array, array_shape, dtype_of, shaped_type
from gawee_dialect.interpreter.functions import OpFunctions


@register_impls
class ExactCalls(OpFunctions):
    """An implementation of `func.call` that runs the callee natively, in and out by copies."""

    def __init__(self, module: ModuleOp) -> None:
        """Compile the functions of a module at the loops level; raises NotProvable."""
        callable_ones = module.clone()
        for function in callable_ones.ops:
            if isinstance(function, FuncOp):
                function.sym_visibility = None  # so that each kernel can be called
        self._functions = compile_exactly(lowered(callable_ones))

    @impl(CallOp)
    def call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        callee = SymbolTable.lookup_symbol(interpreter.module, op.callee)
        assert isinstance(callee, FuncOp)
        name, memory = callee.sym_name.data, self._functions.memory
        buffers = [guarded(bytes_of(array, memory)) for array in args]

        def run() -> dict[str, Array]:
            self._functions.call(name, buffers)
            return {str(index): each.bytes for index, each in enumerate(buffers)}

        for value, array, after in zip(op.arguments, args, run_isolated(run).values(), strict=True):
            shape, dtype = array_shape(shaped_type(value)), dtype_of(value.type)
            array[...] = array_of(_as_bytes(after), shape, dtype, memory)
        return ()


def guarded(bytes: Bytes) -> GuardedMemory:
    """Return a copy of bytes that are an argument."""
    made = argument_memory(bytes.size)
    made.bytes[...] = bytes
    return made


def _as_bytes(array: Array) -> Bytes:
    return array.view("uint8")
