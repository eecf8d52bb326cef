"""Runs the commands of docs/gallery.md, and takes the pictures of the reports that they write.

python docs/draw_gallery.py [PICTURE...]    in a clone, with Playwright, Chromium and Pillow
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs/gallery.md", ROOT / "docs/report.md"]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
WRITTEN = re.compile(r"--html build/(\w+)\.html")
SIZE = {"width": 1400, "height": 900}
SIZES = {"gallery_phone": {"width": 390, "height": 844}}
"""Sizes of pictures that are not as the others are."""
COLOURS = 64
"""Of a picture: it is a third of the size, and looks the same."""

SELECTED = {
    "gallery_transformer": ("search", "matmul"),
    "gallery_lstm": ("pass", "form-kernels"),
    "gallery_passes": ("keys", "ArrowRight x"),
    "report_digits": ("search", "conv2"),
}
"""What is pressed in a report before its picture is taken."""


def reports(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Write the files of the pages to a folder; yield each report's name with its commands."""
    blocks = (block for page in PAGES for block in BLOCK.findall(page.read_text()))
    for language, title, text in blocks:
        if title:
            (folder / title).parent.mkdir(exist_ok=True)
            (folder / title).write_text(text)
        elif language == "sh" and WRITTEN.search(text):
            (name,) = WRITTEN.findall(text)
            yield name, text.splitlines()


def words(command: str) -> list[str]:
    """Return how a command is run by this Python, with this clone's tools."""
    program, *rest = shlex.split(command)
    own = [] if program == "python" else ["-m", f"gawee_dialect.tools.{program.replace('-', '_')}"]
    return [sys.executable, *own, *rest]


def press(page: "Page", what: str, text: str) -> None:
    """Select an op by search, or a pass by its name; or press keys."""
    if what == "pass":
        page.locator("#passes button.changed", has_text=text).first.click()
        return
    if what == "keys":
        for key in text.split():
            page.keyboard.press(key)
        return
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


def main(names: list[str]) -> None:
    """Make the pictures that are named, all unless any is."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, commands in reports(ROOT):
            if names and name not in names:
                continue
            for command in commands:
                subprocess.run(words(command), cwd=ROOT, check=False)
            page = browser.new_page(viewport=SIZES.get(name, SIZE))
            page.goto((ROOT / f"build/{name}.html").as_uri())
            if name in SELECTED:
                press(page, *SELECTED[name])
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
            picture.save(ROOT / f"docs/{name}.png", optimize=True)
            page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
