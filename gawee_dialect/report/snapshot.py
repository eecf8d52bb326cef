"""The module at one level: its functions, the ops of those that are called, and their text.

A graph as its file has it is a level too, nodes that cannot be read included.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypedDict

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FuncOp as LLVMFuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.dialect.entry import entry_arguments, is_public
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import greatest
from gawee_dialect.dialect.types import dense_bytes
from gawee_dialect.hints import isa
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView, used_from_outside
from gawee_dialect.instruments.function_texts import FunctionText, key, prints_all
from gawee_dialect.levels import Level
from gawee_dialect.locations import origins
from gawee_dialect.passes.buffers.plan_memory import find_workspace, users_through_views

# What ops come from, each node or place once, by number.


class OriginJson(TypedDict):
    """An origin, as the document has it."""

    node: str | None
    place: str | None


Origin = tuple[str | None, str | None]
"""The name of a node and `file:line:column`; either may be unknown."""


class Origins:
    """Numbers origins in the order in which they are met, and keeps which became part of which."""

    def __init__(self) -> None:
        self._numbers: dict[Origin, int] = {}
        self._of: dict[int, tuple[Attribute, list[int]]] = {}
        # A location lives on in there, so that no other has its identity.
        self._parts: dict[int, dict[int, None]] = {}
        self.fusions = 0
        """How often ops became part of another so far."""

    def numbers(self, location: Attribute) -> list[int]:
        """Return the numbers of what a location names."""
        known = self._of.get(id(location))
        if known is None:
            found = [self.number(each) for each in origins(location)]
            known = self._of[id(location)] = location, found
        return known[1]

    def number(self, origin: Origin) -> int:
        """Return the number of an origin."""
        return self._numbers.setdefault(origin, len(self._numbers))

    def fuse(self, parts: Iterable[int], whole: Iterable[int]) -> None:
        """Note that ops of some origins became part of an op of others."""
        self.fusions += 1
        added = dict.fromkeys(each for part in parts for each in self.within(part))
        for number in whole:
            self._parts.setdefault(number, {}).update(added)

    def within(self, number: int) -> list[int]:
        """Return an origin and all that became part of it so far."""
        return list(dict.fromkeys((number, *self._parts.get(number, ()))))

    def to_json(self) -> list[OriginJson]:
        """Return all origins by number."""
        return [{"node": node, "place": place} for node, place in self._numbers]


# Where the buffers of a function are in its workspace, and from which op to which they live.


class BufferJson(TypedDict):
    """A buffer: the value's name, its bytes in the workspace, and ops by number."""

    name: str | None
    offset: int
    bytes: int
    first: int
    last: int


def buffers_json(function: FuncOp) -> list[BufferJson]:
    """Return the views of a function's workspace; none where memory is not planned."""
    workspace = None if function.body.blocks.first is None else find_workspace(function)
    if workspace is None or len(function.body.blocks) != 1:
        return []
    numbers = {op: number for number, op in enumerate(function.body.block.ops)}
    views = (use.operation for use in workspace.uses)
    found = (_buffer(op, numbers) for op in views if isinstance(op, memref.ViewOp))
    return sorted(
        (each for each in found if each is not None),
        key=lambda buffer: (buffer["first"], buffer["offset"]),
    )


def _buffer(view: memref.ViewOp, numbers: dict[Operation, int]) -> BufferJson | None:
    offset, type = view.byte_shift.owner, view.result.type
    if not isinstance(offset, arith.ConstantOp) or not isa(type, MemRefType[Attribute]):
        return None
    assert isinstance(offset.value, IntegerAttr)
    used = list(_positions(view, numbers))
    return {
        "name": view.result.name_hint,
        "offset": offset.value.value.data,
        "bytes": dense_bytes(type.get_shape(), type.element_type),
        "first": min(used, default=numbers[view]),
        "last": max(used, default=numbers[view]),
    }


def _positions(view: memref.ViewOp, numbers: dict[Operation, int]) -> Iterator[int]:
    for user in users_through_views(view.result):
        op: Operation | None = user
        while op is not None and op not in numbers:
            op = op.parent_op()
        if op is not None:
            yield numbers[op]


# The schedule of a kernel as its nest of loops.


class LoopJson(TypedDict):
    """A loop of a nest, the outermost first, or (`kind` tile, vector) what is inside of all."""

    dimension: int
    kind: str
    iterations: int
    step: int
    reduction: bool


def nest_json(op: Operation) -> list[LoopJson]:
    """Return the loops of a kernel that has a schedule, its register tile and its vector.

    `iterations` of a loop are those of one run of it, where all are whole; of a tile its points, of
    a vector its lanes. `step` is that of the loop, in points. Sizes that are open are the greatest.
    """
    if not isinstance(op, KernelOp) or op.schedule is None:
        return []
    schedule, sizes = op.schedule.data, [greatest(size) for size in op.sizes]
    found: list[LoopJson] = []
    for number, loop in enumerate(schedule.loops):
        kind = "parallel" if number < schedule.parallel else "loop"
        rounds = -(-sizes[loop.dim] // loop.step)
        found.append(_loop(op, loop.dim, kind, rounds, loop.step))
        sizes[loop.dim] = min(loop.step, sizes[loop.dim])
    found += [_loop(op, dim, "tile", size, 1) for dim, size in enumerate(sizes) if size > 1]
    if schedule.vector is not None:
        dim, lanes = schedule.vector
        found.append(_loop(op, dim, "vector", lanes, 1))
    return found


def _loop(op: KernelOp, dim: int, kind: str, iterations: int, step: int) -> LoopJson:
    return {
        "dimension": dim,
        "kind": kind,
        "iterations": iterations,
        "step": step,
        "reduction": dim >= op.num_parallel,
    }


Json = dict[str, object]


class ValueJson(TypedDict):
    """A value."""

    id: int
    name: str | None
    type: str


class ArgumentJson(TypedDict):
    """An argument of a public function."""

    id: int
    name: str
    kind: str
    type: str


class OpJson(TypedDict):
    """An op in the body of a public function."""

    id: int
    name: str
    operands: list[int]
    results: list[ValueJson]
    sources: list[int]
    lines: list[int]
    calls: list[str]
    nest: list[LoopJson]


class FunctionJson(TypedDict):
    """A function with a body."""

    name: str
    public: bool
    arguments: list[ArgumentJson]
    ops: list[OpJson]
    buffers: list[BufferJson]
    calls: list[str]
    sources: list[int]
    text: str


class LevelJson(TypedDict):
    """The module at one level."""

    name: str
    level: str
    passes: int
    functions: list[FunctionJson]


class StepJson(TypedDict):
    """The public functions of the module as a pass left them, by the pass's number."""

    number: int
    level: str
    functions: list[FunctionJson]


class Snapshots:
    """Records the functions of a module again and again; unchanged ones are not recorded anew."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._known: dict[str, tuple[FunctionText, FunctionJson]] = {}
        self._told_of: tuple[set[str], int] = set(), 0

    def functions(
        self,
        module: ModuleOp,
        texts: Mapping[str, FunctionText],
        wanted: Callable[[Operation], bool] = prints_all,
    ) -> list[FunctionJson]:
        """Return every function of a module that has a body and is wanted, in order."""
        names = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp | LLVMFuncOp)}
        known = self._known if self._told_of == (names, self._origins.fusions) else {}
        self._told_of = names, self._origins.fusions
        self._known = {}
        for position, op in enumerate(module.ops):
            if not isinstance(op, FuncOp | LLVMFuncOp) or not wanted(op):
                continue
            if op.body.blocks.first is not None:
                name = key(op, position)
                text, told = known.get(name, (None, None))
                if told is None or text is not texts[name]:
                    told = _function(op, texts[name], self._origins, names)
                self._known[name] = texts[name], told
        return [told for _, told in self._known.values()]


def _function(
    function: FuncOp | LLVMFuncOp, printed: FunctionText, origins: Origins, names: set[str]
) -> FunctionJson:
    block = function.body.blocks.first
    assert block is not None
    values = _Values()
    public = is_external(function)
    symbols, locations = _inside(function)
    return {
        "name": function.sym_name.data,
        "public": public,
        "arguments": _arguments(function, block, values) if public else [],
        "ops": list(_ops(function, printed, values, origins, names)) if public else [],
        "buffers": buffers_json(function) if public and isinstance(function, FuncOp) else [],
        "calls": sorted(symbols & names),
        "sources": _sources(locations.values(), origins),
        "text": printed.text,
    }


def is_external(op: Operation) -> bool:
    """Whether an op of a module can be called from outside; True for what is no function."""
    if isinstance(op, FuncOp):
        return is_public(op)
    return not isinstance(op, LLVMFuncOp) or op.linkage.linkage.data == "external"


class _Values:
    """Numbers values in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[SSAValue, int] = {}

    def of(self, value: SSAValue) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


@lru_cache(maxsize=4096)
def _type_text(type: Attribute) -> str:
    return str(type)


def _arguments(function: FuncOp | LLVMFuncOp, block: Block, values: _Values) -> list[ArgumentJson]:
    return [
        {
            "id": values.of(value),
            "name": each.name,
            "kind": each.kind.value,
            "type": _type_text(value.type),
        }
        for each, value in zip(entry_arguments(function), block.args, strict=True)
    ]


def _ops(
    function: Operation, printed: FunctionText, values: _Values, origins: Origins, names: set[str]
) -> Iterator[OpJson]:
    breaks = [found.start() for found in re.finditer("\n", printed.text)]
    ops = (op for region in function.regions for block in region.blocks for op in block.ops)
    for number, op in enumerate(ops):
        start, end = printed.offsets[op]
        own = origins.numbers(op.location)
        yield {
            "id": number,
            "name": op.name,
            "operands": [values.of(each) for each in dict.fromkeys(used_from_outside(op))],
            "results": [
                {"id": values.of(each), "name": each.name_hint, "type": _type_text(each.type)}
                for each in op.results
            ],
            "sources": list(dict.fromkeys(part for each in own for part in origins.within(each))),
            "lines": [bisect_right(breaks, start), bisect_right(breaks, end - 1)],
            "calls": sorted(_inside(op)[0] & names),
            "nest": nest_json(op),
        }


def _sources(locations: Iterable[Attribute], origins: Origins) -> list[int]:
    """Return what ops come from; of a function's, that of the function itself is the first node."""
    numbers = (number for each in locations for number in origins.numbers(each))
    return list(dict.fromkeys(numbers))


def _inside(op: Operation) -> tuple[set[str], dict[int, Attribute]]:
    """Return the symbols that an op and those in it refer to, and the locations of these, by id.

    They are in the order of the text.
    """
    symbols: set[str] = set()
    # Many ops share the location of the kernel that they are of.
    locations: dict[int, Attribute] = {}
    pending = [op]
    while pending:
        each = pending.pop()
        if each is not op:
            location = each.location
            locations[id(location)] = location
        # Most ops have a few properties and no attribute.
        for attribute in each.properties.values():
            if isinstance(attribute, SymbolRefAttr):
                symbols.add(_symbol(attribute))
        if each.attributes:
            found = (every for every in each.attributes.values())
            symbols.update(_symbol(every) for every in found if isinstance(every, SymbolRefAttr))
        for region in reversed(each.regions):
            for block in reversed(tuple(region.blocks)):
                # From the last to the first, which is then the next.
                inner = block.last_op
                while inner is not None:
                    pending.append(inner)
                    inner = inner.prev_op
    return symbols, locations


def _symbol(attribute: SymbolRefAttr) -> str:
    root = attribute.root_reference
    assert isinstance(root, StringAttr)
    return root.data


def graph_level(view: GraphView, origins: Origins) -> LevelJson:
    """Return the nodes of a graph as ops; the text has a line for each."""
    numbers: dict[str, int] = {}
    inputs = [each for each in view.inputs if each.name not in view.weight_of]
    for each in inputs:
        numbers.setdefault(each.name, len(numbers))
    ops = [_op(node, line, numbers, origins) for line, node in enumerate(view.nodes)]
    return {
        "name": "input",
        "level": Level.GAWEE.value,
        "passes": 0,
        "functions": [
            {
                "name": "main",
                "public": True,
                "arguments": [
                    {
                        "id": numbers[each.name],
                        "name": each.name,
                        "kind": "input",
                        "type": _type(each),
                    }
                    for each in inputs
                ],
                "ops": ops,
                "buffers": [],
                "calls": [],
                "sources": sorted({number for op in ops for number in op["sources"]}),
                "text": "\n".join(map(_line, view.nodes)),
            }
        ],
    }


def listed_nodes(graph: str, names: Iterable[tuple[str, str]]) -> GraphView:
    """Return a graph of which only the nodes' names and ops are known: each leads to the next."""
    nodes = [
        NodeView(
            name,
            op,
            [f"#{number - 1}"] if number else [],
            [TensorView(f"#{number}", (), "?")],
        )
        for number, (name, op) in enumerate(names)
    ]
    return GraphView(graph, (), (), (), nodes)


def _op(node: NodeView, line: int, numbers: dict[str, int], origins: Origins) -> OpJson:
    read = [numbers[name] for name in dict.fromkeys(node.inputs) if name in numbers]
    for each in node.outputs:
        numbers.setdefault(each.name, len(numbers))
    return {
        "id": line,
        "name": node.op,
        "operands": read,
        "results": [
            {"id": numbers[each.name], "name": each.name, "type": _type(each)}
            for each in node.outputs
        ],
        "sources": [origins.number((node.name or None, None))],
        "lines": [line, line],
        "calls": [],
        "nest": [],
    }


def _type(tensor: TensorView) -> str:
    return f"{tensor.text} {tensor.dtype}"


def _line(node: NodeView) -> str:
    made = ", ".join(f"{each.name}: {_type(each)}" for each in node.outputs)
    return f"{made} = {node.op}({', '.join(node.inputs)})".replace("\n", " ")
