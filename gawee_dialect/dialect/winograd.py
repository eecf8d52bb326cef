"""Convolution by Winograd's minimal filtering, on weights that are transformed beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)

from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.kernel import WritesOutputBuffer, YieldOp, element_of, shape_of
from gawee_dialect.dialect.types import require

KERNEL = 3
"""The size of the filters, 3x3."""

Matrix = tuple[tuple[Fraction, ...], ...]


def _matrix(*rows: Sequence[int | Fraction]) -> Matrix:
    return tuple(tuple(Fraction(value) for value in row) for row in rows)


@dataclass(frozen=True)
class Transforms:
    """The matrices of F(m x m, 3x3), from Lavin and Gray, Fast Algorithms for Convolutional Neural
    Networks: a tile of outputs is A^T [(G g G^T) * (B^T d B)] A of filter g and input tile d.
    """

    input: Matrix
    """B^T"""
    weight: Matrix
    """G"""
    output: Matrix
    """A^T"""

    @property
    def points(self) -> int:
        """How many inputs a tile has along each axis: m + 2."""
        return len(self.input)


_SIXTH, _TWELFTH, _TWENTY_FOURTH = Fraction(1, 6), Fraction(1, 12), Fraction(1, 24)
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)

TRANSFORMS = {
    2: Transforms(
        _matrix((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
        _matrix((1, 0, 0), (_HALF, _HALF, _HALF), (_HALF, -_HALF, _HALF), (0, 0, 1)),
        _matrix((1, 1, 1, 0), (0, 1, -1, -1)),
    ),
    4: Transforms(
        _matrix(
            (4, 0, -5, 0, 1, 0),
            (0, -4, -4, 1, 1, 0),
            (0, 4, -4, -1, 1, 0),
            (0, -2, -1, 2, 1, 0),
            (0, 2, -1, -2, 1, 0),
            (0, 4, 0, -5, 0, 1),
        ),
        _matrix(
            (_QUARTER, 0, 0),
            (-_SIXTH, -_SIXTH, -_SIXTH),
            (-_SIXTH, _SIXTH, -_SIXTH),
            (_TWENTY_FOURTH, _TWELFTH, _SIXTH),
            (_TWENTY_FOURTH, -_TWELFTH, _SIXTH),
            (0, 0, 1),
        ),
        _matrix((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
    ),
}
"""By m, the size of a tile of outputs along each axis."""


@irdl_op_definition
class WinogradOp(IRDLOperation):
    """Convolve with 3x3 filters at stride 1, in tiles of m x m outputs.

    `bounds` are n, f, oh, ow and c. `weights` are G g G^T, stored [points, f / panel, c, panel], or
    [f / panel, points, c, panel] where `by_channel` is set. The maps take (n, c, h, w) to the
    input, with output (0, 0) reading from row 0 and column 0 on, and (n, f, oh, ow) to the other
    inputs and the output. Input tiles reach beyond the last output: those elements are multiplied
    by zero or not used, but are there.

    `finish` is that of `gawee.kernel`: its arguments are the other inputs' elements and the sum.

    `block` tiles are computed at a time, `rows` of them in one register tile; with `by_channel`,
    all tiles are, for one panel of output channels at a time.

    ```mlir
    %y = "gawee.winograd"(%x, %u, %b) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>,
      indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
      by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 16 : i64,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> ({
      ^bb0(%bias: f32, %sum: f32):
        %0 = arith.addf %sum, %bias : f32
        gawee.yield %0 : f32
      }) : (tensor<2x8x10x10xf32>, tensor<36x1x8x16xf32>, tensor<16xf32>) -> tensor<2x16x7x5xf32>
    ```

    Constraints:
      C1: the tile is 2 or 4.
      C2: `weights` have the shape that tile, channels and panel give.
      C3: there is one map for the input, one for each other input and one for the output, none of
          which leaves its operand.
      C4: `finish` takes the other inputs' elements and the sum, and yields the output's element.
    """

    name = "gawee.winograd"

    input = operand_def(TensorType | MemRefType)
    weights = operand_def(TensorType | MemRefType)
    others = var_operand_def(TensorType | MemRefType)
    scratch = opt_operand_def(MemRefType)
    output = opt_operand_def(MemRefType)
    result = opt_result_def(TensorType)

    tile = prop_def(IntegerAttr)
    bounds = prop_def(DenseArrayBase.constr(i64))
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    by_channel = prop_def(IntegerAttr)
    block = prop_def(IntegerAttr)
    rows = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)

    finish = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(WritesOutputBuffer())

    def __init__(
        self,
        input: SSAValue,
        weights: SSAValue,
        others: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        tile: int,
        bounds: Sequence[int],
        maps: Sequence[AffineMap],
        finish: Region,
        by_channel: bool,
        block: int,
        rows: int,
        lanes: int,
        scratch: SSAValue | None = None,
    ):
        on_buffers = isinstance(output, SSAValue)
        super().__init__(
            operands=[input, weights, others, scratch, [output] if on_buffers else []],
            result_types=[[] if on_buffers else [output]],
            properties={
                "tile": IntegerAttr(tile, i64),
                "bounds": DenseArrayBase.from_list(i64, bounds),
                "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
                "by_channel": IntegerAttr(int(by_channel), 1),
                "block": IntegerAttr(block, i64),
                "rows": IntegerAttr(rows, i64),
                "lanes": IntegerAttr(lanes, i64),
            },
            regions=[finish],
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of images, output channels, output rows and columns, and input channels."""
        return self.bounds.get_values()

    @property
    def maps(self) -> tuple[AffineMap, ...]:
        """The maps of the input, the other inputs and the output."""
        return tuple(map.data for map in self.indexing_maps)

    @property
    def target(self) -> SSAValue:
        """What is computed: the result, or the output operand."""
        value = self.result if self.output is None else self.output
        assert value is not None
        return value

    @property
    def transforms(self) -> Transforms:
        """The matrices for the tile."""
        return TRANSFORMS[self.tile.value.data]

    @property
    def tiles(self) -> tuple[int, int]:
        """How many tiles cover the rows and the columns of an image."""
        size = self.tile.value.data
        return -(-self.sizes[2] // size), -(-self.sizes[3] // size)

    @property
    def split_by_channel(self) -> bool:
        """Whether threads share output channels, not tiles."""
        return bool(self.by_channel.value.data)

    @property
    def panel(self) -> int:
        """How many output channels are computed at a time."""
        return shape_of(self.weights)[-1]

    @property
    def scratch_shape(self) -> tuple[int, int, int]:
        """The shape of the transformed inputs of all tiles: points, tiles, channels."""
        down, across = self.tiles
        return self.transforms.points**2, self.sizes[0] * down * across, self.sizes[4]

    def with_operands(
        self,
        input: SSAValue,
        weights: SSAValue,
        others: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        scratch: SSAValue | None = None,
        maps: Sequence[AffineMap] | None = None,
    ) -> "WinogradOp":
        """Make the same op on other operands, tensors or buffers."""
        new = WinogradOp(
            input,
            weights,
            others,
            output,
            tile=self.tile.value.data,
            bounds=self.sizes,
            maps=self.maps if maps is None else maps,
            finish=self.finish.clone(),
            by_channel=self.split_by_channel,
            block=self.block.value.data,
            rows=self.rows.value.data,
            lanes=self.lanes.value.data,
            scratch=scratch,
        )
        new.attributes.update(self.attributes)
        return new

    def verify_(self) -> None:
        size = self.tile.value.data
        require(size in TRANSFORMS, f"unsupported tile {size}; supported: 2, 4")
        require(len(self.sizes) == 5, f"expected bounds n, f, oh, ow, c, got {list(self.sizes)}")
        self._verify_weights()
        self._verify_maps()
        types = [argument.type for argument in self.finish.block.args]
        element = element_of(self.target)
        expected = [*(element_of(value) for value in self.others), element]
        terminator = self.finish.block.last_op
        require(types == expected, "expected 'finish' to take the other inputs and the sum")
        yields = isinstance(terminator, YieldOp) and [v.type for v in terminator.values]
        require(yields == [element], f"expected 'finish' to yield ({element})")

    def _verify_weights(self) -> None:
        points = self.transforms.points**2
        _, features, _, _, channels = self.sizes
        panels = -(-features // self.panel)
        first = (panels, points) if self.split_by_channel else (points, panels)
        expected = (*first, channels, self.panel)
        got = shape_of(self.weights)
        require(got == expected, f"expected weights of shape {expected}, got {got}")

    def _verify_maps(self) -> None:
        images, features, rows, columns, channels = self.sizes
        size, reach = self.tile.value.data, KERNEL - 1
        down, across = self.tiles
        covered = (images, channels, down * size + reach, across * size + reach)
        operands = (self.input, *self.others, self.target)
        require(
            len(self.maps) == len(operands),
            f"expected {len(operands)} maps, got {len(self.maps)}",
        )
        for index, (map, operand) in enumerate(zip(self.maps, operands, strict=True)):
            bounds = covered if index == 0 else (images, features, rows, columns)
            shape = shape_of(operand)
            require(
                (map.num_dims, len(map.results)) == (4, len(shape)),
                f"expected a map from 4 dimensions to {len(shape)} axes, got '{map}'",
            )
            for axis, (expr, extent) in enumerate(zip(map.results, shape, strict=True)):
                low, high = value_range(expr, bounds)
                require(
                    0 <= low and high < extent,
                    f"expected '{map}' to stay in axis {axis} of size {extent}, got {low} to {high}",
                )
