"""Engines that look at the machine alone, held to AVX2: a copy of each is told of fewer registers.

A program may use AVX-512 only where the system saves its registers, which the instruction `xgetbv`
tells. In a copy of a library each of them becomes two that tell what a system does which saves
AVX's alone. So MLAS, of which ONNX Runtime and OpenVINO have a copy each, takes its code for AVX2.
"""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from types import ModuleType

SELECT = bytes.fromhex("31c9")
"""`xor ecx, ecx`: it is the first control register that is asked for."""
ASK = SELECT + bytes.fromhex("0f01d0")
"""And `xgetbv`. Without what selects the register, other instructions have the same bytes."""
ANSWER = SELECT + bytes.fromhex("6a0758")
"""`push 7; pop rax`: the registers of x87, of SSE and of AVX."""

_copies: dict[str, TemporaryDirectory[str]] = {}
"""By package; they last as long as the process, as a part may be loaded late."""


def import_without_avx512(package: str, library: str) -> ModuleType:
    """Import a package from links to its files and a copy of its library, to a pattern of names.

    Later imports find the same. Raises ImportError where the package is not installed, RuntimeError
    where the library asks for the registers in no way that is known here, or was loaded before.
    """
    if package in _copies:
        return import_module(package)
    if package in sys.modules:
        raise RuntimeError(f"{package} was imported before it could be told less")
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"no module named '{package}'", name=package)
    origin, folder = Path(found.origin).parent, TemporaryDirectory(prefix=f"{package}-")
    copy = Path(folder.name) / package
    copytree(origin, copy, copy_function=os.symlink, ignore=ignore_patterns(library))
    asked = 0
    for file in origin.rglob(library):
        code = file.read_bytes()
        asked += code.count(ASK)
        (copy / file.relative_to(origin)).write_bytes(code.replace(ASK, ANSWER))
    if not asked:
        raise RuntimeError(f"nothing in '{library}' of {package} asks which registers there are")
    _copies[package] = folder
    sys.path.insert(0, folder.name)
    return import_module(package)
