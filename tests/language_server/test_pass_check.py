"""What a check of a pass says where the pass ends the process, or does not end."""

import asyncio
from pathlib import Path

import pytest

from gawee_dialect.language_server import document as pass_check
from gawee_dialect.language_server.document import PassInFile, check_pass, passes_beside

MODULE = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}\n"
PASS = """\
import os
from dataclasses import dataclass
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Odd(ModulePass):
    name = "odd"

    def apply(self, ctx, op):
        {body}
"""


def test_a_pass_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_check, "TIMEOUT", 3.0)
    path = tmp_path / "odd.py"
    path.write_text(PASS.format(body="while True: pass"))

    (error,) = asyncio.run(check_pass(path, "odd", MODULE))

    assert error.message == "pass 'odd' did not end within 3 s"


def test_a_pass_that_ends_the_process_is_told_by_its_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text(PASS.format(body="os._exit(3)"))

    (error,) = asyncio.run(check_pass(path, "odd", MODULE))

    assert error.message == "gawee-opt ended with exit code 3"


def test_passes_are_found_without_running_their_files(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("raise SystemExit\n" + PASS.format(body="pass"))
    (tmp_path / "broken.py").write_text("class Broken(ModulePass:\n")
    (tmp_path / "other.py").write_text('class Other:\n    name = "no pass"\n')

    assert list(passes_beside(tmp_path, ())) == [PassInFile("odd", tmp_path / "odd.py")]
