"""An operator description: what an operator takes, makes, checks and computes, as data.

The fields are those of the format, with the place of everything that an error may be about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerType, Signedness, f32, f64, i1, i8, i16, i32
from xdsl.ir import Attribute

from gawee_dialect.located_json import Code
from gawee_dialect.source import Place

# The constants of the format, which descriptions name and C expressions compare with.


DEFAULT_DIALECT = "lightnet"

ARCHS = ("none", "cpu", "cuda", "cudnn", "tensorrt", "dpu")
MTYPES = ("LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA", "LN_MEM_DPU")
PTYPES = (
    "LN_PARAM_NULL",
    "LN_PARAM_STRING",
    "LN_PARAM_NUMBER",
    "LN_PARAM_BOOL",
    "LN_PARAM_ARRAY_STRING",
    "LN_PARAM_ARRAY_NUMBER",
    "LN_PARAM_ARRAY_BOOL",
)
REALTYPES = ("float", "double", "int")

DTYPES: Mapping[str, Attribute] = MappingProxyType(
    {
        "TL_DOUBLE": f64,
        "TL_FLOAT": f32,
        "TL_INT32": i32,
        "TL_INT16": i16,
        "TL_INT8": i8,
        "TL_UINT32": IntegerType(32, Signedness.UNSIGNED),
        "TL_UINT16": IntegerType(16, Signedness.UNSIGNED),
        "TL_UINT8": IntegerType(8, Signedness.UNSIGNED),
        "TL_BOOL": i1,
    }
)
"""Element types by the name of their constant, whose value is its position."""

ELEW_OPS = ("TL_MUL", "TL_DIV", "TL_SUM", "TL_SUB", "TL_MAX", "TL_MIN", "TL_POW")
RESIZE_TYPES = ("TL_NEAREST", "TL_LINEAR")
SORT_DIRS = ("TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING")

FROM_FUNCS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tl_dtype_from_str": tuple(DTYPES),
        "tl_elew_op_from_str": ELEW_OPS,
        "tl_resize_type_from_str": RESIZE_TYPES,
        "tl_sort_dir_from_str": SORT_DIRS,
    }
)
"""Functions from the name of a constant to its value, and the constants that each has."""

CONSTANTS: Mapping[str, int] = MappingProxyType(
    {
        name: value
        for names in (MTYPES, PTYPES, *FROM_FUNCS.values())
        for value, name in enumerate(names)
    }
)
"""Every enum constant and its value."""

UNKNOWN = -1
"""What a function of `FROM_FUNCS` returns for an unknown text."""


def from_text(function: str, text: str) -> int:
    """Return the value of the constant that a text names, -1 for none."""
    names = FROM_FUNCS[function]
    return names.index(text) if text in names else UNKNOWN


def dtype_name(element: Attribute) -> str | None:
    """Return the constant of an element type, None where there is none."""
    return next((name for name, known in DTYPES.items() if known == element), None)


@dataclass(frozen=True)
class Named:
    """The name of something that is defined elsewhere: an enum constant, another argument."""

    text: str
    place: Place = field(repr=False, compare=False)


@dataclass(frozen=True)
class TensorIn:
    """An input: what is checked of the tensor that an invocation gives for it."""

    arg_name: str
    place: Place = field(repr=False, compare=False)
    mtype: Named
    ndim: Code | None = None
    len: Code | None = None
    dtype: Named | None = None
    sametype: Named | None = None
    sameshape: Named | None = None
    static: bool | None = None
    check: Code | None = None
    checks: Sequence[Code] = ()
    custom: Code | None = None


@dataclass(frozen=True)
class TensorOut:
    """An output: its rank, shape and dtype; `dims` may be one expression or one a dimension.

    `owner` is the tensor whose memory it shares.
    """

    arg_name: str
    place: Place = field(repr=False, compare=False)
    mtype: Named
    ndim: Code | None = None
    dims: Code | Sequence[Code] | None = None
    dtype: Code | None = None
    owner: Code | None = None
    static: bool = False
    custom: Code | None = None
    cleanup: Code | None = None


@dataclass(frozen=True)
class Bound:
    """One of `eq`, `gt`, `ge`, `lt`, `le`, `ne`: the value compares so with the expression's."""

    relation: str
    code: Code


@dataclass(frozen=True)
class Param:
    """A parameter: the kind of value that an invocation gives, and what is checked of it.

    `ptype` is `LN_PARAM_NUMBER` and the like; `realtype` the C type of the value, which
    `from_func` makes of a string.
    """

    arg_name: str
    place: Place = field(repr=False, compare=False)
    ptype: Named
    realtype: Named | None = None
    from_func: Named | None = None
    len: Code | None = None
    bounds: Sequence[Bound] = ()
    check: Code | None = None
    checks: Sequence[Code] = ()
    custom: Code | None = None

    @property
    def is_array(self) -> bool:
        """Whether the value is an array."""
        return self.ptype.text.startswith("LN_PARAM_ARRAY_")

    @property
    def kind(self) -> str:
        """What one element is: `NULL`, `STRING`, `NUMBER` or `BOOL`."""
        return self.ptype.text.removeprefix("LN_PARAM_").removeprefix("ARRAY_")


@dataclass(frozen=True)
class ExtraPrivate:
    """A field that the operator's private data has besides its arguments."""

    type: str
    name: str


@dataclass(frozen=True)
class Operator:
    """A whole description; the bodies of its life cycle are text that is handed on.

    `body` is the operator's meaning in index notation, `mlir` in MLIR, where it has one.
    """

    optype: str
    place: Place = field(repr=False, compare=False)
    author: str
    arch: str
    tensors_in: Sequence[TensorIn] = ()
    tensors_out: Sequence[TensorOut] = ()
    params: Sequence[Param] = ()
    autogen: bool = True
    extra_privs: Sequence[ExtraPrivate] = ()
    checks: Sequence[Code] = ()
    custom: Code | None = None
    static_run: Code | None = None
    run: Code | None = None
    post_run: Code | None = None
    calc_offset: Code | None = None
    body: Code | None = None
    mlir: Code | None = None
    doc: str | None = None

    def arg_names(self) -> Iterator[str]:
        """Yield the names of inputs, outputs and parameters."""
        for argument in (*self.tensors_in, *self.tensors_out, *self.params):
            yield argument.arg_name


# One use of an operator: which tensors it gets and makes, and the values of its parameters.


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
