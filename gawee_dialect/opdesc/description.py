"""An operator description: what an operator takes, makes, checks and computes, as data.

The fields are those of the format, with the place of everything that an error may be about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gawee_dialect.easy_json import Code
from gawee_dialect.source import Place


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
