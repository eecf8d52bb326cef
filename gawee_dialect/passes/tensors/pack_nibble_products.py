"""Multiply numbers of four bits, with a scale for each block, as bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, TensorType, f32, i32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.analysis.four_bits import NUMBERS, lookup_of
from gawee_dialect.dialect.affine_range import composed, sum_of, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, shape_of
from gawee_dialect.dialect.kernels.packed_products import (
    PackedProduct,
    WordProduct,
    insert_product,
    insert_word,
)
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.passes.dead_code import erase_dead
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    Write,
    hand_on_identity,
    kernel,
    output_of,
    place,
    reads_of,
    region,
    spliced,
)
from gawee_dialect.passes.tensors.tensor_forms import with_forms
from gawee_dialect.target.machine import TargetPass

DIGITS, BITS, BYTES = 3, 8, PackedProduct.BYTES
LARGEST = 127 * (1 + (1 << BITS) + (1 << 2 * BITS))
"""The largest number of three digits with signs, which f32 holds."""
HALVES = 128 * (1 + (1 << BITS) + (1 << 2 * BITS))
"""What makes digits of a number bytes without signs, that are 128 more."""
SIGNS = -0x7F7F7F80
"""A word whose bytes have their highest bit set alone."""
LOWER_HALVES, HALF = 0x0F0F0F0F, 4
LEAST = 2.0**-100
"""Numbers of a block whose largest one is smaller are steps of what it would be."""


@dataclass(frozen=True)
class Terms:
    """What a kernel sums: a scale, times factors that are each times four bits of one word."""

    scale: SSAValue
    words: BlockArgument
    factors: dict[int, int]
    """The input of each factor, by the first of the bits."""
    least: int
    """What bits of zero stand for; others are steps of one from it."""

    @staticmethod
    def of(op: KernelOp) -> "Terms | None":
        """Return what a kernel sums; None where it is anything else."""
        add, total = op.yielded(op.accumulate).owner, op.accumulate.block.args[-1]
        if not isinstance(add, arith.AddfOp) or total not in add.operands:
            return None
        scaled = add.rhs if add.lhs is total else add.lhs
        if not isinstance(scaled.owner, arith.MulfOp):
            return None
        pair = scaled.owner.operands
        for scale, sum in (pair, (pair[1], pair[0])):
            found = _terms(scale, sum)
            if found is not None:
                return found
        return None


def _terms(scale: SSAValue, sum: SSAValue) -> Terms | None:
    factors, found = dict[int, int](), set[tuple[SSAValue, float]]()
    for term in _summed(sum):
        if not isinstance(term.owner, arith.MulfOp):
            return None
        first, second = term.owner.operands
        factor, number = (first, second) if isinstance(first, BlockArgument) else (second, first)
        lookup = lookup_of(number)
        if lookup is None or not isinstance(factor, BlockArgument):
            return None
        least = float(lookup.table[0])
        if lookup.first_bit in factors or not np.array_equal(
            lookup.table, least + np.arange(NUMBERS)
        ):
            return None
        factors[lookup.first_bit] = factor.index
        found.add((lookup.words, least))
    if len(found) != 1 or len(factors) != 2 * BYTES.value:
        return None
    ((words, least),) = found
    if not isinstance(words, BlockArgument) or not least.is_integer():
        return None
    return Terms(scale, words, factors, int(least))


def _summed(value: SSAValue) -> list[SSAValue]:
    if isinstance(value.owner, arith.AddfOp):
        return [*_summed(value.owner.lhs), *_summed(value.owner.rhs)]
    return [value]


@dataclass(frozen=True)
class Blocks:
    """Where the factors of a block are: side by side along the last axis of one tensor."""

    op: KernelOp
    terms: Terms
    block: int
    """The reduction over blocks."""
    word: int
    """That over words of a block."""

    @staticmethod
    def of(op: KernelOp, terms: Terms) -> "Blocks | None":
        """Return the blocks that a kernel sums; None where they lie in any other way."""
        reduced = range(op.num_parallel, len(op.sizes))
        scaled = {dim for each in _inputs_of(terms.scale) for dim in used_dims(op.maps[each])}
        blocks = [dim for dim in reduced if dim in scaled]
        words = [dim for dim in reduced if dim not in scaled]
        if len(blocks) != 1 or len(words) != 1:
            return None
        found = Blocks(op, terms, blocks[0], words[0])
        return found if found._is_side_by_side() else None

    @property
    def factor(self) -> SSAValue:
        """The tensor of all factors."""
        return self.op.inputs[self.terms.factors[0]]

    @property
    def leading(self) -> tuple[AffineExpr, ...]:
        """Where a point of the kernel is along the other axes of the factors."""
        return self.op.maps[self.terms.factors[0]].results[:-1]

    @property
    def words(self) -> int:
        """How many words a block has."""
        return self.op.sizes[self.word]

    @property
    def size(self) -> int:
        """How many numbers a block has."""
        return self.words * len(self.terms.factors)

    def _is_side_by_side(self) -> bool:
        op = self.op
        if any(isinstance(op.sizes[each], OpenSize) for each in (self.block, self.word)):
            return False
        maps = [op.maps[each] for each in self.terms.factors.values()]
        values = {op.inputs[each] for each in self.terms.factors.values()}
        if len(values) != 1 or {each.results[:-1] for each in maps} != {self.leading}:
            return False
        if shape_of(self.factor)[-1] != op.sizes[self.block] * self.size:
            return False
        if used_dims(AffineMap(len(op.sizes), 0, self.leading)) & {self.block, self.word}:
            return False
        starts = [self._start(word, half) for word in range(self.words) for half in (0, 1)]
        known = [each for each in starts if each is not None]
        return sorted(known) == list(range(0, self.size, BYTES.value))

    def _start(self, word: int, half: int) -> int | None:
        """Return where the four factors of half a word are in a block, one after the other."""
        found = [self._place(word, BITS * byte + HALF * half) for byte in range(BYTES.value)]
        first = found[0]
        if first is None or found != [first + byte for byte in range(BYTES.value)]:
            return None
        return first

    def _place(self, word: int, first_bit: int) -> int | None:
        form = sum_of(self.op.maps[self.terms.factors[first_bit]].results[-1], self.op.sizes)
        by = {AffineDimExpr(self.block): self.size, AffineDimExpr(self.word): 0}
        terms = dict(form.terms)
        step = terms.pop(AffineDimExpr(self.word), 0)
        whole = terms.pop(AffineDimExpr(self.block), 0)
        is_one = self.op.sizes[self.block] == 1
        if terms or (whole != by[AffineDimExpr(self.block)] and not is_one):
            return None
        return form.constant + step * word

    def start(self, word: int, half: int) -> int:
        """Return which four neighbours of a block half a word is multiplied with."""
        place = self._start(word, half)
        assert place is not None
        return place // BYTES.value

    def fits(self) -> bool:
        """Whether a block's sum is an i32."""
        most = max(abs(self.terms.least), abs(self.terms.least + NUMBERS - 1))
        return most * self.size * LARGEST < 1 << 31


def _inputs_of(value: SSAValue) -> set[int]:
    """Return the inputs that a scalar of a kernel is computed of."""
    if isinstance(value, BlockArgument):
        return {value.index}
    owner = value.owner
    assert isinstance(owner, Operation)
    return set[int]().union(*map(_inputs_of, owner.operands))


# The factors in fixed point.


def _number(builder: Builder, value: float, type: Attribute) -> SSAValue:
    number = IntegerAttr(int(value), i32) if type == i32 else FloatAttr(value, f32)
    return builder.insert(arith.ConstantOp(number)).result


@dataclass(frozen=True)
class FixedPoint:
    """Factors as multiples of a step for each block, in words of four neighbours by digit."""

    steps: SSAValue
    digits: Sequence[SSAValue]
    sums: SSAValue
    """Of the multiples of each block, times what bits of zero stand for."""


def fixed_point(builder: Builder, blocks: Blocks) -> FixedPoint:
    """Insert what makes the factors of a kernel multiples of a step of each block.

    They are whole numbers of three digits with signs, the nearest ones.
    """
    *leading, _ = shape_of(blocks.factor)
    shape = *leading, blocks.op.sizes[blocks.block]
    size, rank = blocks.size, len(shape)
    dims = [AffineDimExpr(each) for each in range(rank + 1)]
    of_block = AffineMap(rank + 1, 0, tuple(dims[:-1]))

    def made(
        reads: Sequence[Read], element: Attribute, inner: int, write: Write, name: str
    ) -> SSAValue:
        """Insert what computes so many numbers of each block."""
        output = Output(TensorType(element, [*shape, inner]), AffineMap.identity(rank + 1))
        finish = region(reads, None, write)
        return _inserted(
            builder, kernel(reads, output, bounds=[*shape, inner], finish=finish), name
        )

    def reduced(read: Read, initial: Number, combine: Write, finish: Write, name: str) -> SSAValue:
        """Insert what computes one number of those of each block."""
        op = kernel(
            [read],
            Output(TensorType(initial.type, shape), of_block),
            bounds=[*shape, size],
            reductions=1,
            initial=initial,
            accumulate=region([read], initial.type, combine),
            finish=region([read], initial.type, finish),
        )
        return _inserted(builder, op, name)

    *others, block, place = dims
    given = blocks.factor, AffineMap(rank + 1, 0, (*others, block * size + place))
    least = FloatAttr(LEAST, f32)
    steps = reduced(given, least, _largest, _over_largest, "steps")
    multiples = made([given, (steps, of_block)], i32, size, _multiple, "multiples")
    own = multiples, AffineMap.identity(rank + 1)
    times = _times(blocks.terms.least)
    sums = reduced(own, IntegerAttr(0, i32), _added, times, "sums")
    neighbours = [
        (multiples, AffineMap(rank + 1, 0, (*others, block, place * BYTES.value + each)))
        for each in range(BYTES.value)
    ]
    digits = [
        made(neighbours, i32, size // BYTES.value, _digit(each), "digits") for each in range(DIGITS)
    ]
    return FixedPoint(steps, digits, sums)


def _inserted(builder: Builder, op: KernelOp, name: str) -> SSAValue:
    builder.insert(op).target.name_hint = name
    return op.target


def _largest(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
    size = builder.insert(math.AbsFOp(arguments[0])).result
    return builder.insert(arith.MaximumfOp(arguments[1], size)).result


def _over_largest(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
    return builder.insert(arith.MulfOp(arguments[1], _number(builder, 1 / LARGEST, f32))).result


def _multiple(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
    """Insert the nearest multiple of a step; what is no number is any."""
    value = builder.insert(arith.DivfOp(arguments[0], arguments[1])).result
    value = builder.insert(arith.MinnumfOp(value, _number(builder, LARGEST, f32))).result
    value = builder.insert(arith.MaxnumfOp(value, _number(builder, -LARGEST, f32))).result
    value = builder.insert(math.RoundEvenOp(value)).result
    return builder.insert(arith.FPToSIOp(value, i32)).result


def _added(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
    return builder.insert(arith.AddiOp(arguments[1], arguments[0])).result


def _times(number: int) -> Write:
    def write(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        return builder.insert(arith.MuliOp(arguments[1], _number(builder, number, i32))).result

    return write


def _digit(place: int) -> Write:
    """Return what joins a digit of each of four numbers in a word."""

    def write(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        halves, bits = _number(builder, HALVES, i32), _number(builder, place * BITS, i32)
        bytes: list[SSAValue] = []
        for each in arguments:
            moved = builder.insert(arith.AddiOp(each, halves)).result
            bytes.append(builder.insert(arith.ShRUIOp(moved, bits)).result)
        word = insert_word(builder, BYTES, bytes)
        return builder.insert(arith.XOrIOp(word, _number(builder, SIGNS, i32))).result

    return write


# The product.


def product_of(op: KernelOp, blocks: Blocks, fixed: FixedPoint) -> KernelOp:
    """Return the kernel whose steps are a block each: sums of it are integers, until its end."""
    sizes = [size for dim, size in enumerate(op.sizes) if dim != blocks.word]
    reads: list[Read] = []

    def moved(map: AffineMap, word: int = 0) -> AffineMap:
        dims: list[AffineExpr] = [
            AffineDimExpr(each - (each > blocks.word)) for each in range(len(op.sizes))
        ]
        dims[blocks.word] = AffineExpr.constant(word)
        return composed(map, dims, sizes)

    def at(value: SSAValue, map: AffineMap, word: int = 0) -> int:
        return place(reads, (value, moved(map, word)))

    def of_block(value: SSAValue, *behind: AffineExpr) -> int:
        results = (*blocks.leading, AffineDimExpr(blocks.block), *behind)
        return at(value, AffineMap(len(op.sizes), 0, results))

    own = [at(*each) for each in reads_of(op)]
    stored = reads_of(op)[blocks.terms.words.index]
    words = [at(*stored, word) for word in range(blocks.words)]
    starts = [[blocks.start(word, half) for half in (0, 1)] for word in range(blocks.words)]
    digits = [
        [[of_block(each, AffineExpr.constant(start)) for start in both] for both in starts]
        for each in fixed.digits
    ]
    steps, sums = of_block(fixed.steps), of_block(fixed.sums)

    def accumulate(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        halves = [_halves(builder, arguments[each]) for each in words]
        total: SSAValue | None = None
        for number in reversed(range(DIGITS)):
            sum = arguments[sums] if number == 0 else _number(builder, 0, i32)
            for both, places in zip(halves, digits[number], strict=True):
                for half, factors in zip(both, places, strict=True):
                    product = insert_product(builder, WordProduct(BYTES, half, arguments[factors]))
                    sum = builder.insert(arith.AddiOp(sum, product)).result
            if total is not None:
                bits = _number(builder, BITS, i32)
                total = builder.insert(arith.ShLIOp(total, bits)).result
                sum = builder.insert(arith.AddiOp(total, sum)).result
            total = sum
        assert total is not None
        whole = builder.insert(arith.SIToFPOp(total, f32)).result
        given = [arguments[each] for each in own]
        scale = _computed(builder, blocks.terms.scale, given)
        scale = builder.insert(arith.MulfOp(scale, arguments[steps])).result
        scaled = builder.insert(arith.MulfOp(scale, whole)).result
        return builder.insert(arith.AddfOp(arguments[-1], scaled)).result

    def finish(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        given = [*(arguments[each] for each in own), arguments[-1]]
        return spliced(builder, op.finish.block, given)

    new = kernel(
        reads,
        output_of(op)._replace(map=moved(op.maps[-1])),
        bounds=sizes,
        reductions=1,
        initial=op.initial,
        accumulate=region(reads, f32, accumulate),
        finish=region(reads, f32, finish),
    )
    hand_on_identity(op, new)
    return new


def _halves(builder: Builder, word: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Insert the words of the numbers in the lower halves of bytes, and in the upper ones."""
    mask = _number(builder, LOWER_HALVES, i32)
    moved = builder.insert(arith.ShRUIOp(word, _number(builder, HALF, i32))).result
    lower, upper = (builder.insert(arith.AndIOp(each, mask)).result for each in (word, moved))
    return lower, upper


def _computed(builder: Builder, value: SSAValue, inputs: Sequence[SSAValue]) -> SSAValue:
    """Insert the ops again that compute a scalar of a kernel from its inputs."""
    if isinstance(value, BlockArgument):
        return inputs[value.index]
    owner = value.owner
    assert isinstance(owner, Operation)
    new = {each: _computed(builder, each, inputs) for each in owner.operands}
    return builder.insert(owner.clone(new)).results[0]


class PackNibbles(Pattern):
    """gawee.kernel { sum + scale * (%a * four bits + ...) } -> gawee.kernel { packed products }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.initial is None or op.accumulator_type != f32 or op.schedule or op.result is None:
            self.missed(op, "expected a sum in f32, without a schedule")
            return
        terms = Terms.of(op)
        if terms is None:
            self.missed(op, "expected a scale times a sum of products with all bits of a word")
            return
        blocks = Blocks.of(op, terms)
        if blocks is None or not blocks.fits():
            self.missed(op, "expected factors of a block of up to 32 side by side, along one axis")
            return
        rewriter.replace(op, product_of(op, blocks, fixed_point(rewriter, blocks)))


@dataclass(frozen=True)
class PackNibbleProducts(TargetPass, RewritePass):
    """Multiply numbers of four bits, with a scale for each block, as bytes.

    A block of 4-bit weights with a scale is multiplied with floats. Where a processor multiplies
    and adds four bytes at once (`vpdpbusd`), each block of the floats becomes multiples of a step,
    8355711 of which are its largest number: three digits of a byte. Sums of a block are exact then,
    and the step is a factor of its scale. What is rounded is half a step of each float.

    rewrite:
        gawee.kernel reduce [64, 4] ins(%s, %x, %q) { sum + %s * (%x * (%q & 15) + ...) }
        ->
        %0 = gawee.kernel ins(%x) { multiples of a step }; %1 = gawee.kernel ins(%0) { digits }
        gawee.kernel reduce [64] ins(%s, %1, %q) { sum + %s * (packed product of %q and %1 + ...) }
    """

    name = "pack-nibble-products"
    numerics: ClassVar[Numerics] = approximates(16, of_largest=True)
    takes_open_sizes: ClassVar[bool] = True
    patterns = (PackNibbles,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.processor.byte_products:
            return
        with with_forms(op):
            super().apply(ctx, op)
            erase_dead(op.body)
