"""Whether Winograd's convolution pays, and in which tiles: an explicit model of its cycles."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod

from gawee_dialect.dialect.algorithm import Algorithm
from gawee_dialect.dialect.winograd import KERNEL, TRANSFORMS, Winograd
from gawee_dialect.passes.assign_schedules.cost_model import LATENCY, TILE_OVERHEAD
from gawee_dialect.passes.assign_schedules.kernel_accesses import BYTES
from gawee_dialect.passes.convert_to_algorithm import Plan
from gawee_dialect.target.description import Processor

LOAD_WEIGHT = 0.02
"""Cycles that a load takes on top of the multiply-adds, which hide most of it."""
EXPOSED = 0.3
"""The part of the time to fetch a panel of weights for a block that nothing hides."""
MULTIPLY_EFFICIENCY = 0.9
"""Of the products: their inputs and results come from the second cache."""
TRANSFORM_CYCLES = {2: 60, 4: 170}
"""To transform one vector of channels of one tile, there or back."""
SCRATCH_PART = 0.6
"""What transformed inputs and products may take of a core's second cache."""
MOST_ROWS = 16
FILTER_CYCLES = 6
"""To transform a row of points of one vector of filters in registers."""
NEAR_FILTERS = 2
"""What that is taken to cost where transformed weights are near: there they are not waited for."""
BY_CHANNEL_TILES = 64
"""Up to so many tiles may be computed all at once, one panel of channels after the other."""
UNHIDDEN = 0.2
"""The part of the faster of computing and fetching weights that the slower one does not hide."""
SMALLEST_GAIN = 1.1
PREFETCH_TILES = 8
"""So many tiles' products take as long as it takes to fetch the next weights from main memory."""
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

    @property
    def input_bytes(self) -> int:
        """How large the input is, with the halo that the outputs need."""
        border = KERNEL - 1
        pixels = self.images * (self.rows + border) * (self.columns + border)
        return pixels * self.channels * BYTES

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
    work = points * convolution.features * convolution.channels
    return work / (processor.lanes * processor.multiply_adds)


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
    if plan.tile not in TRANSFORMS:
        return f"expected a tile of {' or '.join(map(str, TRANSFORMS))}, got {plan.tile}"
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
    yield from _of_filters(convolution, lanes, processor)
    for size, (wide, vectors) in product(TRANSFORMS, _panels(convolution, lanes, processor)):
        tiles = convolution.tiles(size)
        panel = vectors * (2 * lanes if wide else lanes)
        room = processor.vector_registers - vectors - 2
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


def _of_filters(convolution: Convolution, lanes: int, processor: Processor) -> Iterator[Plan]:
    """Yield the plan in which filters are transformed while they are multiplied, if tiles are few.

    The accumulators of a row of points, and a row of transformed weights, are in registers.
    """
    size = max(TRANSFORMS)
    points, tiles = TRANSFORMS[size].points, convolution.tiles(size)
    if points * (tiles + 1) + 1 > processor.vector_registers:
        return
    plan = Winograd(size, True, tiles, tiles, lanes, lanes, prefetch=True, filters=True)
    panels = convolution.features // lanes
    lane_units = processor.multiply_adds_of(lanes)
    row = convolution.channels * (points * tiles / lane_units + FILTER_CYCLES)
    row += TILE_OVERHEAD + points * tiles
    work = panels * points * row / MULTIPLY_EFFICIENCY
    channels = (convolution.channels + convolution.features) / lanes
    work += TRANSFORM_CYCLES[size] / lane_units * channels * tiles
    weights = prod(plan.weights_shape(convolution.features, convolution.channels)) * BYTES
    home = processor.memory_for(weights * OTHER_WEIGHTS).bandwidth / processor.frequency
    share = ceil(panels / processor.cores) / panels
    cycles = _overlapped(work * share, weights / home, processor)
    near = weights * (points / KERNEL) ** 2 <= processor.second_cache
    yield Plan(plan, cycles * (NEAR_FILTERS if near else 1))


def _blocks(
    convolution: Convolution, size: int, rows: int, processor: Processor
) -> Iterator[tuple[bool, int]]:
    tiles = convolution.tiles(size)
    if tiles <= BY_CHANNEL_TILES:
        yield True, tiles
    points = TRANSFORMS[size].points ** 2
    one = points * (convolution.channels + convolution.features) * BYTES
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
    meanwhile, and of inputs that are as far away; elsewhere they cost.
    """
    cycles = _cycles(convolution, plan, processor)
    weights = prod(plan.weights_shape(convolution.features, convolution.channels)) * BYTES
    pays = weights > processor.second_cache and plan.block >= PREFETCH_TILES
    far = convolution.input_bytes > FAR_INPUTS * processor.second_cache
    best = replace(plan, prefetch=pays, prefetch_inputs=far)
    yield Plan(best, cycles)
    yield Plan(replace(best, prefetch=not pays), cycles * OTHER_PREFETCH)
    yield Plan(replace(best, prefetch_inputs=not far), cycles * OTHER_PREFETCH)


def _cycles(convolution: Convolution, plan: Winograd, processor: Processor) -> float:
    """Return the cycles that the slowest core takes, times the number of cores."""
    tiles, size = convolution.tiles(plan.tile), plan.tile
    points = TRANSFORMS[size].points ** 2
    vectors = plan.panel // plan.product_lanes
    lane_units = processor.multiply_adds_of(plan.product_lanes)

    weights = prod(plan.weights_shape(convolution.features, convolution.channels)) * BYTES
    home = processor.memory_for(weights * OTHER_WEIGHTS).bandwidth / processor.frequency
    fetch = EXPOSED * plan.product_lanes * BYTES / home

    def products(count: int) -> float:
        """Cycles of one panel for one point, over `count` tiles."""
        whole, rest = divmod(count, plan.rows)
        parts = [(whole, plan.rows), (1 if rest else 0, rest)]
        total = convolution.channels * vectors * fetch
        for many, rows in parts:
            loads = (rows + vectors) * LOAD_WEIGHT
            step = max(rows * vectors / lane_units, LATENCY) + loads
            total += many * (convolution.channels * step + TILE_OVERHEAD + rows * vectors)
        return total

    panels = plan.covered(convolution.features) // plan.panel
    each = points * panels / MULTIPLY_EFFICIENCY
    channels = (convolution.channels + convolution.features) / plan.lanes
    transforms = TRANSFORM_CYCLES[size] / processor.multiply_adds_of(plan.lanes) * channels
    stream = weights / home
    if plan.by_channel:
        share = ceil(panels / processor.cores) / panels
        # Every panel reads the transformed inputs of all tiles, which cores share.
        inputs = points * tiles * convolution.channels * BYTES
        again = panels * EXPOSED * inputs * processor.frequency
        again /= processor.memory_for(inputs).bandwidth
        work = (each * products(tiles) + transforms * tiles + again) * share
    else:
        blocks = ceil(tiles / plan.block)
        mine = min(tiles, ceil(blocks / processor.cores) * plan.block)
        whole, rest = divmod(mine, plan.block)
        work = each * (whole * products(plan.block) + products(rest)) + transforms * mine
    return _overlapped(work, stream, processor)


def _overlapped(work: float, stream: float, processor: Processor) -> float:
    """Return the cycles of all cores where each computes, and fetches weights meanwhile."""
    slower, faster = max(work, stream), min(work, stream)
    return (slower + UNHIDDEN * faster) * processor.cores
