"""The commands of the gallery, run as its readers do, in a folder of their own."""

import importlib.util
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from gawee_dialect.tools import (
    gawee_experiment,
    gawee_opt,
    gawee_reduce,
    gawee_run,
    gawee_translate,
)

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "docs/draw_gallery.py"
TOOLS = {
    "gawee-experiment": gawee_experiment,
    "gawee-opt": gawee_opt,
    "gawee-reduce": gawee_reduce,
    "gawee-run": gawee_run,
    "gawee-translate": gawee_translate,
}


def commands(folder: Path) -> dict[str, list[str]]:
    """Write the files of the gallery to a folder; return the commands of each picture."""
    spec = importlib.util.spec_from_file_location("draw_gallery", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (folder / "build").mkdir()
    return dict(module.reports(folder))


def run_commands(name: str, folder: Path) -> tuple[list[int], Path]:
    """Run the commands of a picture in an empty folder; return their exit codes, and the report."""
    for each in ("examples", "tests", "gawee_dialect"):
        (folder / each).symlink_to(ROOT / each)
    listed = commands(folder)[name]
    for study in (folder / "build").glob("*.toml"):
        # Other tests run beside it: these times are not used. A cell takes two seconds.
        shorter = study.read_text().replace("patience = 1", "patience = 0\nretries = 0")
        head, network, _, *pipelines = re.split(r"(?=^\[\[)", shorter, flags=re.MULTILINE)
        study.write_text("".join((head, network, *pipelines[:2])))
    with chdir(folder):
        codes = [run(command) for command in listed]
    return codes, folder / f"build/{name}.html"


def run(command: str) -> int:
    """Run a command, a tool by its function; return the exit code."""
    program, *words = shlex.split(command)
    if program == "python":
        return subprocess.run([sys.executable, *words], check=False).returncode
    return TOOLS[program].main(words)
