"""Models behind the interface of onnx.backend.base, compared with NumPy."""

from collections.abc import Sequence

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import Model
from gawee_dialect.onnx_backend.values import as_array
from tests.closeness import assert_allclose

onnx = pytest.importorskip("onnx")
helper, proto = onnx.helper, onnx.TensorProto


def model(
    nodes: Sequence[object],
    inputs: Sequence[tuple[str, int, Sequence[int | str] | None]],
    outputs: Sequence[str],
    *,
    initializers: dict[str, np.ndarray] | None = None,
    opset: int = 21,
    functions: Sequence[object] = (),
):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(each, name) for name, each in (initializers or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


def prepared(*arguments, **keywords) -> onnx_backend.PreparedModel:
    return onnx_backend.prepare(model(*arguments, **keywords), level="gawee")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The levels of code that was made, in order."""
    levels: list[str] = []
    runner = Model.runner

    def counted(self: Model, level: str):
        levels.append(str(level))
        return runner(self, level)

    monkeypatch.setattr(Model, "runner", counted)
    return levels


def test_code_is_made_for_each_set_of_values_and_kept(made: list[str]) -> None:
    net = prepared(
        [helper.make_node("Reshape", ["x", "s"], ["y"])],
        [("x", proto.FLOAT, ["n", 4]), ("s", proto.INT64, [2])],
        ["y"],
    )
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    for shape in ([2, 6], [6, 2], [2, 6], [-1, 3]):
        (y,) = net.run([x, np.array(shape)])
        np.testing.assert_array_equal(y, x.reshape(shape))

    assert len(made) == 3
    assert net.session.specialised == {"s"}
    assert not net.session.host


def test_other_sizes_get_code_of_their_own(made: list[str]) -> None:
    net = prepared([helper.make_node("Neg", ["x"], ["y"])], [("x", proto.FLOAT, ["n", 4])], ["y"])

    for rows in (3, 2, 3):
        x = np.ones((rows, 4), np.float32)
        np.testing.assert_array_equal(net.run(x)[0], -x)

    assert len(made) == 2
    assert not net.session.specialised


def test_what_follows_an_open_size_is_compiled_for_it(made: list[str]) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("NonZero", ["r"], ["at"]),
        helper.make_node("Transpose", ["at"], ["rows"]),
        helper.make_node("GatherND", ["x", "rows"], ["y"]),
    ]
    net = prepared(nodes, [("x", proto.FLOAT, [3, 5])], ["y"])
    x = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)

    np.testing.assert_array_equal(net.run([x])[0], x[x > 0])
    np.testing.assert_array_equal(net.run([-x])[0], -x[x < 0])
    assert net.session.host == {"NonZero"}
    assert net.session.compiled == {"Relu", "Transpose", "GatherND"}


def test_rows_of_boxes_that_are_kept_are_those_that_there_are() -> None:
    nodes = [helper.make_node("NonMaxSuppression", ["b", "s", "n", "t"], ["y"])]
    inputs = [("b", proto.FLOAT, [1, 3, 4]), ("s", proto.FLOAT, [1, 1, 3])]
    net = prepared(
        nodes,
        inputs,
        ["y"],
        initializers={"n": np.array([3]), "t": np.array([0.5], np.float32)},
    )
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [3, 3, 4, 4]]], np.float32)

    (rows,) = net.run([boxes, np.array([[[0.3, 0.9, 0.5]]], np.float32)])

    np.testing.assert_array_equal(rows, [[0, 0, 1], [0, 0, 2]])


def graph(nodes, inputs: Sequence[str], outputs: Sequence[str]):
    named = [[onnx.ValueInfoProto(name=name) for name in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *named)


def test_a_run_decides_what_control_flow_does(made: list[str]) -> None:
    step = [
        helper.make_node("Add", ["v", "x"], ["next"]),
        helper.make_node("Less", ["next", "end"], ["on"]),
        helper.make_node("Identity", ["next"], ["kept"]),
    ]
    body = graph(step, ["i", "c", "v"], ["on", "next", "kept"])
    other = graph([helper.make_node("Neg", ["last"], ["o"])], [], ["o"])
    same = graph([helper.make_node("Identity", ["last"], ["s"])], [], ["s"])
    nodes = [
        helper.make_node("Loop", ["n", "", "x"], ["last", "all"], body=body),
        helper.make_node("Greater", ["last", "end"], ["far"]),
        helper.make_node("If", ["far"], ["y"], then_branch=other, else_branch=same),
    ]
    net = prepared(
        nodes,
        [("x", proto.FLOAT, []), ("n", proto.INT64, [])],
        ["y", "all"],
        initializers={"end": np.array(10, np.float32)},
    )

    def run(x: float, n: int) -> list:
        return [as_array(each).tolist() for each in net.run([np.float32(x), np.array(n)])]

    assert run(1, 3) == [4, [2, 3, 4]]
    assert run(1, 5) == [6, [2, 3, 4, 5, 6]]
    assert run(4, 5) == [-12, [8, 12]]
    assert len(made) <= 4  # a step, the comparison, each branch
    assert net.session.host == {"Loop", "If"}


def test_functions_with_text_inside_run() -> None:
    nodes = [
        helper.make_node("StringConcat", ["a", "b"], ["c"]),
        helper.make_node("Concat", ["c", "a"], ["d"], axis=0),
    ]
    function = helper.make_function(
        "own", "Twice", ["a", "b"], ["d"], nodes, [helper.make_opsetid("", 21)]
    )
    net = prepared(
        [helper.make_node("Twice", ["x", "y"], ["z"], domain="own")],
        [("x", proto.STRING, [2]), ("y", proto.STRING, [2])],
        ["z"],
        functions=[function],
    )

    (z,) = net.run([np.array(["a", "b"], object), np.array(["1", "2"], object)])

    assert as_array(z).tolist() == ["a1", "b2", "a", "b"]


def test_sequences_hold_what_is_put_into_them() -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "y"], ["s"]),
        helper.make_node("SequenceErase", ["s", "first"], ["t"]),
        helper.make_node("SequenceInsert", ["t", "x"], ["u"]),
        helper.make_node("ConcatFromSequence", ["u"], ["z"], axis=0),
        helper.make_node("SequenceLength", ["u"], ["n"]),
    ]
    net = prepared(
        nodes,
        [("x", proto.FLOAT, [2]), ("y", proto.FLOAT, [3])],
        ["z", "n", "u"],
        initializers={"first": np.array(0)},
    )
    x, y = np.array([1, 2], np.float32), np.array([3, 4, 5], np.float32)

    z, n, sequence = net.run([x, y])

    assert (as_array(z).tolist(), n) == ([3, 4, 5, 1, 2], 2)
    assert isinstance(sequence, list)
    assert [as_array(each).tolist() for each in sequence] == [[3, 4, 5], [1, 2]]


def test_random_numbers_of_a_seed_are_the_same() -> None:
    nodes = [helper.make_node("RandomNormal", [], ["y"], shape=[40, 50], seed=3.0, mean=2.0)]
    one, other = (np.asarray(prepared(nodes, [], ["y"]).run([])[0], float) for _ in range(2))

    np.testing.assert_array_equal(one, other)
    assert abs(one.mean() - 2) < 0.1
    assert abs(one.std() - 1) < 0.1


def test_a_default_may_be_replaced() -> None:
    net = prepared(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [("x", proto.FLOAT, [2]), ("w", proto.FLOAT, [2])],
        ["y"],
        initializers={"w": np.array([1, 2], np.float32)},
    )
    x = np.array([5, 6], np.float32)

    assert as_array(net.run([x])[0]).tolist() == [6, 8]
    assert as_array(net.run([x, -x])[0]).tolist() == [0, 0]
    assert as_array(net.run({"x": x})[0]).tolist() == [6, 8]


def test_a_node_runs_alone() -> None:
    node = helper.make_node("Clip", ["x", "", "high"], ["y"])
    x = np.arange(4, dtype=np.float32)

    (y,) = onnx_backend.run_node(node, [x, np.float32(2)], level="gawee")

    assert as_array(y).tolist() == [0, 1, 2, 2]


def test_machine_code_is_the_default(made: list[str]) -> None:
    net = model([helper.make_node("Neg", ["x"], ["y"])], [("x", proto.FLOAT, [3])], ["y"])

    (y,) = onnx_backend.run_model(net, [np.array([1, 2, 3], np.float32)])

    assert (as_array(y).tolist(), made) == ([-1, -2, -3], ["llvm"])
    assert onnx_backend.supports_device("CPU:0")
    assert not onnx_backend.supports_device("CUDA")


def test_mistakes_are_told() -> None:
    net = model([helper.make_node("Neg", ["x"], ["y"])], [("x", proto.FLOAT, [3])], ["y"])

    with pytest.raises(GaweeError, match="unsupported device 'CUDA'; supported: CPU"):
        onnx_backend.prepare(net, "CUDA")
    with pytest.raises(GaweeError, match="expected input 'x', got none"):
        onnx_backend.prepare(net).run([])
    with pytest.raises(GaweeError, match="expected at most 1 inputs, got 2"):
        onnx_backend.prepare(net).run([np.ones(3), np.ones(3)])
    with pytest.raises(GaweeError, match="expected a tensor, got a sequence"):
        onnx_backend.prepare(
            model([helper.make_node("If", ["x"], ["y"])], [("x", proto.BOOL, [])], ["y"])
        ).run([[np.ones(1)]])
    with pytest.raises(GaweeError, match="expected attribute 'then_branch' to be a graph"):
        onnx_backend.prepare(
            model([helper.make_node("If", ["x"], ["y"])], [("x", proto.BOOL, [])], ["y"])
        ).run([np.array(True)])
    body = graph([helper.make_node("Identity", ["v"], ["w"])], ["v"], ["w"])
    with pytest.raises(GaweeError, match="expected attribute 'num_scan_inputs' of 'Scan_0' to be"):
        onnx_backend.prepare(
            model(
                [helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs="all")],
                [("x", proto.FLOAT, [3])],
                ["y"],
            )
        ).run([np.ones(3, np.float32)])
    with pytest.raises(GaweeError, match="expected the first input of 'SequenceMap' to be a"):
        onnx_backend.prepare(
            model(
                [helper.make_node("SequenceMap", ["x"], ["y"], body=body)],
                [("x", proto.FLOAT, [3])],
                ["y"],
            )
        ).run([np.ones(3, np.float32)])
    with pytest.raises(GaweeError, match=r"unsupported op 'own\.Nothing' of node 'Nothing_0'"):
        onnx_backend.prepare(
            model(
                [helper.make_node("Nothing", ["x"], ["y"], domain="own")],
                [("x", proto.STRING, [1])],
                ["y"],
            )
        ).run([np.array(["a"], object)])
    with pytest.raises(GaweeError, match="cannot run 'SequenceAt': expected a position from -1"):
        onnx_backend.prepare(
            model(
                [
                    helper.make_node("SequenceConstruct", ["x"], ["s"]),
                    helper.make_node("SequenceAt", ["s", "i"], ["y"]),
                ],
                [("x", proto.FLOAT, [3]), ("i", proto.INT64, [])],
                ["y"],
            )
        ).run([np.ones(3, np.float32), np.array(7)])


def test_images_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    node = helper.make_node("ImageDecoder", ["x"], ["y"])

    with pytest.raises(GaweeError, match=r"cannot decode an image without Pillow\n.*pip install"):
        onnx_backend.run_node(node, [np.zeros(4, np.uint8)])


@pytest.mark.parametrize("equation", ["ii->i", "ii", "...ii->...i", "iji,j->i", "iii->i"])
def test_a_label_that_is_there_twice_is_a_diagonal(equation: str) -> None:
    rng = np.random.default_rng(6)
    shapes = {"ii": [(3, 3)], "...ii": [(2, 4, 4)], "iji,j": [(3, 2, 3), (2,)], "iii": [(3, 3, 3)]}
    given = [rng.standard_normal(shape) for shape in shapes[equation.partition("->")[0]]]
    names = [f"x{at}" for at in range(len(given))]
    node = helper.make_node("Einsum", names, ["y"], equation=equation)

    (y,) = onnx_backend.run_node(node, given, level="gawee")

    assert_allclose(as_array(y), np.einsum(equation, *given), rtol=1e-12)
    with pytest.raises(GaweeError, match="expected axes of one size for a label that is there"):
        onnx_backend.run_node(
            helper.make_node("Einsum", ["x"], ["y"], equation="ii->i"), [np.ones((2, 3))]
        )
