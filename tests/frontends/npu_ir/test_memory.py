"""What extraction of a very large model takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[3]


def test_seventy_billion_parameters_take_less_than_two_gigabytes():
    pytest.importorskip("resource", reason="memory is measured by what Unix has")

    command = [sys.executable, "-m", "tests.frontends.npu_ir.llama"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    figures = json.loads(result.stdout)
    assert figures["parameters"] > 70e9
    assert figures["nodes"] > 1000
    assert figures["bytes"] < 2e9
