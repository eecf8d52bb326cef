"""Which source files decide what some modules of this package do: theirs, and those they import.

What is imported inside functions counts too, but for one thing: an op's canonicalization patterns,
which it imports where somebody canonicalizes, and which nothing but that pass asks for.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import gawee_dialect

NAME = gawee_dialect.__name__
ROOT = Path(gawee_dialect.__file__).parent

PATTERNS = f"{NAME}.passes.canonicalization"

IMPORT = re.compile(
    rf"^[ \t]*(?:from ({NAME}[\w.]*) import (?:\(([^)]*)\)|([^\n(]*))|import ({NAME}[\w.]*))",
    re.MULTILINE,
)


def sources_behind(modules: Iterable[str]) -> Sequence[Path]:
    """Return the files of some modules and of all that these import, in the order of their names.

    Raises OSError for a file that cannot be read.
    """
    found: set[Path] = set()
    pending = list(modules)
    while pending:
        for path in _files(pending.pop()):
            if path not in found:
                found.add(path)
                pending += _imported(path)
    return sorted(found)


def _files(module: str) -> Iterator[Path]:
    """Yield the file of a module or a package of ours; none for a name inside a module."""
    if module.partition(".")[0] != NAME:
        return
    path = ROOT.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            yield file


def _imported(path: Path) -> Iterator[str]:
    """Yield the names of ours that a file imports, modules among them."""
    in_dialect = path.parent.is_relative_to(ROOT / "dialect")
    for module, listed, line, whole in IMPORT.findall(path.read_text(encoding="utf-8")):
        if in_dialect and module.startswith(PATTERNS):
            continue
        yield module or whole
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", listed or line))
