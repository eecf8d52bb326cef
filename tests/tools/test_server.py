"""A tool that the server forks behaves as one that is started alone."""

import json
import os
import pty
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee
from gawee_dialect.tools.server.client import ADDRESS
from gawee_dialect.tools.server.fork_server import CLIENT, MODULES, start, start_for_children

ROOT = Path(__file__).resolve().parents[2]

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
    words = start_for_children(environment, modules)
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
    return {name: value for name, value in environment.items() if name != ADDRESS}


def test_a_tool_sees_what_it_would_see_alone(
    forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    given = {**environment, "ODD": "a=b\nc ä", "EMPTY": ""}
    words = ["tells", "-o", "", "two words", "größe\n"]

    code, out, err = run([*forked, *words], given, tmp_path, "a line\nanother")

    plain = run([sys.executable, "-m", *words], alone(given), tmp_path, "a line\nanother")
    assert (code, err) == (plain[0], plain[2])
    assert json.loads(out) == json.loads(plain[1])


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_may_be_closed(
    closed: str, forked: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    def ended(words: list[str], variables: dict[str, str]) -> tuple[int, str, str]:
        command = f"{shlex.join([*words, 'returns'])} {closed}"
        return run(["bash", "-c", command], variables, tmp_path)

    assert ended(forked, environment) == ended([sys.executable, "-m"], alone(environment))


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
        given = {**environment, ADDRESS: address}
        code, out, _ = run([*forked, "tells"], given, tmp_path)
        assert code == 0
        assert ADDRESS not in json.loads(out)["variables"]


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
from gawee_dialect.tools.server import fork_server
environment = dict(os.environ)
words = fork_server.start_for_children(environment, ()).split()
print(environment[fork_server.ADDRESS], flush=True)
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


SERVED = [
    sys.executable,
    "-c",
    "import sys; from gawee_dialect.tools.server import client; sys.exit(client.gawee())",
]
GRAPH = """
func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Give an environment with the address of a server, and end that server."""
    package = tmp_path / "modules"
    package.mkdir()
    (package / "edited.py").write_text("SAID = 'before'")
    path = os.pathsep.join((str(ROOT), str(package)))
    environment = {**os.environ, "PYTHONPATH": path, ADDRESS: str(tmp_path / "socket")}
    yield environment
    run([*SERVED, "server", "--stop"], environment, tmp_path)


def test_gawee_server_starts_and_ends(served: dict[str, str], tmp_path: Path) -> None:
    address = served[ADDRESS]

    said = [run([*SERVED, "server", *flags], served, tmp_path) for flags in ((), (), ["--stop"])]

    assert said[0] == (0, f"{address}: a server listens\n", "")
    assert said[1] == (0, f"{address}: a server listens already\n", "")
    assert said[2] == (0, f"{address}: ends\n", "")
    wait_until(lambda: not Path(address).exists())
    assert run([*SERVED, "server", "--stop"], served, tmp_path)[1].endswith("no server listens\n")


def test_no_server_starts_where_there_is_to_be_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(ADDRESS, "off")
    assert gawee.main(["server"]) == 1
    assert capsys.readouterr().err == f"error: {ADDRESS} says that there is to be no server\n"

    monkeypatch.setenv(ADDRESS, "/no/such/folder/socket")
    assert gawee.main(["server"]) == 1
    assert capsys.readouterr().err.startswith(
        "error: no server can listen at /no/such/folder/socket: No such file or directory\nhint:"
    )

    monkeypatch.setattr(sys, "platform", "darwin")
    assert gawee.main(["server"]) == 1
    said = capsys.readouterr().err
    assert said == "error: the server forks and watches processes as Linux does\n"


def test_a_tool_gives_the_same_with_a_server(served: dict[str, str], tmp_path: Path) -> None:
    words = [*SERVED, "opt", "-", "--lower-to-linalg"]
    run([*SERVED, "server"], served, tmp_path)

    text = run(words, served, tmp_path, GRAPH)
    wrong = run(words, served, tmp_path, GRAPH.replace("relu", "rellu"))

    off = {**served, ADDRESS: "off"}
    assert text == run(words, off, tmp_path, GRAPH)
    assert text[0] == 0
    assert "linalg" in text[1]
    assert wrong == run(words, off, tmp_path, GRAPH.replace("relu", "rellu"))
    assert wrong[0] == 1


def test_a_tool_is_told_of_an_interruption(
    served: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    forever = """import time
try:
    print("ready", flush=True)
    time.sleep(300)
except KeyboardInterrupt:
    print("told")
"""
    (tmp_path / "modules" / "forever.py").write_text(forever)
    run([*SERVED, "server"], served, tmp_path)
    words = [sys.executable, "-I", "-S", str(CLIENT), "forever"]
    client = subprocess.Popen(
        words, env=served, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a script ignores
    )  # fmt: skip
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"

    client.send_signal(signal.SIGINT)

    assert client.communicate() == ("told\n", None)
    assert client.returncode == 0


def test_a_tool_says_that_its_server_ended(served: dict[str, str], tmp_path: Path) -> None:
    ends = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(300)"
    (tmp_path / "modules" / "ends_its_server.py").write_text(ends)
    run([*SERVED, "server"], served, tmp_path)

    done = run([sys.executable, "-I", "-S", str(CLIENT), "ends_its_server"], served, tmp_path)

    assert done[:2] == (1, "")
    error, hint = done[2].splitlines()
    assert error == "error: the server ended before ends-its-server did"
    assert hint.startswith("hint: run it again")


@pytest.mark.parametrize("named", ["", "off"], ids=["a server", "alone"])
def test_a_directory_that_was_deleted_is_an_error(
    served: dict[str, str], tmp_path: Path, named: str
) -> None:
    environment = {**served, ADDRESS: named or served[ADDRESS]}
    run([*SERVED, "server"], served, tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    delete = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    words = [*SERVED[:2], delete + SERVED[2], "opt", "--version"]

    done = run(words, environment, tmp_path)

    assert done == (1, "", "error: the current directory was deleted\n")


def test_what_was_imported_before_it_changed_runs_no_tool(
    served: dict[str, str], tmp_path: Path
) -> None:
    edited = tmp_path / "modules" / "edited.py"
    (tmp_path / "modules" / "says.py").write_text(
        "import edited, os; print(edited.SAID, os.getppid())"
    )
    start(served[ADDRESS], served, modules=("edited",))
    words = [sys.executable, "-I", "-S", str(CLIENT), "says"]
    before = run(words, served, tmp_path)[1].split()

    edited.write_text("SAID = 'afterwards'")

    alone = run(words, served, tmp_path)[1].split()
    again = run(words, served, tmp_path)[1].split()
    assert [before[0], alone[0], again[0]] == ["before", "afterwards", "afterwards"]
    assert len({before[1], alone[1], again[1]}) == 3
    assert alone[1] == str(os.getpid())


def test_a_package_that_is_installed_is_noticed(served: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "modules" / "tells_parent.py").write_text("import os; print(os.getppid())")
    start(served[ADDRESS], served, modules=())
    words = [sys.executable, "-I", "-S", str(CLIENT), "tells_parent"]
    assert run(words, served, tmp_path)[1] == run(words, served, tmp_path)[1] != f"{os.getpid()}\n"

    (tmp_path / "modules" / "plugin-1.0.dist-info").mkdir()

    assert run(words, served, tmp_path)[1] == f"{os.getpid()}\n"


def test_a_server_without_clients_ends(served: dict[str, str], tmp_path: Path) -> None:
    start(served[ADDRESS], served, idle=0.1, modules=())

    wait_until(lambda: not Path(served[ADDRESS]).exists())


def test_a_tool_has_the_limits_of_its_client(served: dict[str, str], tmp_path: Path) -> None:
    limits = """import os, resource
print(os.getpriority(os.PRIO_PROCESS, 0), os.umask(0), resource.getrlimit(resource.RLIMIT_NOFILE),
      os.sched_getaffinity(0))
"""
    (tmp_path / "modules" / "limits.py").write_text(limits)
    start(served[ADDRESS], served, modules=())

    def limited() -> None:
        os.nice(3)
        os.umask(0o27)
        resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    said = [
        subprocess.run(
            words, env=served, preexec_fn=limited, stdout=subprocess.PIPE, text=True
        ).stdout
        for words in (
            [sys.executable, "-I", "-S", str(CLIENT), "limits"], [sys.executable, "-m", "limits"],
        )
    ]  # fmt: skip

    assert said[0] == said[1] != ""
