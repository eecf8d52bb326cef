"""A picture file: its formats, its style, and how it is written, the same bytes every time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png")

COLOURS = ("#0072b2", "#009e73", "#cc7a00", "#c0392b", "#7b4fa3", "#555555")
"""Of categories, such as memories or networks; distinct for colour-blind readers too."""

MARKERS = "osD^vP"

GREY, PALE = "#606060", "#e4e4e4"
"""Of lines that are no data, and of the grid."""

STYLE: dict[str, object] = {
    "svg.fonttype": "none",  # text stays text: searchable, and small
    "svg.hashsalt": "gawee",  # ids are the same in every run
    "font.size": 8,
    "font.monospace": ["DejaVu Sans Mono", "monospace"],
}


def check_picture(path: str | Path) -> None:
    """Raise GaweeError where a picture cannot be written under such a name, or at all."""
    if Path(path).suffix.lower() not in FORMATS:
        supported = ", ".join(FORMATS)
        raise GaweeError(f"unsupported picture '{path}'; supported: {supported}")
    if find_spec("matplotlib") is None:
        raise GaweeError(
            Diagnostic(
                f"cannot draw '{path}': pictures need matplotlib",
                hint="pip install 'gawee-dialect[plot]'",
            )
        )


@contextmanager
def picture(
    path: str | Path, inches: tuple[float, float], heading: str, *, title: str | None = None
) -> Generator[Figure]:
    """Yield a figure to draw, and write it to an .svg or .png file; raises GaweeError and OSError.

    `heading` stands above it; `title` is what the file says it is.
    """
    check_picture(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    target = Path(path)
    metadata: dict[str, str | None] = {} if title is None else {"Title": title}
    if target.suffix.lower() == ".svg":
        metadata["Date"] = None
    with rc_context(STYLE):
        figure = Figure(figsize=inches)
        figure.suptitle(heading, fontsize=9)
        yield figure
        with whole_file(target) as draft:
            figure.savefig(str(draft), dpi=150, metadata=metadata)
