"""Every op has a lowering, and a new op without one is refused with the reason."""

from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.irdl import irdl_op_definition
from xdsl.pattern_rewriter import PatternRewriteWalker

from gawee_dialect.dialect import GAWEE, GRAPH_LEVEL
from gawee_dialect.dialect.elementwise import ElementwiseOp, UnaryOp
from gawee_dialect.dialect.index_notation import IndexNotationOp
from gawee_dialect.dialect.named_meaning import NamedMeaningOp
from gawee_dialect.passes.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.lower_to_linalg.elementwise import SCALAR_BODIES, LowerElementwise
from gawee_dialect.passes.rewrite_pass import Driver


@irdl_op_definition
class BodilessOp(UnaryOp):
    """An elementwise op that nobody gave a scalar body."""

    name = "gawee.bodiless"

    @staticmethod
    def compute(input):
        return input


def test_every_elementwise_op_has_a_scalar_body():
    elementwise = {op for op in GAWEE.operations if issubclass(op, ElementwiseOp)}

    assert elementwise == set(SCALAR_BODIES)


def test_the_pass_removes_every_op_of_a_graph():
    assert set(LowerToLinalg.removes) == {*GRAPH_LEVEL, IndexNotationOp, NamedMeaningOp}


def test_an_elementwise_op_without_a_scalar_body_is_declined_with_the_reason():
    source = test.TestOp(result_types=[TensorType(f32, (2, 3))])
    op = BodilessOp(source.results[0])
    driver = Driver([LowerElementwise()], Context())

    PatternRewriteWalker(driver).rewrite_module(ModuleOp([source, op, test.TestOp([op.output])]))

    assert driver.reasons[op] == {
        "LowerElementwise": "expected a scalar body for 'gawee.bodiless', got none"
    }
