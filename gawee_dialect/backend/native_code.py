"""C that a module brings: compiled by the system's compiler, and called by pointers to data.

Off by default: such code has all rights of this process, and a file that brings it need not look
like one that does.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.traits import SymbolTable

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.native_code import C_SOURCE, sources_of
from gawee_dialect.interpreter.arrays import fresh_array
from gawee_dialect.opdesc.emit.c_file import HEADER, header_text

FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-w")
HINT = "--allow-native-code (in Python: allow_native_code=True) runs it; do so where you trust it"

Array = NDArray[np.generic]

_allowed: ContextVar[bool] = ContextVar("native code allowed", default=False)
_lock = threading.Lock()
_libraries: dict[tuple[str, str], ctypes.CDLL] = {}
"""What was loaded, by symbol and source; it stays for ever."""

_ERROR = re.compile(r"^(.*?:\d+:\d+): (?:fatal )?error: (.*)$", re.MULTILINE)


@contextmanager
def native_code_allowed(allowed: bool = True) -> Generator[None]:
    """Allow C that modules bring to be compiled and run inside a with block."""
    token = _allowed.set(allowed or _allowed.get())
    try:
        yield
    finally:
        _allowed.reset(token)


def load_native_code(sources: Mapping[str, str]) -> None:
    """Compile and load C files, once a process, so that compiled networks find their functions.

    Raises GaweeError where that is not allowed, there is no compiler, or the C is wrong.
    """
    if not sources:
        return
    if not _allowed.get():
        names = ", ".join(f"'@{symbol}'" for symbol in sources)
        message = f"cannot run {names}: it is C, which has all rights of this process"
        raise GaweeError(Diagnostic(message, hint=HINT))
    with _lock:
        for symbol, source in sources.items():
            if (symbol, source) not in _libraries:
                _libraries[symbol, source] = _library(symbol, source)
            # Each time: another module may mean another function by the name.
            binding.add_symbol(symbol, _address(symbol, source))


def _address(symbol: str, source: str) -> int:
    address = ctypes.cast(_libraries[symbol, source][symbol], ctypes.c_void_p).value
    assert address is not None  # a function that was found has an address
    return address


def _library(symbol: str, source: str) -> ctypes.CDLL:
    cache = CompileCache()
    compiler = _compiler()
    key = key_of("c", source, header_text(), compiler, *FLAGS)
    code = cache.read(key)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, f"{symbol}.so")
        if code is None:
            _compile(compiler, symbol, source, library)
            cache.write(key, library.read_bytes())
        else:
            library.write_bytes(code)
        loaded = ctypes.CDLL(str(library))
    if not hasattr(loaded, symbol):
        raise GaweeError(f"expected the C of '@{symbol}' to define it")
    return loaded


def _compiler() -> str:
    name = os.environ.get("CC") or "cc"
    found = shutil.which(name)
    if found is None:
        message = f"cannot run C of descriptions: no C compiler '{name}' was found"
        raise GaweeError(Diagnostic(message, hint="install one, or name one in CC"))
    return found


def _compile(compiler: str, symbol: str, source: str, library: Path) -> None:
    folder = library.parent
    (folder / HEADER).write_text(header_text())
    file = folder / f"{symbol}.c"
    file.write_text(source)
    command = [compiler, *FLAGS, "-o", str(library), str(file), "-lm"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return
    found = [
        Diagnostic(f"cannot compile the C of '@{symbol}': {message}", at)
        for at, message in _ERROR.findall(done.stderr)
    ]
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    raise GaweeError(found or f"cannot compile the C of '@{symbol}': {lines[-1]}")


@register_impls
class NativeCalls(InterpreterFunctions):
    """Calls of functions, those that the module brings the C of included."""

    @impl(CallOp)
    def call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        callee = SymbolTable.lookup_symbol(op, op.callee)
        source = callee.attributes.get(C_SOURCE) if isinstance(callee, FuncOp) else None
        if not isinstance(callee, FuncOp) or not isinstance(source, StringAttr):
            return interpreter.call_op(op.callee.string_value(), args)
        results = [fresh_array(type) for type in callee.function_type.outputs]
        _call(_address(callee.sym_name.data, source.data), [*args, *results])
        return tuple(results)


def _call(address: int, arrays: Sequence[Array]) -> None:
    """Call a function on the data of arrays; views are copied in and out."""
    dense = [np.ascontiguousarray(array) for array in arrays]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(dense))(address)(
        *(array.ctypes.data for array in dense)
    )
    for array, copy in zip(arrays, dense, strict=True):
        if copy is not array and array.flags.writeable:
            np.copyto(array, copy)


def native_implementations(module: ModuleOp) -> Sequence[InterpreterFunctions]:
    """Return what an interpreter needs to run a module that brings C; raises GaweeError."""
    sources = sources_of(module)
    if not sources:
        return ()
    load_native_code(sources)
    return (NativeCalls(),)
