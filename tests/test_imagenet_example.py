"""The example with trained ImageNet weights: its files, its photos, and its network."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.example_files import imported_files

FOLDER = Path(__file__).parent.parent / "examples" / "imagenet"
WEIGHTS = FOLDER.parent.parent / "build" / "imagenet" / "mobilenet_v2-b0353104.pth"


def test_there_is_a_name_for_each_of_the_thousand_classes() -> None:
    names = (FOLDER / "classes.txt").read_text(encoding="utf-8").splitlines()

    assert len(names) == 1000
    assert all(names)
    # Places that everything that classifies ImageNet agrees on.
    assert (names[0], names[281], names[504], names[967]) == (
        *("tench", "tabby", "coffee mug", "espresso"),
    )


def test_the_network_has_the_size_that_its_paper_says() -> None:
    torch = pytest.importorskip("torch")
    with imported_files(FOLDER, ["mobilenet"]) as modules:
        network = modules["mobilenet"].MobileNetV2()

    # "3.4M parameters" in the paper, which rounds; 300 million multiply-adds.
    assert sum(each.numel() for each in network.parameters()) == 3_504_872
    with torch.inference_mode():
        assert network.eval()(torch.zeros(1, 3, 64, 64)).shape == (1, 1000)


def test_photos_are_named_correctly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for needed in ("torch", "skimage", "PIL"):
        pytest.importorskip(needed)
    if not WEIGHTS.exists() and not _download():
        pytest.skip("the weights are not here, and cannot be downloaded")

    monkeypatch.setattr(sys, "argv", ["run.py"])
    with imported_files(FOLDER, ("mobilenet", "run")) as modules:
        modules["run"].main()

    printed = capsys.readouterr().out
    assert "Egyptian cat" in printed
    differences = [float(line.split()[-1]) for line in printed.splitlines() if "PyTorch" in line]
    assert len(differences) == 3
    # Scores reach from about -10 to 20; 52 layers are exact to 1e-6 of their range each.
    assert max(differences) < 1e-3


def _download() -> bool:
    """Fetch the weights as the example does; return whether that worked."""
    code = "import run; run.weights_file()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER, capture_output=True, check=False
    )
    return done.returncode == 0
