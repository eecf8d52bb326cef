"""This machine: what it says of itself, and what was measured on it, kept in the user's cache."""

import hashlib
import json
import math
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.target.description import (
    AARCH64,
    GIGA,
    HOST,
    KIB,
    MIB,
    MULTIPLY_ADDS,
    PROCESSORS,
    TILES,
    VECTORS,
    X86_64,
    Memory,
    Processor,
    named_processor,
    tuning_of,
)
from gawee_dialect.target.tile_permission import may_use_tiles
from gawee_dialect.whole_file import write_file

CACHE_VARIABLE = "GAWEE_CACHE_DIR"
"""The environment variable that names another folder for what is kept between processes."""

ASSUMED_FREQUENCY = 3e9
"""Hz, where the system does not report its own."""

ASSUMED_CACHES = {"L1": 32 * KIB, "L2": 512 * KIB, "L3": 8 * MIB}
"""Bytes, where the system does not report them."""

ASSUMED_RATES = {"L2": 32.0, "L3": 20.0}
"""Bytes a cycle, where they were not measured; from L1, two vectors a cycle are assumed."""

ASSUMED_MAIN_MEMORY = 20 * GIGA
"""Bytes a second."""

TARGET_VARIABLE = "GAWEE_TARGET"
"""The environment variable that names the processor that code is made for where it runs here.

As `ONEDNN_MAX_CPU_ISA` does with oneDNN, it holds a process to what an older processor has.
"""


@cache
def this_processor() -> tuple[str, str]:
    """Return LLVM's name of this machine's processor, and its features."""
    from llvmlite import binding

    cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    if f"+{TILES}" in features and not may_use_tiles():
        features = features.replace("+amx-", "-amx-")
    return cpu, ",".join((features, *tuning_of(cpu)))


def llvm_host() -> tuple[str, str]:
    """Return LLVM's name of the processor that `host` is, and its features.

    That is this machine's, or the one that TARGET_VARIABLE names, without what is missing here.
    Raises GaweeError where that one cannot be.
    """
    name = os.environ.get(TARGET_VARIABLE, HOST)
    return this_processor() if name in ("", HOST) else _held_to(name)


def _held_to(name: str) -> tuple[str, str]:
    wanted = named_processor(name)
    cpu, features = this_processor()
    here = dict.fromkeys(features.split(","))
    vectors = VECTORS[wanted.cpu]
    missing = [each[1:] for each in vectors.features if each not in here]
    if vectors.triple != (AARCH64 if "+neon" in here else X86_64):
        lacking = "is of another architecture"
    else:
        lacking = f"lacks {', '.join(missing)}" if missing else ""
    if lacking:
        hint = f"{TARGET_VARIABLE} takes what this machine can run; 'target' and --emit take all"
        raise GaweeError(Diagnostic(f"cannot run code for '{name}': {cpu} {lacking}", hint=hint))
    absent = (each for each in here if each.startswith("-"))
    return wanted.cpu, ",".join((*vectors.features, *absent, *tuning_of(wanted.cpu)))


def vectors_of(features: str) -> tuple[int, int]:
    """Return the bits of a vector register, and how many there are, from LLVM's features."""
    enabled = set(features.split(","))
    if "+avx512f" in enabled:
        return 512, 32
    if "+avx" in enabled:
        return 256, 16
    return 128, 32 if "+neon" in enabled else 16


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    if sys.platform != "darwin":
        return ""
    import subprocess

    found = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def _byte_count(text: str) -> int:
    """Read a size as Linux and macOS write it, `32K` or `32768`; 0 where it is neither."""
    found = re.fullmatch(r"(\d+)([KM]?)", text.strip())
    return int(found[1]) * {"": 1, "K": KIB, "M": MIB}[found[2]] if found else 0


def _linux_caches() -> Iterator[tuple[str, int]]:
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if _read(f"{folder}/type").strip() != "Instruction":
            yield f"L{_read(f'{folder}/level').strip()}", _byte_count(_read(f"{folder}/size"))


def cache_sizes() -> dict[str, int]:
    """Return the bytes of each data cache by name, `L1` first; assumed where nothing reports it."""
    sizes = {name: size for name, size in _linux_caches() if size}
    mac = {"L1": "hw.perflevel0.l1dcachesize", "L2": "hw.perflevel0.l2cachesize"}
    sizes = sizes or {name: size for name in mac if (size := _byte_count(_sysctl(mac[name])))}
    return dict(sorted(sizes.items())) or ASSUMED_CACHES


def frequency() -> float:
    """Return the processor's highest frequency in Hz, assumed where nothing reports it."""
    kilohertz = _read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").strip()
    if kilohertz.isdecimal():
        return 1e3 * int(kilohertz)
    megahertz = re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return 1e6 * max(map(float, megahertz)) if megahertz else ASSUMED_FREQUENCY


def _allowed_cpus() -> Sequence[int]:
    affinity = getattr(os, "sched_getaffinity", None)
    return sorted(affinity(0)) if affinity else range(os.cpu_count() or 1)


def _quota() -> float:
    """Return how many processors a container may use at once, infinity where it has no limit."""
    fields = _read("/sys/fs/cgroup/cpu.max").split()
    if len(fields) == 2 and fields[0].isdecimal() and fields[1].isdecimal():
        return int(fields[0]) / int(fields[1])
    return math.inf


def physical_cores() -> int:
    """Return the cores that this process may use: hardware threads of one core count once."""
    fast = _sysctl("hw.perflevel0.physicalcpu")
    if fast.isdecimal():
        return int(fast)
    topology = "/sys/devices/system/cpu/cpu{}/topology/{}"
    cores = {
        (_read(topology.format(cpu, "physical_package_id")), _read(topology.format(cpu, "core_id")))
        for cpu in _allowed_cpus()
    }
    known = len(_allowed_cpus()) if ("", "") in cores else len(cores)
    return max(1, int(min(known, _quota())))


def cpu_info(field: str) -> str | None:
    """Return what Linux says of the first processor, such as its `microcode`; None elsewhere."""
    found = re.search(rf"^{field}\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return found[1] if found else None


def model_name() -> str:
    """Return what the maker calls the processor."""
    return cpu_info("model name") or _sysctl("machdep.cpu.brand_string") or platform.processor()


def detect() -> Processor:
    """Describe this machine by what it says of itself; the rates are assumed.

    It is asked once: passes decide by it, and what Linux says of the frequency is that of a moment.
    """
    return described(*llvm_host())


@cache
def described(cpu: str, features: str) -> Processor:
    """Describe this machine as a processor by LLVM's name, with features."""
    vector_bits, registers = vectors_of(features)
    hertz = frequency()
    rates = {"L1": 2 * vector_bits / 8, **ASSUMED_RATES}
    caches = [
        Memory(name, size, hertz * rates.get(name, ASSUMED_RATES["L3"]))
        for name, size in cache_sizes().items()
    ]
    return replace(
        named_processor(cpu if cpu in VECTORS else "generic-avx2"),
        name=HOST,
        cpu=cpu,
        features=features,
        vector_bits=vector_bits,
        vector_registers=registers,
        cores=os.cpu_count() or 1,
        multiply_adds=MULTIPLY_ADDS.get(cpu, 2),
        frequency=hertz,
        memories=(*caches, Memory("DRAM", None, ASSUMED_MAIN_MEMORY)),
        source=f"assumed for {cpu} at {hertz / GIGA:.3g} GHz",
        triple=AARCH64 if "+neon" in features.split(",") else X86_64,
    )


@dataclass(frozen=True)
class Measured:
    """What was measured: f32 multiply-add FLOPs a second, bytes a second by memory, and when."""

    flops: float
    bandwidths: Mapping[str, float]
    date: str
    spread: float | None = None
    """By what part of its worst round the best round of a rate was better, at most, if known."""
    chain_flops: float | None = None
    """FLOPs a second of multiply-adds each of which waits for the one before, if known."""

    def best_with(self, earlier: "Measured | None") -> "Measured":
        """Return the better of each rate: a limit is not lower for what else ran meanwhile.

        Without a spread, what was kept is from when a run could read too little of an array.
        """
        if earlier is None or earlier.spread is None:
            return self
        best = {
            name: max(rate, earlier.bandwidths.get(name, 0.0))
            for name, rate in self.bandwidths.items()
        }
        flops = max(self.flops, earlier.flops)
        chains = [each for each in (self.chain_flops, earlier.chain_flops) if each is not None]
        return replace(self, flops=flops, bandwidths=best, chain_flops=max(chains, default=None))

    def of(self, processor: Processor) -> Processor:
        """Return a processor with the measured rates in the place of its own.

        Its frequency is what its multiply-adds say: what a system reports may be the nominal one.
        So is their latency, where no description of the processor says it.
        """
        memories = tuple(
            replace(each, bandwidth=self.bandwidths.get(each.name, each.bandwidth))
            for each in processor.memories
        )
        source = f"measured {self.date}, {processor.cpu}"
        if self.spread is not None:
            source += f", rounds within {self.spread:.0%}"
        latency = processor.multiply_add_latency
        if self.chain_flops is not None and processor.cpu not in PROCESSORS:
            latency = max(1, round(self.flops / (processor.multiply_adds * self.chain_flops)))
        return replace(
            processor,
            memories=memories,
            multiply_add_latency=latency,
            measured_flops=self.flops,
            frequency=self.flops / (2 * processor.lanes * processor.multiply_adds),
            source=source,
        )


def cache_folder() -> Path:
    """Return the folder of the user's cache that is ours, or the one that CACHE_VARIABLE names."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gawee"


def limits_path(processor: Processor) -> Path:
    """Return the file of what was measured on a processor like this one."""
    sizes: Sequence[object] = [each.size for each in processor.memories]
    key = json.dumps([model_name(), processor.cpu, processor.features, sizes])
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    return cache_folder() / f"limits-{processor.cpu}-{digest}.json"


def write_measured(processor: Processor, measured: Measured) -> Path:
    """Keep what was measured; returns the file. Raises OSError."""
    path = limits_path(processor)
    path.parent.mkdir(parents=True, exist_ok=True)
    form = {
        "processor": model_name(),
        "cpu": processor.cpu,
        "date": measured.date,
        "flops": measured.flops,
        "bandwidths": dict(measured.bandwidths),
        "spread": measured.spread,
        "chain_flops": measured.chain_flops,
    }
    return write_file(path, json.dumps(form, indent=1) + "\n")


def read_measured(processor: Processor) -> Measured | None:
    """Return what was measured before on such a processor, None where nothing usable is kept."""
    try:
        form: object = json.loads(limits_path(processor).read_text())
    except (OSError, ValueError):
        return None
    if not isa(form, dict[str, object]):
        return None
    flops, bandwidths, date = form.get("flops"), form.get("bandwidths"), form.get("date")
    if not isinstance(flops, float) or not isa(bandwidths, dict[str, float]):
        return None
    usable = isinstance(date, str) and min((flops, *bandwidths.values())) > 0
    spread, chain = (
        each if isinstance(each, float) and each > 0 else None
        for each in (form.get("spread"), form.get("chain_flops"))
    )
    return Measured(flops, bandwidths, str(date), spread, chain) if usable else None


def host() -> Processor:
    """Describe this machine: as measured, where it was, otherwise as assumed from its name."""
    processor = detect()
    measured = read_measured(processor)
    return processor if measured is None else measured.of(processor)
