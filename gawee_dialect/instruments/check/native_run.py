"""Run machine code on memory that is watched, and where it can do no harm.

Every array lies between guards, and is aligned as little as the interface allows. What the code may
not write is compared afterwards, the guards too; what nothing has written holds poison. A wrong
pass may make code write anywhere, so that a process of its own runs it.
"""

import ctypes
import faulthandler
import io
import os
import signal
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.traits import SymbolTable

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import PREPARE, WEIGHTS
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.interpreter.arrays import Array, fill_unwritten, unwritten_memory
from gawee_dialect.interpreter.functions import OpFunctions

if TYPE_CHECKING:
    from gawee_dialect.backend.jit import NativeModule
    from gawee_dialect.backend.signature import Buffer, Signature


MOST_SECONDS = 300
"""Of processors: machine code that is called once and takes longer has a loop without end."""

_expendable: ContextVar[bool] = ContextVar("expendable", default=False)


@contextmanager
def expendable_process() -> Generator[None]:
    """Run machine code in this process, for the time of a with block: its end is no harm.

    A copy of a process takes longer than most runs.
    """
    token = _expendable.set(True)
    try:
        yield
    finally:
        _expendable.reset(token)


def run_isolated(
    run: Callable[[], dict[str, Array]], seconds: int = MOST_SECONDS
) -> dict[str, Array]:
    """Run a function that returns arrays in a copy of this process, and return the arrays.

    Raises GaweeError where the copy dies, naming the signal, or does not end in `seconds` of
    processors. Where the system cannot copy processes, or this one is expendable, the function
    runs in this one.
    """
    if sys.platform == "win32" or _expendable.get():
        return run()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _send_and_exit(run, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGPROF:
        message = f"native code has not ended after {seconds} s of processor time"
        raise GaweeError(Diagnostic(message, hint="give data for which its loops end"))
    if code < 0:
        raise GaweeError(f"native code was stopped by {signal.Signals(-code).name}")
    if code > 0:
        raise GaweeError(data.decode() or f"native code ended with exit code {code}")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        names = [str(name) for name in archive["names"]]
        return {name: archive[f"output{index}"] for index, name in enumerate(names)}


def _send_and_exit(run: Callable[[], dict[str, Array]], writing: int) -> None:
    # The copy must not go on as a second compiler: it leaves here, whatever happens.
    faulthandler.disable()  # a crash is reported by its signal, not by a traceback of ours
    code = 1
    try:
        with os.fdopen(writing, "wb") as stream:
            code = _send(run, stream)
    finally:
        os._exit(code)


def _send(run: Callable[[], dict[str, Array]], stream: io.BufferedWriter) -> int:
    try:
        outputs = run()
    except Exception as error:
        stream.write(str(error).removeprefix("error: ").encode())
        return 1
    arrays = {f"output{index}": array for index, array in enumerate(outputs.values())}
    data = io.BytesIO()
    np.savez(data, names=np.array(list(outputs), dtype=np.str_), allow_pickle=False, **arrays)
    stream.write(data.getvalue())
    return 0


# Memory between guards, in which a write beside an array shows.

Bytes = NDArray[np.uint8]

Fill = Callable[[Bytes], None]
"""Writes the bytes of uninitialized memory."""


class GuardedMemory:
    """So many bytes between guards; the guards, and the bytes at first, are as if never written.

    The bytes lie at a multiple of 64 and `shift` after it, and so much before the next guard.
    Guards of other memory have other bytes: a row that is copied from guard to guard shows.
    """

    _numbers = count()

    def __init__(self, size: int, guard: int, fill: Fill = fill_unwritten, shift: int = 0) -> None:
        from gawee_dialect.backend.memory import aligned_bytes

        assert guard % 64 == 0
        start = guard + shift
        all_bytes = aligned_bytes(start + size + guard)[: start + size + guard]
        self.bytes = all_bytes[start : start + size]
        self._guards = all_bytes[:start], all_bytes[start + size :]
        self._fill = fill
        self._number = np.uint8(next(self._numbers) % 255 + 1)
        fill(self.bytes)
        for each in self._guards:
            self._mark(each)

    def _mark(self, guard: Bytes) -> None:
        """Fill a guard; the lowest byte of every fourth is one of this memory's own."""
        self._fill(guard)
        guard[::4] ^= self._number

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written around the bytes."""
        for guard in self._guards:
            expected = np.empty_like(guard)
            self._mark(expected)
            if not np.array_equal(guard, expected):
                return False
        return True


OPT_LEVEL = 1
"""Of native code that runs once: higher ones compile three times as long."""

GUARD = 256
"""Bytes before and behind each array."""

ALIGNED = ("workspace", "prepared")
"""What lies at a multiple of 64; other arrays need the alignment of their elements only."""

GIVEN = ("input", *(kind.value for kind in WEIGHTS))
"""What a caller has to pass."""

READ = (*GIVEN, "prepared")
"""What the code may read, and no more."""


class Watched:
    """An array between guards, and what it is for."""

    def __init__(self, buffer: "Buffer", start: Array | None) -> None:
        """Make memory for a buffer that starts as some array, or uninitialized."""
        shift = 0 if buffer.role in ALIGNED else buffer.dtype.itemsize
        self.buffer = buffer
        self._memory = GuardedMemory(buffer.size, GUARD, shift=shift)
        self.array: Array = self._memory.bytes.view(buffer.dtype).reshape(buffer.shape)
        if start is None:
            fill_unwritten(self.array)
        else:
            self.array[...] = start

    def check(self, start: Array | None, function: str) -> None:
        """Raise GaweeError where the code wrote outside, or what belongs to the caller."""
        buffer = self.buffer
        if not self._memory.is_intact:
            raise GaweeError(f"'@{function}' writes outside of its {buffer.role} '{buffer.name}'")
        if buffer.role in READ and start is not None and not _same_bytes(self.array, start):
            raise GaweeError(f"'@{function}' writes its {buffer.role} '{buffer.name}'")


def _same_bytes(left: Array, right: Array) -> bool:
    return np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes()


class NativeProgram:
    """A module at the llvm level as machine code, made when a function of it runs first."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    @cached_property
    def _native(self) -> "NativeModule":
        from gawee_dialect.backend.jit import Target
        from gawee_dialect.backend.program import compile_joined

        return compile_joined(self.module, Target(opt_level=OPT_LEVEL))

    def run(self, function: str, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Run a function, with its `@prepare`, on each data set in turn; returns outputs by name.

        It runs in a process of its own. Raises GaweeError.
        """
        from gawee_dialect.backend.program import signatures_of

        signatures = signatures_of(self.module, function)
        assert self._native  # made here, not in the copy of this process

        def run() -> dict[str, Array]:
            each = enumerate(self._run(function, signatures, data) for data in data_sets)
            return {f"{index} {name}": out for index, outs in each for name, out in outs.items()}

        found: list[dict[str, Array]] = [{} for _ in data_sets]
        for key, output in run_isolated(run).items():
            index, name = key.split(" ", 1)
            found[int(index)][name] = output
        return found

    def _run(
        self, function: str, signatures: Mapping[str, "Signature"], data: DataSet
    ) -> dict[str, Array]:
        with unwritten_memory(data.unwritten):
            prepared: Mapping[str, Array] = {}
            if PREPARE in signatures:
                prepared = self._call(signatures[PREPARE], data.arrays, {})
            return self._call(signatures[function], data.arrays, prepared)

    def _call(
        self, signature: "Signature", arrays: Mapping[str, Array], prepared: Mapping[str, Array]
    ) -> dict[str, Array]:
        from gawee_dialect.backend.compiled import check_arrays

        if signature.sizes:
            from gawee_dialect.analysis.open_sizes import solved_sizes
            from gawee_dialect.backend.open_model import workspace_bytes

            named = {each.name: each.shape for each in signature.buffers if each.role in GIVEN}
            shapes = {name: array.shape for name, array in arrays.items()}
            sizes = solved_sizes(named, shapes, signature.size_names)
            signature = signature.at(sizes, workspace_bytes(self._native, signature, sizes))
            prepared = {**prepared, **{name: np.array(size) for name, size in sizes.items()}}
        taken = tuple(each for each in signature.buffers if each.role in GIVEN)
        named = {each.name: arrays[each.name] for each in taken if each.name in arrays}
        given = check_arrays("argument", taken, named)
        starts = [_start(buffer, {**arrays, **given}, prepared) for buffer in signature.buffers]
        memory = [
            Watched(buffer, start) for buffer, start in zip(signature.buffers, starts, strict=True)
        ]
        pointers = (ctypes.c_void_p * len(memory))()
        for each in memory:
            pointers[each.buffer.index] = each.array.ctypes.data
        self._start(self._native.function(f"{signature.function}_packed"), pointers)
        for each, start in zip(memory, starts, strict=True):
            each.check(start, signature.function)
            _check_indices(each)
        return {
            each.buffer.name: each.array
            for each in memory
            if each.buffer.role in ("output", "updated")
        }

    def _start(self, function: Callable[[object], None], pointers: object) -> None:
        from gawee_dialect.backend.openmp import call_in_team

        if self._native.runtime is None:
            function(pointers)
        else:
            call_in_team(function, pointers, None, self._native.runtime)


def _start(
    buffer: "Buffer", arrays: Mapping[str, Array], prepared: Mapping[str, Array]
) -> Array | None:
    """Return what a buffer holds at first; None for uninitialized memory."""
    if buffer.role in ("prepared", "size"):
        if buffer.name not in prepared:
            names = ", ".join(prepared) or "none"
            raise GaweeError(f"expected '@{PREPARE}' to make value '{buffer.name}', got {names}")
        return prepared[buffer.name]
    if buffer.role == "updated":
        return arrays.get(buffer.name, np.zeros(buffer.shape, buffer.dtype))
    return arrays[buffer.name] if buffer.role in READ else None


def _check_indices(memory: Watched) -> None:
    check = memory.buffer.check
    problem = None if check is None else check.problem(np.atleast_1d(memory.array).tolist())
    if problem is not None:
        raise GaweeError(problem)


# Calls of kernels as machine code, in a function that is interpreted otherwise.
#
# So what each node of a large network computes can be seen at the level of loops.


@register_impls
class NativeCalls(OpFunctions):
    """An implementation of `func.call` that runs the callee natively."""

    def __init__(self, module: ModuleOp) -> None:
        """Compile the functions of a module, of the loops or the llvm level; raises GaweeError."""
        from gawee_dialect.backend.jit import NativeModule, Target
        from gawee_dialect.passes.loops.convert_to_llvm import ConvertToLLVM
        from gawee_dialect.universe import make_context

        callable_ones = module.clone()
        for function in callable_ones.ops:  # so that each kernel has an address
            if isinstance(function, FuncOp):
                function.sym_visibility = None
            elif isinstance(function, llvm.FuncOp) and function.body.blocks:
                function.linkage = llvm.LinkageAttr("external")
        if any(isinstance(function, FuncOp) for function in callable_ones.ops):
            ConvertToLLVM().apply(make_context(), callable_ones)
        self._native = NativeModule(callable_ones, Target(opt_level=OPT_LEVEL))

    @impl(CallOp)
    def call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        callee = SymbolTable.lookup_symbol(interpreter.module, op.callee)
        assert isinstance(callee, FuncOp)
        address = self._native.address(callee.sym_name.data)
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(args))(address)
        function(*(array.ctypes.data for array in args))
        return ()
