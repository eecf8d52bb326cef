"""The named ops of linalg (LLVM 22), one row each: which loops index what, and the body.

A row's `reads` has a letter for each loop: `"mk,kn->mn"` is a matrix product. `h`, `w` and `d` are
the axes of a picture; where `y`, `x` and `z` are loops as well, these are the axes of a window, and
the picture is read at `h * stride + y * dilation`. Loops that no output has are reduced. An operand
without letters is a scalar, and `...` stands for all axes.

https://mlir.llvm.org/docs/Dialects/Linalg/
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import new_class
from typing import ClassVar, Self

from xdsl.dialects.builtin import ArrayAttr, DenseIntElementsAttr, LocationAttr, TensorType, i64
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import (
    ConvOperation,
    LinalgStructuredOperation,
    NamedOperation,
    PoolingOperation,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa
from gawee_dialect.upstream.linalg import bodies
from gawee_dialect.upstream.linalg.bodies import (
    ELEMENTWISE,
    Body,
    TypeFunction,
    TypeFunctionAttr,
    body_region,
    pooled,
)
from gawee_dialect.upstream.linalg.named_op import (
    NamedOp,
    element_shape,
    element_types,
    parallel_and_reduced,
)

WINDOW_OF = {"d": "z", "h": "y", "w": "x"}
"""The axis of the window that slides along each axis of a picture."""


@dataclass(frozen=True)
class Row:
    """What a named op means."""

    reads: str
    body: Body
    slides: bool = False
    """Whether the op has strides and dilations."""
    casts: bool = False
    """Whether the op has an attribute that says how integers are cast."""


def _contraction(reads: str, *, casts: bool = False) -> Row:
    return Row(reads, bodies.multiply_add, casts=casts)


def _zero_points(reads: str) -> Row:
    lhs, rest = reads.split(",")
    rhs, out = rest.split("->")
    slides = any(letter in lhs for letter in WINDOW_OF)
    return Row(f"{lhs},{rhs},,->{out}", bodies.multiply_add_with_zero_points, slides)


def _conv(reads: str) -> Row:
    return Row(reads, bodies.multiply_add, slides=True)


def _pool(reads: str, ops: bodies.OpsByType, *, unsigned: bool = False) -> Row:
    return Row(reads, pooled(ops, unsigned=unsigned), slides=True)


def _elementwise(function: str, *, casts: bool = False) -> Row:
    inputs, body = ELEMENTWISE[function]
    return Row(",".join(["..."] * inputs) + "->...", body, casts=casts)


_SAME_NAME = (
    *("exp", "log", "abs", "ceil", "floor", "negf", "reciprocal", "round", "sqrt", "rsqrt"),
    *("square", "tanh", "erf", "add", "sub", "mul", "div", "div_unsigned", "powf", "select"),
)

NAMED_OPS: Mapping[str, Row] = {
    **{name: _elementwise(name) for name in _SAME_NAME},
    "max": _elementwise("max_signed"),
    "min": _elementwise("min_signed"),
    "copy": Row("...->...", bodies.copied, casts=True),
    "fill": Row("->...", bodies.copied),
    "dot": _contraction("m,m->"),
    "matvec": _contraction("mn,n->m"),
    "vecmat": _contraction("m,mn->n"),
    "batch_matvec": _contraction("bmk,bk->bm"),
    "batch_vecmat": _contraction("bk,bkn->bn"),
    "mmt4d": _contraction("mkac,nkec->mnae"),
    "batch_mmt4d": _contraction("bmkac,bnkec->bmnae"),
    "quantized_matmul": _zero_points("mk,kn->mn"),
    "quantized_batch_matmul": _zero_points("bmk,bkn->bmn"),
    "conv_1d": _contraction("w,x->w"),
    "conv_2d": _contraction("hw,yx->hw"),
    "conv_3d": _contraction("dhw,zyx->dhw"),
    "conv_1d_nwc_wcf": _conv("nwc,xcf->nwf"),
    "conv_1d_ncw_fcw": _conv("ncw,fcx->nfw"),
    "conv_2d_nhwc_hwcf": _conv("nhwc,yxcf->nhwf"),
    "conv_2d_nhwc_fhwc": _conv("nhwc,fyxc->nhwf"),
    "conv_2d_nhwc_hwcf_q": _zero_points("nhwc,yxcf->nhwf"),
    "conv_2d_nhwc_fhwc_q": _zero_points("nhwc,fyxc->nhwf"),
    "conv_2d_nchw_fchw": _conv("nchw,fcyx->nfhw"),
    "conv_2d_nchw_fchw_q": _zero_points("nchw,fcyx->nfhw"),
    "conv_2d_ngchw_fgchw": _conv("ngchw,fgcyx->ngfhw"),
    "conv_2d_ngchw_gfchw": _conv("ngchw,gfcyx->ngfhw"),
    "conv_2d_ngchw_gfchw_q": _zero_points("ngchw,gfcyx->ngfhw"),
    "conv_2d_nhwgc_gfhwc": _conv("nhwgc,gfyxc->nhwgf"),
    "conv_2d_nhwgc_gfhwc_q": _zero_points("nhwgc,gfyxc->nhwgf"),
    "conv_3d_ndhwc_dhwcf": _conv("ndhwc,zyxcf->ndhwf"),
    "conv_3d_ndhwc_dhwcf_q": _zero_points("ndhwc,zyxcf->ndhwf"),
    "conv_3d_ncdhw_fcdhw": _conv("ncdhw,fczyx->nfdhw"),
    "depthwise_conv_1d_nwc_wc": _conv("nwc,xc->nwc"),
    "depthwise_conv_1d_ncw_cw": _conv("ncw,cx->ncw"),
    "depthwise_conv_1d_nwc_wcm": _conv("nwc,xcm->nwcm"),
    "depthwise_conv_2d_nhwc_hwc": _conv("nhwc,yxc->nhwc"),
    "depthwise_conv_2d_nhwc_hwc_q": _zero_points("nhwc,yxc->nhwc"),
    "depthwise_conv_2d_nchw_chw": _conv("nchw,cyx->nchw"),
    "depthwise_conv_2d_nhwc_hwcm": _conv("nhwc,yxcm->nhwcm"),
    "depthwise_conv_2d_nhwc_hwcm_q": _zero_points("nhwc,yxcm->nhwcm"),
    "depthwise_conv_3d_ndhwc_dhwc": _conv("ndhwc,zyxc->ndhwc"),
    "depthwise_conv_3d_ncdhw_cdhw": _conv("ncdhw,czyx->ncdhw"),
    "depthwise_conv_3d_ndhwc_dhwcm": _conv("ndhwc,zyxcm->ndhwcm"),
    "pooling_nhwc_sum": _pool("nhwc,yx->nhwc", bodies.ADD),
    "pooling_nchw_sum": _pool("nchw,yx->nchw", bodies.ADD),
    "pooling_nhwc_max": _pool("nhwc,yx->nhwc", bodies.MAX),
    "pooling_nhwc_max_unsigned": _pool("nhwc,yx->nhwc", bodies.MAX_UNSIGNED, unsigned=True),
    "pooling_nchw_max": _pool("nchw,yx->nchw", bodies.MAX),
    "pooling_nhwc_min": _pool("nhwc,yx->nhwc", bodies.MIN),
    "pooling_nhwc_min_unsigned": _pool("nhwc,yx->nhwc", bodies.MIN_UNSIGNED, unsigned=True),
    "pooling_nwc_sum": _pool("nwc,x->nwc", bodies.ADD),
    "pooling_ncw_sum": _pool("ncw,x->ncw", bodies.ADD),
    "pooling_nwc_max": _pool("nwc,x->nwc", bodies.MAX),
    "pooling_nwc_max_unsigned": _pool("nwc,x->nwc", bodies.MAX_UNSIGNED, unsigned=True),
    "pooling_ncw_max": _pool("ncw,x->ncw", bodies.MAX),
    "pooling_nwc_min": _pool("nwc,x->nwc", bodies.MIN),
    "pooling_nwc_min_unsigned": _pool("nwc,x->nwc", bodies.MIN_UNSIGNED, unsigned=True),
    "pooling_ndhwc_sum": _pool("ndhwc,zyx->ndhwc", bodies.ADD),
    "pooling_ndhwc_max": _pool("ndhwc,zyx->ndhwc", bodies.MAX),
    "pooling_ndhwc_min": _pool("ndhwc,zyx->ndhwc", bodies.MIN),
}
"""Every named op whose loops follow from its name and its operands' ranks."""


def index_maps(
    reads: str, rank: int, strides: Sequence[int] = (), dilations: Sequence[int] = ()
) -> list[AffineMap]:
    """Return the maps of all operands; `rank` is how many axes `...` stands for.

    Loops are numbered as the output's letters are, those that are reduced last, as the filter has
    them.
    """
    return list(_index_maps(reads, rank, tuple(strides), tuple(dilations)))


@lru_cache(maxsize=1024)
def _index_maps(
    reads: str, rank: int, strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Sequence[AffineMap]:
    if "..." in reads:
        operands = reads.replace("->", ",").split(",")
        identity = AffineMap.identity(rank)
        return [identity if each else AffineMap(rank, 0, ()) for each in operands]
    inputs, output = reads.split("->")
    operands = inputs.split(",")
    window = operands[1] if len(operands) > 1 else ""
    loops = "".join(dict.fromkeys(output + window + operands[0]))
    slid = [axis for axis in operands[0] if WINDOW_OF.get(axis) in tuple(window)]

    def expression(letter: str, operand: int) -> AffineExpr:
        dim = AffineDimExpr(loops.index(letter))
        if operand or letter not in slid:
            return dim
        axis = slid.index(letter)
        tap = AffineDimExpr(loops.index(WINDOW_OF[letter]))
        return _times(dim, strides, axis) + _times(tap, dilations, axis)

    return [
        AffineMap(len(loops), 0, tuple(expression(letter, number) for letter in letters))
        for number, letters in enumerate((*operands, output))
    ]


def _times(dim: AffineExpr, factors: Sequence[int], axis: int) -> AffineExpr:
    return dim * factors[axis] if factors else dim


class RowOp(NamedOp, ABC):
    """An op whose maps, loops and body come from a row."""

    ROW: ClassVar[Row]

    @classmethod
    def make_region(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> Region:
        cls.check_operands(inputs, outputs)
        unsigned = properties.get("cast") == TypeFunctionAttr(TypeFunction.CAST_UNSIGNED)
        return body_region(element_types((*inputs, *outputs)), cls.ROW.body, unsigned=unsigned)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return parallel_and_reduced(self.get_default_indexing_maps())

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return index_maps(self.ROW.reads, len(element_shape(self.outputs[0])))

    def verify_(self) -> None:
        blocks = sum(len(region.blocks) for region in self.regions)
        if blocks != 1:
            raise VerifyException(f"expected a body of one block, got {blocks}")
        if type(self).verify_ is RowOp.verify_:  # of xDSL's classes, whose definition is theirs
            self.get_irdl_definition().verify(self)
        self.check_operands(self.inputs, self.outputs)
        LinalgStructuredOperation.verify_(self)

    @classmethod
    def check_operands(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
        """Raise VerifyException unless there are as many operands as the op takes."""
        expected = cls.ROW.reads.count(",") + 1
        if len(inputs) != expected or len(outputs) != 1:
            raise VerifyException(
                f"expected {expected} inputs and 1 output, got {len(inputs)} and {len(outputs)}"
            )


class CastingOp(RowOp, ABC):
    """A named op that says how integers are cast."""

    cast = opt_prop_def(TypeFunctionAttr)


class WindowOp(RowOp, ABC):
    """A named op that slides a window over its first operand.

    Its fields are those of xDSL's base classes of convolutions and poolings.
    """

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        *,
        strides: DenseIntElementsAttr | None = None,
        dilations: DenseIntElementsAttr | None = None,
    ):
        given = {"dilations": dilations, "strides": strides, **(properties or {})}
        super().__init__(inputs, outputs, result_types, self._with_steps(given), attributes)

    @classmethod
    def create(
        cls,
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] = {},
        attributes: Mapping[str, Attribute] = {},
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
        location: LocationAttr | None = None,
    ) -> Self:
        """Make the op as its generic text says; strides and dilations that it omits are one."""
        return super().create(
            operands=operands,
            result_types=result_types,
            properties=cls._with_steps(properties),
            attributes=attributes,
            successors=successors,
            regions=regions,
            location=location,
        )

    @classmethod
    def _with_steps(cls, given: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
        ones = DenseIntElementsAttr.from_list(TensorType(i64, [cls.slid_axes()]), [1])
        said = {name: each for name, each in given.items() if each is not None}
        return {"dilations": ones, "strides": ones, **said}

    @classmethod
    def slid_axes(cls) -> int:
        """Return how many axes the window slides along."""
        return sum(axis in WINDOW_OF for axis in cls.ROW.reads.split(",")[0])

    def steps(self, name: str) -> Sequence[int]:
        """Return the strides or dilations, one for each axis; raises VerifyException."""
        attribute = self.properties[name]
        assert isa(attribute, DenseIntElementsAttr)
        values = attribute.get_values()
        if len(values) not in (1, self.slid_axes()):
            raise VerifyException(f"expected {self.slid_axes()} {name}, got {list(values)}")
        return values * self.slid_axes() if len(values) == 1 else values

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return index_maps(self.ROW.reads, 0, self.steps("strides"), self.steps("dilations"))


class FillOp(RowOp, ops.FillOp):
    """One number everywhere, cast to the element type of the output."""

    ROW: ClassVar = NAMED_OPS["fill"]


@irdl_op_definition
class CopyOp(CastingOp):
    """Each element, cast to the element type of the output."""

    name = "linalg.copy"
    ROW: ClassVar = NAMED_OPS["copy"]


class Conv2DNchwFchwOp(WindowOp, ops.Conv2DNchwFchwOp):
    """Convolution of images."""

    ROW: ClassVar = NAMED_OPS["conv_2d_nchw_fchw"]


class Conv2DNgchwGfchwOp(WindowOp, ops.Conv2DNgchwGfchwOp):
    """Convolution of images, each group of channels by itself."""

    ROW: ClassVar = NAMED_OPS["conv_2d_ngchw_gfchw"]


@irdl_op_definition
class PoolingNchwSumOp(WindowOp, PoolingOperation):
    """Sum over a sliding window; the window operand gives only the shape. xDSL has no such op.

    ```mlir
    %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    ```
    """

    name = "linalg.pooling_nchw_sum"
    ROW: ClassVar = NAMED_OPS["pooling_nchw_sum"]


class PoolingNchwMaxOp(WindowOp, ops.PoolingNchwMaxOp):
    """Maximum over a sliding window; the window operand gives only the shape.

    The region of xDSL's op takes the maximum of the input and the window's (undefined) elements,
    and forgets the accumulator.

    ```mlir
    %y = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<2x3x9x8xf32>, tensor<3x2xf32>) outs(%init : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
    ```
    """

    ROW: ClassVar = NAMED_OPS["pooling_nchw_max"]


@irdl_op_definition
class DepthwiseConv2DNchwChwOp(WindowOp, ConvOperation):
    """Convolution of each channel with its own filter. xDSL has no such op.

    ```mlir
    %y = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x4x9x7xf32>, tensor<4x3x2xf32>) outs(%init : tensor<2x4x7x6xf32>) -> tensor<2x4x7x6xf32>
    ```
    """

    name = "linalg.depthwise_conv_2d_nchw_chw"
    ROW: ClassVar = NAMED_OPS["depthwise_conv_2d_nchw_chw"]


_WRITTEN: Mapping[str, type[RowOp]] = {
    op.name.removeprefix("linalg."): op
    for op in (
        FillOp,
        CopyOp,
        Conv2DNchwFchwOp,
        Conv2DNgchwGfchwOp,
        PoolingNchwSumOp,
        PoolingNchwMaxOp,
        DepthwiseConv2DNchwChwOp,
    )
}
"""The classes of ops that passes make."""

_OF_XDSL: Mapping[str, type[NamedOperation]] = {
    op.name.removeprefix("linalg."): op
    for op in (
        *(ops.AddOp, ops.ExpOp, ops.LogOp, ops.SubOp, ops.SqrtOp, ops.SelectOp, ops.MaxOp),
        *(ops.MinOp, ops.MulOp, ops.Conv2DNgchwFgchwOp, ops.Conv2DNhwc_FhwcOp),
        *(ops.Conv2DNhwc_HwcfOp, ops.Conv2DNhwgcGfhwcOp),
    )
}
"""Classes of xDSL whose fields are right: ours are theirs too, for passes that look for them."""


def _made(name: str) -> type[RowOp]:
    row = NAMED_OPS[name]
    own = WindowOp if row.slides else CastingOp if row.casts else RowOp
    members = {
        "name": f"linalg.{name}",
        "ROW": row,
        "__annotations__": {"ROW": ClassVar[Row]},
        "__doc__": f"`linalg.{name}`: {row.reads}.",
        "__module__": __name__,
    }

    def fill(namespace: dict[str, object]) -> None:
        namespace.update(members)

    if name in _OF_XDSL:
        return new_class(name, (own, _OF_XDSL[name]), exec_body=fill)
    pools = name.startswith("pooling")
    fields = ((PoolingOperation if pools else ConvOperation),) if row.slides else ()
    made: type[RowOp] = new_class(name, (own, *fields), exec_body=fill)
    return irdl_op_definition(made)


CLASSES: Sequence[type[RowOp]] = [_WRITTEN.get(name) or _made(name) for name in NAMED_OPS]
"""The class of every row."""
