"""Random valid ops of the dialect: for each class what draws one."""

from collections.abc import Mapping

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from gawee_dialect.dialect.activation import (
    ClipOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
)
from gawee_dialect.dialect.along_axis import (
    CumSumOp,
    LogSoftmaxOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.arithmetic import (
    AbsOp,
    Atan2Op,
    CeilOp,
    FloorDivOp,
    FloorOp,
    FmodOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    PowOp,
    ReciprocalOp,
    RemainderOp,
    RoundOp,
    SignOp,
)
from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.bitwise import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LogicalNotOp,
)
from gawee_dialect.dialect.cast import (
    BitcastOp,
    CastOp,
)
from gawee_dialect.dialect.comparison import (
    CompareOp,
    IsNanOp,
    WhereOp,
)
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.elementary import (
    CosOp,
    ErfOp,
    ExpOp,
    Log1pOp,
    LogOp,
    RsqrtOp,
    SinOp,
    TanhOp,
)
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
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
    INTEGERS,
    Maker,
)

OPS: Mapping[type[Operation], Maker] = {
    ConvOp: windows.conv,
    ConvTransposeOp: windows.conv_transpose,
    MatMulOp: products.matmul,
    BatchMatMulOp: products.batch_matmul,
    AttentionOp: products.attention,
    BatchNormOp: normalizations.batch_norm,
    ReluOp: elementwise.unary(ReluOp, ALL_NUMBERS),
    SqrtOp: elementwise.unary(SqrtOp, FLOATS),
    AddOp: elementwise.binary(AddOp, ALL_NUMBERS),
    SubOp: elementwise.binary(SubOp, ALL_NUMBERS),
    MulOp: elementwise.binary(MulOp, ALL_NUMBERS),
    DivOp: elementwise.binary(DivOp, FLOATS),
    ExpOp: elementwise.unary(ExpOp, FLOATS),
    LogOp: elementwise.unary(LogOp, FLOATS),
    Log1pOp: elementwise.unary(Log1pOp, FLOATS),
    TanhOp: elementwise.unary(TanhOp, FLOATS),
    ErfOp: elementwise.unary(ErfOp, FLOATS),
    SinOp: elementwise.unary(SinOp, FLOATS),
    CosOp: elementwise.unary(CosOp, FLOATS),
    RsqrtOp: elementwise.unary(RsqrtOp, FLOATS),
    ReciprocalOp: elementwise.unary(ReciprocalOp, FLOATS),
    FloorOp: elementwise.unary(FloorOp, FLOATS),
    CeilOp: elementwise.unary(CeilOp, FLOATS),
    RoundOp: elementwise.unary(RoundOp, FLOATS),
    SigmoidOp: elementwise.unary(SigmoidOp, FLOATS),
    SiluOp: elementwise.unary(SiluOp, FLOATS),
    HardSigmoidOp: elementwise.unary(HardSigmoidOp, FLOATS),
    HardSwishOp: elementwise.unary(HardSwishOp, FLOATS),
    SoftplusOp: elementwise.unary(SoftplusOp, FLOATS),
    IsNanOp: elementwise.unary(IsNanOp, FLOATS),
    NegOp: elementwise.unary(NegOp, ALL_NUMBERS),
    AbsOp: elementwise.unary(AbsOp, ALL_NUMBERS),
    SignOp: elementwise.unary(SignOp, ALL_NUMBERS),
    LogicalNotOp: elementwise.unary(LogicalNotOp, (i1,)),
    BitwiseNotOp: elementwise.unary(BitwiseNotOp, INTEGERS),
    PowOp: elementwise.binary(PowOp, ALL_NUMBERS),
    MaximumOp: elementwise.binary(MaximumOp, ALL_NUMBERS),
    MinimumOp: elementwise.binary(MinimumOp, ALL_NUMBERS),
    RemainderOp: elementwise.binary(RemainderOp, ALL_NUMBERS),
    FmodOp: elementwise.binary(FmodOp, ALL_NUMBERS),
    FloorDivOp: elementwise.binary(FloorDivOp, ALL_NUMBERS),
    Atan2Op: elementwise.binary(Atan2Op, FLOATS),
    BitwiseAndOp: elementwise.binary(BitwiseAndOp, INTEGERS),
    BitwiseOrOp: elementwise.binary(BitwiseOrOp, INTEGERS),
    BitwiseXorOp: elementwise.binary(BitwiseXorOp, INTEGERS),
    LeakyReluOp: elementwise.with_alpha(LeakyReluOp),
    EluOp: elementwise.with_alpha(EluOp),
    GeluOp: elementwise.gelu,
    ClipOp: elementwise.clip,
    CompareOp: elementwise.compare,
    WhereOp: elementwise.where,
    CastOp: elementwise.cast,
    BitcastOp: elementwise.bitcast,
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
