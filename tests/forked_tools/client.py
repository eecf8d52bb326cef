"""Stands for a tool in a command line: `python -I -S client.py MODULE ARGUMENT...`.

Hands arguments, environment, directory and the three streams to the server, and ends as the tool
does: with its exit code, or by its signal. Without a server it becomes the tool: `python -m MODULE`.

Imports nothing that is not built into Python, since a run of lit starts it 850 times; hence the
modules with an underscore.
"""

import _signal
import _socket
import posix
import sys
from array import array

SERVER = b"GAWEE_TOOL_SERVER"


def request(words: list[str]) -> bytes:
    """Return what the server is to know: fields that end in a zero byte, as arguments do."""
    encoded = [word.encode(sys.getfilesystemencoding(), "surrogateescape") for word in words]
    variables = [name + b"=" + posix.environ[name] for name in posix.environ if name != SERVER]
    return b"\0".join([posix.getcwdb(), b"%d" % len(encoded), *encoded, *variables])


def status_of(words: list[str]) -> int | None:
    """Return how the tool ended, as `wait` says it; None where no server could start it."""
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    streams = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", (0, 1, 2)))]
    try:
        server.connect(posix.environ[SERVER])
        server.sendmsg([request(words)], streams)
    except (KeyError, OSError):
        return None
    # A pipe must end where the tool ends it.
    posix.close(0)
    posix.close(1)
    answer = server.recv(16)
    if not answer:
        sys.exit(f"error: the process that starts tools ended before {words[0]} did")
    return int(answer)


def main(words: list[str]) -> None:
    """Run a tool; ends the process."""
    status = status_of(words)
    if status is None:
        posix.environ.pop(SERVER, None)
        posix.execve(sys.executable, [sys.executable, "-m", *words], posix.environ)
    elif posix.WIFSIGNALED(status):
        _signal.signal(posix.WTERMSIG(status), _signal.SIG_DFL)
        posix.kill(posix.getpid(), posix.WTERMSIG(status))
    else:
        posix._exit(posix.WEXITSTATUS(status))


if __name__ == "__main__":
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    main(sys.argv[1:])
