"""Schedules and MLIR's transform dialect: loops written as a script, and scripts read as steps.

    mlir-opt linalg.mlir --transform-preload-library=transform-library-paths=script.mlir \\
             --transform-interpreter

Both are about ops of linalg: a script tiles the one that a kernel was, with what is computed of its
results fused into the loops. https://mlir.llvm.org/docs/Dialects/Transform/
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Protocol

from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.kernels.schedule import Loop
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.schedules.steps import IllegalStep, Nest, Step
from gawee_dialect.source import Source

ANY = "!transform.any_op"


# A schedule as a script.


@dataclass
class _Writer:
    """A named sequence under construction; handles are numbered."""

    lines: list[str] = field(default_factory=list[str])
    handles: int = 0

    def handle(self) -> str:
        self.handles += 1
        return f"%{self.handles}"

    def match(self, op: Operation, module: ModuleOp) -> str:
        """Write what finds an op of a module; return its handle."""
        alike = [each for each in module.walk() if each.name == op.name]
        every = self.handle()
        self.lines.append(
            f'{every} = transform.structured.match ops{{["{op.name}"]}} in %module : '
            f"({ANY}) -> {ANY}"
        )
        if len(alike) == 1:
            return every
        split, results = self.handle(), ", ".join([ANY] * len(alike))
        self.lines.append(
            f"{split}:{len(alike)} = transform.split_handle {every} : ({ANY}) -> ({results})"
        )
        return f"{split}#{next(at for at, each in enumerate(alike) if each is op)}"

    def apply(self, step: str, *operands: str, results: int = 2, attributes: str = "") -> list[str]:
        """Write a step; return the handles of its results."""
        made = [self.handle() for _ in range(results)]
        types = f"({', '.join([ANY] * len(operands))}) -> "
        types += f"({', '.join([ANY] * results)})" if results > 1 else ANY
        joined = " into ".join(operands) if step.endswith("containing_op") else " ".join(operands)
        attributes = f" {attributes}" if attributes else ""
        begin = f"{', '.join(made)} = " if made else ""
        types = types if made else ANY
        self.lines.append(f"{begin}transform.structured.{step} {joined}{attributes} : {types}")
        return made

    def pad(self, handle: str, op: Operation, nest: Nest) -> str:
        """Write what gives dimensions of an op the sizes of a nest; return its handle."""
        zeros = (_zero(element_type(each)) for each in op.operands)
        sizes = [nest.sizes[dim] for dim in nest.padded]
        attributes = f"pad_to_multiple_of {sizes} {{padding_dimensions = {list(nest.padded)}, "
        attributes += f'padding_values = [{", ".join(zeros)}], copy_back_op = "none"}}'
        return self.apply("pad", handle, results=3, attributes=attributes)[0]

    def text(self) -> str:
        body = "".join(f"    {line}\n" for line in [*self.lines, "transform.yield"])
        return (
            "module attributes {transform.with_named_sequence} {\n"
            f"  transform.named_sequence @__transform_main(%module: {ANY} {{transform.readonly}}) "
            f"{{\n{body}  }}\n}}\n"
        )


def transform_script(ops: Sequence[Operation], nest: Nest, module: ModuleOp) -> str:
    """Return the named sequence that gives ops of linalg the loops of a kernel.

    `ops` are the op that the kernel was in `module`, which has its dimensions, then those behind it
    that are computed in the same loops. Raises IllegalStep for what stock ops cannot say.
    """
    _check(nest, ops)
    writer = _Writer()
    handles = [writer.match(each, module) for each in ops]
    rank = len(nest.sizes)
    if nest.padded:
        handles[0] = writer.pad(handles[0], ops[0], nest)
    if nest.parts is not None:
        at = nest.num_parallel - 1
        factor = f"{{split_factor = {nest.parts.step}, insert_split_dimension = {at}}}"
        _, _, handles[0], _ = writer.apply(
            "split_reduction", handles[0], results=4, attributes=factor
        )
    for number, loop in enumerate(nest.schedule.loops):
        is_parallel = loop.dim < nest.num_parallel
        last = len(handles) - 1 if is_parallel and not nest.parts else 0
        own = nest.num_parallel if last else rank
        sizes = [loop.step if dim == loop.dim else 0 for dim in range(own)]
        step = "tile_using_forall" if number < nest.schedule.parallel else "tile_using_for"
        handles[last], made = writer.apply(step, handles[last], attributes=f"tile_sizes {sizes}")
        for at in reversed(range(last)):
            handles[at], made = writer.apply("fuse_into_containing_op", handles[at], made)
    if nest.schedule.vector is not None:
        tile = nest.extents(len(nest.schedule.loops))
        for at, handle in enumerate(handles):
            own = tile if at == 0 else tile[: nest.num_parallel]
            # Generic ops are vectorized with masks, where sizes do not divide.
            (generic,) = writer.apply("generalize", handle, results=1)
            writer.apply("vectorize", generic, results=0, attributes=f"vector_sizes {list(own)}")
    return writer.text()


def _zero(type: Attribute) -> str:
    return f"0.0 : {type}" if isinstance(type, AnyFloat) else f"0 : {type}"


def _check(nest: Nest, ops: Sequence[Operation]) -> None:
    wrong = None
    if nest.algorithm:
        wrong = f"the algorithm {nest.algorithm['algorithm']}"
    elif nest.packed:
        wrong = "operands that are packed"
    elif nest.padded and len(ops) > 1:
        wrong = "padding before another op in the same loops"
    elif any(_reads_behind_padding(nest, ops[0], dim) for dim in nest.padded):
        wrong = "padding of columns of windows, of which upstream's op reads more than it pads"
    elif nest.schedule.prefetch is not None:
        wrong = "a prefetch"
    elif nest.schedule.tiles is not None:
        wrong = "tiles"
    if wrong is not None:
        raise IllegalStep(f"cannot write {wrong} in the transform dialect: no op is written for it")


def _reads_behind_padding(nest: Nest, op: Operation, dim: int) -> bool:
    """Whether an operand has too few elements where a dimension is padded.

    Upstream gives each axis that the dimension is part of a multiple of the dimension's new size.
    Windows of 3 over 8 columns, which were 5, read 10 of what is padded from 7 to 8.
    """
    assert isinstance(op, LinalgStructuredOperation)
    multiple = nest.sizes[dim]
    return any(
        AffineDimExpr(dim) in expr.dfs()
        and ceil(size / multiple) * multiple <= value_range(expr, nest.sizes)[1]
        for map, operand in zip(op.get_indexing_maps(), op.operands, strict=True)
        for expr, size in zip(map.data.results, tensor_shape(operand), strict=True)
    )


def fused_ops(root: Operation, is_own: Callable[[Operation], bool]) -> list[Operation]:
    """Return an op of linalg and those behind it that a kernel computes in the same loops.

    Each is the only use of the one before it, element by element; `is_own` says whether the kernel
    has it.
    """
    found = [root]
    while len(uses := list(found[-1].results[0].uses)) == 1:
        user = uses[0].operation
        if not isinstance(user, GenericOp) or not is_own(user):
            break
        if {each.data for each in user.iterator_types} != {IteratorType.PARALLEL}:
            break
        found.append(user)
    return found


# A script as steps.


class ScheduledKernel(Protocol):
    """A kernel, or an op of linalg, that takes steps, and has loops behind them."""

    @property
    def label(self) -> str:
        """What others call it in their steps."""
        ...

    @property
    def loops(self) -> Nest:
        """The loops behind all steps."""
        ...

    def then(self, *steps: Step) -> object:
        """Take steps; raises GaweeError where the loops cannot."""
        ...


@dataclass(frozen=True)
class _Handle:
    """What a value of a script stands for: kernels, or their loops over a dimension."""

    kernels: tuple[ScheduledKernel, ...]
    dim: int | None = None
    order: tuple[int, ...] = ()
    """The dimensions as the op has them, where they were interchanged."""

    def by_dim(self, numbers: Sequence[int]) -> list[int]:
        """Return numbers of an op's dimensions by the kernel's, zero for those left out."""
        found = [0] * max(len(numbers), len(self.order))
        for at, number in enumerate(numbers):
            found[self.order[at] if at < len(self.order) else at] = number
        return found


@dataclass(frozen=True)
class _Statement:
    """One op of a script: its results, name, operands and the text of its attributes."""

    results: tuple[str, ...]
    name: str
    operands: tuple[str, ...]
    text: str

    def numbers(self, attribute: str) -> list[int]:
        """Return a list of numbers, empty where there is none; raises IllegalStep."""
        found = re.search(rf"\b{attribute}\s*=?\s*\[([^\]]*)\]", self.text)
        texts = found[1].split(",") if found is not None and found[1].strip() else []
        wrong = next((each for each in texts if not each.strip().isdecimal()), None)
        if wrong is not None:
            raise IllegalStep(f"expected numbers in {attribute}, got '{wrong.strip()}'")
        return [int(each) for each in texts]

    def number(self, attribute: str) -> int:
        """Return a number; raises IllegalStep where there is none."""
        found = re.search(rf"\b{attribute}\s*=\s*(\d+)", self.text)
        if found is None:
            raise IllegalStep(f"expected a number '{attribute}'")
        return int(found[1])


STATEMENT = re.compile(
    r"^[ \t]*(?:(?P<results>%[^=\n]+?)\s*=\s*)?transform\.(?P<name>[\w.]+)(?P<rest>.*?)"
    r"(?=\n\s*(?:%[\w#]|transform\.|\}|//)|\Z)",
    re.MULTILINE | re.DOTALL,
)
LANES = 16
"""Of a vector, at most; a longer one is several."""


def run_transform_script(
    source: Source, match: Callable[[Sequence[str]], Sequence[ScheduledKernel]]
) -> None:
    """Have kernels take what a script says; `match` finds them by names of ops of linalg.

    Raises GaweeError with the place in the script.
    """
    values: dict[str, _Handle] = {}
    text = re.sub(r"//[^\n]*", lambda found: " " * len(found[0]), source.text)
    for found in STATEMENT.finditer(text):
        statement = _statement(found)
        try:
            handles = _run(statement, values, match)
        except (IllegalStep, GaweeError) as error:
            place = source.place(found.start("name") - len("transform."))
            why = error.diagnostics[0].message if isinstance(error, GaweeError) else str(error)
            message = f"cannot run 'transform.{statement.name}': {why}"
            raise GaweeError(Diagnostic(message, place)) from error
        values |= zip(statement.results, handles, strict=False)


def _statement(found: re.Match[str]) -> _Statement:
    results: list[str] = []
    for each in (found["results"] or "").split(","):
        name, _, count = each.strip().partition(":")
        results += [f"{name}#{at}" for at in range(int(count))] if count else [name]
    text = found["rest"]
    values = re.sub(r"\[[^\]]*\]", "", text.rpartition(" : ")[0] or text)
    operands = re.findall(r"%[\w#]+", values)
    return _Statement(tuple(filter(None, results)), found["name"], tuple(operands), text)


def _run(
    statement: _Statement,
    values: Mapping[str, _Handle],
    match: Callable[[Sequence[str]], Sequence[ScheduledKernel]],
) -> Sequence[_Handle]:
    """Have kernels take one op; return what its results stand for."""
    name = statement.name
    if name in ("named_sequence", "sequence", "yield"):
        return ()
    if name == "structured.match":
        names = re.findall(r'"([\w.]+)"', statement.text.partition(" in ")[0])
        kernels = tuple(match(names))
        if not kernels:
            raise IllegalStep(f"no kernel is {' or '.join(names)}")
        return [_Handle(kernels)]
    if name in NOTHING or name.startswith("apply_"):
        return [values[each] for each in statement.operands[:1] if each in values] * 4
    if name not in RULES:
        raise IllegalStep(
            f"it is not supported; supported: {', '.join(sorted([*RULES, *NOTHING]))}"
        )
    unknown = next((each for each in statement.operands if each not in values), None)
    if unknown is not None or not statement.operands:
        raise IllegalStep(f"expected a handle to a kernel, got {unknown or 'none'}")
    return RULES[name](statement, [values[each] for each in statement.operands])


def _split_handle(_: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    return [_Handle((kernel,)) for kernel in handles[0].kernels]


def _merge_handles(_: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    return [_Handle(tuple(kernel for each in handles for kernel in each.kernels))]


def _extent(nest: Nest, dim: int) -> int:
    """Return how many points of a dimension are left to be tiled."""
    steps = [loop.step for loop in nest.schedule.loops if loop.dim == dim and loop.step > 1]
    return steps[-1] if steps else nest.sizes[dim]


def _take(kernel: ScheduledKernel, name: str, *arguments: str, **keywords: int) -> None:
    if arguments or keywords:
        kernel.then(Step(name, arguments, tuple(keywords.items())))


def _tiled(kernel: ScheduledKernel, sizes: Sequence[int], order: Sequence[int]) -> None:
    """Tile, the loops in an order; those over single points are there already."""
    nest = kernel.loops
    if len(sizes) > len(nest.sizes):
        raise IllegalStep(f"expected at most {len(nest.sizes)} sizes, got {len(sizes)}")
    clipped = {dim: min(sizes[dim], _extent(nest, dim)) for dim in order if sizes[dim] > 1}
    _take(kernel, "tile", **{nest.names[dim]: size for dim, size in clipped.items()})


def _tile(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    op, written = handles[0], statement.numbers("tile_sizes")
    dims = [op.order[at] if at < len(op.order) else at for at, size in enumerate(written) if size]
    permutation = statement.numbers("interchange") or range(len(dims))
    order = [dims[at] for at in permutation if at < len(dims)]
    for kernel in op.kernels:
        _tiled(kernel, op.by_dim(written), order)
    return [op, *(replace(op, dim=dim) for dim in order)]


def _forall(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    threads = handles[0].by_dim(statement.numbers("num_threads"))
    sizes = handles[0].by_dim(statement.numbers("tile_sizes"))
    for kernel in handles[0].kernels:
        nest = kernel.loops
        per_thread = [
            ceil(_extent(nest, dim) / each) if each else 0 for dim, each in enumerate(threads)
        ]
        own = per_thread if any(threads) else sizes
        dims = [dim for dim, size in enumerate(own) if size]
        _tiled(kernel, own, dims)
        nest = kernel.loops
        shared = [nest.loop_name(Loop(dim, own[dim])) for dim in dims]
        _take(kernel, "parallelize", *shared)
    return [handles[0], handles[0]]


def _interchange(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    op, permutation = handles[0], statement.numbers("iterator_interchange")
    was = op.order or range(len(permutation))
    order = tuple(was[at] for at in permutation if at < len(permutation))
    for kernel in op.kernels:
        nest = kernel.loops
        _take(kernel, "interchange", *(nest.names[dim] for dim in order if dim < len(nest.names)))
    return [replace(op, order=order)]


def _vectorize(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    sizes = handles[0].by_dim(statement.numbers("vector_sizes"))
    for kernel in handles[0].kernels:
        nest = kernel.loops
        own = sizes if any(sizes) else nest.sizes
        tile = [min(_extent(nest, dim), own[dim]) for dim in range(nest.num_parallel)]
        wide = [dim for dim, size in enumerate(tile) if size > 1]
        if not any(sizes):  # what is not tiled stays a loop
            tiled = {loop.dim for loop in nest.schedule.loops if loop.step > 1}
            wide = [dim for dim in wide if dim in tiled] or wide[-1:]
        if not wide:
            raise IllegalStep("expected a parallel dimension of several points, got none")
        lanes = 1 << min(LANES, tile[wide[-1]]).bit_length() - 1
        _take(kernel, "vectorize", **{nest.names[wide[-1]]: lanes})
        behind = kernel.loops
        within = (dim for dim in wide if _is_within(behind, dim, tile[dim]))
        _take(kernel, "unroll", *(nest.names[dim] for dim in within))
    return handles


def _is_within(nest: Nest, dim: int, size: int) -> bool:
    """Whether the innermost loop over a dimension goes through no more than so many points."""
    at = nest.innermost(dim)
    return at is not None and nest.extents(at)[dim] <= size


def _split_reduction(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    parts = statement.number("split_factor")
    for kernel in handles[0].kernels:
        _take(kernel, "split_reduction", **{kernel.loops.names[-1]: parts})
    return [handles[0]] * 4


def _pack(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    sizes = handles[0].by_dim(statement.numbers("packed_sizes"))
    for kernel in handles[0].kernels:
        _tiled(kernel, sizes, range(len(sizes)))
        kernel.then(Step("pack", tuple(range(kernel.loops.num_inputs))))
    return handles


def _fuse(_: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    producers, containers = handles[0].kernels, handles[-1].kernels
    others = [each.label for each in producers if each not in containers]
    for container in containers:
        _take(container, "fuse", *others)
    return handles


def _unroll(statement: _Statement, handles: Sequence[_Handle]) -> Sequence[_Handle]:
    factor, dim = statement.number("factor"), handles[0].dim
    for kernel in handles[0].kernels:
        nest = kernel.loops
        at = None if dim is None else nest.innermost(dim)
        if dim is None or at is None:
            raise IllegalStep("expected a handle to a loop, got one to a kernel")
        own = nest.schedule.loops[at].step * factor
        if own < nest.extents(at)[dim]:
            _take(kernel, "split", **{nest.names[dim]: own})
        _take(kernel, "unroll", nest.names[dim])
    return ()


RULES: Mapping[str, Callable[[_Statement, Sequence[_Handle]], Sequence[_Handle]]] = {
    "split_handle": _split_handle,
    "merge_handles": _merge_handles,
    "structured.tile_using_for": _tile,
    "structured.fuse": _tile,
    "structured.tile_using_forall": _forall,
    "structured.interchange": _interchange,
    "structured.vectorize": _vectorize,
    "structured.vectorize_children_and_apply_patterns": _vectorize,
    "structured.split_reduction": _split_reduction,
    "structured.pack": _pack,
    "structured.fuse_into_containing_op": _fuse,
    "loop.unroll": _unroll,
}
"""The ops of a script that are steps here."""
NOTHING: Mapping[str, str] = {
    "structured.generalize": "a kernel has maps and regions already",
    "structured.pad": "tiles at the end are cut off, or masked",
    "loop.peel": "tiles at the end are code of their own",
    "structured.hoist_redundant_vector_transfers": "a tile is in registers throughout",
    "loop.hoist_loop_invariant_subsets": "a tile is in registers throughout",
    "get_parent_op": "a kernel is found from each of its loops",
    "print": "nothing is computed otherwise",
}
"""Those that ask for nothing here, with the reason."""
