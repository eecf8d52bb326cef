"""Every op has a lowering, and every function of equations scalar ops."""

from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.evaluated import NamedMeaningOp
from gawee_dialect.equations.functions import FUNCTIONS, OF_OPS, OPERATORS, PREFIXES
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.graph.lower_to_linalg.scalar_functions import BINARY, UNARY


def test_every_function_of_equations_has_scalar_ops():
    functions = {**FUNCTIONS, **OF_OPS}
    of_one = {name for name, each in functions.items() if each.arity == 1}
    of_two = {name for name, each in functions.items() if each.arity == 2}

    assert (set(UNARY), set(BINARY)) == (of_one | set(PREFIXES), of_two | set(OPERATORS))


def test_the_pass_removes_every_op_of_a_graph():
    assert set(LowerToLinalg.removes) == {*GRAPH_LEVEL, EquationOp, NamedMeaningOp}
