"""lit's configuration: `lit tests/filecheck` from the root of the repository."""

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import lit.formats
from lit.LitConfig import LitConfig
from lit.TestingConfig import TestingConfig

# lit defines them before it runs this file.
config: TestingConfig = config  # noqa: F821
lit_config: LitConfig = lit_config  # noqa: F821

ROOT = Path(__file__).resolve().parent  # tests change the directory
PYTHON = sys.executable

config.name = "gawee"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".json", ".py"]
config.excludes = ["inputs"]
config.test_source_root = str(ROOT)
config.test_exec_root = str(ROOT / ".lit")
config.recursiveExpansionLimit = 3
config.environment["PYTHONPATH"] = str(ROOT)
config.environment["PATH"] = os.pathsep.join((str(Path(PYTHON).parent), os.environ["PATH"]))


def mlir_tools() -> Path | None:
    """Return the folder of upstream's mlir-opt: from PATH, or from the package on PyPI."""
    found = shutil.which("mlir-opt")
    if found is not None:
        return Path(found).parent
    folder = Path(sysconfig.get_path("purelib")) / "mlir" / "bin"
    return folder if (folder / "mlir-opt").exists() else None


# A test of an optional oracle says `REQUIRES: mlir-opt`; lit counts it as unsupported elsewhere.
MLIR_TOOLS = mlir_tools()
if MLIR_TOOLS is not None:
    config.available_features.add("mlir-opt")
    config.environment["PATH"] += f"{os.pathsep}{MLIR_TOOLS}"
if find_spec("pycparser") is not None:
    config.available_features.add("pycparser")
if find_spec("torch") is not None:
    config.available_features.add("torch")

# Each test starts a few tools, and each tool imports half a second of modules; so one process
# does that once, and tools are forked from it. `lit -D fork-tools=no` starts each alone.
START = f"{PYTHON} -m"
if lit_config.params.get("fork-tools", "yes") == "yes":
    sys.path.insert(0, str(ROOT))
    from gawee_dialect.tools.server.fork_server import FIRST_RUN, MODULES, start_for_children

    START = start_for_children(config.environment, (*MODULES, FIRST_RUN, "filecheck.main")) or START

config.substitutions += [
    (
        r"\bROUNDTRIP\b",
        "gawee-opt %s --split-input-file --verify-roundtrip | filecheck %s",
    ),
    # lit takes no group references in a replacement, so a line for each tool.
    *(
        (rf"\bgawee-{tool}\b", f"{START} gawee_dialect.tools.gawee_{tool}")
        for tool in ("opt", "translate", "run", "reduce", "tune")
    ),
    # Not in paths, and not in what this makes of it.
    (r"(?<![\w/.-])filecheck(?![\w/.-])", f"{START} filecheck.__main__"),
]
