"""Runs a tool where it is imported, so that tools which are forked later share what a first run does.

It looks for plugins, reads formats of ops, and imports the passes of a pipeline: half of a small test.
"""

from pathlib import Path

from gawee_dialect.tools import gawee_opt

FILECHECK = Path(__file__).resolve().parents[1] / "filecheck"

for name, flag in (("pipelines/gawee_to_llvm", "gawee-to-llvm"), ("dialect/pool", "canonicalize")):
    gawee_opt.run([str(FILECHECK / f"{name}.mlir"), f"--{flag}", "--output=/dev/null"])
