"""Whether a value that all images share has the same rows for each of them already."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.analysis.batch_axes.carry import carried
from gawee_dialect.analysis.batch_axes.rules import Along, MixesImages
from gawee_dialect.analysis.batch_axes.views import through_view
from gawee_dialect.dialect.arrangement import BroadcastToOp, TileOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.shape import FlattenOp, ReshapeOp
from gawee_dialect.dialect.types import is_tensor, tensor_shape


class Repetition:
    """Tells which values repeat the rows of one image for all of a batch."""

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
