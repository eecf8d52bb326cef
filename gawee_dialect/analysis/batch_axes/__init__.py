"""Along which axis each value of a graph has the images of its batch.

A *batch* is any number of inputs that a network computes the same function of, one after the other
or all at once; *images* are what it consists of, be they sentences or sounds. A value has images
along one axis, in their order, each as a block of rows of that axis, or is *shared* by all of them,
as weights are.

`carry.py` has the rules of ops, those that join axes among them. Here a function is gone through,
with its recurrences, to look for shared values that were written out for every image, such as the
first state of a recurrence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.analysis.batch_axes.carry import Along, MixesImages, carried, through_view
from gawee_dialect.analysis.effects import captured_values, values_read
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, FlattenOp, ReshapeOp, TileOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.types import is_tensor, tensor_shape

# Whether a value that all images share has the same rows for each of them already.


class Repetition:
    """Finds the values that repeat the rows of one image for all of a batch."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._known: dict[tuple[SSAValue, Along], bool] = {}

    def repeats(self, value: SSAValue, place: Along) -> bool:
        """Whether an axis has the same rows for each image."""
        if self._batch == 1:
            return True
        if not self._may_have_images(value, place):
            return False
        key = value, place
        if key not in self._known:
            self._known[key] = self._is_repeated(value, place)
        return self._known[key]

    def _may_have_images(self, value: SSAValue, place: Along) -> bool:
        if not is_tensor(value.type):
            return False
        size = tensor_shape(value)[place.axis]
        return size > 0 and size % (self._batch * place.outer) == 0

    def _is_repeated(self, value: SSAValue, place: Along) -> bool:
        op, axis = value.owner, place.axis
        match op:
            case Block():
                return False
            case ConstantOp():
                array = array_of(op.value).swapaxes(0, axis)
                rows = array.reshape(place.outer, self._batch, -1)
                return bool((rows == rows[:, :1]).all())
            case IotaOp():
                return op.axis.value.data % len(tensor_shape(value)) != axis
            case FlattenOp() | ReshapeOp():
                shape = tensor_shape(value)
                before = through_view(shape, place, tensor_shape(op.input), self._batch)
                return before is not None and self.repeats(op.input, before)
            case BroadcastToOp():
                sizes = tensor_shape(op.input)
                own = axis - (len(tensor_shape(value)) - len(sizes))
                if own < 0 or sizes[own] == 1:
                    return True
            case TileOp():
                if place.outer == 1 and op.repeats.get_values()[axis] % self._batch == 0:
                    return True
            case _:
                pass
        return self._is_made_of_repeated(op, value, place)

    def _is_made_of_repeated(self, op: Operation, value: SSAValue, place: Along) -> bool:
        """Whether an op makes such a value of operands that repeat rows themselves."""
        result = next(index for index, each in enumerate(op.results) if each is value)
        for index, operand in enumerate(op.operands):
            rank = len(tensor_shape(operand)) if is_tensor(operand.type) else 0
            for own in (Along(axis, place.outer) for axis in range(rank)):
                places = [own if other == index else None for other in range(len(op.operands))]
                if self._may_have_images(operand, own) and self._makes(op, places, result, place):
                    return True
        return False

    def _makes(
        self, op: Operation, places: Sequence[Along | None], result: int, place: Along
    ) -> bool:
        try:
            found = carried(op, places, self._batch)
        except MixesImages:
            return False
        return found.results[result] == place and all(
            wanted is None or self.repeats(operand, wanted)
            for operand, wanted in zip(op.operands, found.operands, strict=True)
        )


PYTHON_VALUES = (GetAttrOp, GetItemOp)
"""What a graph of modules says of shapes: the ops that read it have the sizes themselves."""

HINT = "compile it for one batch size, without a dynamic batch"
HINT_OF_ONE = "write the graph for 2 images: of a graph for one, several axes may be theirs"


@dataclass(frozen=True)
class Repeated:
    """An operand that all images share, where its op reads it as one that has images."""

    op: Operation
    operand: int
    place: Along


@dataclass(frozen=True)
class Size:
    """An entry of a property that is the size of an axis of images."""

    op: Operation
    name: str
    entry: int


@dataclass(frozen=True)
class BatchArguments:
    """The axes of inputs and outputs that have images, by their names; all others are shared."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, Along]


@dataclass
class BatchAxes:
    """What has images, and along which axis."""

    batch: int
    """How many images the graph is written for."""

    axes: dict[SSAValue, Along] = field(default_factory=dict[SSAValue, Along])
    """Where each value has images that has any."""

    repeated: list[Repeated] = field(default_factory=list[Repeated])
    sizes: list[Size] = field(default_factory=list[Size])

    outputs: Sequence[Along | None] = ()
    """Where each value has images that the function returns."""

    def take_over(self, body: BatchAxes) -> None:
        """Add what was found in a body."""
        self.axes.update(body.axes)
        self.repeated += body.repeated
        self.sizes += body.sizes


def batch_axes(function: FuncOp, inputs: Mapping[SSAValue, int]) -> BatchAxes:
    """Follow the images of some inputs, by the axis of each, through a function of one block.

    All inputs have the same number of images. Raises GaweeError with every op that computes
    something from several of them; what depends on such an op is not looked at.
    """
    (batch,) = {tensor_shape(value)[axis] for value, axis in inputs.items()}
    found = BatchAxes(batch, {value: Along(axis) for value, axis in inputs.items()})
    walk = _Walk(found, Repetition(batch))
    walk.block(function.body.block)
    if walk.problems:
        raise GaweeError(walk.problems)
    return found


def moved(place: Along | None, by: int) -> Along | None:
    """Return the place of images where there are more axes before theirs, or less."""
    return None if place is None else Along(place.axis + by, place.outer)


class _Walk:
    """The walk: what was found, what is wrong, and the values that came of what is wrong."""

    def __init__(self, found: BatchAxes, repetition: Repetition) -> None:
        self.found = found
        self.problems: list[Diagnostic] = []
        self._repetition = repetition
        self.unknown: set[SSAValue] = set()
        self._guessed: set[SSAValue] = set()

    def block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ReturnOp):
                self._returned(op)
            elif isinstance(op, YieldOp):
                continue
            elif self.unknown.intersection(values_read(op) if op.regions else op.operands):
                self.unknown.update(op.results)
            else:
                self._visit(op)

    def _visit(self, op: Operation) -> None:
        try:
            if isinstance(op, ScanOp):
                self._scan(op)
            elif any(operand in self.found.axes for operand in op.operands):
                if not isinstance(op, PYTHON_VALUES):
                    self._carry(op)
        except MixesImages as mixes:
            message = f"expected to keep the images of a batch apart, got {mixes}"
            hint = HINT_OF_ONE if self._guessed.intersection(values_read(op)) else HINT
            self.problems.append(Diagnostic.at(op, message, hint))
            self.unknown.update(op.results)

    def _carry(self, op: Operation) -> None:
        axes = self.found.axes
        if not op.results or not op.dialect_name() == "gawee":
            raise MixesImages("an op of another dialect")
        how = carried(op, [axes.get(each) for each in op.operands], self.found.batch)
        # What is combined with images whose axis is known has them there too.
        if how.guessed or self._guessed.issuperset(each for each in op.operands if each in axes):
            self._guessed.update(op.results)
        for index, wanted in enumerate(how.operands):
            self.want(op, index, wanted)
        self.found.sizes += [Size(op, name, entry) for name, entry in how.sizes.items()]
        axes.update(zip(op.results, how.results, strict=True))

    def want(self, op: Operation, index: int, place: Along | None) -> None:
        """Have an operand be with images along an axis; raises MixesImages where it cannot."""
        value = op.operands[index]
        if place is None or value in self.found.axes:
            return
        if not self._repetition.repeats(value, place):
            size = tensor_shape(value)[place.axis]
            raise MixesImages(f"operand #{index}, which has {size} rows of its own for images")
        self.found.repeated.append(Repeated(op, index, place))

    def _scan(self, op: ScanOp) -> None:
        axes = self.found.axes
        states = [axes.get(value) for value in op.initial]
        steps = [axes.get(value) for value in op.sequences]
        inside = any(value in axes for value in captured_values(op))
        if not inside and all(place is None for place in (*states, *steps)):
            return
        if any(place is not None and place.axis == 0 for place in steps):
            raise MixesImages("a step for each part of axis 0, which counts images")
        now = [moved(place, -1) for place in steps]
        found = self._settled(op, states, now)
        if found is None:
            self.unknown.update(op.results)
            return
        if self._guessed.intersection(values_read(op)):
            self._guessed.update(op.results)
        states = [found.axes.get(value) for value in op.body.block.args[: len(states)]]
        yielded = [found.axes.get(value) for value in op.yielded]
        self.found.take_over(found)
        for index, state in enumerate(states):
            self.want(op, index, state)
        made = [moved(place, 1) for place in yielded[len(states) :]]
        results = zip(op.results, [*states, *made], strict=True)
        axes.update((value, place) for value, place in results if place is not None)

    def _settled(
        self, op: ScanOp, states: Sequence[Along | None], now: Sequence[Along | None]
    ) -> BatchAxes | None:
        """Walk through a body until its states keep their images; None where it mixes them.

        A state that all images share at first may be theirs after a step. One that was written out
        for every image is theirs from the first on.
        """
        place = next((each for each in now if each is not None), None)
        for index, value in enumerate(op.initial):
            if states[index] is None and self._is_written_out(value, place):
                states = [*states[:index], place, *states[index + 1 :]]
        while True:
            found = self._step(op, [*states, *now])
            if found is None:
                return None
            yielded = [found.axes.get(value) for value in op.yielded]
            new = [old or each for old, each in zip(states, yielded, strict=False)]
            if new == list(states):
                return found
            states = new

    def _is_written_out(self, value: SSAValue, place: Along | None) -> bool:
        if place is None or place.axis >= len(tensor_shape(value)):
            return False
        return self._repetition.repeats(value, place)

    def _step(self, op: ScanOp, taken: Sequence[Along | None]) -> BatchAxes | None:
        """Walk through a body that takes such images; None where it mixes them."""
        arguments = zip(op.body.block.args, taken, strict=True)
        given = {value: place for value, place in arguments if place is not None}
        found = BatchAxes(self.found.batch, {**self.found.axes, **given})
        walk = _Walk(found, self._repetition)
        walk.block(op.body.block)
        self.problems += walk.problems
        if walk.unknown.intersection(op.yielded):
            return None
        last = op.body.block.last_op
        assert last is not None
        for index, state in enumerate(taken[: len(op.initial)]):
            after = found.axes.get(op.yielded[index])
            if state is not None and after not in (None, state):
                raise MixesImages("a state whose images are elsewhere after a step")
            walk.want(last, index, state)
        return found

    def _returned(self, op: ReturnOp) -> None:
        axes = self.found.axes
        for index, value in enumerate(op.operands):
            # What was written out for every image is one more for each image that comes.
            written_out = (
                value not in axes
                and self.found.batch > 1
                and is_tensor(value.type)
                and tensor_shape(value)[:1] == (self.found.batch,)
                and self._repetition.repeats(value, Along(0))
            )
            if written_out:
                self.found.repeated.append(Repeated(op, index, Along(0)))
            if value in self._guessed:
                message = f"expected output #{index} to have one axis of images, got several of 1"
                self.problems.append(Diagnostic.at(op, message, HINT_OF_ONE))
        repeated = {each.operand: each.place for each in self.found.repeated if each.op is op}
        self.found.outputs = [
            axes.get(value, repeated.get(index)) for index, value in enumerate(op.operands)
        ]


__all__ = [
    "Along",
    "BatchArguments",
    "BatchAxes",
    "Repeated",
    "Size",
    "batch_axes",
]
