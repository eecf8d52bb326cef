"""A network compiled once for all sizes that its names may have."""

import ctypes
import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX

from gawee_dialect.analysis.open_sizes import check_sizes, solved_sizes
from gawee_dialect.backend.compiled import BOUND_ROLES, Array, CompiledModel, check_arrays
from gawee_dialect.backend.frame import RESULTS, Binding, Destination, Frame
from gawee_dialect.backend.jit import NativeModule
from gawee_dialect.backend.memory import MemoryUse, aligned_bytes
from gawee_dialect.backend.native_call import FINE, OUT_OF_RANGE
from gawee_dialect.backend.signature import Signature
from gawee_dialect.dialect.entry import workspace_size_name
from gawee_dialect.python_numbers import is_array

MOST_FRAMES = 8
"""Of how many sets of sizes a thread keeps what a call needs beside memory: pointers."""

Shapes = tuple[tuple[int, ...], ...]


def workspace_bytes(native: NativeModule, signature: Signature, sizes: Mapping[str, int]) -> int:
    """Return the bytes of workspace that code needs for numbers of its sizes, as it says itself."""
    if all(DYNAMIC_INDEX not in each.shape for each in signature.of_role("workspace")):
        return signature.workspace_size
    names = signature.sizes
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(names))
    address = native.address(workspace_size_name(signature.function))
    return int(kind(address)(*(sizes[name] for name in names)))


class _OfAThread(threading.local):
    """What each thread that calls a model has for itself."""

    workspace: NDArray[np.uint8] | None = None
    binding: Binding | None = None
    frames: dict[Shapes, Frame] | None = None
    destinations: Sequence[Destination] = ()


class OpenModel(CompiledModel):
    """A callable on NumPy arrays of any sizes in range, as `CompiledModel` is on those of one.

    `inputs` and `outputs` have the forms of sizes in their shapes. Each thread has one workspace,
    which grows when larger sizes come, and keeps outputs that were dropped whatever their sizes.
    """

    _open_threads: _OfAThread
    _largest = 0

    @property
    def sizes(self) -> Mapping[str, str]:
        """The named sizes, with the values that each may have."""
        return {each.name: each.range_text() for each in self.signature.size_names}

    def rebind(self, parameters: Mapping[str, Array]) -> None:
        """Bind other parameter values, as `CompiledModel.rebind` does."""
        super().rebind(parameters)
        self._open_threads = _OfAThread()

    def workspace_size(self, sizes: Mapping[str, int]) -> int:
        """Return the bytes of scratch memory that a call needs, for numbers of all names.

        Raises GaweeError for a number that is missing or out of range.
        """
        check_sizes(self.signature.size_names, sizes)
        return workspace_bytes(self._native, self.signature, sizes)

    @property
    def memory(self) -> MemoryUse:
        """The bytes that a run needs beside code, inputs and outputs: of the largest one so far."""

        def bytes_of(*roles: str) -> int:
            return sum(buffer.size for buffer in self.signature.of_role(*roles))

        return MemoryUse(self._largest, bytes_of("prepared"), bytes_of(*BOUND_ROLES))

    def _numbers(self, inputs: Mapping[str, object]) -> Mapping[str, int]:
        """Return the number of each name, from the shapes of inputs; raises GaweeError."""
        shapes = {each.name: each.shape for each in (*self._inputs, *self._updated)}
        given = {name: each.shape for name, each in inputs.items() if is_array(each)}
        return solved_sizes(shapes, given, self.signature.size_names)

    def _frame_of(self, key: Shapes, sizes: Mapping[str, int]) -> Frame:
        """Make what this thread needs for calls with some sizes; it is kept."""
        own, binding = self._open_threads, self._bound()
        needed = self.workspace_size(sizes)
        self._largest = max(self._largest, needed)
        if own.workspace is None or own.workspace.size < needed or own.frames is None:
            own.workspace, own.frames = aligned_bytes(needed), {}
        if own.binding is not binding:
            own.binding, own.frames = binding, {}
        while len(own.frames) >= MOST_FRAMES:
            del own.frames[next(iter(own.frames))]
        signature = self.signature.at(sizes, needed)
        results = signature.of_role(*RESULTS)
        own.destinations = own.destinations or [Destination() for _ in results]
        memory = own.workspace, own.destinations
        arrays = (*signature.of_role("input"), *results)
        frame = Frame(signature, binding, self._native, arrays, sizes, *memory)
        own.frames[key] = frame
        return frame

    def _known_frame(self, arrays: Sequence[object]) -> Frame | None:
        own = self._open_threads
        if own.frames is None or own.binding is not self._bound():
            return None
        return own.frames.get(tuple(each.shape if is_array(each) else () for each in arrays))

    def _results(self, arrays: Sequence[object]) -> Sequence[Array] | None:
        frame = None if self._updated else self._known_frame(arrays)
        if frame is None:
            return None
        results = frame.outputs()
        status = self._start(frame, (*arrays, *results))
        if status == OUT_OF_RANGE:
            raise frame.index_problem()
        return results if status == FINE else None

    def _checked_results(self, inputs: Mapping[str, object]) -> Sequence[Array]:
        sizes = self._numbers(inputs)
        starts = tuple(each for each in self._updated if each.name in inputs)
        expected = tuple(each.at(sizes, 0) for each in (*self._inputs, *starts))
        arrays = check_arrays("input", expected, inputs)
        given = [arrays[each.name] for each in self._inputs]
        key = tuple(each.shape for each in given)
        frame = self._known_frame(given) or self._frame_of(key, sizes)
        results = frame.new_outputs(arrays) if self._updated else frame.outputs()
        if self._start(frame, (*given, *results)) == OUT_OF_RANGE:
            raise frame.index_problem()
        return results
