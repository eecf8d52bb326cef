"""Processors by name: what LLVM calls them, and the limits that every program runs into.

All rates are those of one core. A `Processor` is all that is known of a machine; what LLVM needs
of it, `cpu` and `features`, is `backend.jit.Target.of(processor)`.

LLVM's names are those that `llc -mtriple=x86_64 -mcpu=help` and `llc -mtriple=aarch64 -mcpu=help`
of LLVM 22 list; those for 32 bits alone are left out.
"""

import tomllib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, nearest
from gawee_dialect.target.costs import Costs

X86_64, AARCH64 = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


@dataclass(frozen=True)
class Vectors:
    """The vector registers of processors, and LLVM's features that say so."""

    bits: int
    registers: int
    features: tuple[str, ...]
    triple: str = X86_64


NEON = Vectors(128, 32, ("+neon",), AARCH64)
SSE = Vectors(128, 16, ())
AVX = Vectors(256, 16, ("+avx",))
AVX_FMA = Vectors(256, 16, ("+avx", "+fma"))
AVX2 = Vectors(256, 16, ("+avx", "+avx2", "+fma"))
AVX512 = Vectors(512, 32, (*AVX2.features, "+avx512f", "+avx512cd"))
AVX512_VL = Vectors(512, 32, (*AVX512.features, "+avx512bw", "+avx512dq", "+avx512vl"))

_NAMES: Mapping[Vectors, str] = {
    SSE: """
        x86-64 x86-64-v2 amdfam10 athlon-fx athlon64 athlon64-sse3 atom barcelona bonnell btver1
        core2 corei7 goldmont goldmont-plus k8 k8-sse3 nehalem nocona opteron opteron-sse3 penryn
        silvermont slm tremont westmere
    """,
    AVX: "btver2 bdver1 core-avx-i corei7-avx ivybridge sandybridge",
    AVX_FMA: "bdver2 bdver3",
    AVX2: """
        x86-64-v3 alderlake arrowlake arrowlake-s bdver4 broadwell clearwaterforest core-avx2
        gracemont grandridge haswell lunarlake meteorlake pantherlake raptorlake sierraforest
        skylake wildcatlake znver1 znver2 znver3
    """,
    AVX512: "knl knm",
    AVX512_VL: """
        x86-64-v4 cannonlake cascadelake cooperlake diamondrapids emeraldrapids graniterapids
        graniterapids-d icelake-client icelake-server novalake rocketlake sapphirerapids skx
        skylake-avx512 tigerlake znver4 znver5
    """,
    NEON: """
        a64fx ampere1 ampere1a ampere1b ampere1c apple-a10 apple-a11 apple-a12 apple-a13 apple-a14
        apple-a15 apple-a16 apple-a17 apple-a18 apple-a19 apple-a7 apple-a8 apple-a9 apple-m1
        apple-m2 apple-m3 apple-m4 apple-m5 apple-s10 apple-s4 apple-s5 apple-s6 apple-s7 apple-s8
        apple-s9 c1-nano c1-premium c1-pro c1-ultra carmel cobalt-100 cortex-a320 cortex-a34
        cortex-a35 cortex-a510 cortex-a520 cortex-a520ae cortex-a53 cortex-a55 cortex-a57
        cortex-a65 cortex-a65ae cortex-a710 cortex-a715 cortex-a72 cortex-a720 cortex-a720ae
        cortex-a725 cortex-a73 cortex-a75 cortex-a76 cortex-a76ae cortex-a77 cortex-a78
        cortex-a78ae cortex-a78c cortex-r82 cortex-r82ae cortex-x1 cortex-x1c cortex-x2 cortex-x3
        cortex-x4 cortex-x925 cyclone exynos-m3 exynos-m4 exynos-m5 falkor fujitsu-monaka gb10
        grace kryo neoverse-512tvb neoverse-e1 neoverse-n1 neoverse-n2 neoverse-n3 neoverse-v1
        neoverse-v2 neoverse-v3 neoverse-v3ae olympus oryon-1 saphira thunderx thunderx2t99
        thunderx3t110 thunderxt81 thunderxt83 thunderxt88 tsv110
    """,
}

VECTORS: Mapping[str, Vectors] = {
    name: vectors for vectors, names in _NAMES.items() for name in names.split()
}
"""The vectors of each processor, by LLVM's name."""

MULTIPLY_ADDS: Mapping[str, int] = {
    **dict.fromkeys(("znver1", "znver4", "icelake-client", "rocketlake", "tigerlake"), 1),
    **dict.fromkeys(("gracemont", "grandridge", "sierraforest", "cortex-a53", "cortex-a55"), 1),
    **dict.fromkeys(("neoverse-v1", "neoverse-v2", "neoverse-v3", "grace"), 4),
    **dict.fromkeys(("cortex-x1", "cortex-x2", "cortex-x3", "cortex-x4"), 4),
    **{f"apple-m{number}": 4 for number in range(1, 6)},
}
"""Full-width multiply-adds a cycle, by LLVM's name, where they are not two.

By the makers' optimization guides; for AMD's, Agner Fog's instruction tables.
"""

BYTE_PRODUCTS = ("avx512vnni", "avxvnni")
"""LLVM's features of processors that add up products of four bytes at once."""

MULTIPLY_BYTES = frozenset(
    """
    alderlake arrowlake arrowlake-s cascadelake clearwaterforest cooperlake diamondrapids
    emeraldrapids gracemont grandridge graniterapids graniterapids-d icelake-client icelake-server
    lunarlake meteorlake novalake pantherlake raptorlake rocketlake sapphirerapids sierraforest
    tigerlake wildcatlake znver4 znver5
    """.split()
)
"""The processors that have one of them, by LLVM's name."""

BF16_PRODUCTS = "avx512bf16"
"""LLVM's feature of processors that add up products of two bf16 at once."""

MULTIPLY_BF16 = frozenset(
    """
    cooperlake diamondrapids emeraldrapids graniterapids graniterapids-d sapphirerapids znver4
    znver5
    """.split()
)
"""The processors that have it, by LLVM's name."""

TILES, BYTE_TILES, BF16_TILES = "amx-tile", "amx-int8", "amx-bf16"
"""LLVM's features of processors that multiply tiles: of bytes, and of bf16."""

MULTIPLY_TILES = frozenset(
    "diamondrapids emeraldrapids graniterapids graniterapids-d sapphirerapids".split()
)
"""The processors that have all of them, by LLVM's name."""


def multiplies_tiles(cpu: str, features: str, kind: str = TILES) -> bool:
    """Whether a processor by LLVM's name, with features, has instructions for tiles of a kind."""
    said, needed = features.split(","), (TILES, kind)
    if any(f"-{each}" in said for each in needed):
        return False
    return cpu in MULTIPLY_TILES or all(f"+{each}" in said for each in needed)


LANE_BY_LANE = ("+prefer-no-gather", "+prefer-no-scatter")
"""LLVM's tuning flags for AMD's processors: their gathers take longer than so many loads."""


def tuning_of(cpu: str) -> tuple[str, ...]:
    """Return the features that say what is faster on a processor by LLVM's name."""
    return LANE_BY_LANE if cpu.startswith("znver") else ()


HOST = "host"
"""The name that stands for this machine."""

KIB, MIB = 1 << 10, 1 << 20
GIGA = 1e9


@dataclass(frozen=True)
class Memory:
    """One memory as one core sees it: its size, None where it has no end, and bytes a second."""

    name: str
    size: int | None
    bandwidth: float


@dataclass(frozen=True)
class Limit:
    """The least time that an amount of work can take, and what sets it: `compute` or a memory."""

    seconds: float
    bound: str


@dataclass(frozen=True)
class Processor(Costs):
    """A processor's vectors, memories and speed, and what the cost models know of it besides.

    `memories` go from the nearest to main memory, which has no size. `source` says where the
    figures come from.
    """

    name: str
    cpu: str
    """LLVM's name."""
    features: str
    """LLVM's features, beside those that the name implies."""
    vector_bits: int
    vector_registers: int
    cores: int
    multiply_adds: int
    """Vector multiply-adds that one core can start in a cycle."""
    frequency: float
    """Hz, with all lanes busy."""
    memories: Sequence[Memory]
    source: str
    measured_flops: float | None = None
    """What a loop of f32 multiply-adds reached, FLOPs a second; None where it was not measured."""
    triple: str = X86_64
    """LLVM's name of a system with such a processor."""

    @property
    def lanes(self) -> int:
        """How many f32 one vector register holds."""
        return self.vector_bits // 32

    def multiply_adds_of(self, lanes: int) -> int:
        """Return how many multiply-adds of vectors of so many f32 one core can start in a cycle.

        A core that starts one of full width has two units of half that width.
        """
        return 2 if self.multiply_adds == 1 and lanes < self.lanes else self.multiply_adds

    @property
    def byte_products(self) -> int:
        """The bits of the widest vectors for `vpdpbusd`, which adds up products of four bytes.

        0 where the processor has no AVX-VNNI.
        """
        said = self.features.split(",")
        known = self.cpu in MULTIPLY_BYTES and not any(f"-{each}" in said for each in BYTE_PRODUCTS)
        has_it = known or any(f"+{each}" in said for each in BYTE_PRODUCTS)
        return self.vector_bits if has_it else 0

    @property
    def bf16_products(self) -> int:
        """The bits of the widest vectors for `vdpbf16ps`, which adds up products of two bf16.

        0 where the processor has no AVX512-BF16.
        """
        said = self.features.split(",")
        known = self.cpu in MULTIPLY_BF16 and f"-{BF16_PRODUCTS}" not in said
        return self.vector_bits if known or f"+{BF16_PRODUCTS}" in said else 0

    @property
    def byte_tiles(self) -> bool:
        """Whether one instruction multiplies tiles of bytes (AMX-INT8)."""
        return multiplies_tiles(self.cpu, self.features, BYTE_TILES)

    @property
    def bf16_tiles(self) -> bool:
        """Whether one instruction multiplies tiles of bf16 (AMX-BF16)."""
        return multiplies_tiles(self.cpu, self.features, BF16_TILES)

    @property
    def looks_up(self) -> bool:
        """Whether one instruction takes each of 16 lanes from a register of 16 f32."""
        return self.vector_bits == 512 and self.triple == X86_64

    def flops(self, element_bits: int = 32) -> float:
        """Return the most FLOPs a second on elements of a size; a multiply-add is two.

        Elements narrower than 32 bits are computed in 32.
        """
        computed = 2.0 * self.lanes * self.multiply_adds * self.frequency
        peak = self.measured_flops or computed
        return peak * 32 / max(32, element_bits)

    @property
    def second_cache(self) -> int:
        """The bytes of the cache that a core has to itself; 0 where nothing is known of it."""
        second = self.memories[min(1, len(self.memories) - 1)]
        return second.size or 0

    @property
    def main_memory(self) -> Memory:
        """What holds all that no cache does."""
        return self.memories[-1]

    @property
    def one_core(self) -> "Processor":
        """The processor as a thread has it that does work of its own beside others."""
        return replace(self, cores=1)

    @property
    def instructions(self) -> str:
        """All of it but rates, memories and cores: what decides how a kernel is lowered that has
        its schedule."""
        figures = self.vector_bits, self.vector_registers
        return f"{self.triple} {self.cpu} {self.features} {figures}"

    def bytes_a_cycle(self, memory: Memory) -> float:
        """Return how much of a memory one core reads in a cycle."""
        return memory.bandwidth / self.frequency

    def memory_for(self, size: int) -> Memory:
        """Return the nearest memory that holds so many bytes."""
        fitting = (each for each in self.memories if each.size is None or size <= each.size)
        return next(fitting, self.main_memory)

    def limit(self, flops: int, traffic: int, footprint: int, element_bits: int = 32) -> Limit:
        """Return the least time for FLOPs and bytes moved, on data of `footprint` bytes.

        The data are taken to be where they fit, in the nearest memory that holds them all; writes
        are taken to be as fast as reads.
        """
        memory = self.memory_for(footprint)
        computing, moving = flops / self.flops(element_bits), traffic / memory.bandwidth
        return Limit(computing, "compute") if computing > moving else Limit(moving, memory.name)

    def summary(self) -> str:
        """Return the limits in one line."""
        memories = ", ".join(
            f"{each.name} {each.bandwidth / GIGA:.3g} GB/s" for each in self.memories
        )
        return f"{self.name}: {self.flops() / GIGA:.4g} GFLOP/s, {memories} ({self.source})"


def _described(
    name: str,
    *,
    cpu: str | None = None,
    frequency: float,
    caches: Sequence[tuple[str, int, float]],
    per_second: bool = False,
    main_memory: float,
    vector_bits: int,
    vector_registers: int,
    cores: int,
    multiply_adds: int,
    source: str,
    triple: str = X86_64,
    **costs: Any,
) -> Processor:
    """Make a processor of its table in `processors.toml`, which says what the figures are."""
    unit = 1 if per_second else frequency
    near = (Memory(level, size, rate * unit) for level, size, rate in caches)
    return Processor(
        name,
        cpu or name,
        ",".join(tuning_of(name)),
        vector_bits,
        vector_registers,
        cores,
        multiply_adds,
        frequency,
        (*near, Memory("DRAM", None, main_memory)),
        source,
        triple=triple,
        **costs,
    )


_FILE = Path(__file__).with_name("processors.toml")

PROCESSORS: dict[str, Processor] = {
    name: _described(name, **figures) for name, figures in tomllib.loads(_FILE.read_text()).items()
}
"""The processors whose figures are known, beside `host`."""


@contextmanager
def with_own_processors(own: Iterable[Processor]) -> Generator[None]:
    """Have other processors known by their names for the time of a with block."""
    known = dict(PROCESSORS)
    PROCESSORS.update((each.name, each) for each in own)
    try:
        yield
    finally:
        PROCESSORS.clear()
        PROCESSORS.update(known)


_SOLD_AS = {
    "graviton2": "neoverse-n1",
    "graviton3": "neoverse-v1",
    "graviton4": "neoverse-v2",
}
"""LLVM's names of processors that are known by another."""


def _assumed(name: str) -> Processor:
    """Return a processor by LLVM's name, with the figures of one that has such vectors."""
    vectors = VECTORS[name]
    if vectors.triple == AARCH64:
        figures = "apple-m1" if name.startswith("apple-") else "neoverse-n1"
    else:
        figures = "skylake-avx512" if vectors.bits == 512 else "generic-avx2"
    return replace(
        PROCESSORS[figures],
        name=name,
        cpu=name,
        features=",".join(tuning_of(name)),
        vector_bits=vectors.bits,
        vector_registers=vectors.registers,
        multiply_adds=MULTIPLY_ADDS.get(name, 2),
        source=f"assumed for {name}: {PROCESSORS[figures].source}",
    )


def named_processor(name: str) -> Processor:
    """Return a processor by LLVM's name, or as it is sold; raises GaweeError for another."""
    name = _SOLD_AS.get(name, name)
    if name in PROCESSORS:
        return PROCESSORS[name]
    if name in VECTORS:
        return _assumed(name)
    known = (HOST, *PROCESSORS)
    targets = f"targets: {', '.join(known)}, and LLVM's other names for x86-64 and AArch64"
    hint = nearest(name, known) or did_you_mean(name, (*_SOLD_AS, *VECTORS), targets)
    raise GaweeError(Diagnostic(f"unknown target '{name}'", hint=hint))
