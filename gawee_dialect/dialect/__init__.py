"""The gawee dialect: what a network graph can say. `GAWEE` is the dialect object."""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Dialect, Operation

from gawee_dialect.dialect.graph import activation, arithmetic, cast, elementwise, logic
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.constant import ConstantOp, IotaOp, TriOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    IdentityOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    FoldBatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    CumSumOp,
    LogSoftmaxOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SoftmaxOp,
)
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, PadOp, SliceOp
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.kernels.schedule import ScheduleAttr
from gawee_dialect.dialect.kernels.winograd import WinogradOp
from gawee_dialect.dialect.size_list import SizesAttr
from gawee_dialect.hints import isa


class ConstantMaterialization(ConstantMaterializationInterface):
    """Turns what a folder computed into a `gawee.constant`."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        if not isa(value, DenseIntOrFPElementsAttr) or value.type != type:
            return None
        return ConstantOp(value)


ELEMENTWISE = tuple(
    kind
    for module in (elementwise, arithmetic, activation, logic, cast)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, ElementwiseOp)
    if kind.__module__ == module.__name__ and "name" in vars(kind)
)
"""Ops that compute every element from those at its own position."""

REDUCTIONS = (
    *(ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp),
    *(ReduceAnyOp, ReduceAllOp, ArgMaxOp, ArgMinOp),
    *(CumSumOp, SoftmaxOp, LogSoftmaxOp),
)
"""Ops that combine elements along axes."""

GAWEE = Dialect(
    "gawee",
    [
        ConvOp,
        ConvTransposeOp,
        MatMulOp,
        BatchMatMulOp,
        AttentionOp,
        BatchNormOp,
        FoldBatchNormOp,
        LayerNormOp,
        RmsNormOp,
        GroupNormOp,
        *ELEMENTWISE,
        *REDUCTIONS,
        MaxPoolOp,
        AvgPoolOp,
        AdAvgPoolOp,
        AdMaxPoolOp,
        InterpolateOp,
        GridSampleOp,
        IdentityOp,
        FlattenOp,
        ReshapeOp,
        CatOp,
        TransposeOp,
        BroadcastToOp,
        TileOp,
        ReverseOp,
        SliceOp,
        InsertSliceOp,
        PadOp,
        GatherOp,
        GatherElementsOp,
        GatherNdOp,
        ScatterElementsOp,
        ScatterNdOp,
        QuantizeOp,
        DequantizeOp,
        ConstantOp,
        IotaOp,
        TriOp,
        SortOp,
        TopKOp,
        NonMaxSuppressionOp,
        ScanOp,
        GetAttrOp,
        GetItemOp,
        KernelOp,
        YieldOp,
        WinogradOp,
    ],
    [PythonValueType, ScheduleAttr, SizesAttr],
    [ConstantMaterialization()],
)

KERNEL_LEVEL: tuple[type[Operation], ...] = (KernelOp, YieldOp, WinogradOp)
"""Ops below graphs: passes make them of linalg, and lower them to loops."""

GRAPH_LEVEL: tuple[type[Operation], ...] = tuple(
    op for op in GAWEE.operations if op not in KERNEL_LEVEL
)
"""Ops that a graph is made of; `lower-to-linalg` leaves none of them."""
