"""Calls of compiled code with arrays, checked by machine code: a fraction of a microsecond each.

What `ctypes` needs for a call, and NumPy for the address of an array, takes longer than many a
kernel. Here a builtin function of Python, of our own code, reads the fields of the arrays.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import ge
from typing import TypeAlias

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from gawee_dialect.backend.signature import Buffer
from gawee_dialect.backend.thread_pool import loaded
from gawee_dialect.python_numbers import is_array

TEXT = files("gawee_dialect.backend").joinpath("native_call.ll")

FINE, UNFIT, OUT_OF_RANGE = range(3)
"""What a call returns: arrays that do not fit the signature were not used, and nothing ran."""

NativeCall: TypeAlias = Callable[..., int]
"""Takes arrays in the order of a plan, and runs the code on their memory without the GIL."""

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""NumPy's bits of an array's flags."""

METH_FASTCALL = 0x80
"""Python's mark of functions that take an array of arguments and its length."""

WORD = 8
"""Bytes of a number or an address."""

WORDS_OF_AN_ARRAY = 5
"""In a plan: `%array_plan`."""

HEAD = object.__basicsize__
PLACES = {
    "CLASS": HEAD - 8,
    "DATA": HEAD,
    "AXES": HEAD + 8,
    "SHAPE": HEAD + 16,
    "TYPE": HEAD + 40,
    "FLAGS": HEAD + 48,
}
"""Bytes from the start of an array object to its fields: NumPy's binary interface."""

PYTHON = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyLong_FromLongLong")


@dataclass(frozen=True)
class CallPlan:
    """What arrays a call is given, and what memory it has beside them."""

    arrays: Sequence[Buffer]
    """What the arrays of a call are, in its order."""

    pointers: ctypes.Array[ctypes.c_void_p]
    """An address for each buffer; a call fills in those of its arrays."""

    worst: NDArray[np.int64]
    """Where the code leaves the worst indices."""

    limits: NDArray[np.int64]
    """The least values of those that are out of range."""

    def words(self, function: int) -> NDArray[np.int64]:
        """Return the plan as the machine code reads it, with the shapes at its end."""
        pointers = ctypes.addressof(self.pointers)
        head = [
            *(len(self.arrays), id(np.ndarray), function, pointers),
            *(len(self.limits), self.worst.ctypes.data, self.limits.ctypes.data),
        ]
        shapes = [size for buffer in self.arrays for size in buffer.shape]
        count = len(head) + WORDS_OF_AN_ARRAY * len(self.arrays)
        words = np.array([*head, *[0] * (count - len(head)), *shapes], np.int64)
        place, shape = len(head), words.ctypes.data + count * WORD
        for buffer in self.arrays:
            flags = C_CONTIGUOUS | ALIGNED | (0 if buffer.role == "input" else WRITEABLE)
            pointer = pointers + buffer.index * WORD
            axes = len(buffer.shape)
            after = place + WORDS_OF_AN_ARRAY
            words[place:after] = id(buffer.dtype), axes, shape, flags, pointer
            place, shape = after, shape + axes * WORD
        return words


class _Method(ctypes.Structure):
    """PyMethodDef of Python's C interface."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def has_known_layout() -> bool:
    """Whether the fields of an array are where NumPy's binary interface has them."""
    array = np.zeros((2, 3), np.float32)
    start, pointer, number = id(array), ctypes.c_void_p, ctypes.c_int
    found = (
        *(pointer.from_address(start + PLACES[name]).value for name in ("CLASS", "DATA", "TYPE")),
        *(number.from_address(start + PLACES[name]).value for name in ("AXES", "FLAGS")),
    )
    expected = (id(np.ndarray), array.ctypes.data, id(array.dtype), 2, array.flags.num)
    if ctypes.sizeof(pointer) != ctypes.sizeof(ctypes.c_int64) or found != expected:
        return False
    shape = pointer.from_address(start + PLACES["SHAPE"]).value or 0
    return tuple((ctypes.c_int64 * 2).from_address(shape)) == array.shape


@cache
def builtin_call() -> tuple[_Method, binding.ExecutionEngine] | None:
    """Compile the builtin function, for ever; None where arrays are laid out otherwise."""
    if not has_known_layout():
        return None
    text = TEXT.read_text(encoding="utf-8")
    for name, place in PLACES.items():
        text = text.replace(f"i64 {name}", f"i64 {place}")
    for name in PYTHON:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        binding.add_symbol(name, address or 0)
    engine = loaded(text, opt=0)  # in 2 ms: better code is 20 ns faster, and takes 15 ms
    method = _Method(b"call", engine.get_function_address("call"), METH_FASTCALL, None)
    return method, engine


def native_call(function: int, plan: CallPlan) -> NativeCall:
    """Return what calls a packed function by its address; LLVM must have been prepared.

    It keeps neither the function's code nor the memory of the plan.
    """
    made = builtin_call()
    if made is None:
        return PythonCall(function, plan)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    call: NativeCall = new(ctypes.addressof(made[0]), plan.words(function), None)
    return call


class PythonCall:
    """The same by `ctypes`, where arrays are laid out otherwise."""

    def __init__(self, function: int, plan: CallPlan) -> None:
        self._plan = plan
        self._native = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)

    def __call__(self, *arrays: object) -> int:
        """Check the arrays, and call the function on their memory."""
        plan = self._plan
        if len(arrays) != len(plan.arrays):
            return UNFIT
        for buffer, array in zip(plan.arrays, arrays, strict=True):
            if not is_array(array) or not _fits(array, buffer):
                return UNFIT
            plan.pointers[buffer.index] = array.ctypes.data
        self._native(plan.pointers)
        return OUT_OF_RANGE if any(map(ge, plan.worst, plan.limits)) else FINE


def _fits(array: NDArray[np.generic], buffer: Buffer) -> bool:
    flags = array.flags
    return (
        (array.shape, array.dtype) == (buffer.shape, buffer.dtype)
        and flags.c_contiguous
        and flags.aligned
        and (buffer.role == "input" or flags.writeable)
    )
