"""lit's configuration: `lit tests/filecheck` from the root of the repository."""

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import lit.formats
from lit.TestingConfig import TestingConfig

config: TestingConfig = config  # noqa: F821  (lit defines it before it runs this file)

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
config.substitutions += [
    (
        r"\bROUNDTRIP\b",
        "gawee-opt %s --split-input-file --verify-roundtrip | filecheck %s",
    ),
    # lit takes no group references in a replacement, so a line for each tool.
    *(
        (rf"\bgawee-{tool}\b", f"{PYTHON} -m gawee_dialect.tools.gawee_{tool}")
        for tool in ("opt", "translate", "run", "reduce", "tune")
    ),
]


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
