"""Ops folded by the modules that their nodes' names tell: `layer1.0.conv1` is in `layer1.0`."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
