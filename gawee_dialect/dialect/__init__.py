"""The gawee dialect: what a network graph can say. `GAWEE` is the dialect object."""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Dialect, Operation

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, ReluOp, SqrtOp, SubOp
from gawee_dialect.dialect.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.resize import InterpolateOp
from gawee_dialect.dialect.schedule import ScheduleAttr
from gawee_dialect.dialect.shape import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.winograd import WinogradOp
from gawee_dialect.hints import isa


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
        MatMulOp,
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
        InterpolateOp,
        IdentityOp,
        FlattenOp,
        ReshapeOp,
        CatOp,
        ConstantOp,
        GetAttrOp,
        GetItemOp,
        KernelOp,
        YieldOp,
        WinogradOp,
    ],
    [PythonValueType, ScheduleAttr],
    [ConstantMaterialization()],
)
