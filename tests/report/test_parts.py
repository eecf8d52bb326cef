"""Parts of the page: reasons of patterns, proofs, colours, the way back, paper."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawee_dialect.report.document import LineTable
from gawee_dialect.tools import gawee_opt, gawee_run, gawee_translate
from tests.instruments.test_step_times import RECURRENT
from tests.report.opened import Opened
from tests.report.wrong_pass import WRONG_PASS

LSTM = Path(__file__).parents[1] / "networks/lstm.json"

LAYER = """func.func @main(%x: tensor<2x3x5x4xf32> {gawee.input = "x"}, %w: tensor<7x3x1x1xf32> {gawee.parameter = "w"}, %m: tensor<7xf32> {gawee.input = "m"}) -> (tensor<2x7x5x4xf32> {gawee.output = "r"}) {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<7x3x1x1xf32>) -> tensor<2x7x5x4xf32> loc("stem.conv"("net.json":3:1))
  %n = gawee.batch_norm %y mean %m variance %m eps 1.0e-5 : tensor<2x7x5x4xf32>, tensor<7xf32> loc("stem.norm"("net.json":4:1))
  %r = gawee.relu %n : (tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32> loc("stem.relu"("net.json":5:1))
  return %r : tensor<2x7x5x4xf32>
}
"""
TAIL = """  %a = gawee.add %r, %r : (tensor<2x7x5x4xf32>, tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32> loc("tail.add"("net.json":6:1))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("layer") / "layer.mlir"
    path.write_text(LAYER)
    return path


@pytest.fixture(scope="module")
def proved_file(source: Path) -> Path:
    """The page of passes that were proved, one of which leaves an op."""
    target = source.parent / "proved.html"
    words = [str(source), "--fold-batch-norm", "--gawee-to-linalg", "--prove-each"]
    assert gawee_opt.main([*words, "-o", "/dev/null", "--html", str(target)]) == 0
    return target


@pytest.fixture(scope="module")
def run_file(source: Path) -> Path:
    """The page of a run, with the time of each node."""
    target = source.parent / "run.html"
    words = [str(source), "--weights", "random", "--profile", "--html", str(target)]
    assert gawee_run.main(words) == 0
    return target


def test_what_a_pattern_left_leads_to_the_op_with_the_reason(browser, proved_file: Path) -> None:
    opened = Opened(browser, proved_file)
    fold = opened.page.locator("#passes button", has_text="fold-batch-norm").first
    assert "1 op left" in fold.text_content()
    fold.click()
    assert "What was left, and why" in opened.texts("#details h3")
    opened.page.locator("#details summary", has_text="gawee.batch_norm at stem.norm").click()
    reason = opened.page.locator("#details .link", has_text="got a function argument")
    assert reason.text_content().startswith("FoldIntoLayer: ")
    reason.click()
    assert opened.texts("#details h2") == ["stem.norm"]
    assert any("was left by FoldIntoLayer: " in text for text in opened.texts("#details li"))
    opened.close()


def test_proofs_of_passes_are_told(browser, proved_file: Path) -> None:
    opened = Opened(browser, proved_file)
    lower = opened.page.locator("#passes button", has_text="lower-to-linalg")
    assert "proved" in lower.text_content()
    lower.click()
    assert "proofproved" in opened.texts("#details tr")
    opened.close()


def test_a_pass_that_a_proof_refutes_leads_to_the_op(browser, source: Path) -> None:
    wrong, target = source.parent / "wrong.py", source.parent / "refuted.html"
    wrong.write_text(WRONG_PASS)
    read = source.parent / "tail.mlir"
    read.write_text(LAYER.replace("  return %r", f"{TAIL}  return %a"))
    words = [str(read), "--load", str(wrong), "--cse", "--drop-relu", "--prove-each"]
    words += ["--reproducer-dir=", "-o", "/dev/null", "--html", str(target)]
    assert gawee_opt.main(words) == 1
    opened = Opened(browser, target)
    assert opened.page.locator("#passes button.failed", has_text="drop-relu").count() == 1
    assert opened.page.locator("#graph-a rect.bad").count() == 1
    opened.page.locator("#details .link", has_text="the pass").click()
    (proof,) = (row for row in opened.texts("#details tr") if row.startswith("proof"))
    assert proof.startswith("proofwrong")
    opened.close()


def test_what_cannot_be_read_is_red_and_says_why(browser, tmp_path: Path) -> None:
    graph, target = tmp_path / "net.json", tmp_path / "net.html"
    graph.write_text(LSTM.read_text().replace("aten.cat.default", "aten.fancy.default"))
    assert gawee_translate.main([str(graph), "--html", str(target)]) == 0
    opened = Opened(browser, target)
    for node in ("cat", "cat_1", "cat_2"):
        opened.page.locator("#details .link", has_text=re.compile(f"^{node}$")).click()
        assert opened.texts("#details h2") == [node]
        (verdict,) = (row for row in opened.texts("#details tr") if row.startswith("verdict"))
        assert re.match("verdictunsupported; .*fancy", verdict)
        assert opened.page.locator("#graph-a rect.unsupported.chosen").count() == 1
        opened.page.keyboard.press("Escape")
    opened.close()


def test_the_link_keeps_a_pass_and_the_levels(browser, proved_file: Path) -> None:
    opened = Opened(browser, proved_file)
    opened.page.keyboard.press("]")
    opened.page.locator("#passes button", has_text="lower-to-linalg").click()
    level = opened.page.locator("#graph-a select").input_value()
    again = Opened(browser, proved_file, opened.page.evaluate("location.hash"))
    assert again.texts("#details h2") == ["lower-to-linalg"]
    assert again.page.locator("#graph-a select").input_value() == level
    again.close()
    opened.close()


def test_passes_that_changed_nothing_are_grey(browser, proved_file: Path) -> None:
    opened = Opened(browser, proved_file)
    colours = {
        opened.page.locator(f"#passes button.{status}").first.evaluate(
            "each => getComputedStyle(each).color"
        )
        for status in ("changed", "unchanged")
    }
    assert colours == {"rgb(27, 31, 36)", "rgb(102, 112, 123)"}
    opened.close()


def test_kernels_of_a_recurrence_are_told_with_their_calls(browser, tmp_path: Path) -> None:
    source, target = tmp_path / "net.mlir", tmp_path / "net.html"
    source.write_text(RECURRENT)
    words = [str(source), "--weights", "random", "--profile", "--html", str(target)]
    assert gawee_run.main(words) == 0
    opened = Opened(browser, target)
    opened.press("graph-a", "cell")
    rows = [row for row in opened.texts("#details tr") if row.startswith("of it")]
    assert any(re.search(r"[mµ]s in 9 \S matmul_0, in steps_0$", row) for row in rows)
    opened.close()


def test_boxes_are_as_dark_as_their_nodes_are_slow(browser, run_file: Path) -> None:
    opened = Opened(browser, run_file)
    assert opened.page.locator("#colour").input_value() == "time"
    heats = opened.page.locator("#graph-a rect.heat")
    darkest = max(float(each.get_attribute("fill-opacity")) for each in heats.all())
    assert darkest == pytest.approx(0.85)
    opened.page.keyboard.press("t")
    assert opened.page.locator("#colour").input_value() == "kind"
    assert heats.count() == 0
    opened.close()


def test_from_an_op_one_comes_back_to_the_run(browser, run_file: Path) -> None:
    opened = Opened(browser, run_file)
    assert opened.texts("#details h2") == ["This run"]
    assert "by time: the darker, the longer" in opened.texts(".swatches span")
    opened.press("graph-a", "stem.conv")
    assert opened.page.locator("#graph-a path.edge.chosen").count() >= 1
    opened.page.locator("#details .link", has_text="this run").click()
    assert opened.texts("#details h2") == ["This run"]
    assert opened.page.locator(".chosen:not(.swatches rect)").count() == 0
    opened.close()


def test_paper_has_every_part_and_is_light(browser, run_file: Path) -> None:
    opened = Opened(browser, run_file, color_scheme="dark")
    opened.page.emulate_media(media="print")
    for part in ("passes", "graph-a", "graph-b", "details"):
        assert opened.page.locator(f"#{part}").is_visible()
    background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    tops = [opened.page.locator(f"#{each}").bounding_box()["y"] for each in ("details", "graph-a")]
    assert tops == sorted(tops)
    width = opened.page.evaluate("document.documentElement.clientWidth")
    for svg in opened.page.locator(".canvas svg").all():
        assert svg.bounding_box()["width"] <= width
    opened.close()


def test_the_same_run_gives_the_same_document_but_for_times(source: Path) -> None:
    target = source.parent / "run.json"
    words = [str(source), "--weights", "random", "--no-cache", "--report-json", str(target)]
    documents: list[dict] = []
    for _ in range(2):
        assert gawee_run.main(words) == 0
        documents.append(json.loads(target.read_text()))
        documents[-1].pop("times")
    assert documents[0]["assembly"]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


@given(texts=st.lists(st.lists(st.sampled_from("abcdef"), max_size=9), max_size=5))
def test_lines_by_number_are_the_lines_and_each_is_kept_once(texts: list[list[str]]) -> None:
    table = LineTable()
    packed = [table.numbers(text) for text in texts]
    assert len(table.lines) == len(set(table.lines))
    for text, numbers in zip(texts, packed, strict=True):
        found: list[int] = []
        for number in numbers:
            last = found[-1] if found else 0
            found += [number] if number >= 0 else range(last + 1, last + 1 - number)
        assert [table.lines[each] for each in found] == text


def test_lines_that_follow_one_another_are_a_run() -> None:
    table = LineTable()
    assert table.numbers(["a", "b", "c"]) == [0, -2]
    assert table.numbers(["c", "a", "b", "d", "d"]) == [2, 0, -1, 3, 3]
