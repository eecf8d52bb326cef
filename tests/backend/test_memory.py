"""Memory for intermediate values and prepared weights: aligned, zeroed, in one piece."""

import os

import numpy as np
import pytest

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.memory import CACHE_LINE, HUGE_PAGE, aligned_bytes, arena
from gawee_dialect.backend.signature import Buffer
from tests.backend.test_compiled import NETWORK, SCALE, SHIFT
from tests.loops_level import llvm_module


@pytest.mark.parametrize(
    ("size", "alignment"),
    [(0, 64), (1, 64), (777, 64), (HUGE_PAGE - 1, 64), (HUGE_PAGE, HUGE_PAGE)],
)
def test_memory_is_zeroed_and_aligned_to_huge_pages_where_it_fills_one(
    size: int, alignment: int
) -> None:
    memory = aligned_bytes(size)

    assert memory.ctypes.data % alignment == 0
    assert memory.size == max(1, size)
    assert not memory.any()
    memory[:] = 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_large_memory_is_not_shared_with_processes_forked_later() -> None:
    memory = aligned_bytes(HUGE_PAGE)

    child = os.fork()
    if not child:
        memory[0] = 1
        os._exit(0)
    os.waitpid(child, 0)

    assert memory[0] == 0


def test_arrays_of_an_arena_are_side_by_side_and_do_not_overlap() -> None:
    shapes = [(3, 5), (), (700, 1000), (0, 4), (7,)]
    buffers = tuple(
        Buffer(index, "output", str(index), shape, np.dtype(np.float32))
        for index, shape in enumerate(shapes)
    )

    arrays = arena(buffers)

    assert [array.shape for array in arrays.values()] == shapes
    for number, array in enumerate(arrays.values(), 1):
        assert array.ctypes.data % CACHE_LINE == 0
        array[...] = number
    assert [float(array.sum()) / max(1, array.size) for array in arrays.values()] == [1, 2, 3, 0, 5]
    assert arrays["0"].ctypes.data % HUGE_PAGE == 0


def test_a_model_tells_what_it_needs() -> None:
    model = CompiledModel(llvm_module(NETWORK), {"layer.scale": SCALE, "layer.shift": SHIFT})

    memory = model.memory

    assert memory.workspace == model.signature.workspace_size
    assert memory.prepared == sum(array.nbytes for array in model.prepared_values().values())
