"""Convolution by Winograd's minimal filtering, on weights that are transformed beforehand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    TensorType,
    UnitAttr,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
)

from gawee_dialect.dialect.affine_range import value_range
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.integer_words import PackedProduct
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.kernels.structured_kernel import (
    StructuredKernel,
    element_of,
    require_scalar_ops,
    shape_of,
)
from gawee_dialect.dialect.operation import quick_operands
from gawee_dialect.dialect.types import require

KERNEL = 3
"""The size of the filters, 3x3."""

PAIRS = PackedProduct.PAIRS
"""How integers lie in words: those of two input channels each."""

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
    scale: int = 1
    """How many times as large as the outputs the results are."""

    @property
    def points(self) -> int:
        """How many inputs a tile has along each axis: m + 2."""
        return len(self.input)

    @cached_property
    def with_whole_weights(self) -> "Transforms":
        """The same products by a G of whole numbers: B^T has the denominators of its rows."""
        scales = [next(value for value in row if value) for row in self.weight]
        rows = zip(scales, self.input, self.weight, strict=True)
        input, weight = zip(
            *(
                ([s * b for b in of_input], [g / s for g in of_weight])
                for s, of_input, of_weight in rows
            ),
            strict=True,
        )
        return Transforms(_matrix(*input), _matrix(*weight), self.output)

    @property
    def whole(self) -> "Transforms":
        """The transforms of integers, by a G of whole numbers: outputs are `scale` times as large."""
        factor = self._denominator
        weight = _matrix(*([factor * value for value in row] for row in self.weight))
        return Transforms(self.input, weight, self.output, factor**2)

    @property
    def _denominator(self) -> int:
        return max(value.denominator for row in self.weight for value in row)


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


@dataclass(frozen=True)
class Winograd(Algorithm):
    """Convolve 3x3 at stride 1 in tiles of transformed inputs; see `gawee.winograd`."""

    name = "winograd"

    tile: int
    """Outputs of a tile along each axis, 2 or 4."""
    by_channel: bool
    """Whether threads share output channels, not tiles."""
    block: int
    """Tiles at a time."""
    rows: int
    """Tiles of one register tile."""
    panel: int
    """Output channels of one register tile."""
    lanes: int
    prefetch: bool = False
    """Whether the weights that come next are fetched while some are multiplied."""
    filters: bool = False
    """Whether weights are the 3x3 filters, which are transformed while they are multiplied."""
    prefetch_inputs: bool = False
    """Whether the next tile's inputs are fetched while one's are transformed."""
    wide: bool = False
    """Whether the vectors of the products have twice as many lanes as those of the transforms."""

    @property
    def seen_outside(self) -> object:
        return self.tile  # input tiles reach into the halo of what makes the input

    @property
    def family(self) -> object:
        return self.tile, self.by_channel, self.panel, self.filters, self.wide

    @property
    def points(self) -> int:
        """How many inputs a tile has."""
        return TRANSFORMS[self.tile].points ** 2

    @property
    def product_lanes(self) -> int:
        """How many output channels are in one vector of the products."""
        return 2 * self.lanes if self.wide else self.lanes

    def covered(self, features: int) -> int:
        """Return how many output channels whole panels have."""
        return -(-features // self.panel) * self.panel

    def weights_shape(self, features: int, channels: int) -> tuple[int, ...]:
        """Return the shape of the weights, transformed or as filters."""
        panels = -(-features // self.panel)
        if self.filters:
            return (panels, channels, KERNEL, KERNEL, self.panel)
        first = (panels, self.points) if self.by_channel else (self.points, panels)
        return (*first, channels, self.panel)

    def __str__(self) -> str:
        order = "all tiles" if self.by_channel else f"blocks of {self.block}"
        size = f"F({self.tile}x{self.tile})"
        flags = {
            "prefetch": self.prefetch,
            "filters": self.filters,
            "prefetch of inputs": self.prefetch_inputs,
            "wide products": self.wide,
        }
        ahead = "".join(f", {name}" for name, is_set in flags.items() if is_set)
        return f"winograd {size}, {order}, {self.rows} x {self.panel} register tile{ahead}"


@quick_operands
@irdl_op_definition
class WinogradOp(StructuredKernel):
    """Convolve with 3x3 filters at stride 1, in tiles of m x m outputs.

    `bounds` are n, f, oh, ow and c, over which all maps are. The first input is what is convolved:
    output (0, 0) reads from row 0 and column 0 on, and input tiles reach beyond the last output.
    Those elements are multiplied by zero or not used, but are there. `weights` are G g G^T, stored
    [points, f / panel, c, panel], or [f / panel, points, c, panel] where `by_channel` is set.

    `finish` is that of `gawee.kernel`: its arguments are the other inputs' elements and the sum.

    `block` tiles are computed at a time, `rows` of them in one register tile; with `by_channel`,
    all tiles are, for one panel of output channels at a time. `prefetch` fetches the weights of the
    next point, or panel, while those of one are multiplied; `prefetch_inputs` fetches the inputs of
    the next tile in a row while one is transformed, where a pixel's channels lie side by side.
    `wide` computes products in vectors of twice `lanes`. Output channels that the last panel has
    beyond the last are zero, and not stored.

    Of integers, `weights` are words of i32: of two channels each, as 16 bits, the even one lowest.
    They are (2 G) g (2 G)^T, so that all are whole; four times the sum is divided by four before
    `finish` takes it. All of it wraps around as i32 and, for what is transformed, i16 do.

    With `filters`, which goes with `by_channel`, the weights are g, stored [f / panel, c, 3, 3,
    panel]: a quarter of what is read otherwise. They are transformed in registers, once for all
    tiles.

    ```mlir
    %y = "gawee.winograd"(%x, %b, %u) <{tile = 4 : i64, bounds = array<i64: 2, 16, 7, 5, 8>,
      indexing_maps = [affine_map<(n, f, h, w, c) -> (n, c, h, w)>, affine_map<(n, f, h, w, c) -> (f)>, affine_map<(n, f, h, w, c) -> (n, f, h, w)>],
      by_channel = false, block = 4 : i64, rows = 4 : i64, lanes = 8 : i64,
      operandSegmentSizes = array<i32: 2, 1, 0, 0>}> ({
      ^bb0(%bias: f32, %sum: f32):
        %0 = arith.addf %sum, %bias : f32
        gawee.yield %0 : f32
      }) : (tensor<2x8x10x10xf32>, tensor<16xf32>, tensor<36x1x8x16xf32>) -> tensor<2x16x7x5xf32>
    ```

    Constraints:
      C1: the tile is 2 or 4.
      C2: `weights` have the shape that tile, channels and panel give.
      C3: there is one map for each input and one for the output, none of which leaves its operand.
      C4: `finish` takes the other inputs' elements and the sum, and yields the output's element.
      C5: `filters` goes with `by_channel` and panels of `lanes` channels.
      C6: panels that threads share divide the output channels.
      C7: `block` and `rows` are above 0; `lanes`, which are a vector's, above 1.
      C8: of integers the tile is 2, the input i16, the channels even; there are no `filters`.
    """

    name = "gawee.winograd"

    inputs = var_operand_def(TensorType | MemRefType)
    weights = operand_def(TensorType | MemRefType)
    scratch = opt_operand_def(MemRefType)

    tile = prop_def(IntegerAttr)
    by_channel = prop_def(IntegerAttr)
    block = prop_def(IntegerAttr)
    rows = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)
    prefetch = opt_prop_def(UnitAttr)
    filters = opt_prop_def(UnitAttr)
    prefetch_inputs = opt_prop_def(UnitAttr)
    wide = opt_prop_def(UnitAttr)

    finish = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        weights: SSAValue,
        output: SSAValue | TensorType[Attribute],
        *,
        algorithm: Winograd,
        bounds: Sequence[int],
        maps: Sequence[AffineMap],
        finish: Region,
        scratch: Sequence[SSAValue] = (),
    ):
        on_buffers = isinstance(output, SSAValue)
        super().__init__(
            operands=[inputs, weights, scratch, [output] if on_buffers else []],
            result_types=[[] if on_buffers else [output]],
            properties={
                "tile": IntegerAttr(algorithm.tile, i64),
                "bounds": DenseArrayBase.from_list(i64, bounds),
                "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
                "by_channel": IntegerAttr(int(algorithm.by_channel), 1),
                "block": IntegerAttr(algorithm.block, i64),
                "rows": IntegerAttr(algorithm.rows, i64),
                "lanes": IntegerAttr(algorithm.lanes, i64),
                "prefetch": UnitAttr() if algorithm.prefetch else None,
                "filters": UnitAttr() if algorithm.filters else None,
                "prefetch_inputs": UnitAttr() if algorithm.prefetch_inputs else None,
                "wide": UnitAttr() if algorithm.wide else None,
            },
            regions=[finish],
        )

    # The interface of kernels.

    @property
    def num_parallel(self) -> int:
        return 4

    @property
    def packed(self) -> Sequence[SSAValue]:
        return (self.weights,)

    @property
    def scratch_types(self) -> Sequence[MemRefType[Attribute]]:
        """The transformed inputs of all tiles, where threads share channels and read all of them."""
        if not self.split_by_channel:
            return ()
        down, across = self.tiles
        count = self.sizes[0] * down * across
        # Rows of 2^n elements would all be in one set of the first cache, where steps read a column.
        padding = self.lanes.value.data if self.algorithm.filters else 0
        shape = (self.algorithm.points, count, self.depth + padding)
        return (MemRefType(self.sum_type, shape),)

    @property
    def flops(self) -> int:
        """The products of transformed tiles, not the transforms around them."""
        images, features, _, _, channels = self.sizes
        down, across = self.tiles
        return 2 * self.algorithm.points * images * down * across * features * channels

    @property
    def algorithm(self) -> Winograd:
        return Winograd(
            self.tile.value.data,
            self.split_by_channel,
            self.block.value.data,
            self.rows.value.data,
            self.panel,
            self.lanes.value.data,
            self.prefetch is not None,
            self.filters is not None,
            self.prefetch_inputs is not None,
            self.wide is not None,
        )

    def packed_types(self, algorithm: Algorithm) -> Sequence[TensorType[Attribute]]:
        assert isinstance(algorithm, Winograd)
        shape = algorithm.weights_shape(self.sizes[1], self.depth)
        return (TensorType(element_of(self.weights), shape),)

    def with_operands(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        maps: Sequence[AffineMap] | None = None,
        packed: Sequence[SSAValue] | None = None,
        scratch: Sequence[SSAValue] = (),
        values: Mapping[SSAValue, SSAValue] | None = None,
        algorithm: Algorithm | None = None,
    ) -> "WinogradOp":
        algorithm = algorithm or self.algorithm
        assert isinstance(algorithm, Winograd)
        finish = Region()
        self.finish.clone_into(finish, value_mapper=dict(values or {}))
        (weights,) = self.packed if packed is None else packed
        new = WinogradOp(
            inputs,
            weights,
            output,
            algorithm=algorithm,
            bounds=self.sizes,
            maps=self.maps if maps is None else maps,
            finish=finish,
            scratch=scratch,
        )
        new.attributes.update(self.attributes)
        return new

    # What the op says, as plain values.

    @property
    def input(self) -> SSAValue:
        """What is convolved."""
        return self.inputs[0]

    @property
    def others(self) -> Sequence[SSAValue]:
        """What `finish` reads."""
        return self.inputs[1:]

    @property
    def sum_type(self) -> Attribute:
        """The type of the sums: that of the weights."""
        return element_of(self.weights)

    @property
    def of_integers(self) -> bool:
        """Whether it convolves integers of 16 bits, whose products are summed in i32."""
        return self.sum_type == i32

    @property
    def depth(self) -> int:
        """How many elements of the weights, numbers or words, there are along input channels."""
        return self.sizes[4] // PAIRS.value if self.of_integers else self.sizes[4]

    @property
    def transforms(self) -> Transforms:
        """The matrices for the tile."""
        found = TRANSFORMS[self.tile.value.data]
        return found.whole if self.of_integers else found

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

    # Verification.

    def verify_(self) -> None:
        size = self.tile.value.data
        require(bool(self.inputs), "expected an input, got none")
        require(size in TRANSFORMS, f"unsupported tile {size}; supported: 2, 4")
        require(len(self.sizes) == 5, f"expected bounds n, f, oh, ow, c, got {list(self.sizes)}")
        lanes = self.lanes.value.data
        counts = (self.block.value.data, self.rows.value.data, lanes)
        require(min(counts) > 0, f"expected 'block', 'rows' and 'lanes' above 0, got {counts}")
        require(lanes > 1, "expected more than one of 'lanes'")
        fits = self.split_by_channel and self.panel == lanes
        message = f"expected 'filters' with 'by_channel' and panels of {lanes} channels"
        require(self.filters is None or fits, message)
        self._verify_integers()
        self._verify_weights()
        self._verify_maps()
        types = [argument.type for argument in self.finish.block.args]
        element = element_of(self.target)
        expected = [*(element_of(value) for value in self.others), self.sum_type]
        terminator = self.finish.block.last_op
        require(types == expected, "expected 'finish' to take the other inputs and the sum")
        yields = isinstance(terminator, YieldOp) and [v.type for v in terminator.values]
        require(yields == [element], f"expected 'finish' to yield ({element})")
        require_scalar_ops("finish", self.finish)

    def _verify_integers(self) -> None:
        if not self.of_integers:
            return
        element, channels = element_of(self.input), self.sizes[4]
        require(element == i16, f"expected an input of i16 with weights of i32, got {element}")
        require(self.tile.value.data == 2, "expected a tile of 2 with weights of i32")
        message = f"expected an even number of channels with weights of i32, got {channels}"
        require(channels % PAIRS.value == 0, message)
        require(self.filters is None, "expected no 'filters' with weights of i32")

    def _verify_weights(self) -> None:
        expected = self.algorithm.weights_shape(self.sizes[1], self.depth)
        got = shape_of(self.weights)
        require(got == expected, f"expected weights of shape {expected}, got {got}")
        features = self.sizes[1]
        divides = not self.split_by_channel or features % self.panel == 0
        message = f"expected panels that divide {features} channels with 'by_channel'"
        require(divides, f"{message}, got {self.panel}")

    def _verify_maps(self) -> None:
        images, features, _, _, channels = self.sizes
        size, reach = self.tile.value.data, KERNEL - 1
        down, across = self.tiles
        covered = (images, features, down * size + reach, across * size + reach, channels)
        operands = (*self.inputs, self.target)
        require(
            len(self.maps) == len(operands),
            f"expected {len(operands)} maps, got {len(self.maps)}",
        )
        for index, (map, operand) in enumerate(zip(self.maps, operands, strict=True)):
            bounds = covered if index == 0 else self.sizes
            shape = shape_of(operand)
            require(
                (map.num_dims, len(map.results)) == (5, len(shape)),
                f"expected a map from 5 dimensions to {len(shape)} axes, got '{map}'",
            )
            for axis, (expr, extent) in enumerate(zip(map.results, shape, strict=True)):
                low, high = value_range(expr, bounds)
                require(
                    0 <= low and high < extent,
                    f"expected '{map}' to stay in axis {axis} of size {extent}, got {low} to {high}",
                )
