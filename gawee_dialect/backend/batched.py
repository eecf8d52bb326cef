"""A network compiled for one image, called with any number of them.

The loop over images is here, in the call path: the code, the weights that it packed and the
workspace are those of one image, whatever the size of a batch. So any number is right, and no
remainder is left over. Images are spread over threads, and each of these
computes one by itself: without the barriers that all kernels of a team have.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from gawee_dialect.analysis.batch_axes import Along, BatchArguments
from gawee_dialect.backend.compiled import Array, CompiledModel, check_arrays
from gawee_dialect.backend.frame import Binding
from gawee_dialect.backend.native_call import FINE, OUT_OF_RANGE
from gawee_dialect.backend.openmp import MOST_THREADS, call_in_team
from gawee_dialect.backend.program import Program
from gawee_dialect.backend.signature import Buffer
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.python_numbers import is_array

# Threads that take over images of a batch while their caller computes others.


class _Helpers:
    """The threads of this process, which are started when there is something for them to do."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # A forked process has none of them.
        self._executor = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="gawee-images")

    def submit(self, function: Callable[[], None]) -> "Future[None]":
        """Have a thread call a function."""
        return self._executor.submit(function)


_helpers = _Helpers()


def call_in_threads(function: Callable[[], None], threads: int) -> None:
    """Call a function in some threads at once, the caller's among them.

    Any one of the calls may do all of the work: helpers that have not begun when the caller
    is done are not waited for. Raises what the caller's own call does, else what a helper's does.
    """
    others = [_helpers.submit(function) for _ in range(threads - 1)]
    try:
        function()
    finally:
        for each in others:
            if not each.cancel():
                each.exception()  # waits: the caller's memory is theirs until then
    for each in others:
        if not each.cancelled():
            each.result()


class BatchedModel(CompiledModel):
    """A callable on NumPy arrays of any number of images, as `CompiledModel` is on those of one.

    `inputs` and `outputs` describe one image; `images` says along which axes there are more. An
    input without such an axis is the same for all images. An output without one is what the last
    image made of it, and all others too.
    """

    def __init__(
        self,
        program: Program,
        parameters: Mapping[str, Array] | None,
        images: BatchArguments,
        *,
        num_threads: int | None = None,
    ):
        """Load the program of one image; as `CompiledModel`."""
        super().__init__(program, parameters, num_threads=num_threads)
        self.images = images

    @property
    def summary(self) -> str:
        """What goes in and out for each image, and what it runs on, in one line."""
        return f"{super().summary}, any number of images"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        again, arguments = super().__reduce__()
        return again, (*arguments, self.images)

    def _results(self, arrays: Sequence[object]) -> Sequence[Array] | None:
        return None

    def _checked_results(self, inputs: Mapping[str, object]) -> Sequence[Array]:
        images = self._number_of_images(inputs)
        expected = tuple(_of_images(each, self._taken(each), images) for each in self.inputs)
        arrays = check_arrays("input", expected, inputs)
        made = [
            _of_images(each, self.images.outputs.get(each.name), images) for each in self.outputs
        ]
        results = [np.empty(each.shape, each.dtype) for each in made]
        given = [arrays[each.name] for each in self.inputs]
        threads = min(self.num_threads, images)
        together = images - images % threads if threads > 1 else 0
        binding = self._bound()  # of all images, even if it is rebound meanwhile
        if together:
            self._spread(range(together), given, results, threads, binding)
        if together < images:
            rest = iter(range(together, images))
            self._one_by_one(rest, given, results, self._num_threads, binding)
        return results

    def _taken(self, buffer: Buffer) -> Along | None:
        axis = self.images.inputs.get(buffer.name)
        return None if axis is None else Along(axis)

    def _number_of_images(self, inputs: Mapping[str, object]) -> int:
        """Return how many images the first input that has any has; raises GaweeError for none."""
        for name, axis in self.images.inputs.items():
            array: object = inputs.get(name)
            if is_array(array) and array.ndim > axis:
                if array.shape[axis] == 0:
                    raise GaweeError(f"expected at least 1 image of input '{name}', got none")
                return array.shape[axis]
        return 1

    def _spread(
        self,
        images: range,
        given: Sequence[Array],
        results: Sequence[Array],
        threads: int,
        binding: Binding,
    ) -> None:
        """Compute images in several threads, each of which takes the next one that is left."""
        left = iter(images)
        lock = threading.Lock()

        def next_images() -> Iterator[int]:
            while True:
                with lock:
                    image = next(left, None)
                if image is None:
                    return
                yield image

        def compute() -> None:
            self._one_by_one(next_images(), given, results, 1, binding)

        call_in_threads(compute, threads)

    def _one_by_one(
        self,
        images: Iterator[int],
        given: Sequence[Array],
        results: Sequence[Array],
        threads: int | None,
        binding: Binding,
    ) -> None:
        """Compute images one after the other; raises GaweeError for an index out of range."""
        frame = self._frame(binding)
        sources = [
            _Rows(array, each, self._taken(each))
            for array, each in zip(given, self.inputs, strict=True)
        ]
        targets = [
            _Rows(array, each, self.images.outputs.get(each.name))
            for array, each in zip(results, self.outputs, strict=True)
        ]

        def run(left: Iterator[int]) -> None:
            for image in left:
                made = [each.place(image) for each in targets]
                status = frame.run((*(each.taken(image) for each in sources), *made))
                if status == OUT_OF_RANGE:
                    raise frame.index_problem()
                assert status == FINE
                for target, array in zip(targets, made, strict=True):
                    target.keep(image, array)

        if self._runtime is None:
            run(images)
        else:
            call_in_team(run, images, threads, self._runtime)


class _Rows:
    """The part of each image in an array; all of it where images share it.

    The code needs what one image has in one piece. It is so where it lies, unless the axis has
    others before it.
    """

    def __init__(self, array: Array, buffer: Buffer, place: Along | None) -> None:
        self._buffer = buffer
        self._array = array
        self._is_shared = place is None
        if place is not None:
            axis, outer = place
            rows = buffer.shape[axis] // outer
            before, after = buffer.shape[:axis], buffer.shape[axis + 1 :]
            # Image i of any block is at [..., :, i]; without a copy, since arrays are in C order.
            self._array = array.reshape(*before, outer, -1, rows, *after)
            self._before = (slice(None),) * (axis + 1)

    def _view(self, image: int) -> Array:
        return self._array[(*self._before, image)]

    def taken(self, image: int) -> Array:
        """Return what an image reads."""
        if self._is_shared:
            return self._array
        return np.ascontiguousarray(self._view(image)).reshape(self._buffer.shape)

    def place(self, image: int) -> Array:
        """Return where an image writes."""
        if not self._is_shared:
            view = self._view(image)
            if view.flags.c_contiguous:
                return view.reshape(self._buffer.shape)
        return np.empty(self._buffer.shape, self._buffer.dtype)

    def keep(self, image: int, array: Array) -> None:
        """Copy what an image wrote to where it belongs, if that is elsewhere."""
        if self._is_shared:
            if image == 0:
                self._array[...] = array
            return
        view = self._view(image)
        if not view.flags.c_contiguous:
            view[...] = array.reshape(view.shape)


def _of_images(buffer: Buffer, place: Along | None, images: int) -> Buffer:
    """Return the buffer of a number of images for that of one."""
    if place is None:
        return buffer
    shape = list(buffer.shape)
    shape[place.axis] *= images
    return replace(buffer, shape=tuple(shape))
