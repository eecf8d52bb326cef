"""Modules that verify, changed at random at the level of the IR: ops, operands, attributes, types.

A change that the verifier does not accept is undone, so what comes out verifies: valid text
that a pass may get.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from random import Random

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir, split_chunks
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.walk import all_ops
from tests.fuzz.reader import ROOT

LONGEST, MOST_OPS = 4000, 60
"""Characters of a seed, and ops of it: each is given to every pass."""

ATTEMPTS, MOST_CHANGES = 30, 4
"""How often a change is tried that the verifier accepts, and how many such are made."""

_NUMBERS = (0, 1, -1, 2, 3, 7, 64, 1 << 31, -(1 << 63))
_SCALARS = ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "ui8", "index")
_SIZE = re.compile(r"(?<=[<x])(\d+|\?)(?=x)")
_SCALAR = re.compile(r"\b(?:f16|bf16|f32|f64|i1|i8|i16|i32|i64|ui8|index)\b")
_LIST = re.compile(r"\[([-\d, ]+)\]")


@dataclass(frozen=True)
class Corpus:
    """The small modules of the IR tests that verify, and what their ops have."""

    texts: Sequence[str]
    attributes: Sequence[tuple[str, Attribute]]
    """Discardable ones, and those of arguments, by name."""
    properties: Mapping[tuple[str, str], Sequence[Attribute]]
    """By the op's name and the property's."""


@cache
def corpus() -> Corpus:
    """Read the modules of the IR tests."""
    texts: dict[str, None] = {}
    attributes: dict[tuple[str, Attribute], None] = {}
    properties: dict[tuple[str, str], dict[Attribute, None]] = {}
    for text, module in _modules():
        if text in texts:
            continue
        texts[text] = None
        for op in all_ops(module):
            attributes.update(dict.fromkeys(op.attributes.items()))
            for name, attribute in op.properties.items():
                properties.setdefault((op.name, name), {})[attribute] = None
    return Corpus([*texts], [*attributes], {key: [*each] for key, each in properties.items()})


def _modules() -> Iterator[tuple[str, ModuleOp]]:
    for path in sorted((ROOT / "tests" / "filecheck").rglob("*.mlir")):
        if path.match("dialect/*_invalid.mlir"):
            continue
        for chunk, _ in split_chunks(path.read_text(encoding="utf-8")):
            if len(chunk) > LONGEST:
                continue
            with suppress(GaweeError, NotImplementedError):
                module = parse_mlir(make_context(), chunk, "seed")
                if 1 < len(all_ops(module)) <= MOST_OPS:
                    yield print_mlir(module), module


def seeds() -> Sequence[str]:
    """Return the texts of the corpus."""
    return corpus().texts


def mutated_ir(seed: bytes, number: int) -> bytes:
    """Return text of a module that verifies: a seed's, changed one to four times."""
    choice = Random(number)
    text = seed.decode()
    changes = choice.randint(1, MOST_CHANGES)
    for _ in range(ATTEMPTS):
        if not changes:
            break
        changed = _changed(choice, text)
        if changed is not None and changed != text:
            text, changes = changed, changes - 1
    return text.encode()


def _changed(choice: Random, text: str) -> str | None:
    """Return text that verifies after one change; None where it does not."""
    try:
        if choice.random() < 0.25:
            changed = choice.choice(_TEXT_CHANGES)(choice, text)
            module = parse_mlir(make_context(), changed, "seed")
        else:
            module = parse_mlir(make_context(), text, "seed")
            choice.choice(_CHANGES)(choice, module)
        changed = print_mlir(module)
        parse_mlir(make_context(), changed, "seed")
    except Exception:  # of constructors that are given what fits nowhere, and of printers
        return None
    return changed


# Changes of text: a type is written in many places, and stays the same in all of them.


def _size(choice: Random, text: str) -> str:
    """Write another size for all axes of one size."""
    sizes = sorted(set(_SIZE.findall(text)))
    if not sizes:
        return text
    old, new = choice.choice(sizes), choice.choice(("0", "1", "2", "5", "17", "?"))
    return re.sub(rf"(?<=[<x]){re.escape(old)}(?=x)", new, text)


def _element(choice: Random, text: str) -> str:
    """Write another scalar type for all of one."""
    types = sorted(set(_SCALAR.findall(text)))
    if not types:
        return text
    return re.sub(rf"\b{choice.choice(types)}\b", choice.choice(_SCALARS), text)


def _rank(choice: Random, text: str) -> str:
    """Make scalars of all shaped types of one kind, or add an axis to them."""
    kind = choice.choice(("tensor", "memref", "vector"))
    return re.sub(rf"{kind}<(?=[\d?])", f"{kind}<{choice.choice(('1x', '3x', '0x'))}", text)


def _list(choice: Random, text: str) -> str:
    """Write another number into a list of numbers."""
    lists = list(_LIST.finditer(text))
    if not lists:
        return text
    found = choice.choice(lists)
    numbers = found[1].split(",")
    numbers[choice.randrange(len(numbers))] = str(choice.choice(_NUMBERS[:7]))
    return f"{text[: found.start(1)]}{', '.join(numbers)}{text[found.end(1) :]}"


_TEXT_CHANGES = (_size, _element, _rank, _list)


# Changes of a module.


def _ops(module: ModuleOp) -> list[Operation]:
    return all_ops(module)[1:]


def _values_before(op: Operation) -> list[SSAValue]:
    """Return what an op may read: what is made before it in its block, and in those around."""
    found: list[SSAValue] = []
    current: Operation | None = op
    while current is not None:
        block = current.parent
        if block is None:
            break
        found += block.args
        earlier = block.first_op
        while earlier is not None and earlier is not current:
            found += earlier.results
            earlier = earlier.next_op
        current = block.parent_op()
    return found


def _operand(choice: Random, module: ModuleOp) -> None:
    """Have an op read another value, of its operand's type where there is one."""
    op = choice.choice([each for each in _ops(module) if each.operands])
    index = choice.randrange(len(op.operands))
    others = _values_before(op)
    same = [each for each in others if each.type == op.operands[index].type]
    op.operands[index] = choice.choice(same or others)


def _mark(choice: Random, module: ModuleOp) -> None:
    """Give an op an attribute that some op has."""
    op = choice.choice(_ops(module))
    name, attribute = choice.choice(corpus().attributes)
    op.attributes[name] = choice.choice((attribute, attribute, UnitAttr(), IntegerAttr(3, i64)))


def _unmark(choice: Random, module: ModuleOp) -> None:
    """Take an attribute or a property of an op away."""
    op = choice.choice([each for each in _ops(module) if each.attributes or each.properties])
    of = choice.choice([each for each in (op.attributes, op.properties) if each])
    del of[choice.choice(list(of))]


def _property(choice: Random, module: ModuleOp) -> None:
    """Give an op another value of a property: one that some op has, or a number changed."""
    op = choice.choice([each for each in _ops(module) if each.properties])
    name = choice.choice(list(op.properties))
    old = op.properties[name]
    known = corpus().properties.get((op.name, name), [])
    op.properties[name] = choice.choice([*known, _other(choice, old), _other(choice, old)])


def _other(choice: Random, old: Attribute) -> Attribute:
    match old:
        case IntegerAttr() if isinstance(old.type, IntegerType) and old.type.width.data > 1:
            return IntegerAttr(choice.choice(_NUMBERS), old.type, truncate_bits=True)
        case IntegerAttr():
            return IntegerAttr(choice.choice((0, 1)), old.type)
        case ArrayAttr() if len(old.data):
            items = list(old.data)
            items[choice.randrange(len(items))] = choice.choice(items)
            return ArrayAttr(items[: choice.choice((len(items), len(items), len(items) - 1))])
        case DenseArrayBase() if len(old):
            at, number = choice.randrange(len(old)), choice.choice(_NUMBERS[:7])
            size = old.elt_type.size
            data = bytearray(old.data.data)
            data[at * size : (at + 1) * size] = old.elt_type.pack((number,))
            return DenseArrayBase(old.elt_type, BytesAttr(bytes(data)))
        case StringAttr():
            return StringAttr(choice.choice(("", "main", old.data + "x", "prepare")))
        case DictionaryAttr():
            return DictionaryAttr({})
        case _:
            return old


def _remove(choice: Random, module: ModuleOp) -> None:
    """Erase a dead op."""
    op = choice.choice([each for each in _ops(module) if not any(r.uses for r in each.results)])
    op.detach()
    op.erase()


def _twice(choice: Random, module: ModuleOp) -> None:
    """Have an op twice."""
    op = choice.choice(_ops(module))
    assert op.parent is not None
    op.parent.insert_op_after(op.clone(), op)


def _moved(choice: Random, module: ModuleOp) -> None:
    """Put an op somewhere else: behind another one, in any block."""
    op, other = choice.choice(_ops(module)), choice.choice(_ops(module))
    if op is other or op.is_ancestor(other) or op.has_trait(IsTerminator):
        return
    assert other.parent is not None
    op.detach()
    other.parent.insert_op_before(op, other)


def _grafted(choice: Random, module: ModuleOp) -> None:
    """Put an op of another seed somewhere, which reads what has its operands' types here."""
    donor = parse_mlir(make_context(), choice.choice(seeds()), "seed")
    op = choice.choice([each for each in _ops(donor) if not isinstance(each, FuncOp | ModuleOp)])
    place = choice.choice([each for each in _ops(module) if not isinstance(each, FuncOp)])
    function = place
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    there = _values_before(place)
    known: dict[SSAValue, SSAValue] = {}
    inside = set(all_ops(op))
    for value in [each for inner in all_ops(op) for each in inner.operands]:
        owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
        if owner in inside or value in known:
            continue
        same = [each for each in there if each.type == value.type]
        if same:
            known[value] = choice.choice(same)
        elif isinstance(function, FuncOp) and len(function.body.blocks):
            first = function.body.blocks[0]
            known[value] = first.insert_arg(value.type, len(first.args))
    assert place.parent is not None
    place.parent.insert_op_before(op.clone(known), place)
    if isinstance(function, FuncOp) and function.body.blocks:
        inputs = [each.type for each in function.body.blocks[0].args]
        function.function_type = FunctionType.from_lists(
            inputs, function.function_type.outputs.data
        )
        marks = function.arg_attrs
        if marks is not None:
            more = [DictionaryAttr({})] * (len(inputs) - len(marks.data))
            function.arg_attrs = ArrayAttr((*marks.data, *more))


def _joined(choice: Random, module: ModuleOp) -> None:
    """Put what another seed has beside what is here."""
    other = parse_mlir(make_context(), choice.choice(seeds()), "seed")
    names = {op.properties.get("sym_name") for op in module.ops}
    for op in list(other.ops):
        name = op.properties.get("sym_name")
        if name not in names or name is None:
            op.detach()
            module.body.block.add_op(op)


def _returned(choice: Random, module: ModuleOp) -> None:
    """Return one more value of a function, or one less."""
    function = choice.choice([op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks])
    last = function.body.blocks[-1].last_op
    assert isinstance(last, ReturnOp)
    values = [*last.operands]
    if values and choice.random() < 0.3:
        values.pop()
    else:
        values.append(choice.choice(_values_before(last)))
    assert last.parent is not None
    last.parent.insert_op_before(ReturnOp(*values), last)
    last.detach()
    last.erase()
    function.res_attrs = None
    function.update_function_type()


def _visibility(choice: Random, module: ModuleOp) -> None:
    """Have a function be seen otherwise, or be called as the entry function is."""
    function = choice.choice([op for op in module.ops if isinstance(op, FuncOp)])
    if choice.random() < 0.5:
        function.sym_name = StringAttr(choice.choice(("main", "prepare")))
    else:
        seen = choice.choice(("public", "private", "nested"))
        function.sym_visibility = StringAttr(seen)


_CHANGES: Sequence[Callable[[Random, ModuleOp], None]] = (
    *(_operand, _operand, _mark, _unmark, _property, _property, _property, _remove, _twice),
    *(_moved, _grafted, _grafted, _grafted, _joined, _returned, _visibility),
)
