"""Files that are whole or not there: written under a temporary name, which then becomes theirs."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import copymode, rmtree


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """Yield a path to write instead of `path`; it takes its place where nothing is raised.

    What is written may be a file or a folder; a file that was there before stays until the end,
    and its mode is kept. Raises OSError where nothing can be written there.
    """
    # A folder, not a name: whatever the writer makes in it, nothing is left behind.
    try:
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    draft = folder / path.name
    try:
        yield draft
        if path.is_file():
            copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        rmtree(folder, ignore_errors=True)
