"""Read the factors of products as the bf16 that they are, where a processor multiplies pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, ModuleOp, TensorType, bf16, f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of, shape_of
from gawee_dialect.dialect.kernels.schedule import PAIR
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    argument,
    kernel,
    reads_of,
    rebuilt,
    region,
)
from gawee_dialect.passes.tensors.form_kernels.inline import inlined, reads_through
from gawee_dialect.passes.tensors.tensor_forms import with_forms
from gawee_dialect.target.machine import TargetPass


class NarrowFactor(Pattern):
    """gawee.kernel { sum + %a * extf %b }, of %a that is a bf16 -> gawee.kernel { extf * extf }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        indices = multiplied_inputs(op)
        if indices is None or op.accumulator_type != f32 or op.schedule is not None:
            self.missed(op, "expected a sum in f32 of products of two inputs, without a schedule")
            return
        wide = [each for each in indices if _is_widened(op.inputs[each])]
        narrow = [each for each in indices if element_of(op.inputs[each]) == bf16]
        if not wide or not narrow:
            self.missed(op, "expected a factor of bf16 and one that was widened from it")
            return
        if not all(_has_pairs(op, each) for each in indices):
            self.missed(op, "expected an even number of terms, side by side")
            return
        rewriter.replace(op, _narrowed(rewriter, op, wide[0]))


def _is_widened(value: SSAValue) -> bool:
    """Whether the last that is done to each element of a tensor of f32 is to widen a bf16."""
    maker = value.owner
    if not isinstance(maker, KernelOp) or maker.outside is not None or not maker.covers_output():
        return False
    last = maker.yielded(maker.finish).owner
    is_bf16 = isinstance(last, arith.ExtFOp) and isinstance(last.input.type, BFloat16Type)
    return is_bf16 and element_of(value) == f32


def _has_pairs(op: KernelOp, index: int) -> bool:
    """Whether an input has a reduction of an even size along an axis."""
    reduced = range(op.num_parallel, len(op.sizes))
    for expr in op.maps[index].results:
        if isinstance(expr, AffineDimExpr) and expr.position in reduced:
            size = op.sizes[expr.position]
            return not isinstance(size, OpenSize) and size % PAIR == 0
    return False


def _narrowed(builder: Builder, op: KernelOp, index: int) -> KernelOp:
    """Return a kernel that reads an input as bf16: what was widened, or what it is rounded to."""
    maker = op.inputs[index].owner
    assert isinstance(maker, KernelOp)
    through = reads_through(op, index, maker) if _only_widens(maker) else None
    if through is not None and all(is_linear(map) for _, map in through):
        return inlined(op, index, maker)
    shape = shape_of(op.inputs[index])
    reads = [(op.inputs[index], AffineMap.identity(len(shape)))]

    def write(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        return inner.insert(arith.TruncFOp(arguments[0], bf16)).result

    output = Output(TensorType(bf16, shape), AffineMap.identity(len(shape)))
    rounded = kernel(reads, output, bounds=shape, finish=region(reads, None, write))
    builder.insert(rounded)
    rounded.target.name_hint = op.inputs[index].name_hint
    elements = [argument(each) for each in range(len(op.inputs))]
    elements[index] = lambda inner, given: inner.insert(arith.ExtFOp(given[index], f32)).result
    new_reads = reads_of(op)
    new_reads[index] = rounded.target, op.maps[index]
    return rebuilt(op, new_reads, elements)


def _only_widens(maker: KernelOp) -> bool:
    return maker.initial is None and len(list(maker.finish.block.ops)) == len(["extf", "yield"])


@dataclass(frozen=True)
class NarrowProducts(TargetPass, RewritePass):
    """Read the factors of products as the bf16 that they are, where a processor multiplies pairs.

    A graph of bf16 is computed in f32, and what each op makes is rounded. So both factors of a
    product may be bf16 that were widened: with AVX512-BF16 they are read as such, two of each in
    one instruction (`vdpbf16ps`). What was computed in f32 is converted once, which rounds nothing.

    rewrite:
        %a = gawee.kernel ins(%x) finish { extf }; gawee.kernel ins(%a, %b) { + %a * extf %b }
        ->
        gawee.kernel ins(%x, %b) { + extf %x * extf %b }
    """

    name = "narrow-products"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True
    patterns = (NarrowFactor,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.processor.bf16_products:
            return
        with with_forms(op):
            super().apply(ctx, op)
            erase_dead(op.body)
