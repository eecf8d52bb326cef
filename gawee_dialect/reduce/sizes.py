"""Smaller tensors: other sizes for what goes into a function, the rest by the ops' shape rules.

1. `links` joins the axes that are always of one size into classes: the features of a convolution,
   the entries of its bias, the channels of the next convolution's weight.
2. A candidate gives some classes a smaller size. Ops are made again in order, each with the result
   type that its own rule infers, and arguments get their sizes when they are first read.
3. Where an op computes another size than its class was given, as behind a stride, the class gets
   that size and it starts again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    MovedOp,
    ReshapeOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.normalization import GroupNormOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdaptivePoolOp, WindowPoolOp
from gawee_dialect.dialect.graph.reduction import ArgOp, ReduceOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.dialect.operation import GaweeOp, InferredOp
from gawee_dialect.dialect.types import AnyTensor, is_tensor, tensor_shape, tensor_type
from gawee_dialect.equations.axes import walks_of
from gawee_dialect.reduce.draft import Draft, body_ops, returned_values, with_function

# Slots: sizes that an op has, and the pairs of them that are equal whatever the op.

Slot = tuple[SSAValue | Operation, str, int]
"""One size: an axis of a value, or an entry of a property."""

Link = tuple[Slot, Slot]

AXIS = "axis"


def axis(value: SSAValue, index: int) -> Slot:
    """Return the slot of a value's axis."""
    return (value, AXIS, index)


def same_axes(input: SSAValue, output: SSAValue, apart: int | None = None) -> Iterable[Link]:
    """Link the axes at the same position, of the same size, where there are as many."""
    shape, sizes = tensor_shape(input), tensor_shape(output)
    if len(shape) != len(sizes):
        return
    skipped = None if apart is None else apart % len(sizes)
    for index, (one, other) in enumerate(zip(shape, sizes, strict=True)):
        if one == other and index != skipped:
            yield axis(input, index), axis(output, index)


def broadcast_axes(input: SSAValue, output: SSAValue) -> Iterable[Link]:
    """Link the axes, from the last on, along which nothing is repeated."""
    shape, wide = tensor_shape(input), tensor_shape(output)
    missing = len(wide) - len(shape)
    for index, size in enumerate(shape):
        if size == wide[missing + index]:
            yield axis(input, index), axis(output, missing + index)


# Which sizes are one size in ops that move elements; see `links`.


def movement_links(op: Operation) -> Iterable[Link] | None:
    """Return the pairs of slots of an op that always are one size; None for any other op."""
    match op:
        case TransposeOp():
            order = enumerate(op.permutation.get_values())
            return [(axis(op.result, new), axis(op.input, old)) for new, old in order]
        case BroadcastToOp():
            return [*_property(op, op.result, "shape"), *broadcast_axes(op.input, op.result)]
        case SliceOp():
            return _property(op, op.result, "sizes")
        case SortOp():
            return [*same_axes(op.input, op.values), *same_axes(op.values, op.indices)]
        case TopKOp():
            apart = op.ordered_axis()
            return [*same_axes(op.input, op.values, apart), *same_axes(op.values, op.indices)]
        case NonMaxSuppressionOp():
            return [*same_axes(op.candidates, op.result), *_pairs(op)]
        case _:
            return _indexed(op)


def _indexed(op: Operation) -> Iterable[Link] | None:
    """Link what gathers and scatters read and write by indices."""
    match op:
        case GatherOp():
            return _gather(op)
        case GatherElementsOp():
            return same_axes(op.indices, op.result)
        case GatherNdOp():
            return _rows(op.input, op.indices, op.result, op.batch_dims.value.data)
        case ScatterElementsOp():
            return [*same_axes(op.indices, op.updates), *same_axes(op.input, op.result)]
        case ScatterNdOp():
            rows = _rows(op.input, op.indices, op.updates, 0)
            return [*rows, *same_axes(op.input, op.result)]
        case _:
            return None


def _pairs(op: NonMaxSuppressionOp) -> Iterable[Link]:
    """Link both last axes of the overlaps with the candidates' last one."""
    last = len(tensor_shape(op.candidates)) - 1
    axes = [(axis(op.candidates, index), axis(op.overlaps, index)) for index in range(last + 1)]
    return [*axes, (axis(op.candidates, last), axis(op.overlaps, last + 1))]


def _property(op: Operation, result: SSAValue, name: str) -> Iterable[Link]:
    return [((op, name, index), axis(result, index)) for index in range(len(tensor_shape(result)))]


def _gather(op: GatherOp) -> Iterator[Link]:
    rank, added = len(tensor_shape(op.input)), len(tensor_shape(op.indices))
    where = op.axis.value.data % rank
    for index in range(rank):
        if index != where:
            yield axis(op.input, index), axis(op.result, index + (added - 1) * (index > where))
    for index in range(added):
        yield axis(op.indices, index), axis(op.result, where + index)


def _rows(input: SSAValue, indices: SSAValue, slices: SSAValue, batch: int) -> Iterator[Link]:
    """Link rows of indices to slices, batch axes to each other, and axes that are taken whole."""
    *rows, named = tensor_shape(indices)
    for index in range(len(rows)):
        yield axis(indices, index), axis(slices, index)
    for index in range(batch):
        yield axis(input, index), axis(indices, index)
    for index in range(batch + named, len(tensor_shape(input))):
        yield axis(input, index), axis(slices, len(rows) + index - batch - named)


def property_sizes(op: Operation) -> dict[str, tuple[int, ...]]:
    """Return the properties of an op whose entries are sizes."""
    match op:
        case WindowPoolOp():
            return {"kernel": op.kernel.get_values()}
        case AdaptivePoolOp():
            return {"output_size": op.output_size.get_values()}
        case InterpolateOp():
            return {"size": op.size.get_values()}
        case ReshapeOp() | BroadcastToOp():
            return {"shape": op.shape.get_values()}
        case SliceOp():
            return {"sizes": op.sizes.get_values()}
        case _:
            return {}


def kernel_slots(op: Operation) -> list[Slot]:
    """Return the slots of a window's sizes; shrinking one makes the result grow."""
    match op:
        case ConvOp():
            return [axis(op.weight, index) for index in range(2, len(tensor_shape(op.weight)))]
        case WindowPoolOp():
            return [(op, "kernel", index) for index in range(len(op.kernel.get_values()))]
        case _:
            return []


def links(op: Operation) -> Iterable[Link]:
    """Yield the pairs of slots of an op that always are one size."""
    match op:
        case ElementwiseOp():
            return [link for value in op.operands for link in broadcast_axes(value, op.output)]
        case ReduceOp():
            return _reduced(op.input, op.output, op.reduced_axes)
        case ArgOp():
            return _reduced(op.input, op.output, [op.searched_axis])
        case AdaptivePoolOp() | InterpolateOp():
            return _image(op)
        case ConvTransposeOp():
            return _conv_transpose(op)
        case GridSampleOp():
            return _grid_sample(op)
        case EquationOp() if not isinstance(op, MovedOp):
            return [*_walked(op), *_depthwise(op)]
        case _:
            moved = movement_links(op)
            return _moves(op) if moved is None else moved


def _walked(op: EquationOp) -> Iterator[Link]:
    """Link the axes that one index of the equations walks; of split ones, that two walk."""
    (groups, split), meaning = op.split_axes(), op.meaning()
    walks, found = walks_of(meaning), dict[object, Slot]()
    names = (*meaning.program.inputs, *meaning.program.outputs)
    values = (*op.operands, *op.results)
    of_results = [*split[:1]] * len(op.results)
    for name, value, at in zip(names, values, (*split, *of_results), strict=True):
        for index in range(len(tensor_shape(value))):
            place = index + (at is not None and index >= at)
            key: object = walks.first((name, place))
            if at is not None and index == at and groups > 1:
                key = walks.first((name, at)), key
            yield found.setdefault(key, axis(value, index)), axis(value, index)


def _depthwise(op: Operation) -> Iterator[Link]:
    if isinstance(op, ConvOp) and op.groups.value.data > 1:
        if tensor_shape(op.input)[1] == tensor_shape(op.output)[1]:
            yield axis(op.input, 1), axis(op.output, 1)  # one group fewer is one of each fewer


def _moves(op: Operation) -> Iterable[Link]:
    """Link what ops that compute nothing, or each element alone, only hand on."""
    match op:
        case ReshapeOp():
            return _reshape(op)
        case FlattenOp():
            return _flatten(op)
        case CatOp():
            dim = op.dim.value.data
            return [link for value in op.inputs for link in same_axes(value, op.output, dim)]
        case GaweeOp() if op.operands and is_tensor(op.operands[0].type):
            return same_axes(op.operands[0], op.output)
        case _:
            return ()


def _conv_transpose(op: ConvTransposeOp) -> Iterable[Link]:
    yield axis(op.input, 0), axis(op.output, 0)
    yield axis(op.input, 1), axis(op.weight, 0)
    if op.bias is not None:
        yield axis(op.bias, 0), axis(op.output, 1)
    if op.groups.value.data == 1:
        yield axis(op.weight, 1), axis(op.output, 1)


def _grid_sample(op: GridSampleOp) -> Iterable[Link]:
    yield axis(op.input, 0), axis(op.output, 0)
    yield axis(op.input, 0), axis(op.grid, 0)
    yield axis(op.input, 1), axis(op.output, 1)
    yield axis(op.grid, 1), axis(op.output, 2)
    yield axis(op.grid, 2), axis(op.output, 3)


def _reduced(input: SSAValue, output: SSAValue, axes: Sequence[int]) -> Iterable[Link]:
    rank = len(tensor_shape(input))
    kept = [index for index in range(rank) if index not in axes]
    keeps_dims = len(tensor_shape(output)) == rank
    for position, index in enumerate(kept):
        yield axis(input, index), axis(output, index if keeps_dims else position)


def _image(op: AdaptivePoolOp | InterpolateOp) -> Iterable[Link]:
    yield axis(op.input, 0), axis(op.output, 0)
    yield axis(op.input, 1), axis(op.output, 1)
    for name in ("output_size", "size"):
        for index in range(len(property_sizes(op).get(name, ()))):
            yield (op, name, index), axis(op.output, 2 + index)


def _reshape(op: ReshapeOp) -> Iterable[Link]:
    """Link every result axis to its entry of `shape`, and to an input axis where one follows.

    Sizes above 1 that come in the same order on both sides are the same axes.
    """
    sizes, wide = tensor_shape(op.output), tensor_shape(op.input)
    for index in range(len(sizes)):
        yield (op, "shape", index), axis(op.output, index)
    outer = [index for index, size in enumerate(sizes) if size != 1]
    inner = [index for index, size in enumerate(wide) if size != 1]
    if [sizes[index] for index in outer] == [wide[index] for index in inner]:
        for result_axis, input_axis in zip(outer, inner, strict=True):
            yield axis(op.output, result_axis), axis(op.input, input_axis)


def _flatten(op: FlattenOp) -> Iterable[Link]:
    rank = len(tensor_shape(op.input))
    if rank == 0:
        return
    start, end = (dim.value.data % rank for dim in (op.start_dim, op.end_dim))
    for index in range(rank):
        if index < start:
            yield axis(op.input, index), axis(op.output, index)
        elif index > end:
            yield axis(op.input, index), axis(op.output, index - (end - start))


class Classes:
    """Slots that are one size, joined by links: a union-find structure."""

    def __init__(self) -> None:
        self._parents: dict[Slot, Slot] = {}

    def find(self, slot: Slot) -> Slot:
        """Return the slot that stands for all that are the same size as this one."""
        path: list[Slot] = []
        while (parent := self._parents.get(slot, slot)) != slot:
            path.append(slot)
            slot = parent
        for passed in path:
            self._parents[passed] = slot
        return slot

    def join(self, *slots: Slot) -> None:
        """Make slots one size."""
        for one, other in pairwise(slots):
            self._parents[self.find(one)] = self.find(other)


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
