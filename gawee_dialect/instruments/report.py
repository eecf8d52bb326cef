"""How instruments and tools name patterns and ops, with the place of either, and print tables.

Tables are beside the IR, which has standard output for itself.
"""

import inspect
import linecache
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.locations import node_name, place

if TYPE_CHECKING:
    from rich.table import Table


@cache
def source_place(pattern: type[RewritePattern]) -> str | None:
    """Return `file:line` of a pattern's class, None where there is no source."""
    try:
        path = Path(inspect.getfile(pattern))
    except (OSError, TypeError):
        return None
    line = _line_of(pattern.__qualname__, path)
    return None if line is None else f"{short_path(path, pattern.__module__)}:{line}"


def _line_of(name: str, path: Path) -> int | None:
    """Return the line where a class, or its decorator, begins.

    `inspect` would parse the whole file for every class in it.
    """
    linecache.checkcache(str(path))
    lines = linecache.getlines(str(path))
    outer, _, own = name.rpartition(".")
    indent = "[ \\t]+" if outer else ""
    head = re.compile(rf"{indent}class {re.escape(own)}\b")
    line = next((number for number, text in enumerate(lines, 1) if head.match(text)), None)
    while line is not None and line > 1 and lines[line - 2].lstrip().startswith("@"):
        line -= 1
    return line


def short_path(path: Path, module: str) -> Path:
    """Return a file's path from the working folder; elsewhere, from its package's folder."""
    if path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd())
    parts = module.split(".")
    length = len(parts) + (path.stem == "__init__")
    inside = Path(*path.parts[-length:])
    return inside if inside.parts[0] == parts[0] else path


def pattern_name(pattern: RewritePattern) -> str:
    """Return a pattern's class and its place: `FoldIntoBias (passes/graph/fold_conv_add.py:32)`."""
    where = source_place(type(pattern))
    return type(pattern).__name__ + (f" ({where})" if where else "")


def op_name(op: Operation) -> str:
    """Return an op's name, place and node: `gawee.add at in.mlir:3:4 (node "add1")`."""
    where, node = place(op.location), node_name(op.location)
    return op.name + (f" at {where}" if where else "") + (f' (node "{node}")' if node else "")


class Unchecked(UserWarning):
    """A pass that was to be checked could not be: a tool that says so has an exit code for it."""

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(f"{place}: warning: {message}" if place else f"warning: {message}")


def print_table(table: "Table") -> None:
    """Print a table to standard error; a file of it is wider than a small terminal."""
    # Imported here: only tables need it.
    from rich.console import Console

    Console(stderr=True, width=None if sys.stderr.isatty() else 120).print(table)
