"""What every op of the dialect shares: one shape rule that its constructor and verifier both use."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OpResult,
    OptOperandDef,
    ParsePropInAttrDict,
    VarOperandDef,
)
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import AnyTensor, require_static, shape_text, tensor_type


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


class GaweeOp(InferredOp, ABC):
    """An op with one result; its shape rule is a static method `result_type`."""

    @abstractmethod
    def inferred_type(self) -> AnyTensor:
        """Apply the op's shape rule to its own operands and properties."""

    def inferred_types(self) -> Sequence[AnyTensor]:
        return (self.inferred_type(),)

    @property
    def output(self) -> OpResult:
        """The one result."""
        return self.results[0]


class CountedOp(IRDLOperation, ABC):
    """An op of a user's own that says itself how much arithmetic it is."""

    @abstractmethod
    def flops(self) -> int:
        """Count two for a multiply-add, one for any other arithmetic on an element."""


def optional_tensor_type(value: SSAValue | None) -> AnyTensor | None:
    """Return the type of an optional tensor operand, None where it is absent."""
    return None if value is None else tensor_type(value)


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


def quick_operands(kind: type[AnyOp]) -> type[AnyOp]:
    """Let an op class with segments as a property find its operands by sizes that are known."""
    for number, (name, definition) in enumerate(kind.get_irdl_definition().operands):
        several = isinstance(definition, VarOperandDef) and not isinstance(
            definition, OptOperandDef
        )
        setattr(kind, name, (_Group if several else _Single)(number))
    return kind
