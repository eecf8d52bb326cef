"""A schedule program as a value: steps that are written, read, compared, joined and stored.

    goto = Script().name("m", "n", "k").tile(m=6, n=32).vectorize(n=16).unroll("m", "n")
    assert parse_script(str(goto)) == goto

Nothing is run that is read: a program is a chain of calls of steps with literal arguments.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Schedule
from gawee_dialect.schedules.steps import Argument, IllegalStep, Nest, Step, steps_to


class Steps(ABC):
    """What takes steps: a program of its own, or one that is bound to a kernel."""

    @abstractmethod
    def then(self, *steps: Step) -> Self:
        """Take steps; raises GaweeError where they can be seen to be illegal."""

    def name(self, *names: str) -> Self:
        """Call the dimensions so, in their order, in the steps that follow."""
        return self.then(_step("name", names))

    def tile(self, **sizes: int) -> Self:
        """Walk dimensions in parts of so many points, by new loops outside of those over points."""
        return self.then(_step("tile", (), tuple(sizes.items())))

    def split(self, **sizes: int) -> Self:
        """Make two loops of the innermost one over a dimension, in its place."""
        return self.then(_step("split", (), tuple(sizes.items())))

    def interchange(self, *loops: str) -> Self:
        """Put loops, such as `"m by 6"`, into this order, into the places that they have."""
        return self.then(_step("interchange", loops))

    def vectorize(self, **lanes: int) -> Self:
        """Compute so many neighbouring points of a dimension in the lanes of a vector."""
        return self.then(_step("vectorize", (), tuple(lanes.items())))

    def unroll(self, *dims: str) -> Self:
        """Take the innermost loops over dimensions into the register tile."""
        return self.then(_step("unroll", dims))

    def parallelize(self, *loops: str) -> Self:
        """Share the iterations of the outermost loops, which are these, among threads."""
        return self.then(_step("parallelize", loops))

    def prefetch(self, input: int, along: str) -> Self:
        """Fetch what the next iteration of the loop over a dimension reads of an input."""
        return self.then(_step("prefetch", (input,), (("along", along),)))

    def pack(self, *inputs: int) -> Self:
        """Copy inputs into the order in which the loops read them."""
        return self.then(_step("pack", inputs))

    def split_reduction(self, **parts: int) -> Self:
        """Take a reduction in so many parts side by side, which another kernel combines."""
        return self.then(_step("split_reduction", (), tuple(parts.items())))

    def pad(self, **multiples: int) -> Self:
        """Have dimensions so many more points that a multiple of these are theirs."""
        return self.then(_step("pad", (), tuple(multiples.items())))

    def fuse(self, *producers: str) -> Self:
        """Compute what a tile reads of other ops in its loops: for ops of linalg."""
        return self.then(_step("fuse", producers))

    def stage(self, input: int) -> Self:
        """Copy what a tile reads of an input into memory of its own: for ops of linalg."""
        return self.then(_step("stage", (input,)))

    def bufferize_at(self) -> Self:
        """Compute a tile of the output in memory of its own, and copy it: for ops of linalg."""
        return self.then(_step("bufferize_at", ()))

    def peel(self, loop: str) -> Self:
        """Give the last part of a loop, which is smaller, code of its own."""
        return self.then(_step("peel", (loop,)))

    def nest(self, *loops: str, vector: str = "", parallel: int = 0, prefetch: str = "") -> Self:
        """Say the wanted loops, from the outermost on: the declarative form of all steps."""
        given = {"vector": vector, "parallel": parallel, "prefetch": prefetch}
        keywords = tuple((key, value) for key, value in given.items() if value)
        return self.then(_step("nest", loops, keywords))

    def algorithm(self, name: str, **numbers: int) -> Self:
        """Compute the kernel by another algorithm, such as `algorithm("winograd", tile=4)`."""
        return self.then(_step("algorithm", (name,), tuple(numbers.items())))


def _step(
    name: str, arguments: tuple[Argument, ...], keywords: tuple[tuple[str, Argument], ...] = ()
) -> Step:
    """Make a step; raises GaweeError for arguments that it does not take."""
    try:
        return Step(name, arguments, keywords)
    except IllegalStep as error:
        raise GaweeError(str(error)) from error


@dataclass(frozen=True)
class Script(Steps):
    """A schedule program that is bound to no kernel; it prints as the Python that makes it."""

    steps: tuple[Step, ...] = ()

    def then(self, *steps: Step) -> "Script":
        return Script((*self.steps, *steps))

    def __add__(self, other: "Script") -> "Script":
        """Take the other program's steps behind these."""
        return self.then(*other.steps)

    def __str__(self) -> str:
        return ".".join(map(str, self.steps))

    def nests(self, op: KernelOp) -> Iterator[Nest]:
        """Yield the loops of a kernel before the first step and behind each; raises IllegalStep."""
        nest = Nest.of(op)
        yield nest
        for step in self.steps:
            nest = step.apply(nest)
            yield nest


def behind(script: Script, op: KernelOp, hint: str | None = None) -> Nest:
    """Return the loops of a kernel behind all steps; raises GaweeError at the kernel."""
    try:
        *_, last = script.nests(op)
    except IllegalStep as error:
        raise GaweeError(Diagnostic.at(op, str(error), hint)) from error
    return last


def script_of(op: KernelOp, schedule: Schedule) -> Script:
    """Return the program that leads from a kernel as it is written to a schedule."""
    return Script(tuple(steps_to(Nest.of(op), schedule)))


def parse_script(text: str) -> Script:
    """Read steps as they are printed; raises IllegalStep (a ValueError)."""
    return Script(tuple(_calls(_expression(f"sch.{text}" if text else "sch"), ast.Name)))


def parse_statement(text: ast.expr) -> tuple[str, Script]:
    """Read `sch["key"].step(...)`: the key, and the steps; raises IllegalStep."""
    steps = tuple(_calls(text, ast.Subscript))
    inner = text
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    assert isinstance(inner, ast.Subscript)
    key = inner.slice
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        raise IllegalStep(f"expected a text as key, got {ast.unparse(key)}")
    return key.value, Script(steps)


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:  # the latter of zero bytes, before Python 3.11.4
        raise IllegalStep(f"expected a chain of steps, got '{text}'") from error


def _calls(node: ast.expr, begin: type[ast.expr]) -> list[Step]:
    """Return the steps of a chain, from what it begins with on; raises IllegalStep."""
    found: list[Step] = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        arguments = tuple(map(_value, node.args))
        keywords = tuple((str(each.arg), _value(each.value)) for each in node.keywords)
        found.append(Step(node.func.attr, arguments, keywords))
        node = node.func.value
    if not isinstance(node, begin):
        raise IllegalStep(f"expected a chain of steps, got '{ast.unparse(node)}'")
    return found[::-1]


def _value(node: ast.expr) -> Argument:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str | int):
        return value
    raise IllegalStep(f"expected a number or a text, got '{ast.unparse(node)}'")
