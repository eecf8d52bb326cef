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

    def level(self, level: str, functions: Sequence[FunctionJson]) -> int:
        """Draw the public functions of a level; return the number of the box of all."""
        drawn = [
            self._function(function, index, level)
            for index, function in enumerate(functions)
            if function["public"]
        ]
        # The function that a network runs is above what prepares its weights.
        drawn.sort(key=lambda box: self.boxes[box]["t"] != "main")
        return self._add({"t": level, "rows": [[box] for box in drawn], "open": True})

    def _add(self, box: Box) -> int:
        self.boxes.append(box)
        return len(self.boxes) - 1

    def _function(self, function: FunctionJson, index: int, level: str) -> int:
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
            box = self._add({"t": short, "s": node or "", "f": index, "op": op["id"]})
            named.append(Named(box, node, origin))
            of_ops.append(box)
            makers.update((value["id"], box) for value in op["results"])
        arrows = _arrows(ops, of_ops, makers) if tensors else chain(of_ops)
        tree = module_tree(function["name"], named)
        return self._group(tree, arrows, depth=0, small=len(ops) <= SMALL)

    def _group(self, group: Group, arrows: Sequence[Arrow], *, depth: int, small: bool) -> int:
        """Add a group and all in it; `arrows` are those between boxes inside."""
        owner: dict[int, int] = {}  # from a box at any depth to the child that it is in
        inside: dict[int, Group] = {}
        for at, child in enumerate(group.children):
            if isinstance(child, int):
                owner[child] = at
            else:
                inside[at] = child
                owner.update(dict.fromkeys(leaves(child), at))
        deeper: dict[int, list[Arrow]] = {at: [] for at in inside}
        between: dict[Arrow, None] = {}
        for source, target in arrows:
            ends = owner[source], owner[target]
            if ends[0] == ends[1]:
                deeper[ends[0]].append((source, target))
            else:
                between[ends] = None
        numbers = [
            child
            if isinstance(child, int)
            else self._group(child, deeper[at], depth=depth + 1, small=small)
            for at, child in enumerate(group.children)
        ]
        placed = in_rows(numbers, [(numbers[one], numbers[other]) for one, other in between])
        opened = depth == 0 or (small and not group.is_node)
        return self._add(
            {
                "t": group.title,
                "n": sum(1 for _ in leaves(group)),
                "rows": placed.rows,
                "arrows": placed.arrows,
                "open": opened,
            }
        )


def _is_drawn(op: OpJson, *, tensors: bool) -> bool:
    if op["name"].endswith(FREE):
        return False
    return tensors or bool(op["calls"]) or not op["results"]


def _arrows(ops: Sequence[OpJson], boxes: Sequence[int], makers: Mapping[int, int]) -> list[Arrow]:
    found: dict[Arrow, None] = {}
    for op, box in zip(ops, boxes, strict=True):
        found.update({(makers[value], box): None for value in op["operands"] if value in makers})
    return list(found)
