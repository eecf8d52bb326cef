"""Products whose operands may be read in other orders: their text says by which maps."""

from abc import ABC
from collections.abc import Mapping, Sequence
from itertools import permutations
from types import MappingProxyType
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa
from gawee_dialect.upstream.linalg.bodies import multiply_add
from gawee_dialect.upstream.linalg.named_ops import CastingOp, Row, index_maps

_M, _N, _K = (AffineDimExpr(dim) for dim in range(3))

MATMUL_MAPS = tuple(index_maps("mk,kn->mn", 0))
"""What `linalg.matmul` reads and writes when its text says nothing: c[m, n] += a[m, k] * b[k, n]."""

TRANSPOSED_B_MAPS = (MATMUL_MAPS[0], AffineMap(3, 0, (_N, _K)), MATMUL_MAPS[2])
"""The maps of c[m, n] += a[m, k] * b[n, k]: weights stored (out, in) are read as they are."""

Accesses = Sequence[tuple[AffineExpr, ...]]


def maps_attribute(maps: Sequence[AffineMap]) -> ArrayAttr[AffineMapAttr]:
    """Return maps as an attribute."""
    return ArrayAttr(AffineMapAttr(map) for map in maps)


def parse_indexing_maps(parser: Parser) -> ArrayAttr[AffineMapAttr] | None:
    """Read `indexing_maps = [...]`, if it is there."""
    if parser.parse_optional_keyword("indexing_maps") is None:
        return None
    parser.parse_punctuation("=")
    position = parser.pos
    maps = parser.parse_attribute()
    if not isa(maps, ArrayAttr[AffineMapAttr]):
        parser.raise_error("expected a list of affine maps", position)
    return maps


class ContractionOp(CastingOp, ABC):
    """A sum of products over maps of its own, `ROW` telling those that go without saying."""

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    NEEDS_MAPS: ClassVar = False

    @classmethod
    def create(
        cls, *, properties: Mapping[str, Attribute] = MappingProxyType({}), **others: Any
    ) -> Self:
        """Make the op of its parts; generic text, as upstream's, leaves out the usual maps."""
        if "indexing_maps" not in properties and not cls.NEEDS_MAPS:
            properties = {"indexing_maps": cls.default_maps(), **properties}
        return super().create(properties=properties, **others)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        *,
        maps: Sequence[AffineMap] | None = None,
    ):
        chosen = self.default_maps() if maps is None else maps_attribute(maps)
        given = {"indexing_maps": chosen, **(properties or {})}
        super().__init__(inputs, outputs, result_types, given, attributes)

    @classmethod
    def default_maps(cls) -> ArrayAttr[AffineMapAttr]:
        """Return the maps that the op's name implies."""
        return maps_attribute(index_maps(cls.ROW.reads, 0))

    @classmethod
    def parse_front(cls, parser: Parser) -> dict[str, Attribute]:
        maps = parse_indexing_maps(parser)
        return {} if maps is None else {"indexing_maps": maps}

    def print_front(self, printer: Printer) -> Sequence[str]:
        if self.indexing_maps != self.default_maps():
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        return ("indexing_maps",)

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return tuple(map.data for map in self.indexing_maps)

    def allowed(self) -> Sequence[Accesses]:
        """Return how each operand may be indexed; the others are not supported."""
        return ()

    def verify_(self) -> None:
        maps = self.get_default_indexing_maps()
        if len(maps) != 3:
            raise VerifyException(f"expected 3 indexing_maps, got {len(maps)}")
        loops = self.default_maps().data[0].data.num_dims
        for what, map, accesses in zip(
            ("lhs", "rhs", "result"), maps, self.allowed(), strict=False
        ):
            if map.num_dims != loops or map.num_symbols or map.results not in accesses:
                supported = ", ".join(str(AffineMap(loops, 0, access)) for access in accesses)
                raise VerifyException(
                    f"unsupported indexing map {map} of {what}; supported: {supported}"
                )
        super().verify_()


@irdl_op_definition
class MatmulOp(ContractionOp):
    """Matrix product whose operands may be read transposed or broadcast.

    xDSL's op of the same name cannot parse `indexing_maps = [...]`, and drops the maps when it
    prints, so that a transposed product became a plain one in the text.

    ```mlir
    %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<7x8xf32>) outs(%init : tensor<5x7xf32>) -> tensor<5x7xf32>
    ```

    Constraints:
      C1: lhs is read as (m, k), (k, m) or (k).
      C2: rhs is read as (k, n), (n, k) or (k).
      C3: the result is written as (m, n).
      C4: shapes agree with the maps.
    """

    name = "linalg.matmul"
    ROW: ClassVar = Row("mk,kn->mn", multiply_add, casts=True)

    def allowed(self) -> Sequence[Accesses]:
        return ((_M, _K), (_K, _M), (_K,)), ((_K, _N), (_N, _K), (_K,)), ((_M, _N),)


def _any_order(*dims: int) -> Accesses:
    """Return every order of some of the loops, the last of them always there."""
    loops = [AffineDimExpr(dim) for dim in dims]
    lengths = range(1, len(loops) + 1)
    orders = (order for length in lengths for order in permutations(loops, length))
    return [order for order in orders if loops[-1] in order]


@irdl_op_definition
class BatchMatmulOp(ContractionOp):
    """Matrix products of a batch.

    ```mlir
    %c = linalg.batch_matmul ins(%a, %b : tensor<3x5x8xf32>, tensor<3x8x7xf32>) outs(%init : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
    ```
    """

    name = "linalg.batch_matmul"
    ROW: ClassVar = Row("bmk,bkn->bmn", multiply_add, casts=True)

    def allowed(self) -> Sequence[Accesses]:
        written = tuple(AffineDimExpr(dim) for dim in range(3))
        return _any_order(0, 1, 3), _any_order(0, 2, 3), (written,)


@irdl_op_definition
class BatchReduceMatmulOp(ContractionOp):
    """The sum of the matrix products of a batch.

    ```mlir
    %c = linalg.batch_reduce_matmul ins(%a, %b : tensor<3x5x8xf32>, tensor<3x8x7xf32>) outs(%init : tensor<5x7xf32>) -> tensor<5x7xf32>
    ```
    """

    name = "linalg.batch_reduce_matmul"
    ROW: ClassVar = Row("bmk,bkn->mn", multiply_add, casts=True)

    @classmethod
    def default_maps(cls) -> ArrayAttr[AffineMapAttr]:
        # Upstream numbers the batch first, although it is reduced.
        batch, m, n, k = (AffineDimExpr(dim) for dim in range(4))
        accesses = (batch, m, k), (batch, k, n), (m, n)
        return maps_attribute([AffineMap(4, 0, each) for each in accesses])

    def allowed(self) -> Sequence[Accesses]:
        written = tuple(AffineDimExpr(dim) for dim in (1, 2))
        return _any_order(0, 1, 3), _any_order(0, 2, 3), (written,)


@irdl_op_definition
class ContractOp(ContractionOp):
    """A sum of products over any loops, as its maps say.

    ```mlir
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] ins(%a, %b : tensor<8x5xf32>, tensor<8x7xf32>) outs(%init : tensor<7x5xf32>) -> tensor<7x5xf32>
    ```
    """

    name = "linalg.contract"
    NEEDS_MAPS: ClassVar = True
    ROW: ClassVar = Row("mk,kn->mn", multiply_add, casts=True)

    def print_front(self, printer: Printer) -> Sequence[str]:
        printer.print_string(" indexing_maps = ")
        printer.print_attribute(self.indexing_maps)
        return ("indexing_maps",)
