"""Upstream's amx dialect, which xDSL lacks: products of tiles of bytes and of bf16.

A tile register has 16 rows of 64 bytes at most. A tile of products has 32 bits a number; of its
factors, four bytes or two bf16 of a row are summed into one of them.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    IndexType,
    IntAttr,
    MemRefType,
    UnitAttr,
    bf16,
    f32,
    i8,
    i32,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.kernels.schedule import TILE_ROWS
from gawee_dialect.dialect.kernels.structured_kernel import shape_of

ROW_BYTES = 64
"""The most bytes of a row."""
WORD_BYTES = 4
"""Bytes of a sum, and of the numbers whose products are added to it at once."""

_BYTES: Mapping[Attribute, int] = {i8: 1, bf16: 2, i32: 4, f32: 4}


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """What a tile register holds.

    ```mlir
    !amx.tile<16x64xi8>
    ```

    Constraints:
      C1: numbers are i8, bf16, i32 or f32.
      C2: there are 1 to 16 rows.
      C3: a row has words of four bytes, 1 to 16 of them.
    """

    name = "amx.tile"

    rows: IntAttr
    columns: IntAttr
    element_type: Attribute

    @staticmethod
    def of(rows: int, columns: int, element: Attribute) -> "TileType":
        """Return the type of so many rows, of so many numbers."""
        return TileType(IntAttr(rows), IntAttr(columns), element)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the numbers of a row."""
        return self.rows.data, self.columns.data

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.columns.data * _BYTES.get(self.element_type, 0)

    def verify(self) -> None:
        if self.element_type not in _BYTES:
            raise VerifyException(f"expected i8, bf16, i32 or f32, got '{self.element_type}'")
        if not 1 <= self.rows.data <= TILE_ROWS:
            raise VerifyException(f"expected 1 to {TILE_ROWS} rows, got {self.rows.data}")
        if not 0 < self.row_bytes <= ROW_BYTES or self.row_bytes % WORD_BYTES:
            raise VerifyException(
                f"expected rows of 4, 8, .. {ROW_BYTES} bytes, got {self.row_bytes}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<16x64xi8>`."""
        with parser.in_angle_brackets():
            position = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 2 or min(shape) < 0:
                parser.raise_error("expected rows and columns, as in 16x64xi8", position)
        return IntAttr(shape[0]), IntAttr(shape[1]), element

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.columns.data}x")
            printer.print_attribute(self.element_type)


def tile_of(value: SSAValue) -> TileType:
    """Return the type of a value that an op definition constrains to be a tile."""
    assert isinstance(value.type, TileType)
    return value.type


@irdl_op_definition
class TileZeroOp(IRDLOperation):
    """A tile of zeros.

    ```mlir
    %0 = amx.tile_zero : !amx.tile<16x16xi32>
    ```
    """

    name = "amx.tile_zero"

    res = result_def(TileType)
    traits = traits_def(NoMemoryEffect())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, type: TileType):
        super().__init__(result_types=[type])


def _check_indices(base: SSAValue, indices: Sequence[SSAValue]) -> None:
    rank = len(shape_of(base))
    if len(indices) != rank:
        raise VerifyException(f"expected {rank} indices, got {len(indices)}")
    if rank == 0:
        raise VerifyException("expected a memref of rank 1 at least, got 0")


def _parse_place(parser: Parser) -> tuple[UnresolvedOperand, Sequence[UnresolvedOperand]]:
    base = parser.parse_unresolved_operand()
    return base, parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def _parse_stride(parser: Parser) -> SSAValue | None:
    if parser.parse_optional_punctuation(",") is None:
        return None
    return parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())


def _print_place(printer: Printer, base: SSAValue, indices: Sequence[SSAValue]) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(base)
    with printer.in_square_brackets():
        printer.print_list(indices, printer.print_ssa_value)


def _print_stride(printer: Printer, stride: SSAValue | None) -> None:
    if stride is not None:
        printer.print_string(", ")
        printer.print_ssa_value(stride)


@irdl_op_definition
class TileLoadOp(IRDLOperation):
    """A tile whose rows lie in memory, as many bytes as the type says, whatever the element is.

    The first row begins at `indices`. The next is `stride` elements further, or where the next
    row of the memref is.

    ```mlir
    %0 = amx.tile_load %m[%i, %j] : memref<40x16xi32> into !amx.tile<16x64xi8>
    %1 = amx.tile_load %m[%i, %j], %stride : memref<40x16xi32> into !amx.tile<16x64xi8>
    ```

    Constraints:
      C1: there is an index for each dimension.
    """

    name = "amx.tile_load"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    stride = opt_operand_def(IndexType())
    res = result_def(TileType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        type: TileType,
        stride: SSAValue | None = None,
    ):
        super().__init__(operands=[base, indices, stride], result_types=[type])

    def verify_(self) -> None:
        _check_indices(self.base, self.indices)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%m[%i, ..], %stride : memref into tile`."""
        base, names = _parse_place(parser)
        stride = _parse_stride(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(base, parser.parse_type())
        parser.parse_keyword("into")
        indices = parser.resolve_operands(names, [IndexType()] * len(names), parser.pos)
        type = parser.parse_type()
        return cls.build(
            operands=[operand, indices, stride], result_types=[type], attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        _print_place(printer, self.base, self.indices)
        _print_stride(printer, self.stride)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)
        printer.print_string(" into ")
        printer.print_attribute(self.res.type)


@irdl_op_definition
class TileStoreOp(IRDLOperation):
    """Write the rows of a tile, which lie as those of `amx.tile_load`.

    ```mlir
    amx.tile_store %m[%i, %j], %t : memref<40x16xi32>, !amx.tile<16x16xi32>
    ```

    Constraints:
      C1: there is an index for each dimension.
    """

    name = "amx.tile_store"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    val = operand_def(TileType)
    stride = opt_operand_def(IndexType())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        base: SSAValue,
        indices: Sequence[SSAValue],
        value: SSAValue,
        stride: SSAValue | None = None,
    ):
        super().__init__(operands=[base, indices, value, stride])

    def verify_(self) -> None:
        _check_indices(self.base, self.indices)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%m[%i, ..], %t, %stride : memref, tile`."""
        base, names = _parse_place(parser)
        parser.parse_punctuation(",")
        tile = parser.parse_unresolved_operand()
        stride = _parse_stride(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(base, parser.parse_type())
        parser.parse_punctuation(",")
        value = parser.resolve_operand(tile, parser.parse_type())
        indices = parser.resolve_operands(names, [IndexType()] * len(names), parser.pos)
        return cls.build(operands=[operand, indices, value, stride], attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        _print_place(printer, self.base, self.indices)
        printer.print_string(", ")
        printer.print_ssa_value(self.val)
        _print_stride(printer, self.stride)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.base.type)
        printer.print_string(", ")
        printer.print_attribute(self.val.type)


class TileProductOp(IRDLOperation, ABC):
    """A product of two tiles, added to a third: sums of words of several factors each.

    Constraints:
      C1: factors and sums have types that are multiplied.
      C2: `m` rows of `k` words by `k` rows of `n` words are `m` rows of `n` sums.
    """

    T: ClassVar = VarConstraint("T", BaseAttr(TileType))

    lhs = operand_def(TileType)
    rhs = operand_def(TileType)
    acc = operand_def(T)
    res = result_def(T)
    traits = traits_def(NoMemoryEffect())

    FACTOR: ClassVar[Attribute]
    SUM: ClassVar[Attribute]

    def verify_(self) -> None:
        lhs, rhs, acc = map(tile_of, (self.lhs, self.rhs, self.acc))
        if (lhs.element_type, rhs.element_type) != (self.FACTOR, self.FACTOR):
            raise VerifyException(f"expected factors of {self.FACTOR}, got '{lhs}' and '{rhs}'")
        if acc.element_type != self.SUM:
            raise VerifyException(f"expected sums of {self.SUM}, got '{acc}'")
        (m, _), (k, _) = lhs.shape, rhs.shape
        wanted = m, k * WORD_BYTES, rhs.row_bytes
        got = acc.shape[0], lhs.row_bytes, acc.row_bytes
        if wanted != got:
            raise VerifyException(
                f"expected tiles m x k, k x n and m x n, got '{lhs}', '{rhs}' and '{acc}'"
            )


@irdl_op_definition
class TileMulIOp(TileProductOp):
    """A product of two tiles of bytes, added to one of i32; `zext` says that bytes have no sign.

    ```mlir
    %0 = amx.tile_muli %a zext, %b, %c
       : !amx.tile<7x64xi8>, !amx.tile<16x64xi8>, !amx.tile<7x16xi32>
    ```

    Constraints:
      C1: factors and sums have types that are multiplied.
      C2: `m` rows of `k` words by `k` rows of `n` words are `m` rows of `n` sums.
    """

    name = "amx.tile_muli"

    FACTOR: ClassVar[Attribute] = i8
    SUM: ClassVar[Attribute] = i32

    isZextLhs = opt_prop_def(UnitAttr)
    isZextRhs = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs (`zext` $isZextLhs^)? `,` $rhs (`zext` $isZextRhs^)? `,` $acc attr-dict `:` "
        "type($lhs) `,` type($rhs) `,` type($acc)"
    )

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        acc: SSAValue,
        *,
        unsigned_lhs: bool = False,
        unsigned_rhs: bool = False,
    ):
        flags = {"isZextLhs": unsigned_lhs, "isZextRhs": unsigned_rhs}
        super().__init__(
            operands=[lhs, rhs, acc],
            result_types=[acc.type],
            properties={name: UnitAttr() for name, is_set in flags.items() if is_set},
        )


@irdl_op_definition
class TileMulFOp(TileProductOp):
    """A product of two tiles of bf16, added to one of f32.

    ```mlir
    %0 = amx.tile_mulf %a, %b, %c
       : !amx.tile<7x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<7x16xf32>
    ```

    Constraints:
      C1: factors and sums have types that are multiplied.
      C2: `m` rows of `k` words by `k` rows of `n` words are `m` rows of `n` sums.
    """

    name = "amx.tile_mulf"

    FACTOR: ClassVar[Attribute] = bf16
    SUM: ClassVar[Attribute] = f32

    assembly_format = (
        "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)"
    )

    def __init__(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue):
        super().__init__(operands=[lhs, rhs, acc], result_types=[acc.type])


AMX = Dialect("amx", [TileZeroOp, TileLoadOp, TileStoreOp, TileMulIOp, TileMulFOp], [TileType])
"""The ops on tiles."""
