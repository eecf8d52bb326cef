"""gawee server: a process that has imported the tools, from which they start at once."""

import os
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.flag_values import positive_number
from gawee_dialect.tools.command_line import DONE, CommandParser
from gawee_dialect.tools.server.client import ADDRESS, OFF, SERVED, default_address
from gawee_dialect.tools.server.fork_server import IDLE_SECONDS, start


def server_parser() -> CommandParser:
    """Describe `gawee server`."""
    tools = ", ".join(f"gawee-{name}" for name in SERVED)
    parser = CommandParser(
        prog="gawee server",
        allow_abbrev=False,
        description="Start a process that has imported the tools, and return. It forks itself for "
        f"each run of {tools}, which then need no time for imports. It starts anew where a module "
        f"or an installed package changed. {ADDRESS} names its socket; {ADDRESS}={OFF} runs a tool "
        "without it. On Linux alone.",
    )
    parser.add_argument("--stop", action="store_true", help="end it, when what it runs has ended")
    parser.add_argument(
        "--idle",
        type=positive_number,
        default=IDLE_SECONDS,
        metavar="SECONDS",
        help=f"without a tool to run, it ends after so long (default: {IDLE_SECONDS})",
    )
    return parser


def run_server(argv: Sequence[str]) -> int:
    """Start or end the server of this user; returns the exit code. Raises GaweeError."""
    arguments = server_parser().parse_all(argv)
    if sys.platform != "linux":
        raise GaweeError(Diagnostic("the server forks and watches processes as Linux does"))
    address = server_address()
    if address is None:
        raise GaweeError(Diagnostic(f"{ADDRESS} says that there is to be no server"))
    listens = stop(address) if arguments.stop else is_listening(address)
    if arguments.stop:
        print(f"{address}: ends" if listens else f"{address}: no server listens")
    elif listens:
        print(f"{address}: a server listens already")
    else:
        _start(Path(address), arguments.idle)
        print(f"{address}: a server listens")
    return DONE


def server_address() -> str | None:
    """Return where the server of this user listens, or would; None where there is to be none."""
    named = os.environ.get(ADDRESS, default_address())
    return named if named not in ("", OFF) else None


def is_listening(address: str) -> bool:
    """Whether a server takes clients at an address."""
    with closing(_socket()) as client:
        return client.connect_ex(address) == 0


def stop(address: str) -> bool:
    """Have the server at an address end; return whether there was one."""
    with closing(_socket()) as client:
        if client.connect_ex(address):
            return False
        client.send(b"/\0001\0")  # a request without words
        return bool(client.recv(16))


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _start(address: Path, idle: float) -> None:
    try:
        address.parent.mkdir(mode=0o700, exist_ok=True)
        address.unlink(missing_ok=True)  # of a server that was killed
        start(str(address), os.environ, idle=idle)
    except OSError as error:
        hint = f"{ADDRESS} names another place"
        message = f"no server can listen at {address}: {error.strerror or error}"
        raise GaweeError(Diagnostic(message, hint=hint)) from error
