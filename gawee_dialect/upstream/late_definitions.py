"""Ops that are defined at their first use, not where their class is.

What xDSL makes of the fields of a class, constraints and accessors, takes a tenth of all imports;
of most ops a process makes none, and asks nothing. Classes of other packages are defined at once: a
mistake in one is found where it is.
"""

from collections.abc import Callable
from threading import RLock

import xdsl.irdl
from xdsl.ir import Operation, OpTraits
from xdsl.irdl import IRDLOperation, OpDef, operations
from xdsl.irdl.operations import IRDLOperationInvT
from xdsl.parser import Parser

from gawee_dialect.upstream.late_methods import PACKAGES

FORMS = ("parse", "print")
"""Methods that a class has by itself, or by its format."""

_define = operations.irdl_op_definition
_parse_without_format: Callable[[type[Operation], Parser], Operation] = getattr(
    Operation.parse, "__func__"
)

_lock = RLock()


class _LateTraits(OpTraits):
    """Stands in for the traits of a class that is not defined yet."""

    def __init__(self, own: OpTraits | None) -> None:
        super().__init__(tuple if own is None else own.gen_traits)
        self.own = own

    def __get__(self, instance: object, owner: type[IRDLOperation]) -> OpTraits:
        return owner.get_irdl_definition().traits


@classmethod
def _get_definition(cls: type[IRDLOperation]) -> OpDef:
    """Stand in for the method that has the definition, which making an op calls too."""
    _define_with_bases(cls)
    return cls.get_irdl_definition()


@classmethod
def _parse(cls: type[Operation], parser: Parser) -> Operation:
    """Read an op whose class has no method for that, or has none yet."""
    if issubclass(cls, IRDLOperation) and cls.assembly_format is not None:
        if _define_with_bases(cls):
            return cls.parse(parser)
    return _parse_without_format(cls, parser)


def _define_with_bases(cls: type[Operation]) -> bool:
    """Define a class, and what it derives from; return whether some of that was not yet."""
    with _lock:
        late = [
            (kind, traits)
            for kind in reversed(cls.__mro__)
            if issubclass(kind, IRDLOperation)
            and isinstance(traits := vars(kind).get("traits"), _LateTraits)
        ]
        for kind, traits in late:
            _define_now(kind, traits)
    return bool(late)


def _define_now(kind: type[IRDLOperation], late: _LateTraits) -> None:
    """Define a class; another thread that asks it meanwhile waits, or gets what it will get."""
    # What reads and writes a text was set after the class was decorated, and stays.
    with_format = kind.assembly_format is not None
    forms = {name: vars(kind)[name] for name in FORMS if with_format and name in vars(kind)}
    for name in forms:
        delattr(kind, name)
    _define(kind)
    definition = kind.get_irdl_definition()
    if definition.traits is late:
        definition.traits = OpTraits(tuple) if late.own is None else late.own
    kind.traits = definition.traits
    for name, form in forms.items():
        setattr(kind, name, form)


def _define_late(cls: type[IRDLOperationInvT]) -> type[IRDLOperationInvT]:
    if cls.__module__.partition(".")[0] not in PACKAGES:
        _define_with_bases(cls)
        return _define(cls)
    own = vars(cls).get("traits")
    setattr(cls, "traits", _LateTraits(own if isinstance(own, OpTraits) else None))
    setattr(cls, "get_irdl_definition", _get_definition)
    return cls


def define_ops_late() -> None:
    """Have xDSL define ops at their first use, those whose classes are made from now on."""
    xdsl.irdl.irdl_op_definition = operations.irdl_op_definition = _define_late
    setattr(Operation, "parse", _parse)
