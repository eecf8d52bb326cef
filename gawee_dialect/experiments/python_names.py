"""Python objects by name, `module:name` or `file.py:name`: factories of networks, evaluators."""

import runpy
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError


def named_object(text: str, folder: Path) -> object:
    """Return what a name stands for; files are looked for in a folder. Raises GaweeError."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        message = f"expected module:name or file.py:name, got '{text}'"
        raise GaweeError(message)
    with _importable(folder):
        members = _members(text, where, folder)
    if name not in members:
        hint = f"it has: {', '.join(each for each in members if not each.startswith('_'))}"
        raise GaweeError(Diagnostic(f"expected '{name}' in '{where}', got none", hint=hint[:200]))
    return members[name]


def _members(text: str, where: str, folder: Path) -> dict[str, object]:
    try:
        if where.endswith(".py"):
            return dict(runpy.run_path(str(folder / where)))
        return dict(vars(import_module(where)))
    except GaweeError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise GaweeError(f"cannot import '{text}': {type(error).__name__}: {error}") from error


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    added = [str(folder), str(Path.cwd())]
    sys.path[:0] = added
    try:
        yield
    finally:
        for each in added:
            sys.path.remove(each)
