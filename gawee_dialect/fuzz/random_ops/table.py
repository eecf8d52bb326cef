"""Random valid ops of the dialect: for each class what draws one."""

from collections.abc import Mapping

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.along_axis import (
    CumSumOp,
    LogSoftmaxOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.position import IotaOp, TriOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.fuzz.random_ops import (
    arrangements,
    constants,
    elementwise,
    indices,
    normalizations,
    products,
    reductions,
    scans,
    windows,
)
from gawee_dialect.fuzz.random_ops.values import (
    ALL_NUMBERS,
    ELEMENTS,
    FLOATS,
    Maker,
)

OPS: Mapping[type[Operation], Maker] = {
    ConvOp: windows.conv,
    ConvTransposeOp: windows.conv_transpose,
    MatMulOp: products.matmul,
    BatchMatMulOp: products.batch_matmul,
    AttentionOp: products.attention,
    BatchNormOp: normalizations.batch_norm,
    **elementwise.makers(ELEMENTWISE),
    ReduceMeanOp: reductions.reduction(ReduceMeanOp, FLOATS),
    ReduceAnyOp: reductions.reduction(ReduceAnyOp, (i1,)),
    ReduceAllOp: reductions.reduction(ReduceAllOp, (i1,)),
    ArgMaxOp: reductions.along_axis(ArgMaxOp, ALL_NUMBERS, "keep_dims"),
    ArgMinOp: reductions.along_axis(ArgMinOp, ALL_NUMBERS, "keep_dims"),
    CumSumOp: reductions.along_axis(CumSumOp, ALL_NUMBERS),
    SoftmaxOp: reductions.along_axis(SoftmaxOp, FLOATS),
    LogSoftmaxOp: reductions.along_axis(LogSoftmaxOp, FLOATS),
    LayerNormOp: normalizations.layer_norm,
    RmsNormOp: normalizations.rms_norm,
    GroupNormOp: normalizations.group_norm,
    ReduceSumOp: reductions.reduction(ReduceSumOp, ALL_NUMBERS),
    ReduceMaxOp: reductions.reduction(ReduceMaxOp, ALL_NUMBERS),
    ReduceMinOp: reductions.reduction(ReduceMinOp, ALL_NUMBERS),
    ReduceProdOp: reductions.reduction(ReduceProdOp, ALL_NUMBERS),
    MaxPoolOp: windows.max_pool,
    AvgPoolOp: windows.avg_pool,
    AdAvgPoolOp: windows.adaptive_pool(AdAvgPoolOp),
    AdMaxPoolOp: windows.adaptive_pool(AdMaxPoolOp),
    GridSampleOp: windows.grid_sample,
    InterpolateOp: windows.interpolate,
    IdentityOp: elementwise.unary(IdentityOp, ELEMENTS),
    FlattenOp: arrangements.flatten,
    ReshapeOp: arrangements.reshape,
    CatOp: arrangements.cat,
    TransposeOp: arrangements.transpose,
    BroadcastToOp: arrangements.broadcast_to,
    TileOp: arrangements.tile,
    ReverseOp: arrangements.reverse,
    SliceOp: arrangements.slice_of,
    InsertSliceOp: arrangements.insert_slice,
    PadOp: arrangements.pad,
    GatherOp: indices.gather,
    GatherElementsOp: indices.gather_elements,
    GatherNdOp: indices.gather_nd,
    ScatterElementsOp: indices.scatter_elements,
    ScatterNdOp: indices.scatter_nd,
    IotaOp: arrangements.iota,
    TriOp: arrangements.tri,
    SortOp: indices.sort,
    TopKOp: indices.top_k,
    NonMaxSuppressionOp: indices.non_max_suppression,
    ScanOp: scans.scan,
    ConstantOp: constants.constant,
    GetAttrOp: constants.get_attribute,
    GetItemOp: constants.get_item,
}
"""What draws an op of each class of the dialect."""
