"""A tool with wrong passes: what it does not know, mlir-opt does.

Each wrong pass changes text of the generic form; `crash` ends badly.
"""

import stat
import subprocess
import sys
from pathlib import Path

from gawee_dialect.instruments.tool.pipeline import find_tool, pass_of

WRONG = {
    "sum-for-product": ('"arith.muli"', '"arith.addi"'),
    "other-predicate": ("predicate = 2 : i64", "predicate = 4 : i64"),
    "shorter-loop": (
        '"arith.constant"() <{value = 7 : index}>',
        '"arith.constant"() <{value = 6 : index}>',
    ),
    "renamed": ('sym_name = "main"', 'sym_name = "other"'),
}


def as_program(folder: Path) -> str:
    """Write a program that runs this file; returns its path."""
    path, root = folder / "wrong-opt", Path(__file__).parents[3]
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec {sys.executable} {__file__} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def main() -> int:
    flags = {each.partition("=")[0]: each.partition("=")[2] for each in sys.argv[1:]}
    pipeline, text = flags["--pass-pipeline"], sys.stdin.read()
    name = pass_of(pipeline)
    if name == "crash":
        sys.stderr.write("in.mlir:1:1: error: no such luck\n")
        return 3
    if name not in WRONG:
        command = [find_tool("mlir-opt"), *sys.argv[1:]]
        return subprocess.run(command, input=text, text=True, check=False).returncode
    old, new = WRONG[name]
    sys.stdout.write(text.replace(old, new))
    return 0


if __name__ == "__main__":
    sys.exit(main())
