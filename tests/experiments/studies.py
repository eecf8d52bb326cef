"""A small study that tests run."""

from pathlib import Path

from tests.tuning.networks import CONVOLUTION

STUDY = """\
rounds = 3
runs = 2
seconds = 0.05
patience = 0
retries = 0
evaluators = ["time", "validity", "code", "memory", "counters"]

[[network]]
name = "conv"
file = "conv.mlir"
weights = "random"

[[pipeline]]
name = "all passes"
[[pipeline]]
without = ["convert-to-winograd"]
[[pipeline]]
name = "no bufferize"
without = ["bufferize"]
"""


def write_study(folder: Path, text: str = STUDY) -> Path:
    """Write the study and its network; return the path of the study."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conv.mlir").write_text(CONVOLUTION)
    path = folder / "study.toml"
    path.write_text(text)
    return path
