"""What one thread needs for calls: its own workspace, pointers, and memory for the outputs."""

import ctypes
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from sys import getrefcount
from weakref import getweakrefcount

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.backend.jit import NativeModule
from gawee_dialect.backend.memory import aligned_bytes, new_array
from gawee_dialect.backend.native_call import FINE, CallPlan, native_call
from gawee_dialect.backend.signature import Buffer, Signature
from gawee_dialect.diagnostics import GaweeError

Array = NDArray[np.generic]

MOST_KEPT = 64 << 20
"""Bytes of an output whose memory is kept between calls."""

RESULTS = ("output", "updated")
"""The roles of what a call returns."""

_alone = [np.empty(0)]
HELD_BY_A_LIST = getrefcount(_alone[0])
"""Python's reference count of an array that only a list holds."""

COUNTS_HOLDERS = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether Python's count of references is exact: not where threads run without its lock."""


@dataclass(frozen=True)
class Binding:
    """The arrays that all calls share: parameters, constants and what was prepared from them."""

    arrays: Mapping[int, Array]
    """By argument index."""

    parameters: Mapping[str, Array]
    """By name, as they were given."""

    @cached_property
    def addresses(self) -> Mapping[int, int]:
        """Where the arrays are, by argument index."""
        return {index: array.ctypes.data for index, array in self.arrays.items()}


class Destination:
    """Makes arrays for an output; one that its caller has dropped is used again.

    The last two are kept, since a loop has the one of its last step still: the pages of new memory
    take longer than many an op. Where sizes are open, frames of a thread share them.
    """

    def __init__(self) -> None:
        self._kept: list[Array | None] = [None, None]

    def array(self, buffer: Buffer) -> Array:
        """Return an array of a buffer's shape without other references."""
        kept = self._kept
        for index in (0, 1):
            if getrefcount(kept[index]) == HELD_BY_A_LIST:
                array = kept[index]
                if array is not None and array.shape == buffer.shape and not getweakrefcount(array):
                    return array
        return self.new(buffer)

    def new(self, buffer: Buffer, start: Array | None = None) -> Array:
        """Return a new array: for what is updated, a copy of some start, or zeros."""
        if buffer.role == "updated":
            return np.zeros(buffer.shape, buffer.dtype) if start is None else np.array(start)
        made = new_array(buffer)
        if COUNTS_HOLDERS and buffer.size < MOST_KEPT:
            self._kept[:] = made, self._kept[0]
        return made

    def again(self, call: Callable[..., int]) -> Callable[[Iterable[object]], Array | None]:
        """Return what calls code on arrays and memory that was used before; None where it has none,
        or the code does not take the arrays.

        A single function: behind a call that filled the caches each further one is slow to reach.
        """
        kept = self._kept

        def result(arrays: Iterable[object]) -> Array | None:
            if getrefcount(kept[0]) != HELD_BY_A_LIST or getweakrefcount(kept[0]):
                return None
            array = kept[0]
            return array if call(*arrays, array) == FINE else None

        return result


class Frame:
    """The memory of a thread's calls of one function."""

    def __init__(
        self,
        signature: Signature,
        binding: Binding,
        native: NativeModule,
        arrays: Sequence[Buffer] = (),
        sizes: Mapping[str, int] | None = None,
        workspace: NDArray[np.uint8] | None = None,
        destinations: Sequence[Destination] | None = None,
    ) -> None:
        """Take the memory; `arrays` are those that each call gives.

        `sizes` are the numbers of those that are open, of which `signature` has the shapes; frames
        of one thread may share a `workspace`, and `destinations` of the outputs.
        """
        self.binding = binding
        if workspace is None:
            workspace = aligned_bytes(signature.workspace_size)
        self._workspace = workspace
        pointers = (ctypes.c_void_p * len(signature.buffers))()
        for index, address in binding.addresses.items():
            pointers[index] = address
        for buffer in signature.of_role("workspace"):
            pointers[buffer.index] = self._workspace.ctypes.data
        numbers: Mapping[str, int] = sizes or {}
        self._sizes = np.array([numbers[name] for name in signature.sizes], np.int64)
        for place, buffer in enumerate(signature.of_role("size")):
            pointers[buffer.index] = self._sizes.ctypes.data + place * self._sizes.itemsize
        # One array for all of them: looking at it is a part of every call.
        self._checks = [
            (buffer, buffer.check)
            for buffer in signature.of_role("indices")
            if buffer.check is not None
        ]
        limits = [limit for _, check in self._checks for limit in check.limits()]
        self._plan = CallPlan(
            arrays, pointers, np.zeros(len(limits), np.int64), np.array(limits, np.int64)
        )
        first = self._plan.worst.ctypes.data
        for buffer, _ in self._checks:
            pointers[buffer.index] = first
            first += buffer.size
        self._native = native  # its code must live as long as this
        self.call = native_call(native.address(f"{signature.function}_packed"), self._plan)
        self._outputs = [each for each in arrays if each.role in RESULTS]
        self._destinations = destinations or [Destination() for _ in self._outputs]

    def one_output(self, call: Callable[..., int]) -> Callable[[Iterable[object]], Array | None]:
        """Return what computes the one output from the inputs: `Destination.again`."""
        if len(self._outputs) != 1:
            return lambda arrays: None
        return self._destinations[0].again(call)

    def outputs(self) -> list[Array]:
        """Return arrays for the outputs to be written to, where none of them is updated."""
        return [*map(Destination.array, self._destinations, self._outputs)]

    def new_outputs(self, given: Mapping[str, Array]) -> list[Array]:
        """Return new arrays for the outputs; `given` are starts of what is updated."""
        pairs = zip(self._destinations, self._outputs, strict=True)
        return [each.new(buffer, given.get(buffer.name)) for each, buffer in pairs]

    def run(self, arrays: Sequence[object]) -> int:
        """Run the code on arrays; returns FINE, UNFIT or OUT_OF_RANGE."""
        return self.call(*arrays)

    def index_problem(self) -> GaweeError:
        """Return what to raise where an index of the last call was out of range."""
        values = iter(self._plan.worst.tolist())
        problems = [check.problem([*islice(values, len(check.sizes))]) for _, check in self._checks]
        return GaweeError(problem for problem in problems if problem is not None)
