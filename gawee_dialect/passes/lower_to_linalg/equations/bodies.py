"""Expressions of index notation as scalar ops in the body of a structured op.

Indices and sizes are of type index, numbers that adapt to what they meet of the float type of the
inputs; elements have the type that they are computed in (f32 for f16).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IndexType, i1, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.equations.element_types import CONVERTS, ExpressionType, Weak
from gawee_dialect.equations.instance import Equation, Instance
from gawee_dialect.equations.scalars import Numbers, ScalarError
from gawee_dialect.equations.syntax import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Conditional,
    Expression,
    Name,
    Number,
    Reduction,
    Unary,
    Wildcard,
    is_free,
    operands,
)
from gawee_dialect.passes.lower_to_linalg.arithmetic import (
    absolute,
    floor_divide,
    floored_remainder,
    raised,
    sign,
)
from gawee_dialect.passes.lower_to_linalg.conversions import computed_type, converted, opened
from gawee_dialect.passes.lower_to_linalg.scalars import FloatFunction, Scalars

INDEX = IndexType()

SMALL_POWER = 8
"""Up to here a power is a product."""


@dataclass(frozen=True)
class Context:
    """An equation that is lowered: the tensors of its names, and indices that have one value."""

    instance: Instance
    equation: Equation
    tensors: Mapping[str, SSAValue]
    fixed: Mapping[str, int]

    @property
    def numbers(self) -> Numbers:
        """What numbers expressions stand for."""
        numbers = self.instance.numbers(self.equation)
        return Numbers(numbers.code, numbers.parameters, numbers.size, self.fixed)

    @property
    def indices(self) -> set[str]:
        """The indices that have more than one value here."""
        return set(self.equation.extents) - set(self.fixed)

    def type(self, node: Expression) -> ExpressionType:
        """Return the type of an expression."""
        return self.instance.typing.of(node)

    def computed(self, type: ExpressionType) -> Attribute:
        """Return the type that scalars of a type have in bodies."""
        return INDEX if type is Weak.INT else computed_type(self.instance.typing.strong(type))


@dataclass(frozen=True)
class Computed:
    """An access whose place in a tensor is computed in the body."""

    tensor: SSAValue


@dataclass(frozen=True)
class Operand:
    """What a body has as an argument; `guarded` where points outside of the tensor read padding."""

    argument: int
    guarded: bool = False


@dataclass(frozen=True)
class Body:
    """Writes the scalar ops of an expression; `reads` are its accesses and inner reductions."""

    context: Context
    scalars: Scalars
    loops: Sequence[str]
    arguments: Sequence[SSAValue]
    reads: Mapping[int, Operand | Computed]

    # Types.

    def converted(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Convert a scalar to a type that scalars have in bodies, or are stored in."""
        if value.type == type:
            return value
        if value.type == INDEX:
            value = self.scalars.emit(arith.IndexCastOp(value, i64))
        if type == INDEX:
            wide = converted(self.scalars, value, i64)
            return self.scalars.emit(arith.IndexCastOp(wide, INDEX))
        return converted(self.scalars, value, type)

    def cast(self, node: Expression, type: ExpressionType) -> SSAValue:
        """Write an expression, converted to a type."""
        target = self.context.computed(type)
        number = self.number(node)
        if number is not None and target != i1:
            whole = not isinstance(target, AnyFloat)
            return self.scalars.constant(int(number) if whole else float(number), target)
        return self.converted(self.value(node), target)

    def number(self, node: Expression) -> bool | int | float | None:
        """Return the number that an expression is; None where it is computed."""
        if not is_free(node, self.context.indices):
            return None
        try:
            return self.context.numbers.value(node)
        except ScalarError:
            return None  # a function of numbers that is computed when it runs

    # Expressions.

    def value(self, node: Expression) -> SSAValue:
        """Write an expression; returns its value in the type that it is computed in."""
        number = self.number(node)
        if number is not None:
            return self.scalars.constant(number, self.context.computed(self.context.type(node)))
        match node:
            case Name():
                return self.scalars.position(self.loops.index(node.name))
            case Access() | Reduction():
                return self.read(node)
            case Unary(operator="-"):
                return self.scalars.negate(self.value(node.operand))
            case Unary():
                yes = self.scalars.constant(1, i1)
                return self.scalars.different(self.value(node.operand), yes)
            case Conditional():
                type = self.context.type(node)
                parts = self.cast(node.yes, type), self.cast(node.no, type)
                return self.scalars.select(self.value(node.condition), *parts)
            case Binary():
                return self.binary(node)
            case _:
                assert isinstance(node, Call)  # numbers are known
                return self.call(node)

    def binary(self, node: Binary) -> SSAValue:
        if node.operator in ("&&", "||"):
            combine = Scalars.both if node.operator == "&&" else Scalars.either
            return combine(self.scalars, self.value(node.lhs), self.value(node.rhs))
        type = self.context.type(node)
        if node.operator in COMPARISONS:
            common = self.context.instance.typing.common(node, node.lhs, node.rhs)
            lhs, rhs = self.cast(node.lhs, common), self.cast(node.rhs, common)
            return self.scalars.compare(_PREDICATES[node.operator], lhs, rhs)
        lhs = self.cast(node.lhs, type)
        if node.operator == "**" and isinstance(node.rhs, Number):
            power = node.rhs.value
            if isinstance(power, int) and 1 <= power <= SMALL_POWER:
                return reduce(self.scalars.multiply, [lhs] * power)
        return _BINARY[node.operator](self.scalars, lhs, self.cast(node.rhs, type))

    def call(self, node: Call) -> SSAValue:
        type = self.context.type(node)
        if node.function in CONVERTS:
            strong = self.context.instance.typing.strong(type)
            stored = self.converted(self.value(node.arguments[0]), strong)
            return self.converted(stored, self.context.computed(type))
        values = [self.cast(each, type) for each in node.arguments]
        if len(values) == 2:
            combine = Scalars.maximum if node.function == "max" else Scalars.minimum
            return combine(self.scalars, *values)
        return _CALLS[node.function](self.scalars, values[0])

    # Elements.

    def read(self, node: Access | Reduction) -> SSAValue:
        read = self.reads[id(node)]
        if isinstance(read, Operand):
            return opened(self.scalars, self.arguments[read.argument])
        assert isinstance(node, Access)  # reductions are tensors
        places, inside = self.places(node)
        kept = [
            self.kept_within(place, size)
            for place, size in zip(places, tensor_shape(read.tensor), strict=True)
        ]
        found = opened(self.scalars, self.scalars.element(read.tensor, kept))
        if inside is None:
            return found
        otherwise = self.scalars.constant(0, found.type)
        if node.otherwise is not None:
            otherwise = self.cast(node.otherwise, self.context.type(node))
        return self.scalars.select(inside, found, otherwise)

    def places(self, node: Access) -> tuple[list[SSAValue], SSAValue | None]:
        """Write where an access is, and whether that is inside of its tensor."""
        subscripts = [each for each in node.subscripts if not isinstance(each, Wildcard)]
        places = [self.converted(self.value(each), INDEX) for each in subscripts]
        shape = self.context.instance.tensors[node.tensor].shape
        conditions: list[SSAValue] = []
        for place, size in zip(places, shape, strict=True):
            conditions.append(self.scalars.compare("ge", place, self.scalars.index(0)))
            conditions.append(self.scalars.compare("lt", place, self.scalars.index(size)))
        return places, self.all(conditions)

    def kept_within(self, place: SSAValue, size: int) -> SSAValue:
        low = self.scalars.maximum(place, self.scalars.index(0))
        return self.scalars.minimum(low, self.scalars.index(size - 1))

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Write whether all conditions hold; None where there are none."""
        return reduce(self.scalars.both, conditions) if conditions else None

    def inside(self, node: Expression) -> SSAValue | None:
        """Write whether an expression reads inside of tensors; None where it always does.

        What reads a neutral number there needs no such condition.
        """
        match node:
            case Reduction():
                return None
            case Access() if node.otherwise is not None:
                return None
            case Access():
                read = self.reads[id(node)]
                nested = [self.inside(e) for e in node.subscripts if not isinstance(e, Wildcard)]
                if isinstance(read, Computed) or read.guarded:
                    nested.append(self.places(node)[1])
                return self.all([each for each in nested if each is not None])
            case Conditional():
                return self.inside_choice(node)
            case _:
                parts = [self.inside(each) for each in operands(node)]
                return self.all([each for each in parts if each is not None])

    def inside_choice(self, node: Conditional) -> SSAValue | None:
        branches = [self.inside(each) for each in (node.yes, node.no)]
        condition = self.inside(node.condition)
        if branches == [None, None]:
            return condition
        yes = self.scalars.constant(1, i1)
        chosen = self.scalars.select(
            self.value(node.condition), *(yes if each is None else each for each in branches)
        )
        return chosen if condition is None else self.scalars.both(chosen, condition)


_PREDICATES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

_BINARY: Mapping[str, Callable[[Scalars, SSAValue, SSAValue], SSAValue]] = {
    "+": Scalars.add,
    "-": Scalars.subtract,
    "*": Scalars.multiply,
    "/": Scalars.divide,
    "//": floor_divide,
    "%": floored_remainder,
    "**": raised,
}


def _function(apply: type[FloatFunction]) -> Callable[[Scalars, SSAValue], SSAValue]:
    return lambda scalars, value: scalars.apply(apply, value)


def _sigmoid(scalars: Scalars, value: SSAValue) -> SSAValue:
    one = scalars.constant(1, value.type)
    power = scalars.exponential(scalars.negate(value))
    return scalars.divide(one, scalars.add(one, power))


def _relu(scalars: Scalars, value: SSAValue) -> SSAValue:
    return scalars.maximum(value, scalars.constant(0, value.type))


_CALLS: Mapping[str, Callable[[Scalars, SSAValue], SSAValue]] = {
    "exp": _function(math.ExpOp),
    "log": _function(math.LogOp),
    "log1p": _function(math.Log1pOp),
    "sqrt": _function(math.SqrtOp),
    "rsqrt": _function(math.RsqrtOp),
    "tanh": _function(math.TanhOp),
    "erf": _function(math.ErfOp),
    "sin": _function(math.SinOp),
    "cos": _function(math.CosOp),
    "sigmoid": _sigmoid,
    "relu": _relu,
    "abs": absolute,
    "sign": sign,
    "floor": _function(math.FloorOp),
    "ceil": _function(math.CeilOp),
    "round": _function(math.RoundEvenOp),
}
