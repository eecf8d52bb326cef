"""The steps that change ops of linalg, each in its place in a module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

from gawee_dialect.schedules.steps import Argument, IllegalStep, Step
from gawee_dialect.schedules.structured import loops
from gawee_dialect.schedules.structured.boxes import num_parallel
from gawee_dialect.schedules.structured.fuse import fuse
from gawee_dialect.schedules.structured.pad import pad
from gawee_dialect.schedules.structured.stage import bufferize_at, stage
from gawee_dialect.schedules.structured.tile import tile


@dataclass(frozen=True)
class Target:
    """The op that a step is about, and what its arguments mean."""

    op: LinalgStructuredOperation
    names: Sequence[str]
    """Of its dimensions."""
    find: Callable[[str], LinalgStructuredOperation]
    """Returns another op by its name, or raises GaweeError."""
    threads: int

    def by_dim(self, sizes: Mapping[str, Argument]) -> dict[int, int]:
        """Return numbers by the dimensions that they are of; raises IllegalStep."""
        unknown = next((each for each in sizes if each not in self.names), None)
        if unknown is not None:
            raise IllegalStep(f"expected one of {', '.join(self.names)}, got '{unknown}'")
        return {self.names.index(each): int(size) for each, size in sizes.items()}


Take = Callable[[Target, Sequence[str], Mapping[str, Argument]], None]


def _fuse(target: Target, producers: Sequence[str], _: Mapping[str, Argument]) -> None:
    for each in producers:
        fuse(target.op, target.find(each), each)


def _stage(target: Target, inputs: Sequence[str], keywords: Mapping[str, Argument]) -> None:
    for each in (*inputs, *keywords.values()):
        stage(target.op, int(each))


def _parallelize(target: Target, names: Sequence[str], _: Mapping[str, Argument]) -> None:
    dims = {dim for dim in target.names if names and names[0].partition(" by ")[0] == dim}
    reduced = [each for each in dims if target.names.index(each) not in num_parallel(target.op)]
    if reduced:
        raise IllegalStep(f"expected a parallel dimension, got {reduced[0]}")
    loops.parallelize(target.op, names, target.threads)


def _peel(target: Target, names: Sequence[str], _: Mapping[str, Argument]) -> None:
    for each in names:
        loops.peel(target.op, each)


TAKEN: Mapping[str, Take] = {
    "tile": lambda target, _, sizes: tile(target.op, target.names, target.by_dim(sizes)),
    "pad": lambda target, _, sizes: pad(target.op, target.names, target.by_dim(sizes)),
    "fuse": _fuse,
    "stage": _stage,
    "bufferize_at": lambda target, _, __: bufferize_at(target.op),
    "interchange": lambda target, names, _: loops.interchange(target.op, names),
    "parallelize": _parallelize,
    "peel": _peel,
}
"""What each step does; others are about the loops of the kernel that an op in its tile becomes."""


def is_structured(step: Step) -> bool:
    """Whether a step changes ops of linalg; loops over points are those of a kernel."""
    if step.name in ("interchange", "parallelize"):
        return all(" by " in str(each) for each in step.arguments)
    return step.name in TAKEN


def take(step: Step, target: Target) -> None:
    """Change an op as a step says; raises IllegalStep, where the module may be half changed."""
    try:
        TAKEN[step.name](target, [str(each) for each in step.arguments], dict(step.keywords))
    except IllegalStep as error:
        raise IllegalStep(f"cannot take the step {step}: {error}") from error
