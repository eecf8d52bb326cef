"""Damaged ONNX models that are still models: any field of any message, by protobuf's reflection."""

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from tests.fuzz.mutate import DEEP, PATHS, mutated

if TYPE_CHECKING:
    from google.protobuf.message import Message

NUMBERS = (0, 1, -1, 2, 3, 5, 7, 100, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 62, (1 << 63) - 1)
FLOATS = (0.0, -1.0, 0.5, 1e30, float("inf"), float("nan"))
TEXTS = (b"", b"x", b"a" * 100_000, "図".encode(), b"\xff\xfe", b"constant", b"NOTSET", b"linear")
LARGE = 1 << 20
"""Bytes of a nested model."""
LENGTH_TAGS = (b"\x3a", b"\x0a", b"\x12", b"\x4a")
"""Fields that are messages or bytes: the graph, nodes, names, raw data."""
_MESSAGE, _STRING, _BYTES, _FLOATS = 11, 9, 12, (1, 2)


def _is_list(field) -> bool:
    """Whether a field is repeated; protobuf 6 and before say it by a label."""
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == 3


def _messages(message: "Message") -> Iterator["Message"]:
    yield message
    for field, value in message.ListFields():
        if field.type == _MESSAGE:
            for each in value if _is_list(field) else [value]:
                yield from _messages(each)


def _scalar(choice: Random, field, others):
    if field.type in _FLOATS:
        return choice.choice(FLOATS)
    if field.type in (_STRING, _BYTES):
        text = choice.choice((*TEXTS, *PATHS, *(each.encode() for each in others)))
        return text if field.type == _BYTES else text.decode(errors="ignore")
    return choice.choice(NUMBERS)


def _of_list(choice: Random, message, field, others) -> None:
    values = getattr(message, field.name)
    index, other = choice.randrange(len(values)), choice.randrange(len(values))
    kind = choice.randrange(4)
    if kind == 0:
        del values[index]
    elif field.type == _MESSAGE:
        copy = type(values[index])()
        copy.CopyFrom(values[index])
        values[other].CopyFrom(copy) if kind == 1 else values.append(copy)
    elif kind == 1:
        values.append(values[index])
    else:
        values[index] = _scalar(choice, field, others)


def _of_message(choice: Random, message, others) -> None:
    fields = message.ListFields()
    unset = choice.random() < 0.1 or not fields
    field = choice.choice(message.DESCRIPTOR.fields if unset else [each for each, _ in fields])
    if _is_list(field) and not unset:
        _of_list(choice, message, field, others)
    elif field.type == _MESSAGE or (choice.random() < 0.1 and not unset):
        message.ClearField(field.name)
    elif not _is_list(field):
        setattr(message, field.name, _scalar(choice, field, others))
    else:
        getattr(message, field.name).append(_scalar(choice, field, others))


def _external(choice: Random, tensor) -> None:
    """Have a tensor's data in a file: one that is there, one that leads out, one that is wrong."""
    tensor.ClearField("raw_data")
    tensor.data_location = 1
    paths = ("data.bin", "no.bin", "", "link.bin", "sub", *(path.decode() for path in PATHS))
    sizes = ("0", "-1", "8", "1e3", "x", "", "9" * 30, "9" * 5000)
    for key, values in (("location", paths), ("offset", sizes), ("length", sizes)):
        if choice.random() < 0.7:
            entry = tensor.external_data.add()
            entry.key, entry.value = key, choice.choice(values)


def _nested(choice: Random, model) -> None:
    """Have a node's branch be a graph whose node has a branch, as deep as protobuf reads, or deeper."""
    graph = model.graph
    for _ in range(choice.choice((5, 30, 90))):
        outer = type(graph)()
        outer.CopyFrom(graph)
        del outer.node[:]
        node = outer.node.add(
            op_type="If", input=["c"], output=[each.name for each in graph.output]
        )
        for name in ("then_branch", "else_branch")[: choice.choice((1, 1, 1, 2))]:
            node.attribute.add(name=name, type=5).g.CopyFrom(graph)
        if outer.ByteSize() > LARGE:
            break
        graph = outer
    graph.initializer.add(name="c", data_type=9, int32_data=[1])
    model.graph.CopyFrom(graph)


def _calls_itself(choice: Random, model) -> None:
    """Have a function in the place of an op, which calls itself, once or twice."""
    nodes = list(model.graph.node)
    if not nodes:
        return
    node = choice.choice(nodes)
    function = model.functions.add(name=node.op_type, domain=node.domain)
    function.input.extend(node.input)
    function.output.extend(node.output)
    function.opset_import.extend(model.opset_import)
    for _ in range(choice.choice((1, 2, 5))):
        function.node.add().CopyFrom(choice.choice(nodes))


def _wire(choice: Random, data: bytes) -> bytes:
    """Damage what is between the fields: lengths, groups, a second message of a field."""
    kind, place = choice.randrange(4), choice.randrange(1 + len(data))
    if kind == 0:
        length = choice.choice((b"\xff\xff\xff\xff\x07", b"\xff" * 9 + b"\x01", b"\xff" * 11))
        return data[:place] + choice.choice(LENGTH_TAGS) + length + data[place:]
    if kind == 1:
        return data[:place] + choice.choice((b"\x3b", b"\x0b")) * DEEP + data[place:]
    if kind == 2:
        return data + data[place:]
    deep = b""
    for _ in range(200):  # graph { node { attribute { g { ... } } } } without an end of its own
        deep = b"\x0a" + _varint(len(deep) + 2) + b"\x2a" + _varint(len(deep)) + deep
    return data + b"\x3a" + _varint(len(deep)) + deep


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


WHOLE = (_nested, _calls_itself)
"""Damage to a whole model."""


def mutated_model(seed: bytes, number: int) -> bytes:
    """Return the damaged version of a seed that has a number: of three, two are models still."""
    if number % 3 == 0:
        choice = Random(number)
        return _wire(choice, seed) if choice.random() < 0.2 else mutated(seed, number)
    from onnx import ModelProto

    choice, model = Random(number), ModelProto()
    model.ParseFromString(seed)
    others = [
        *(name for node in model.graph.node for name in (*node.input, *node.output, node.op_type)),
        *(each.name for each in model.graph.input),
    ]
    if choice.random() < 0.06:
        choice.choice(WHOLE)(choice, model)
    for _ in range(choice.choice((1, 1, 2, 4))):
        messages = list(_messages(model.graph)) if choice.random() < 0.9 else [model]
        tensors = [each for each in messages if each.DESCRIPTOR.name == "TensorProto"]
        if tensors and choice.random() < 0.1:
            _external(choice, choice.choice(tensors))
            continue
        try:
            _of_message(choice, choice.choice(messages), others)
        except ValueError:  # a number that the field has no bits for
            continue
    return model.SerializeToString()
