"""Processors by name: what LLVM calls them, and the limits that every program runs into.

All rates are those of one core. A `Processor` is all that is known of a machine; what LLVM needs
of it, `cpu` and `features`, is `backend.jit.Target.of(processor)`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, nearest
from gawee_dialect.target.llvm_names import AARCH64, MULTIPLY_ADDS, VECTORS, X86_64, tuning_of

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
class Processor:
    """A processor's vectors, memories and speed.

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


def _caches(
    frequency: float, *caches: tuple[str, int, float], main_memory: float
) -> tuple[Memory, ...]:
    """Make memories from (name, size, bytes a cycle), and main memory from bytes a second."""
    near = (Memory(name, size, rate * frequency) for name, size, rate in caches)
    return (*near, Memory("DRAM", None, main_memory))


# Bytes a cycle: what a core can load from L1; sustained rates of the others, from the tables of
# cache parameters in Intel's 64 and IA-32 Architectures Optimization Reference Manual.

_SKYLAKE_AVX512 = Processor(
    # Xeon Gold 6148: 2.2 GHz with all cores in 512-bit multiply-adds, two such units a core. L3 is
    # 1.375 MiB a core, 20 cores. One core can keep some 12 GB/s of main memory in flight.
    name="skylake-avx512",
    cpu="skylake-avx512",
    features="",
    vector_bits=512,
    vector_registers=32,
    cores=20,
    multiply_adds=2,
    frequency=2.2e9,
    memories=_caches(
        2.2e9,
        ("L1", 32 * KIB, 128),
        ("L2", MIB, 52),
        ("L3", 20 * 1408 * KIB, 15),
        main_memory=12 * GIGA,
    ),
    source="published figures of a Xeon Gold 6148",
)

_HASWELL = Processor(
    # Core i7-4770: 3.4 GHz, two 256-bit multiply-add units and two 32-byte loads a cycle; DDR3-1600
    # on two channels.
    name="haswell",
    cpu="haswell",
    features="",
    vector_bits=256,
    vector_registers=16,
    cores=4,
    multiply_adds=2,
    frequency=3.4e9,
    memories=_caches(
        3.4e9,
        ("L1", 32 * KIB, 64),
        ("L2", 256 * KIB, 25),
        ("L3", 8 * MIB, 14),
        main_memory=25.6 * GIGA,
    ),
    source="published figures of a Core i7-4770",
)

_GENERIC_AVX2 = Processor(
    # The x86-64-v3 baseline on no machine in particular: Haswell's units at a server's frequency,
    # with a slice of L3.
    name="generic-avx2",
    cpu="x86-64-v3",
    features="",
    vector_bits=256,
    vector_registers=16,
    cores=4,
    multiply_adds=2,
    frequency=2.5e9,
    memories=_caches(
        2.5e9,
        ("L1", 32 * KIB, 64),
        ("L2", 512 * KIB, 25),
        ("L3", 8 * MIB, 10),
        main_memory=10 * GIGA,
    ),
    source="assumed for x86-64-v3",
)

_APPLE_M1 = Processor(
    # Performance core: 3.2 GHz, four 128-bit multiply-add units, three 16-byte loads a cycle; L2 is
    # shared by four such cores. AnandTech measured some 58 GB/s of main memory from one core
    # (68 GB/s for the chip); the rate of L2 is assumed.
    name="apple-m1",
    cpu="apple-m1",
    features="",
    vector_bits=128,
    vector_registers=32,
    cores=4,
    multiply_adds=4,
    frequency=3.2e9,
    memories=_caches(
        3.2e9,
        ("L1", 128 * KIB, 48),
        ("L2", 12 * MIB, 32),
        main_memory=58 * GIGA,
    ),
    source="published figures of an Apple M1, performance core",
    triple="arm64-apple-macosx11.0",
)

_NEOVERSE_N1 = Processor(
    # Graviton2: 2.5 GHz, two 128-bit multiply-add units and two 16-byte loads a cycle, by Arm's
    # Neoverse N1 Software Optimization Guide; the rates of L2 and L3 are assumed, and one core's
    # share of eight channels of DDR4-3200.
    name="neoverse-n1",
    cpu="neoverse-n1",
    features="",
    vector_bits=128,
    vector_registers=32,
    cores=64,
    multiply_adds=2,
    frequency=2.5e9,
    memories=_caches(
        2.5e9,
        ("L1", 64 * KIB, 32),
        ("L2", MIB, 24),
        ("L3", 32 * MIB, 10),
        main_memory=12 * GIGA,
    ),
    source="published figures of a Graviton2",
    triple=AARCH64,
)

_NEOVERSE_V1 = Processor(
    # Graviton3: 2.6 GHz, four 128-bit multiply-add units and three 16-byte loads a cycle, by Arm's
    # Neoverse V1 Software Optimization Guide; the rates of L2 and L3 are assumed, and one core's
    # share of eight channels of DDR5-4800.
    name="neoverse-v1",
    cpu="neoverse-v1",
    features="",
    vector_bits=128,
    vector_registers=32,
    cores=64,
    multiply_adds=4,
    frequency=2.6e9,
    memories=_caches(
        2.6e9,
        ("L1", 64 * KIB, 48),
        ("L2", MIB, 24),
        ("L3", 32 * MIB, 10),
        main_memory=20 * GIGA,
    ),
    source="published figures of a Graviton3",
    triple=AARCH64,
)

_ZNVER3 = Processor(
    # EPYC, family 25 model 1, as `gawee-run --measure` found a core of it on 2026-11-24.
    name="znver3",
    cpu="znver3",
    features=",".join(tuning_of("znver3")),
    vector_bits=256,
    vector_registers=16,
    cores=2,
    multiply_adds=2,
    frequency=103 * GIGA / 32,
    memories=(
        Memory("L1", 32 * KIB, 152 * GIGA),
        Memory("L2", 512 * KIB, 93 * GIGA),
        Memory("L3", 32 * MIB, 28 * GIGA),
        Memory("DRAM", None, 21 * GIGA),
    ),
    source="measured on an EPYC (Zen 3), 2026-11-24",
)

_ALDERLAKE = Processor(
    # Core i7-12700, performance core: 4.5 GHz with all of them, three 32-byte loads a cycle, DDR5;
    # the rates of L2 and L3, and a core's of main memory, are assumed.
    name="alderlake",
    cpu="alderlake",
    features="",
    vector_bits=256,
    vector_registers=16,
    cores=8,
    multiply_adds=2,
    frequency=4.5e9,
    memories=_caches(
        4.5e9,
        ("L1", 48 * KIB, 96),
        ("L2", 1280 * KIB, 40),
        ("L3", 25 * MIB, 12),
        main_memory=30 * GIGA,
    ),
    source="published figures of a Core i7-12700, performance core",
)

_ICELAKE_CLIENT = Processor(
    # Core i7-1065G7: 3.5 GHz with all cores, one 512-bit multiply-add unit, two 64-byte loads a
    # cycle, LPDDR4X; a core's rate of main memory is assumed.
    name="icelake-client",
    cpu="icelake-client",
    features="",
    vector_bits=512,
    vector_registers=32,
    cores=4,
    multiply_adds=1,
    frequency=3.5e9,
    memories=_caches(
        3.5e9,
        ("L1", 48 * KIB, 128),
        ("L2", 512 * KIB, 48),
        ("L3", 8 * MIB, 15),
        main_memory=20 * GIGA,
    ),
    source="published figures of a Core i7-1065G7",
)

_DESCRIBED = (
    *(_SKYLAKE_AVX512, _ICELAKE_CLIENT, _HASWELL, _ALDERLAKE, _ZNVER3, _GENERIC_AVX2),
    *(_APPLE_M1, _NEOVERSE_N1, _NEOVERSE_V1),
)

PROCESSORS: dict[str, Processor] = {each.name: each for each in _DESCRIBED}
"""The processors whose figures are known, beside `host`."""

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
        figures = _APPLE_M1 if name.startswith("apple-") else _NEOVERSE_N1
    else:
        figures = _SKYLAKE_AVX512 if vectors.bits == 512 else _GENERIC_AVX2
    return replace(
        figures,
        name=name,
        cpu=name,
        features=",".join(tuning_of(name)),
        vector_bits=vectors.bits,
        vector_registers=vectors.registers,
        multiply_adds=MULTIPLY_ADDS.get(name, 2),
        source=f"assumed for {name}: {figures.source}",
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
