"""What is drawn: graphs of the dialect, loops, what files add; each with a pipeline and data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.fuzz.random_graph import MOST_ELEMENTS, random_graph
from gawee_dialect.fuzz.random_pipeline import Depth, Stage, random_pipeline
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.passes.insertion import Insertion

FEW_ELEMENTS = 120
"""Of a value where loops are interpreted, one scalar after another."""


@dataclass(frozen=True)
class Settings:
    """What is done to how many."""

    loops: float = 0.3
    native: float = 0.2
    """Shares that go on to loops, and to machine code."""
    proved: float = 0.1
    checked: float = 0.02
    """Shares of which every pass is proved, or checked by data."""
    passes: Sequence[ModulePass] = ()
    """The pipeline of all, in the place of random ones."""
    insertions: Sequence[Insertion] = ()
    """What goes into random pipelines."""
    oracles: Sequence[Oracle] = ()
    oracle_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """By an oracle's name, where it is not its own."""

    def asked(self, draw: Draw) -> Sequence[Oracle]:
        """Draw which oracles run."""
        shares = self.oracle_shares
        return [each for each in self.oracles if draw.chance(shares.get(each.name, each.share))]


class TrialGenerator(ABC):
    """Draws trials of one kind."""

    name: ClassVar[str]
    what: ClassVar[str]
    """What it draws, as it is said in counts."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Packages that are imported."""
    weight: ClassVar[int] = 1
    """How often it is chosen, beside the others."""

    @abstractmethod
    def trial(self, draw: Draw, settings: Settings) -> Trial:
        """Draw something to try."""


def depth_of(draw: Draw, settings: Settings) -> Depth:
    """Draw how far down a pipeline goes."""
    choice = draw.real(0, 1)
    if choice < settings.native:
        return Depth.NATIVE
    return Depth.LOOPS if choice < settings.native + settings.loops else Depth.TENSORS


def stages_of(draw: Draw, settings: Settings, depth: Depth) -> Sequence[Stage]:
    """Return the user's pipeline, or draw one."""
    if settings.passes:
        return (Stage("the passes", tuple(settings.passes)),)
    return random_pipeline(draw, depth, settings.insertions)


def trial_of(draw: Draw, settings: Settings, module: ModuleOp, stages: Sequence[Stage]) -> Trial:
    """Draw the data of a trial, and how carefully it is looked at."""
    return Trial(
        module,
        stages,
        data_seed=draw.integer(0, 1 << 20),
        whole=draw.chance(),
        proved=draw.chance(settings.proved),
        checked=draw.chance(settings.checked),
    )


class Graphs(TrialGenerator):
    """Graphs of all ops of the dialect."""

    name = "graphs"
    what = "graphs"
    weight = 16

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        module = random_graph(draw, FEW_ELEMENTS if depth is Depth.LOOPS else MOST_ELEMENTS)
        trial = trial_of(draw, settings, module, stages_of(draw, settings, depth))
        return replace(trial, oracles=settings.asked(draw))
