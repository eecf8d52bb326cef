"""Loops, scans and branches, which are written out when a model is read, against ONNX Runtime."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.model import load
from tests.closeness import assert_allclose

pytestmark = pytest.mark.usefixtures("unoptimized")

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper, numpy_helper, FLOAT, INT64, BOOL = onnx.helper, onnx.numpy_helper, 1, 7, 9


def info(name, shape, type=FLOAT):
    return helper.make_tensor_value_info(name, type, shape)


def model(nodes, inputs, outputs, initializers=()):
    """Return a model; inputs and outputs are what `info` takes."""
    graph = helper.make_graph(
        nodes,
        "g",
        [info(*each) for each in inputs],
        [info(*each) for each in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in initializers],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def check(tmp_path, made, inputs):
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    expected = runtime.InferenceSession(str(path)).run(None, inputs)
    for level in ("gawee", "llvm"):
        got = list(load(path).runner(level)(inputs).values())  # one code for all inputs of a model
        for one, wanted in zip(got, expected, strict=True):
            # A handful of additions and products, in the same order.
            assert_allclose(one, wanted, rtol=1e-6, atol=1e-6)


def refused(tmp_path, made, match):
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    with pytest.raises(GaweeError, match=match):
        load(path)


def looped(trips, going=True, *, known=True):
    """Return a loop that doubles s, for at most four steps, and keeps s + i of every step."""
    body = helper.make_graph(
        [
            helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
            helper.make_node("Add", ["s", "f"], ["kept"]),
            helper.make_node("Add", ["s", "s"], ["next"]),
            helper.make_node("Less", ["i", "most"], ["more"]),
        ],
        "body",
        [info("i", (), INT64), info("c", (), BOOL), info("s", (2, 3))],
        [info("more", (), BOOL), info("next", (2, 3)), info("kept", (2, 3))],
    )
    node = helper.make_node("Loop", ["trips", "going", "x"], ["y", "every"], body=body)
    constants = [("going", np.asarray(going)), ("most", np.int64(3))]
    inputs: list[tuple[str | int | tuple[int, ...], ...]] = [("x", (2, 3))]
    if known:
        constants.append(("trips", np.asarray(trips, np.int64)))
    else:
        inputs.append(("trips", (), INT64))
    return model([node], inputs, [("y", (2, 3)), ("every", (None, 2, 3))], constants)


X = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
POSITIVE = np.abs(X) + 1


@pytest.mark.parametrize("trips", [1, 4, 100])
def test_a_loop_keeps_what_each_of_its_steps_makes(tmp_path, trips):
    check(tmp_path, looped(trips), {"x": X})


def repeated(trips, op_type, **attributes):
    """Return a loop that goes on to its last step, and does something with x at each of them."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["goes"]),
            helper.make_node(op_type, ["s", "x"], ["t"], **attributes),
        ],
        "body",
        [info("i", (), INT64), info("go", (), BOOL), info("s", (None, 3))],
        [info("goes", (), BOOL), info("t", (None, 3))],
    )
    node = helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)
    return model([node], [("x", (2, 3))], [("y", (None, 3))], [("trips", np.int64(trips))])


def test_a_loop_whose_state_keeps_its_shape_is_a_loop(tmp_path):
    check(tmp_path, repeated(2000, "Max"), {"x": X})

    assert str(load(tmp_path / "net.onnx").module).count("gawee.maximum") == 1


def test_a_loop_whose_state_grows_is_written_out(tmp_path):
    check(tmp_path, repeated(6, "Concat", axis=0), {"x": X})
    text = "expected at most 1024 steps, got 2000"
    refused(tmp_path, repeated(2000, "Concat", axis=0), text)


def test_loops_that_cannot_be_written_out_are_refused(tmp_path):
    refused(tmp_path, looped(2, known=False), "expected the number of steps to be known when")
    refused(tmp_path, looped([2, 2]), "expected the number of steps to be one number, got 2")
    text = "expected at least one step, whose outputs are kept, got none"
    refused(tmp_path, looped(5, going=False), text)


SEQUENCE = np.random.default_rng(1).standard_normal((4, 3, 2)).astype(np.float32)


def scanned(shapes=((4, 3, 2), (4, 3)), count=2, **attributes):
    """Return a scan that adds up rows of p and q, and keeps the sums."""
    body = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["a", "last"], ["row"], keepdims=0),
            helper.make_node("Add", ["row", "b"], ["both"]),
            helper.make_node("Add", ["s", "both"], ["t"]),
            helper.make_node("Neg", ["t"], ["kept"]),
        ],
        "body",
        [info("s", (3,)), info("a", (3, 2)), info("b", (3,))],
        [info("t", (3,)), info("kept", (3,))],
    )
    node = helper.make_node(
        "Scan", ["x", "p", "q"], ["y", "every"], body=body, num_scan_inputs=count, **attributes
    )
    inputs = [("x", (3,)), ("p", shapes[0]), ("q", shapes[1])]
    outputs = [("y", (3,)), ("every", None)]
    return model([node], inputs, outputs, [("last", np.array([-1]))])


def test_a_scan_walks_along_axes_in_either_direction(tmp_path):
    state, q = SEQUENCE[0, :, 0].copy(), SEQUENCE[:, :, 1].copy()

    check(tmp_path, scanned(), {"x": state, "p": SEQUENCE, "q": q})
    check(
        tmp_path,
        scanned(
            ((3, 4, 2), (4, 3)),
            scan_input_axes=[1, 0],
            scan_input_directions=[1, 0],
            scan_output_axes=[1],
            scan_output_directions=[1],
        ),
        {"x": state, "p": SEQUENCE.transpose(1, 0, 2).copy(), "q": q},
    )


@pytest.mark.parametrize("back", [0, 1])
def test_a_scan_of_many_steps_is_a_loop(tmp_path, back):
    p = np.random.default_rng(2).standard_normal((3, 17, 2)).astype(np.float32)
    q = np.random.default_rng(3).standard_normal((17, 3)).astype(np.float32)
    made = scanned(
        ((3, 17, 2), (17, 3)),
        scan_input_axes=[1, 0],
        scan_input_directions=[back, back],
        scan_output_axes=[1],
        scan_output_directions=[back],
    )

    check(tmp_path, made, {"x": q[0], "p": p, "q": q})

    assert str(load(tmp_path / "net.onnx").module).count("gawee.reduce_sum") == 1


def test_a_scan_of_both_directions_is_written_out(tmp_path):
    p = np.random.default_rng(2).standard_normal((7, 3, 2)).astype(np.float32)
    q = np.random.default_rng(3).standard_normal((7, 3)).astype(np.float32)
    made = scanned(((7, 3, 2), (7, 3)), scan_input_directions=[1, 0])

    check(tmp_path, made, {"x": q[0], "p": p, "q": q})

    assert str(load(tmp_path / "net.onnx").module).count("gawee.reduce_sum") == 7


def test_scans_that_make_no_sense_are_refused(tmp_path):
    text = "expected attribute 'num_scan_inputs' to count some of the inputs"
    refused(tmp_path, scanned(count=4), text)
    text = r"expected scanned tensors of one length, got \[4, 5\]"
    refused(tmp_path, scanned(((4, 3, 2), (5, 3))), text)
    text = "expected attribute 'scan_input_axes' to be 2 integers"
    refused(tmp_path, scanned(scan_input_axes=[1]), text)
    refused(tmp_path, scanned(scan_input_axes=[1, 2]), "expected an axis of 2, got 2")
    made = scanned()
    made.graph.node[0].input[2] = ""
    refused(tmp_path, made, "expected scanned tensors, got none")


def branched(*ops):
    """Return an If of a condition that comes with a run."""
    branches = [
        helper.make_graph([helper.make_node(op, ["x"], ["r"])], "branch", [], [info("r", (None,))])
        for op in ops
    ]
    node = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    return model([node], [("x", (2, 3)), ("c", (), BOOL)], [("y", None)])


@pytest.mark.parametrize("condition", [True, False])
def test_branches_of_one_type_are_computed_and_one_is_chosen(tmp_path, condition):
    check(tmp_path, branched("Neg", "Abs"), {"x": X, "c": np.asarray(condition)})


def weighed(*nodes):
    """Return an If whose first branch is a product with weights, and its second two nodes."""
    yes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Softmax", ["p"], ["r"], axis=-1),
    ]
    no = [helper.make_node("ReduceMax", ["x", "last"], ["m"]), *nodes]
    branches = [
        helper.make_graph(each, "branch", [], [info("r", (None, None))]) for each in (yes, no)
    ]
    node = helper.make_node("If", ["c"], ["b"], then_branch=branches[0], else_branch=branches[1])
    end = helper.make_node("Relu", ["b"], ["y"])
    weights = [("w", np.arange(9, dtype=np.float32).reshape(3, 3) / 9), ("last", np.array([-1]))]
    inputs = [("x", (2, 3)), ("c", (), BOOL)]
    return model([node, end], inputs, [("y", (2, 3))], weights)


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_of_more_than_elements_is_run_where_it_is_chosen(tmp_path, condition):
    made = weighed(helper.make_node("Sub", ["x", "m"], ["r"]))

    check(tmp_path, made, {"x": X, "c": np.asarray(condition)})

    text = str(load(tmp_path / "net.onnx").module)
    assert text.count("scf.if") == 1
    assert "gawee.where" not in text


def test_a_branch_is_written_as_it_was_read(tmp_path):
    onnx.save(weighed(helper.make_node("Sub", ["x", "m"], ["r"])), tmp_path / "net.onnx")
    read = load(tmp_path / "net.onnx")
    written = onnx.load_from_string(export_onnx(read.module, read.bound))
    onnx.checker.check_model(written, full_check=True)

    for condition in (True, False):
        check(tmp_path, written, {"x": X, "c": np.asarray(condition)})

    again = load(tmp_path / "net.onnx")
    assert export_onnx(again.module, again.bound) == written.SerializeToString()


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("first", [-1.0, 1.0])
def test_branches_within_branches_are_run_where_they_are_chosen(tmp_path, condition, first):
    large = helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0)
    positive = helper.make_node("Less", ["limit", "top"], ["inner"])
    limit = helper.make_node("Constant", [], ["limit"], value_float=0.0)
    branches = [
        helper.make_graph([helper.make_node(*each)], f"{name}_b", [], [info(name, (2, 3))])
        for name, each in (("u", ("Sub", ["x", "m"], ["u"])), ("v", ("MatMul", ["x", "w"], ["v"])))
    ]
    inner = helper.make_node(
        "If", ["inner"], ["r"], then_branch=branches[0], else_branch=branches[1]
    )

    made = weighed(large, limit, positive, inner)

    check(tmp_path, made, {"x": first * POSITIVE, "c": np.asarray(condition)})


def until(condition, trips=""):
    """Return a loop that multiplies x by weights until its sum is large, for some steps at most."""
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["s", "w"], ["t"]),
            helper.make_node("ReduceSum", ["t"], ["sum"], keepdims=0),
            helper.make_node("Less", ["sum", "most"], ["more"]),
        ],
        "body",
        [info("i", (), INT64), info("go", (), BOOL), info("s", (2, 3))],
        [info("more", (), BOOL), info("t", (2, 3))],
    )
    node = helper.make_node("Loop", [trips, condition, "x"], ["y"], body=body)
    weights = [
        ("w", np.full((3, 3), 0.5, np.float32)),
        ("most", np.float32(100)),
        ("often", np.int64(2**62)),
        ("no", np.asarray(False)),
    ]
    inputs: list[tuple[str | int | tuple[int, ...], ...]] = [("x", (2, 3))]
    inputs += [("n", (), INT64)] if trips == "n" else []
    inputs += [("c", (), BOOL)] if condition == "c" else []
    return model([node], inputs, [("y", (2, 3))], weights)


@pytest.mark.parametrize("trips", ["", "often"])
def test_a_loop_goes_on_as_long_as_a_run_says(tmp_path, trips):
    check(tmp_path, until("", trips), {"x": POSITIVE})
    check(tmp_path, until("", trips), {"x": 100 * POSITIVE})

    assert str(load(tmp_path / "net.onnx").module).count("scf.while") == 1


@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_a_loop_takes_as_many_steps_as_an_input_says(tmp_path, count):
    check(tmp_path, until("", "n"), {"x": POSITIVE, "n": np.asarray(count)})


@pytest.mark.parametrize("condition", [True, False])
def test_a_loop_may_start_by_an_input(tmp_path, condition):
    check(tmp_path, until("c"), {"x": POSITIVE, "c": np.asarray(condition)})


def test_branches_of_other_types_want_the_condition(tmp_path):
    refused(tmp_path, branched("Neg", "Shape"), "expected the condition to be known when")


def of_open_sizes(op_type, second, **bodies):
    """Return a model of one node on x, whose batch and length are open, and on a second input."""
    shape = ("batch", "length", 8)
    graphs = {name: helper.make_graph(*each) for name, each in bodies.items()}
    nodes = [
        helper.make_node(op_type, ["c", "", "x"] if op_type == "Loop" else ["c"], ["y"], **graphs),
        helper.make_node("Relu", ["y"], ["z"]),
    ]
    weights = [("w", np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32) / 3)]
    return model(nodes, [("x", shape), ("c", (), second)], [("z", ("batch", None, 8))], weights)


def matmul(name, *operands):
    return helper.make_node("MatMul", operands, [name])


OPEN = ("batch", "length", 8)
CHOICE = of_open_sizes(
    "If",
    BOOL,
    then_branch=([matmul("a", "x", "w")], "yes", [], [info("a", OPEN)]),
    else_branch=(
        [
            helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
            matmul("s", "x", "t"),
            helper.make_node("Softmax", ["s"], ["p"]),
            matmul("b", "p", "x"),
        ],
        "no",
        [],
        [info("b", OPEN)],
    ),
)
STEPS = of_open_sizes(
    "Loop",
    INT64,
    body=(
        [
            matmul("a", "v", "w"),
            helper.make_node("Tanh", ["a"], ["b"]),
            helper.make_node("Identity", ["go"], ["goes"]),
        ],
        "body",
        [info("i", (), INT64), info("go", (), BOOL), info("v", OPEN)],
        [info("goes", (), BOOL), info("b", OPEN)],
    ),
)


@pytest.mark.parametrize(
    ("made", "decides"), [(CHOICE, (np.True_, np.False_)), (STEPS, map(np.int64, (0, 1, 4)))]
)
def test_one_code_for_all_sizes_has_what_a_run_decides(tmp_path, made, decides):
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    sizes = {"batch": (1, 16), "length": (1, 64)}
    compiled, session = load(path).compile(sizes=sizes), runtime.InferenceSession(str(path))

    for decided in decides:
        for batch, length in ((1, 1), (5, 33), (16, 64)):
            x = np.random.default_rng(1).standard_normal((batch, length, 8)).astype(np.float32)
            inputs = {"x": x, "c": np.asarray(decided)}
            # Sums of up to 64 products, in another order.
            assert_allclose(compiled(**inputs), session.run(None, inputs)[0], rtol=1e-5, atol=1e-5)


def test_branches_that_make_other_sizes_are_refused(tmp_path):
    grown = helper.make_node("Concat", ["x", "x"], ["a"], axis=1)
    made = of_open_sizes(
        "If",
        BOOL,
        then_branch=([grown], "yes", [], [info("a", ("batch", None, 8))]),
        else_branch=([helper.make_node("Relu", ["x"], ["b"])], "no", [], [info("b", OPEN)]),
    )
    refused(tmp_path, made, "expected the condition to be known when the graph is read")
