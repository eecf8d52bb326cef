"""The linalg dialect as LLVM 22 has it, where xDSL's differs from it.

`LINALG` takes the place of xDSL's dialect of the same name in our tools. Everything else in it is
xDSL's own; our ops derive from its base classes, so its passes work on them.
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, ArrayAttr
from xdsl.dialects.linalg import Linalg, ops
from xdsl.dialects.linalg.abstract_ops import ConvOperation, NamedOperation, PoolingOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import BlockArgument, Dialect, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.hints import isa

_M, _N, _K = (AffineDimExpr(dim) for dim in range(3))

MATMUL_MAPS = (AffineMap(3, 0, (_M, _K)), AffineMap(3, 0, (_K, _N)), AffineMap(3, 0, (_M, _N)))
"""What `linalg.matmul` reads and writes when its text says nothing: c[m, n] += a[m, k] * b[k, n]."""

TRANSPOSED_B_MAPS = (MATMUL_MAPS[0], AffineMap(3, 0, (_N, _K)), MATMUL_MAPS[2])
"""The maps of c[m, n] += a[m, k] * b[n, k]: weights stored (out, in) are read as they are."""


def _maps_attribute(maps: Sequence[AffineMap]) -> ArrayAttr[AffineMapAttr]:
    return ArrayAttr(AffineMapAttr(map) for map in maps)


def _multiply_add_region(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
    """Make the region `out += lhs * rhs`."""
    types = NamedOperation.body_arg_types((*inputs, *outputs))
    is_float = isinstance(types[-1], AnyFloat)
    add, mul = (arith.AddfOp, arith.MulfOp) if is_float else (arith.AddiOp, arith.MuliOp)

    @Builder.implicit_region(types)
    def region(args: tuple[BlockArgument, ...]) -> None:
        ops.YieldOp(add(args[2], mul(args[0], args[1])))

    return region


@irdl_op_definition
class MatmulOp(NamedOperation):
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

    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True
    LHS_READS: ClassVar = ((_M, _K), (_K, _M), (_K,))
    RHS_READS: ClassVar = ((_K, _N), (_N, _K), (_K,))
    WRITES: ClassVar = ((_M, _N),)

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr], default_value=_maps_attribute(MATMUL_MAPS))

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        *,
        maps: Sequence[AffineMap] = MATMUL_MAPS,
    ):
        super().__init__(
            inputs,
            outputs,
            [[value.type for value in outputs if isa(value.type, AnyTensor)]],
            properties={"indexing_maps": _maps_attribute(maps)},
            hidden_region=self.get_hidden_region(inputs, outputs),
        )

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return _multiply_add_region(inputs, outputs)

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return tuple(map.data for map in self.indexing_maps)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        parallel, reduction = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
        return ArrayAttr((parallel, parallel, reduction))

    def verify_(self) -> None:
        maps = self.get_default_indexing_maps()
        if len(maps) != 3:
            raise VerifyException(f"expected 3 indexing_maps, got {len(maps)}")
        allowed = (self.LHS_READS, self.RHS_READS, self.WRITES)
        for what, map, accesses in zip(("lhs", "rhs", "result"), maps, allowed, strict=True):
            if map.num_dims != 3 or map.num_symbols or map.results not in accesses:
                supported = ", ".join(str(AffineMap(3, 0, access)) for access in accesses)
                raise VerifyException(
                    f"unsupported indexing map {map} of {what}; supported: {supported}"
                )
        super().verify_()

    # Written by hand: the maps come before the attribute dictionary, and only if they say something
    # that the op's name doesn't.
    @classmethod
    def parse(cls, parser: Parser) -> "MatmulOp":
        maps = cls._parse_maps(parser)
        op = super().parse(parser)
        assert isinstance(op, MatmulOp)
        if maps is not None:
            op.indexing_maps = maps
        return op

    @staticmethod
    def _parse_maps(parser: Parser) -> ArrayAttr[AffineMapAttr] | None:
        if parser.parse_optional_keyword("indexing_maps") is None:
            return None
        parser.parse_punctuation("=")
        position = parser.pos
        maps = parser.parse_attribute()
        if not isa(maps, ArrayAttr[AffineMapAttr]):
            parser.raise_error("expected a list of affine maps", position)
        return maps

    def print(self, printer: Printer) -> None:
        if self.indexing_maps != _maps_attribute(MATMUL_MAPS):
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        super().print(printer)


class _PoolingNchw(PoolingOperation):
    """The loops of pooling over NCHW: n, c, oh, ow, kh, kw, the last two reduced."""

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        n, c, oh, ow, kh, kw = (AffineDimExpr(dim) for dim in range(6))
        stride_h, stride_w = self.strides.get_values()
        dilation_h, dilation_w = self.dilations.get_values()
        row = oh * stride_h + kh * dilation_h
        column = ow * stride_w + kw * dilation_w
        return (
            AffineMap(6, 0, (n, c, row, column)),
            AffineMap(6, 0, (kh, kw)),
            AffineMap(6, 0, (n, c, oh, ow)),
        )


def _reduction_region(
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    float_op: type[arith.AddfOp | arith.MaximumfOp],
    integer_op: type[arith.AddiOp | arith.MaxSIOp],
) -> Region:
    """Make the region `out = op(out, input)` of an op with operands input, window and out."""
    types = PoolingOperation.body_arg_types((*inputs, *outputs))
    op = float_op if isinstance(types[-1], AnyFloat) else integer_op

    @Builder.implicit_region(types)
    def region(args: tuple[BlockArgument, ...]) -> None:
        ops.YieldOp(op(args[2], args[0]))

    return region


@irdl_op_definition
class PoolingNchwSumOp(_PoolingNchw):
    """Sum over a sliding window; the window operand gives only the shape. xDSL has no such op.

    ```mlir
    %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    ```
    """

    name = "linalg.pooling_nchw_sum"

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return _reduction_region(inputs, outputs, arith.AddfOp, arith.AddiOp)


@irdl_op_definition
class PoolingNchwMaxOp(_PoolingNchw):
    """Maximum over a sliding window; the window operand gives only the shape.

    The region of xDSL's op takes the maximum of the input and the window's (undefined) elements,
    and forgets the accumulator.

    ```mlir
    %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    ```
    """

    name = "linalg.pooling_nchw_max"

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return _reduction_region(inputs, outputs, arith.MaximumfOp, arith.MaxSIOp)


@irdl_op_definition
class DepthwiseConv2DNchwChwOp(ConvOperation):
    """Convolution of each channel with its own filter. xDSL has no such op.

    ```mlir
    %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x4x9x7xf32>, tensor<4x3x2xf32>) outs(%init : tensor<2x4x7x6xf32>) -> tensor<2x4x7x6xf32>
    ```
    """

    name = "linalg.depthwise_conv_2d_nchw_chw"

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        # Upstream numbers the loops n, oh, ow, c, kh, kw. The order of parallel loops is free, and
        # this one walks through memory forwards.
        n, c, oh, ow, kh, kw = (AffineDimExpr(dim) for dim in range(6))
        stride_h, stride_w = self.strides.get_values()
        dilation_h, dilation_w = self.dilations.get_values()
        row = oh * stride_h + kh * dilation_h
        column = ow * stride_w + kw * dilation_w
        return (
            AffineMap(6, 0, (n, c, row, column)),
            AffineMap(6, 0, (c, kh, kw)),
            AffineMap(6, 0, (n, c, oh, ow)),
        )

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        parallel, reduction = IteratorTypeAttr.parallel(), IteratorTypeAttr.reduction()
        return ArrayAttr((*(parallel,) * 4, *(reduction,) * 2))


_OURS = (MatmulOp, PoolingNchwSumOp, PoolingNchwMaxOp, DepthwiseConv2DNchwChwOp)
_REPLACED = {op.name for op in _OURS}

LINALG = Dialect(
    "linalg",
    [*(op for op in Linalg.operations if op.name not in _REPLACED), *_OURS],
    list(Linalg.attributes),
)
"""xDSL's linalg dialect with our ops in the place of those that are missing or wrong."""
