"""Leave out what a convolution's kernel reads of nothing but padding."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.graph.window import padding_pairs
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import located_builder


class Axis(NamedTuple):
    """A convolution along one axis: sizes, and elements of padding before and behind."""

    size: int
    result_size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int

    def trimmed(self) -> tuple[int, "Axis"]:
        """Return where the elements of the kernel begin that read the input, and the rest.

        The axis is as it was where none reads the input, where padding would be negative, and where
        sizes are open.
        """
        if is_open((self.size, self.result_size)):
            return 0, self
        reading = [each for each in range(self.kernel) if self._reads_input(each)]
        if not reading:
            return 0, self
        first, last = reading[0], reading[-1]
        before = self.before - first * self.dilation
        after = self.after - (self.kernel - 1 - last) * self.dilation
        if min(before, after) < 0:
            return 0, self
        return first, self._replace(kernel=last - first + 1, before=before, after=after)

    def _reads_input(self, element: int) -> bool:
        first = element * self.dilation - self.before
        places = range(first, first + self.result_size * self.stride, self.stride)
        return any(0 <= place < self.size for place in places)


def axes_of(op: ConvOp) -> list[Axis]:
    """Return the spatial axes of a convolution."""
    columns = zip(
        tensor_shape(op.input)[2:],
        tensor_shape(op.result)[2:],
        tensor_shape(op.weight)[2:],
        op.strides.get_values(),
        op.dilations.get_values(),
        padding_pairs(op.padding.get_values()),
        strict=True,
    )
    return [Axis(*sizes, *padding) for *sizes, padding in columns]


@dataclass(frozen=True)
class TrimConvKernels(ModulePass):
    """Leave out what a convolution's kernel reads of nothing but padding.

    So a 3x3 kernel over one position is its centre, and one whose dilation exceeds the image too
    (the wide rates of atrous pyramids): fewer weights are read, and no wide halo is written.

    Requires: what is left needs no negative padding. A weight that is left out may be anything:
    an infinity or NaN there is not multiplied by the padding's zeros.

    rewrite:
        %y = gawee.conv %x, %w ... padding [12, 12, 12, 12] dilations [12, 12] ...
          : (tensor<1x8x4x4xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x4x4xf32>
        ->
        %s = gawee.slice %w offsets [0, 0, 1, 1] sizes [16, 8, 1, 1] strides [1, 1, 1, 1]
        %y = gawee.conv %x, %s ... padding [0, 0, 0, 0] dilations [12, 12] ...
    """

    name = "trim-conv-kernels"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        trimmed = [_trim(each) for each in list(op.walk()) if isinstance(each, ConvOp)]
        report_statistic(self, "kernels trimmed", sum(trimmed))


def _trim(op: ConvOp) -> bool:
    """Replace a convolution by one of the elements of its kernel that ever meet the input."""
    axes = axes_of(op)
    trimmed = [axis.trimmed() for axis in axes]
    if [axis for _, axis in trimmed] == axes:
        return False
    builder = located_builder(op)
    weight = SliceOp(
        op.weight,
        offsets=(0, 0, *(first for first, _ in trimmed)),
        sizes=(*tensor_shape(op.weight)[:2], *(axis.kernel for _, axis in trimmed)),
    )
    conv = ConvOp(
        op.input,
        builder.insert(weight).result,
        op.bias,
        strides=op.strides.get_values(),
        padding=(*(axis.before for _, axis in trimmed), *(axis.after for _, axis in trimmed)),
        dilations=op.dilations.get_values(),
        groups=op.groups.value.data,
    )
    builder.insert(conv)
    conv.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(conv.result)
    op.detach()
    op.erase()
    return True
