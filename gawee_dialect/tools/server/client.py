"""Runs a tool by the server that has imported it, where one listens, and in this process elsewhere.

The server is handed the command line, environment, directory and the three streams; signals are
passed on, and this process ends as the tool does, with its exit code or by its signal.

`python -I -S client.py MODULE ARGUMENT...` does the same for any module, as `python -m` would.

Imports nothing that is not built into Python, since that would take longer than all else here.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

ADDRESS = "GAWEE_SERVER"
"""The variable that names the socket; `off` for none."""
OFF = "off"
SERVED = ("opt", "translate", "run", "reduce")
"""Tools that are run by the server; the others run for long, or change what is installed."""


def gawee() -> int:
    """Run a tool by its name in front of its arguments, as the command `gawee` does."""
    words = sys.argv[1:]
    if words and words[0] in SERVED:
        return _run(f"gawee_dialect.tools.gawee_{words[0]}", words[1:])
    return _run_here("gawee_dialect.tools.gawee", words)


def opt() -> int:
    """Run gawee-opt."""
    return _run("gawee_dialect.tools.gawee_opt", sys.argv[1:])


def translate() -> int:
    """Run gawee-translate."""
    return _run("gawee_dialect.tools.gawee_translate", sys.argv[1:])


def run() -> int:
    """Run gawee-run."""
    return _run("gawee_dialect.tools.gawee_run", sys.argv[1:])


def reduce() -> int:
    """Run gawee-reduce."""
    return _run("gawee_dialect.tools.gawee_reduce", sys.argv[1:])


def _run(module: str, words: list[str]) -> int:
    if sys.platform == "linux":
        status = _status_of([module, *words], sys.path[0])
        if status is not None:
            _end(status)
    return _run_here(module, words)


def _run_here(module: str, words: list[str]) -> int:
    from importlib import import_module

    try:
        os.getcwd()  # xDSL imports nothing without
    except FileNotFoundError:
        sys.exit("error: the current directory was deleted")
    return import_module(module).main(words)


def default_address() -> str:
    """Return where the server of this Python and this copy of the package listens."""
    import binascii

    here = f"{sys.prefix}\0{__file__}".encode(errors="surrogateescape")
    folder = os.environb.get(b"XDG_RUNTIME_DIR", b"/tmp").decode(errors="surrogateescape")
    return f"{folder}/gawee-{os.getuid()}/{binascii.crc32(here):08x}"


def _address() -> str | None:
    """Return the address to ask at: one that is named, or one in a folder of this user's alone."""
    if b"_ARGCOMPLETE" in os.environb:  # a shell reads from another file than the three
        return None
    named = os.environb.get(ADDRESS.encode())
    if named is not None:
        text = named.decode(errors="surrogateescape")
        return None if text in ("", OFF) else text
    address = default_address()
    try:
        folder = os.stat(address.rpartition("/")[0])
    except OSError:
        return None
    is_mine = folder.st_uid == os.getuid() and not folder.st_mode & 0o077
    return address if is_mine else None


def _request(words: list[str], path: str) -> bytes:
    """Return what the server is to know: fields that end in a zero byte, as arguments do."""
    encoded = [
        word.encode(sys.getfilesystemencoding(), "surrogateescape") for word in (path, *words)
    ]
    variables = [
        name + b"=" + value for name, value in os.environb.items() if name != ADDRESS.encode()
    ]
    return b"\0".join([os.getcwdb(), b"%d" % len(encoded), *encoded, *variables])


def _status_of(words: list[str], path: str) -> int | None:
    """Return how the tool ended, as `wait` says it; None where no server could start it."""
    import _socket
    from array import array

    address = _address()
    if address is None:
        return None
    signals = _Signals()
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        if server.fileno() < 3:
            raise OSError("it has the number of a stream that is closed")
        streams = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", (0, 1, 2)))]
        server.connect(address)
        server.sendmsg([_request(words, path)], streams)
        process = int(server.recv(16) or 0)
    except OSError:  # a stream is closed, or what is sent is too long, too
        process = 0
    signals.go_to(process)
    if not process:
        return None
    # A pipe must end where the tool ends it.
    os.close(0)
    os.close(1)
    answer = server.recv(16)
    if not answer:
        tool = words[0].rpartition(".")[2].replace("_", "-")
        sys.exit(
            f"error: the server ended before {tool} did\n"
            f"hint: run it again; {ADDRESS}={OFF} runs it without a server"
        )
    return int(answer)


class _Signals:
    """Passes on what this process is told to the process of the tool, as soon as there is one.

    What it is told a second time before that, it does itself.
    """

    NUMBERS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")

    def __init__(self) -> None:
        self._process = 0
        self._pending: list[int] = []
        numbers = [getattr(signal, name) for name in self.NUMBERS]
        self._before = {number: signal.getsignal(number) for number in numbers}
        for number, handler in self._before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, self._pass_on)

    def go_to(self, process: int) -> None:
        """Have signals go to a process; 0 for this one, as before."""
        self._process = process
        if not process:
            for number, handler in self._before.items():
                signal.signal(number, handler)
        for number in self._pending:
            self._pass_on(number, None)

    def _pass_on(self, number: int, _: object) -> None:
        if not self._process and number not in self._pending:
            self._pending.append(number)
            return
        if not self._process:
            signal.signal(number, signal.SIG_DFL)
        try:
            os.kill(self._process or os.getpid(), number)
        except ProcessLookupError:  # it has just ended
            pass


def _end(status: int) -> None:
    """End this process as one ended that has this status."""
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _as_python_m(words: list[str]) -> None:
    """Run a module by the server, or as `python -m` does; ends the process."""
    status = _status_of(words, os.getcwd())
    if status is not None:
        _end(status)
    os.environb.pop(ADDRESS.encode(), None)
    os.execve(sys.executable, [sys.executable, "-m", *words], os.environb)


if __name__ == "__main__":
    _as_python_m(sys.argv[1:])
