"""A graph of 1,400 nodes (350 in the quick run) is imported and lowered in well under a minute."""

from time import process_time

from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, AttributeValue, OpNode, TensorMeta
from gawee_dialect.levels import Level, lower_to
from tests.effort import FULL

WIDTH = 24
LAYERS = 200 if FULL else 50


def _weight(name: str, *shape: int) -> TensorMeta:
    return TensorMeta(name, shape, "float32")


def layers(count: int) -> NPU_IR:
    """Return a graph of layers of seven nodes each, around each a shortcut."""
    x = TensorMeta("x", (2, 5, WIDTH), "float32")
    weights: list[TensorMeta] = []
    nodes: list[OpNode] = []

    def node(
        op: str, inputs: list[TensorMeta], shape: tuple[int, ...], **attrs: AttributeValue
    ) -> TensorMeta:
        name = f"n{len(nodes)}"
        result = TensorMeta(name, shape, "float32")
        nodes.append(OpNode(name, op, inputs, [result], attrs))
        return TensorMeta(name, shape, "float32", name, 0)

    before = TensorMeta("x", (2, 5, WIDTH), "float32", "x", 0)
    shape = (2, 5, WIDTH)
    for index in range(count):
        scale, bias = _weight(f"s{index}", WIDTH), _weight(f"b{index}", WIDTH)
        matrix = _weight(f"m{index}", WIDTH, WIDTH)
        weights += [scale, bias, matrix]
        y = node("aten.layer_norm.default", [before, scale, bias], shape, normalized_shape=[WIDTH])
        y = node("aten.linear.default", [y, matrix], shape, bias=None)
        y = node("aten.gelu.default", [y], shape)
        y = node("aten.transpose.int", [y], (2, WIDTH, 5), dim0=1, dim1=2)
        y = node("aten.softmax.int", [y], (2, WIDTH, 5), dim=-1)
        y = node("aten.permute.default", [y], shape, dims=[0, 2, 1])
        before = node("aten.add.Tensor", [before, y], shape)
    return NPU_IR(
        nodes=nodes,
        graph_inputs=[x],
        graph_outputs=[before],
        weights=weights,
        model_name="layers",
        weight_name_mapping={each.name: each.name for each in weights},
    )


def seconds(count: int) -> float:
    start = process_time()
    lower_to(import_ir(layers(count)), Level.LINALG)
    return process_time() - start


def test_large_graphs_are_imported_and_lowered_in_less_than_a_minute() -> None:
    seconds(3)  # imports and caches

    small, large = seconds(LAYERS // 5), seconds(LAYERS)

    # Five times the nodes; quadratic growth would be 25 times. The limit leaves room for noise.
    assert large < 10 * small
    assert large < 60
