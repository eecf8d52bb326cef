"""Expressions of index notation as scalar ops in the body of a structured op.

Indices and sizes are of type index, numbers that adapt to what they meet of the float type of the
inputs; elements have the type that they are computed in (f32 for f16).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, i1, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.open_size import OpenSize, UnknownSize
from gawee_dialect.dialect.types import computed_type, is_signed_number, tensor_shape
from gawee_dialect.equations.element_types import CONVERTS, ExpressionType, Typing, Weak
from gawee_dialect.equations.functions import OPERATORS, PREFIXES, Numbers, ScalarError, function_of
from gawee_dialect.equations.instance import Equation, Instance
from gawee_dialect.equations.syntax import (
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
    accesses,
    is_free,
    operands,
    small_power,
)
from gawee_dialect.passes.graph.lower_to_linalg.conversions import converted, opened
from gawee_dialect.passes.graph.lower_to_linalg.scalar_functions import BINARY, UNARY
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars

INDEX = IndexType()


@dataclass(frozen=True)
class Context:
    """An equation that is lowered: the tensors of its names, and indices that have one value."""

    instance: Instance
    equation: Equation
    tensors: Mapping[str, SSAValue]
    fixed: Mapping[str, int]

    @cached_property
    def numbers(self) -> Numbers:
        """What numbers expressions stand for."""
        numbers = self.instance.numbers(self.equation)
        return Numbers(numbers.code, numbers.parameters, numbers.size, self.fixed)

    @cached_property
    def indices(self) -> set[str]:
        """The indices that have more than one value here."""
        return set(self.equation.extents) - set(self.fixed)

    def type(self, node: Expression) -> ExpressionType:
        """Return the type of an expression."""
        return self.instance.typing.of(node)


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
    as_stored: bool = False
    """Whether elements are computed in the type that they are stored in."""

    written: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Elements and constants that are in the body already."""

    def computed(self, type: ExpressionType) -> Attribute:
        """Return the type that scalars of a type have in this body."""
        if type is Weak.INT:
            return INDEX
        strong = self.context.instance.typing.strong(type)
        return strong if self.as_stored else computed_type(strong)

    # Types.

    def converted(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Convert a scalar to a type that scalars have in bodies, or are stored in."""
        if value.type == type:
            return value
        if value.type == INDEX:
            exact = is_signed_number(type) and not isinstance(type, AnyFloat)
            value = self.scalars.emit(arith.IndexCastOp(value, type if exact else i64))
        if type == INDEX:
            wide = converted(self.scalars, value, i64)
            return self.scalars.emit(arith.IndexCastOp(wide, INDEX))
        return converted(self.scalars, value, type)

    def cast(self, node: Expression, type: ExpressionType) -> SSAValue:
        """Write an expression, converted to a type."""
        target = self.computed(type)
        number = self.number(node)
        if number is not None and target != i1:
            whole = not isinstance(target, AnyFloat)
            if not isinstance(number, OpenSize):
                number = int(number) if whole else float(number)
            return self.constant(number, target)
        return self.converted(self.value(node), target)

    def number(self, node: Expression) -> bool | int | float | None:
        """Return the number that an expression is; None where it is computed."""
        if not is_free(node, self.context.indices):
            return None
        try:
            return self.context.numbers.value(node)
        except (ScalarError, UnknownSize):
            return None  # a function of numbers that is computed when it runs

    def constant(self, number: float, type: Attribute) -> SSAValue:
        """Write a constant, if it is a new one; 0.0 and -0.0 are two."""
        return self.once((repr(number), type), lambda: self.scalars.constant(number, type))

    def once(self, key: tuple[object, ...], write: Callable[[], SSAValue]) -> SSAValue:
        if key not in self.written:
            self.written[key] = write()
        return self.written[key]

    # Expressions.

    def value(self, node: Expression) -> SSAValue:
        """Write an expression; returns its value in the type that it is computed in."""
        if isinstance(node, Access | Reduction):
            return self.read(node)
        number = self.number(node)
        if number is not None:
            return self.constant(number, self.computed(self.context.type(node)))
        match node:
            case Name():
                return self.scalars.position(self.loops.index(node.name))
            case Unary():
                return UNARY[node.operator](self.scalars, self.value(node.operand))
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
        type = self.context.instance.typing.computed(node)
        lhs = self.cast(node.lhs, type)
        power = small_power(node)
        if power is not None:
            return reduce(self.scalars.multiply, [lhs] * power)
        return BINARY[node.operator](self.scalars, lhs, self.cast(node.rhs, type))

    def call(self, node: Call) -> SSAValue:
        if node.function in CONVERTS:
            type = self.context.type(node)
            strong = self.context.instance.typing.strong(type)
            stored = self.converted(self.value(node.arguments[0]), strong)
            return self.converted(stored, self.computed(type))
        type = self.context.instance.typing.computed(node)
        values = [self.cast(each, type) for each in node.arguments]
        if len(values) == 2:
            return BINARY[node.function](self.scalars, *values)
        return UNARY[node.function](self.scalars, *values)

    # Elements.

    def read(self, node: Access | Reduction) -> SSAValue:
        read = self.reads[id(node)]
        if isinstance(read, Operand):
            value = self.arguments[read.argument]
            if self.as_stored:
                return value
            return self.once((read.argument,), lambda: opened(self.scalars, value))
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


def is_as_stored(node: Expression, typing: Typing) -> bool:
    """Whether computing elements as they are stored gives what computing them wider does.

    So it is of an element, a choice, a conversion, and one function that is exact in f16.
    """
    if isinstance(node, Access):
        return True
    parts = operands(node)
    if isinstance(node, Conditional) and not accesses(node.condition):
        parts = (node.yes, node.no)
    if not all(isinstance(each, Access | Number) for each in parts):
        return False
    match node:
        case Conditional():
            return True
        case Call() if node.function in CONVERTS:
            return True
        case Unary():
            function = PREFIXES[node.operator]
        case Binary():
            function = OPERATORS[node.operator]
        case Call():
            function = function_of(node.function)
        case _:
            return False
    return function.exact_f16 and isinstance(typing.of(node), AnyFloat)
