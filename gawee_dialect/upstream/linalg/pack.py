"""`linalg.pack` and `linalg.unpack`: axes cut into tiles, the tiles innermost."""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, DenseArrayBase, IndexType, IntegerAttr, ShapedType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.upstream.linalg.named_op import element_shape


@dataclass(frozen=True)
class Tiling:
    """How the axes of a tensor are cut: `tiles[i]` elements of axis `positions[i]` go together."""

    rank: int
    outer: Sequence[int]
    """The order of the axes of tiles."""
    positions: Sequence[int]
    tiles: Sequence[int]

    def missing(self, shape: Sequence[int]) -> list[int]:
        """Return how many elements each axis lacks to be a multiple of its tile."""
        lacking = [0] * self.rank
        for axis, tile in zip(self.positions, self.tiles, strict=True):
            lacking[axis] = -shape[axis] % tile
        return lacking

    def groups(self) -> list[list[int]]:
        """Return, for each axis, the axes that it becomes where each tile stands behind its own."""
        groups: list[list[int]] = []
        start = 0
        for axis in range(self.rank):
            count = 2 if axis in self.positions else 1
            groups.append(list(range(start, start + count)))
            start += count
        return groups

    def split_shape(self, shape: Sequence[int]) -> list[int]:
        """Return the shape with every tiled axis split in two."""
        sizes: list[int] = []
        for axis, size in enumerate(shape):
            if axis in self.positions:
                tile = self.tiles[self.positions.index(axis)]
                sizes += [size // tile, tile]
            else:
                sizes.append(size)
        return sizes

    def packed_order(self) -> list[int]:
        """Return which of the split axes each axis of the packed tensor is."""
        groups = self.groups()
        return [groups[a][0] for a in self.outer] + [groups[a][1] for a in self.positions]

    def packed_shape(self, shape: Sequence[int]) -> list[int]:
        """Return the shape of the packed tensor of a tensor."""
        full = [size + more for size, more in zip(shape, self.missing(shape), strict=True)]
        split = self.split_shape(full)
        return [split[axis] for axis in self.packed_order()]


class TiledOp(IRDLOperation, ABC):
    """What packing and unpacking share.

    Constraints:
      C1: tiles are static and positive, one for each position, each axis tiled once.
      C2: the packed shape is that of the tiles.
    """

    PADS: ClassVar[bool] = False

    source = operand_def(ShapedType)
    dest = operand_def(ShapedType)
    dynamic_tiles = var_operand_def(IndexType())
    result = opt_result_def(ShapedType)

    outer_dims_perm = prop_def(
        DenseArrayBase.constr(i64), default_value=DenseArrayBase.from_list(i64, [])
    )
    inner_dims_pos = prop_def(DenseArrayBase.constr(i64))
    static_inner_tiles = prop_def(DenseArrayBase.constr(i64))

    def unpacked(self) -> SSAValue:
        """Return the operand whose axes are cut."""
        return self.source

    def packed(self) -> SSAValue:
        """Return the operand that has the tiles."""
        return self.dest

    def tiling(self) -> Tiling:
        """Return how axes are cut."""
        rank = len(element_shape(self.unpacked()))
        return Tiling(
            rank,
            self.outer_dims_perm.get_values() or tuple(range(rank)),
            self.inner_dims_pos.get_values(),
            self.static_inner_tiles.get_values(),
        )

    def why_not_static(self) -> str | None:
        """Say why the op is not one of tensors of static shape; None where it is."""
        shapes = (*element_shape(self.source), *element_shape(self.dest))
        if self.dynamic_tiles or any(size < 0 for size in shapes):
            return "expected static shapes and tiles"
        return None if self.result is not None else "expected tensors"

    def verify_(self) -> None:
        tiling = self.tiling()
        if len(set(tiling.positions)) != len(tiling.tiles) or not all(
            0 <= axis < tiling.rank for axis in tiling.positions
        ):
            raise VerifyException(
                f"expected a tile for each of the axes {list(tiling.positions)}, "
                f"got {list(tiling.tiles)}"
            )
        if self.why_not_static() is None and min(tiling.tiles, default=1) < 1:
            raise VerifyException(f"expected tiles of at least 1, got {list(tiling.tiles)}")
        if sorted(tiling.outer) != list(range(tiling.rank)):
            raise VerifyException(f"expected a permutation, got {list(tiling.outer)}")
        if self.why_not_static() is not None:
            return
        expected = tiling.packed_shape(element_shape(self.unpacked()))
        if list(element_shape(self.packed())) != expected:
            raise VerifyException(
                f"expected a packed shape of {expected}, got '{self.packed().type}'"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        self.print_padding(printer)
        lists = (("outer_dims_perm", self.outer_dims_perm), ("inner_dims_pos", self.inner_dims_pos))
        for name, dims in (*lists, ("inner_tiles", self.static_inner_tiles)):
            if dims.get_values():
                printer.print_string(f" {name} = [")
                printer.print_list(dims.get_values(), printer.print_int)
                printer.print_string("]")
        printer.print_string(" into ")
        printer.print_operand(self.dest)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.dest.type)

    def print_padding(self, printer: Printer) -> None:
        """Write what the op has between its source and its axes."""

    @classmethod
    def parse_padding(cls, parser: Parser) -> SSAValue | None:
        """Read what the op has between its source and its axes."""
        return None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        source = parser.parse_unresolved_operand()
        padding = cls.parse_padding(parser)
        lists = {name: _parse_list(parser, name) for name in LISTS}
        parser.parse_keyword("into")
        dest = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_punctuation("->")
        dest_type = parser.parse_type()
        operands = parser.resolve_operands((source, dest), (source_type, dest_type), position)
        op = cls.of(operands[0], operands[1], padding, lists)
        op.attributes |= attributes
        return op

    @classmethod
    def of(
        cls,
        source: SSAValue,
        dest: SSAValue,
        padding: SSAValue | None,
        lists: Mapping[str, DenseArrayBase],
    ) -> Self:
        """Make an op; `lists` are the axes and tiles by the names of `LISTS`."""
        outer, positions, tiles = (lists[name] for name in LISTS)
        result = dest.type if is_tensor(dest.type) else None
        pads = [[] if padding is None else [padding]] if cls.PADS else []
        return cls.build(
            operands=[source, dest, *pads, []],
            result_types=[result],
            properties={
                "outer_dims_perm": outer,
                "inner_dims_pos": positions,
                "static_inner_tiles": tiles,
            },
        )


LISTS = ("outer_dims_perm", "inner_dims_pos", "inner_tiles")
"""The lists of an op's text, in order; the first may be missing."""


def _parse_list(parser: Parser, keyword: str) -> DenseArrayBase:
    values: list[int] = []
    if keyword != LISTS[0] or parser.parse_optional_keyword(keyword):
        if keyword != LISTS[0]:
            parser.parse_keyword(keyword)
        parser.parse_punctuation("=")
        values = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, values)


@irdl_op_definition
class PackOp(TiledOp):
    """A tensor whose axes are cut into tiles; the tiles are the innermost axes of the result.

    ```mlir
    %p = linalg.pack %x padding_value(%c : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %init : tensor<5x7xf32> -> tensor<4x2x3x2xf32>
    ```

    Constraints:
      C1: tiles are static and positive, one for each position, each axis tiled once.
      C2: the packed shape is that of the tiles.
      C3: there is a padding value where a tile is not full.
    """

    name = "linalg.pack"
    PADS: ClassVar[bool] = True
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    source = operand_def(ShapedType)
    dest = operand_def(ShapedType)
    padding = opt_operand_def()
    dynamic_tiles = var_operand_def(IndexType())

    def verify_(self) -> None:
        super().verify_()
        if self.padding is not None or self.why_not_static() is not None:
            return
        if any(self.tiling().missing(element_shape(self.source))):
            raise VerifyException("expected a padding value: the last tile is not full")

    @classmethod
    def parse_padding(cls, parser: Parser) -> SSAValue | None:
        if parser.parse_optional_keyword("padding_value") is None:
            return None
        with parser.in_parens():
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            return parser.resolve_operand(value, parser.parse_type())

    def print_padding(self, printer: Printer) -> None:
        if self.padding is not None:
            printer.print_string(" padding_value(")
            printer.print_ssa_value(self.padding)
            printer.print_string(" : ")
            printer.print_attribute(self.padding.type)
            printer.print_string(")")


@irdl_op_definition
class UnpackOp(TiledOp):
    """A tensor put together of tiles; what padding is in the last ones is left out.

    ```mlir
    %x = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [3, 2] into %init : tensor<4x2x3x2xf32> -> tensor<5x7xf32>
    ```

    Constraints:
      C1: tiles are static and positive, one for each position, each axis tiled once.
      C2: the packed shape is that of the tiles.
    """

    name = "linalg.unpack"

    def unpacked(self) -> SSAValue:
        return self.dest

    def packed(self) -> SSAValue:
        return self.source


# `linalg.softmax`: no loop nest by itself, but several.


@irdl_op_definition
class SoftmaxOp(IRDLOperation):
    """exp(x - max(x)) / sum(exp(x - max(x))) along one dimension.

    ```mlir
    %y = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%init : tensor<3x5xf32>) -> tensor<3x5xf32>
    ```

    Constraints:
      C1: the dimension is one of the input's.
      C2: output and result have the shape of the input.
    """

    name = "linalg.softmax"

    dimension = prop_def(IntegerAttr[I64])
    input = operand_def(ShapedType)
    output = operand_def(ShapedType)
    result = opt_result_def(ShapedType)

    assembly_format = (
        "attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)` "
        "`outs` `(` $output `:` type($output) `)` (`->` type($result)^)?"
    )

    def __init__(self, dimension: int, input: SSAValue, output: SSAValue, result: Attribute):
        super().__init__(
            operands=[input, output],
            result_types=[result],
            properties={"dimension": IntegerAttr(dimension, 64)},
        )

    def verify_(self) -> None:
        shape = element_shape(self.input)
        dimension = self.dimension.value.data
        if not 0 <= dimension < len(shape):
            raise VerifyException(f"expected a dimension below {len(shape)}, got {dimension}")
        if element_shape(self.output) != shape:
            raise VerifyException(
                f"expected an output of the input's shape, got '{self.output.type}'"
            )
