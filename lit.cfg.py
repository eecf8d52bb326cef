"""lit's configuration: `lit tests/filecheck` from the root of the repository."""

import os
import sys
from pathlib import Path

import lit.formats
from lit.TestingConfig import TestingConfig

config: TestingConfig = config  # noqa: F821  (lit defines it before it runs this file)

ROOT = Path(__file__).parent
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
        "gawee-opt %s --split-input-file | gawee-opt --split-input-file | filecheck %s && "
        "gawee-opt %s --split-input-file --mlir-print-op-generic | "
        "gawee-opt --split-input-file | filecheck %s",
    ),
    (r"\bgawee-(opt|translate|run)\b", rf"{PYTHON} -m gawee_dialect.tools.gawee_\1"),
]
