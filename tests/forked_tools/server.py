"""Starts tools by forking one process that has imported them: a test then costs its own work.

`start` is what lit's configuration calls. The server ends with the process that started it, and
ends a tool whose client is gone.
"""

import atexit
import gc
import importlib
import io
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("client.py")
VARIABLE = "GAWEE_TOOL_SERVER"
MODULES = (
    "filecheck.main",
    *(f"gawee_dialect.backend.{name}" for name in ("jit", "kernel_code", "packed_program")),
    "gawee_dialect.compilation",
    "gawee_dialect.equations.evaluate",
    "gawee_dialect.passes.graph.canonicalize",
    "gawee_dialect.passes.pipelines",
    *(f"gawee_dialect.tools.gawee_{name}" for name in ("opt", "translate", "run", "reduce")),
    "gawee_dialect.tools.run_report",
)
"""What is imported before tools are forked: they, and what most runs of them import."""
FIRST_RUN = "tests.forked_tools.first_run"
"""Runs a tool once when it is imported: plugins that are installed afterwards are not found."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 1 << 20
"""Bytes of a request: more than the system lets a socket take at once."""
AT_START = (b"PYTHON", b"LC_", b"LANG", b"LD_", b"OMP_", b"KMP_", b"OPENBLAS_", b"MALLOC_")
"""How the names of variables begin that Python and native libraries read when they are loaded."""


def start(
    environment: dict[str, str], modules: Sequence[str] = (*MODULES, FIRST_RUN)
) -> str | None:
    """Start a server for tools of this environment; return what starts a tool in a command line.

    `modules` are imported before tools are forked. None where a process cannot be forked and
    watched as on Linux.
    """
    if sys.platform != "linux":
        return None
    folder = tempfile.mkdtemp(prefix="gawee-tools-")
    address = os.path.join(folder, "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)  # clients may come before the imports are done
        listener.listen(128)
        server = [sys.executable, "-m", "tests.forked_tools.server"]
        subprocess.Popen(
            [*server, str(os.getpid()), str(listener.fileno()), folder, *modules],
            cwd=ROOT,
            env=environment,
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    environment[VARIABLE] = address
    return f"{sys.executable} -I -S {CLIENT}"


@dataclass
class Request:
    """A tool to run: the module with its arguments, and what its client hands on to it."""

    directory: bytes
    words: list[str]
    environment: dict[bytes, bytes]
    streams: list[int]

    @classmethod
    def receive(cls, client: socket.socket) -> "Request | None":
        """Read what a client asks for; None for one that is gone."""
        data, streams, _, _ = socket.recv_fds(client, LONGEST, 3)
        if not data:
            return None
        directory, count, *fields = data.split(b"\0")
        words = [os.fsdecode(word) for word in fields[: int(count)]]
        variables = (field.partition(b"=") for field in fields[int(count) :])
        return cls(directory, words, {name: value for name, _, value in variables}, streams)

    def run(self) -> None:
        """Become what `python -m` with these words is; raises what it raises, SystemExit too."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(self.directory)
        if read_at_start(self.environment) != read_at_start(os.environb):
            os.execve(sys.executable, [sys.executable, "-m", *self.words], self.environment)
        os.environb.clear()
        os.environb.update(self.environment)
        open_streams()
        importlib.invalidate_caches()  # folders that were not there may be there now
        sys.path[0] = os.getcwd()
        sys.argv[1:] = self.words[1:]
        sys.modules.pop(self.words[0], None)  # runpy warns of a program that was imported
        runpy.run_module(self.words[0], run_name="__main__", alter_sys=True)


def read_at_start(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the variables that a process which runs already would not heed."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def open_streams() -> None:
    """Make Python's streams anew, as it does at its start: they buffer as their files ask for."""
    sys.stdin = sys.__stdin__ = stream(0, "r", sys.stdin)
    sys.stdout = sys.__stdout__ = stream(1, "w", sys.stdout)
    sys.stderr = sys.__stderr__ = stream(2, "w", sys.stderr)


def stream(number: int, mode: str, like: object) -> io.TextIOWrapper:
    assert isinstance(like, io.TextIOWrapper)
    raw = io.FileIO(number, mode, closefd=False)
    raw.name = like.name
    buffered = not like.write_through
    buffer = raw
    if mode == "r":
        buffer = io.BufferedReader(raw)
    elif buffered:
        buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer,
        encoding=like.encoding,
        errors=like.errors,
        newline="\n",
        line_buffering=buffered and (raw.isatty() or number == 2),
        write_through=not buffered,
    )


class Server:
    """Forks a process for each client, and tells it how that process ended."""

    def __init__(self, owner: int, listener: socket.socket):
        self.listener = listener
        self.owner = os.pidfd_open(owner)
        self.processes: dict[socket.socket, int] = {}
        """By client, the process of its tool."""
        self.events = selectors.DefaultSelector()
        self.events.register(self.owner, selectors.EVENT_READ)
        self.events.register(listener, selectors.EVENT_READ)

    def serve(self) -> Request | None:
        """Serve until the owner has ended; in the process of a tool, return what it is to do."""
        while True:
            (event, _), *_ = self.events.select()
            if event.fileobj is self.listener:
                client, _ = self.listener.accept()
                request = self.fork(client)
                if request is not None:
                    return request
            elif event.fileobj == self.owner:
                for process in self.processes.values():
                    os.kill(process, signal.SIGKILL)
                return None
            elif isinstance(event.fileobj, socket.socket):
                self.client_is_gone(event.fileobj)
            elif isinstance(event.fileobj, int):
                self.tool_has_ended(event.fileobj, event.data)

    def fork(self, client: socket.socket) -> Request | None:
        """Start the tool that a client asks for; return it in the new process alone."""
        request = Request.receive(client)
        if request is None:
            client.close()
            return None
        process = os.fork()
        if process == 0:
            self.close()
            client.close()
            return request
        for each in request.streams:
            os.close(each)
        self.processes[client] = process
        self.events.register(client, selectors.EVENT_READ)
        self.events.register(os.pidfd_open(process), selectors.EVENT_READ, client)
        return None

    def client_is_gone(self, client: socket.socket) -> None:
        self.events.unregister(client)
        os.kill(self.processes[client], signal.SIGKILL)

    def tool_has_ended(self, ended: int, client: socket.socket) -> None:
        self.events.unregister(ended)
        os.close(ended)
        _, status = os.waitpid(self.processes.pop(client), 0)
        if client in self.events.get_map():
            self.events.unregister(client)
        with suppress(OSError):
            client.send(b"%d" % status)
        client.close()

    def close(self) -> None:
        """Close every file of the server, in the process of a tool."""
        numbers = [key.fileobj for key in self.events.get_map().values()]
        self.events.close()
        for each in {*numbers, *self.processes}:
            os.close(each) if isinstance(each, int) else each.close()


def main(owner: str, listener: str, folder: str, *modules: str) -> None:
    """Import the tools, then serve, and at the end remove the folder; or run a tool."""
    # They are for the owner, whose end is the server's, and for tools.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        server = Server(int(owner), socket.socket(fileno=int(listener)))
        for module in modules:
            with suppress(Exception):  # the tool that needs it says what is wrong
                importlib.import_module(module)
        gc.collect()
        gc.freeze()  # what is never visited stays shared with the processes of tools
        tool = server.serve()
    except BaseException:
        shutil.rmtree(folder)
        raise
    if tool is None:
        shutil.rmtree(folder)
        return
    for number, handler in before.items():
        signal.signal(number, handler)
    try:
        tool.run()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave(end.code or 0)
    else:
        leave(0)


def leave(code: int) -> None:
    """End as Python does, but for taking modules apart: that takes longer than most tools run.

    Returns where a stream cannot be written, which Python tells of at its own end.
    """
    getattr(threading, "_shutdown")()  # waits for threads
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
