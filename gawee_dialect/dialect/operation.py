"""What every op of the dialect shares: one shape rule that its constructor and verifier both use."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from inspect import signature
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    OpResult,
    OptOperandDef,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    VarOperandDef,
)
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.open_size import is_open, number_of
from gawee_dialect.dialect.size_list import SizesAttr, size_list
from gawee_dialect.dialect.types import AnyTensor, require_static, shape_text, tensor_type
from gawee_dialect.hints import isa


class InferredOp(IRDLOperation, ABC):
    """An op whose results are tensors with types that follow from operands and properties.

    All shapes are static. A subclass states the rule once, in a static method `shape_rule` on types
    and attributes that raises VerifyException where a constraint is broken. Its constructor calls the rule to make the results; `inferred_types` calls it on an
    existing op, for the verifier and for shape inference.
    """

    irdl_options = (ParsePropInAttrDict(),)

    @abstractmethod
    def inferred_types(self) -> Sequence[AnyTensor]:
        """Apply the op's shape rule to its own operands and properties; one type a result."""

    def verify_(self) -> None:
        for index, operand in enumerate(self.operands):
            require_static(f"operand #{index}", operand.type)
        for inferred, result in zip(self.inferred_types(), self.results, strict=True):
            declared = tensor_type(result)
            if inferred != declared:  # written out: the message prints two types
                sizes = inferred.get_shape()
                of_sizes = f" of sizes {shape_text(sizes)}" if is_open(sizes) else ""
                raise VerifyException(
                    f"expected result type '{inferred}'{of_sizes}, got '{declared}'"
                )


Value: TypeAlias = Attribute | Sequence[int] | str | float | None
"""A property as constructors take it; one that is there or not is a bool."""

Field: TypeAlias = SSAValue | Sequence[SSAValue] | Value
"""An operand or a property, as an op holds it or as its constructor takes it."""


class GaweeOp(InferredOp, ABC):
    """An op with one result; its shape rule is a static method or class method `result_type`.

    The rule's parameters have the names of those operands, whose types it gets, and of those
    properties, whose values it gets, that the result depends on. What a class does not have keeps
    the rule's default.
    """

    def define(
        self, operands: Sequence[SSAValue | Sequence[SSAValue] | None], **properties: Value
    ) -> None:
        """Make this op; its result has the type that the shape rule says.

        Raises VerifyException where the rule does.
        """
        shape = _shape_rule(type(self))
        given: dict[str, Field] = {**dict(zip(shape.operands, operands, strict=True)), **properties}
        IRDLOperation.__init__(
            self,
            operands=operands,
            properties={
                name: _attribute(value, shape.elements[name]) for name, value in properties.items()
            },
            result_types=[shape.rule(**{name: _seen_by_rule(given[name]) for name in shape.names})],
        )

    def inferred_type(self) -> AnyTensor:
        """Apply the op's shape rule to its own operands and properties."""
        shape = _shape_rule(type(self))
        seen = {name: _seen_by_rule(getattr(self, name)) for name in shape.names}
        for name in shape.flags:
            seen[name] = seen[name] is not None
        return shape.rule(**seen)

    def inferred_types(self) -> Sequence[AnyTensor]:
        return (self.inferred_type(),)

    @property
    def output(self) -> OpResult:
        """The one result."""
        return self.results[0]


def _seen_by_rule(field: Field) -> object:
    """Return what a shape rule gets of an operand or property: its type, or its value."""
    if isinstance(field, SSAValue):
        return tensor_type(field)
    if field is None or isinstance(field, str | float | int):
        return field
    if isinstance(field, DenseArrayBase | SizesAttr):
        return field.get_values()
    if isa(field, IntegerAttr):
        return bool(field.value.data) if field.type == i1 else field.value.data
    if isinstance(field, FloatAttr):
        return field.value.data
    if isinstance(field, Attribute):
        return field.data if isinstance(field, StringAttr) else field
    return [tensor_type(each) if isa(each, SSAValue) else each for each in field]


@dataclass(frozen=True)
class _ShapeRule:
    """The shape rule of a class: its parameters, and those that are there or not."""

    rule: Callable[..., AnyTensor]
    names: Sequence[str]
    flags: Sequence[str]
    operands: Sequence[str]
    """Of the class, in their order."""
    elements: Mapping[str, Attribute | None]
    """The type of the number, or of those of the array, that each property is, where it is one."""


@cache
def _shape_rule(kind: type[GaweeOp]) -> _ShapeRule:
    rule: Callable[..., AnyTensor] = getattr(kind, "result_type")
    definition = kind.get_irdl_definition()
    operands = [name for name, _ in definition.operands]
    constraints = {name: each.constr for name, each in definition.properties.items()}
    flags = [name for name, each in constraints.items() if each == BaseAttr(UnitAttr)]
    names = [name for name in signature(rule).parameters if name in (*operands, *constraints)]
    elements = {name: _element(each) for name, each in constraints.items()}
    return _ShapeRule(rule, names, [name for name in flags if name in names], operands, elements)


@lru_cache(maxsize=4096)
def integers(type: IntegerType, values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """Return an array, each made once."""
    return DenseArrayBase.from_list(type, values)


def _element(constraint: AttrConstraint) -> Attribute | None:
    if not isinstance(constraint, ParamAttrConstraint):
        return None
    types = (each.attr for each in constraint.param_constrs if isinstance(each, EqAttrConstraint))
    return next(types, None)


def _attribute(value: Value, element: Attribute | None) -> Attribute | None:
    """Return the attribute of a property that has a value, of an element type."""
    if value is None or isinstance(value, Attribute):
        return value
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, Sequence):
        if element is None:
            return size_list(value)
        return integers(i64, tuple([number_of(each) for each in value]))
    if element is None:
        return UnitAttr() if value else None
    if element == f64:
        return FloatAttr(value, f64)
    return IntegerAttr(int(value), i1 if element == i1 else i64)


class CountedOp(IRDLOperation, ABC):
    """An op of a user's own that says itself how much arithmetic it is."""

    @abstractmethod
    def flops(self) -> int:
        """Count two for a multiply-add, one for any other arithmetic on an element."""


# Ops that no pass may change: marked with the discardable attribute `gawee.keep`.
#
#     %y = linalg.generic {...} {gawee.keep} ...
#
# `form-kernels` neither makes a kernel of such an op nor fuses anything with it: it becomes the
# plain loops that linalg says. What a pass makes of a marked op is marked too.

KEEP = "gawee.keep"
KEPT = f"it is marked '{KEEP}'"
"""The reason for which a pattern declines such an op."""


def is_kept(*ops: Operation) -> bool:
    """Whether any of some ops is to be left alone."""
    return any(KEEP in op.attributes for op in ops)


def hand_on_mark(source: Operation, op: Operation) -> None:
    """Mark what was made for a marked op."""
    if is_kept(source):
        op.attributes[KEEP] = source.attributes[KEEP]


# Operands of ops that have several groups of them, found without reading the sizes each time.

AnyOp = TypeVar("AnyOp", bound=IRDLOperation)


@lru_cache(maxsize=1024)
def _starts(sizes: bytes) -> tuple[int, ...]:
    """Return where each group begins, and last where all end; `sizes` are an array of i32."""
    starts = [0]
    for (size,) in struct.iter_unpack("<i", sizes):
        starts.append(starts[-1] + size)
    return tuple(starts)


def set_groups(op: Operation, groups: Sequence[Sequence[SSAValue]]) -> None:
    """Give an op other operands, by the groups that its definition has."""
    op.operands = [value for group in groups for value in group]
    sizes = DenseArrayBase.from_list(i32, [len(group) for group in groups])
    op.properties[AttrSizedOperandSegments.attribute_name] = sizes


class _Group:
    """The operands of one name: those of xDSL's accessor, which reads the sizes each time."""

    def __init__(self, number: int):
        self.number = number

    def __get__(self, op: Operation, kind: object = None) -> SSAValue | Sequence[SSAValue] | None:
        sizes = op.properties[AttrSizedOperandSegments.attribute_name]
        assert isinstance(sizes, DenseArrayBase)
        starts = _starts(sizes.data.data)
        return self.taken(op, starts[self.number], starts[self.number + 1])

    def __set__(self, op: Operation, value: object) -> None:
        raise NotImplementedError("operands are changed by their place: `op.operands[0] = value`")

    def taken(self, op: Operation, start: int, end: int) -> SSAValue | Sequence[SSAValue] | None:
        """Return the operands from one place to another; all of them are not copied."""
        values = op._operands  # pyright: ignore[reportPrivateUsage]
        return values if end - start == len(values) else values[start:end]


class _Single(_Group):
    """An operand that is there once, or not at all."""

    def taken(self, op: Operation, start: int, end: int) -> SSAValue | None:
        return op._operands[start] if start < end else None  # pyright: ignore[reportPrivateUsage]


class _Region:
    """A region of an op that has a fixed number of them."""

    def __init__(self, number: int):
        self.number = number

    def __get__(self, op: Operation, kind: object = None) -> Region:
        return op.regions[self.number]


class _Result:
    """The only result of an op, which it may be without."""

    def __get__(self, op: Operation, kind: object = None) -> SSAValue | None:
        for result in op.results:  # by its number it is a call of Python's
            return result
        return None


def quick_operands(kind: type[AnyOp]) -> type[AnyOp]:
    """Let an op class with segments as a property find its operands by sizes that are known.

    So are its one result and its regions.
    """
    definition = kind.get_irdl_definition()
    for number, (name, _) in enumerate(definition.regions):
        setattr(kind, name, _Region(number))
    for name, _ in definition.results:
        setattr(kind, name, _Result())
    for number, (name, operand) in enumerate(definition.operands):
        several = isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef)
        setattr(kind, name, (_Group if several else _Single)(number))
    return kind
