"""Random models of ONNX, read by our reader, and computed by ONNX Runtime too:
`gawee-fuzz --load tests/graph_fuzz/onnx_models.py`.

Node after node: what ONNX's own shape inference refuses is left out. Ops at whose jumps a last bit
decides take inputs alone.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_graph import (
    FEW_ELEMENTS,
    Settings,
    TrialGenerator,
    depth_of,
    stages_of,
    trial_of,
)
from gawee_dialect.fuzz.random_pipeline import Depth
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.hints import isa

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)  # a file that is loaded is not imported from its package

from tests.graph_fuzz.onnx_origin import OnnxOrigin  # noqa: E402

OPSET, IR_VERSION = 18, 8
MOST_ELEMENTS = 2000
COUNTS = (1, 1, 2, 2, 3, 4, 6)

UNARY = (
    *("Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Erf", "Softplus", "Softsign", "Sqrt"),
    *("HardSigmoid", "HardSwish", "Elu", "LeakyRelu", "Selu", "Sin", "Cos", "Identity", "Mish"),
    *("Reciprocal", "Log", "GlobalAveragePool", "GlobalMaxPool", "Celu", "ThresholdedRelu"),
)
JUMPING = ("Floor", "Ceil", "Round", "Sign")
BINARY = ("Add", "Sub", "Mul", "Max", "Min", "Mean", "Sum")
COMPARING = ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal")
ALONG = ("Softmax", "LogSoftmax", "Flatten", "Hardmax")
REDUCTIONS = (
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2"),
    *("ReduceLogSumExp", "ReduceSumSquare"),
)


Attribute: TypeAlias = int | float | str | Sequence[int]


@dataclass(frozen=True)
class Value:
    """A float tensor of the model."""

    name: str
    shape: tuple[int, ...]


class _Model:
    """A model that grows."""

    def __init__(self, draw: Draw, most_elements: int) -> None:
        self.draw, self._most = draw, most_elements
        self._nodes: list[NodeProto] = []
        self._inputs: list[Value] = []
        self._made: list[Value] = []
        self._names = 0

    def name(self, kind: str) -> str:
        """Return a new name."""
        self._names += 1
        return f"{kind}{self._names}"

    def input(self, shape: Sequence[int]) -> Value:
        """Return a new input of the model."""
        self._inputs.append(Value(self.name("x"), tuple(shape)))
        return self._inputs[-1]

    def fitting(self, shape: Sequence[int]) -> Value:
        """Return a value of a shape, a new input where there is none."""
        known = [each for each in self._made if each.shape == tuple(shape)]
        return self.draw.one_of(known) if known else self.input(shape)

    def any(self, least: int = 0) -> Value:
        """Return a value of so many axes at least, which may be new."""
        known = [each for each in self._made if len(each.shape) >= least]
        if known and self.draw.chance(0.8):
            return self.draw.one_of(known)
        return self.input(self.draw.shape(least=least))

    def integers(self, numbers: Sequence[int]) -> str:
        """Add a constant of int64; returns its name."""
        from onnx import TensorProto, helper

        name = self.name("c")
        tensor = helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
        self._nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def add(self, op: str, inputs: Sequence[str], **attributes: Attribute) -> None:
        """Add a node of one output, unless shape inference refuses it, or it is large."""
        from onnx import helper
        from onnx.shape_inference import InferenceError

        name, before = self.name("y"), len(self._nodes)
        node = helper.make_node(op, list(inputs), [name])
        node.attribute.extend(helper.make_attribute(*each) for each in attributes.items())
        self._nodes.append(node)
        try:
            shape = self._inferred(name)
        except InferenceError:
            shape = None
        if shape is None or min(shape, default=1) < 1 or prod(shape) > self._most:
            del self._nodes[before]
        else:
            self._made.append(Value(name, shape))

    def _inferred(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a float value, None where it is none, or open."""
        from onnx import TensorProto, shape_inference

        known = shape_inference.infer_shapes(self.proto([name]), strict_mode=True)
        (output,) = known.graph.output
        type = output.type.tensor_type
        if type.elem_type != TensorProto.FLOAT or not type.HasField("shape"):
            return None
        sizes = [each.dim_value if each.HasField("dim_value") else -1 for each in type.shape.dim]
        return None if -1 in sizes else tuple(sizes)

    def proto(self, outputs: Sequence[str]) -> "ModelProto":
        """Return the model with some of its values as outputs."""
        from onnx import TensorProto, helper

        inputs = [
            helper.make_tensor_value_info(each.name, TensorProto.FLOAT, each.shape)
            for each in self._inputs
        ]
        shapes = {each.name: each.shape for each in self._made}
        results = [
            helper.make_tensor_value_info(each, TensorProto.FLOAT, shapes.get(each))
            for each in outputs
        ]
        graph = helper.make_graph(self._nodes, "random", inputs, results)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)

    def compare(self, op: str, inputs: Sequence[str], name: str) -> None:
        """Add a node whose result is of truth values."""
        from onnx import helper

        self._nodes.append(helper.make_node(op, list(inputs), [name]))

    @property
    def made(self) -> Sequence[Value]:
        """All that nodes compute."""
        return self._made

    @property
    def values(self) -> Sequence[str]:
        """Names of all that nodes compute."""
        return [each.name for each in self._made]

    @property
    def results(self) -> Sequence[str]:
        """Names of what no node reads."""
        read = {name for node in self._nodes for name in node.input}
        return [name for name in self.values if name not in read]


def _unary(model: _Model) -> None:
    op = model.draw.one_of((*UNARY, *JUMPING))
    x = model.input(model.draw.shape()) if op in JUMPING else model.any()
    model.add(op, [x.name])


def _binary(model: _Model) -> None:
    x = model.any()
    small = [size if model.draw.chance() else 1 for size in x.shape][model.draw.integer(0, 4) :]
    operands = model.draw.permuted((x, model.fitting(small)))
    model.add(model.draw.one_of(BINARY), [each.name for each in operands])


def _divided(model: _Model) -> None:
    x = model.any()
    model.add("Div", [x.name, model.input(x.shape).name])


def _chosen(model: _Model) -> None:
    """Add a choice by a comparison of inputs."""
    shape = model.draw.shape()
    a, b = model.input(shape), model.input(shape)
    bit = model.name("b")
    model.compare(model.draw.one_of(COMPARING), [a.name, b.name], bit)
    model.add("Where", [bit, model.fitting(shape).name, model.fitting(shape).name])


def _along(model: _Model) -> None:
    op = model.draw.one_of(ALONG)
    x = model.input(model.draw.shape(least=1)) if op == "Hardmax" else model.any(least=1)
    model.add(op, [x.name], axis=model.draw.axis(x.shape))


def _reduction(model: _Model) -> None:
    x = model.any()
    axes = model.draw.permuted(range(len(x.shape)))[model.draw.integer(0, len(x.shape)) :]
    op, keep = model.draw.one_of(REDUCTIONS), int(model.draw.chance())
    if op == "ReduceSum" or not axes:
        model.add(op, [x.name, *([model.integers(axes)] if axes else [])], keepdims=keep)
    else:
        model.add(op, [x.name, model.integers(axes)], keepdims=keep)


def _matmul(model: _Model) -> None:
    a = model.any(least=1)
    b = model.fitting([*model.draw.shape(model.draw.integer(0, 1)), a.shape[-1], model.draw.size()])
    model.add("MatMul", [a.name, b.name])


def _gemm(model: _Model) -> None:
    draw = model.draw
    rows, inner, columns = draw.shape(3)
    turn_a, turn_b = draw.chance(), draw.chance()
    a = model.fitting([inner, rows] if turn_a else [rows, inner])
    b = model.fitting([columns, inner] if turn_b else [inner, columns])
    c = model.fitting(draw.one_of(([columns], [rows, 1], [1], [rows, columns])))
    names = [each.name for each in (a, b, c)][: draw.integer(2, 3)]
    factors = {"alpha": draw.real(-2, 2), "beta": draw.real(-2, 2)}
    model.add("Gemm", names, transA=int(turn_a), transB=int(turn_b), **factors)


def _window(draw: Draw, kernel: Sequence[int]) -> dict[str, Attribute]:
    axes = len(kernel)
    same = draw.chance(0.2)
    if same:
        pads: tuple[str, Attribute] = "auto_pad", draw.one_of(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        pads = "pads", [draw.integer(0, size - 1) for size in (*kernel, *kernel)]
    return dict((("kernel_shape", kernel), ("strides", draw.integers(axes, 1, 3)), pads))


def _kernel(draw: Draw, x: Value) -> list[int]:
    """Draw the sizes of a window that fits into an image."""
    return [draw.integer(1, min(3, size)) for size in x.shape[2:]]


def _dilations(
    draw: Draw, sizes: Sequence[int], over: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    """Draw dilations with which a window still fits into the padded image."""
    kernel, pads = (over.get(name) for name in ("kernel_shape", "pads"))
    if not isa(kernel, list[int]) or not isa(pads, list[int]):
        return {}
    padded = zip(sizes, kernel, pads[: len(sizes)], pads[len(sizes) :], strict=True)
    rooms = [(size + low + high - 1) // max(1, window - 1) for size, window, low, high in padded]
    return {"dilations": [draw.integer(1, max(1, min(2, room))) for room in rooms]}


def _ends_inside(sizes: Sequence[int], over: Mapping[str, Attribute]) -> bool:
    """Whether no window begins behind the image.

    Of such a one, with `ceil_mode`, ONNX's shape inference of opset 18 says that it counts.
    """
    kernel, strides, pads = (over.get(name) for name in ("kernel_shape", "strides", "pads"))
    if not isa(kernel, list[int]) or not isa(strides, list[int]) or not isa(pads, list[int]):
        return False
    axes = zip(sizes, kernel, strides, pads[: len(sizes)], pads[len(sizes) :], strict=True)
    return all(
        -(-(size + low + high - window) // step) * step < size + low
        for size, window, step, low, high in axes
    )


def _image(model: _Model) -> Value:
    known = [each for each in model.made if 3 <= len(each.shape) <= 5]
    if known and model.draw.chance(0.7):
        return model.draw.one_of(known)
    axes = model.draw.integer(1, 3)
    return model.input([*model.draw.shape(2), *model.draw.integers(axes, 3, 8)])


def _conv(model: _Model) -> None:
    draw, x = model.draw, _image(model)
    channels = x.shape[1]
    kernel = _kernel(draw, x)
    over = _window(draw, kernel)
    groups = draw.one_of([each for each in range(1, channels + 1) if channels % each == 0])
    filters = draw.integer(1, 3)
    dilated = _dilations(draw, x.shape[2:], over)
    if draw.chance(0.7):
        weight = model.input([groups * filters, channels // groups, *kernel])
        op, more = "Conv", dilated
    else:
        weight = model.input([channels, filters, *kernel])
        op, more = "ConvTranspose", {}
        over = {name: each for name, each in over.items() if name != "auto_pad"}
    bias = [model.input([groups * filters]).name] if draw.chance() else []
    model.add(op, [x.name, weight.name, *bias], group=groups, **over, **more)


def _pool(model: _Model) -> None:
    draw, x = model.draw, _image(model)
    over = _window(draw, _kernel(draw, x))
    ceil = {"ceil_mode": 1} if draw.chance() and _ends_inside(x.shape[2:], over) else {}
    if draw.chance():
        model.add("MaxPool", [x.name], **over, **ceil)
    else:
        model.add("AveragePool", [x.name], count_include_pad=int(draw.chance()), **over, **ceil)


def _normalized(model: _Model) -> None:
    draw, op = model.draw, model.draw.one_of(("batch", "instance", "layer", "LRN"))
    x = model.any(least=1) if op == "layer" else _image(model)
    if op == "LRN" and len(x.shape) != 4:
        return
    channels = [x.shape[1]] if op != "layer" else []
    if op == "LRN":
        model.add("LRN", [x.name], size=draw.one_of((1, 3, 5)), alpha=draw.real(0, 1))
    elif op == "layer":
        axis = draw.axis(x.shape)
        parts = [model.input(x.shape[axis % len(x.shape) :]) for _ in range(draw.integer(1, 2))]
        model.add("LayerNormalization", [x.name, *(each.name for each in parts)], axis=axis)
    elif op == "instance":
        parts = [model.input(channels) for _ in range(2)]
        model.add("InstanceNormalization", [x.name, *(each.name for each in parts)])
    else:
        parts = [model.input(channels) for _ in range(3)]
        # A variance is what is positive: the reader's argument is drawn so.
        variance = model.input(channels)
        names = [x.name, *(each.name for each in parts), variance.name]
        model.add("BatchNormalization", names)


def _moved(model: _Model) -> None:
    draw, x = model.draw, model.any(least=1)
    rank = len(x.shape)
    choice = draw.one_of(("Transpose", "Reshape", "Concat", "Slice", "Pad", "Expand", "Tile"))
    if choice == "Transpose":
        model.add(choice, [x.name], perm=draw.permuted(range(rank)))
    elif choice == "Reshape":
        sizes = draw.permuted(x.shape)
        if draw.chance():
            sizes[draw.integer(0, rank - 1)] = -1
        model.add(choice, [x.name, model.integers(sizes)])
    elif choice == "Concat":
        others = [model.fitting(x.shape).name for _ in range(draw.integer(0, 2))]
        model.add(choice, [x.name, *others], axis=draw.axis(x.shape))
    elif choice == "Slice":
        _slice(model, x)
    elif choice == "Pad":
        pads, mode = draw.integers(2 * rank, 0, 2), draw.one_of(("constant", "edge", "reflect"))
        if mode != "reflect" or all(size > 2 for size in x.shape):
            model.add(choice, [x.name, model.integers(pads)], mode=mode)
    elif choice == "Expand":
        model.add(choice, [x.name, model.integers([draw.size(), *x.shape])])
    else:
        model.add(choice, [x.name, model.integers(draw.integers(rank, 1, 3))])


def _slice(model: _Model, x: Value) -> None:
    draw = model.draw
    axes = draw.permuted(range(len(x.shape)))[draw.integer(0, len(x.shape) - 1) :]
    starts, ends, steps = list[int](), list[int](), list[int]()
    for axis in axes:
        size = x.shape[axis]
        low, high = sorted((draw.integer(0, size - 1), draw.integer(1, size)))
        turned = draw.chance(0.3)
        starts.append(high - 1 if turned else low)
        ends.append(low - 1 - size if turned else max(high, low + 1))
        steps.append(-1 if turned else draw.integer(1, 2))
    names = [model.integers(each) for each in (starts, ends, axes, steps)]
    model.add("Slice", [x.name, *names])


def _gathered(model: _Model) -> None:
    draw, x = model.draw, model.any(least=1)
    axis = draw.axis(x.shape)
    size = x.shape[axis]
    indices = draw.integers(draw.integer(1, 4), -size, size - 1)
    model.add("Gather", [x.name, model.integers(indices)], axis=axis)


FAMILIES: Sequence[Callable[[_Model], None]] = (
    *(_unary, _unary, _binary, _binary, _divided, _chosen, _along, _reduction, _matmul, _gemm),
    *(_conv, _conv, _pool, _normalized, _moved, _moved, _gathered),
)


def random_model(draw: Draw, most_elements: int = MOST_ELEMENTS) -> _Model:
    """Draw a model of some nodes, one at least."""
    model = _Model(draw, most_elements)
    while not model.values:
        for _ in range(draw.one_of(COUNTS)):
            draw.one_of(FAMILIES)(model)
    return model


class OnnxModels(TrialGenerator):
    """Models of ONNX, whose graphs go through pipelines as others do."""

    name = "onnx"
    what = "ONNX models"
    needs = ("onnx", "onnxruntime")
    weight = 2

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        model = random_model(draw, FEW_ELEMENTS if depth is Depth.LOOPS else MOST_ELEMENTS)
        origin = OnnxOrigin(model.proto(model.results))
        trial = trial_of(draw, settings, origin.module(), stages_of(draw, settings, depth))
        return replace(trial, origin=origin)
