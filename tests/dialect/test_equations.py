"""Ops that are defined by equations: what their classes say of types is what the equations take."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32, f64, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect import ELEMENTWISE, GRAPH_LEVEL
from gawee_dialect.dialect.equation import DefinedOp, EquationOp
from gawee_dialect.dialect.graph.activation import ClipOp, LeakyReluOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import BinaryOp, ElementwiseOp, UnaryOp
from gawee_dialect.dialect.graph.logic import CompareOp
from gawee_dialect.dialect.types import ELEMENT_TYPES
from gawee_dialect.equations.evaluate import evaluate, evaluate_elements
from gawee_dialect.equations.functions import OPERATORS, PREFIXES, Function, function_of
from gawee_dialect.equations.instance import Body, Misfit, Type, of_elements, read_body
from gawee_dialect.equations.program import Arguments
from gawee_dialect.equations.syntax import Binary, Call, Unary, walk
from gawee_dialect.instruments.prove.run import ExactFromIntegers
from gawee_dialect.located_json import Code
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.passes.rewrite_pass import ops_of

UNARY = [kind for kind in ELEMENTWISE if issubclass(kind, UnaryOp)]
BINARY = [kind for kind in ELEMENTWISE if issubclass(kind, BinaryOp) and kind is not CompareOp]


def equation_of(kind: type[ElementwiseOp]) -> str:
    return kind.EQUATION if isinstance(kind.EQUATION, str) else next(iter(kind.EQUATION.values()))


def functions_of(body: Body) -> Iterator[Function]:
    """Yield the functions of an equation."""
    for node in walk(body.program.definitions[0].value):
        if isinstance(node, Binary):
            yield OPERATORS[node.operator]
        elif isinstance(node, Unary):
            yield PREFIXES[node.operator]
        elif isinstance(node, Call):
            yield function_of(node.function)


def value(element: Attribute, *shape: int) -> SSAValue:
    return TestOp(result_types=[TensorType(element, shape)]).results[0]


@pytest.mark.parametrize("kind", [each for each in (*UNARY, *BINARY) if each is not ClipOp])
def test_an_op_takes_the_element_types_that_its_functions_do(kind: type[ElementwiseOp]) -> None:
    body = read_body(Code.of_text(equation_of(kind), "equation"), Arguments(of_op=True))
    parameters = {each.name: 0.5 for each in body.program.parameters}

    def is_taken(element: Attribute) -> bool:
        if not all(each.elements.holds(element) for each in functions_of(body)):
            return False
        try:
            body.instance({name: Type((), element) for name in body.program.inputs}, parameters)
        except Misfit:
            return False  # integers together with a parameter that is a float
        return True

    taken = {name for name, element in ELEMENT_TYPES.items() if is_taken(element)}

    assert {name for name, each in ELEMENT_TYPES.items() if kind.ELEMENTS.holds(each)} == taken


# C1 of every unary op, C1 to C3 of every binary one.


@pytest.mark.parametrize("kind", [*UNARY, *BINARY])
def test_other_element_types_are_refused(kind: type[ElementwiseOp]) -> None:
    others = [each for each in ELEMENT_TYPES.values() if not kind.ELEMENTS.holds(each)]
    name = kind.get_irdl_definition().operands[0][0]

    for element in others:
        operands = [value(element, 2, 3)] * len(kind.get_irdl_definition().operands)
        with pytest.raises(VerifyException) as caught:
            kind(*operands)
        supported = f"supported: {kind.ELEMENTS.text}"
        message = f"unsupported element type '{element}' of {name}; {supported}"
        assert str(caught.value) == message


@pytest.mark.parametrize("kind", BINARY)
def test_operands_of_two_types_or_of_shapes_that_differ_are_refused(
    kind: type[BinaryOp],
) -> None:
    one, other = [e for e in ELEMENT_TYPES.values() if kind.ELEMENTS.holds(e)][:2]

    with pytest.raises(VerifyException, match=r"expected rhs element type .* to match lhs"):
        kind(value(one, 2, 3), value(other, 2, 3))
    with pytest.raises(VerifyException, match="expected shapes to broadcast, got 2x3 and 2"):
        kind(value(one, 2, 3), value(one, 2))


# Ops whose meaning stands in more than one place: in NumPy, and as a lowering. The list shrinks.

MORE_THAN_ONE_DEFINITION = {
    "no arithmetic: bits are read as those of another type": ("Bitcast",),
    "indices that are none of an axis are refused, and equations read 0 there": (
        *("Gather", "GatherElements", "GatherNd"),
    ),
    "elements of the result come from one of several tensors": ("Cat", "InsertSlice"),
    "writes at computed positions": ("ScatterElements", "ScatterNd"),
    "an equation would be longer than the algorithm": (
        *("Sort", "TopK", "NonMaxSuppression", "Scan", "GridSample", "Interpolate", "CumSum"),
        "ConvTranspose",
    ),
    "positions of extremes, which equations do not have": ("ArgMax", "ArgMin"),
    "they compute nothing": ("Constant", "GetAttr", "GetItem"),
}


BY_EQUATION = [
    kind for kind in GRAPH_LEVEL if issubclass(kind, EquationOp) and kind is not BitcastOp
]


def test_ops_with_more_than_one_definition_are_listed_with_the_reason() -> None:
    others = {kind.__name__.removesuffix("Op") for kind in GRAPH_LEVEL if kind not in BY_EQUATION}

    listed = [name for names in MORE_THAN_ONE_DEFINITION.values() for name in names]
    assert sorted(listed) == sorted(others)


PREFERRED = (
    *("LowerConv lowers ConvOp", "LowerMatMul lowers MatMulOp"),
    *("LowerBatchMatMul lowers BatchMatMulOp", "LowerMaxPool lowers MaxPoolOp"),
    *("LowerAvgPool lowers AvgPoolOp", "LowerAdAvgPool lowers AdAvgPoolOp"),
    *("LowerAdMaxPool lowers AdMaxPoolOp", "LowerAttention lowers AttentionOp"),
    *("LowerIdentity lowers IdentityOp", "LowerReshape lowers FlattenOp"),
    *("LowerReshape lowers ReshapeOp", "LowerTranspose lowers TransposeOp"),
    *("LowerTile lowers TileOp", "LowerSlice lowers SliceOp", "LowerPad lowers PadOp"),
)
"""Lowerings to named ops of linalg, which are no second meaning: their kernels are known,
or they are views."""


def test_what_an_equation_says_is_said_nowhere_else() -> None:
    computing = {"evaluate_all", "evaluate", "flops"}
    overridden = [
        f"{kind.__name__}.{name}"
        for kind in BY_EQUATION
        for base in kind.__mro__
        if issubclass(base, EquationOp) and base not in (EquationOp, DefinedOp, ElementwiseOp)
        for name in computing & set(vars(base))
    ]
    named = [
        f"{pattern.__name__} lowers {kind.__name__}"
        for pattern in LowerToLinalg.patterns
        for kind in ops_of(pattern)
        if kind in BY_EQUATION
    ]
    exact = [kind.__name__ for kind in BY_EQUATION if kind in ExactFromIntegers.op_types()]

    assert overridden + exact == []
    assert sorted(named) == sorted(PREFERRED)


def test_parameters_of_zero_keep_their_sign() -> None:
    x = np.array([-3.0], np.float32)
    operand = value(f32, 1)

    products = [float(LeakyReluOp(operand, alpha=alpha).evaluate(x)[0]) for alpha in (0.0, -0.0)]

    assert [math.copysign(1, each) for each in products] == [-1, 1]


# Functions of equations, against NumPy.


def test_integers_modulo_or_over_zero_are_zero() -> None:
    body = read_body(Code.of_text("q[n] = x[n] // y[n]; r[n] = x[n] % y[n]", "equations"))
    meaning = body.instance(dict.fromkeys("xy", Type((4,), i32)), {})
    x, y = np.array([7, -7, 0, -(2**31)], np.int32), np.array([0, 0, 0, -1], np.int32)

    quotient, rest = evaluate(meaning, {"x": x, "y": y})

    np.testing.assert_array_equal(quotient, [0, 0, 0, -(2**31)])
    np.testing.assert_array_equal(rest, [0, 0, 0, 0])


def test_numbers_of_an_equation_are_computed_once_in_double_precision() -> None:
    meaning = of_elements("y[...] = x[...] * sqrt(2 / pi)", (f64,), ())

    (found,) = evaluate_elements(meaning, [np.ones(1)])

    assert found == math.sqrt(2 / math.pi)
