"""The Makefile explains itself."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_help_lists_every_target() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None

    result = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)

    listed = re.findall(r"^  ([a-z-]+) +[A-Z]", result.stdout, re.MULTILINE)
    assert sorted(listed) == sorted(phony[1].split())
