"""The gawee dialect: what a network graph can say. `GAWEE` is the dialect object."""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.hints import isa

from gawee_dialect.dialect.attention import AttentionOp
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.grid_sample import GridSampleOp
from gawee_dialect.dialect.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp


class ConstantMaterialization(ConstantMaterializationInterface):
    """Turns what a folder computed into a `gawee.constant`."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        if not isa(value, DenseIntOrFPElementsAttr) or value.type != type:
            return None
        return ConstantOp(value)


GAWEE = Dialect(
    "gawee",
    [
        ConvOp,
        ConvTransposeOp,
        MatMulOp,
        BatchMatMulOp,
        AttentionOp,
        BatchNormOp,
        ReluOp,
        SqrtOp,
        AddOp,
        SubOp,
        MulOp,
        DivOp,
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
        ConstantOp,
        GetAttrOp,
        GetItemOp,
    ],
    [PythonValueType],
    [ConstantMaterialization()],
)
