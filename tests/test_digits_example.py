"""The committed example: its files belong together and its network says what PyTorch said."""

import json
from pathlib import Path

import numpy as np

import gawee_dialect
from tests.closeness import assert_allclose
from tests.effort import part_of

FOLDER = Path(__file__).parent.parent / "examples" / "digits"


def test_files_together_are_small_and_all_named_by_the_graph() -> None:
    graph = json.loads((FOLDER / "graph.json").read_text())
    named = {
        value["path"]
        for node in graph["nodes"]
        for value in node["attrs"].values()
        if isinstance(value, dict)
    }

    written = {str(path.relative_to(FOLDER)) for path in (FOLDER / "weights").iterdir()}

    assert written == named
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 300_000


def test_graph_level_reproduces_the_scores_that_pytorch_computed() -> None:
    data = np.load(FOLDER / "digits_test.npz")
    model = gawee_dialect.load(FOLDER / "graph.json")
    images, expected, labels = (part_of(data[name]) for name in ("images", "scores", "labels"))

    scores = np.concatenate(
        [model.run({"x": image[None]}, level="gawee")["fc"] for image in images]
    )

    # float32 sums in another order: five layers, each exact to about 1e-6 of its range.
    assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.ptp(expected))
    assert (scores.argmax(1) == labels).mean() >= 0.98
