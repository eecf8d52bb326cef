"""A report as one HTML file that needs no network: the data, our own script and style.

Names from files are data. The script puts them into the page as text, and in the file itself no
`<` stands in them but before a digit, so that nothing can end the element that holds the data. The
content security policy allows this script and this style, by their hashes, and nothing else.

Most lines of text are in many levels, passes and diffs. The page has each once, in one table, and
texts as numbers of lines (`LineTable`).
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from gawee_dialect.report.drawing import Drawing
from gawee_dialect.report.recording import AssemblyJson, PassJson
from gawee_dialect.report.snapshot import Json, LevelJson, OriginJson, StepJson

if TYPE_CHECKING:
    from gawee_dialect.report.document import Report


def html_text(report: "Report") -> str:
    """Return the page of a report, which is the same for the same run but for its times."""
    recording = report.recording
    table = LineTable()
    steps = drawings_json(recording.levels, recording.steps, recording.origins.to_json(), table)
    packed = {
        **report.to_json(),
        "levels": [_packed_level(each, table) for each in recording.levels],
        "passes": [_packed_pass(each, table) for each in recording.passes],
        "assembly": _packed_assembly(recording.assembly, table),
    }
    return page_text(
        "page",
        f"{report.tool}: {report.input}",
        style=("page.css",),
        script=("elements.js", "pictures.js", "page.js"),
        data={"report": packed, "drawings": {**steps, "lines": table.lines}},
    )


class LineTable:
    """Lines of text, each once, in the order in which they are met first."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def lines(self) -> list[str]:
        """All lines; the number of a line is its position."""
        return list(self._numbers)

    def numbers(self, lines: Iterable[str]) -> list[int]:
        """Return lines by number; `-n` stands for the n numbers that follow the one before it."""
        found: list[int] = []
        last = -1
        for line in lines:
            number = self._numbers.setdefault(line, len(self._numbers))
            if not found or number != last + 1:
                found.append(number)
            elif found[-1] < 0:
                found[-1] -= 1
            else:
                found.append(-1)
            last = number
        return found


def _packed_level(level: LevelJson, table: LineTable) -> Json:
    """Return a level with the texts of its functions by numbers of lines."""
    functions = [
        {**each, "text": table.numbers(each["text"].split("\n"))} for each in level["functions"]
    ]
    return {**level, "functions": functions}


def _packed_pass(each: PassJson, table: LineTable) -> Json:
    """Return a pass with the signs of its diffs' lines (`+`, `-`), and numbers of the rest."""
    diffs = [
        {
            **diff,
            "signs": "".join(line[:1] or " " for line in diff["lines"]),
            "lines": table.numbers(line[1:] for line in diff["lines"]),
        }
        for diff in each["diff"]
    ]
    return {**each, "diff": diffs}


def _packed_assembly(
    assembly: Sequence[AssemblyJson] | None, table: LineTable
) -> list[Json] | None:
    if assembly is None:
        return None
    return [{**each, "lines": table.numbers(each["lines"])} for each in assembly]


def page_text(
    name: str,
    title: str,
    *,
    style: Sequence[str],
    script: Sequence[str],
    data: Mapping[str, Mapping[str, object]],
) -> str:
    """Return the page that `NAME.html` is the frame of, with its style, script and data."""
    style_text, script_text = "".join(map(_part, style)), "".join(map(_part, script))
    policy = (
        f"default-src 'none'; script-src {_hash(script_text)}; style-src {_hash(style_text)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(title),
        "style": style_text,
        "script": script_text,
        **{key: _data(value) for key, value in data.items()},
    }
    # Split, not replaced: what is filled in may hold such a mark itself.
    pieces = _part(f"{name}.html").split("@")
    return "".join(parts.get(piece, piece) if at % 2 else piece for at, piece in enumerate(pieces))


def inline_html(report: "Report", height: int = 640) -> str:
    """Return the page of a report in a frame of its own, `height` pixels high, for notebooks."""
    # The frame has no rights but to run the script of the page.
    return (
        f'<iframe srcdoc="{escape(html_text(report))}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:1px solid #8886"></iframe>'
    )


def drawings_json(
    levels: Sequence[LevelJson],
    steps: Sequence[StepJson],
    origins: Sequence[OriginJson],
    table: LineTable,
) -> Json:
    """Return the boxes of all levels and steps, and the number of the box that each is."""
    drawing = Drawing(origins)
    roots = [drawing.level(each["level"], each["functions"]) for each in levels]
    drawn = [
        {
            "pass": step["number"],
            "root": drawing.level(step["level"], step["functions"], is_kept=False),
            "functions": [
                {
                    "name": each["name"],
                    "lines": table.numbers(each["text"].split("\n")),
                    "ops": [[*op["lines"], op["sources"]] for op in each["ops"]],
                }
                for each in step["functions"]
            ],
        }
        for step in steps
    ]
    return {"boxes": drawing.boxes, "roots": roots, "steps": drawn}


def _part(name: str) -> str:
    return (files("gawee_dialect.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(value: Mapping[str, object]) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # What a `<` and a digit begin is no markup, and each type of a tensor has them.
    return re.sub(r"<(?!\d)", r"\\u003c", text)
