"""Where boxes go: rows by longest path, and an order in each row by barycentres.

After Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System Structures
(1981). An arrow over several rows has a bend in each row between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
