"""A search: a space has points, a strategy suggests some, an evaluator measures them.

targets = {"target": ["host", "haswell"]}
space = Space(lambda target: Build(model, CodeOptions(target=target)), targets)
best = search(space, Code(), "spills", Exhaustive)
space.values(min(best, key=best.__getitem__))      # {"target": ...}
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from math import inf, log, prod
from time import perf_counter
from typing import Generic, TypeVar

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.evaluator import Evaluator

Candidate = TypeVar("Candidate")
Made = TypeVar("Made", covariant=True)
Other = TypeVar("Other")

Point = tuple[int, ...]
"""Which value each knob has, by number."""

DRAWN = 64
"""Points that are drawn for each legal one that is asked for, at most."""


class Space(Generic[Made]):
    """What can be chosen: knobs with values, and what is made of a value for each.

    `start` is the point that is chosen without a search, the first value of each knob unless given.
    `ranking` yields points from the best on, as a model sees it; unless given, in their order.
    """

    def __init__(
        self,
        make: Callable[..., Made],
        knobs: Mapping[str, Sequence[object]],
        *,
        start: Point | None = None,
        ranking: Callable[[], Iterable[Point]] | None = None,
    ):
        """Take what makes a candidate of knobs' values; it raises GaweeError for illegal ones."""
        self.knobs = knobs
        self.start = start or (0,) * len(knobs)
        self.make, self._ranking = make, ranking
        self._made: dict[Point, Made | GaweeError] = {}

    def map(self, function: Callable[[Made], Other]) -> "Space[Other]":
        """Return the same points with something else made of each candidate."""

        def make(**values: object) -> Other:
            return function(self.make(**values))

        return Space(make, self.knobs, start=self.start, ranking=self._ranking)

    @property
    def count(self) -> int:
        """The number of points, illegal ones among them."""
        return prod(map(len, self.knobs.values()))

    def points(self) -> Iterator[Point]:
        """Yield all points; the last knob changes first."""
        return product(*(range(len(values)) for values in self.knobs.values()))

    def __contains__(self, point: Point) -> bool:
        sizes = [len(values) for values in self.knobs.values()]
        inside = all(0 <= at < size for at, size in zip(point, sizes, strict=False))
        return inside and len(point) == len(sizes)

    def values(self, point: Point) -> Mapping[str, object]:
        """Return the value of each knob."""
        return {
            name: values[at] for (name, values), at in zip(self.knobs.items(), point, strict=True)
        }

    def candidate(self, point: Point) -> Made:
        """Return what a point is, made once; raises GaweeError where it is illegal."""
        if point not in self._made:
            try:
                self._made[point] = self.make(**self.values(point))
            except GaweeError as error:
                self._made[point] = error
        made = self._made[point]
        if isinstance(made, GaweeError):
            raise made
        return made

    def problem(self, point: Point) -> str | None:
        """Return why a point is illegal, or None."""
        try:
            self.candidate(point)
        except GaweeError as error:
            return str(error)
        return None

    def ranking(self) -> Iterator[Point]:
        """Yield legal points from the best on, as a model sees it."""
        ranked = self.points() if self._ranking is None else self._ranking()
        return (point for point in ranked if self.problem(point) is None)

    def sample(self, number: int, seed: int) -> Sequence[Point]:
        """Return up to so many different legal points, by chance."""
        drawn = random.Random(seed).sample(range(self.count), min(self.count, DRAWN * number))
        legal = (point for at in drawn if self.problem(point := self._numbered(at)) is None)
        return list(islice(legal, number))

    def _numbered(self, number: int) -> Point:
        found: list[int] = []
        for values in [*self.knobs.values()][::-1]:
            number, at = divmod(number, len(values))
            found.append(at)
        return tuple(found[::-1])

    def neighbours(self, point: Point) -> Sequence[Point]:
        """Return the legal points that differ in one knob: numbers by one step, others by any."""
        found: list[Point] = []
        for knob, values in enumerate(self.knobs.values()):
            ordered = all(isinstance(each, int | float) for each in values)
            others = (point[knob] - 1, point[knob] + 1) if ordered else range(len(values))
            for at in others:
                other = (*point[:knob], at, *point[knob + 1 :])
                if other != point and other in self and self.problem(other) is None:
                    found.append(other)
        return found

    def features(self, point: Point) -> Sequence[float]:
        """Return a point as numbers: values that are numbers, one of several others as 0 or 1."""
        found: list[float] = []
        for values, at in zip(self.knobs.values(), point, strict=True):
            value = values[at]
            if isinstance(value, int | float):
                found.append(float(value))
            else:
                found += [float(at == other) for other in range(len(values))]
        return found


class Strategy(ABC):
    """What decides which points are measured; made anew for each search."""

    def __init__(self, space: Space[object]):
        self.space = space
        self.best: dict[Point, float] = {}
        """The least figure of each point that was measured."""

    @abstractmethod
    def suggest(self, most: int) -> Sequence[Point]:
        """Return up to so many points to measure next, none where the search is over."""

    def observe(self, measured: Mapping[Point, float]) -> None:
        """Hear the figures of points, the least so far of each."""
        self.best |= measured


MakeStrategy = Callable[[Space[object]], Strategy]
"""From a space to a strategy: its class, as a rule."""

FIRST_ROUNDS, SECOND_ROUNDS = 3, 7
"""Rounds with what is suggested at once, and with those that are left."""
FINALISTS = 3


class Ranked(Strategy):
    """The points that the space's model ranks highest."""

    def __init__(self, space: Space[object]):
        super().__init__(space)
        self._left = space.ranking()

    def suggest(self, most: int) -> Sequence[Point]:
        return list(islice(self._left, most))


def search(
    space: Space[Candidate],
    evaluator: Evaluator[Candidate],
    objective: str,
    strategy: MakeStrategy = Ranked,
    *,
    budget: int = 8,
    rounds: tuple[int, int] = (FIRST_ROUNDS, SECOND_ROUNDS),
    seconds: float = inf,
) -> Mapping[Point, float]:
    """Measure up to `budget` points, the start among them; return the least figure of each.

    What is suggested at once takes turns with the start for the first `rounds`; in the end the
    fastest few and the start do so for the others. After so many `seconds`, of rounds with what was
    measured before, none begins. Raises GaweeError where a strategy suggests what the space does
    not have, or the evaluator does not measure the objective.
    """
    chosen, best, spent = strategy(space), dict[Point, float](), 0.0

    def measure(points: Sequence[Point], times: int) -> None:
        nonlocal spent
        together = list(dict.fromkeys([space.start, *points]))
        candidates = [space.candidate(point) for point in together]
        for _ in range(times):
            begin, is_first = perf_counter(), not best.keys() >= {*together}
            if not is_first and spent > seconds:
                break
            for point, figures in zip(together, evaluator.figures(candidates), strict=True):
                best[point] = min(best.get(point, inf), _number(figures, objective))
            spent += 0 if is_first else perf_counter() - begin
        chosen.observe({point: best[point] for point in together})

    while spent <= seconds and (left := budget - len({space.start, *best})) >= 0:
        suggested = chosen.suggest(max(1, left)) if left or not best else ()
        _check(space, suggested)
        new = [each for each in dict.fromkeys(suggested) if each not in {space.start, *best}]
        if best and not new:
            break
        measure(new[:left], rounds[0])
    fastest = sorted((point for point in best if point != space.start), key=best.__getitem__)
    measure(fastest[:FINALISTS], rounds[1])
    return best


def _check(space: Space[object], points: Sequence[Point]) -> None:
    """Raise GaweeError for a point that is not there, or illegal."""
    for point in points:
        problem = space.problem(point) if point in space else "there is no such point"
        if problem is not None:
            raise GaweeError(
                f"expected a strategy to suggest points of the space, got {point}: {problem}"
            )


def _number(figures: Mapping[str, object], objective: str) -> float:
    value = figures.get(objective)
    if not isinstance(value, int | float):
        names = ", ".join(figures) or "none"
        raise GaweeError(f"expected a number '{objective}' of the evaluator, got {names}")
    return float(value)


BATCH = 4
"""Points that take turns, before what is measured of them is used."""
POOL = 256
"""Points of which a learned model chooses."""
PARENTS = 4
TRIES = 50
"""Points that are drawn for one that is legal and new."""


class Exhaustive(Strategy):
    """All points, in their order."""

    def __init__(self, space: Space[object]):
        super().__init__(space)
        self._left = (point for point in space.points() if space.problem(point) is None)

    def suggest(self, most: int) -> Sequence[Point]:
        return list(islice(self._left, most))


class Drawing(Strategy):
    """What strategies share that draw by chance."""

    seed = 0

    def __init__(self, space: Space[object]):
        super().__init__(space)
        self.random = random.Random(self.seed)

    def drawn(self, number: int) -> Sequence[Point]:
        """Return up to so many legal points that were not measured, by chance."""
        found = self.space.sample(number + len(self.best), self.random.randrange(1 << 30))
        return [point for point in found if point not in self.best][:number]

    def fastest(self, number: int) -> Sequence[Point]:
        """Return the best points so far."""
        return sorted(self.best, key=self.best.__getitem__)[:number]


class Random(Drawing):
    """Points by chance, all equally likely."""

    def suggest(self, most: int) -> Sequence[Point]:
        return self.drawn(most)


class HillClimbing(Drawing):
    """Neighbours of the best point so far; points by chance where they are all measured."""

    def suggest(self, most: int) -> Sequence[Point]:
        (top,) = self.fastest(1) or [self.space.start]
        near = [each for each in self.space.neighbours(top) if each not in self.best]
        self.random.shuffle(near)
        return near[: min(BATCH, most)] or self.drawn(min(BATCH, most))


class Evolutionary(Drawing):
    """Children of the best points: each knob from one of two parents, and one knob by chance."""

    def suggest(self, most: int) -> Sequence[Point]:
        number = min(BATCH, most)
        if len(self.best) < PARENTS:
            return self.drawn(number)
        parents = self.fastest(PARENTS)
        children = (self._child(parents) for _ in range(TRIES * number))
        new = (c for c in children if c not in self.best and self.space.problem(c) is None)
        return list(dict.fromkeys(islice(new, number))) or self.drawn(number)

    def _child(self, parents: Sequence[Point]) -> Point:
        pair = self.random.sample(parents, 2)
        child = [self.random.choice(values) for values in zip(*pair, strict=True)]
        knob = self.random.randrange(len(child))
        child[knob] = self.random.randrange(len(list(self.space.knobs.values())[knob]))
        return tuple(child)


class Learned(Drawing):
    """Points that gradient-boosted trees predict to be best; they learn from all that is measured.

    Chen et al., Learning to optimize tensor programs, 2018. Needs the extra `search`.
    """

    def suggest(self, most: int) -> Sequence[Point]:
        number = min(BATCH, most)
        pool = self._pool()
        known = [point for point, figure in self.best.items() if figure < inf]
        if len(known) < BATCH:
            return pool[:number]
        try:
            from sklearn.ensemble import GradientBoostingRegressor
        except ImportError as error:
            raise _missing("learned", "scikit-learn") from error
        model = GradientBoostingRegressor(random_state=self.seed)
        model.fit(list(map(self.space.features, known)), [log(self.best[each]) for each in known])
        predicted = model.predict(list(map(self.space.features, pool))) if pool else ()
        order = sorted(zip(predicted, pool, strict=True))
        return [point for _, point in order[:number]]

    def _pool(self) -> Sequence[Point]:
        """Return points to choose of: what the space's model ranks, near the best, by chance."""
        near = chain.from_iterable(map(self.space.neighbours, self.fastest(PARENTS)))
        ranked = islice(self.space.ranking(), POOL)
        found = dict.fromkeys(chain(ranked, near, self.space.sample(POOL, self.seed)))
        return [point for point in found if point not in self.best]


class Optuna(Drawing):
    """What Optuna's tree-structured Parzen estimator asks for. Needs the extra `search`."""

    def __init__(self, space: Space[object]):
        super().__init__(space)
        try:
            import optuna
        except ImportError as error:
            raise _missing("optuna", "optuna") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=self.seed))
        self._asked: dict[Point, optuna.trial.Trial] = {}
        self._domain = {
            name: optuna.distributions.IntDistribution(0, len(values) - 1)
            for name, values in space.knobs.items()
        }

    def suggest(self, most: int) -> Sequence[Point]:
        found: list[Point] = []
        for _ in range(TRIES * min(BATCH, most)):
            trial = self._study.ask(self._domain)
            point = tuple(trial.params[name] for name in self.space.knobs)
            if self.space.problem(point) is not None:
                self._study.tell(trial, inf)
            elif point in self.best:
                self._study.tell(trial, self.best[point])
            elif point not in found:
                self._asked[point] = trial
                found.append(point)
            if len(found) == min(BATCH, most):
                break
        return found or self.drawn(min(BATCH, most))

    def observe(self, measured: Mapping[Point, float]) -> None:
        super().observe(measured)
        for point in measured.keys() & self._asked.keys():
            self._study.tell(self._asked.pop(point), measured[point])


def _missing(strategy: str, package: str) -> GaweeError:
    message = f"cannot search by the strategy '{strategy}': it needs {package}"
    return GaweeError(Diagnostic(message, hint="pip install 'gawee-dialect[search]'"))


STRATEGIES: Mapping[str, MakeStrategy] = {
    "ranked": Ranked,
    "exhaustive": Exhaustive,
    "random": Random,
    "hill-climbing": HillClimbing,
    "evolutionary": Evolutionary,
    "learned": Learned,
    "optuna": Optuna,
}
"""The strategies of `gawee-tune --strategy`, by name."""
