"""A reader watched: what it does with an input that it must not do, limits of time and memory."""

import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.host import cache_folder
from tests.fuzz.reader import Reader

SECONDS, MEGABYTES = 10, 1024
"""What no input may take, of a processor and of memory."""
WAITING = 6
"""Times its seconds that a block may take by the clock, while others have the processor."""
HELD = 4 << 30
"""Bytes of address space beside what is there already: a runaway ends before the machine does."""


MACHINE = ("/proc/self", "/proc/cpuinfo", "/dev/null", "/sys/")
"""Files that say what the machine is, whatever the input: passes ask for its processor."""


class TooLong(BaseException):
    """An input took longer than it may; no reader catches this."""


@contextmanager
def limited_time(seconds: int) -> Iterator[None]:
    """Raise TooLong when a block takes longer, of the processor; in the main thread only.

    So it does where a block waits: for a file that is never written.
    """

    def stop(*_: object) -> None:
        raise TooLong(f"longer than {seconds} s")

    before = [signal.signal(each, stop) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def what_is_wrong(reader: Reader, number: int) -> str | None:
    """Return what a reader does with a damaged input that it must not do; None for nothing."""
    try:
        data = reader.damaged(number)
        with limited_time(SECONDS), TemporaryDirectory() as folder:
            problem, result = _read(reader, data, Path(folder))
            return problem or (None if result is None else _go_on(reader, result))
    except TooLong as error:
        return f"hang: {error}, {_last_place(error)}"


def _read(reader: Reader, data: bytes, folder: Path) -> tuple[str | None, object]:
    try:
        return None, reader.read(data, folder)
    except GaweeError as error:
        # An op of a text that says no file of its own has the node for a place.
        located = all(
            each.place or each.node or "seed" in each.message for each in error.diagnostics
        )
        return None if located or not reader.is_file else f"no place: {error}", None
    except OSError as error:
        return None if error.filename is not None else f"nameless file: {error}", None
    except Exception as error:
        return f"crash: {_described(error)}", None


def _go_on(reader: Reader, result: object) -> str | None:
    try:
        reader.then(result)
    except GaweeError:
        return None
    except Exception as error:
        return f"accepted, then: {_described(error)}"
    return None


def _described(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}, {_last_place(error)}"


def _last_place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    frames = frames[:-1] if isinstance(error, TooLong) else frames  # the last one is the alarm's
    own = [frame for frame in frames if "gawee_dialect" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"


class OpenedFiles:
    """Notes which files are opened that are neither temporary nor of Python or this project."""

    def __init__(self) -> None:
        self.outside: list[str] = []
        own = (sys.prefix, sys.base_prefix, gettempdir(), Path(__file__).parents[2], cache_folder())
        self._own = tuple(str(Path(each).resolve()) for each in own)
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith((*self._own, *MACHINE)):
                self.outside.append(path)


def run_watched(reader: Reader, numbers: range, output: int) -> None:
    """Try inputs in this process, which is a worker's; write a line for each to a descriptor."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + HELD, held + HELD))
    opened = OpenedFiles()
    warnings.simplefilter("ignore")
    for number in numbers:
        os.write(output, f"{number} begun\n".encode())
        before = peak_megabytes()
        opened.outside.clear()
        problem = what_is_wrong(reader, number)
        if opened.outside and problem is None:
            problem = f"file: opened {opened.outside[0]}"
        if peak_megabytes() - before > MEGABYTES:
            problem = f"memory: {peak_megabytes() - before} MB"
        text = "" if problem is None else problem.replace("\n", " ")
        os.write(output, f"{number} ended {text}\n".encode())


def peak_megabytes() -> int:
    """Return the most memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
