"""How far the cost models' choices are from the best of `gawee-tune`: docs/model_error.md.

Each distinct convolution and product of a network that takes more than 50 us is measured inside the
running network: as the models choose, and in the versions that they rank next. A choice's error is
its time over that of the fastest version, less one; versions that are less than 2 % faster count as
equally fast. What was measured is kept, so that a run goes on where the last one stopped:

python -m benchmarks.model_error --model unet --seconds 200
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import exp, inf, log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.targets import add_target, held_target, hold, processor_and_target
from benchmarks.timing import console
from gawee_dialect.model import Model, load
from gawee_dialect.tuning.search import Kernel, Phase, Settings, Tuner, shown

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "build" / "model_error"
PAGE = ROOT / "docs" / "model_error.md"
NETWORKS = ("resnet18", "resnet50", "mobilenetv2", "unet", "bert-small")
LONG = 50e-6
"""Seconds of a call from which the largest error is told."""
KINDS = ("conv ", "matmul ")
"""How descriptions of convolutions and products begin."""
SECONDS_OF_A_KERNEL = 5.0
"""After which its versions take no more turns."""
PRODUCTS, OTHERS = "schedule of a convolution or product", "schedule of another kernel"
WORST = 20
"""Rows of the page's table of single kernels."""

HEAD = """# Errors of the cost models

Which algorithm and which schedule a kernel gets is decided by models of the processor. Here each
distinct convolution and product of a network that takes more than 50 us is measured inside the
running network. It is measured as the models choose and in the versions that they rank next, with
prefetches and without, {candidates} at most. The error of a choice is its time over that of the
fastest version, less one. Versions less than 2 % faster count as equally fast.

```sh
python -m benchmarks.model_error
```

{day}, {processor}, {threads} thread{s}.
"""


@dataclass(frozen=True)
class Row:
    """One kernel of one network: seconds of a call as the model chooses, and of the best."""

    network: str
    kernel: str
    decision: str
    chosen: float
    best: float
    version: str
    """The best version."""

    @property
    def kind(self) -> str:
        """What was decided: an algorithm, the schedule of a convolution or product, or another."""
        if self.decision == "algorithm":
            return self.decision
        return PRODUCTS if self.kernel.startswith(KINDS) else OTHERS

    @property
    def error(self) -> float:
        """The part by which the model's choice takes longer."""
        return self.chosen / self.best - 1


def mean_error(rows: Sequence[Row]) -> float:
    """Return the geometric mean of rows' errors, zero for none."""
    return exp(sum(log(1 + row.error) for row in rows) / max(1, len(rows))) - 1


def network(name: str) -> tuple[Model, Mapping[str, np.ndarray]]:
    """Return a network of `benchmarks.models` with its weights, and its input."""
    from benchmarks.prepare import prepare

    with TemporaryDirectory() as folder:
        prepare(name, Path(folder))
        model = load(Path(folder, "model.onnx"))
        return model, {model.entry.main.inputs[0].name: np.load(Path(folder, "x.npy"))}


@dataclass(frozen=True)
class Scope:
    """Which kernels are measured, and for how long."""

    shortest: float = LONG
    """Seconds of a call."""
    others: bool = False
    """Whether those count that are neither convolutions nor products."""
    deadline: float = inf
    """When no other kernel is begun, as `perf_counter` tells."""

    def todo(self, phase: Phase) -> list[Kernel]:
        """Return the kernels of a phase that are to be measured."""
        return [
            kernel
            for kernel in phase.todo
            if phase.seconds[kernel.key] >= self.shortest
            and (self.others or kernel.description.startswith(KINDS))
        ]


def measure(name: str, file: Path, settings: Settings, scope: Scope) -> bool:
    """Tune a network but for what the file has already; return whether the time was enough."""
    model, inputs = network(name)
    tuner = Tuner(model.module, model.bound, inputs, file, settings)
    for phase in tuner.phases():
        for kernel in scope.todo(phase):
            if perf_counter() > scope.deadline:
                return False
            outcome = phase.tune(kernel, lambda _: None)
            best, chosen = outcome.seconds * 1e6, outcome.default_seconds * 1e6
            what = f"{chosen:.1f} -> {best:.1f} us, {shown(outcome.entry.choice)}"
            line = f"{name}: {kernel.description}: {what}"
            console.print(line, markup=False, soft_wrap=True)
    return True


def read_rows(name: str, file: Path) -> Iterable[Row]:
    """Yield the measurements of a network from the file that `measure` writes."""
    for line in file.read_text("utf-8").splitlines():
        entry = json.loads(line)
        decision = "schedule" if "schedule" in entry["choice"] else "algorithm"
        chosen, best = entry["default_seconds"], entry["seconds"]
        version = next(iter(entry["choice"].values())) if chosen > best else ""
        if chosen > best and decision == "algorithm":
            version = ", ".join(f"{key} {value}" for key, value in entry["choice"].items())
        yield Row(name, entry["kernel"], decision, chosen, best, version)


def page(rows: Sequence[Row], settings: Settings) -> str:
    """Return the page of docs/ for rows of all networks."""
    head = HEAD.format(
        candidates=settings.most,
        day=date.today(),
        processor=processor_and_target(),
        threads=settings.threads,
        s="s" * (settings.threads > 1),
    )
    lines = [
        head,
        "| network | decision | kernels | the model's is best | mean error | largest over 50 us |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for network in (*dict.fromkeys(row.network for row in rows), "all"):
        for kind in ("algorithm", PRODUCTS, OTHERS):
            these = [row for row in rows if row.kind == kind and network in (row.network, "all")]
            if these:
                lines.append(f"| {network} | {kind} | {_summary(these)} |")
    lines += [
        "",
        "## The largest errors",
        "",
        "| network | kernel | decision | chosen, us | best, us | error | the best version |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    wrong = sorted((row for row in rows if row.error > 0), key=lambda row: -row.error)
    lines += [
        f"| {row.network} | {row.kernel} | {row.decision} | {row.chosen * 1e6:.1f} "
        f"| {row.best * 1e6:.1f} | {row.error:.1%} | `{row.version}` |"
        for row in wrong[:WORST]
    ]
    return "\n".join(lines) + "\n"


def _summary(rows: Sequence[Row]) -> str:
    best = sum(row.error == 0 for row in rows)
    largest = max((row.error for row in rows if row.chosen > LONG), default=0.0)
    return f"{len(rows)} | {best} | {mean_error(rows):.1%} | {largest:.1%}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = ArgumentParser(prog="python -m benchmarks.model_error", description=__doc__)
    parser.add_argument("--model", default=",".join(NETWORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=6, help="versions of each kernel")
    parser.add_argument("--shortest", type=float, default=50, help="microseconds of a call")
    parser.add_argument("--others", action="store_true", help="not only convolutions and products")
    parser.add_argument("--seconds", type=float, default=inf, help="then no other kernel is begun")
    parser.add_argument("--anew", action="store_true", help="what has a result already too")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    add_target(parser)
    options = parser.parse_args(arguments)
    hold(options.target)
    if held_target():
        options.results /= held_target()
        options.page = options.results / "page.md" if options.page == PAGE else options.page
    options.results.mkdir(exist_ok=True, parents=True)
    settings = Settings(options.threads, options.candidates, seconds=SECONDS_OF_A_KERNEL)
    scope = Scope(options.shortest / 1e6, options.others, perf_counter() + options.seconds)
    for name in options.model.split(","):
        file = file_of(options, name)
        if options.anew:
            file.unlink(missing_ok=True)
        if not measure(name, file, settings, scope):
            console.print("the time is up; a next run goes on", markup=False)
            break
    files = {name: file_of(options, name) for name in NETWORKS + tuple(options.model.split(","))}
    rows = [row for name, file in files.items() if file.exists() for row in read_rows(name, file)]
    options.page.write_text(page(rows, settings), "utf-8")


def file_of(options: Namespace, name: str) -> Path:
    """Return the file of a network's results."""
    return options.results / f"{name}.{options.threads}.jsonl"


if __name__ == "__main__":
    main()
