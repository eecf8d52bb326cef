"""Which inputs in blocks of channels are copied into the order in which tiles read them.

Where the loops over outputs are outermost, an input is read again for each of their steps. A tile
reads a short run of each block of channels, and these lie far apart: no processor fetches them by
itself, they take the same places of caches, and a run of half a line fetches the other half too.
The copy is read from one end to the other.

Zen 3, ResNet-50: 1x1 layers of stride 2 take 3.0, 3.2 and 3.6 ms, with a copy 2.3, 2.2 and 2.2;
sums of 2048 channels at 7x7 1.5 and 1.1; of 256 to 1024 channels at 14x14 1.4 to 8 % less. Windows
of 3x3 pixels and stride 2 over 512 channels, of which each is copied whole: 3.3 and 2.9 ms.
"""

from collections.abc import Sequence
from math import ceil, prod

from gawee_dialect.dialect.kernels.schedule import Loop
from gawee_dialect.passes.tensors.assign_schedules.cost_model import OFTEN
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import (
    BYTES,
    KernelAccesses,
    Operand,
)
from gawee_dialect.target.description import Processor

LARGEST_COPY = 2
"""How many times the second cache a copy of a whole input may take.

Zen 3, 512 channels of 28x28 (three times its 512 KB), read 16 times: 5 % slower with the copy.
"""
SPARSE = 2
"""How many times more there is to fetch than is read for a copy to pay of any size.

Windows overlap: what they read may be as many times more than there is, in a copy that fits.
"""


def is_copied(
    operand: Operand, kernel: KernelAccesses, loops: Sequence[Loop], processor: Processor
) -> bool:
    """Whether an input is copied into the order of the loops, each block of channels whole."""
    if not operand.in_accumulate or operand.is_parameter or kernel.in_pairs:
        return False
    block = max(map(operand.block_of, kernel.reductions), default=1)
    if not 1 < block < processor.line // BYTES:
        return False
    if _times_read(operand, kernel, loops) < OFTEN:
        return False
    read = prod(kernel.sizes[dim] for dim in operand.dims)
    if SPARSE * read <= operand.elements:
        return True
    fits = BYTES * read <= LARGEST_COPY * processor.second_cache
    return fits and read <= SPARSE * operand.elements


def _times_read(operand: Operand, kernel: KernelAccesses, loops: Sequence[Loop]) -> int:
    """Return the steps of the loops around all those over points of an operand."""
    times = 1
    for dim, step in loops:
        if dim in operand.dims:
            break
        times *= ceil(kernel.sizes[dim] / step)
    return times
