"""The kernels of Winograd's form of Strassen's algorithm, one level of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as pairs

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, TensorType, f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from gawee_dialect.dialect.affine_range import composed
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.passes.tensors.convert_to_strassen.product import (
    FIRST,
    SECOND,
    TERM,
    Product,
    Quarter,
    multiply_add,
)
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    Write,
    kernel,
    place,
    region,
    spliced,
)

QUARTERS = tuple(Quarter(*each) for each in pairs(range(2), range(2)))


@dataclass(frozen=True)
class Quarters:
    """Inserts the kernels that take a product's place."""

    builder: Builder
    product: Product

    def insert(self) -> SSAValue:
        """Insert all kernels, in the order in which most of what they make is read soon.

        1. Sums of quarters of the matrix a, and of the weights b, which are known early.
        2. Seven products. What is added up of several is a product that starts from the others.
        3. Each quarter of the output goes to its place by the last kernel that adds to it.
        """
        a11, a12, a21, a22 = map(self.product.matrix_quarter, QUARTERS)
        b11, b12, b21, b22 = map(self.product.weights_quarter, QUARTERS)
        rows, columns, _ = self.product.halves
        s1 = self._sum(arith.AddfOp, a21, a22, rows)
        s2 = self._sum(arith.SubfOp, s1, a11, rows)
        s3 = self._sum(arith.SubfOp, a11, a21, rows)
        s4 = self._sum(arith.SubfOp, a12, s2, rows)
        t1 = self._sum(arith.SubfOp, b12, b11, columns)
        t2 = self._sum(arith.SubfOp, b22, t1, columns)
        t3 = self._sum(arith.SubfOp, b22, b12, columns)
        t4 = self._sum(arith.SubfOp, b21, t2, columns)
        p1 = self._multiplied(a11, b11)
        c11 = self._multiplied(a12, b21, [p1], Quarter(0, 0))
        u2 = self._multiplied(s2, t2, [p1])
        p5 = self._multiplied(s1, t1)
        c12 = self._multiplied(s4, b22, [u2, p5], Quarter(0, 1))
        u3 = self._multiplied(s3, t3, [u2])
        c21 = self._multiplied(a22, t4, [u3], Quarter(1, 0))
        c22 = self._added([u3, p5], Quarter(1, 1))
        return self._joined([c11, c12, c21, c22])

    def _sum(
        self, kind: type[arith.AddfOp | arith.SubfOp], one: Read, two: Read, size: int
    ) -> Read:
        """Insert the sum or the difference of two quarters, of so many rows or columns."""
        reads, shape = [one, two], (size, self.product.halves.terms)

        def write(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            return inner.insert(kind(arguments[0], arguments[1])).result

        output = Output(TensorType(f32, shape), AffineMap.identity(2))
        made = kernel(reads, output, bounds=shape, finish=region(reads, None, write))
        self.builder.insert(made)
        made.target.name_hint = two[0].name_hint
        return made.target, AffineMap.identity(2)

    def _multiplied(
        self,
        matrix: Read,
        weights: Read,
        added: Sequence[SSAValue] = (),
        quarter: Quarter | None = None,
    ) -> SSAValue:
        """Insert a product of two quarters; the rest is as `_finish` says."""
        bounds = self.product.halves
        reads = [
            (matrix[0], composed(matrix[1], (FIRST, TERM), bounds)),
            (weights[0], composed(weights[1], (SECOND, TERM), bounds)),
        ]
        write = self._finish(reads, added, quarter, bounds)
        made = kernel(
            reads,
            self._output(quarter, bounds),
            bounds=bounds,
            finish=region(reads, f32, write),
            reductions=1,
            initial=FloatAttr(0.0, f32),
            accumulate=region(reads, f32, multiply_add),
        )
        return self._inserted(made)

    def _added(self, added: Sequence[SSAValue], quarter: Quarter) -> SSAValue:
        """Insert the sum of what products made; the rest is as `_finish` says."""
        bounds, reads = self.product.halves[:2], list[Read]()
        write = self._finish(reads, added, quarter, bounds)
        finish = region(reads, None, write)
        return self._inserted(
            kernel(reads, self._output(quarter, bounds), bounds=bounds, finish=finish)
        )

    def _finish(
        self,
        reads: list[Read],
        added: Sequence[SSAValue],
        quarter: Quarter | None,
        bounds: Sequence[int],
    ) -> Write:
        """Return what adds others to the sum of a kernel, if it has one; they join its reads.

        A quarter of the output is then what the replaced kernel makes of its sums.
        """
        at = AffineMap(len(bounds), 0, (FIRST, SECOND))
        op, places = self.product.op, [place(reads, (value, at)) for value in added]
        others = dict[int, Read]() if quarter is None else self.product.others(quarter, bounds)
        taken = {index: place(reads, read) for index, read in others.items()}

        def write(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
            total, *more = (*(arguments[each] for each in places), *arguments[len(reads) :])
            for each in more:
                total = inner.insert(arith.AddfOp(total, each)).result
            if quarter is None:
                return total
            given = [arguments[taken.get(index, 0)] for index in range(len(op.inputs))]
            return spliced(inner, op.finish.block, [*given, total])

        return write

    def _output(self, quarter: Quarter | None, bounds: Sequence[int]) -> Output:
        rows, columns, _ = self.product.halves
        if quarter is None:
            at = AffineMap(len(bounds), 0, (FIRST, SECOND))
            return Output(TensorType(f32, (rows, columns)), at)
        points = {self.product.row: FIRST, self.product.column: SECOND}
        map = self.product.at(self.product.op.maps[-1], points, bounds)
        return Output(TensorType(f32, self.product.on_axes(rows, columns, 1)), map)

    def _inserted(self, made: KernelOp) -> SSAValue:
        self.builder.insert(made)
        made.target.name_hint = self.product.op.target.name_hint
        return made.target

    def _joined(self, parts: Sequence[SSAValue]) -> SSAValue:
        """Insert what puts the quarters of the output in their places."""
        rows, columns, _ = self.product.halves
        type = tensor_type(self.product.op.target)
        whole = self.builder.insert(tensor.EmptyOp((), type)).tensor
        for quarter, part in zip(QUARTERS, parts, strict=True):
            offsets = self.product.on_axes(quarter.row * rows, quarter.column * columns, 0)
            sizes = self.product.on_axes(rows, columns, 1)
            insertion = tensor.InsertSliceOp.from_static_parameters(part, whole, offsets, sizes)
            whole = self.builder.insert(insertion).result
        return whole
