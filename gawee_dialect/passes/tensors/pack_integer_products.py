"""Pack integers of 8 and 16 bits in words, where a kernel adds up products of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
    i8,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.analysis.kernel_kind import integer_range, multiplied_inputs
from gawee_dialect.dialect.affine_range import composed, is_linear, solve, sum_of, used_dims
from gawee_dialect.dialect.kernels.integer_words import PackedProduct
from gawee_dialect.dialect.kernels.kernel import KernelOp, copy_kernel, element_of, shape_of
from gawee_dialect.dialect.kernels.packed_products import (
    WordProduct,
    insert_product,
    insert_word,
)
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import integer_range as numbers_of
from gawee_dialect.hints import isa
from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    Write,
    argument,
    hand_on_identity,
    kernel,
    output_of,
    place,
    reads_of,
    region,
    spliced,
)
from gawee_dialect.passes.tensors.form_kernels.inline import inlined, reads_through
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.target.description import X86_64, Processor
from gawee_dialect.target.machine import TargetPass

BYTE = 128
"""What a byte without a sign is more than the one of the same bits but the highest."""
ONES = 0x01010101
"""A word of four bytes that are 1."""
HIGHEST = -0x7F7F7F80
"""A word whose bytes have their highest bit set alone."""
CHEAP = 6
"""Ops that are computed for each integer of a word rather than kept in memory between."""
PLAIN = 3
"""Ops of a body that multiplies, adds and yields."""


@dataclass(frozen=True)
class Factor:
    """One of the inputs whose products a kernel sums, and where it lies along what is summed."""

    op: KernelOp
    index: int
    dim: int
    axis: int

    @property
    def value(self) -> SSAValue:
        """The tensor of i32."""
        return self.op.inputs[self.index]

    @property
    def map(self) -> AffineMap:
        """Where the kernel reads it."""
        return self.op.maps[self.index]

    @property
    def maker(self) -> KernelOp | None:
        """The kernel that computes each of its elements, with zeros around them."""
        owner = self.value.owner
        if not isinstance(owner, KernelOp) or owner.initial is not None or owner.schedule:
            return None
        return owner if owner.has_zeros_outside else None

    def sizes(self, parts: int) -> tuple[int, ...]:
        """Return how many points the kernel has where so many are one."""
        sizes = list(self.op.sizes)
        sizes[self.dim] = -(-sizes[self.dim] // parts)
        return tuple(sizes)


@dataclass(frozen=True)
class Centred:
    """A factor whose elements are bytes less a zero point: `extension(byte) - zero`."""

    factor: Factor
    maker: KernelOp
    byte: SSAValue
    is_signed: bool
    zero: SSAValue | None

    @staticmethod
    def of(factor: Factor) -> "Centred | None":
        """Return what a factor is made of; None where it is anything else."""
        maker = factor.maker
        if maker is None:
            return None
        value, zero = maker.yielded(maker.finish), None
        if isinstance(value.owner, arith.SubiOp):
            value, zero = value.owner.lhs, value.owner.rhs
        owner = value.owner
        if not isinstance(owner, arith.ExtSIOp | arith.ExtUIOp) or owner.input.type != i8:
            return None
        found = Centred(factor, maker, owner.input, isinstance(owner, arith.ExtSIOp), zero)
        reads = found.zero_reads()
        if reads is None:
            return None
        if not maker.covers_output() and not (_are_uniform(reads.values()) and found.has_byte()):
            return None
        return found

    def has_byte(self) -> bool:
        """Whether there is a byte for the zero point, which pads."""
        low, high = (0, 0) if self.zero is None else integer_range(self.zero)
        least, most = (-BYTE, BYTE - 1) if self.is_signed else (0, 2 * BYTE - 1)
        return least <= low and high <= most

    def bytes(self, *, flipped: bool, is_whole: bool = True) -> KernelOp:
        """Return the kernel of the bytes, or of those of the other kind, 128 less or more.

        Where it pads, it does so with zero points; `is_whole` says that nothing sums what stands
        for nothing in a word.
        """
        stored = None if flipped else self._as_stored(is_whole=is_whole)
        if stored is not None:
            return stored
        if not self.maker.covers_output():
            return self._padded_bytes(flipped=flipped)

        def write(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            given = zip(self.maker.finish.block.args, arguments, strict=True)
            values: dict[SSAValue, SSAValue] = dict(given)
            byte = _computed(builder, self.byte, values)
            return _flipped(builder, byte, -BYTE) if flipped else byte

        reads, sizes = reads_of(self.maker), self.maker.sizes
        output = Output(TensorType(i8, shape_of(self.maker.target)), self.maker.maps[-1])
        return kernel(reads, output, bounds=sizes, finish=region(reads, None, write))

    def _as_stored(self, *, is_whole: bool) -> KernelOp | None:
        """Return what copies the bytes as they are stored, with one zero point around them.

        None where bytes or zero points are computed.
        """
        byte, outside = self.byte, None
        if isinstance(byte.owner, UnrealizedConversionCastOp):
            byte = byte.owner.inputs[0]
        element = byte.type
        if not isinstance(byte, BlockArgument) or not isa(element, IntegerType):
            return None
        if not self.maker.covers_output():
            zero, (low, high) = self._constant_zero(), numbers_of(element)
            if zero is None or (zero and not is_whole) or not low <= zero <= high:
                return None
            outside = IntegerAttr(zero, element) if zero else None
        reads = [(self.maker.inputs[byte.index], self.maker.maps[byte.index])]
        output = Output(
            TensorType(element, shape_of(self.maker.target)), self.maker.maps[-1], outside
        )
        finish = region(reads, None, argument(0))
        return kernel(reads, output, bounds=self.maker.sizes, finish=finish)

    def _constant_zero(self) -> int | None:
        owner = None if self.zero is None else self.zero.owner
        if owner is None:
            return 0
        number = owner.value if isinstance(owner, arith.ConstantOp) else None
        return number.value.data if isinstance(number, IntegerAttr) else None

    def _padded_bytes(self, *, flipped: bool) -> KernelOp:
        """Return what adds the zero point to the factor."""
        shape, found = shape_of(self.factor.value), self.zero_reads() or {}
        reads = [(self.factor.value, AffineMap.identity(len(shape)))]
        reads += [
            (value, composed(map, [AffineExpr.constant(0)] * map.num_dims, shape))
            for value, map in found.values()
        ]

        def write(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            values = dict(zip(found, arguments[1:], strict=True))
            zero = self.zero_point(builder, values, 0)
            whole = builder.insert(arith.AddiOp(arguments[0], zero)).result
            byte = builder.insert(arith.TruncIOp(whole, i8)).result
            return _flipped(builder, byte, -BYTE) if flipped else byte

        output = Output(TensorType(i8, shape), AffineMap.identity(len(shape)))
        return kernel(reads, output, bounds=shape, finish=region(reads, None, write))

    def zero_reads(self) -> dict[SSAValue, Read] | None:
        """Return where the product finds what the zero point is computed from.

        None where it is another one along what is reduced.
        """
        op, found = self.factor.op, dict[SSAValue, Read]()
        open_values = [] if self.zero is None else [self.zero]
        while open_values:
            value = open_values.pop()
            if isinstance(value, BlockArgument):
                read = self._read(value.index)
                if read is None or max(used_dims(read[1]), default=-1) >= op.num_parallel:
                    return None
                found[value] = read
            elif isinstance(value.owner, Operation):
                open_values += value.owner.operands
        return found

    def _read(self, index: int) -> Read | None:
        maker, sizes = self.maker, self.factor.op.sizes
        dims: Sequence[AffineExpr] | None = [AffineExpr.constant(0)] * len(maker.sizes)
        if used_dims(maker.maps[index]):
            dims = solve(maker.maps[-1], maker.sizes, self.factor.map, sizes)
        return (
            None
            if dims is None
            else (maker.inputs[index], composed(maker.maps[index], dims, sizes))
        )

    def zero_point(self, builder: Builder, values: dict[SSAValue, SSAValue], less: int) -> SSAValue:
        """Insert the zero point less a number, of values for what it is computed from."""
        number = builder.insert(arith.ConstantOp(IntegerAttr(less, i32))).result
        if self.zero is None:
            zero = builder.insert(arith.ConstantOp(IntegerAttr(0, i32))).result
        else:
            zero = _computed(builder, self.zero, values)
        return builder.insert(arith.SubiOp(zero, number)).result


def _are_uniform(reads: Iterable[Read]) -> bool:
    return not any(used_dims(map) for _, map in reads)


def _flipped(builder: Builder, value: SSAValue, bits: int) -> SSAValue:
    type = value.type
    assert isa(type, IntegerType)
    number = builder.insert(arith.ConstantOp(IntegerAttr(bits, type))).result
    return builder.insert(arith.XOrIOp(value, number)).result


def _computed(builder: Builder, value: SSAValue, values: dict[SSAValue, SSAValue]) -> SSAValue:
    """Insert the ops of a region again that compute a value of others, and return it."""
    if value not in values:
        owner = value.owner
        assert isinstance(owner, Operation)
        for operand in owner.operands:
            _computed(builder, operand, values)
        values[value] = builder.insert(owner.clone(values)).results[0]
    return values[value]


# The words of a factor.


def words_of(
    builder: Builder, factor: Factor, kind: PackedProduct, made: KernelOp, flips: int = 0
) -> SSAValue:
    """Insert what packs integers in words along an axis, those behind the last one zero.

    Bits of `flips` are others in each word.
    `made`, which is in no block, computes the integers, i8 or i32. Where that takes little, words
    are made of what it reads.
    """
    axis, shape = factor.axis, list(shape_of(made.target))
    whole = shape[axis] % kind.value == 0
    cheap = whole and made.covers_output() and len(list(made.finish.block.ops)) <= CHEAP
    shape[axis] = -(-shape[axis] // kind.value)
    stored = list(shape)
    stored[axis] *= kind.value
    made = _widened(builder, made, stored)
    reads: list[Read] = []
    for part in range(kind.value):
        at: list[AffineExpr] = [AffineDimExpr(each) for each in range(len(shape))]
        at[axis] = at[axis] * kind.value + part
        reads.append((made.target, AffineMap(len(shape), 0, tuple(at))))

    def write(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        word = insert_word(inner, kind, arguments)
        return _flipped(inner, word, flips) if flips else word

    output = Output(TensorType(i32, shape), AffineMap.identity(len(shape)))
    packing = kernel(reads, output, bounds=shape, finish=region(reads, None, write))
    while cheap and made.target in packing.inputs:
        index = list(packing.inputs).index(made.target)
        through = reads_through(packing, index, made)
        if through is None or not all(is_linear(map) for _, map in through):
            break
        draft = packing
        packing = inlined(draft, index, made)
        draft.erase()
    builder.insert(packing)
    packing.target.name_hint = factor.value.name_hint
    return packing.target


def _widened(builder: Builder, draft: KernelOp, shape: Sequence[int]) -> KernelOp:
    """Insert a kernel of a larger result, of which it leaves zeros."""
    type = TensorType(element_of(draft.target), shape)
    made = draft.with_operands(draft.inputs, type)
    draft.erase()
    return builder.insert(made)


def computing(factor: Factor) -> KernelOp:
    """Return a kernel that computes a factor, or that copies it where no kernel does."""
    type = factor.value.type
    assert isa(type, TensorType[Attribute])
    if factor.maker is not None:
        return factor.maker.with_operands(factor.maker.inputs, type)
    shape = type.get_shape()
    identity = AffineMap.identity(len(shape))
    return copy_kernel(factor.value, shape, bounds=shape, reads=identity, writes=identity)


def sums_of(
    builder: Builder, factor: Factor, value: SSAValue, sizes: Sequence[int], write: Write
) -> Read:
    """Insert the sums of a factor over what is reduced, and return where the product finds them.

    `write` adds an element of the factor, which `value` holds, to a total.
    """
    used = sorted(used_dims(factor.map))
    dims: list[AffineExpr] = [AffineExpr.constant(0)] * len(sizes)
    for position, dim in enumerate(used):
        dims[dim] = AffineDimExpr(position)
    bounds, kept = [sizes[dim] for dim in used], [d for d in used if d < factor.op.num_parallel]
    reads: list[Read] = [(value, composed(factor.map, dims, bounds))]
    sums = tuple(AffineDimExpr(position) for position in range(len(kept)))
    made = kernel(
        reads,
        Output(TensorType(i32, bounds[: len(kept)]), AffineMap(len(used), 0, sums)),
        bounds=bounds,
        reductions=len(used) - len(kept),
        initial=IntegerAttr(0, i32),
        accumulate=region(reads, i32, write),
        finish=region(reads, i32, argument(1)),
    )
    builder.insert(made)
    return made.target, AffineMap(len(sizes), 0, tuple(map(AffineDimExpr, kept)))


# The product.


@dataclass(frozen=True)
class Correction:
    """What a total is less by: a zero point of one factor, less a number, times sums of another."""

    centred: Centred
    less: int
    sums: Read


def product_of(
    op: KernelOp,
    kind: PackedProduct,
    first: Sequence[Read],
    second: Read,
    sizes: Sequence[int],
    corrections: Sequence[Correction] = (),
    flips: int = 0,
) -> KernelOp:
    """Return the kernel that sums products of words, and finishes as another one.

    The first ones are stored as such, or are joined of bytes; bits of `flips` are others in them.
    """
    reads = [*first, second]
    own = [place(reads, each) for each in reads_of(op)]
    sums = [place(reads, each.sums) for each in corrections]
    zeros = [
        {value: place(reads, read) for value, read in (each.centred.zero_reads() or {}).items()}
        for each in corrections
    ]

    def accumulate(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        parts = arguments[: len(first)]
        word = parts[0] if len(parts) == 1 else insert_word(builder, kind, parts)
        word = _flipped(builder, word, flips) if flips else word
        product = insert_product(builder, WordProduct(kind, word, arguments[len(first)]))
        return builder.insert(arith.AddiOp(arguments[-1], product)).result

    def finish(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        total = arguments[-1]
        for each, at, found in zip(corrections, sums, zeros, strict=True):
            values = {value: arguments[position] for value, position in found.items()}
            zero = each.centred.zero_point(builder, values, each.less)
            part = builder.insert(arith.MuliOp(zero, arguments[at])).result
            total = builder.insert(arith.SubiOp(total, part)).result
        return spliced(builder, op.finish.block, [*(arguments[i] for i in own), total])

    new = kernel(
        reads,
        output_of(op),
        bounds=sizes,
        reductions=op.reductions.value.data,
        initial=op.initial,
        accumulate=region(reads, i32, accumulate),
        finish=region(reads, i32, finish),
    )
    hand_on_identity(op, new)
    return new


def product_of_pairs(builder: Builder, op: KernelOp, factors: Sequence[Factor]) -> KernelOp:
    """Insert what packs pairs of a kernel's factors; return the kernel of their products."""
    kind = PackedProduct.PAIRS
    first, second = ((words_of(builder, each, kind, computing(each)), each.map) for each in factors)
    return product_of(op, kind, [first], second, factors[0].sizes(kind.value))


def product_of_bytes(builder: Builder, op: KernelOp, a: Centred, b: Centred) -> KernelOp:
    """Insert what packs bytes of a kernel's factors; return the kernel of their products.

    sum((a - za) * (b - zb)) = sum(a' * b') - (zb - sb) * sum(a') - (za + sa) * sum(b - zb)

    where bytes a' = a + sa have no sign, and b' = b - sb have one: sa and sb are 0 or 128.
    """
    kind = PackedProduct.BYTES
    sizes = a.factor.sizes(kind.value)
    # All of a word at once, where no byte of it stands for nothing.
    whole = op.sizes[a.factor.dim] % kind.value == 0

    is_summed = b.zero is not None or not b.is_signed

    def words(each: Centred, *, flipped: bool) -> SSAValue:
        made = each.bytes(flipped=flipped and not whole, is_whole=whole or not is_summed)
        return words_of(builder, each.factor, kind, made, HIGHEST if flipped and whole else 0)

    first, second = words(a, flipped=a.is_signed), words(b, flipped=not b.is_signed)

    def add_bytes(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        ones = inner.insert(arith.ConstantOp(IntegerAttr(ONES, i32))).result
        total = insert_product(inner, WordProduct(kind, arguments[0], ones))
        return inner.insert(arith.AddiOp(arguments[1], total)).result

    corrections: list[Correction] = []
    if is_summed:
        sums = sums_of(builder, a.factor, first, sizes, add_bytes)
        corrections.append(Correction(b, 0 if b.is_signed else BYTE, sums))
    corrections += _zero_points(builder, op, a, b)
    words_of_a, words_of_b = (first, a.factor.map), (second, b.factor.map)
    return product_of(op, kind, [words_of_a], words_of_b, sizes, corrections)


def _zero_points(builder: Builder, op: KernelOp, a: Centred, b: Centred) -> Sequence[Correction]:
    """Insert the sums of the second factor that zero points of the first one, or its sign, take."""

    def add(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        return inner.insert(arith.AddiOp(arguments[1], arguments[0])).result

    if a.zero is None and not a.is_signed:
        return ()
    sums = sums_of(builder, b.factor, b.factor.value, op.sizes, add)
    return (Correction(a, -BYTE if a.is_signed else 0, sums),)


def product_of_windows(builder: Builder, op: KernelOp, a: Centred, b: Centred) -> KernelOp:
    """Insert what a kernel of windows reads; return it with neighbours along an axis by fours.

    A word is joined of them where it is read, since each is in several words. Those behind the end
    of a window count nothing: the second factor has zeros there.
    """
    kind, factor, rank = PackedProduct.BYTES, a.factor, len(op.sizes)
    sizes = factor.sizes(kind.value)
    made, shape = a.bytes(flipped=False), list(shape_of(factor.value))
    shape[factor.axis] += sizes[factor.dim] * kind.value - op.sizes[factor.dim]
    made = _widened(builder, made, shape)
    first: list[Read] = []
    for part in range(kind.value):
        dims: list[AffineExpr] = [AffineDimExpr(dim) for dim in range(rank)]
        dims[factor.dim] = dims[factor.dim] * kind.value + part
        first.append((made.target, composed(factor.map, dims, sizes)))
    second = words_of(builder, b.factor, kind, b.bytes(flipped=False)), b.factor.map
    corrections = _zero_points(builder, op, a, b)
    flips = HIGHEST if a.is_signed else 0
    return product_of(op, kind, first, second, sizes, corrections, flips)


class PackProducts(Pattern):
    """gawee.kernel { sum + %a * %b } -> gawee.kernel { sum + packed product of words }"""

    def __init__(self, processor: Processor) -> None:
        self._byte_products = processor.byte_products
        self._byte_tiles = processor.byte_tiles
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.accumulator_type != i32:
            self.missed(op, "expected a sum in i32")
            return
        indices = multiplied(op)
        if isinstance(indices, str):
            self.missed(op, indices)
            return
        factors, windows = factors_of(op, indices), self._windows(op, indices)
        if windows and (factors is None or self._joins_words(windows[0].factor, factors[0])):
            rewriter.replace(op, product_of_windows(rewriter, op, *windows))
            return
        if factors is None:
            self.missed(
                op, "expected a reduction along an axis of both factors, or windows of bytes"
            )
            return
        # Weights are the second: bytes with a sign more often than inputs are.
        first, second = sorted(factors, key=lambda each: self._analysis.is_known_early(each.value))
        if self._analysis.is_known_early(first.value):
            self.missed(op, "expected a factor that depends on an input")
            return
        a, b = Centred.of(first), Centred.of(second)
        if self._byte_products and a is not None and b is not None:
            rewriter.replace(op, product_of_bytes(rewriter, op, a, b))
        elif all(_are_short(each.value) for each in factors):
            rewriter.replace(op, product_of_pairs(rewriter, op, factors))
        else:
            self.missed(op, "expected factors of at most 16 bits")

    def _joins_words(self, window: Factor, other: Factor) -> bool:
        """Whether words along a window are better; tiles take words alone that are in memory."""
        return not self._byte_tiles and _fills_words(window, other)

    def _windows(self, op: KernelOp, indices: tuple[int, int]) -> tuple[Centred, Centred] | None:
        """Return bytes that windows are read of, and filters with a sign; None of others."""
        window = window_of(op, indices) if self._byte_products else None
        if window is None or self._analysis.is_known_early(window[0].value):
            return None
        a, b = map(Centred.of, window)
        if a is None or b is None or b.zero is not None or not b.is_signed:
            return None
        return a, b


def _fills_words(window: Factor, other: Factor) -> bool:
    """Whether words along a window take no more steps than others, some of whose bytes stand for
    nothing."""
    count = PackedProduct.BYTES.value
    steps = [prod(each.sizes(count)[each.op.num_parallel :]) for each in (window, other)]
    return other.op.sizes[other.dim] % count > 0 and steps[0] <= steps[1]


def multiplied(op: KernelOp) -> tuple[int, int] | str:
    """Return of which two inputs a kernel sums the products; why they stay, where they do."""
    indices = multiplied_inputs(op)
    if op.result is None or op.schedule is not None or is_open(op.sizes):
        return "expected a kernel on tensors of known sizes, without a schedule"
    if indices is None or indices[0] == indices[1] or len(list(op.accumulate.block.ops)) > PLAIN:
        return "expected a sum of products of two inputs"
    if any(op.finish.block.args[each].uses for each in indices):
        return "expected factors that nothing else reads"
    return indices


def factors_of(op: KernelOp, indices: tuple[int, int]) -> Sequence[Factor] | None:
    """Return inputs with an axis each that one reduction alone is along; None where none is."""
    reduced = range(op.num_parallel, len(op.sizes))
    for dim in sorted(reduced, key=lambda dim: -op.sizes[dim]):
        axes = [axis_of(op.maps[each], dim) for each in indices]
        found = [
            Factor(op, index, dim, axis)
            for index, axis in zip(indices, axes, strict=True)
            if axis is not None
        ]
        if op.sizes[dim] > 1 and len(found) == len(indices):
            return found
    return None


def window_of(op: KernelOp, indices: tuple[int, int]) -> tuple[Factor, Factor] | None:
    """Return an input that windows are read of, and what they are multiplied with.

    The windows move in steps of one along the reduction that both are about.
    """
    for dim in reversed(range(op.num_parallel, len(op.sizes))):
        for window, other in (indices, indices[::-1]):
            along = axis_of(op.maps[other], dim)
            axis = axis_of_windows(op.maps[window], op.sizes, dim)
            if op.sizes[dim] > 1 and along is not None and axis is not None:
                return Factor(op, window, dim, axis), Factor(op, other, dim, along)
    return None


def axis_of_windows(map: AffineMap, sizes: Sequence[int], dim: int) -> int | None:
    """Return the only axis that has a dimension, among others, in steps of one; None for none."""
    along = [axis for axis, expr in enumerate(map.results) if AffineDimExpr(dim) in [*expr.dfs()]]
    if len(along) != 1:
        return None
    form = sum_of(map.results[along[0]], sizes)
    return along[0] if form.terms.get(AffineDimExpr(dim)) == 1 and len(form.terms) > 1 else None


def axis_of(map: AffineMap, dim: int) -> int | None:
    """Return the axis that a dimension alone is along; None where there is none, or several."""
    along = [axis for axis, expr in enumerate(map.results) if AffineDimExpr(dim) in [*expr.dfs()]]
    return along[0] if len(along) == 1 and map.results[along[0]] == AffineDimExpr(dim) else None


def _are_short(value: SSAValue) -> bool:
    low, high = integer_range(value)
    return -(1 << 15) <= low and high < 1 << 15


@dataclass(frozen=True)
class PackIntegerProducts(TargetPass, RewritePass):
    """Pack integers of 8 and 16 bits in words, where a kernel adds up products of them.

    1. A sum in i32 of products of bytes less their zero points is one of the products of the bytes,
       less what the zero points add to it: a few sums of one factor alone, taken before. With four
       bytes in a word, of which those of one factor get a sign and those of the other lose theirs,
       a processor with AVX-VNNI multiplies and adds four at once (`vpdpbusd`).
    2. On others integers of up to 16 bits lie in a word by pairs (`vpmaddwd`).
    3. Windows of a channel each (a depthwise convolution), or of so few that words along channels
       would be emptier, have four neighbours along a row in a word, which is joined where it is
       read (`vpermb`, or one load). Where a processor multiplies tiles, which it loads, few
       channels are words all the same.

    Sums wrap around as they did: results are the same in every bit.

    rewrite:
        gawee.kernel parallel [8, 16] reduce [64] ins(%a, %b) { + %a * %b }
        ->
        %0 = gawee.kernel parallel [8, 16] ins(%a) { words of 4 }; %1 = ... ins(%b)
        gawee.kernel parallel [8, 16] reduce [16] ins(%0, %1) { + packed product of %0, %1 }
    """

    name = "pack-integer-products"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True
    revisits = False

    def make_patterns(self) -> Sequence[RewritePattern]:
        return [PackProducts(self.processor)]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.processor.triple != X86_64:
            return
        super().apply(ctx, op)
        erase_dead(op.body)
