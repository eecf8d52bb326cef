"""Calls of kernels as machine code, in a function that is interpreted otherwise.

So what each node of a large network computes can be seen at the level of loops.
"""

import ctypes

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.traits import SymbolTable

from gawee_dialect.interpreter.functions import OpFunctions


@register_impls
class NativeCalls(OpFunctions):
    """An implementation of `func.call` that runs the callee natively."""

    def __init__(self, module: ModuleOp) -> None:
        """Compile the functions of a module, of the loops or the llvm level; raises GaweeError."""
        from gawee_dialect.backend.jit import NativeModule
        from gawee_dialect.passes.convert_to_llvm import ConvertToLLVM
        from gawee_dialect.universe import make_context

        callable_ones = module.clone()
        for function in callable_ones.ops:  # so that each kernel has an address
            if isinstance(function, FuncOp):
                function.sym_visibility = None
            elif isinstance(function, llvm.FuncOp) and function.body.blocks:
                function.linkage = llvm.LinkageAttr("external")
        if any(isinstance(function, FuncOp) for function in callable_ones.ops):
            ConvertToLLVM().apply(make_context(), callable_ones)
        self._native = NativeModule(callable_ones)

    @impl(CallOp)
    def call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        callee = SymbolTable.lookup_symbol(interpreter.module, op.callee)
        assert isinstance(callee, FuncOp)
        address = self._native.address(callee.sym_name.data)
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(args))(address)
        function(*(array.ctypes.data for array in args))
        return ()
