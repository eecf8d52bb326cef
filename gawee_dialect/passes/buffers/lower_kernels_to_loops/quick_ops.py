"""The ops that loops of kernels are full of, made without sorting what each constructor is given.

xDSL's constructors look up how an op is put together; here it is known: no operand is optional, and
flags are those that an op has where none are said.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation

from gawee_dialect.hints import isa


@cache
def _default_properties(kind: type[IRDLOperation]) -> Mapping[str, Attribute]:
    properties = kind.get_irdl_definition().properties.items()
    return {name: each.default_value for name, each in properties if each.default_value is not None}


def arithmetic(builder: Builder, kind: type[IRDLOperation], *operands: SSAValue) -> SSAValue:
    """Insert an op on values of one type, which is the type of its result."""
    made = kind.create(
        operands=operands,
        result_types=(operands[0].type,),
        properties=dict(_default_properties(kind)),
    )
    return builder.insert(made).results[0]


def load_element(builder: Builder, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    """Insert a load of an element."""
    assert isa(buffer.type, MemRefType[Attribute])
    element = buffer.type.element_type
    made = memref.LoadOp.create(operands=(buffer, *indices), result_types=(element,))
    return builder.insert(made).results[0]


def counted_loop(
    builder: Builder, lower: SSAValue, upper: SSAValue, step: SSAValue, body: Region
) -> scf.ForOp:
    """Insert a loop that carries nothing."""
    return builder.insert(scf.ForOp.create(operands=(lower, upper, step), regions=(body,)))


def end_iteration(builder: Builder) -> None:
    """Insert the end of the body of a loop that carries nothing."""
    builder.insert(scf.YieldOp.create())
