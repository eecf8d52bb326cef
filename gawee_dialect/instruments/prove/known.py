"""What ops computed before: a pass changes a few of them, and the others compute what they did.

An op in the block of a function that computes of its operands alone is known by what it says and by
digests of what it reads. So a kernel is on buffers what it was on tensors, and under any schedule:
that says how it is computed, which an interpreter does not ask.
"""

from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, SymbolRefAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.interpreter import OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.numbers import Numbers
from gawee_dialect.instruments.prove.residues import current
from gawee_dialect.interpreter.arrays import Array

MOST_BYTES = 1 << 29
"""Of what the ops of one run made: what further ones make is not kept."""

OF_NO_MEANING = "schedule", "operandSegmentSizes"
"""Properties of a kernel: how it is computed, and whether its output is an operand."""


class Operands(NamedTuple):
    """The operands of an op, by number."""

    read: Sequence[int]
    written: Sequence[int]


class KnownOps:
    """What ops made in the last run of a module, and in the one at hand."""

    def __init__(self) -> None:
        """Know none."""
        self._said: dict[int, tuple[Attribute, Hashable]] = {}
        self._statements: dict[Operation, tuple[Operands, int] | None] = {}
        self._numbers: dict[Hashable, int] = {}
        """Of what ops say, and of what arrays hold: short keys."""
        self._digests: dict[int, tuple[object, int | None]] = {}
        self._last: dict[Hashable, PythonValues] = {}
        self._made: dict[Hashable, PythonValues] = {}
        self._bytes = 0

    def begin(self) -> None:
        """Begin a run: what was made in the last one alone is known."""
        self._last, self._made, self._bytes = self._made, {}, 0
        self._digests, self._statements = {}, {}

    def run(
        self, op: Operation, values: PythonValues, run: Callable[[], OpImplResult]
    ) -> OpImplResult:
        """Return what an op made of such values before, its buffers written, or what it makes now.

        An op that depends on more than its operands runs each time.
        """
        try:
            statement = self._statements[op]
        except KeyError:
            statement = self._statements[op] = self._statement(op)
        if statement is None or _may_share_memory(op, values):
            return run()
        operands, number = statement
        held = [self._held(op.operands[at], values[at]) for at in operands.read]
        if None in held:
            return run()
        key = current(), number, *held
        made = self._made.get(key) or self._last.get(key)
        if made is None:
            result = run()
            self._learn(key, result.values or tuple(values[at].copy() for at in operands.written))
            return result
        self._made[key] = made
        for at, array in zip(operands.written, made, strict=False):
            values[at][...] = array
        return OpImplResult(() if operands.written else made, None)

    def _statement(self, op: Operation) -> tuple[Operands, int] | None:
        """Return what an op reads, and a number for what it says; None where that is not all."""
        operands = _operands(op)
        if operands is None:
            return None
        said = self._of_op(op, {value: at for at, value in enumerate(op.operands)})
        if said is None:
            return None
        if isinstance(op, StructuredKernel):
            said = said, *op.target_shape, self._text(element_of(op.target))
        else:
            said = said, *(self._text(value.type) for value in (*op.operands, *op.results))
        return operands, self._number(said)

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def _learn(self, key: Hashable, made: PythonValues) -> None:
        """Keep what an op made."""
        self._bytes += sum(_data(array).nbytes for array in made)
        if self._bytes <= MOST_BYTES:
            self._made[key] = made

    def _of_op(self, op: Operation, numbers: dict[SSAValue, int]) -> Hashable | None:
        """Return what an op says, its values by number; None where it reads others, or a symbol."""
        attributes = (*op.properties.values(), *op.attributes.values())
        if any(isinstance(each, SymbolRefAttr) for each in attributes):
            return None
        if any(value not in numbers for value in op.operands):
            return None
        is_kernel = isinstance(op, StructuredKernel)
        read = op.inputs if is_kernel else op.operands
        said: list[Hashable] = [op.name, *(numbers[value] for value in read)]
        for name, attribute in (*op.properties.items(), *op.attributes.items()):
            if not is_kernel or name not in OF_NO_MEANING:
                said += (name, self._text(attribute))
        for region in op.regions:
            said.append(self._of_region(region))
        return None if None in said else tuple(said)

    def _of_region(self, region: Region) -> Hashable | None:
        if not region.blocks:
            return ()
        if len(region.blocks) > 1:
            return None
        block = region.block
        numbers: dict[SSAValue, int] = {value: at for at, value in enumerate(block.args)}
        said: list[Hashable] = [self._text(value.type) for value in block.args]
        for op in block.ops:
            said += (self._of_op(op, numbers), *(self._text(each.type) for each in op.results))
            numbers |= {value: len(numbers) + at for at, value in enumerate(op.results)}
        return None if None in said else tuple(said)

    def _text(self, attribute: Attribute) -> Hashable:
        """Return the text of an attribute, of a constant its bytes."""
        identity = id(attribute)
        if identity not in self._said:
            is_dense = isa(attribute, DenseIntOrFPElementsAttr)
            said = (str(attribute.type), attribute.data.data) if is_dense else str(attribute)
            self._said[identity] = attribute, said
        return self._said[identity][1]

    def _held(self, value: SSAValue, array: object) -> int | None:
        """Return a number for what an operand holds; of a tensor, which nothing writes, once."""
        identity, is_tensor = id(array), isinstance(value.type, TensorType)
        if is_tensor and identity in self._digests:
            return self._digests[identity][1]
        digest = _digest(array)
        number = None if digest is None else self._number(digest)
        if is_tensor:
            self._digests[identity] = array, number
        return number


def _operands(op: Operation) -> Operands | None:
    """Return which operands an op reads and writes; None of an op that depends on, or does, more.

    What a kernel has as scratch is not read before it is written.
    """
    if not isinstance(op.parent_op(), FuncOp) or op.successors or op.has_trait(IsTerminator):
        return None
    every = range(len(op.operands))
    buffers = [at for at in every if isinstance(op.operands[at].type, MemRefType)]
    if any(isinstance(value.type, MemRefType) for value in op.results):
        return None
    if not buffers:
        types = (value.type for value in (*op.operands, *op.results))
        return Operands(every, ()) if any(isinstance(each, TensorType) for each in types) else None
    if isinstance(op, StructuredKernel):
        read = {*op.inputs, *op.packed}
        unread = [at for at in buffers if op.operands[at] not in read]
        written = [at for at in unread if op.operands[at] is op.output]
        return Operands([at for at in every if at not in unread], written)
    if isinstance(op, LinalgStructuredOperation):
        outputs = set(op.outputs)
        return Operands(every, [at for at in buffers if op.operands[at] in outputs])
    return None


def _digest(array: object) -> Hashable | None:
    data = _data(array)
    if data.dtype.kind == "O":
        return None
    kind = array.dtype if isinstance(array, Numbers) else type(array).__name__
    digest = sha256(np.ascontiguousarray(data).tobytes()).digest()
    return str(kind), str(data.dtype), data.shape, digest


def _data(array: object) -> Array:
    return array.data if isinstance(array, Numbers) else np.asarray(array)


def _may_share_memory(op: Operation, values: PythonValues) -> bool:
    """Whether buffers may: the order of a nest's iterations counts then."""
    arrays = [
        _data(array)
        for operand, array in zip(op.operands, values, strict=True)
        if isinstance(operand.type, MemRefType)
    ]
    return any(
        np.may_share_memory(array, other)
        for index, array in enumerate(arrays)
        for other in arrays[:index]
    )
