"""The roofline picture: what an SVG of it holds, and what is said where it cannot be drawn."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from gawee_dialect.analysis.work import Work
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.profile import NodeTime
from gawee_dialect.plots import LISTED, check_picture, draw_roofline, find_dots
from gawee_dialect.target.description import PROCESSORS

HASWELL = PROCESSORS["haswell"]
CONV = NodeTime("conv1", "conv_2d_0", 3e-3, Work(30_000_000, 400_000, 600_000, 1_000_000, 32))
RELU = NodeTime("relu", "generic_0", 1e-3, Work(2_000, 8_000, 8_000, 16_000, 32))
CAT = NodeTime("cat", "copy_0", 5e-4, Work(0, 4_000, 4_000, 8_000, 32))
UNKNOWN = NodeTime("odd", "odd_0", 1e-4, None)
TIMES = [RELU, CONV, CAT, UNKNOWN]
NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def drawn(path: Path) -> ET.Element:
    pytest.importorskip("matplotlib")
    draw_roofline(str(path), TIMES, HASWELL, "a network, level llvm")
    return ET.parse(path).getroot()


def texts(root: ET.Element) -> list[str]:
    found = ("".join(element.itertext()) for element in root.iterfind(".//svg:text", NAMESPACE))
    return [" ".join(text.split()) for text in found]


def test_picture_has_a_roof_for_each_memory_and_one_for_multiply_adds(tmp_path: Path) -> None:
    written = texts(drawn(tmp_path / "roof.svg"))

    for label in ("L1 218 GB/s", "L2 85 GB/s", "L3 47.6 GB/s", "DRAM 25.6 GB/s"):
        assert label in written
    assert "multiply-adds on 8 lanes: 108.8 GFLOP/s" in written


def test_picture_has_a_point_for_each_node_with_arithmetic_and_lists_all(tmp_path: Path) -> None:
    root = drawn(tmp_path / "roof.svg")

    points = [
        element.get("id", "")
        for element in root.iter()
        if element.get("id", "").startswith("node-")
    ]
    assert sorted(points) == ["node-1", "node-2"]
    written = texts(root)
    # 30 MFLOP at 108.8 GFLOP/s are 0.2757 ms of 3 ms.
    assert "1 conv1 3.000 65.2 9.2%" in written
    assert any(line.startswith("cat 0.500 10.9") for line in written)
    assert "odd 0.100 2.2" in written
    assert {"1", "2"} <= set(written)  # the labels at the points


def test_points_are_where_their_rates_are(tmp_path: Path) -> None:
    conv, relu = find_dots([CONV, RELU, CAT, UNKNOWN], HASWELL)

    assert (conv.intensity, conv.gflops) == (30.0, pytest.approx(10.0))
    assert (relu.intensity, relu.gflops) == (0.125, pytest.approx(0.002))
    assert conv.colour != relu.colour  # 1 MB is in L3, 16 kB are in L1


def test_picture_is_the_same_in_every_run(tmp_path: Path) -> None:
    drawn(tmp_path / "a.svg")
    drawn(tmp_path / "b.svg")

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_picture_may_be_a_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "roof.png"

    draw_roofline(str(path), TIMES, HASWELL, "a network")

    image = pytest.importorskip("PIL.Image")
    with image.open(path) as picture:
        assert min(picture.size) > 500
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50


def test_list_of_a_large_network_ends_with_a_sum(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    many = [NodeTime(f"node{index}", "k", 1e-3, RELU.work) for index in range(LISTED + 7)]
    path = tmp_path / "roof.svg"

    draw_roofline(str(path), many, HASWELL, "a network")

    assert "7 others 7.000" in texts(ET.parse(path).getroot())


def test_picture_of_nothing_has_its_roofs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "roof.svg"

    draw_roofline(str(path), [], HASWELL, "nothing")

    assert "DRAM 25.6 GB/s" in texts(ET.parse(path).getroot())


def test_missing_matplotlib_is_named_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(GaweeError) as raised:
        check_picture("roof.svg")

    assert str(raised.value) == (
        "error: cannot draw 'roof.svg': pictures need matplotlib\n"
        "hint: pip install 'gawee-dialect[plot]'"
    )


def test_other_formats_are_refused() -> None:
    with pytest.raises(GaweeError, match=r"unsupported picture 'a\.pdf'; supported: \.svg, \.png"):
        check_picture("a.pdf")
