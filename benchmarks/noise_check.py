"""Does the stated noise hold? The same build many times, one that is 5 % slower, one that is not.

`python -m benchmarks.noise_check` measures pairs on a quiet machine. The same build against itself
must differ by less than the stated noise in 19 of 20 repetitions; one whose runs are 5 % longer
must be significant, and one with a pass that changes nothing must not. That takes about five
minutes, and longer where turns wait for other programs. The exit code is 1 where it does not hold.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from time import perf_counter

from benchmarks.passes_study import networks
from benchmarks.timing import processor
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.evaluator import Build
from gawee_dialect.evaluation.statistics import Ratio
from gawee_dialect.evaluation.turns import WARM_UP, Referee, RunTimes, Turn, take_turns, time_turn
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.insertion import after

EXTRA = 0.05
"""The part by which the slower one is slower."""

ENOUGH = 0.95
"""The part of the repetitions that must come out as they should."""


@dataclass(frozen=True)
class Case:
    """A question: the second of two builds, how much longer its runs are, what should come out."""

    name: str
    other: Build
    extra: float

    @property
    def different(self) -> bool:
        """Whether the difference of the two should be significant."""
        return self.extra > 0


NETWORKS = {
    "attention": networks.attention,
    "unet": networks.unet,
    "resnet18": networks.resnet18,
}
"""By name, from the steadiest on: a virtual machine shares its L3 with others, and the weights of
ResNet-18 are read from there."""


def cases(network: str) -> tuple[Build, Sequence[Case]]:
    """Return the first build, and the questions."""
    model, options = NETWORKS[network](), CodeOptions(num_threads=1, parallel=False)
    same_code = (after("inline", CanonicalizePass()),)
    nothing = CodeOptions(num_threads=1, parallel=False, passes=same_code)
    return Build(model, options), [
        Case("the same build", Build(model, options), 0),
        Case("a pass that changes nothing", Build(model, nothing), 0),
        Case("runs that take 5 % longer", Build(model, options), EXTRA),
    ]


def slowed(run: Callable[[], object], extra: float) -> Callable[[], object]:
    """Return a function that takes some part longer: it works on until that time is over."""

    def slower() -> None:
        start = perf_counter()
        run()
        end = perf_counter()
        while perf_counter() < end + extra * (end - start):
            pass

    return slower if extra else run


def turn(build: Build, extra: float, seconds: float) -> Turn:
    """Load a build, and time some runs."""
    compiled, inputs = build.load(), build.inputs
    run = slowed(lambda: compiled.run(inputs), extra)
    return time_turn(run, 1, seconds, warm_up=WARM_UP, least_seconds=seconds)


def repetition(first: Build, case: Case, rounds: int, seconds: float, patience: float) -> Ratio:
    """Measure both in turns; return how many times longer the second takes."""
    subjects = [lambda: turn(first, 0, seconds), lambda: turn(case.other, case.extra, seconds)]
    taken = take_turns(subjects, rounds, Referee(1, patience, retries=2))
    base, other = map(RunTimes, taken)
    return other.ratio_to(base)


def check(case: Case, ratios: Sequence[Ratio]) -> tuple[str, bool]:
    """Return a line of the table, and whether enough repetitions came out as they should."""
    right = sum(ratio.is_different == case.different for ratio in ratios)
    middle = sorted(ratios, key=lambda ratio: ratio.value)[len(ratios) // 2]
    passed = right >= ceil(ENOUGH * len(ratios))
    noise = sorted(ratio.noise for ratio in ratios)[len(ratios) // 2]
    verdict = "significant" if case.different else "not significant"
    return (
        f"| {case.name} | {middle.value:.4f} | {noise:.2%} | {verdict} in {right} of {len(ratios)} "
        f"| {'yes' if passed else 'NO'} |",
        passed,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where the noise does not hold."""
    parser = ArgumentParser(
        prog="python -m benchmarks.noise_check",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--network", choices=NETWORKS, default="attention")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a turn")
    parser.add_argument("--patience", type=float, default=20, help="seconds a turn waits")
    given = parser.parse_args(arguments)
    print(f"{processor()}, {given.network}: {given.rounds} rounds of {given.seconds} s\n")
    print("| | ratio | stated noise | | holds |\n|---|---|---|---|---|")
    first, questions = cases(given.network)
    passed = True
    for case in questions:
        ratios = [
            repetition(first, case, given.rounds, given.seconds, given.patience)
            for _ in range(given.repetitions)
        ]
        line, holds = check(case, ratios)
        passed &= holds
        print(line, flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
