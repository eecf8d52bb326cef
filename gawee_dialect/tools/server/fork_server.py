"""The process that has imported the tools: it forks itself for each client (`client.py`).

It ends with the process that it serves, or after a time without clients; and a tool whose client
is gone is ended, as all tools are when their server is killed. Where a module that it has imported
changes, or a package is installed, a new server takes its place: no tool is ever run by what was
there before.
"""

import atexit
import ctypes
import gc
import importlib
import io
import os
import resource
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gawee_dialect.tools.server.client import ADDRESS

CLIENT = Path(__file__).with_name("client.py")
MODULES = (
    *(f"gawee_dialect.backend.{name}" for name in ("jit", "kernel_code", "packed_program")),
    "gawee_dialect.compilation",
    "gawee_dialect.equations.evaluate",
    "gawee_dialect.passes.graph.canonicalize",
    "gawee_dialect.passes.pipelines",
    *(f"gawee_dialect.tools.gawee_{name}" for name in ("opt", "translate", "run", "reduce")),
    "gawee_dialect.tools.run_report",
)
"""What is imported before tools are forked: they, and what most runs of them import."""
FIRST_RUN = "gawee_dialect.tools.server.first_run"
"""Runs tools once when it is imported: plugins that are installed afterwards are not found."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 1 << 20
"""Bytes of a request: more than the system lets a socket take at once."""
AT_START = (b"PYTHON", b"LC_", b"LANG", b"LD_", b"OMP_", b"KMP_", b"OPENBLAS_", b"MALLOC_")
"""How the names of variables begin that Python and native libraries read when they are loaded."""
SERVER = "gawee_dialect.tools.server.fork_server"
IDLE_SECONDS = 900
"""How long a server without an owner waits for another client before it ends."""


def start_for_children(
    environment: dict[str, str], modules: Sequence[str] = (*MODULES, FIRST_RUN)
) -> str | None:
    """Start a server for the tools that this process starts, in this environment.

    Return what runs a module in a command line as `python -m` does, but by the server; None where
    a process cannot be forked and watched as on Linux.
    """
    if sys.platform != "linux":
        return None
    address = os.path.join(tempfile.mkdtemp(prefix="gawee-"), "socket")
    start(address, environment, owner=os.getpid(), modules=modules)
    environment[ADDRESS] = address
    return f"{sys.executable} -I -S {CLIENT}"


def start(
    address: str,
    environment: Mapping[str, str],
    *,
    owner: int = 0,
    idle: float = IDLE_SECONDS,
    modules: Sequence[str] = (*MODULES, FIRST_RUN),
) -> None:
    """Start a server that listens at an address; returns at once, and clients may come at once.

    It ends with the process `owner`, or, without one, after `idle` seconds without a client.
    `modules` are imported before tools are forked. Raises OSError, also where one listens already.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(128)
        _start(listener.fileno(), environment, [str(owner), str(idle), *modules])


def _start(listener: int, environment: Mapping[str, str], words: Sequence[str]) -> None:
    subprocess.Popen(
        [sys.executable, "-m", SERVER, str(listener), *words],
        cwd=Path(__file__).parents[3],  # where Python finds the package
        env=environment,
        pass_fds=[listener],
        start_new_session=True,  # Ctrl-C of a terminal is for clients
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@dataclass
class Request:
    """A tool to run: the module with its arguments, and what its client hands on to it."""

    client: int
    """The process."""
    directory: bytes
    path: str
    """The folder that the client's Python looks for modules in first."""
    words: list[str]
    environment: dict[bytes, bytes]
    streams: list[int]

    @classmethod
    def receive(cls, client: socket.socket) -> "Request | None":
        """Read what a client asks for; None for one that is gone, or of another user."""
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
        process, user, _ = PEER.unpack(credentials)
        if user != os.getuid():
            return None
        data, streams, _, _ = socket.recv_fds(client, LONGEST, 3)
        if not data:
            return None
        directory, count, *fields = data.split(b"\0")
        path, *words = [os.fsdecode(word) for word in fields[: int(count)]]
        variables = (field.partition(b"=") for field in fields[int(count) :])
        environment = {name: value for name, _, value in variables}
        return cls(process, directory, path, words, environment, streams)

    def close(self) -> None:
        """Close the streams."""
        for each in self.streams:
            os.close(each)

    def run(self) -> None:
        """Become what `python -m` with these words is; raises what it raises, SystemExit too."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(self.directory)
        take_limits_of(self.client)
        if read_at_start(self.environment) != read_at_start(os.environb):
            os.execve(sys.executable, [sys.executable, "-m", *self.words], self.environment)
        os.environb.clear()
        os.environb.update(self.environment)
        open_streams()
        importlib.invalidate_caches()  # folders that were not there may be there now
        sys.path[0] = self.path
        sys.argv[1:] = self.words[1:]
        sys.modules.pop(self.words[0], None)  # runpy warns of a program that was imported
        runpy.run_module(self.words[0], run_name="__main__", alter_sys=True)


PR_SET_PDEATHSIG = 1
"""Of Linux's `prctl`: which signal a process gets when the one that forked it ends."""
PEER = struct.Struct("3i")
"""What Linux says of a client: process, user and group."""
USUAL = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGQUIT: signal.SIG_DFL,
}
"""What Python does on signals that are not ignored."""
LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))


def take_limits_of(process: int) -> None:
    """Have priority, processors, limits, mask of files and ignored signals be another process's."""
    with open(f"/proc/{process}/status") as status:
        said = dict(line.split(":", 1) for line in status)
    os.umask(int(said["Umask"], 8))
    for number, usual in USUAL.items():
        is_ignored = int(said["SigIgn"], 16) >> (number - 1) & 1
        signal.signal(number, signal.SIG_IGN if is_ignored else usual)
    with suppress(OSError, ValueError):
        for limit in LIMITS:
            resource.setrlimit(limit, resource.prlimit(process, limit))
        os.sched_setaffinity(0, os.sched_getaffinity(process))
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, process))
        os.sched_setscheduler(0, os.sched_getscheduler(process), os.sched_getparam(process))


def read_at_start(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the variables that a process which runs already would not heed."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def imported() -> dict[str, tuple[int, int]]:
    """Return when the files of modules were changed, and how large they are."""
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    found: dict[str, tuple[int, int]] = {}
    for path in files:
        with suppress(OSError):
            status = os.stat(path)
            found[path] = status.st_mtime_ns, status.st_size
    return found


def installed() -> set[str]:
    """Return what tells that a package is installed, which may bring plugins."""
    found: set[str] = set()
    for folder in sys.path[1:]:
        with suppress(OSError):
            names = os.listdir(folder)
            found |= {f"{folder}/{name}" for name in names if name.endswith(INSTALLED)}
    return found


INSTALLED = (".dist-info", ".egg-info", ".pth")


def open_streams() -> None:
    """Make Python's streams anew, as it does at its start: they buffer as their files ask for."""
    sys.stdin = sys.__stdin__ = stream(0, "r", sys.stdin)
    sys.stdout = sys.__stdout__ = stream(1, "w", sys.stdout)
    sys.stderr = sys.__stderr__ = stream(2, "w", sys.stderr)


def stream(number: int, mode: str, like: object) -> io.TextIOWrapper:
    """Return a stream of a file that is open, with the encoding and buffering of another."""
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
    """Imports modules, forks a process for each client, and tells it how that process ended."""

    def __init__(self, listener: socket.socket, owner: int, idle: float, modules: Sequence[str]):
        self.listener, self.modules = listener, modules
        self.owner = os.pidfd_open(owner) if owner else None
        self.idle = None if owner else idle
        began = time.time_ns()
        for module in modules:
            with suppress(Exception):  # the tool that needs it says what is wrong
                importlib.import_module(module)
        self.was_imported, self.was_installed = imported(), installed()
        ready = time.time_ns()
        if any(began <= changed <= ready for changed, _ in self.was_imported.values()):
            self.was_imported = {}  # perhaps it was changed after it was imported
        self.ends = False
        """Whether no more clients are served."""
        self.processes: dict[socket.socket, int] = {}
        """By client, the process of its tool."""
        self.events = selectors.DefaultSelector()
        self.events.register(listener, selectors.EVENT_READ)
        if self.owner is not None:
            self.events.register(self.owner, selectors.EVENT_READ)

    def serve(self) -> Request | None:
        """Serve until the server is to end; in the process of a tool, return what it is to do."""
        while self.processes or not self.ends:
            event = next(iter(self.events.select(None if self.processes else self.idle)), None)
            if event is None:
                self.end()
                continue
            key, _ = event
            if key.fileobj is self.listener:
                request = self.accept()
                if request is not None:
                    return request
            elif key.fileobj == self.owner:
                self.end()
                break  # which ends all tools
            elif isinstance(key.fileobj, socket.socket):
                self.client_is_gone(key.fileobj)
            elif isinstance(key.fileobj, int):
                self.tool_has_ended(key.fileobj, key.data)
        return None

    def accept(self) -> Request | None:
        """Start the tool that a client asks for; return it in the new process alone."""
        client, _ = self.listener.accept()
        request = Request.receive(client)
        if request is None:
            client.close()
        elif not request.words:
            self.end()
            client.send(b"0")
            client.close()
        elif self.owner is None and self.is_old():
            client.close()  # it runs the tool itself
            request.close()
            self.replace()
        else:
            return self.fork(client, request)
        return None

    def fork(self, client: socket.socket, request: Request) -> Request | None:
        process = os.fork()
        if process == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no server, no tool
            self.close()
            client.close()
            return request
        request.close()
        with suppress(OSError):
            client.send(b"%d" % process)
        self.processes[client] = process
        self.events.register(client, selectors.EVENT_READ)
        self.events.register(os.pidfd_open(process), selectors.EVENT_READ, client)
        return None

    def is_old(self) -> bool:
        """Whether a module was changed since it was imported, or a package installed."""
        return imported() != self.was_imported or installed() != self.was_installed

    def replace(self) -> None:
        """Have a new server listen, which imports everything anew."""
        _start(self.listener.fileno(), os.environ, ["0", str(self.idle), *self.modules])
        self.stop_listening()

    def end(self) -> None:
        """Take no more clients, and remove the socket, and its folder if that is of gawee alone."""
        address = Path(self.listener.getsockname())
        self.stop_listening()
        with suppress(OSError):
            address.unlink()
            if address.parent.name.startswith("gawee-"):
                address.parent.rmdir()

    def stop_listening(self) -> None:
        self.ends = True
        self.events.unregister(self.listener)
        self.listener.close()

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
        files = [key.fd for key in self.events.get_map().values()]
        self.events.close()
        for each in (self.listener, *self.processes):
            files.append(each.detach())
        for each in {*files} - {-1}:
            os.close(each)


def main(listener: str, owner: str, idle: str, *modules: str) -> None:
    """Import the tools and serve; or run a tool."""
    # For an owner, whose end is the server's, and for tools.
    for number in ENDING if int(owner) else ():
        signal.signal(number, signal.SIG_IGN)
    listening = socket.socket(fileno=int(listener))
    server = Server(listening, int(owner), float(idle), modules)
    gc.collect()
    gc.freeze()  # what is never visited stays shared with the processes of tools
    tool = server.serve()
    if tool is None:
        return
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
    getattr(atexit, "_run_exitfuncs")()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
