"""The time of a run: candidates take turns, and each is loaded anew for every turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.evaluation.machine import BusyThreads
from gawee_dialect.evaluation.run_times import WARM_UP, RunTimes
from gawee_dialect.evaluation.turns import Referee, Turn, take_turns, time_turn


@dataclass
class Time(Evaluator[Build]):
    """Seconds of a run, and the ratio to the first candidate.

    Code and weights are loaded anew for each turn, so that the noise that is stated has in it what
    depends on where they happen to lie.
    """

    rounds: int = 7
    runs: int = 5
    """Of a turn, at least."""
    seconds: float = 1.0
    """After which fewer runs of a turn will do."""
    least_seconds: float = 0.1
    """Of a turn."""
    referee: Referee = field(default_factory=lambda: Referee(patience=10.0))
    pin: bool = False
    """Whether threads are bound to processors after a turn's warm-up, until the process ends."""

    def times(self, candidates: Sequence[Build]) -> Sequence[RunTimes]:
        """Return the times of candidates that took turns; raises GaweeError."""
        subjects = [lambda each=each: self._turn(each) for each in candidates]
        self.referee.threads = max((each.compiled.num_threads for each in candidates), default=1)
        return [RunTimes(turns) for turns in take_turns(subjects, self.rounds, self.referee)]

    def _turn(self, build: Build) -> Turn:
        compiled, inputs = build.load(), build.inputs
        if self.pin:
            threads = BusyThreads.start()
            for _ in range(WARM_UP):
                compiled.run(inputs)
            threads.pin(compiled.num_threads)
        return time_turn(
            lambda: compiled.run(inputs),
            self.runs,
            self.seconds,
            warm_up=WARM_UP,
            least_seconds=self.least_seconds,
        )

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        times = self.times(candidates)
        return [time_figures(each, times[0]) for each in times]


def time_figures(times: RunTimes, base: RunTimes) -> Figures:
    """Return what is recorded of times: seconds, the noise, the ratio to what took turns."""
    loads = [judged.other_load for judged in times.turns]
    figures: dict[str, object] = {
        "seconds": times.typical,
        "noise": times.noise if len(times.turns) > 1 else None,
        "best_seconds": times.best,
        "spread_seconds": times.spread,
        "runs": len(times.seconds),
        "rounds": list(times.rounds),
        "disturbed_turns": times.disturbed,
        "other_load": round(median(loads), 2),
    }
    if times is not base:
        ratio = times.ratio_to(base)
        figures |= {
            "base_rounds": list(base.rounds),
            "ratio": ratio.value,
            "ratio_noise": ratio.noise if len(times.turns) > 1 else None,
        }
    return figures
