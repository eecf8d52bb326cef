"""The notebook of examples/notebook: it runs, its pass does what it says, and the page shows it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_notebook() -> None:
    render = imported(ROOT / "docs/render_notebook.py")
    assert render.PAGE.read_text() == render.page(render.NOTEBOOK.read_text())


def test_the_notebook_runs_and_its_pass_is_exact() -> None:
    pytest.importorskip("marimo")
    pytest.importorskip("matplotlib").use("Agg")
    notebook = imported(ROOT / "examples/notebook/first_pass.py")
    _, defined = notebook.app.run()
    assert ("PoolFirst", 1) in defined["fired"]
    assert len(defined["declined"]) == 3
    assert defined["largest_difference"] == 0
    # Of 14 KB, the first relu's 8 became those of a quarter of its elements.
    assert defined["relu_bytes"] == {"before": 14336, "after": 8192}
    left, right = defined["figure"].axes
    assert [bar.get_height() for bar in left.patches] == [14, 8]
    assert all(bar.get_height() > 0 for bar in right.patches)
