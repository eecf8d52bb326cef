"""What do strategies of a search find, in how many measurements? docs/search_study.md.

Each strategy searches the schedules of a kernel, from the cost model's choice on, as `gawee-tune
--strategy` does. What was measured is kept, so that a run goes on where the last one stopped:

    python -m benchmarks.search_study --budget 16

Each of the 24 searches takes about half a minute on a quiet machine. A part of them, or another
budget, leaves the page as it is, unless `--page` says where to write.
"""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import accumulate
from math import exp, log
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from benchmarks.schedules import CASES
from benchmarks.targets import processor_and_target
from benchmarks.timing import console
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.evaluation.search import STRATEGIES
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_inputs, random_parameters
from gawee_dialect.plots import COLOURS, picture
from gawee_dialect.schedules.keys import Decision
from gawee_dialect.tools.run_session import input_specs
from gawee_dialect.tuning.search import Settings, Tuner
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.located_parser import LocatedParser

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "build" / "search_study"
PAGE, FIGURE = ROOT / "docs" / "search_study.md", ROOT / "docs" / "search_study.svg"
BUDGET = 16
KERNELS = ("matmul 512", "conv", "depthwise", "softmax")
COMPARED = ("ranked", "random", "hill-climbing", "evolutionary", "learned", "optuna")

HEAD = """# What do strategies find?

Each strategy of [`gawee-tune`](tuning.md) searches the schedules of a kernel, with {budget}
measurements, from the cost model's choice on. A figure is the time of the best schedule so far, by
that of the model's choice in the same search: 0.95 takes 5 % less time, and 1 is the model's.

```sh
pip install 'gawee-dialect[search,plot]'
python -m benchmarks.search_study --budget {budget}
```

![The best so far, by measurements](search_study.svg)

{day}, {processor}, one thread. Differences below 2 % are noise: `gawee-tune` stays with the model's
choice then.
"""

Curves = Mapping[str, Mapping[str, Sequence[float]]]
"""By strategy and kernel: the seconds of schedules in order; the first is the model's choice."""


def measure(kernel: str, strategy: str, budget: int, patience: float) -> Sequence[float]:
    """Search the schedules of the kernel that takes longest; return the seconds in order."""
    model = Model(LocatedParser(make_context(), CASES[kernel].text, "case.mlir").parse_module())
    model.parameters = random_parameters(input_specs(model.entry.weights), 0)
    inputs = random_inputs(input_specs(model.entry.main.inputs))
    settings = Settings(most=budget, strategy=STRATEGIES[strategy], patience=patience)
    with TemporaryDirectory() as folder:
        tuner = Tuner(model.module, model.bound, inputs, Path(folder, "found.jsonl"), settings)
        for phase in tuner.phases():
            if phase.decision is Decision.SCHEDULE:
                return phase.tune(phase.todo[0], lambda _: None).figures
    raise AssertionError("a network has kernels")


def best_so_far(figures: Sequence[float], budget: int) -> Sequence[float]:
    """Return the best of the first figures by the first, for each number up to the budget."""
    best = [each / figures[0] for each in accumulate(figures, min)]
    return [*best, *best[-1:] * (budget - len(best))][:budget]


def together(curves: Iterable[Sequence[float]]) -> Sequence[float]:
    """Return the geometric mean of curves, point by point."""
    return [exp(mean(map(log, each))) for each in zip(*curves, strict=True)]


def page(curves: Curves, budget: int) -> str:
    """Return the page of docs/ for what was measured."""
    kernels = list(dict.fromkeys(kernel for found in curves.values() for kernel in found))
    lines = [
        HEAD.format(budget=budget, day=date.today(), processor=processor_and_target()),
        f"| strategy | {' | '.join(kernels)} | mean | mean of {budget // 2} |",
        "|---" * (len(kernels) + 3) + "|",
    ]
    for strategy, found in curves.items():
        every = [best_so_far(found[kernel], budget) for kernel in kernels]
        mean_of = together(every)
        cells = [each[-1] for each in every] + [mean_of[-1], mean_of[budget // 2 - 1]]
        lines.append(f"| {strategy} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def draw(curves: Curves, budget: int, path: Path) -> None:
    """Draw the mean of all kernels for each strategy; raises GaweeError and OSError."""
    with picture(path, (6.0, 3.2), "The best schedule so far, by the model's choice") as figure:
        axes = figure.add_subplot()
        for colour, (strategy, found) in zip(COLOURS, curves.items(), strict=False):
            mean_of = together(best_so_far(each, budget) for each in found.values())
            axes.step(range(1, budget + 1), mean_of, where="post", color=colour, label=strategy)
        axes.set_xlabel("measured schedules")
        axes.set_ylabel("time, geometric mean of kernels")
        axes.legend()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is left, and write the page and its figure."""
    parser = ArgumentParser(
        prog="python -m benchmarks.search_study",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--budget", type=int, default=BUDGET, help="measurements of a search")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="of benchmarks.schedules")
    parser.add_argument("--strategies", default=",".join(COMPARED))
    parser.add_argument("--patience", type=float, default=2.0, help="seconds, for quiet")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--page", type=Path, help="the page to write")
    options = parser.parse_args(argv)
    options.results.mkdir(exist_ok=True, parents=True)
    curves: dict[str, dict[str, Sequence[float]]] = {}
    for strategy in options.strategies.split(","):
        for kernel in options.kernels.split(","):
            file = options.results / f"{kernel}.{strategy}.{options.budget}.json".replace(" ", "_")
            if not file.exists():
                try:
                    found = measure(kernel, strategy, options.budget, options.patience)
                except GaweeError as error:  # a package that a strategy needs
                    print(error, file=sys.stderr)
                    return 1
                file.write_text(json.dumps(list(found)), "utf-8")
                best = min(found) / found[0]
                console.print(f"{strategy}: {kernel}: {best:.3f} of the model's choice")
            curves.setdefault(strategy, {})[kernel] = json.loads(file.read_text("utf-8"))
    given = options.kernels, options.strategies, options.budget
    all_of_them = given == (",".join(KERNELS), ",".join(COMPARED), BUDGET)
    if options.page or all_of_them:  # a part leaves docs/ as it is
        written = options.page or PAGE
        written.write_text(page(curves, options.budget), "utf-8")
        draw(curves, options.budget, written.with_name(FIGURE.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
