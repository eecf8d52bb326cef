"""The files of an example, which import each other by name."""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def imported_files(folder: Path, names: Sequence[str]) -> Iterator[dict[str, ModuleType]]:
    """Import files of a folder, for the time of a with block."""
    sys.path.insert(0, str(folder))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
