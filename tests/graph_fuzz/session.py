"""Many graphs, one after the other: what was tried, and what was found, each cause once."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from time import monotonic, perf_counter

from hypothesis import HealthCheck, Phase, given, seed, settings
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.reduce.failure import Failure, OutOfTime, time_limit
from gawee_dialect.reduce.reducer import Reducer
from tests.graph_fuzz.judge import (
    HAS_TORCH,
    Finding,
    Skipped,
    checked_wrong,
    data_for,
    judge,
    torch_differs,
)
from tests.graph_fuzz.random_graph import graphs
from tests.graph_fuzz.random_pipeline import RandomPipeline, random_pipeline

NATIVE, PROVED, BY_TORCH, BY_DATA = 0.1, 0.05, 0.3, 0.02
"""Of how many graphs machine code is made, each pass is proved or checked, PyTorch is asked."""

SECONDS = 30.0
"""A graph that takes longer is a finding."""

SECONDS_TO_REDUCE = 40.0


@dataclass(frozen=True)
class StillThere(Failure):
    """A finding of one cause on a graph."""

    find: Callable[[ModuleOp], Finding | None]
    cause: tuple[str, str]

    def describe(self) -> str:
        return f"{self.cause[0]}: {self.cause[1]}"

    def holds(self, module: ModuleOp) -> bool:
        try:
            found = self.find(module)
        except Skipped:
            return False
        return found is not None and (found.kind, found.cause) == self.cause


@dataclass
class Session:
    """What was tried and found; findings are written to a folder where there is one."""

    folder: Path | None = None
    deadline: float = float("inf")
    asks_torch: bool = HAS_TORCH
    counts: Counter[str] = field(default_factory=Counter[str])
    found: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def run(self, first_seed: int, count: int) -> None:
        """Try so many graphs, or as many as there is time for."""

        @seed(first_seed)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(graphs())
        def one(module: ModuleOp) -> None:
            if monotonic() < self.deadline:
                self.try_graph(module, Random(f"{first_seed} {self.counts['graphs']}"))

        one()

    def try_graph(self, module: ModuleOp, random: Random) -> None:
        """Judge a graph and a pipeline, both new."""
        self.counts["graphs"] += 1
        native = random.random() < NATIVE
        pipeline = random_pipeline(random, native=native)
        data_seed, whole = random.randrange(1 << 20), random.random() < 0.5
        proving = random.random() < PROVED

        def find(candidate: ModuleOp) -> Finding | None:
            arrays = data_for(candidate, data_seed, whole=whole)
            return judge(candidate, pipeline.passes, arrays, prove=proving)

        self._note(module, pipeline, find)
        self.counts["to machine code" if native else f"to {pipeline.text.split(' for ')[0]}"] += 1
        self.counts["proved"] += proving
        if self.asks_torch and random.random() < BY_TORCH:
            self.counts["by PyTorch"] += 1
            self._note(
                module,
                pipeline,
                lambda each: torch_differs(each, data_for(each, data_seed, whole=whole)),
            )
        if random.random() < BY_DATA:
            self.counts["checked by data"] += 1
            self._note(module, pipeline, lambda each: checked_wrong(each, pipeline.passes))

    def _note(
        self,
        module: ModuleOp,
        pipeline: RandomPipeline,
        find: Callable[[ModuleOp], Finding | None],
    ) -> None:
        try:
            with time_limit(SECONDS):
                found = find(module)
        except Skipped:
            self.counts["skipped"] += 1
            return
        except OutOfTime:
            found = Finding("slow", "", f"more than {SECONDS:.0f} s")
        if found is None:
            return
        self.counts[f"findings: {found.kind}"] += 1
        cause = (found.kind, found.cause)
        if cause in self.found:
            return
        self.found[cause] = found.message
        if self.folder is not None:
            small = self._reduced(module, find, cause)
            self._write(self.folder, small, pipeline.passes, found)

    def _reduced(
        self,
        module: ModuleOp,
        find: Callable[[ModuleOp], Finding | None],
        cause: tuple[str, str],
    ) -> ModuleOp:
        failure = StillThere(find, cause)
        reducer = Reducer(
            module.clone(), failure, seconds_a_test=5.0, deadline=monotonic() + SECONDS_TO_REDUCE
        )
        return reducer.reduce()

    def _write(
        self, folder: Path, module: ModuleOp, passes: tuple[ModulePass, ...], found: Finding
    ) -> None:
        """Write a finding as a test of its own: it passes when the cause is mended."""
        folder.mkdir(parents=True, exist_ok=True)
        name = sha256(f"{found.kind} {found.cause}".encode()).hexdigest()[:10]
        pipeline = ",".join(str(each.spec()) for each in passes)
        lines = [
            f"// RUN: gawee-opt %s --prove-each -p '{pipeline}' | filecheck %s",
            "// CHECK: @main",
            *(f"// {line}" for line in f"{found.kind}: {found.message}".splitlines()[:6]),
        ]
        text = "\n".join((*lines, print_mlir(module)))
        (folder / f"{found.kind.replace(' ', '_')}_{name}.mlir").write_text(text)


def fuzz(
    minutes: float,
    count: int,
    first_seed: int,
    folder: Path | None = None,
    *,
    chunk: int = 500,
    asks_torch: bool = HAS_TORCH,
) -> Session:
    """Try graphs for some minutes, or so many of them; what comes first ends it."""
    started = perf_counter()
    session = Session(folder, monotonic() + 60 * minutes, asks_torch)
    number = 0
    while session.counts["graphs"] < count and monotonic() < session.deadline:
        before = session.counts["graphs"]
        session.run(first_seed + number, min(chunk, count - before))
        number += 1
    session.counts["seconds"] = round(perf_counter() - started)
    return session
