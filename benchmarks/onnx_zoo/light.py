"""Architectures that the wheel of ONNX carries without weights, given random ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnxruntime import InferenceSession

Array = NDArray[np.generic]

NAMES = (
    *("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50"),
    *("shufflenet", "squeezenet", "vgg19", "zfnet512"),
)

IMAGE = (1, 3, 224, 224)


def light_model(name: str, seed: int = 0) -> onnx.ModelProto:
    """Return an architecture with seeded random weights in the place of its constant ones."""
    model = _random_model(name, seed)
    _normalize(model)
    _settle(model)
    return model


def image_name(model: onnx.ModelProto) -> str:
    """Return the name of the one input that is no weight."""
    given = {each.name for each in model.graph.initializer}
    (image,) = (each.name for each in model.graph.input if each.name not in given)
    return image


def random_image(seed: int) -> Array:
    """Return an image of random squares: noise alone is averaged away by pooling."""
    squares = np.random.default_rng(seed).standard_normal((1, 3, 14, 14)).astype(np.float32)
    return squares.repeat(16, 2).repeat(16, 3)


def _set(model: onnx.ModelProto, name: str, array: Array) -> None:
    for each in model.graph.initializer:
        if each.name == name:
            each.CopyFrom(numpy_helper.from_array(array.astype(np.float32), name))


def _shown(model: onnx.ModelProto, names: Sequence[str], image: Array) -> Sequence[Array]:
    """Return values inside of a model."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    shown.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    session = InferenceSession(shown.SerializeToString())
    return [np.asarray(each) for each in session.run(names, {image_name(model): image})]


def _normalize(model: onnx.ModelProto) -> None:
    """Give batch normalisations the statistics of a random image, so that no signal dies away.

    With one image, normalising each channel by itself is what they do then.
    """
    norms = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    if not norms:
        return
    alone = onnx.ModelProto()
    alone.CopyFrom(model)
    unread = set[str]()
    for node in alone.graph.node:
        if node.op_type == "BatchNormalization":
            node.op_type = "InstanceNormalization"
            unread |= set(node.input[3:])
            del node.input[3:]
            kept = [each for each in node.attribute if each.name == "epsilon"]
            del node.attribute[:]
            node.attribute.extend(kept)
    for listed in (alone.graph.initializer, alone.graph.input):
        for index in reversed(range(len(listed))):
            if listed[index].name in unread:
                del listed[index]
    seen = _shown(alone, [node.input[0] for node in norms], random_image(0))
    for node, values in zip(norms, seen, strict=True):
        floats = values.astype(np.float32)
        _set(model, node.input[3], np.mean(floats, (0, 2, 3)))
        _set(model, node.input[4], np.var(floats, (0, 2, 3)))


def _settle(model: onnx.ModelProto) -> None:
    """Divide the weights of the last product so that what softmax is given varies by about 1.

    Softmax would make a one-hot vector of larger numbers, which shows nothing.
    """
    product = next((n for n in reversed(model.graph.node) if n.op_type == "Gemm"), None)
    if product is None:
        return
    (logits,) = _shown(model, list(product.output), random_image(0))
    for each in model.graph.initializer:
        if each.name in product.input[1:]:
            _set(model, each.name, numpy_helper.to_array(each) / np.std(logits.astype(np.float32)))


def _random_model(name: str, seed: int) -> onnx.ModelProto:
    folder = Path(str(onnx.__file__)).parent / "backend/test/data/light"
    model = onnx.load(folder / f"light_{name}.onnx")
    graph, random = model.graph, np.random.default_rng(seed)
    known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    readers = _readers(graph)
    made: list[onnx.TensorProto] = []
    for node in list(graph.node):
        if node.op_type == "ConstantOfShape":
            shape = tuple(int(size) for size in known[node.input[0]])
            array = _weight(shape, readers[node.output[0]], random)
            made.append(numpy_helper.from_array(array, node.output[0]))
            graph.node.remove(node)
    for each in list(graph.initializer):
        array = known[each.name]
        if array.dtype == np.float32 and each.name in readers:
            made.append(
                numpy_helper.from_array(_weight(array.shape, readers[each.name], random), each.name)
            )
            graph.initializer.remove(each)
    for each in list(graph.initializer):
        if each.name.endswith("__SHAPE"):
            graph.initializer.remove(each)
    for each in list(graph.input):
        if each.name.endswith("__SHAPE"):
            graph.input.remove(each)
    graph.initializer.extend(made)
    return model


def _readers(graph: onnx.GraphProto) -> Mapping[str, tuple[str, int]]:
    """Return the reader of each value: its op type and operand index; views are looked through."""
    found: dict[str, tuple[str, int]] = {}
    for node in reversed(graph.node):
        for index, name in enumerate(node.input):
            through = node.op_type in ("Unsqueeze", "Reshape") and node.output[0] in found
            found[name] = found[node.output[0]] if through else (node.op_type, index)
    return found


def _weight(shape: tuple[int, ...], reader: tuple[str, int], random: np.random.Generator) -> Array:
    """Return random numbers of the size that keeps signals what they are."""
    op_type, index = reader
    if op_type == "Mul" or (op_type == "BatchNormalization" and index in (1, 4)):
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    if len(shape) < 2 or op_type == "Add":
        return (random.standard_normal(shape) * 0.1).astype(np.float32)
    scale = np.sqrt(2 / np.prod(shape[1:]))
    return (random.standard_normal(shape) * scale).astype(np.float32)
