"""Products of a matrix with weights, and their quarters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.dialect.affine_range import composed, used_dims
from gawee_dialect.dialect.kernels.kernel import KernelOp, element_of
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.passes.tensors.form_kernels.drafts import Read
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

FIRST, SECOND, TERM = (AffineExpr.dimension(dim) for dim in range(3))
"""Dimensions of matrices, and of products: rows, columns, and what is summed."""


class Sizes(NamedTuple):
    """How large a product is: the bounds of its kernel."""

    rows: int
    columns: int
    terms: int


class Quarter(NamedTuple):
    """Which half of the rows of a matrix, and of its columns, a quarter is of: 0 or 1."""

    row: int
    column: int


@dataclass(frozen=True)
class Product:
    """A kernel that multiplies a matrix with weights: which input, and which dimension, is what."""

    op: KernelOp
    matrix: int
    weights: int
    row: int
    column: int

    @property
    def sizes(self) -> Sizes:
        """The rows, the columns, and what is summed."""
        return Sizes(*(self.op.sizes[dim] for dim in (self.row, self.column, self._term)))

    @property
    def halves(self) -> Sizes:
        """Half of each: the size of a product of two quarters."""
        return Sizes(*(size // 2 for size in self.sizes))

    @property
    def _term(self) -> int:
        return self.op.num_parallel

    def matrix_quarter(self, quarter: Quarter) -> Read:
        """Return a quarter of the matrix, by its rows and terms."""
        rows, _, terms = self.halves
        points = {self.row: FIRST + quarter.row * rows, self._term: SECOND + quarter.column * terms}
        map = self.at(self.op.maps[self.matrix], points, (rows, terms))
        return self.op.inputs[self.matrix], map

    def weights_quarter(self, quarter: Quarter) -> Read:
        """Return a quarter of the weights, whose rows are summed: by its columns and terms."""
        _, columns, terms = self.halves
        points = {
            self._term: SECOND + quarter.row * terms,
            self.column: FIRST + quarter.column * columns,
        }
        map = self.at(self.op.maps[self.weights], points, (columns, terms))
        return self.op.inputs[self.weights], map

    def others(self, quarter: Quarter, bounds: Sequence[int]) -> Mapping[int, Read]:
        """Return what `finish` reads for a quarter of the output, by input."""
        rows, columns, _ = self.halves
        points = {
            self.row: FIRST + quarter.row * rows,
            self.column: SECOND + quarter.column * columns,
        }
        inputs = enumerate(zip(self.op.inputs, self.op.maps, strict=False))
        return {
            index: (value, self.at(map, points, bounds))
            for index, (value, map) in inputs
            if index not in (self.matrix, self.weights)
        }

    def at(
        self, map: AffineMap, points: Mapping[int, AffineExpr], bounds: Sequence[int]
    ) -> AffineMap:
        """Return a map of the kernel over other loops, at these points of its dimensions or 0."""
        dims = [points.get(dim, AffineExpr.constant(0)) for dim in range(len(self.op.sizes))]
        return composed(map, dims, bounds)

    def on_axes(self, row: int, column: int, other: int) -> Sequence[int]:
        """Return a number for each axis of the output: that of rows, of columns, or the others'."""
        by_dim = {self.row: row, self.column: column}
        exprs = self.op.maps[-1].results
        return [
            by_dim.get(expr.position, other) if isinstance(expr, AffineDimExpr) else other
            for expr in exprs
        ]


def multiply_add(builder: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
    """Insert what a product accumulates: the last argument and the product of the first two."""
    product = builder.insert(arith.MulfOp(arguments[0], arguments[1])).result
    return builder.insert(arith.AddfOp(arguments[-1], product)).result


def product_of(op: KernelOp, analysis: ParameterAnalysis) -> Product | str:
    """Return the product that a kernel is, or why it is none for the algorithm."""
    if is_open(op.sizes):
        return "expected sizes that are numbers, got open ones"
    factors = _factors_of(op)
    if isinstance(factors, str):
        return factors
    early = [index for index in factors if analysis.is_known_early(op.inputs[index])]
    if len(early) != 1:
        return f"expected one factor of weights, got {len(early)}"
    (weights,) = early
    (matrix,) = (index for index in factors if index != weights)
    wide = {dim for dim in range(op.num_parallel) if op.sizes[dim] > 1}
    rows, columns = (wide & used_dims(op.maps[index]) for index in (matrix, weights))
    if (len(rows), len(columns), len(wide)) != (1, 1, 2):
        return "expected rows of one factor and columns of the other"
    if not all(isinstance(each, _AXES) for each in op.maps[-1].results) or not op.covers_output():
        return "expected an output of these rows and columns"
    found = Product(op, matrix, weights, *rows, *columns)
    odd = [size for size in found.sizes if size % 2]
    return f"expected even sizes, got {odd[0]}" if odd else found


_AXES = AffineDimExpr | AffineConstantExpr


def _factors_of(op: KernelOp) -> tuple[int, int] | str:
    """Return the inputs of f32 whose products along one dimension a kernel sums; else why not."""
    factors = multiplied_inputs(op)
    if factors is None or op.reductions.value.data != 1 or op.schedule is not None:
        return "expected a sum of products along one dimension, without a schedule"
    elements = (op.accumulator_type, *(element_of(op.inputs[index]) for index in factors))
    if any(each != f32 for each in (*elements, element_of(op.target))):
        return "expected factors, sums and results of f32"
    if op.initial is None or op.initial.value.data != 0:
        return "expected sums from zero"
    if any(op.finish.block.args[index].first_use is not None for index in factors):
        return "expected 'finish' to use no factor"
    return factors
