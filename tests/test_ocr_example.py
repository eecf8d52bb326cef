"""The example that reads a page: what it does around the networks, and what it reads."""

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.example_files import imported_files

FOLDER = Path(__file__).parent.parent / "examples" / "ocr"
MODELS = FOLDER.parent.parent / "build" / "ocr"

PAGE = """Region-based segmentation
Let us first determine markers of the coins and the
background. These markers are pixels that we can label
unambiguously as either object or background. Here,
the markers are found at the two extreme parts of the
histogram of grey values:
>>> markers = np.zeros_like(coins)"""
"""What a person reads on the page."""


@pytest.fixture(scope="module")
def example() -> Iterator[dict[str, ModuleType]]:
    """Import the files of the example that need no models, which import each other by name."""
    for needed in ("skimage", "scipy"):
        pytest.importorskip(needed)
    with imported_files(FOLDER, ("detection", "recognition")) as modules:
        yield modules


def probabilities_of(corners: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return 0.9 inside of a convex polygon, its corners clockwise, and 0.01 outside."""
    rows, columns = np.mgrid[:height, :width]
    inside = np.ones((height, width), bool)
    for (x, y), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inside &= (x2 - x) * (rows - y) - (y2 - y) * (columns - x) >= 0
    return np.where(inside, 0.9, 0.01).astype(np.float32)[None, None]


def test_a_slanted_line_gets_a_box_with_its_corners(example: dict[str, ModuleType]) -> None:
    detection = example["detection"]
    cos, sin = np.cos(0.2), np.sin(0.2)
    along, down = np.array((cos, sin)), np.array((-sin, cos))
    corner, width, height = np.array((40.0, 25.0)), 90.0, 14.0
    steps = np.array(((0, 0), (width, 0), (width, height), (0, height)))
    corners = corner + steps @ np.stack((along, down))

    (box,) = detection.text_boxes(probabilities_of(corners, 80, 160), 240, 320)

    # Every side moves out by the area times 1.6 over the circumference, then the page is scaled.
    distance = width * height * 1.6 / (2 * (width + height))
    outwards = np.array((-along - down, along - down, along + down, -along + down))
    expected = corners + distance * outwards
    # What is likely is made a pixel larger, and its border is stairs.
    assert box / (2, 3) == pytest.approx(expected, abs=2.5)


def test_what_is_hardly_likely_has_no_box(example: dict[str, ModuleType]) -> None:
    corners = np.array(((10, 10), (60, 10), (60, 30), (10, 30)))
    likely = probabilities_of(corners, 40, 70) * np.float32(0.5)

    assert example["detection"].text_boxes(likely, 40, 70) == []


def test_boxes_are_in_the_order_in_which_one_reads(example: dict[str, ModuleType]) -> None:
    def at(x: float, y: float) -> np.ndarray:
        return np.array(((x, y), (x + 30, y), (x + 30, y + 10), (x, y + 10)))

    boxes = [at(50, 42), at(5, 12), at(90, 10), at(5, 40), at(45, 14)]

    ordered = example["detection"].reading_order(boxes)

    places = [tuple(box[0]) for box in ordered]
    assert places == [(5, 12), (45, 14), (90, 10), (5, 40), (50, 42)]


def test_what_is_cut_out_is_straight(example: dict[str, ModuleType]) -> None:
    page = np.zeros((50, 60, 3), np.float32)
    page[20:26, 10:40] = np.linspace(0.1, 1, 30)[:, None]
    box = np.array(((10.0, 20.0), (40.0, 20.0), (40.0, 26.0), (10.0, 26.0)))

    lying = example["detection"].cut_out(page, box)
    standing = example["detection"].cut_out(
        np.ascontiguousarray(page.transpose(1, 0, 2)), box[[0, 3, 2, 1]][:, ::-1]
    )

    assert lying == pytest.approx(page[20:26, 10:40], abs=1e-6)
    assert standing.shape == (6, 30, 3)


def test_steps_are_decoded_to_characters(example: dict[str, ModuleType]) -> None:
    # Class 0 is none; a class that goes on is one character, after none it is another one.
    classes = np.array((0, 2, 2, 0, 3, 3, 3, 0, 3, 1, 0))
    steps = np.full((1, 11, 4), 0.05, np.float32)
    steps[0, np.arange(11), classes] = 0.8

    text, likely = example["recognition"].decoded(steps, "abc")

    assert text == "bcca"
    assert likely == pytest.approx(0.8)
    assert example["recognition"].decoded(np.eye(4, dtype=np.float32)[None, :1], "abc") == ("", 0)


def test_a_line_keeps_its_proportions_where_it_is_short(example: dict[str, ModuleType]) -> None:
    line = np.ones((12, 30, 3), np.float32)

    made = example["recognition"].line_input(line, 192)

    assert made.shape == (1, 3, 48, 192)
    assert made[..., :120] == pytest.approx(np.ones((1, 3, 48, 120)))
    assert not made[..., 120:].any()


def test_the_page_is_read_as_onnx_runtime_reads_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for needed in ("skimage", "scipy", "onnx", "onnxruntime"):
        pytest.importorskip(needed)
    if find_spec("rapidocr_onnxruntime") is None and not list(MODELS.glob("*.onnx")):
        pytest.skip("the networks are not here; examples/ocr/run.py downloads them")

    monkeypatch.setattr(sys, "argv", ["run.py", "--compare"])
    with imported_files(FOLDER, ("detection", "networks", "recognition", "run")) as modules:
        run = modules["run"]
        fastest = run.fastest
        monkeypatch.setattr(run, "fastest", lambda each: fastest(each, times=1))
        run.main()

    text, _, report = capsys.readouterr().out.partition("\n\n")
    assert SequenceMatcher(None, text, PAGE, autojunk=False).ratio() > 0.95
    assert "ONNX Runtime reads the same text" in report
    differences = [
        float(line.split("difference ")[1].split()[0])
        for line in report.splitlines()
        if "difference" in line
    ]
    assert len(differences) == 3
    # A hundred layers, of which each is exact to 1e-6 of its range.
    assert max(differences) < 1e-3
