"""Smaller tensors: other sizes for what goes into a function, the rest by the ops' shape rules.

1. `links` joins the axes that are always of one size into classes: the features of a convolution,
   the entries of its bias, the channels of the next convolution's weight.
2. A candidate gives some classes a smaller size. Ops are made again in order, each with the result
   type that its own rule infers, and arguments get their sizes when they are first read.
3. Where an op computes another size than its class was given, as behind a stride, the class gets
   that size and it starts again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.normalization import GroupNormOp
from gawee_dialect.dialect.graph.pool import WindowPoolOp
from gawee_dialect.dialect.graph.position import IotaOp
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.types import AnyTensor, is_tensor, tensor_shape, tensor_type
from gawee_dialect.reduce.draft import Draft, body_ops, returned_values, with_function
from gawee_dialect.reduce.links import (
    AXIS,
    Classes,
    Slot,
    axis,
    kernel_slots,
    links,
    property_sizes,
)

Properties = Mapping[Operation, Mapping[str, Attribute | None]]
"""Properties of some ops to have another value, None for no value."""

RESTARTS = 16
"""How many computed sizes may be found out one after another before a candidate is given up."""


@dataclass(frozen=True)
class SizeClass:
    """Slots of one size that a candidate may choose: the slot that stands for them, their size."""

    slot: Slot
    size: int
    kernel: bool
    """Whether it is a height or width of a window."""
    elements: int
    """How many elements the largest tensor with such an axis has."""


class _Conflict(Exception):
    """An op computed another size than its class was given."""

    def __init__(self, slot: Slot, size: int):
        super().__init__()
        self.slot = slot
        self.size = size


class Sizes:
    """The sizes of a function at the gawee level, and functions with others."""

    def __init__(self, module: ModuleOp, function: FuncOp):
        self.module = module
        self.function = function
        self.ops = body_ops(function)
        self.classes = Classes()
        for op in self.ops:
            for one, other in links(op):
                self.classes.join(one, other)

    @staticmethod
    def known(function: FuncOp) -> bool:
        """Whether a function's ops all have shape rules: those of the dialect."""
        return all(op.dialect_name() == "gawee" for op in body_ops(function))

    def _slots(self) -> Iterator[tuple[Slot, int, int]]:
        """Yield every slot that may be chosen, its size, and the elements of its tensor."""
        arguments: Sequence[SSAValue] = self.function.body.block.args
        constants = [op.output for op in self.ops if isinstance(op, ConstantOp | IotaOp)]
        for value in (*arguments, *constants):
            shape = tensor_shape(value) if is_tensor(value.type) else ()
            for index, size in enumerate(shape):
                yield axis(value, index), size, prod(shape)
        for op in self.ops:
            for name, sizes in property_sizes(op).items():
                for index, size in enumerate(sizes):
                    yield (op, name, index), size, prod(tensor_shape(op.results[0]))

    def choices(self) -> Sequence[SizeClass]:
        """Return the classes that may be chosen and are above 1, those of large tensors first."""
        kernels = {self.classes.find(slot) for op in self.ops for slot in kernel_slots(op)}
        found: dict[Slot, SizeClass] = {}
        for slot, size, elements in self._slots():
            root = self.classes.find(slot)
            largest = max(elements, found[root].elements if root in found else 0)
            found[root] = SizeClass(root, size, root in kernels, largest)
        above = [choice for choice in found.values() if choice.size > 1]
        return sorted(above, key=lambda choice: (-choice.elements, -choice.size))

    def resized(
        self, wanted: Mapping[Slot, int], properties: Properties | None = None
    ) -> ModuleOp | None:
        """Return a module with other sizes and properties; None where shapes then do not fit."""
        wanted = {self.classes.find(slot): size for slot, size in wanted.items()}
        forced: dict[Slot, int] = {}
        for _ in range(RESTARTS):
            attempt = _Attempt(self, {**wanted, **forced}, properties or {})
            try:
                sizes = attempt.propagate()
                function = _Attempt(self, sizes, properties or {}).build()
            except _Conflict as conflict:
                if conflict.slot in forced:
                    return None
                forced[conflict.slot] = conflict.size
            except VerifyException:
                return None
            else:
                return None if function is None else with_function(self.module, function)
        return None


class _Attempt:
    """One function with sizes as wanted, as far as ops do not compute them."""

    def __init__(self, sizes: Sizes, wanted: Mapping[Slot, int], properties: Properties):
        self.source = sizes
        self.wanted = wanted
        self.properties = properties
        self.sizes: dict[Slot, int] = {}
        self.draft = Draft(sizes.function)

    def propagate(self) -> dict[Slot, int]:
        """Return the size of every class; raises _Conflict or VerifyException."""
        for op in self.source.ops:
            self._add(op)
        return self.sizes

    def build(self) -> FuncOp | None:
        """Make the function, its arguments in the order they had; raises as `propagate` does."""
        for argument in self.source.function.body.block.args:
            if argument.uses:
                self._add_argument(argument)
        self.propagate()
        return self.draft.finish(returned_values(self.source.function) or ())

    def _size(self, slot: Slot, old: int) -> int:
        root = self.source.classes.find(slot)
        return self.sizes.setdefault(root, self.wanted.get(root, old))

    def _type(self, value: SSAValue) -> AnyTensor:
        type = tensor_type(value)
        sizes = enumerate(type.get_shape())
        shape = [self._size(axis(value, index), size) for index, size in sizes]
        return TensorType(type.element_type, shape)

    def _add_argument(self, argument: SSAValue) -> None:
        resized = self._type(argument) if is_tensor(argument.type) else argument.type
        self.draft.add_argument(argument, resized)

    def _add(self, op: Operation) -> None:
        for operand in op.operands:
            if isinstance(operand.owner, Block) and operand not in self.draft.values:
                self._add_argument(operand)
        new = self.draft.copy(op)
        new.properties |= self._adapted(op, new)
        for name, value in self.properties.get(op, {}).items():
            if value is None:
                new.properties.pop(name, None)
            else:
                new.properties[name] = value
        if isinstance(new, InferredOp):
            self._infer(op, new)

    def _infer(self, old: Operation, new: InferredOp) -> None:
        # Nothing but the result says how far an iota counts.
        types = [self._type(old.result)] if isinstance(old, IotaOp) else new.inferred_types()
        for value, made, type in zip(old.results, tuple(new.results), types, strict=True):
            hint = made.name_hint
            result = Rewriter.replace_value_with_new_type(made, type)
            result.name_hint = hint
            self.draft.values[value] = result
            for index, size in enumerate(tensor_shape(result)):
                root = self.source.classes.find(axis(value, index))
                if self.sizes.setdefault(root, size) != size:
                    raise _Conflict(root, size)

    def _adapted(self, op: Operation, new: Operation) -> dict[str, Attribute]:
        """Return the properties that follow from sizes."""
        adapted: dict[str, Attribute] = {}
        for name, sizes in property_sizes(op).items():
            chosen = [self._size((op, name, index), size) for index, size in enumerate(sizes)]
            adapted[name] = DenseArrayBase.from_list(i64, chosen)
        if isinstance(op, ConstantOp):
            type = self._type(op.output)
            corner = tuple(slice(size) for size in type.get_shape())
            adapted["value"] = dense_of(array_of(op.value)[corner], type)
        if isinstance(op, ConvOp) and isinstance(new, ConvOp):
            adapted["groups"] = IntegerAttr(_groups(op, new), i64)
        if isinstance(op, GroupNormOp | ConvTransposeOp):
            channels = tensor_shape(new.operands[0])[1]
            adapted["groups"] = IntegerAttr(gcd(op.groups.value.data, channels) or 1, i64)
        if isinstance(op, ConvOp | WindowPoolOp):
            adapted["padding"] = DenseArrayBase.from_list(i64, self._padding(op))
        return adapted

    def _padding(self, op: ConvOp | WindowPoolOp) -> Sequence[int]:
        """Return the padding less what the window shrank, so that the result keeps its size."""
        pads = padding_pairs(op.padding.get_values())
        dilations = getattr(op, "dilations", None)
        steps = (
            dilations.get_values() if isinstance(dilations, DenseArrayBase) else (1,) * len(pads)
        )
        for index, slot in enumerate(kernel_slots(op)):
            old = _old_size(slot)
            new = self._size(slot, old)
            less = window_extent(old, steps[index]) - window_extent(new, steps[index])
            before, after = pads[index]
            pads[index] = max(0, before - less // 2), max(0, after - (less - less // 2))
        return [*(before for before, _ in pads), *(after for _, after in pads)]


def _old_size(slot: Slot) -> int:
    owner, name, index = slot
    if isinstance(owner, SSAValue):
        assert name == AXIS
        return tensor_shape(owner)[index]
    return property_sizes(owner)[name][index]


def _groups(old: ConvOp, new: ConvOp) -> int:
    """Return the groups of a convolution whose channels are others; 1 stays 1."""
    if old.groups.value.data == 1:
        return 1
    return max(1, tensor_shape(new.input)[1] // max(1, tensor_shape(new.weight)[1]))
