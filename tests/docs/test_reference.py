"""The generated pages say what the sources say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_reference_pages_are_fresh() -> None:
    script = ROOT / "docs" / "generate_reference.py"

    result = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )

    assert result.stderr == ""
    assert result.returncode == 0
