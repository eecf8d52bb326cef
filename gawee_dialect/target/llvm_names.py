"""LLVM's names of processors: which vectors code for them has.

`llc -mtriple=x86_64 -mcpu=help` and `llc -mtriple=aarch64 -mcpu=help` of LLVM 22 list them; those
for 32 bits alone are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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

LANE_BY_LANE = ("+prefer-no-gather", "+prefer-no-scatter")
"""LLVM's tuning flags for AMD's processors: their gathers take longer than so many loads."""


def tuning_of(cpu: str) -> tuple[str, ...]:
    """Return the features that say what is faster on a processor by LLVM's name."""
    return LANE_BY_LANE if cpu.startswith("znver") else ()
