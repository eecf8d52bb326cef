"""xDSL's arith dialect and the op of MLIR's that it lacks.

`ARITH` takes the place of xDSL's dialect object in our tools.
"""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects import arith
from xdsl.dialects.arith import FloatingPointLikeBinaryOperation
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Pure, SameOperandsAndResultType


@irdl_op_definition
class RemFOp(FloatingPointLikeBinaryOperation):
    """Remainder of a float division rounded towards zero: it has the sign of lhs."""

    name = "arith.remf"

    traits = traits_def(Pure(), SameOperandsAndResultType())


_MATERIALIZATION = arith.Arith.get_interface(ConstantMaterializationInterface)

ARITH = Dialect(
    "arith",
    [*arith.Arith.operations, RemFOp],
    list(arith.Arith.attributes),
    [] if _MATERIALIZATION is None else [_MATERIALIZATION],
)
"""xDSL's arith dialect with our op added."""
