"""A tool with wrong passes: what it does not know, mlir-opt does.

Each wrong pass changes text of the generic form; `crash` ends badly. A run is a process of its own
for each pass, so it imports nothing of ours.
"""

import os
import stat
import sys

WRONG = {
    "sum-for-product": ('"arith.muli"', '"arith.addi"'),
    "other-predicate": ("predicate = 2 : i64", "predicate = 4 : i64"),
    "shorter-loop": (
        '"arith.constant"() <{value = 7 : index}>',
        '"arith.constant"() <{value = 6 : index}>',
    ),
    "renamed": ('sym_name = "main"', 'sym_name = "other"'),
}


def as_program(folder: str | os.PathLike[str], mlir_opt: str) -> str:
    """Write a program that runs this file; returns its path."""
    path = os.path.join(folder, "wrong-opt")
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec {sys.executable} -I -S {__file__} {mlir_opt} "$@"\n')
    os.chmod(path, stat.S_IRWXU)
    return path


def main(mlir_opt: str, *flags: str) -> int:
    pipeline = next(each for each in flags if each.startswith("--pass-pipeline="))
    if "(crash)" in pipeline:
        sys.stderr.write("in.mlir:1:1: error: no such luck\n")
        return 3
    for name, (old, new) in WRONG.items():
        if f"({name})" in pipeline:
            sys.stdout.write(sys.stdin.read().replace(old, new))
            return 0
    os.execv(mlir_opt, [mlir_opt, *flags])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
