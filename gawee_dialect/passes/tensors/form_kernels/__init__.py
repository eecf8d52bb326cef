"""Form kernels of structured ops: what is computed together becomes one `gawee.kernel`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver, Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.from_linalg import (
    DropFill,
    FormBroadcast,
    FormKernel,
    FormPad,
)
from gawee_dialect.passes.tensors.form_kernels.inline import (
    FuseIntoReduction,
    InlineConstant,
    InlineProducer,
)
from gawee_dialect.passes.tensors.form_kernels.positions import InlinePositions
from gawee_dialect.passes.tensors.form_kernels.views import (
    ReadThroughView,
    WriteThroughCopy,
    WriteThroughReshape,
)

FORM: tuple[type[Pattern], ...] = (FormKernel, FormBroadcast, FormPad)

FUSE: tuple[type[Pattern], ...] = (
    ReadThroughView,  # first: a view between two kernels hides one from the other
    InlineConstant,
    InlineProducer,
    FuseIntoReduction,
    InlinePositions,
    WriteThroughReshape,
    WriteThroughCopy,  # last: a copy that can be read through needs no place in memory
    DropFill,
)


@dataclass(frozen=True)
class FormKernels(RewritePass):
    """Form a `gawee.kernel` of every structured op, and one kernel of those that belong together.

    1. A structured op whose body is scalar arithmetic becomes a kernel; padding becomes a copy
       that leaves a constant around it. Others stay as they are.
    2. Reshapes, slices, broadcasts and transpositions become part of the maps that read or write
       through them, as long as these stay sums of multiples of dimensions.
    3. Elementwise kernels become part of the one that computes their input, or reads their result;
       those that compute positions, of the structured op that reads elements there.
    4. Padding becomes part of the kernel whose result it pads.

    What depends on parameters alone is never fused with what depends on an input.

    rewrite:
        %p = tensor.pad %x; %c = linalg.conv_2d_nchw_fchw ins(%p, %w) outs(broadcast of %bias)
        %y = linalg.generic ins(%c) { maximumf }; %q = tensor.pad %y
        ->
        %p = gawee.kernel ins(%x) finish { %x }
        %q = gawee.kernel ins(%p, %w, %bias) accumulate { + %p * %w } finish { maximumf(+ %bias) }
    """

    name = "form-kernels"
    numerics: ClassVar[Numerics] = REASSOCIATES
    patterns: ClassVar[tuple[type[Pattern], ...]] = (*FORM, *FUSE)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for patterns in (FORM, FUSE):
            driver = Driver(_instances(patterns), ctx)
            PatternWalk(driver, post_walk_func=erase_dead).rewrite_module(op)


def _instances(patterns: Sequence[type[Pattern]]) -> Sequence[Pattern]:
    return [pattern() for pattern in patterns]
