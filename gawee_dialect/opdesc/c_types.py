"""The types that C expressions have before they are evaluated."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gawee_dialect.opdesc.c_parse import constant, written_type
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    UINT,
    ULONG,
    Arithmetic,
    CType,
    EvaluationError,
    PointerType,
    StructType,
    type_of,
)

if TYPE_CHECKING:
    from pycparser import c_ast

_RETURNS: Mapping[str, CType] = {
    "ln_alloc": PointerType(None),
    "ln_sprint_shape": STRING,
    "tl_dtype_min_double": DOUBLE,
    "tl_dtype_max_double": DOUBLE,
    "ceil": DOUBLE,
    "floor": DOUBLE,
    "floorf": FLOAT,
}

Types = dict[str, CType]
"""The variables of a text, and the type of each."""


def constant_type(value: float | str, suffix: str) -> CType:
    """Return the first type that holds a constant; raises EvaluationError beyond long."""
    if isinstance(value, str):
        return STRING
    if isinstance(value, float):
        return FLOAT if suffix == "f" else DOUBLE
    unsigned, long = "u" in suffix, "l" in suffix
    for kind in (INT, UINT, LONG, ULONG):
        if kind.signed != unsigned and (not long or kind.size == LONG.size):
            if value <= kind.highest:
                return kind
    raise EvaluationError("an integer is out of range of long")


def static_type(node: "c_ast.Node", types: Types) -> CType:
    """Return the type of an expression whose names are known."""
    from pycparser import c_ast

    match node:
        case c_ast.Constant():
            known = constant(node.type, node.value)
            assert known is not None  # compiled.py lets nothing else pass
            return constant_type(*known)
        case c_ast.ID():
            return types.get(node.name, INT)  # enum constants are int
        case c_ast.Cast():
            return type_of(written_type(node.to_type))
        case c_ast.CompoundLiteral():
            return type_of(written_type(node.type))
        case c_ast.Assignment():
            return static_type(node.lvalue, types)
        case c_ast.TernaryOp():
            return _joined(static_type(node.iftrue, types), static_type(node.iffalse, types))
        case c_ast.UnaryOp():
            return _type_of_unary(node, types)
        case _:
            return _type_of_access(node, types)


def _type_of_access(node: "c_ast.Node", types: Types) -> CType:
    from pycparser import c_ast

    match node:
        case c_ast.StructRef(name=c_ast.ID(name=name)):
            struct = types[name]
            assert isinstance(struct, StructType)  # compiled.py lets nothing else pass
            return struct.fields[node.field.name]
        case c_ast.ArrayRef():
            return _pointee(static_type(node.name, types))
        case c_ast.FuncCall(name=c_ast.ID(name=function)):
            if function == "ln_clone" and node.args is not None:
                return static_type(node.args.exprs[0], types)
            return _RETURNS.get(function, INT)
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
            return _joined(static_type(node.left, types), static_type(node.right, types))
        case _:
            return INT  # comparisons, && and ||


def _type_of_unary(node: "c_ast.UnaryOp", types: Types) -> CType:
    if node.op == "sizeof":
        return ULONG
    own = static_type(node.expr, types)
    match node.op:
        case "&":
            return PointerType(own if isinstance(own, Arithmetic) else None)
        case "*":
            return _pointee(own)
        case "!":
            return INT
        case "+" | "-":
            return _joined(own, INT)
        case _:
            return own  # ++ and --


def _pointee(kind: CType) -> CType:
    return kind.to if isinstance(kind, PointerType) and kind.to is not None else INT


def _joined(left: CType, right: CType) -> CType:
    """Return the type of `left + right`: the usual conversions, or that of the pointer."""
    if isinstance(left, Arithmetic) and isinstance(right, Arithmetic):
        return max(left, right, INT, key=lambda each: each.rank)
    return right if isinstance(left, Arithmetic) else left
