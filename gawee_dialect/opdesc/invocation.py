"""One use of an operator: which tensors it gets and makes, and the values of its parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.ir import Attribute

from gawee_dialect.opdesc.enums import dtype_name

Scalar: TypeAlias = bool | int | float | str
ParamValue: TypeAlias = Scalar | tuple[Scalar, ...] | None
"""What an invocation may give for a parameter; an array holds one kind of value."""


@dataclass(frozen=True)
class Tensor:
    """An entry of the tensor table; what is None is not known, and then not checked."""

    name: str
    element: Attribute
    shape: tuple[int, ...]
    mtype: str | None = None
    static: bool | None = None
    owner: str | None = None
    creator: str | None = None

    @property
    def dtype(self) -> str:
        """The constant of the element type, or the type where there is none."""
        return dtype_name(self.element) or str(self.element)

    @property
    def len(self) -> int:
        """How many elements the tensor has."""
        return prod(self.shape)


@dataclass(frozen=True)
class Argument:
    """The tensor that an invocation gives for an argument."""

    arg_name: str
    name: str


@dataclass(frozen=True)
class Invocation:
    """An operator's name and arguments; the order of arguments is free."""

    name: str
    optype: str
    tensors_in: Sequence[Argument] = ()
    tensors_out: Sequence[Argument] = ()
    params: Mapping[str, ParamValue] = field(default_factory=dict[str, ParamValue])


class CheckFailure(Exception):
    """The first check of an operator that an invocation fails.

    `kind` is the format's name of the check: `tensor_ndim`, `param_int_ge` and the like.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint


def ptype_of(value: ParamValue) -> str:
    """Return the kind of a value: `LN_PARAM_NUMBER` and the like."""
    if isinstance(value, tuple):
        kinds = {ptype_of(element) for element in value}
        if len(kinds) != 1:
            return "an empty array" if not kinds else "a mixed array"
        return kinds.pop().replace("LN_PARAM_", "LN_PARAM_ARRAY_")
    if isinstance(value, bool):
        return "LN_PARAM_BOOL"
    if isinstance(value, int | float):
        return "LN_PARAM_NUMBER"
    return "LN_PARAM_NULL" if value is None else "LN_PARAM_STRING"
