"""What the cost models know of a processor beside its rates: cycles, lines, parts that wait.

Where a figure is not that of a processor's maker it was measured on the one that is named; others
are taken to be alike until they are described. `processors.toml` and Python may say another.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What instructions, transfers and threads cost on one core of a processor."""

    line: int = 64
    """Bytes of a cache line."""
    way: int = 4096
    """Bytes of a way of the first cache: lines so far apart take the same places in it."""
    multiply_add_latency: int = 4
    """Cycles from one multiply-add of an accumulator to its next."""
    loads: int = 2
    """Vectors that a core can load in a cycle."""
    lane_cycles: int = 2
    """Cycles to load or store a lane by itself."""
    shuffle: int = 1
    """What it takes to put halves of a vector together, or to take one apart, in loads."""
    convert: int = 2
    """What it takes to widen a float of 16 bits, in loads."""
    scratch_registers: int = 2
    """Vector registers that are left for what code does beside its sums and factors."""
    exposed: float = 0.55
    """The part of the time to load from beyond the first cache that nothing hides.

    Zen 5, Winograd's algorithm, 256 channels at 14x14: steps of 2 to 6 rows and 4 vectors, which
    are 4.2 cycles away in the second cache, take 3.0 to 4.8 cycles more than their multiply-adds;
    steps of 4 to 8 rows and 2 vectors 0.8 to 1.9 cycles more of 2.1.
    """
    prefetched: float = 0.75
    """The part of main memory's rate that prefetches reach.

    Zen 5, 512 channels at 7x7: 16.8 MB of weights take 615 to 630 us, 27 GB/s of 41.
    """
    conflict_cycles: int = 22
    """Cycles to wait for what another line has put out of its place in the first cache.

    Zen 5, Winograd's algorithm, 64 channels at 56x56, 36 points in a cache of 12 ways: 445 to
    474 us in blocks of 32 tiles, which are 8192 bytes apart, 320 to 330 us in blocks of 30. 22
    cycles for 24 points each are 110 us.
    """
    moved_by_writes: int = 2
    """How many times its bytes a write moves where no near cache holds them: they are read first.

    Emerald Rapids, 1024 x 1024 x 256, AVX-512: sums take twice what the rate of reading says.
    """
    call_cycles: int = 1000
    """Cycles that a kernel takes beside its tiles."""
    team_cycles: int = 2000
    """Cycles until the threads of a team have started, some 0.5 us."""
    team_seconds: float = 2e-6
    """How long threads take to start something together, and to wait for the last of them."""
    word_latency: int = 5
    """Cycles from a product of words, as `vpdpbusd` is, to the next with the same sums."""
    tile_cycles: int = 16
    """Cycles of a product of tiles (AMX); two tiles are loaded meanwhile.

    Emerald Rapids, all from the first cache: of 16 rows 16 cycles, of 14 rows 15, of 8 and fewer
    13. It makes no difference how many tiles of sums there are.
    """
    short_tile_cycles: int = 13
    """Cycles of such a product of few rows."""
    tile_row_cycles: int = 4
    """Cycles to store a row of a tile's sums and to load it as a vector.

    Emerald Rapids, 784 x 192 sums of 32 bytes: 34 us, in vectors 28; of 64 bytes: 34 us and 46.
    """
    apart_rate: int = 20
    """Bytes a cycle of a tile's rows that are lines apart, from the second cache.

    Emerald Rapids, 1024 x 1024 x 1024: with register tiles of 16 by 16, which read 64 MB, 2.9 ms,
    of 32 by 16 2.3 and of 48 by 16 2.0; of 32 by 32 2.2.
    """
