"""Measure many plans of Winograd's convolution in a network, and fit the model's constants to them.

python -m benchmarks.winograd_plans --model resnet18,unet
python -m benchmarks.winograd_plans --fit

What was measured is kept beside this file, with the rates of the processor. `--fit` prints how far
the choices of the model are from the best, and by how much its times differ from those measured,
with each constant as it is, a quarter smaller, and a quarter larger.
"""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from itertools import groupby, product
from math import exp, log
from pathlib import Path
from statistics import mean, pstdev
from tempfile import TemporaryDirectory
from unittest.mock import patch

from benchmarks.model_error import network
from benchmarks.timing import console
from gawee_dialect.dialect.kernels.winograd import Winograd
from gawee_dialect.passes.tensors.convert_to_algorithm import Plan
from gawee_dialect.passes.tensors.convert_to_winograd import ConvertConvolution
from gawee_dialect.passes.tensors.convert_to_winograd.choose import Convolution, cycles_of, plans
from gawee_dialect.passes.tensors.convert_to_winograd.match import Match, match
from gawee_dialect.schedules.keys import Decision
from gawee_dialect.target.costs import Costs
from gawee_dialect.target.description import Memory, Processor
from gawee_dialect.tuning.lowering import ops_by_key
from gawee_dialect.tuning.network import StandaloneKernel, computed_by
from gawee_dialect.tuning.search import Phase, Settings, Tuner

FILE = Path(__file__).with_suffix(".jsonl")
MODEL = import_module(cycles_of.__module__)
CONSTANTS = ("TIGHT", "KEPT", "FILTER_CYCLES", "UNHIDDEN")
"""Of the model."""
COSTS = ("exposed", "prefetched", "conflict_cycles")
"""Of the processor."""
FACTORS = (0.75, 1.25)
ROUNDS = 11
ALIKE = 7
"""Plans with one tile, order and panel: they differ in rows and blocks."""


@dataclass(frozen=True)
class Measured:
    """A plan for a convolution of a network, and the least seconds of a call."""

    processor: Processor
    convolution: Convolution
    plan: Winograd
    seconds: float

    @property
    def expected(self) -> float:
        """What the model says."""
        cycles = cycles_of(self.convolution, self.plan, self.processor)
        return cycles / self.processor.frequency / self.processor.cores


def candidates(convolution: Convolution, processor: Processor, most: int) -> Iterator[Plan]:
    """Yield the fastest plans by the model that are not alike."""
    seen: dict[object, int] = {}
    for plan in sorted(plans(convolution, processor), key=lambda plan: plan.cycles):
        assert isinstance(plan.algorithm, Winograd)
        family, rows = plan.algorithm.family, plan.algorithm.rows
        if (family, rows) in seen or seen.get(family, 0) >= ALIKE:
            continue
        seen |= {(family, rows): 1, family: seen.get(family, 0) + 1}
        yield plan
        most -= 1
        if not most:
            return


def measure(name: str, threads: int, most: int) -> Iterator[Measured]:
    """Yield measurements of plans for each convolution of a network."""
    model, inputs = network(name)
    with TemporaryDirectory() as folder:
        path = Path(folder, "none.jsonl")
        tuner = Tuner(model.module, model.bound, inputs, path, Settings(threads, most))
        phase = Phase(tuner, Decision.ALGORITHM)
    processor = tuner.lowering.processor
    conversion = ConvertConvolution(processor)
    for kernel in phase.todo:
        original = tuner.lowering.with_choice()[kernel.key]
        found = match(original)
        if conversion.mismatch(original) is not None or not isinstance(found, Match):
            continue
        codes: dict[Winograd, StandaloneKernel] = {}
        for plan in candidates(found.convolution, processor, most):
            assert isinstance(plan.algorithm, Winograd)
            ops = ops_by_key(tuner.variant(plan.algorithm), Decision.ALGORITHM)[kernel.key]
            module = computed_by(ops[0], plan.algorithm)
            codes[plan.algorithm] = StandaloneKernel(module, threads)
        calls = phase.calls(kernel)
        best = dict.fromkeys(codes, float("inf"))
        for _ in range(ROUNDS):
            for plan, code in codes.items():
                best[plan] = min(best[plan], phase.network.seconds(code, calls))
        for plan, seconds in best.items():
            yield Measured(processor, found.convolution, plan, float(f"{seconds:.4g}"))
        console.print(f"{name}: {kernel.description}: {len(codes)} plans", markup=False)


def lines(measured: Iterable[Measured]) -> Iterator[str]:
    """Yield the lines of a file: the processor, then what was measured on it."""
    for processor, rows in groupby(measured, key=lambda row: row.processor):
        costs = {each.name for each in fields(Costs)}  # what is fitted is as it is today
        rates = {key: value for key, value in asdict(processor).items() if key not in costs}
        yield json.dumps({"processor": rates}) + "\n"
        for row in rows:
            plan = {key: value for key, value in asdict(row.plan).items() if value is not False}
            sizes = asdict(row.convolution).values()
            convolution = [value for value in sizes if value is not False]
            form = {"convolution": convolution, "plan": plan, "seconds": row.seconds}
            yield json.dumps(form) + "\n"


def read(path: Path) -> Iterator[Measured]:
    """Yield the measurements of a file."""
    processor: Processor | None = None
    for line in path.read_text("utf-8").splitlines():
        form = json.loads(line)
        if "processor" in form:
            memories = tuple(Memory(**memory) for memory in form["processor"].pop("memories"))
            processor = Processor(**form["processor"], memories=memories)
            continue
        assert processor is not None
        plan = Winograd(**{"by_channel": False} | form["plan"])
        yield Measured(processor, Convolution(*form["convolution"]), plan, form["seconds"])


def choices(rows: Iterable[Measured]) -> Iterator[tuple[Convolution, float]]:
    """Yield each convolution, and how many times the best plan's time the model's choice takes."""
    for (convolution, _), group in groupby(
        rows, lambda row: (row.convolution, row.processor.cores)
    ):
        these = list(group)
        chosen = min(these, key=lambda row: row.expected)
        yield convolution, chosen.seconds / min(row.seconds for row in these)


def errors(rows: Sequence[Measured]) -> tuple[float, float]:
    """Return by how much choices are slower than the best, and how far times are from expected."""
    slower = exp(mean(log(ratio) for _, ratio in choices(rows))) - 1
    return slower, pstdev(log(row.seconds / row.expected) for row in rows)


def fit(rows: Sequence[Measured]) -> None:
    """Print errors with each constant as it is and otherwise."""
    print(
        "choices {:.1%} slower than the best, times {:.1%} from the model's".format(*errors(rows))
    )
    for name, factor in product(CONSTANTS, FACTORS):
        value = getattr(MODEL, name) * factor
        with patch.object(MODEL, name, value):
            _print_errors(name, value, rows)
    for name, factor in product(COSTS, FACTORS):
        value = getattr(rows[0].processor, name) * factor
        others = [replace(row, processor=replace(row.processor, **{name: value})) for row in rows]
        _print_errors(name, value, others)


def _print_errors(name: str, value: float, rows: Sequence[Measured]) -> None:
    print(f"{name} = {value:.4g}: " + "{:.1%} slower, {:.1%} apart".format(*errors(rows)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or fit."""
    parser = ArgumentParser(prog="python -m benchmarks.winograd_plans", description=__doc__)
    parser.add_argument("--model", default="resnet18,unet", help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--plans", type=int, default=28, help="plans of each convolution")
    parser.add_argument("--fit", action="store_true", help="measure nothing")
    parser.add_argument("--results", type=Path, default=FILE, help="where results are kept")
    options = parser.parse_args(arguments)
    if options.fit:
        fit(list(read(options.results)))
        return
    with options.results.open("a") as file:
        for name in options.model.split(","):
            file.writelines(lines(measure(name, options.threads, options.plans)))


if __name__ == "__main__":
    main()
