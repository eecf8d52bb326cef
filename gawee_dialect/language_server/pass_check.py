"""A pass of a Python file, found without running the file, and run on a module elsewhere."""

import ast
import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic

TIMEOUT = 60.0
"""Seconds that a check may take: a pass may not end."""

LARGEST = 1 << 20
"""Bytes of a file that is looked through for passes."""

ERROR = re.compile(r"^(?:(.+:\d+:\d+): )?(?:internal )?error: (.*)$")

STDIN = "<stdin>"
"""How gawee-opt calls the module."""


@dataclass(frozen=True)
class PassInFile:
    """A pass that a file defines, by its name."""

    name: str
    path: Path


def passes_beside(folder: Path, loaded: Sequence[Path]) -> Iterator[PassInFile]:
    """Yield the passes of the files in a folder, and of files that were loaded; runs none."""
    for path in dict.fromkeys((*loaded, *sorted(folder.glob("*.py")))):
        yield from passes_of(path)


def passes_of(path: Path) -> Iterator[PassInFile]:
    """Yield the passes that a file defines, as far as its syntax shows."""
    try:
        text = path.read_text() if path.stat().st_size <= LARGEST else ""
        tree = ast.parse(text) if "Pass" in text else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return
    for kind in tree.body:
        if isinstance(kind, ast.ClassDef) and any(map(_is_pass, kind.bases)):
            yield from (PassInFile(name, path) for name in _name_of(kind))


def _is_pass(base: ast.expr) -> bool:
    return ast.unparse(base).endswith("Pass")


def _name_of(kind: ast.ClassDef) -> Iterator[str]:
    for node in kind.body:
        if isinstance(node, ast.Assign) and [*map(ast.unparse, node.targets)] == ["name"]:
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value.value


async def check_pass(path: Path, name: str, text: str) -> Sequence[Diagnostic]:
    """Run a pass on a module and compare what both compute; returns what is wrong.

    What is wrong with the module is at `<stdin>`, what is wrong with the file at its path.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gawee_dialect.tools.gawee_opt", "-", "--load", str(path)),
        *(f"--{name}", "--check-each", "--reproducer-dir=", "-o", os.devnull),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(text.encode()), TIMEOUT)
    except TimeoutError:
        process.kill()
        await process.wait()
        return [Diagnostic(f"pass '{name}' did not end within {TIMEOUT:.0f} s")]
    if process.returncode == 0:
        return []
    return list(errors_in(said.decode(errors="replace"))) or [
        Diagnostic(f"gawee-opt ended with exit code {process.returncode}")
    ]


def errors_in(text: str) -> Iterator[Diagnostic]:
    """Yield the errors that a tool printed; lines after the first belong to the message."""
    found: Diagnostic | None = None
    for line in text.splitlines():
        match = ERROR.match(line)
        if match is not None:
            if found is not None:
                yield found
            found = Diagnostic(match[2], match[1])
        elif found is not None:
            found = Diagnostic(f"{found.message}\n{line.strip()}", found.place)
    if found is not None:
        yield found
