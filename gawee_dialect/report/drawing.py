"""What the page draws of a level: boxes in rows, modules as boxes that open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.report.module_tree import Group, Named, chain, leaves, module_tree
from gawee_dialect.report.origins import OriginJson
from gawee_dialect.report.ranks import Arrow, in_rows
from gawee_dialect.report.snapshot import FunctionJson, OpJson

Box = dict[str, object]

SMALL = 40
"""Ops up to which modules are open when the page opens."""

ON_TENSORS = ("gawee", "linalg", "kernels")
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
            box = self._add({"t": "input", "s": argument["name"], "y": argument["type"]})
            named.append(Named(box, None, None))
            makers[argument["id"]] = box
        of_ops: list[int] = []
        for op in ops:
            origin = op["sources"][0] if op["sources"] else None
            node = None if origin is None else self.origins[origin]["node"]
            short = op["calls"][0] if op["calls"] else op["name"].partition(".")[2] or op["name"]
            shown: Box = {"t": short, "s": node or "", "f": index}
            own = {"op": op["id"]} if is_kept else {"o": op["sources"]}
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
                "n": sum(1 for _ in leaves(group)),
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
