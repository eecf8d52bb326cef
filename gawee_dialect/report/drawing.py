"""What the page draws of a level: boxes in rows, modules as boxes that open."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gawee_dialect.report.snapshot import FunctionJson, OpJson, OriginJson

# Where boxes go: rows by longest path, and an order in each row by barycentres.
#
# After Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System
# Structures (1981). An arrow over several rows has a bend in each row between.

LONGEST = 60
"""Rows beyond which an arrow is a straight line: bends of many such would be most of a drawing."""

SWEEPS = 4

Arrow = tuple[int, int]


@dataclass(frozen=True)
class Rows:
    """Rows of boxes from the top, and arrows as what they go through.

    A negative number is a port, where an arrow enters or leaves the frame, or a bend of an arrow.
    """

    rows: list[list[int]]
    arrows: list[list[int]]


def in_rows(
    boxes: Sequence[int], arrows: Sequence[Arrow], inlets: Sequence[int] = (), outlet: int = 0
) -> Rows:
    """Place boxes, which are given in an order that most arrows follow.

    The `inlets` are a row above all boxes, and the `outlet`, if it is not 0, one below. They are
    negative numbers, from -1 down without a gap.
    """
    ports = (*inlets, outlet) if outlet else tuple(inlets)
    everything = (*inlets, *boxes, outlet) if outlet else (*inlets, *boxes)
    position = {box: at for at, box in enumerate(everything)}
    forward = [arrow for arrow in arrows if position[arrow[0]] < position[arrow[1]]]
    ranks = _ranks(boxes, forward, position, first=1 if inlets else 0)
    ranks.update(dict.fromkeys(inlets, 0))
    if outlet:
        ranks[outlet] = max(ranks.values()) + 1
    rows: list[list[int]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for box in everything:
        rows[ranks[box]].append(box)
    paths = _with_bends(arrows, ranks, rows, len(ports))
    _order(rows, paths)
    return Rows(rows, paths)


def _ranks(
    boxes: Sequence[int], arrows: Sequence[Arrow], position: Mapping[int, int], first: int
) -> dict[int, int]:
    ranks = dict.fromkeys(boxes, first)
    between = [arrow for arrow in arrows if arrow[0] in ranks and arrow[1] in ranks]
    for source, target in sorted(between, key=lambda arrow: position[arrow[0]]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
    read = {target for _, target in arrows}
    nearest: dict[int, int] = {}
    for source, target in between:
        nearest[source] = min(nearest.get(source, ranks[target] - 1), ranks[target] - 1)
    # What reads nothing, such as a constant, stands above the first that reads it.
    return {box: ranks[box] if box in read else nearest.get(box, ranks[box]) for box in boxes}


def _with_bends(
    arrows: Sequence[Arrow], ranks: Mapping[int, int], rows: list[list[int]], bends: int
) -> list[list[int]]:
    paths: list[list[int]] = []
    for source, target in arrows:
        between = range(ranks[source] + 1, ranks[target])
        path = [source]
        for rank in between if len(between) <= LONGEST else ():
            bends += 1
            rows[rank].append(-bends)
            path.append(-bends)
        paths.append([*path, target])
    return paths


def _order(rows: list[list[int]], paths: Sequence[Sequence[int]]) -> None:
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for path in paths:
        for one, next_one in pairwise(path):
            below.setdefault(one, []).append(next_one)
            above.setdefault(next_one, []).append(one)
    places = {box: place for row in rows for place, box in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours = below if sweep % 2 else above
        for row in reversed(rows) if sweep % 2 else rows:
            if len(row) == 1:
                continue
            centres = {box: _centre(box, neighbours, places) for box in row}
            row.sort(key=centres.__getitem__)
            places.update((box, place) for place, box in enumerate(row))


def _centre(box: int, neighbours: Mapping[int, Sequence[int]], places: Mapping[int, int]) -> float:
    near = neighbours.get(box)
    return sum(places[each] for each in near) / len(near) if near else places[box]


# Ops folded by the modules that their nodes' names imply: `layer1.0.conv1` is in `layer1.0`.

_SEPARATOR = re.compile(r"[./]")

Path = tuple[str, ...]


@dataclass
class Group:
    """A module, or all ops of a node: its name, and what is in it, in the order of the graph."""

    title: str
    children: list["Group | int"] = field(default_factory=list["Group | int"])
    is_node: bool = False


@dataclass(frozen=True)
class Named:
    """A thing to draw: its number, its node's name if it has one, and the number of its origin."""

    number: int
    node: str | None
    origin: int | None


def module_tree(title: str, things: Sequence[Named]) -> Group:
    """Return things by module; the ops of a node are together, and modules of one thing open."""
    several = Counter(each.origin for each in things)
    root = Group(title)
    groups: dict[tuple[Path, int | None], Group] = {((), None): root}
    for each, module in zip(things, _modules(things), strict=True):
        parent = _group(groups, module)
        if each.origin is not None and several[each.origin] > 1:
            key = module, each.origin
            if key not in groups:
                name = each.node or "op"
                groups[key] = Group(_SEPARATOR.split(name)[-1] or name, is_node=True)
                parent.children.append(groups[key])
            parent = groups[key]
        parent.children.append(each.number)
    _dissolve(root)
    return root


def _group(groups: dict[tuple[Path, int | None], Group], module: Path) -> Group:
    for length in range(1, len(module) + 1):
        key = module[:length], None
        if key not in groups:
            groups[key] = Group(module[length - 1])
            groups[module[: length - 1], None].children.append(groups[key])
    return groups[module, None]


def _modules(things: Sequence[Named]) -> Iterable[Path]:
    """Return the module of each thing; one without any is in that of both its neighbours."""
    own = [tuple(_SEPARATOR.split(each.node)) if each.node else () for each in things]
    modules = [path[:-1] for path in own]
    before: list[Path] = []
    last: Path = ()
    for path, module in zip(own, modules, strict=True):
        before.append(last)
        last = module if path else last
    after: list[Path] = []
    last = ()
    for path, module in zip(reversed(own), reversed(modules), strict=True):
        after.append(last)
        last = module if path else last
    after.reverse()
    return [
        module or _common(left, right)
        for module, left, right in zip(modules, before, after, strict=True)
    ]


def _common(left: Path, right: Path) -> Path:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return left[:length]


def _dissolve(group: Group) -> None:
    """Let modules that hold one thing alone be that thing; a module of one module has its name."""
    for position, child in enumerate(group.children):
        if isinstance(child, int):
            continue
        _dissolve(child)
        if len(child.children) == 1:
            (only,) = child.children
            if isinstance(only, Group):
                only.title = f"{child.title}.{only.title}"
            group.children[position] = only


def leaves(group: Group) -> Iterable[int]:
    """Yield the numbers of all things in a group."""
    for child in group.children:
        if isinstance(child, int):
            yield child
        else:
            yield from leaves(child)


def chain(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the arrows of things that run one after the other."""
    return list(pairwise(numbers))


Box = dict[str, object]

SMALL = 40
"""Ops up to which modules are open when the page opens."""

ON_TENSORS = ("gawee", "linalg", "kernels")
INPUT = "input"
"""What a box says that is no op."""

FREE = ("return", "yield")
"""Ends of names of ops that are not drawn."""


@dataclass
class Drawing:
    """The boxes of one level; a box that opens has rows of other boxes, by number."""

    origins: Sequence[OriginJson]
    boxes: list[Box] = field(default_factory=list[Box])

    def level(self, level: str, functions: Sequence[FunctionJson], *, is_kept: bool = True) -> int:
        """Draw the public functions of a level; return the number of the box of all.

        Where the page does not have the functions, `is_kept` is False, and boxes have all of it.
        """
        drawn = [
            self._function(function, index, level, is_kept=is_kept)
            for index, function in enumerate(functions)
            if function["public"]
        ]
        # The function that a network runs is above what prepares its weights.
        drawn.sort(key=lambda box: self.boxes[box]["t"] != "main")
        return self._add({"t": level, "rows": [[box] for box in drawn], "open": True})

    def _add(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def _function(self, function: FunctionJson, index: int, level: str, *, is_kept: bool) -> int:
        tensors = level in ON_TENSORS
        ops = [op for op in function["ops"] if _is_drawn(op, tensors=tensors)]
        inputs = [each for each in function["arguments"] if each["kind"] == "input"]
        named: list[Named] = []
        makers: dict[int, int] = {}
        for argument in inputs if tensors else ():
            box = self._add({"t": INPUT, "s": argument["name"], "y": argument["type"]})
            named.append(Named(box, None, None))
            makers[argument["id"]] = box
        of_ops: list[int] = []
        for op in ops:
            origin = op["sources"][0] if op["sources"] else None
            node = None if origin is None else self.origins[origin]["node"]
            short = op["calls"][0] if op["calls"] else op["name"].partition(".")[2] or op["name"]
            shown: Box = {"t": short, "s": node or "", "f": index}
            own = {"op": op["id"]} if is_kept else {"o": op["sources"], "at": op["id"]}
            box = self._add({**shown, **own})
            named.append(Named(box, node, origin))
            of_ops.append(box)
            makers.update((value["id"], box) for value in op["results"])
        arrows = _arrows(ops, of_ops, makers) if tensors else chain(of_ops)
        tree = module_tree(function["name"], named)
        return self._group(tree, arrows, Crossing(), depth=0, small=len(ops) <= SMALL)

    def _group(
        self,
        group: Group,
        arrows: Sequence[Arrow],
        crossing: "Crossing",
        *,
        depth: int,
        small: bool,
    ) -> int:
        """Add a group and all in it; `arrows` are those between boxes inside."""
        frame = Frame(group, arrows, crossing)
        numbers = [
            child
            if isinstance(child, int)
            else self._group(
                child, frame.deeper[at], frame.crossings[at], depth=depth + 1, small=small
            )
            for at, child in enumerate(group.children)
        ]
        # Children are by place in the frame, and by their box on the page; ports are negative.
        between = [[each if each < 0 else numbers[each] for each in pair] for pair in frame.between]
        placed = in_rows(numbers, [(one, other) for one, other in between], *frame.ports)
        for at, inner in frame.crossings.items():
            self.boxes[numbers[at]]["in"] = {
                str(source if source < 0 else numbers[source]): -1 - port
                for port, source in enumerate(inner.entering)
            }
        opened = depth == 0 or (small and not group.is_node)
        return self._add(
            {
                "t": group.title,
                "n": sum(self.boxes[each]["t"] != INPUT for each in leaves(group)),
                "rows": placed.rows,
                "arrows": placed.arrows,
                "out": frame.ports[1],
                "open": opened,
            }
        )


@dataclass
class Crossing:
    """The arrows that cross the frame of a group: boxes inside that read, and that are read.

    Those that read are by what they read: a child, or a port, of the group around.
    """

    entering: dict[int, dict[int, None]] = field(default_factory=dict[int, dict[int, None]])
    leaving: dict[int, None] = field(default_factory=dict[int, None])


class Frame:
    """The arrows of a group: between its children, by place, and inside of each.

    Each thing outside that is read inside has a port, an inlet; all that is read outside shares
    one, the outlet. Ports are negative numbers, as `in_rows` takes them.
    """

    def __init__(self, group: Group, arrows: Sequence[Arrow], crossing: Crossing):
        self._owner: dict[int, int] = {}  # from a box at any depth to the child that it is in
        self.deeper: dict[int, list[Arrow]] = {}
        for at, child in enumerate(group.children):
            if isinstance(child, Group):
                self.deeper[at] = []
            inner = [child] if isinstance(child, int) else leaves(child)
            self._owner.update(dict.fromkeys(inner, at))
        self.crossings = {at: Crossing() for at in self.deeper}
        self.between: dict[Arrow, None] = {}
        for start, end in arrows:
            source, target = self._owner[start], self._owner[end]
            if source == target:
                self.deeper[source].append((start, end))
            else:
                self._connect(source, target, start, end)
        inlets = [-1 - at for at in range(len(crossing.entering))]
        outlet = -1 - len(inlets) if crossing.leaving else 0
        self.ports = inlets, outlet
        for port, targets in zip(inlets, crossing.entering.values(), strict=True):
            for end in targets:
                self._connect(port, self._owner[end], port, end)
        for start in crossing.leaving:
            self._connect(self._owner[start], outlet, start, outlet)

    def _connect(self, source: int, target: int, start: int, end: int) -> None:
        """Add an arrow from one child or port to another, which leaves and enters groups."""
        self.between[source, target] = None
        if source in self.crossings:
            self.crossings[source].leaving[start] = None
        if target in self.crossings:
            self.crossings[target].entering.setdefault(source, {})[end] = None


def _is_drawn(op: OpJson, *, tensors: bool) -> bool:
    if op["name"].endswith(FREE):
        return False
    return tensors or bool(op["calls"]) or not op["results"]


def _arrows(ops: Sequence[OpJson], boxes: Sequence[int], makers: Mapping[int, int]) -> list[Arrow]:
    found: dict[Arrow, None] = {}
    for op, box in zip(ops, boxes, strict=True):
        found.update({(makers[value], box): None for value in op["operands"] if value in makers})
    return list(found)
