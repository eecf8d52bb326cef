"""Writes docs/notebook.md, and the figure in it, from examples/notebook/first_pass.py.

python docs/render_notebook.py    in a clone, with marimo and matplotlib
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples/notebook/first_pass.py"
PAGE = ROOT / "docs/notebook.md"
FIGURE = ROOT / "docs/notebook.png"

HOW = """
This page is [a marimo notebook](https://github.com/marimo-team/marimo),
`examples/notebook/first_pass.py`, with the figure that it ends in. To work in it:

```sh
pip install '.[notebook,plot]'
marimo edit examples/notebook/first_pass.py
```

`model` and `report` are shown there as pictures to press; [the report](report.md) says what there
is to see.
"""


def cells(source: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a notebook: `text`, or `python` without what marimo adds to it."""
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        said = next((each for each in ast.walk(node) if _is_markdown(each)), None)
        if said is not None:
            yield "text", dedent(ast.literal_eval(said.args[0])).strip()
            continue
        first, last = node.body[0], node.body[-1]
        lines = source.splitlines()[first.lineno - 1 : last.lineno - 1]
        yield "python", dedent("\n".join(lines)).strip()


def _is_markdown(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "mo.md"


def page(source: str) -> str:
    """Return the page of a notebook."""
    parts = [text if kind == "text" else f"```python\n{text}\n```" for kind, text in cells(source)]
    heading, *rest = parts
    return "\n\n".join((heading, HOW.strip(), *rest, f"![The figure]({FIGURE.name})")) + "\n"


def main() -> None:
    """Write the page and the figure."""
    PAGE.write_text(page(NOTEBOOK.read_text()))
    sys.path.insert(0, str(NOTEBOOK.parent))
    import first_pass

    _, defined = first_pass.app.run()
    defined["figure"].savefig(FIGURE, dpi=110)


if __name__ == "__main__":
    main()
