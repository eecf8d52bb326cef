"""Structured ops on tensors to kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects import linalg, tensor
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.kernel_kind import neutral
from gawee_dialect.dialect.affine_range import composed
from gawee_dialect.dialect.graph.scan import is_branching, is_step_loop
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, copy_kernel, element_of
from gawee_dialect.dialect.operation import KEPT, is_kept
from gawee_dialect.dialect.types import is_tensor, is_unsigned, tensor_shape, tensor_type
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.form_kernels.constants import constant_of, number_everywhere
from gawee_dialect.passes.tensors.form_kernels.drafts import Output, Read, kernel, region, spliced
from gawee_dialect.upstream.linalg import BroadcastOp

SCALAR_DIALECTS = ("arith", "math")


@cache
def is_scalar_arithmetic(kind: type[Operation]) -> bool:
    """Whether ops of a class compute a number, or say that bits are one with a sign or without."""
    return kind.dialect_name() in SCALAR_DIALECTS or issubclass(kind, UnrealizedConversionCastOp)


class FormKernel(Pattern):
    """linalg.generic, linalg.conv_2d_nchw_fchw, ... -> gawee.kernel"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        nest = KEPT if is_kept(op) else nest_of(op)
        if isinstance(nest, str):
            self.missed(op, nest)
            return
        new = nest.reducing() if nest.reductions else nest.elementwise()
        rewriter.replace(op, new)


class DropFill(Pattern):
    """linalg.fill without uses -> nothing

    xDSL's linalg ops don't state their effects, so that nothing else removes them.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.ops.FillOp, rewriter: PatternRewriter) -> None:
        if not op.res or op.res[0].uses:
            self.missed(op, "expected a result without uses")
            return
        rewriter.erase(op)


class FormBroadcast(Pattern):
    """linalg.broadcast -> gawee.kernel that copies"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter) -> None:
        if is_kept(op):
            self.missed(op, KEPT)
            return
        if is_in_loop(op):
            self.missed(op, IN_LOOP)
            return
        if not op.result or has_no_elements(op.init):
            self.missed(op, "expected static tensors that are not empty")
            return
        shape = tensor_shape(op.init)
        added = op.dimensions.get_values()
        kept = tuple(AffineDimExpr(dim) for dim in range(len(shape)) if dim not in added)
        reads, identity = AffineMap(len(shape), 0, kept), AffineMap.identity(len(shape))
        new = copy_kernel(op.input, shape, bounds=shape, reads=reads, writes=identity)
        rewriter.replace(op, new)


class FormPad(Pattern):
    """tensor.pad of a constant -> gawee.kernel that copies, with the constant `outside`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter) -> None:
        if is_kept(op):
            self.missed(op, KEPT)
            return
        if is_in_loop(op):
            self.missed(op, IN_LOOP)
            return
        low, high = op.static_low.get_values(), op.static_high.get_values()
        if min((*low, *high), default=0) < 0 or has_no_elements(op.source):
            self.missed(op, f"expected padding of constant size, got {list(low)} and {list(high)}")
            return
        yielded = op.region.block.last_op
        number = constant_of(yielded.operands[0]) if yielded is not None else None
        if number is None:
            self.missed(op, "expected padding by a constant")
            return
        shape = tensor_shape(op.source)
        identity = AffineMap.identity(len(shape))
        moved = (AffineDimExpr(dim) + offset for dim, offset in enumerate(low))
        output_map = composed(AffineMap(len(shape), 0, tuple(moved)), identity.results, shape)
        new = copy_kernel(
            op.source,
            tensor_shape(op.result),
            bounds=shape,
            reads=identity,
            writes=output_map,
            outside=number,
        )
        rewriter.replace(op, new)


def has_no_elements(value: SSAValue) -> bool:
    """Whether a size of a tensor is 0, or not known."""
    return any([size <= 0 for size in tensor_shape(value)])


def is_signless(value: SSAValue) -> bool:
    """Whether arith has ops on the elements of a tensor: it has no unsigned integers."""
    return not is_unsigned(element_of(value))


IN_LOOP = "expected to be outside of loops, which say how to compute it already"


def is_in_loop(op: Operation) -> bool:
    """Whether an op is in a loop other than that of a scan or a branch, or in another region."""
    parent = op.parent_op()
    while is_step_loop(parent) or is_branching(parent):
        parent = parent.parent_op()
    return not isinstance(parent, FuncOp)


def why_not(op: LinalgStructuredOperation) -> str | None:
    """Say why a structured op cannot be a kernel; None where it can."""
    if isinstance(op, linalg.ops.FillOp):
        return "expected more than a number: what reads it takes the number"
    if len(op.res) != 1:
        return f"expected one result, got {len(op.res)}"
    if is_in_loop(op):
        return IN_LOOP
    tensors = [value for value in op.operands if is_tensor(value.type)]
    if any(map(has_no_elements, tensors)):
        return "expected static tensors that are not empty"
    block, inside = op.body.block, list(op.body.block.ops)
    for inner in inside[:-1]:
        if not is_scalar_arithmetic(type(inner)):
            return f"expected a body of scalar arithmetic, got '{inner.name}'"
    scalars = [value for value in op.inputs if not is_tensor(value.type)]
    for value in (*(value for inner in inside for value in inner.operands), *scalars):
        owner = value.owner
        if owner is not block and owner.parent is not block and constant_of(value) is None:
            return "expected scalars from outside to be constants"
    return None


def nest_of(op: LinalgStructuredOperation) -> "Nest | str":
    """Return the loops of a structured op as those of a kernel; why not, where they are not."""
    reason = why_not(op)
    if reason is not None:
        return reason
    maps = maps_of(op)
    counts = _counts(op, maps)
    bounds = [count for count in counts if count is not None]
    if len(bounds) < len(counts):
        return f"expected an operand that loop d{counts.index(None)} indexes alone"
    kinds = reduced(op)
    return why_no_nest(op, maps[-1], kinds) or Nest.of(op, maps, bounds, kinds)


def why_no_nest(
    op: LinalgStructuredOperation, written: AffineMap, kinds: Sequence[bool]
) -> str | None:
    """Say why an op does not write as a kernel does; None where it does."""
    parallel = {dim for dim, is_reduced in enumerate(kinds) if not is_reduced}
    dims = [expr.position for expr in written.results if isinstance(expr, AffineDimExpr)]
    if len(dims) != len(written.results) or set(dims) != parallel or len(dims) != len(parallel):
        return f"expected an output indexed by the parallel loops, got '{written}'"
    if any(kinds) and combiner_of(op) is None:
        return "expected a body that combines the output with a value, in any order"
    return None


def maps_of(op: LinalgStructuredOperation) -> list[AffineMap]:
    """Return the maps of the inputs and the output."""
    return [attribute.data for attribute in op.get_indexing_maps()]


def reduced(op: LinalgStructuredOperation) -> list[bool]:
    """Return which loops are reduced."""
    return [kind.data is not IteratorType.PARALLEL for kind in op.get_iterator_types()]


def trip_counts(op: LinalgStructuredOperation) -> list[int | None]:
    """Return the trip count of every loop; None where no operand is indexed by it alone."""
    return _counts(op, maps_of(op))


def _counts(op: LinalgStructuredOperation, maps: Sequence[AffineMap]) -> list[int | None]:
    counts: list[int | None] = [None] * maps[-1].num_dims
    for map, value in zip(maps, op.operands, strict=True):
        sizes = tensor_shape(value) if is_tensor(value.type) else ()
        for expr, size in zip(map.results, sizes, strict=False):
            if isinstance(expr, AffineDimExpr):
                counts[expr.position] = size
    return counts


def combiner_of(op: LinalgStructuredOperation) -> Operation | None:
    """Return the op of a body that combines the output with a value that is independent of it."""
    block = op.body.block
    accumulator = block.args[-1]
    assert block.last_op is not None
    last = block.last_op.operands[0].owner
    if not isinstance(last, Operation) or neutral(last, accumulator.type) is None:
        return None
    direct = last.parent is block and accumulator in last.operands
    return last if direct and accumulator.uses.get_length() == 1 else None


@dataclass(frozen=True)
class Nest:
    """The loops of a structured op as those of a kernel: parallel ones first."""

    op: LinalgStructuredOperation
    bounds: Sequence[int]
    reductions: int
    reads: Sequence[Read]
    """What is read, the output as it was before last. Scalars are not read."""
    output_map: AffineMap

    @staticmethod
    def of(
        op: LinalgStructuredOperation,
        maps: Sequence[AffineMap],
        counts: Sequence[int],
        kinds: Sequence[bool],
    ) -> "Nest":
        """Sort the loops of an op: how often they run, and which of them are reduced."""
        order = sorted(range(len(kinds)), key=kinds.__getitem__)
        bounds = [counts[dim] for dim in order]
        dims: Sequence[AffineExpr] = [AffineDimExpr(order.index(dim)) for dim in range(len(order))]
        sorted_maps = [composed(map, dims, bounds) for map in maps]
        reads = [
            (value, map)
            for value, map in zip(op.operands, sorted_maps, strict=True)
            if is_tensor(value.type)
        ]
        return Nest(op, bounds, sum(kinds), reads, sorted_maps[-1])

    @property
    def _output(self) -> Output:
        return Output(tensor_type(self.op.res[0]), self.output_map)

    def body(self, builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        """Write the op's body, which that is left without; the arguments are what is read."""
        elements = iter(arguments)
        all_arguments = [
            next(elements) if is_tensor(value.type) else value for value in self.op.operands
        ]
        return spliced(builder, self.op.body.block, all_arguments, moves=True)

    def elementwise(self) -> KernelOp:
        """Make a kernel without reductions."""
        finish = region(self.reads, None, self.body)
        return kernel(self.reads, self._output, bounds=self.bounds, finish=finish)

    def reducing(self) -> KernelOp:
        """Make a kernel that starts with what the output is filled with.

        Where that is no constant, it starts with the neutral number, and `finish` combines.
        """
        result = self.op.res[0]
        combiner = combiner_of(self.op)
        assert combiner is not None
        initial = number_everywhere(self.op.outputs[0])
        start: Number | None = initial or neutral(combiner, element_of(result))
        assert start is not None

        def accumulated(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            *elements, _, accumulator = arguments
            return self.body(builder, [*elements, accumulator])

        def finished(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            *_, before, accumulator = arguments
            if initial is not None:
                return accumulator
            combined = type(combiner).create(
                operands=[before, accumulator],
                result_types=[accumulator.type],
                properties=dict(combiner.properties),
            )
            return builder.insert(combined).results[0]

        return kernel(
            self.reads,
            self._output,
            bounds=self.bounds,
            finish=region(self.reads, start.get_type(), finished),
            reductions=self.reductions,
            initial=start,
            accumulate=region(self.reads, start.get_type(), accumulated),
        )
