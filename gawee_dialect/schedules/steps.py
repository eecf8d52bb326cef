"""The steps of a schedule program: what each does to the loops of a kernel, and why it may.

A `Nest` is a kernel's loops while steps change them; a step takes one to another, or raises
IllegalStep with the reason. Names are those of MLIR's transform dialect where it has the step.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from math import ceil

from xdsl.ir.affine import AffineDimExpr, AffineMap

from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.schedule import Loop, Prefetch, Schedule
from gawee_dialect.universe import all_algorithms

Argument = str | int
"""What the arguments of steps are: names of loops and numbers; flags are numbers."""


class IllegalStep(ValueError):
    """A step that the loops cannot take, with the reason."""


def as_written(sizes: Sequence[int]) -> Schedule:
    """Return loops in the order of the dimensions; one of one point has no loop."""
    return Schedule(tuple(Loop(dim) for dim, size in enumerate(sizes) if size != 1))


@dataclass(frozen=True)
class Nest:
    """The loops of a kernel between two steps."""

    sizes: tuple[int, ...]
    num_parallel: int
    num_inputs: int
    free_order: bool
    """Whether the reduction may be taken in any order."""
    names: tuple[str, ...]
    """Of the dimensions."""
    schedule: Schedule
    parts: Loop | None = None
    """The dimension of the kernel as it is written whose reduction is taken in so many parts."""
    packed: tuple[int, ...] = ()
    """Inputs that are copied into the order in which the loops read them."""
    own_axes: frozenset[int] = frozenset()
    """Dimensions that may have more points: each is an axis of the output by itself."""
    padded: tuple[int, ...] = ()
    """Dimensions that have more points than the kernel as it is written."""
    algorithm: Mapping[str, Argument] = field(default_factory=dict[str, Argument])
    """The options of another algorithm, its name among them; empty for loops."""

    @staticmethod
    def of(op: KernelOp) -> "Nest":
        """Return the loops of a kernel as it is written: one point after the other.

        A dimension of one point has no loop.
        """
        from gawee_dialect.analysis.kernel_kind import combiner_of

        sizes = tuple(op.sizes)
        return Nest(
            sizes,
            op.num_parallel,
            len(op.inputs),
            op.initial is None or combiner_of(op) is not None,
            tuple(f"d{dim}" for dim in range(len(sizes))),
            as_written(sizes),
            own_axes=_own_axes(op),
        )

    def dim(self, name: str) -> int:
        """Return which dimension a name is that of; raises IllegalStep."""
        if name not in self.names:
            raise IllegalStep(f"expected one of {', '.join(self.names)}, got '{name}'")
        return self.names.index(name)

    def loop_name(self, loop: Loop) -> str:
        """Return what a loop is called: `m by 6`, or `m` where it takes one point at a time."""
        name = self.names[loop.dim]
        return name if loop.step == 1 else f"{name} by {loop.step}"

    def loop(self, text: str) -> Loop:
        """Return the loop that a text such as `m by 6` says; raises IllegalStep."""
        name, by, step = text.partition(" by ")
        if by and not step.isdecimal():
            raise IllegalStep(f"expected a loop such as 'd0 by 4', got '{text}'")
        return Loop(self.dim(name), int(step) if by else 1)

    def position(self, text: str) -> int:
        """Return where a loop of the nest is; raises IllegalStep where there is no such loop."""
        loop = self.loop(text)
        if loop not in self.schedule.loops:
            known = ", ".join(map(self.loop_name, self.schedule.loops)) or "none"
            raise IllegalStep(f"expected one of the loops {known}, got '{text}'")
        return self.schedule.loops.index(loop)

    def innermost(self, dim: int) -> int | None:
        """Return where the innermost loop over a dimension is; None where all is in the tile."""
        found = [at for at, loop in enumerate(self.schedule.loops) if loop.dim == dim]
        return found[-1] if found else None

    def extents(self, depth: int) -> tuple[int, ...]:
        """Return how many points of each dimension there are inside of so many loops."""
        return Schedule(self.schedule.loops[:depth]).tile(self.sizes)

    def as_written(self, extents: Sequence[int]) -> tuple[int, ...]:
        """Return extents by the dimensions of the kernel as it is written: parts are joined."""
        if self.parts is None:
            return tuple(extents)
        joined = list(extents)
        parts = joined.pop(self.num_parallel - 1)
        joined[self.parts.dim] *= parts
        return tuple(joined)

    def says_the_same(self, other: "Nest") -> bool:
        """Whether two nests make the same code of a kernel: their names may differ."""
        return self == replace(other, names=self.names, algorithm=self.algorithm)

    def with_schedule(self, schedule: Schedule) -> "Nest":
        """Return the nest run so; raises IllegalStep where a kernel cannot be."""
        problem = schedule.problem(self.sizes, len(self.sizes) - self.num_parallel)
        if problem is None and schedule.vector is not None and not self.free_order:
            if schedule.vector.dim >= self.num_parallel:
                problem = f"expected a reduction whose order is free, got d{schedule.vector.dim}"
        if problem is None and schedule.vector is not None and schedule.vector.step.bit_count() > 1:
            problem = f"expected 2^n lanes, got {schedule.vector.step}"
        if problem is None and schedule.prefetch is not None:
            if schedule.prefetch.input >= self.num_inputs:
                problem = f"expected one of {self.num_inputs} inputs, got {schedule.prefetch.input}"
        if problem is not None:
            raise IllegalStep(self._named(problem))
        return replace(self, schedule=schedule)

    def with_loops(self, loops: Sequence[Loop]) -> "Nest":
        """Return the nest with these loops; raises IllegalStep."""
        return self.with_schedule(replace(self.schedule, loops=tuple(loops)))

    def _named(self, text: str) -> str:
        """Write dimensions by their names."""

        def name(found: re.Match[str]) -> str:
            dim = int(found[1])
            return self.names[dim] if dim < len(self.names) else found[0]

        return re.sub(r"\bd(\d+)\b", name, text)


def name(nest: Nest, *names: str) -> Nest:
    """Call the dimensions otherwise than d0, d1, ..., in their order."""
    if len(names) != len(nest.sizes):
        raise IllegalStep(f"expected {len(nest.sizes)} names, got {len(names)}")
    wrong = [each for each in names if not each.isidentifier() or names.count(each) > 1]
    if wrong:
        raise IllegalStep(f"expected different names that are identifiers, got '{wrong[0]}'")
    return replace(nest, names=names)


def tile(nest: Nest, **sizes: int) -> Nest:
    """Walk dimensions in parts of so many points, by new loops in this order.

    They are put outside of all loops that the dimensions had left to be tiled; those over
    reductions stay inside of the others. What does not divide has a smaller part at the end.

    rewrite: for m { for n { for k } }  ->  for m by 6 { for n by 32 { for m { for n { for k } } } }
    """
    loops = list(nest.schedule.loops)
    for reduced in (False, True):
        dims = {nest.dim(each): step for each, step in sizes.items()}
        dims = {dim: step for dim, step in dims.items() if (dim >= nest.num_parallel) == reduced}
        # Before the first loop of the same kind that is the innermost over its dimension.
        last = {loop.dim: at for at, loop in enumerate(loops)}
        own = [at for dim, at in last.items() if (dim >= nest.num_parallel) == reduced]
        parallel_end = sum(loop.dim < nest.num_parallel for loop in loops)
        at = min(own, default=len(loops) if reduced else parallel_end)
        loops[at:at] = [Loop(dim, step) for dim, step in dims.items()]
    return nest.with_loops(loops)


def split(nest: Nest, **sizes: int) -> Nest:
    """Make two loops of the innermost one over a dimension, in its place.

    rewrite: for m { for n }  ->  for m by 6 { for m { for n } }
    """
    for each, step in sizes.items():
        dim = nest.dim(each)
        at = nest.innermost(dim)
        if at is None:
            raise IllegalStep(f"expected a loop over {each}, got none")
        loops = list(nest.schedule.loops)
        loops.insert(at, Loop(dim, step))
        nest = nest.with_loops(loops)
    return nest


def interchange(nest: Nest, *loops: str) -> Nest:
    """Put loops into this order, into the places that they have together.

    rewrite: for m { for n }  ->  for n { for m }
    """
    places = [nest.position(each) for each in loops]
    if len({*places}) < len(places):
        raise IllegalStep("expected each loop once")
    order = list(nest.schedule.loops)
    for place, source in zip(sorted(places), places, strict=True):
        order[place] = nest.schedule.loops[source]
    return nest.with_loops(order)


def vectorize(nest: Nest, **lanes: int) -> Nest:
    """Compute so many neighbouring points of one dimension in the lanes of a vector.

    The innermost loop over it takes a vector at a time; a dimension that one vector covers has no
    loop any more. Lanes without a point are masked.

    rewrite: for n { }  ->  for n by 16 { one vector }
    """
    if len(lanes) != 1:
        raise IllegalStep(f"expected one dimension to vectorize, got {len(lanes)}")
    ((each, count),) = lanes.items()
    dim = nest.dim(each)
    at = nest.innermost(dim)
    loops = list(nest.schedule.loops)
    if at is not None and loops[at].step == 1:
        within = nest.extents(at)[dim]
        loops[at : at + 1] = [Loop(dim, count)] if count < within else []
    return nest.with_schedule(replace(nest.schedule, loops=tuple(loops), vector=Loop(dim, count)))


def unroll(nest: Nest, *dims: str) -> Nest:
    """Take the innermost loops over dimensions into the register tile.

    Its points are visited at once, inside of all other loops, each with an accumulator.

    rewrite: for m by 6 { for m { for k { } } }  ->  for m by 6 { for k { 6 points of m } }
    """
    for each in dims:
        at = nest.innermost(nest.dim(each))
        if at is None:
            raise IllegalStep(f"expected a loop over {each} to unroll, got none")
        loops = nest.schedule.loops
        nest = nest.with_loops((*loops[:at], *loops[at + 1 :]))
    return nest


def parallelize(nest: Nest, *loops: str) -> Nest:
    """Share the iterations of the outermost loops, which are these, among threads.

    rewrite: for m by 6 { for n by 32 }  ->  parallel (m by 6, n by 32)
    """
    outermost = [nest.loop_name(loop) for loop in nest.schedule.loops[: len(loops)]]
    places = [nest.loop_name(nest.schedule.loops[nest.position(each)]) for each in loops]
    if places != outermost:
        expected = ", ".join(outermost)
        raise IllegalStep(f"expected the outermost loops, {expected}, got {', '.join(places)}")
    return nest.with_schedule(replace(nest.schedule, parallel=len(loops)))


def prefetch(nest: Nest, input: int, along: str) -> Nest:
    """Fetch what the next iteration of the loop over a dimension reads of an input.

    rewrite: for n by 32 { for k { } }  ->  for n by 32 { for k { prefetch } }
    """
    return nest.with_schedule(replace(nest.schedule, prefetch=Prefetch(input, nest.dim(along))))


def pack(nest: Nest, *inputs: int) -> Nest:
    """Copy inputs into the order in which the loops read them.

    The order is that of the loops behind the last step. Weights are always packed.

    rewrite: kernel ins(%a)  ->  %packed = copy %a; kernel ins(%packed)
    """
    wrong = [each for each in inputs if not 0 <= each < nest.num_inputs]
    if wrong:
        raise IllegalStep(f"expected one of {nest.num_inputs} inputs, got {wrong[0]}")
    return replace(nest, packed=tuple(sorted({*nest.packed, *inputs})))


def split_reduction(nest: Nest, **parts: int) -> Nest:
    """Take a reduction in so many parts side by side, which another kernel combines.

    The parts are a parallel dimension, `k_parts` for `k`. This is the first step of loops.

    rewrite: for m { for k }  ->  for m { for k_parts { for k } }; for m { for k_parts }
    """
    if len(parts) != 1:
        raise IllegalStep(f"expected one dimension to split, got {len(parts)}")
    ((each, count),) = parts.items()
    dim, at = nest.dim(each), nest.num_parallel
    if dim < at or not nest.free_order:
        raise IllegalStep(f"expected a reduction whose order is free, got {each}")
    if count < 2 or nest.sizes[dim] % count:
        raise IllegalStep(f"expected parts that divide {nest.sizes[dim]}, got {count}")
    _require_first(nest)
    sizes = list(nest.sizes)
    sizes[dim] //= count
    sizes.insert(at, count)
    names = (*nest.names[:at], f"{each}_parts", *nest.names[at:])
    new = replace(nest, sizes=tuple(sizes), num_parallel=at + 1, names=names)
    return replace(new, schedule=as_written(sizes), parts=Loop(dim, count))


def pad(nest: Nest, **multiples: int) -> Nest:
    """Have dimensions so many more points that a multiple of these are theirs.

    Operands are copied into larger tensors, with zeros behind; what is computed of these is left
    out by another copy. So all tiles are whole, and no vector is masked. This is the first step of
    loops.

    rewrite: kernel parallel [37] ins(%a)  ->  copy (kernel parallel [40] ins(copy %a))
    """
    _require_first(nest)
    sizes = list(nest.sizes)
    for each, multiple in multiples.items():
        dim = nest.dim(each)
        if dim not in nest.own_axes:
            known = ", ".join(nest.names[own] for own in sorted(nest.own_axes)) or "none"
            raise IllegalStep(f"expected an axis of the output, {known}, got {each}")
        if multiple < 1:
            raise IllegalStep(f"expected a multiple of 1 or more, got {multiple}")
        sizes[dim] = ceil(sizes[dim] / multiple) * multiple
    changed = (dim for dim, size in enumerate(nest.sizes) if sizes[dim] != size)
    new = replace(nest, sizes=tuple(sizes), padded=tuple(changed))
    return replace(new, schedule=as_written(sizes))


def _require_first(nest: Nest) -> None:
    changed = nest.parts is not None or nest.packed or nest.padded
    if changed or nest.schedule != as_written(nest.sizes):
        raise IllegalStep("expected it before the steps that change loops")


def _own_axes(op: KernelOp) -> frozenset[int]:
    """Return the dimensions that may be padded: what is computed there is at places of its own.

    A kernel that leaves elements to others, or divides integers, which zeros may stop, has none.
    """
    ops = (inner for block, _ in op.bodies() for inner in block.ops)
    if not op.covers_output() or any(inner.name in INTEGER_DIVISIONS for inner in ops):
        return frozenset()
    output = op.maps[-1].results
    plain = [expr.position for expr in output if isinstance(expr, AffineDimExpr)]
    others = [expr for expr in output if not isinstance(expr, AffineDimExpr)]
    joined = used_dims(AffineMap(len(op.sizes), 0, tuple(others)))
    return frozenset(dim for dim in plain if dim not in joined)


def nest(
    old: Nest,
    *loops: str,
    vector: str = "",
    parallel: int = 0,
    prefetch: str = "",
    tiles: str = "",
) -> Nest:
    """Say the wanted loops, as `#gawee.schedule` does: the declarative form of all steps.

    rewrite: any loops  ->  nest("m by 6", "n by 32", "k", vector="n by 16", parallel=1)
    """
    wanted = Schedule(
        tuple(old.loop(each) for each in loops), old.loop(vector) if vector else None, parallel
    )
    if prefetch:
        found = re.fullmatch(r"input (\d+) along (\w+)", prefetch)
        if found is None:
            raise IllegalStep(f"expected such as 'input 1 along d0', got '{prefetch}'")
        wanted = replace(wanted, prefetch=Prefetch(int(found[1]), old.dim(found[2])))
    if tiles:
        wanted = replace(wanted, tiles=old.loop(tiles))
    return old.with_schedule(wanted)


def algorithm(nest: Nest, name: str, **numbers: int) -> Nest:
    """Compute the kernel by another algorithm; what is not said of it, its cost model chooses.

    rewrite: gawee.kernel  ->  gawee.winograd
    """
    known = [each.name for each in all_algorithms()]
    if name not in known:
        raise IllegalStep(f"expected one of {', '.join(known)}, got '{name}'")
    return replace(nest, algorithm={"algorithm": name, **numbers})


OF_LINALG = 'expected an op of linalg: schedule(..., level="linalg") has these'


def fuse(nest: Nest, *producers: str) -> Nest:
    """Compute what a tile reads of other ops in the loops of the tile, at the linalg level.

    What reads them elsewhere still has all of them; where a tile of several ops reads the same
    part, it is computed once.

    rewrite: %p = op; for m by 6 { slice of %p }  ->  for m by 6 { op on 6 points of m }
    """
    raise IllegalStep(OF_LINALG)


def stage(nest: Nest, input: int) -> Nest:
    """Copy what a tile reads of an input into memory of the tile's own, at the linalg level.

    rewrite: for m by 6 { op on a slice }  ->  for m by 6 { %copy = copy of a slice; op on %copy }
    """
    raise IllegalStep(OF_LINALG)


def bufferize_at(nest: Nest) -> Nest:
    """Compute a tile of the output in memory of its own, and copy it then, at the linalg level.

    rewrite: for m by 6 { op into a slice }  ->  for m by 6 { op into %own; copy %own to the slice }
    """
    raise IllegalStep(OF_LINALG)


def peel(nest: Nest, loop: str) -> Nest:
    """Give the last part of a loop, where it is smaller, code of its own.

    The loops of kernels have that always; those of linalg have it by this step.

    rewrite: for m in 37 by 6 { min(6, 37 - m) points }  ->  for m in 36 by 6 { 6 points }; 1 point
    """
    nest.position(loop)
    return nest


INTEGER_DIVISIONS = {
    f"arith.{name}{sign}i" for name in ("div", "ceildiv", "rem") for sign in "su"
} | {"arith.floordivsi"}
"""Ops that have no result where an operand is zero."""

POINTS_ONCE = "every point is visited once: parts cover a dimension, the last one is cut off"
ANY_ORDER = "points of parallel dimensions are independent, and a gawee.kernel reduces in any order"
READS_ONLY = "nothing is computed otherwise"

STEPS: Mapping[str, tuple[Callable[..., Nest], str]] = {
    "name": (name, READS_ONLY),
    "tile": (tile, POINTS_ONCE),
    "split": (split, POINTS_ONCE),
    "interchange": (interchange, ANY_ORDER),
    "vectorize": (vectorize, f"{POINTS_ONCE}; {ANY_ORDER}"),
    "unroll": (unroll, ANY_ORDER),
    "parallelize": (
        parallelize,
        "points of parallel dimensions are independent",
    ),
    "prefetch": (prefetch, READS_ONLY),
    "pack": (pack, "a copy of an operand in another order, whose map says where elements are"),
    "split_reduction": (split_reduction, f"a neutral number begins each part; {ANY_ORDER}"),
    "pad": (pad, "points of parallel dimensions are independent: those behind are left out"),
    "fuse": (fuse, "each point of a part is computed of what all of it is computed of"),
    "stage": (stage, "a copy is equal to what is copied"),
    "bufferize_at": (bufferize_at, "a copy is equal to what is copied"),
    "peel": (peel, POINTS_ONCE),
    "nest": (nest, f"{POINTS_ONCE}; {ANY_ORDER}"),
    "algorithm": (
        algorithm,
        "its conversion says for which kernels, and how it rounds",
    ),
}
"""Each step by name, with the rule that makes it right."""


@dataclass(frozen=True)
class Step:
    """One step: its name and arguments, as a call in Python writes them."""

    name: str
    arguments: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()

    def __post_init__(self) -> None:
        """Raise IllegalStep for an unknown step, and for arguments that it doesn't take."""
        if self.name not in STEPS:
            raise IllegalStep(f"expected one of the steps {', '.join(STEPS)}, got '{self.name}'")
        values = [*self.arguments, *(value for _, value in self.keywords)]
        try:
            signature(STEPS[self.name][0]).bind(None, *self.arguments, **dict(self.keywords))
        except TypeError as error:
            raise IllegalStep(f"step '{self.name}': {error}") from error
        wanted = _argument_types(self.name)
        for value in values:
            if not isinstance(value, wanted):
                raise IllegalStep(f"step '{self.name}': unexpected argument {value!r}")

    def __str__(self) -> str:
        keywords = [f"{key}={_literal(value)}" for key, value in self.keywords]
        return f"{self.name}({', '.join([*map(_literal, self.arguments), *keywords])})"

    @property
    def rule(self) -> str:
        """The rule that makes the step right."""
        return STEPS[self.name][1]

    def apply(self, nest: Nest) -> Nest:
        """Return the loops behind the step; raises IllegalStep."""
        try:
            return STEPS[self.name][0](nest, *self.arguments, **dict(self.keywords))
        except IllegalStep as error:
            raise IllegalStep(f"cannot take the step {self}: {error}") from error


def _argument_types(step: str) -> tuple[type, ...]:
    if step in ("tile", "split", "vectorize", "pack", "pad", "split_reduction", "stage"):
        return (int,)
    return (str, int) if step in ("nest", "prefetch", "algorithm") else (str,)


def _literal(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def steps_to(nest: Nest, schedule: Schedule) -> Sequence[Step]:
    """Return steps that lead from loops as they are written to a schedule."""
    steps = list(_steps_by_level(nest, schedule))
    try:
        if _behind(nest, steps).schedule == schedule:
            return steps
    except IllegalStep:
        pass
    return [_declared(nest, schedule)]


def _behind(nest: Nest, steps: Sequence[Step]) -> Nest:
    for step in steps:
        nest = step.apply(nest)
    return nest


def _declared(nest: Nest, schedule: Schedule) -> Step:
    keywords: list[tuple[str, Argument]] = []
    if schedule.vector is not None:
        keywords.append(("vector", nest.loop_name(schedule.vector)))
    if schedule.parallel:
        keywords.append(("parallel", schedule.parallel))
    if schedule.tiles is not None:
        keywords.append(("tiles", nest.loop_name(schedule.tiles)))
    if schedule.prefetch is not None:
        keywords.append(("prefetch", str(schedule.prefetch)))
    return Step("nest", tuple(map(nest.loop_name, schedule.loops)), tuple(keywords))


def _steps_by_level(nest: Nest, schedule: Schedule) -> list[Step]:
    """Tile, vectorise, unroll, then order: what a person would write."""
    vector = schedule.vector
    lanes = {} if vector is None else {vector.dim: vector.step}
    tiled: dict[int, list[int]] = {}
    unrolled: list[str] = []
    for dim, size in enumerate(nest.sizes):
        steps = [loop.step for loop in schedule.loops if loop.dim == dim]
        own = lanes.get(dim, 1)
        stays = bool(steps) and steps[-1] == own and size != 1
        tiled[dim] = steps[:-1] if stays else steps
        if not stays and size != 1 and ceil((tiled[dim][-1:] or [size])[0] / own) > 1:
            unrolled.append(nest.names[dim])
    order = list(dict.fromkeys(loop.dim for loop in schedule.loops))
    found: list[Step] = []
    for level in range(max(map(len, tiled.values()), default=0)):
        sizes = [(nest.names[dim], tiled[dim][level]) for dim in order if level < len(tiled[dim])]
        found.append(Step("tile", (), tuple(sizes)))
    if vector is not None:
        found.append(Step("vectorize", (), ((nest.names[vector.dim], vector.step),)))
    if unrolled:
        found.append(Step("unroll", tuple(unrolled)))
    if _behind(nest, found).schedule.loops != schedule.loops:
        found.append(Step("interchange", tuple(map(nest.loop_name, schedule.loops))))
    if schedule.parallel:
        outermost = schedule.loops[: schedule.parallel]
        found.append(Step("parallelize", tuple(map(nest.loop_name, outermost))))
    if schedule.prefetch is not None:
        fetched = schedule.prefetch
        found.append(Step("prefetch", (fetched.input,), (("along", nest.names[fetched.dim]),)))
    return found
