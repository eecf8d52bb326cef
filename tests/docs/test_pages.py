"""The README and the tutorial, done as a reader does them: files written, commands run.

A fenced block with a title is a file; one of Python without a title is run. In a `console` block, a line `$ ...` is a command, and what
follows is its output, where `...` stands for any text and runs of blanks count as one. A block of Python that imports an optional
package is a test of its own, skipped where the package is not installed.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gawee_dialect.tools.server.client import ADDRESS
from gawee_dialect.tools.server.fork_server import CLIENT, MODULES, start_for_children
from tests.effort import FULL, full_run

ROOT = Path(__file__).parent.parent.parent
TORCHVISION = ROOT / "docs" / "tutorial" / "torchvision.md"
"""A page all of which needs PyTorch and torchvision."""

PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "c_abi.md",
    ROOT / "docs" / "coming_from.md",
    ROOT / "docs" / "experiments.md",
    ROOT / "docs" / "failures.md",
    ROOT / "docs" / "fuzzing.md",
    ROOT / "docs" / "ir_of_each_pass.md",
    ROOT / "docs" / "kernels.md",
    ROOT / "docs" / "loaded_files.md",
    ROOT / "docs" / "measuring.md",
    ROOT / "docs" / "operator_descriptions.md",
    ROOT / "docs" / "quantization.md",
    ROOT / "docs" / "schedule_library.md",
    ROOT / "docs" / "index_notation.md",
    ROOT / "docs" / "weights.md",
    ROOT / "docs" / "workbench.md",
    ROOT / "docs" / "xoc.md",
    *sorted(set((ROOT / "docs" / "tutorial").glob("*.md")) - {TORCHVISION}),
]
QUICK = ("README", "first_pass", "torch_mlir", "weights", "workbench")
"""Pages of the quick run; the others take half a minute each with all their tools' starts."""
TOOLS = ("opt", "translate", "run", "reduce", "experiment", "fuzz", "quantize")
IMPORTED = (
    *MODULES,
    "gawee_dialect.scheduling",
    *(("gawee_dialect.pytorch", "torch._dynamo") if FULL and find_spec("torch") else ()),
)
"""What tools and blocks of pages import; most blocks that need PyTorch are for the full run."""
NOT_RUN = ("sh", "text", "c")
"""Blocks that make the virtual environment, which the tests run in already; those that only show."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
OPTIONAL = re.compile(r"^import (torch_mlir|torchvision|torch|onnx)\b", re.MULTILINE)
"""What a block of Python starts with that needs more than the README's two commands install."""
RUNNING_PYTORCH = ROOT / "docs" / "running_pytorch.md"
"""A page of which only the blocks that import PyTorch are complete."""
ON_OPTIONAL = [
    pytest.param(text, needed[1], id=f"{page.stem}-{needed[1]}")
    for page in (*PAGES, RUNNING_PYTORCH)
    for _, title, text in BLOCK.findall(page.read_text())
    if not title and (needed := OPTIONAL.search(text)) is not None
]


def steps(console: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block with the output that follows each."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def flat(text: str) -> str:
    return " ".join(text.split())


def output_pattern(expected: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(flat(part)) for part in expected.split("...")))


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which one process starts the tools .

    `pip install` of a page goes to a folder of its own.
    """
    installed = str(tmp_path_factory.mktemp("installed"))
    path = os.pathsep.join((str(ROOT), installed))
    environment = {**os.environ, "PIP_TARGET": installed, "PYTHONPATH": path}
    start_for_children(environment, IMPORTED)
    return environment


@pytest.fixture
def environment(
    request: pytest.FixtureRequest, tmp_path: Path, forked: dict[str, str]
) -> Iterator[dict[str, str]]:
    """Give an environment whose tools are those of this tree.

    In the full run the README's start by themselves, as a reader's do.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        tool = folder / f"gawee-{name}"
        run = shlex.join([sys.executable, "-I", "-S", str(CLIENT)])
        tool.write_text(f'#!/bin/sh\nexec {run} gawee_dialect.tools.gawee_{name} "$@"\n')
        tool.chmod(0o755)
    folders = (str(folder), str(Path(sys.executable).parent), os.environ["PATH"])
    environment = {
        **forked,
        "PATH": os.pathsep.join(folders),
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this one backwards
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    if FULL and "README" in request.node.name:
        environment.pop(ADDRESS, None)
    yield environment
    shutil.rmtree(environment["PIP_TARGET"], ignore_errors=True)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page.stem in QUICK else full_run) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_page_does_what_it_says(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    read(page.read_text(), tmp_path, environment)


@pytest.mark.parametrize(("text", "package"), ON_OPTIONAL)
def test_block_on_an_optional_package_runs(
    text: str, package: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    pytest.importorskip(package)
    folder = tmp_path / "reader"
    folder.mkdir()

    run_python(text, folder, environment)


def test_torchvision_model_becomes_a_c_program(tmp_path: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("torch")
    if find_spec("torchvision") is None:
        pytest.skip("could not import 'torchvision'")
    # Where its library does not fit this PyTorch, the ops that it asks for are declared first.
    first = 'from benchmarks.zoo.libraries import import_library\nimport_library("torchvision")\n'

    read(TORCHVISION.read_text(), tmp_path, environment, before_optional=first)


def run_python(text: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a block of Python in a folder, by a process that is forked as those of tools are."""
    path = folder.with_name("block.py")
    path.write_text(text)
    command = [sys.executable, "-I", "-S", CLIENT, "tests.docs.python_block", path]
    subprocess.run(command, cwd=folder, env=environment, check=True)


def read(
    page: str, tmp_path: Path, environment: dict[str, str], before_optional: str | None = None
) -> None:
    """Write the files of a page and run its commands, in order.

    Blocks on optional packages run only where a text is given to be put before them.
    """
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    for language, title, text in BLOCK.findall(page):
        if title:
            # Other tests run beside it: the machine never gets quiet.
            (folder / title).write_text(
                text.replace("patience = 1\n", "patience = 0\nretries = 0\n")
            )
            continue
        optional = OPTIONAL.search(text) is not None
        if language in NOT_RUN or (optional and before_optional is None):
            continue
        if optional:
            text = f"{before_optional}{text}"
        if language == "python":
            run_python(text, folder, environment)
            continue
        assert language == "console", f"a block of {language} is neither a file nor a command"
        for command, expected in steps(text):
            result = subprocess.run(
                command,
                shell=True,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert output_pattern(expected).fullmatch(flat(result.stdout)), (
                f"$ {command}\nexpected:\n{expected}\ngot:\n{result.stdout}"
            )
