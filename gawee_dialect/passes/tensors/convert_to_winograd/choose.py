"""Whether Winograd's convolution pays, and in which tiles: an explicit model of its cycles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, gcd, prod

from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.winograd import KERNEL, PAIRS, TRANSFORMS, Winograd
from gawee_dialect.passes.tensors.assign_schedules.cost_model import TILE_OVERHEAD
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import BYTES
from gawee_dialect.passes.tensors.convert_to_algorithm import Plan
from gawee_dialect.target.description import Memory, Processor

# Cycles of the products of Winograd's algorithm: what is computed, and what is waited for.
#
# A step multiplies the weights of one input channel with that channel of a register tile. It takes
# as long as its multiply-adds, its loads or an accumulator's latency; and what it loads from
# beyond the first cache adds most of the time that this takes.

TIGHT = 1.15
"""What conflicts add where accumulators are just enough to hide their latency.

Zen 5, 256 channels at 14x14: steps of 4 rows and 2 vectors take 4.6 to 4.8 cycles, not 4.
"""
LOAD_WEIGHT = 0.05
"""What a cycle of loads adds where others hide it: tiles that load less are faster for the rest."""
KEPT = 7 / 8
"""What weights and inputs may take of the first cache to stay there for the next register tile."""


@dataclass(frozen=True)
class Products:
    """The products of one panel of weights and one point of the transforms."""

    plan: Winograd
    channels: int
    processor: Processor
    weights: Memory
    """Where weights come from when a block or a panel begins."""
    inputs: Memory
    """Where transformed inputs come from."""

    def cycles(self, count: int) -> float:
        """Return the cycles for so many tiles."""
        tiles = list(self._register_tiles(count))
        if not tiles:
            return 0
        again = 0.0 if self._stay(count) else self._waited(self._row, self.processor.memories[1])
        total = self.channels * (self._first() - again)
        # All steps fetch as much of what comes next.
        ahead = self._row / sum(many for many, _ in tiles) if self.plan.prefetch else 0
        stream = ahead / (self.processor.prefetched * self.processor.bytes_a_cycle(self.weights))
        for many, rows in tiles:
            step = self._step(rows) + self._waited(rows * BYTES, self.inputs)
            step = max(step, stream) + again
            total += many * (self.channels * step + TILE_OVERHEAD + rows * self._vectors)
        return total

    def _register_tiles(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield (how many, of how many rows)."""
        whole, rest = divmod(count, self.plan.rows)
        yield from (
            (many, rows) for many, rows in ((whole, self.plan.rows), (1, rest)) if many and rows
        )

    @property
    def _vectors(self) -> int:
        return self.plan.panel // self.plan.product_lanes

    @property
    def _row(self) -> int:
        """Bytes of the weights of one step."""
        return self.plan.panel * BYTES

    def _step(self, rows: int) -> float:
        """Return the cycles of a step whose operands are in the first cache."""
        units = self.processor.multiply_adds_of(self.plan.product_lanes)
        loading = (rows + self._vectors) / self.processor.loads
        waiting = TIGHT * self.processor.multiply_add_latency
        return max(rows * self._vectors / units, loading, waiting) + LOAD_WEIGHT * loading

    def _stay(self, count: int) -> bool:
        """Whether the panel stays in the first cache from one register tile to the next."""
        near = (self._row + min(self.plan.rows, count) * BYTES) * self.channels
        return near <= KEPT * (self.processor.memories[0].size or 0)

    def _first(self) -> float:
        """Return what the first register tile waits for the weights of a step."""
        second = self.processor.memories[min(1, len(self.processor.memories) - 1)]
        return self._waited(self._row, second if self.plan.prefetch else self.weights)

    def _waited(self, size: float, memory: Memory) -> float:
        near = memory is self.processor.memories[0]
        return 0 if near else self.processor.exposed * size / self.processor.bytes_a_cycle(memory)


TRANSFORM_CYCLES = {2: 60, 4: 170}
"""To transform one vector of channels of one tile, there or back, at one multiply-add a cycle."""
HELD_BLOCK = 0.85
"""What a block, its weights and its pixels may take of a core's second cache to stay there.

Zen 5, 48 to 24 channels at 256x256: 3.47 ms in blocks of 12 tiles, and of 39, which take 80 % of
1 MiB; 3.79 to 3.92 ms in blocks of 52 to 60, which take 100 to 113 %.
"""
SCRATCH_PART = 0.6
"""What transformed inputs and products may take of a core's second cache."""
MOST_ROWS = 16
"""Rows of a register tile to try, at most."""
FILTER_CYCLES = 6
"""To transform a row of points of one vector of filters in registers."""
NEAR_FILTERS = 2
"""What that is taken to cost where transformed weights are near: there they are not waited for."""
BY_CHANNEL_TILES = 64
"""Up to so many tiles may be computed all at once, one panel of channels after the other."""
UNHIDDEN = 0.1
"""The part of the faster of computing and fetching weights that the slower one does not hide."""
SMALLEST_GAIN = 1.1
"""How many times as long the direct way has to take by the model."""
PREFETCH_CYCLES = 0.25
"""Cycles of products with one weight, in which the next one comes from main memory.

Zen 5, 512 channels at 7x7: those of 8 tiles with 16 lanes, 4 with 8 lanes. Of the latter, as AVX2
code has them, prefetches take 1,280 to 1,150 us.
"""
FAR_INPUTS = 1
"""How many times a core's second cache inputs have to be large, for prefetches of them to pay."""
OTHER_PREFETCH = 1.01
"""What prefetches cost where they do not pay, and what is lost without them where they do."""
OTHER_WEIGHTS = 2
"""How many times its own size a layer's weights share the last cache with."""


@dataclass(frozen=True)
class Convolution:
    """A 3x3 convolution of stride 1: batch, channels out, rows, columns, channels in."""

    images: int
    features: int
    rows: int
    columns: int
    channels: int
    of_integers: bool = False
    """Whether products are those of two channels at a time, which a word holds."""

    @property
    def depth(self) -> int:
        """How many products there are for each output and each element of a filter."""
        return self.channels // PAIRS.value if self.of_integers else self.channels

    @property
    def tile_sizes(self) -> Sequence[int]:
        """The tiles that there are transforms for: of integers, those that i16 holds."""
        return (min(TRANSFORMS),) if self.of_integers else tuple(TRANSFORMS)

    @property
    def input_bytes(self) -> int:
        """How large the input is, with the halo that the outputs need."""
        border = KERNEL - 1
        pixels = self.images * (self.rows + border) * (self.columns + border)
        return pixels * self.depth * BYTES

    def tiles(self, size: int) -> int:
        """Return how many tiles of outputs there are."""
        return self.images * ceil(self.rows / size) * ceil(self.columns / size)


def lanes_of(convolution: Convolution, processor: Processor) -> int | None:
    """Return the lanes that divide the channels on both sides: a register or half of one."""
    for lanes in (processor.lanes, processor.lanes // 2):
        if lanes >= 4 and not convolution.features % lanes and not convolution.channels % lanes:
            return lanes
    return None


def direct_cycles(convolution: Convolution, processor: Processor) -> float:
    """Return the cycles that all threads together take for the convolution as it is written."""
    points = convolution.images * convolution.rows * convolution.columns * KERNEL**2
    work = points * convolution.features * convolution.depth
    weights = KERNEL**2 * convolution.features * convolution.depth * BYTES
    stream = weights / (processor.prefetched * processor.bytes_a_cycle(processor.main_memory))
    return _overlapped(work / (processor.lanes * processor.multiply_adds), stream)


def choose(convolution: Convolution, processor: Processor) -> Algorithm | None:
    """Return the fastest way, None where the direct one is."""
    possible = list(plans(convolution, processor))
    if not possible:
        return None
    best = min(possible, key=lambda plan: plan.cycles)
    gain = direct_cycles(convolution, processor) / best.cycles
    return best.algorithm if gain >= SMALLEST_GAIN else None


def problem(convolution: Convolution, plan: Winograd) -> str | None:
    """Say why a convolution cannot be computed as planned; None where it can."""
    if plan.tile not in convolution.tile_sizes:
        return (
            f"expected a tile of {' or '.join(map(str, convolution.tile_sizes))}, got {plan.tile}"
        )
    lanes = "twice 'lanes'" if plan.wide else "'lanes'"
    whole = convolution.features if plan.by_channel or not plan.wide else plan.panel
    for what, size, part in (
        (f"{lanes} to divide 'panel'", plan.panel, plan.product_lanes),
        ("'panel' to divide the output channels", whole, plan.panel),
        ("'lanes' to divide the output channels", convolution.features, plan.lanes),
        ("'lanes' to divide the input channels", convolution.channels, plan.lanes),
    ):
        if size % part:
            return f"expected {what} ({size}), got {part}"
    tiles = convolution.tiles(plan.tile)
    if plan.block > tiles or (plan.by_channel and plan.block != tiles):
        wanted = f"{tiles}" if plan.by_channel else f"at most {tiles}"
        return f"expected a block of {wanted} tiles, got {plan.block}"
    if plan.filters and convolution.of_integers:
        return "expected no 'filters' of integers"
    if plan.filters and not plan.by_channel:
        return "expected 'by_channel' with 'filters', got blocks of tiles"
    if plan.filters and plan.panel != plan.lanes:
        return f"expected a panel of {plan.lanes} channels with 'filters', got {plan.panel}"
    if plan.rows > plan.block:
        return f"expected at most {plan.block} rows, as many as a block has tiles, got {plan.rows}"
    return None


def plans(convolution: Convolution, processor: Processor) -> Iterator[Plan]:
    """Yield the ways to choose from, each with the cycles that the model expects of it."""
    lanes = lanes_of(convolution, processor)
    if lanes is None:
        return
    if not convolution.of_integers:
        yield from _filters_plan(convolution, lanes, processor)
    sizes = convolution.tile_sizes
    for size, (wide, vectors) in product(sizes, _panels(convolution, lanes, processor)):
        tiles = convolution.tiles(size)
        panel = vectors * (2 * lanes if wide else lanes)
        room = processor.vector_registers - vectors - processor.scratch_registers
        for rows in range(2, min(MOST_ROWS, tiles, room // vectors) + 1):
            for by_channel, block in _blocks(convolution, size, rows, processor):
                plan = Winograd(size, by_channel, block, rows, panel, lanes, wide=wide)
                if not by_channel or convolution.features % panel == 0:
                    yield from _with_prefetch(convolution, plan, processor)


def _panels(
    convolution: Convolution, lanes: int, processor: Processor
) -> Iterator[tuple[bool, int]]:
    """Yield how many vectors a panel may have, and whether they are twice as wide as `lanes`."""
    for wide in (False, True) if lanes < processor.lanes else (False,):
        groups = ceil(convolution.features / (2 * lanes if wide else lanes))
        yield from ((wide, vectors) for vectors in range(1, 5) if groups % vectors == 0)


def _filters_plan(convolution: Convolution, lanes: int, processor: Processor) -> Iterator[Plan]:
    """Yield the plan in which filters are transformed while they are multiplied, if tiles are few.

    The accumulators of a row of points, and a row of transformed weights, are in registers.
    """
    size = max(TRANSFORMS)
    points, tiles = TRANSFORMS[size].points, convolution.tiles(size)
    if points * (tiles + 1) + 1 <= processor.vector_registers:
        plan = Winograd(size, True, tiles, tiles, lanes, lanes, prefetch=True, filters=True)
        yield Plan(plan, cycles_of(convolution, plan, processor))


def _of_filters(convolution: Convolution, plan: Winograd, processor: Processor) -> float:
    """Return the cycles of all cores where filters are transformed while they are multiplied."""
    size, lanes, tiles = plan.tile, plan.lanes, plan.block
    points = TRANSFORMS[size].points
    panels = convolution.features // lanes
    lane_units = processor.multiply_adds_of(lanes)
    # All rows read the filters, the first and the last one a column of three.
    read = (KERNEL - 2 * (KERNEL - 1) / points) * KERNEL * lanes + tiles * points
    waited = processor.exposed * read * BYTES / processor.bytes_a_cycle(processor.memories[1])
    row = convolution.channels * (points * tiles / lane_units + FILTER_CYCLES + waited)
    work = panels * points * (row + TILE_OVERHEAD + points * tiles)
    channels = (convolution.channels + convolution.features) / lanes
    work += TRANSFORM_CYCLES[size] / lane_units * channels * tiles
    weights = prod(plan.weights_shape(convolution.features, convolution.depth)) * BYTES
    home = processor.bytes_a_cycle(processor.main_memory)
    share = ceil(panels / processor.cores) / panels
    cycles = _overlapped(work, weights / (processor.prefetched * home)) * share * processor.cores
    near = weights * (points / KERNEL) ** 2 <= processor.second_cache
    return cycles * (NEAR_FILTERS if near else 1)


def _blocks(
    convolution: Convolution, size: int, rows: int, processor: Processor
) -> Iterator[tuple[bool, int]]:
    tiles = convolution.tiles(size)
    if tiles <= BY_CHANNEL_TILES:
        yield True, tiles
    points = TRANSFORMS[size].points ** 2
    one = points * (convolution.depth + convolution.features) * BYTES
    for multiple in range(1, 9):
        block = min(rows * multiple, tiles)
        if block * one <= scratch_bytes(processor):
            yield False, block


def scratch_bytes(processor: Processor) -> int:
    """Return what transformed inputs and products may take of a core's second cache."""
    return int(SCRATCH_PART * processor.second_cache)


def _with_prefetch(
    convolution: Convolution, plan: Winograd, processor: Processor
) -> Iterator[Plan]:
    """Yield a plan with prefetches and without, the better one by the model first.

    Prefetches gain where weights come from beyond the second cache, and enough is computed
    meanwhile, and of inputs that are as far away; elsewhere they cost. Blocks of tiles read their
    inputs in streams, which processors fetch ahead by themselves.
    """
    weights = prod(plan.weights_shape(convolution.features, convolution.depth)) * BYTES
    lanes = plan.product_lanes
    computing = plan.block / (lanes * processor.multiply_adds_of(lanes))
    pays = weights > processor.second_cache and computing >= PREFETCH_CYCLES
    far = plan.by_channel and convolution.input_bytes > FAR_INPUTS * processor.second_cache
    best = replace(plan, prefetch=pays, prefetch_inputs=far)
    cycles = cycles_of(convolution, best, processor)
    yield Plan(best, cycles)
    yield Plan(replace(best, prefetch=not pays), cycles * OTHER_PREFETCH)
    yield Plan(replace(best, prefetch_inputs=not far), cycles * OTHER_PREFETCH)


def cycles_of(convolution: Convolution, plan: Winograd, processor: Processor) -> float:
    """Return the cycles that the slowest core takes, times the number of cores."""
    if plan.filters:
        return _of_filters(convolution, plan, processor)
    way = _by_channel if plan.by_channel else _by_tiles
    return way(convolution, plan, processor) * processor.cores


def _by_channel(convolution: Convolution, plan: Winograd, processor: Processor) -> float:
    """Return the cycles of the slowest core where cores share panels, which are read once."""
    tiles = convolution.tiles(plan.tile)
    size = plan.points * tiles * convolution.depth * BYTES
    inputs = processor.memory_for(int(size / SCRATCH_PART))
    products = Products(plan, convolution.depth, processor, processor.main_memory, inputs)
    panels = convolution.features // plan.panel
    share = ceil(panels / processor.cores) / panels
    work = plan.points * panels * products.cycles(tiles)
    work += transform_cycles(convolution, plan, tiles, processor) * tiles
    if inputs not in processor.memories[:2]:  # written there, and read again
        work += 2 * size / processor.bytes_a_cycle(inputs)
    return work * share


def _by_tiles(convolution: Convolution, plan: Winograd, processor: Processor) -> float:
    """Return the cycles of the slowest core where cores share blocks, each of which reads all."""
    tiles, panels = convolution.tiles(plan.tile), plan.covered(convolution.features) // plan.panel
    weights = prod(plan.weights_shape(convolution.features, convolution.depth)) * BYTES
    home = processor.memory_for(weights * OTHER_WEIGHTS)
    products = Products(plan, convolution.depth, processor, home, processor.memories[1])
    mine = min(tiles, ceil(ceil(tiles / plan.block) / processor.cores) * plan.block)
    whole, rest = divmod(mine, plan.block)
    work = whole * products.cycles(plan.block) + products.cycles(rest)
    work *= plan.points * panels
    each = transform_cycles(convolution, plan, plan.block, processor)
    work += (each + _evicted_cycles(convolution, plan, weights, processor)) * mine
    # What one core has fetched from main memory, others find in the last cache.
    first = weights / (processor.prefetched * processor.bytes_a_cycle(processor.main_memory))
    return _overlapped(work, first / processor.cores)


def _evicted_cycles(
    convolution: Convolution, plan: Winograd, weights: int, processor: Processor
) -> float:
    """Return what one tile waits for where a block and the weights exceed the second cache.

    Transformed inputs and products are then written to the next memory, and read again.
    """
    channels = convolution.depth + plan.covered(convolution.features)
    scratch = plan.points * channels * BYTES
    pixels = plan.tile**2 * (convolution.channels + convolution.features) * BYTES
    room = HELD_BLOCK * processor.second_cache
    if weights > room:
        return 0  # they pass through the cache whatever the block
    beyond = plan.block * (scratch + pixels) + weights - room
    part = min(1, max(0, beyond / (plan.block * scratch)))
    further = processor.memory_for(processor.second_cache + 1)
    return processor.exposed * part * 2 * scratch / processor.bytes_a_cycle(further)


def transform_cycles(
    convolution: Convolution, plan: Winograd, count: int, processor: Processor
) -> float:
    """Return the cycles to transform one tile there and back, of `count` that are in one array.

    The products of a tile's points are as far apart as those of one point are large. Where that is
    near a multiple of a way, points take each other's place in the first cache.
    """
    features = plan.panel if plan.by_channel else plan.covered(convolution.features)
    way = processor.way
    sets = way // gcd(count * features * BYTES, way)
    kept = sets * (processor.memories[0].size or 0) // way
    waited = processor.conflict_cycles * max(0, TRANSFORMS[plan.tile].points ** 2 - kept)
    each = TRANSFORM_CYCLES[plan.tile] / processor.multiply_adds_of(plan.lanes)
    vectors = (convolution.channels + convolution.features) / plan.lanes
    return vectors * each + convolution.features / plan.lanes * waited


def _overlapped(work: float, stream: float) -> float:
    """Return the cycles of a core that computes, and fetches weights meanwhile."""
    return max(work, stream) + UNHIDDEN * min(work, stream)
