"""A page in a browser, and what it did that it should not."""

from pathlib import Path


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

    def close(self) -> None:
        """Close the page, which did nothing that it should not."""
        assert self.faults == []
        assert len(set(self.requests)) == 1
        self.context.close()

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_text_contents()


FIRST_CONTENT = """() => new Promise((seen) => new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (each.name === "first-contentful-paint") seen(each.startTime);
}).observe({ type: "paint", buffered: true }))"""


def first_paint(opened: Opened) -> float:
    """Load the page again; return the seconds until something is seen."""
    opened.page.reload()
    return opened.page.evaluate(FIRST_CONTENT) / 1000
