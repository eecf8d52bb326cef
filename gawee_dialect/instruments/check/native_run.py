"""Run machine code on memory that is watched.

Every array lies between guards, and is aligned as little as the interface allows. What the code may
not write is compared afterwards, the guards too; what nothing has written holds poison.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import PREPARE, WEIGHTS
from gawee_dialect.instruments.check.guarded_memory import GuardedMemory
from gawee_dialect.instruments.check.inputs import DataSet
from gawee_dialect.instruments.check.isolated import run_isolated
from gawee_dialect.interpreter.arrays import Array, fill_unwritten, unwritten_memory

if TYPE_CHECKING:
    from gawee_dialect.backend.jit import NativeModule
    from gawee_dialect.backend.signature import Buffer, Signature

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
        """Make memory for a buffer that starts as some array, or as what nobody has written."""
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
    """A function at the llvm level as machine code, with its `@prepare`; raises GaweeError."""

    def __init__(self, module: ModuleOp, function: str) -> None:
        from gawee_dialect.backend.jit import Target
        from gawee_dialect.backend.program import compile_program

        program = compile_program(module, function, Target(opt_level=OPT_LEVEL), runs_once=True)
        self._native: NativeModule = program.load()
        self._main = program.signatures[function]
        self._prepare = program.signatures.get(PREPARE)

    def run(self, data_sets: Sequence[DataSet]) -> Sequence[dict[str, Array]]:
        """Run on each data set in turn, in a process of its own; returns the outputs by name."""

        def run() -> dict[str, Array]:
            each = enumerate(map(self._run, data_sets))
            return {f"{index} {name}": out for index, outs in each for name, out in outs.items()}

        found: list[dict[str, Array]] = [{} for _ in data_sets]
        for key, output in run_isolated(run).items():
            index, name = key.split(" ", 1)
            found[int(index)][name] = output
        return found

    def _run(self, data: DataSet) -> dict[str, Array]:
        with unwritten_memory(data.unwritten):
            prepared: Mapping[str, Array] = {}
            if self._prepare is not None:
                prepared = self._call(self._prepare, data.arrays, {})
            return self._call(self._main, data.arrays, prepared)

    def _call(
        self, signature: "Signature", arrays: Mapping[str, Array], prepared: Mapping[str, Array]
    ) -> dict[str, Array]:
        from gawee_dialect.backend.compiled import check_arrays

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
    """Return what a buffer holds at first; None for what nobody has written."""
    if buffer.role == "prepared":
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
