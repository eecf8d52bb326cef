"""A tool that the server of lit's tests forks behaves as one that is started alone."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.forked_tools.server import MODULES, ROOT, VARIABLE, start

if sys.platform != "linux":
    pytest.skip("tools are forked on Linux alone", allow_module_level=True)

TELLS = """
import json, os, sys, threading
print(json.dumps({
    "words": sys.argv,
    "directory": os.getcwd(),
    "path": sys.path,
    "variables": dict(os.environ),
    "streams": [(s.fileno(), s.isatty(), s.line_buffering, s.encoding, s.errors, s.name,
                 s.write_through, s is t)
                for s, t in zip((sys.stdin, sys.stdout, sys.stderr),
                                (sys.__stdin__, sys.__stdout__, sys.__stderr__))],
    "name": __name__,
    "threads": threading.active_count(),
    "files": len(os.listdir("/proc/self/fd")),
    "input": sys.stdin.read(),
}), end="")
print("to the other stream", end="", file=sys.stderr)
"""

ENDS = {
    "returns": "print('all')",
    "exits": "import sys; print('before'); sys.exit(3)",
    "says why": "import sys; sys.exit('no such thing')",
    "raises": "raise ValueError('a mistake')",
    "is killed": "import os, signal; print('a', flush=True); os.kill(os.getpid(), signal.SIGTERM)",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "is interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "registers": "import atexit; atexit.register(print, 'at the end')",
    "has a thread": "import threading; threading.Timer(0.1, print, ['late']).start()",
    "cannot write": "print('x' * 100)\nimport os; os.close(1)",
    "leaves at once": "import os; print('lost'); os._exit(4)",
}

Command = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with programs, which Python finds."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "tells.py").write_text(TELLS)
    for name, text in ENDS.items():
        (folder / f"{name.replace(' ', '_')}.py").write_text(text)
    return folder


@pytest.fixture(scope="module", params=["", "1"], ids=["buffered", "unbuffered"])
def environment(folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    path = os.pathsep.join((str(ROOT), str(folder)))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": request.param}


@pytest.fixture(scope="module")
def forked(environment: dict[str, str]) -> list[str]:
    """Return the words that start a tool by a server; its address is in the environment."""
    modules = () if environment["PYTHONUNBUFFERED"] else MODULES
    words = start(environment, modules)
    assert words is not None
    return words.split()


def run(
    words: Sequence[str], environment: dict[str, str], folder: Path, text: str = ""
) -> tuple[int, str, str]:
    done = subprocess.run(
        words, env=environment, cwd=folder, input=text, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def alone(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != VARIABLE}


def test_a_tool_sees_what_it_would_see_alone(
    forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    given = {**environment, "ODD": "a=b\nc ä", "EMPTY": ""}
    words = ["tells", "-o", "", "two words", "größe\n"]

    code, out, err = run([*forked, *words], given, tmp_path, "a line\nanother")

    plain = run([sys.executable, "-m", *words], alone(given), tmp_path, "a line\nanother")
    assert (code, err) == (plain[0], plain[2])
    assert json.loads(out) == json.loads(plain[1])


def test_streams_may_be_a_terminal(
    forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    def streams(words: list[str], variables: dict[str, str]) -> object:
        terminal, other = pty.openpty()
        done = subprocess.run(
            words, env=variables, cwd=tmp_path, stdin=other, stdout=subprocess.PIPE, stderr=other,
            text=True, input=None, preexec_fn=lambda: os.write(terminal, b"\x04"),
        )  # fmt: skip
        os.close(other)
        os.close(terminal)
        return json.loads(done.stdout)["streams"]

    found = streams([*forked, "tells"], environment)

    assert found == streams([sys.executable, "-m", "tells"], alone(environment))


@pytest.mark.parametrize("name", ENDS)
def test_a_tool_ends_as_it_would_alone(
    name: str, forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    module = name.replace(" ", "_")

    code, out, err = run([*forked, module], environment, tmp_path)

    plain = run([sys.executable, "-m", module], alone(environment), tmp_path)
    assert (code, out) == plain[:2]
    # A traceback has the server's frames too.
    assert err.splitlines()[-1:] == plain[2].splitlines()[-1:]


def test_python_is_started_anew_for_variables_that_it_reads_when_it_starts(
    forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    given = {**environment, "PYTHONIOENCODING": "ascii:replace"}

    _, out, _ = run([*forked, "tells"], given, tmp_path)

    assert json.loads(out)["streams"][1][3:5] == ["ascii", "replace"]


def test_a_tool_starts_alone_where_there_is_no_server(
    forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    for address in ("/no/such/socket", ""):
        given = {**environment, VARIABLE: address}
        code, out, _ = run([*forked, "tells"], given, tmp_path)
        assert code == 0
        assert VARIABLE not in json.loads(out)["variables"]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to that in 30 s")


SLEEPS = "import os, time; print(os.getpid(), flush=True); time.sleep(300)"


def test_a_tool_whose_client_is_killed_is_killed(
    forked: list[str], environment: dict[str, str], folder: Path
) -> None:
    (folder / "sleeps.py").write_text(SLEEPS)
    client = subprocess.Popen(
        [*forked, "sleeps"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert client.stdout is not None
    tool = int(client.stdout.readline())
    assert is_running(tool)

    client.kill()
    client.communicate()

    wait_until(lambda: not is_running(tool))


OWNER = """
import os, subprocess, sys
from tests.forked_tools import server
environment = dict(os.environ)
words = server.start(environment, ()).split()
print(environment[server.VARIABLE], flush=True)
subprocess.Popen([*words, "sleeps"], env=environment)
sys.stdin.read()
"""


def test_nothing_runs_on_when_the_owner_is_killed(
    environment: dict[str, str], folder: Path
) -> None:
    (folder / "sleeps.py").write_text(SLEEPS)
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        env=alone(environment), cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert owner.stdout is not None
    address, tool = (owner.stdout.readline().strip() for _ in range(2))
    assert is_running(int(tool))
    assert Path(address).exists()

    owner.send_signal(signal.SIGKILL)
    owner.wait()

    wait_until(lambda: not is_running(int(tool)) and not Path(address).parent.exists())
    owner.communicate()
