"""What every page must be like: blocks of code end, links lead somewhere, parts are named."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]+)?\)")


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def fence_problems(text: str) -> Iterator[str]:
    """Yield the fences of a page that open a block inside another, or that nothing closes."""
    opened: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = number, fence[1]
        elif fence[1].startswith(opened[1]):
            if fence[2].strip():
                yield f"line {number}: '{line}' inside the block of line {opened[0]}"
                opened = number, fence[1]
            else:
                opened = None
    if opened is not None:
        yield f"line {opened[0]}: nothing closes this block"


def without_code(text: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        inside ^= FENCE.match(line) is not None
        kept += [] if inside else [line]
    return "\n".join(kept)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_block_of_code_is_closed(page: Path) -> None:
    assert list(fence_problems(page.read_text())) == []


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("```sh\nls\n```\n", 0),
        ("```sh\nls\n\n```python\nx\n```\n", 1),
        ("```sh\nls\n", 1),
        ("````\n```sh\n```\n````\n", 0),
    ],
)
def test_a_block_that_is_not_closed_is_found(text: str, problems: int) -> None:
    assert len(list(fence_problems(text))) == problems


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = (target for target, _ in LINK.findall(without_code(page.read_text())))
    files = (target for target in targets if "://" not in target and "mailto:" not in target)

    assert [target for target in files if not (page.parent / target).exists()] == []


def anchors(page: Path) -> set[str]:
    """Return the parts of a page that links may name, as the site has them."""
    text = without_code(page.read_text())
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", re.sub(r"\]\([^)]*\)", "", each)) for each in titles)
    slugs = {re.sub(r"[-\s]+", "-", each.strip().lower()) for each in words}
    return slugs | set(re.findall(r'<a id="([\w-]+)">', text))


def test_links_to_parts_of_pages_lead_somewhere() -> None:
    links = [
        (page, target, anchor[1:])
        for page in PAGES
        for target, anchor in LINK.findall(without_code(page.read_text()))
        if anchor and target.endswith(".md") and "://" not in target
    ]
    parts = {target: anchors(target) for target in {page.parent / each for page, each, _ in links}}

    assert len(links) > 20
    assert [
        f"{page_name(page)}: {target}#{anchor}"
        for page, target, anchor in links
        if anchor not in parts[page.parent / target]
    ] == []


def test_the_site_has_every_page_in_its_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = (path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))

    assert [each for each in pages if f" {each}\n" not in navigation] == []


def long_sentences(text: str) -> Iterator[str]:
    """Yield what has more than 30 words between two of `. ? ! ; :`; code is one word."""
    lines = without_code(text).splitlines()
    prose = ["" if re.match(r"\||#+ |`{3}|<!--|<a ", line) else line for line in lines]
    items = [re.sub(r"^\s*([-*]|\d+\.) |^$", ". ", line) for line in prose]
    joined = re.sub(r"(`+).*?\1", "code", " ".join(items))
    sentences = re.split(r"(?<=[.?!;:])\s+", re.sub(r"\]\([^)]*\)", "]", joined))
    yield from (each for each in sentences if len(each.split()) > 30)


def test_no_sentence_is_long() -> None:
    written = (page for page in PAGES if not page.read_text().startswith("<!-- Written by"))
    pages = [page for page in written if page.name not in ("CHANGELOG.md", "onnx_conformance.md")]

    assert {
        page_name(page): found for page in pages if (found := [*long_sentences(page.read_text())])
    } == {}


def test_pages_are_what_they_are_for() -> None:
    """The workbench is a how-to; figures stand with kernels; the README opens with what it is."""
    pages = {name: (ROOT / name).read_text() for name in ("README.md", "docs/architecture.md")}

    assert len(without_code((ROOT / "docs" / "workbench.md").read_text()).split()) <= 1500
    assert not re.search(r"\d (ms|us|µs|GFLOP)", pages["docs/architecture.md"])
    assert "--irdl-file" not in pages["README.md"]


def test_the_architecture_names_every_part_of_the_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "gawee_dialect"
    folders = {f"{each.parent.name}/" for each in package.glob("*/__init__.py")}
    files = {each.name for each in package.glob("*.py") if each.name != "__init__.py"}

    assert sorted(name for name in folders | files if name not in text) == []


def test_the_architecture_names_every_folder_and_no_other() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "gawee_dialect"
    folders = [each.parent for each in package.rglob("__init__.py") if each.parent != package]
    names = {each: (f"{each.name}/", each.name.replace("_", "-")) for each in folders}
    quoted = re.findall(r"`([\w./]+(?:/|\.py|\.md))`", without_code(text))
    roots = (ROOT, package, *folders)

    unnamed = [each.name for each in folders if not any(name in text for name in names[each])]
    assert unnamed == []
    assert len(quoted) > 20
    assert [path for path in quoted if not any((root / path).exists() for root in roots)] == []


def test_the_home_page_has_a_picture_and_leads_to_what_people_look_for() -> None:
    page = (ROOT / "docs" / "index.md").read_text()

    assert re.search(r"^!\[[^\]]+\]\(\w+\.svg\)$", page, re.MULTILINE)
    linked = {target for target, _ in LINK.findall(page)}
    wanted = (
        "workbench",
        "kernels",
        "tuning",
        "running_pytorch",
        "zoo",
        "onnx",
        "weights",
        "c_abi",
    )
    assert {f"{name}.md" for name in wanted} <= linked
    scrolling = (ROOT / "docs" / "tables.css").read_text()
    assert re.search(r"table:not\(\[class\]\) \{[^}]*overflow-x: auto", scrolling)
    assert "tables.css" in (ROOT / "mkdocs.yml").read_text()


def test_modules_and_files_that_pages_name_exist() -> None:
    def module(name: str) -> Path:
        path = ROOT / name.replace(".", "/")
        package = path / "__init__.py"
        return package if package.exists() else path.with_suffix(".py")

    pages = {page: page.read_text() for page in PAGES if page.name != "CHANGELOG.md"}
    imports = {
        (page, name, each)
        for page, text in pages.items()
        for name, names in re.findall(r"from (gawee_dialect[\w.]*) import (\w[\w, ]*\w)", text)
        for each in re.split(r", *", re.sub(r" as \w+", "", names))
    }
    files = {
        (page, path)
        for page, text in pages.items()
        for path in re.findall(r"`((?:gawee_dialect|tests|benchmarks|examples)/[\w/.]+)`", text)
    }

    assert len(imports) > 50
    assert [
        f"{page_name(page)}: {name}.{each}"
        for page, name, each in sorted(imports)
        if not module(f"{name}.{each}").exists()
        and not (module(name).exists() and re.search(rf"\b{each}\b", module(name).read_text()))
    ] == []
    assert [
        f"{page_name(page)}: {path}" for page, path in sorted(files) if not (ROOT / path).exists()
    ] == []
