"""Graphs with one thing changed at random: read, or refused in words; never anything else."""

import copy
from collections.abc import Sequence
from io import StringIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from xdsl.printer import Printer

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from tests.effort import examples
from tests.frontends.graphs import Json, data, graph, node, parse, value

STATISTICS = {"running_mean": data((4,), "m.bin"), "running_var": data((4,), "v.bin")}


def every_op() -> Json:
    """Return a graph that has a node of each op type."""
    nodes = [
        node("Conv", ["x"], "a", weight=data((4, 4, 3, 3), "w.bin"), padding=[1, 1], groups=1),
        node("BatchNormalization", ["a"], "b", name=None, **STATISTICS, eps=1e-5),
        node("Relu", ["b"], "c", inplace=True),
        node("MaxPool", ["c"], "d", kernel_size=3, stride=[2, 2], padding=1),
        node("AvgPool", ["d"], "e", kernel_size=[1, 1], count_include_pad=False),
        node("getattr", ["e"], "s"),
        node("getitem", ["s"], "h", index=2),
        node("interpolate", ["e", "h", "h"], "f", mode="nearest"),
        node("cat", ["f", "c"], "g", dim=1),
        node("AdAvgPool", ["g"], "i", output_size=[None, 1]),
        node("Add", ["i", "k"], "j"),
        node("flatten", ["j"], "l", start_dim=1, end_dim=-1),
        node("MatMul", ["l"], "y", weight=data((5, 64), "l.bin"), bias=data((5,), "lb.bin")),
    ]
    shapes: dict[str, tuple[int, ...] | None] = {
        **dict.fromkeys("xabcf", (2, 4, 8, 8)),
        **dict.fromkeys("de", (2, 4, 4, 4)),
        **dict.fromkeys("sh", None),
        "g": (2, 8, 8, 8),
        **dict.fromkeys("ij", (2, 8, 8, 1)),
        "l": (2, 64),
        "y": (2, 5),
    }
    constant = value("k", (8, 1, 1), "float32") | {"path": "constants/k.bin"}
    return graph(nodes, [*(value(name, shape) for name, shape in shapes.items()), constant])


def places(root: dict[str, Any] | list[Any]) -> list[tuple[Any, str | int]]:
    """Return every (container, key) of a JSON value."""
    found: list[tuple[Any, str | int]] = []
    children = root.items() if isinstance(root, dict) else enumerate(root)
    for key, child in children:
        found.append((root, key))
        if isinstance(child, dict | list):
            found += places(child)
    return found


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, -1, 2, 3, 2**31, 2**63, 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(), max_size=4)
    | st.sampled_from(["x", "a", "s", "h", "k", "same", "../w", "\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def test_the_graph_itself_is_read():
    assert "gawee.matmul" in str(parse(every_op()))


@given(st.data())
@examples(150)
def test_a_changed_graph_is_read_or_refused(draws: st.DataObject):
    changed = copy.deepcopy(every_op())
    container, key = draws.draw(st.sampled_from(places(changed)))
    if draws.draw(st.booleans()):
        container[key] = draws.draw(JSON)
    else:
        del container[key]

    text = StringIO()
    problems: Sequence[Diagnostic] = ()
    try:
        Printer(text).print_op(parse(changed))
    except GaweeError as error:
        problems = error.diagnostics

    text.getvalue().encode()
    for problem in problems:
        assert problem.place is not None
        str(problem).encode()
