"""Measure this machine's limits with loops that our own backend compiles.

1. Multiply-adds: as many independent chains of vector multiply-adds as there are registers; and
   one chain, in which each waits for the one before.
2. Each memory: read, over and over, an array that fits in it and in nothing nearer.
3. Each loop runs several times in a few milliseconds, the best counts: others use the machine too.
   All loops have some rounds, with pauses; a better rate that was kept from before stays.
"""

import ctypes
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from time import perf_counter, sleep

import numpy as np
from numpy.typing import NDArray
from xdsl.parser import Parser

from gawee_dialect.backend.jit import NativeModule, Target
from gawee_dialect.backend.memory import aligned_bytes
from gawee_dialect.target.description import MIB, Memory, Processor
from gawee_dialect.target.host import Measured, detect, read_measured, write_measured
from gawee_dialect.universe import make_context

RUNS = 15
SECONDS_A_RUN = 3e-3
ROUNDS = 5
PAUSE = 0.4
"""Seconds from a round to the next: what disturbed one may be over by then."""
READS_A_STEP = 8
"""Loads in the body of the reading loop, each into an accumulator of its own."""

LARGEST = 512 * MIB
"""Bytes read to measure main memory, at most; four times the last cache where that is less."""


@dataclass(frozen=True)
class LoopText:
    """The MLIR of a function that runs a step `%count` times on values carried along."""

    name: str
    arguments: str
    carried: Sequence[str]
    """The type of each carried value; `%v0`, ... at the start of a step, `%n0`, ... at its end."""
    start: str
    """Defines `%start0`, ..."""
    step: str
    finish: str

    def text(self) -> str:
        """Return the function; the carried values are `%r0`, ... in `finish`."""

        def values(prefix: str) -> str:
            names = ", ".join(f"%{prefix}{index}" for index in range(len(self.carried)))
            return f"{names} : {', '.join(('i64', *self.carried))}"

        def arguments(prefix: str) -> str:
            pairs = (f"%{prefix}{index}: {type}" for index, type in enumerate(self.carried))
            return ", ".join(pairs)

        loop = values("start").replace("%start0", "%zero, %start0", 1)
        again = values("n").replace("%n0", "%next, %n0", 1)
        results = values("n").replace("i64, ", "", 1)
        return f"""
llvm.func @{self.name}({self.arguments}, %count: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  {self.start}
  llvm.br ^loop({loop})
^loop(%i: i64, {arguments("v")}):
  {self.step}
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %count : i64
  llvm.cond_br %more, ^loop({again}), ^done({results})
^done({arguments("r")}):
  {self.finish}
  llvm.return
}}
"""


def _numbered(count: int, template: str) -> str:
    return "\n  ".join(template.replace("#", str(index)) for index in range(count))


def chains(processor: Processor) -> int:
    """Return how many multiply-adds run at once: all registers but a few for the operands."""
    return processor.vector_registers - (8 if processor.vector_registers >= 32 else 4)


def _multiply_add_text(processor: Processor, fused: bool, name: str, count: int) -> str:
    type = f"vector<{processor.lanes}xf32>"
    step = f"%n# = llvm.intr.fma(%v#, %x, %y) : ({type}, {type}, {type}) -> {type}"
    if not fused:
        step = f"%p# = llvm.fmul %v#, %x : {type}\n  %n# = llvm.fadd %p#, %y : {type}"
    stores = f"""%at# = llvm.getelementptr %memory[#] : (!llvm.ptr) -> !llvm.ptr, {type}
  llvm.store %r#, %at# : {type}, !llvm.ptr"""
    loads = f"""%x = llvm.load %memory : !llvm.ptr -> {type}
  %second = llvm.getelementptr %memory[1] : (!llvm.ptr) -> !llvm.ptr, {type}
  %y = llvm.load %second : !llvm.ptr -> {type}
  """
    from_memory = f"""%from# = llvm.getelementptr %memory[#] : (!llvm.ptr) -> !llvm.ptr, {type}
  %start# = llvm.load %from# : !llvm.ptr -> {type}"""
    return LoopText(
        name=name,
        arguments="%memory: !llvm.ptr",
        carried=[type] * count,
        start=loads + _numbered(count, from_memory),
        step=_numbered(count, step),
        finish=_numbered(count, stores),
    ).text()


def _read_text(processor: Processor) -> str:
    """Make the loop that reads `%steps` times 8 vectors, and then starts again, `%count` steps.

    The vectors are combined bit by bit, which every processor does as fast as it can load.
    """
    type, count = f"vector<{processor.lanes}xi32>", READS_A_STEP
    block_of = f"!llvm.ptr, !llvm.array<{count} x {type}>"
    load = f"""%at# = llvm.getelementptr %memory[%v{count}, #] : (!llvm.ptr, i64) -> {block_of}
  %read# = llvm.load %at# : !llvm.ptr -> {type}
  %n# = llvm.or %v#, %read# : {type}"""
    wrap = f"""%after = llvm.add %v{count}, %one : i64
  %wraps = llvm.icmp "sge" %after, %steps : i64
  %n{count} = llvm.select %wraps, %zero, %after : i1, i64"""
    stores = f"""%to# = llvm.getelementptr %result[#] : (!llvm.ptr) -> !llvm.ptr, {type}
  llvm.store %r#, %to# : {type}, !llvm.ptr"""
    nothing = f"%start# = llvm.mlir.constant(dense<0> : {type}) : {type}"
    return LoopText(
        name="read",
        arguments="%memory: !llvm.ptr, %result: !llvm.ptr, %steps: i64",
        carried=[*[type] * count, "i64"],
        start=_numbered(count, nothing) + f"\n  %start{count} = llvm.add %zero, %zero : i64",
        step=_numbered(count, load) + "\n  " + wrap,
        finish=_numbered(count, stores),
    ).text()


def best_rate(run: Callable[[int], None], amount: float, least: int = 16) -> float:
    """Return the best rate, in `amount` a second, of `run(count)`, which does count amounts.

    A run does `least` of them at least, even if another program took the time of the first.
    """
    count = least
    while (seconds := _seconds(run, count)) < SECONDS_A_RUN / 2:
        count *= 2
    count = max(least, round(count * SECONDS_A_RUN / seconds))
    return count * amount / min(_seconds(run, count) for _ in range(RUNS))


def _seconds(run: Callable[[int], None], count: int) -> float:
    start = perf_counter()
    run(count)
    return perf_counter() - start


def array_sizes(memories: Sequence[Memory]) -> Iterator[tuple[str, int]]:
    """Yield how many bytes to read to measure each memory: half of it, or much more than caches."""
    nearest = 0
    for memory in memories:
        if memory.size is None:
            yield memory.name, min(LARGEST, max(64 * MIB, 4 * nearest))
        else:
            yield memory.name, max(memory.size // 2, min(2 * nearest, memory.size))
            nearest = memory.size


class Loops:
    """The compiled loops, and the memory that they work on."""

    def __init__(self, processor: Processor):
        self.processor = processor
        features = processor.features.split(",")
        fused = "+fma" in features or "+neon" in features
        text = _read_text(processor)
        for name, count in (("multiply_add", chains(processor)), ("one_chain", 1)):
            text += _multiply_add_text(processor, fused, name, count)
        module = Parser(make_context(), text).parse_module()
        self._native = NativeModule(module, Target.of(processor))
        self._result = self._filled(processor.vector_bits // 8 * processor.vector_registers)

    def _filled(self, size: int) -> NDArray[np.float32]:
        # Memory that was never written is one page of zeros, read again and again. The value
        # is where multiply-adds of equal operands converge to, so that none gets slow or infinite.
        floats = aligned_bytes(size)[:size].view(np.float32)
        floats.fill(0.5)
        return floats

    def _function(self, name: str, arguments: int) -> Callable[..., None]:
        types = [ctypes.c_void_p] * arguments
        return ctypes.CFUNCTYPE(None, *types)(self._native.address(name))

    def flops(self) -> float:
        """Measure f32 multiply-adds, in FLOPs a second."""
        return self._rate("multiply_add", chains(self.processor))

    def chain_flops(self) -> float:
        """Measure f32 multiply-adds that wait for each other, in FLOPs a second."""
        return self._rate("one_chain", 1)

    def _rate(self, name: str, count: int) -> float:
        native, memory = self._function(name, 2), self._result.ctypes.data
        return best_rate(lambda steps: native(memory, steps), 2 * self.processor.lanes * count)

    def bandwidth(self, size: int) -> float:
        """Measure reads from an array of so many bytes, in bytes a second."""
        step = READS_A_STEP * self.processor.vector_bits // 8
        steps = max(1, size // step)
        array = self._filled(steps * step)
        native, result = self._function("read", 4), self._result.ctypes.data
        memory = array.ctypes.data
        # Part of an array would be read from a nearer memory.
        return best_rate(lambda count: native(memory, result, steps, count), step, steps)


def measure() -> Measured:
    """Measure this machine's limits; takes about four seconds."""
    processor = detect()
    loops, sizes = Loops(processor), dict(array_sizes(processor.memories))
    rounds: list[Sequence[float]] = []
    for number in range(ROUNDS):
        sleep(PAUSE if number else 0)
        rates = map(loops.bandwidth, sizes.values())
        rounds.append([loops.flops(), loops.chain_flops(), *rates])
    flops, chain, *bandwidths = (max(rates) for rates in zip(*rounds, strict=True))
    spread = max(max(rates) / min(rates) for rates in zip(*rounds, strict=True)) - 1
    by_memory = dict(zip(sizes, bandwidths, strict=True))
    return Measured(flops, by_memory, date.today().isoformat(), spread, chain)


def measured_host() -> Processor:
    """Measure this machine, keep the best result for later, and describe it.

    Where it cannot be kept, that is a warning.
    """
    processor = detect()
    measured = measure().best_with(read_measured(processor))
    try:
        write_measured(processor, measured)
    except OSError as error:
        what = f"what was measured was not kept: '{error.filename}': {error.strerror}"
        warnings.warn(what, RuntimeWarning, stacklevel=2)
    return measured.of(processor)
