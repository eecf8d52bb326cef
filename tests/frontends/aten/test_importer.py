"""Graphs as modules: arguments, names, places, what is checked and what is refused."""

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import entry_arguments, find_function, output_names
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.frontends.npu_ir.aten import registry
from gawee_dialect.frontends.npu_ir.aten.registry import find_mapping, register_op
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import (
    GETITEM,
    NPU_IR,
    AttributeValue,
    Constant,
    ConversionError,
    OpNode,
    TensorMeta,
)
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.interpreter import run_module
from gawee_dialect.locations import node_name, place


def tensor(name: str, *shape: int, dtype: str = "float32") -> TensorMeta:
    return TensorMeta(name, shape, dtype)


def node(
    name: str,
    op: str,
    inputs: Sequence[TensorMeta],
    output: TensorMeta | Sequence[TensorMeta],
    **attrs: AttributeValue,
) -> OpNode:
    outputs = [output] if isinstance(output, TensorMeta) else list(output)
    return OpNode(name, op, list(inputs), outputs, dict(attrs))


def graph(
    nodes: Sequence[OpNode], outputs: Sequence[TensorMeta], weights: Sequence[TensorMeta] = ()
) -> NPU_IR:
    return NPU_IR(list(nodes), [tensor("x", 2, 3)], list(outputs), list(weights))


def main(ir: NPU_IR) -> FuncOp:
    function = find_function(import_ir(ir))
    assert function is not None
    return function


def run(ir: NPU_IR, **arrays: np.ndarray) -> list[np.ndarray]:
    return list(run_module(import_ir(ir), arrays).values())


X = tensor("x", 2, 3)
Y = tensor("y", 2, 3)
ONES = np.ones((2, 3), np.float32)


def test_arguments_are_inputs_and_the_weights_that_nodes_read() -> None:
    weights = [tensor("w.a", 3), tensor("unused", 7), tensor("table", 3), tensor("c", 3)]
    ir = graph(
        [
            node("s", "aten.mul.Tensor", [X, tensor("p_w_a", 3)], tensor("s", 2, 3)),
            node("t", "aten.add.Tensor", [tensor("s", 2, 3), tensor("c_c", 3)], tensor("t", 2, 3)),
            node("y", "aten.add.Tensor", [tensor("t", 2, 3), tensor("c_table", 3)], Y),
        ],
        [Y],
        weights,
    )
    ir.weight_name_mapping = {"p_w_a": "w.a", "c_c": "c", "c_table": "table"}
    ir.constants = {"table": Constant(np.array([1, 2, 3], np.float32), "float32")}
    function = main(ir)

    described = [(str(each.kind), each.name) for each in entry_arguments(function)]

    assert described == [("input", "x"), ("parameter", "w.a"), ("constant", "c")]
    two = np.full(3, 2, np.float32)
    (y,) = run(ir, x=ONES, **{"w.a": two, "c": two})
    np.testing.assert_array_equal(y, [[5, 6, 7]] * 2)


def test_ops_know_their_nodes() -> None:
    relu = node("layer.0", "aten.relu.default", [X], Y)
    relu.place = ("model.py", 12, 1)
    exp = node("e", "aten.exp.default", [Y], tensor("e", 2, 3))
    function = main(graph([relu, exp], [tensor("e", 2, 3)]))

    first, second, _ = function.body.block.ops

    assert (node_name(first.location), place(first.location)) == ("layer.0", "model.py:12:1")
    assert (node_name(second.location), place(second.location)) == ("e", None)


def test_what_nothing_reads_is_left_out() -> None:
    ir = graph(
        [
            node("unused", "aten.bessel.default", [X], tensor("unused", 2, 3)),
            node("y", "aten.relu.default", [X], Y),
        ],
        [Y],
    )

    assert [op.name for op in main(ir).body.block.ops] == ["gawee.relu", "func.return"]


def test_an_output_may_be_an_input_and_come_twice() -> None:
    ir = graph([node("y", "aten.relu.default", [X], Y)], [X, Y, Y])

    assert output_names(main(ir)) == ["x", "y", "y_2"]
    np.testing.assert_array_equal(run(ir, x=ONES), [ONES] * 3)


def test_a_tensor_that_may_be_absent_is_so_where_a_file_has_no_nulls() -> None:
    x, y = tensor("x", 2, 3, 5), tensor("y", 2, 3, 5)
    options = {"use_input_stats": True, "momentum": 0.1, "eps": 1e-5, "cudnn_enabled": True}
    ir = NPU_IR([node("y", "aten.instance_norm.default", [x], y, **options)], [x], [y], [])
    value = np.arange(30, dtype=np.float32).reshape(2, 3, 5) ** 2

    (found,) = run(ir, x=value)

    centred = value - value.mean(2, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(2, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, centred / deviation, rtol=1e-5)


def test_getitem_selects_a_result() -> None:
    parts = [tensor("split_0", 2, 1), tensor("split_1", 2, 2)]
    ir = graph(
        [
            node("split", "aten.split_with_sizes.default", [X], parts, split_sizes=[1, 2], dim=1),
            node("g", GETITEM, parts, tensor("g", 2, 2), index=1),
        ],
        [tensor("g", 2, 2)],
    )

    np.testing.assert_array_equal(run(ir, x=ONES), [ONES[:, 1:]])


def test_every_op_that_is_not_supported_is_listed_at_once() -> None:
    ir = graph(
        [
            node("a", "aten.bessel.default", [X], tensor("a", 2, 3)),
            node("b", "aten.bessel.default", [X], tensor("b", 2, 3)),
            node("c", "other.op.default", [X], tensor("c", 2, 3)),
            node("d", "aten.add.Tensor", [tensor("a", 2, 3), X], tensor("d", 2, 3)),
            node("e", "aten.reshape.default", [X], tensor("e", 7), shape=[7]),
        ],
        [tensor(name, 2, 3) for name in "bcd"] + [tensor("e", 7)],
    )

    with pytest.raises(ConversionError) as caught:
        import_ir(ir)

    messages = sorted(each.message for each in caught.value.diagnostics)
    assert messages == [
        "'aten.reshape.default' node expected shape 7 (7 elements) to keep the 6 elements of the "
        "input",
        "unsupported op 'aten.bessel.default' of node 'a' and 1 more",
        "unsupported op 'other.op.default' of node 'c'",
    ]


REFUSED = {
    "expected output 'y' of shape 2x3, got 3x2": node(
        "y", "aten.relu.default", [X], tensor("y", 3, 2)
    ),
    r"expected output 'y' of type 'tensor<2x3xf32>', got 'tensor<2x3xf64>'": node(
        "y", "aten.relu.default", [X], tensor("y", 2, 3, dtype="float64")
    ),
    "unsupported dtype 'uint32'; supported: float32": node(
        "y", "aten.relu.default", [X], tensor("y", 2, 3, dtype="uint32")
    ),
    "expected argument 'dim' to be an integer, got 'one'": node(
        "y", "aten.unsqueeze.default", [X], Y, dim="one"
    ),
    "expected argument 'dim', got none": node("y", "aten.unsqueeze.default", [X], Y),
    "expected argument 'self' to be a tensor, got none": node(
        "y", "aten.relu.default", [], Y, self=None
    ),
    "unknown argument 'dims'; arguments: self, dim": node(
        "y", "aten.unsqueeze.default", [X], Y, dim=0, dims=[1]
    ),
    "expected 1 tensors among its arguments, got 2": node("y", "aten.relu.default", [X, X], Y),
    "expected 3 tensors of argument 'tensors', got 1": node(
        "y", "aten.cat.default", [X], Y, _tensor_list_sizes=[3]
    ),
    "expected dim from -3 to 2, got 5": node("y", "aten.unsqueeze.default", [X], Y, dim=5),
    "expected 1 outputs, got 2": node("y", "aten.relu.default", [X], [Y, tensor("z", 2, 3)]),
    "unsupported dropout with train=True": node(
        "y", "aten.dropout.default", [X], Y, p=0.5, train=True
    ),
    "unsupported rounding_mode 'up'; supported: floor, trunc": node(
        "y", "aten.div.Tensor_mode", [X, X], Y, rounding_mode="up"
    ),
    "unsupported index by a mask: the shape of its result": node(
        "y", "aten.index.Tensor", [X, tensor("x", 2, 3)], Y, _tensor_list_sizes=[1]
    ),
    "expected running_mean and running_var, got none": node(
        *("y", "aten.batch_norm.default", [X], Y),
        **dict.fromkeys(("weight", "bias", "running_mean", "running_var")),
        training=False,
        momentum=0.1,
        eps=1e-5,
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_node_that_does_not_fit_is_refused(message: str) -> None:
    ir = graph([REFUSED[message]], REFUSED[message].outputs[:1])
    if "mask" in message:
        ir.graph_inputs[0].dtype = "bool"

    with pytest.raises(ConversionError, match=message.replace("(", r"\(")):
        import_ir(ir)


def test_a_dtype_of_an_input_is_refused() -> None:
    ir = graph([node("y", "aten.relu.default", [X], Y)], [Y])
    ir.graph_inputs = [tensor("x", 2, 3, dtype="uint32")]

    with pytest.raises(GaweeError, match="graph input 'x': unsupported dtype 'uint32'"):
        import_ir(ir)


def test_an_output_that_nobody_makes_is_refused() -> None:
    with pytest.raises(GaweeError, match="expected a node that makes graph output 'y', got none"):
        import_ir(graph([], [Y]))


def test_users_add_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.ATEN, "_mappings", dict(registry.ATEN._mappings))

    @register_op("my::scale")
    def scale(emit: Emitter, x: SSAValue, factor: float = 2.0) -> SSAValue:
        return emit(MulOp(x, emit.number(factor, tensor_type(x).element_type)))

    @register_op("my::scale.twice")
    def twice(emit: Emitter, x: SSAValue) -> list[SSAValue]:
        return [x, emit(AddOp(x, x))]

    both = [tensor("t_0", 2, 3), tensor("t_1", 2, 3)]
    ir = graph(
        [
            node("s", "my.scale.default", [X], tensor("s", 2, 3), factor=3),
            node("t", "my::scale.twice", [tensor("s", 2, 3)], both),
        ],
        both,
    )

    np.testing.assert_array_equal(run(ir, x=ONES), [3 * ONES, 6 * ONES])


def test_names_are_looked_up_from_the_exact_to_the_general() -> None:
    def name(op: str) -> str | None:
        mapping = find_mapping(op)
        return None if mapping is None else mapping.name

    assert name("aten.div.Tensor_mode") == "aten.div.Tensor_mode"
    assert name("aten.add.Scalar") == "aten.add"
    assert name("aten.add_.Tensor") == "aten.add"
    assert name("aten.scatter_.value") == "aten.scatter.value"
    assert name("aten.__and__.Tensor") == "aten.__and__"
    assert name("aten.arange.unknown") is None


def change_in_place(read_later: TensorMeta) -> NPU_IR:
    view = tensor("v", 6)
    return graph(
        [
            node("b", "aten.neg.default", [X], tensor("b", 2, 3)),
            node("v", "aten.view.default", [tensor("b", 2, 3)], view, size=[6]),
            node("r", "aten.relu_.default", [tensor("b", 2, 3)], tensor("r", 2, 3)),
            node("y", "aten.abs.default", [read_later], tensor("y", *read_later.shape)),
        ],
        [tensor("y", *read_later.shape)],
    )


def test_what_was_written_in_place_is_read_afterwards() -> None:
    (y,) = run(change_in_place(tensor("b", 2, 3)), x=ONES)

    np.testing.assert_array_equal(y, 0 * ONES)


def test_a_view_of_what_was_written_in_place_is_refused() -> None:
    message = "unsupported change in place of 'b', as 'v' may share its memory and is read later"
    with pytest.raises(ConversionError, match=message):
        import_ir(change_in_place(tensor("v", 6)))


def test_a_part_that_is_written_in_place_is_written_in_the_whole() -> None:
    row, cell = tensor("row", 3), tensor("cell", 2)
    ir = graph(
        [
            node("b", "aten.neg.default", [X], tensor("b", 2, 3)),
            node("row", "aten.select.int", [tensor("b", 2, 3)], row, dim=0, index=-1),
            node("cell", "aten.slice.Tensor", [row], cell, dim=0, start=1, end=9),
            node("f", "aten.fill_.Scalar", [cell], tensor("f", 2), value=5),
            node("g", "aten.mul_.Scalar", [row], tensor("g", 3), other=2),
        ],
        [tensor("b", 2, 3)],
    )

    np.testing.assert_array_equal(run(ir, x=ONES), [[[-1, -1, -1], [-2, 10, 10]]])


def test_what_is_written_in_place_keeps_its_element_type() -> None:
    small = tensor("b", 2, 3, dtype="float16")
    ir = graph(
        [
            node("b", "aten.to.dtype", [X], small, dtype="torch.float16"),
            node("y", "aten.add_.Tensor", [small, X], tensor("y", 2, 3, dtype="float16")),
        ],
        [tensor("y", 2, 3, dtype="float16")],
    )

    (y,) = run(ir, x=ONES)
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y, 2 * ONES)


def read_behind_relu(op: str, *shape: int) -> NPU_IR:
    """Every second element in memory of relu of an op's result."""
    moved, positive, read = tensor("t", *shape), tensor("r", *shape), tensor("y", 3)
    nodes = [
        node("t", op, [X], moved),
        node("r", "aten.relu.default", [moved], positive),
        node("y", "aten.as_strided.default", [positive], read, size=[3], stride=[2]),
    ]
    return graph(nodes, [read])


def test_memory_of_an_elementwise_op_is_read() -> None:
    (read,) = run(
        read_behind_relu("aten.clone.default", 2, 3), x=np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    )

    assert read.tolist() == [0, 2, 4]


def test_memory_in_another_order_is_refused_behind_an_elementwise_op() -> None:
    message = "unsupported as_strided in the order of the result of 'gawee.transpose'"
    with pytest.raises(GaweeError, match=message):
        import_ir(read_behind_relu("aten.t.default", 3, 2))
