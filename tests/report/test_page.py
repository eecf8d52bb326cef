"""The page of a report: what the file holds, and what it does in a browser, where there is one."""

import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import gawee_dialect.report
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.report.document import Report
from gawee_dialect.report.module_tree import Group, Named, module_tree
from gawee_dialect.report.page import html_text
from gawee_dialect.report.ranks import in_rows
from gawee_dialect.tools import gawee_opt
from gawee_dialect.universe import make_context

FOLDER = Path(gawee_dialect.report.__file__).parent

NODES = ("net.stem.conv", "net.stem.relu", "<script>alert(1)</script>")
NETWORK = f"""func.func @main(%x: tensor<2x3x5x4xf32> {{gawee.input = "x"}}, %w: tensor<7x3x1x1xf32> {{gawee.parameter = "w"}}) -> tensor<2x7x5x4xf32> {{
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x5x4xf32>, tensor<7x3x1x1xf32>) -> tensor<2x7x5x4xf32> loc("{NODES[0]}"("net.json":3:1))
  %r = gawee.relu %y : (tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32> loc("{NODES[1]}"("net.json":4:1))
  %s = gawee.sigmoid %r : (tensor<2x7x5x4xf32>) -> tensor<2x7x5x4xf32> loc("{NODES[2]}"("net.json":5:1))
  return %s : tensor<2x7x5x4xf32>
}}
"""
CHAIN = 3000


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    source, target = folder / "net.mlir", folder / "report.html"
    source.write_text(NETWORK)
    words = [str(source), "--gawee-to-kernels", "-o", str(folder / "out.mlir")]
    assert gawee_opt.main([*words, "--html", str(target)]) == 0
    return target


# What the file holds.


def test_nothing_in_the_file_leads_elsewhere(page_file: Path) -> None:
    text = page_file.read_text()
    assert set(re.findall(r"https?://[^\s\"']*", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|url\(", text)


def test_the_policy_allows_this_script_and_this_style_alone(page_file: Path) -> None:
    text = page_file.read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for rule, tag in (("script-src", "script"), ("style-src", "style")):
        (part,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(part.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"


def test_names_end_no_element(page_file: Path) -> None:
    text = page_file.read_text()
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert text.count("<script") == text.count("</script>") == 3


def test_the_script_is_small() -> None:
    assert (FOLDER / "page.js").stat().st_size < 80_000


def test_the_same_report_is_the_same_page() -> None:
    assert html_text(chain_report(7)) == html_text(chain_report(7))


def test_title_is_text() -> None:
    report = chain_report(1)
    report.input = "<b>&\"'.mlir"
    assert "<title>gawee-opt: &lt;b&gt;&amp;&quot;&#x27;.mlir</title>" in html_text(report)


# Where boxes go.


def test_arrows_lead_down_and_bend_in_each_row_between() -> None:
    placed = in_rows([1, 2, 3, 4], [(1, 2), (2, 3), (3, 4), (1, 4)])
    assert [[each for each in row if each > 0] for row in placed.rows] == [[1], [2], [3], [4]]
    assert placed.arrows[3][0] == 1
    assert placed.arrows[3][-1] == 4
    assert all(
        bend in row for bend, row in zip(placed.arrows[3][1:-1], placed.rows[1:3], strict=True)
    )


def test_boxes_side_by_side_are_ordered_such_that_arrows_do_not_cross() -> None:
    placed = in_rows([1, 2, 3, 4], [(1, 4), (2, 3)])
    above, below = placed.rows
    partner = {1: 4, 2: 3}
    assert [partner[each] for each in above] == below


def test_an_arrow_against_the_order_is_drawn_and_ranks_nothing() -> None:
    placed = in_rows([1, 2], [(1, 2), (2, 1)])
    assert placed.rows == [[1], [2]]
    assert placed.arrows == [[1, 2], [2, 1]]


def test_what_is_read_once_stands_above_its_reader() -> None:
    placed = in_rows([1, 2, 4, 3], [(1, 2), (2, 3), (4, 3)])
    assert [sorted(each for each in row if each > 0) for row in placed.rows] == [[1], [2, 4], [3]]


def test_modules_are_the_names_of_nodes() -> None:
    names = ("stem", "a.0.conv", "a.0.relu", "add", "a.0.last", "a.1.conv", "a.1.relu", "fc")
    tree = module_tree("main", [Named(at, name, at) for at, name in enumerate(names)])
    inner = [Group("0", [1, 2, 3, 4]), Group("1", [5, 6])]
    assert tree == Group("main", [0, Group("a", [*inner]), 7])


def test_ops_of_a_node_are_together() -> None:
    tree = module_tree("main", [Named(0, "x.y", 5), Named(1, "x.y", 5), Named(2, "z", 6)])
    assert tree == Group("main", [Group("x.y", [0, 1], is_node=True), 2])


# In a browser.


def chain_report(length: int) -> Report:
    """Return the report of a network of one op after the other, before any pass."""
    type = "tensor<2x3xf32>"
    ops = [
        f'  %v{at + 1} = gawee.relu %v{at} : ({type}) -> {type} loc("block{at // 30}.relu{at}"("net.json":{at + 1}:1))'
        for at in range(length)
    ]
    head = f'func.func @main(%v0: {type} {{gawee.input = "x"}}) -> {type} {{'
    text = "\n".join((head, *ops, f"  return %v{length} : {type}", "}"))
    report = Report("gawee-opt", [], "chain.mlir")
    report.recording.start(parse_mlir(make_context(), text, "chain.mlir"))
    return report


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page in a browser, and what it did that it should not."""

    def __init__(self, browser, path: Path, fragment: str = "", **context) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, **context}
        )
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.requests: list[str] = []
        page = self.page
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(f"file://{path}{fragment}")

    def press(self, graph: str, label: str) -> None:
        """Press the box with this text."""
        box = self.page.locator(f"#{graph} svg rect.box", has_text=label).last
        box.click(position={"x": 5, "y": 5})

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_text_contents()


@pytest.fixture
def opened(browser, page_file: Path) -> Iterator[Opened]:
    page = Opened(browser, page_file)
    yield page
    assert page.faults == []
    assert len(page.requests) == 1
    page.context.close()


def test_an_op_is_found_at_every_level(opened: Opened) -> None:
    opened.press("graph-a", "net.stem.conv")
    assert opened.texts("#details h2") == ["net.stem.conv"]
    headings = opened.texts("#details h3")
    for level in ("input", "linalg", "kernels"):
        assert any(heading.startswith(f"{level}:") for heading in headings)
    assert any("gawee.conv" in text for text in opened.texts("#details pre"))
    assert opened.page.locator("#graph-a .chosen").count() == 1
    assert opened.page.locator("#graph-b .chosen").count() >= 1


def test_what_was_fused_leads_to_its_kernel(opened: Opened) -> None:
    opened.press("graph-a", "net.stem.relu")
    assert any("became part of" in text for text in opened.texts("#details li"))
    assert opened.page.locator("#graph-b .chosen").count() >= 1


def test_the_link_keeps_the_selection(opened: Opened, browser) -> None:
    opened.press("graph-a", "net.stem.relu")
    fragment = "#" + opened.page.url.partition("#")[2]
    again = Opened(
        browser, Path(opened.page.url.partition("#")[0].removeprefix("file://")), fragment
    )
    assert again.texts("#details h2") == ["net.stem.relu"]
    again.context.close()


def test_a_name_that_is_markup_is_text(opened: Opened) -> None:
    opened.press("graph-a", NODES[2])
    assert opened.texts("#details h2") == [NODES[2]]


def test_passes_show_what_they_did(opened: Opened) -> None:
    opened.page.locator("#passes button.changed", has_text="lower-to-linalg").click()
    assert opened.texts("#details h2") == ["lower-to-linalg"]
    assert any("LowerConv" in text for text in opened.texts("#details summary"))
    assert opened.page.locator("#details pre .removed", has_text="gawee.conv").count() == 1
    assert opened.page.locator("#passes button.unchanged").count() > 0


def test_search_counts_and_goes_on(opened: Opened) -> None:
    opened.page.keyboard.press("/")
    opened.page.keyboard.type("relu")
    assert opened.texts("#found") == ["1 found"]
    opened.page.keyboard.press("Enter")
    assert opened.texts("#details h2") == ["net.stem.relu"]


def test_modules_fold(opened: Opened) -> None:
    leaves = opened.page.locator("#graph-a rect.box:not(.group):not(.input)")
    assert leaves.count() == 3
    opened.page.keyboard.press("c")
    assert leaves.count() == 1
    opened.press("graph-a", "net.stem")
    assert leaves.count() == 3


def test_keys_are_listed_and_work(opened: Opened) -> None:
    opened.page.keyboard.press("?")
    assert opened.page.locator("#keys").is_visible()
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("]")
    assert opened.page.locator("#graph-a select").input_value() == "1"
    opened.page.keyboard.press("n")
    assert opened.page.locator("#passes .chosen").count() == 1
    opened.page.keyboard.press("j")
    assert opened.texts("#details h2") == ["net.stem.conv"]


def test_it_is_dark_where_the_reader_is(browser, page_file: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        opened = Opened(browser, page_file, color_scheme=scheme)
        colours.append(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        opened.context.close()
    assert colours == ["rgb(255, 255, 255)", "rgb(20, 23, 26)"]


def test_a_narrow_screen_shows_one_part_at_a_time(browser, page_file: Path) -> None:
    opened = Opened(browser, page_file, viewport={"width": 390, "height": 800})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    parts = ("passes", "graph-a", "graph-b", "details")
    assert [each for each in parts if page.locator(f"#{each}").is_visible()] == ["graph-a"]
    opened.press("graph-a", "net.stem.conv")
    assert [each for each in parts if page.locator(f"#{each}").is_visible()] == ["details"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.faults == []
    opened.context.close()


def test_a_large_network_draws_what_is_seen(browser, tmp_path: Path) -> None:
    path = tmp_path / "chain.html"
    path.write_text(html_text(chain_report(CHAIN)))
    opened = Opened(browser, path)
    rects = opened.page.locator("#graph-a rect.box")
    assert 10 < rects.count() < 150
    opened.page.keyboard.press("o")
    assert 10 < rects.count() < 150
    opened.page.locator("#graph-a .canvas").evaluate(
        "each => { each.scrollTop = each.scrollHeight }"
    )
    opened.press("graph-a", f"relu{CHAIN - 1}")
    assert opened.texts("#details h2") == [f"block{(CHAIN - 1) // 30}.relu{CHAIN - 1}"]
    assert opened.faults == []
    opened.context.close()
