"""Files are whole or not there: whatever writes, whatever stops it, whatever was there before."""

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gawee_dialect import whole_file as module
from gawee_dialect.whole_file import WriteError, check_writable, whole_file, write_file

ROOT = Path(__file__).parents[1]
GRAPH = ROOT / "examples" / "digits" / "graph.json"


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.txt", "old")

    with whole_file(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"

    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.txt", "old")

    def stopped() -> None:
        with whole_file(path) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_is_kept_and_a_link_goes_on_leading_there(tmp_path: Path) -> None:
    path, link = tmp_path / "a.sh", tmp_path / "link"
    path.touch(0o750)
    link.symlink_to(path)

    write_file(link, b"#!/bin/sh\n")

    assert link.is_symlink()
    assert path.read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def test_a_link_in_a_circle_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)

    for write in (check_writable, lambda path: write_file(path, b"")):
        with pytest.raises(WriteError, match="Too many levels of symbolic links"):
            write(link)


def test_a_pipe_keeps_being_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    check_writable(pipe)
    write_file(pipe, "text")

    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_graph_with_its_weights_goes_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "graph.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    tool("gawee_translate", str(GRAPH), "--to", "gawee-json", "-o", str(pipe), code=0)

    assert os.read(reader, 1) == b"{"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_folder_that_a_killed_writer_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from gawee_dialect.whole_file import whole_file\n"
        "with whole_file(Path(sys.argv[1])) as draft:\n"
        "    draft.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "a.txt"
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGKILL
    old, new = tmp_path.iterdir()
    long_ago = time.time() - module.ABANDONED - 60
    os.utime(old, (long_ago, long_ago))

    write_file(path, "whole")

    assert path.read_text() == "whole"
    assert set(tmp_path.iterdir()) == {path, new}


@pytest.mark.parametrize(
    ("target", "reason"),
    [(".", "Is a directory"), ("none/a.txt", "No such file"), ("file/a.txt", "Not a directory")],
)
def test_what_cannot_be_written_is_known_before_and_named_as_the_user_names_it(
    target: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    for attempt in (check_writable, lambda path: write_file(path, "text")):
        with pytest.raises(WriteError, match=reason) as raised:
            attempt(tmp_path / target)
        assert raised.value.filename == str(tmp_path / target)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def tool(
    name: str, *arguments: str, code: int = 1, bytes_a_file: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a tool, which may write so many bytes into a file: a disk that is full, so to speak."""

    def limit() -> None:
        if bytes_a_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_a_file, bytes_a_file))

    command = [sys.executable, "-m", f"gawee_dialect.tools.{name}", *arguments]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("gawee_translate", ["-o"]),
        ("gawee_translate", ["--to", "gawee-json", "-o"]),
        ("gawee_run", ["--level", "gawee", "--output"]),
        ("gawee_run", ["--level", "gawee", "--json"]),
    ],
)
def test_a_full_disk_is_one_line_and_no_file(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    target = tmp_path / "out"

    done = tool(name, str(GRAPH), *arguments, str(target), bytes_a_file=16)

    assert done.stderr.splitlines()[-1].startswith("error: cannot write '")
    assert "Traceback" not in done.stderr
    assert "'None'" not in done.stderr
    assert module.SUFFIX not in done.stderr
    assert not [path for path in tmp_path.rglob("*") if not path.is_dir()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("name", ["gawee_translate", "gawee_run"])
def test_standard_output_that_is_full_is_an_error(name: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", f"gawee_dialect.tools.{name}", str(GRAPH)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == "error: cannot write standard output: No space left on device\n"


def test_a_reader_that_has_all_it_wants_is_no_error() -> None:
    command = f"{sys.executable} -m gawee_dialect.tools.gawee_run {GRAPH} --level gawee --cost"

    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -n 1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
