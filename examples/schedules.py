"""Schedules of well-known kernels, each a plain function that takes steps for a kernel.

    sch = schedule(model)
    goto_matmul(sch["matmul *"])

A function takes a kernel of `schedule(model)`, whose sizes it may ask for, and the number of lanes
of a vector. What is in registers at once is the tile: with 32 registers of 16 lanes up to 28
accumulators, the others hold operands. `docs/tutorial/first_schedule.md` explains them.
"""

from gawee_dialect.scheduling.kernels import KernelSchedule, NetworkSchedule


def in_registers(sch: KernelSchedule, along: str, lanes: int, **tile: int) -> KernelSchedule:
    """Tile a kernel, and keep each tile in registers, in vectors along one dimension."""
    sch.tile(**tile).vectorize(**{along: lanes})
    return sch.unroll(*(dim for dim, size in tile.items() if dim != along or size > lanes))


def goto_matmul(sch: KernelSchedule, lanes: int = 16, rows: int = 9) -> KernelSchedule:
    """Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008.

    A block of the first operand, sixteen tiles of rows, stays in a cache while panels of the second
    one, three vectors wide, go by; both are packed in the order in which they are read. Sums are in
    registers throughout.
    """
    sch.name("m", "n", "k")
    rows, width = min(rows, sch.sizes["m"]), min(3 * lanes, sch.sizes["n"])
    if sch.sizes["m"] > 16 * rows:
        sch.tile(m=16 * rows)
    return in_registers(sch, "n", lanes, n=width, m=rows).pack(0, 1)


def direct_conv(sch: KernelSchedule, lanes: int = 16) -> KernelSchedule:
    """Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD, 2018.

    Vectors are of output channels, and a tile is a part of a row: each weight that is loaded is
    used for all its columns. Nothing is copied but weights.
    """
    names = ("image", "feature", "row", "column", "channel", "y", "x")
    sch.name(*names[: len(sch.sizes)])  # a 1x1 convolution has no y and x
    features = min(2 * lanes, sch.sizes["feature"])
    columns = max(part for part in range(1, 15) if sch.sizes["column"] % part == 0)
    return in_registers(sch, "feature", lanes, row=1, feature=features, column=columns)


def depthwise_conv(sch: KernelSchedule, lanes: int = 16, in_blocks: bool = False) -> KernelSchedule:
    """Each channel by itself: vectors are along a row, and a tile has several rows.

    Weights of a tile are loaded once for all its rows. Where channels lie in blocks, as behind
    another convolution, vectors are of channels, and a tile is a part of a row.
    """
    sch.name("image", "channel", "row", "column", "y", "x")
    if in_blocks:
        columns = max(part for part in range(1, 16) if sch.sizes["column"] % part == 0)
        channels = min(lanes, sch.sizes["channel"])
        return in_registers(sch, "channel", lanes, channel=channels, column=columns)
    rows = max(part for part in range(1, 16) if sch.sizes["row"] % part == 0)
    sch.tile(row=rows).vectorize(column=lanes).unroll("row")
    return sch


def by_rows(sch: KernelSchedule, lanes: int = 16, vectors: int = 8) -> KernelSchedule:
    """A kernel whose last dimension lies side by side, reduced or not: several vectors at a time.

    Where it is reduced, each vector of the tile has an accumulator of its own, so that no addition
    waits for the one before it.
    """
    along, size = list(sch.sizes.items())[-1]
    return in_registers(sch, along, lanes, **{along: min(vectors * lanes, size)})


def softmax(sch: NetworkSchedule, lanes: int = 16) -> NetworkSchedule:
    """Softmax over the last axis: the largest of a row, exponentials, their sum, and quotients.

    Each of the four kernels goes through a row that is in the first cache, by whole vectors.
    """
    for kernel in sch.select(where=lambda each: each.kind in ("reduce", "elementwise")):
        by_rows(kernel, lanes)
    return sch


def layer_norm(sch: NetworkSchedule, lanes: int = 16) -> NetworkSchedule:
    """Layer norm over the last axis: the mean and the deviation of a row, then its elements.

    As in softmax; that the mean comes before the deviation makes it a third way through a row.
    """
    return softmax(sch, lanes)


def inverted_residual(sch: NetworkSchedule, lanes: int = 16) -> NetworkSchedule:
    """Sandler et al., MobileNetV2, 2018: a 1x1 convolution, a depthwise one, another 1x1.

    The 1x1 convolutions are matrix products for each pixel, whose tiles are parts of rows. Between
    them channels lie in blocks; a copy puts the last ones as they are wanted.
    """
    for kernel in sch.select("conv"):
        depthwise_conv(kernel, lanes, in_blocks=True)
    for kernel in sch.select("matmul"):
        direct_conv(kernel, lanes)
    for kernel in sch.select("copy"):
        by_rows(kernel, lanes, 1)
    return sch
