"""Strategies by name, for `search`: by chance, by neighbours, by generations, by learned models.

All draw with a fixed seed. They suggest legal points that were not measured, a few at a time, and
none where they find no more.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from math import inf, log

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.search import MakeStrategy, Point, Ranked, Space, Strategy

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
