"""A report as one HTML file that needs no network: the data, our own script and style.

Names from files are data. The script puts them into the page as text, and in the file itself no
`<` stands in them, so that nothing can end the element that holds the data. The content security
policy allows this script and this style, by their hashes, and nothing else.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from gawee_dialect.report.document import Report
from gawee_dialect.report.drawing import Drawing
from gawee_dialect.report.origins import OriginJson
from gawee_dialect.report.snapshot import Json, LevelJson, StepJson


def html_text(report: Report) -> str:
    """Return the page of a report, which is the same for the same run but for its times."""
    recording = report.recording
    levels, steps, origins = recording.levels, recording.steps, recording.origins.to_json()
    return page_text(
        "page",
        f"{report.tool}: {report.input}",
        style=("page.css",),
        script=("elements.js", "pictures.js", "page.js"),
        data={"report": report.to_json(), "drawings": drawings_json(levels, steps, origins)},
    )


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


def inline_html(report: Report, height: int = 640) -> str:
    """Return the page of a report in a frame of its own, `height` pixels high, for notebooks."""
    # The frame has no rights but to run the script of the page.
    return (
        f'<iframe srcdoc="{escape(html_text(report))}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:1px solid #8886"></iframe>'
    )


def drawings_json(
    levels: Sequence[LevelJson], steps: Sequence[StepJson], origins: Sequence[OriginJson]
) -> Json:
    """Return the boxes of all levels and steps, and the number of the box that each is.

    A step has its text as numbers of lines, since most are as in the step before.
    """
    drawing = Drawing(origins)
    roots = [drawing.level(each["level"], each["functions"]) for each in levels]
    lines: dict[str, int] = {}
    drawn = [
        {
            "pass": step["number"],
            "root": drawing.level(step["level"], step["functions"], is_kept=False),
            "functions": [
                {
                    "name": each["name"],
                    "lines": [
                        lines.setdefault(line, len(lines)) for line in each["text"].split("\n")
                    ],
                    "ops": [[*op["lines"], op["sources"]] for op in each["ops"]],
                }
                for each in step["functions"]
            ],
        }
        for step in steps
    ]
    return {"boxes": drawing.boxes, "roots": roots, "steps": drawn, "lines": list(lines)}


def _part(name: str) -> str:
    return (files("gawee_dialect.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(value: Mapping[str, object]) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
