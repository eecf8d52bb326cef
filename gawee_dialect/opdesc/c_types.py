"""The types that C texts of descriptions have before they are evaluated, for who writes code."""

from collections.abc import Mapping
from types import MappingProxyType

from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.arguments import ENTRY, LIST_ENTRY, PARAM_ENTRY, TENSOR
from gawee_dialect.opdesc.c_operations import number_value
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    DOUBLE_POINTER,
    FLOAT,
    INT,
    INT_POINTER,
    NULL,
    STRING,
    ULONG,
    Arithmetic,
    CType,
    PointerType,
    StructType,
    type_of,
)
from gawee_dialect.opdesc.description import Operator, Param

OPERATOR = StructType("operator")

FIELDS: Mapping[tuple[str, str], CType] = MappingProxyType(
    {
        (TENSOR.name, "ndim"): INT,
        (TENSOR.name, "len"): INT,
        (TENSOR.name, "dims"): INT_POINTER,
        (TENSOR.name, "dtype"): INT,
        (ENTRY.name, "name"): STRING,
        (ENTRY.name, "isstatic"): INT,
        (ENTRY.name, "mtype"): INT,
        (ENTRY.name, "owner"): STRING,
        (ENTRY.name, "offset"): ULONG,
        (ENTRY.name, "creater"): STRING,
        (LIST_ENTRY.name, "arg_name"): STRING,
        (LIST_ENTRY.name, "name"): STRING,
        (PARAM_ENTRY.name, "arg_name"): STRING,
        (PARAM_ENTRY.name, "type"): INT,
        (PARAM_ENTRY.name, "array_len"): INT,
        (PARAM_ENTRY.name, "value_string"): STRING,
        (PARAM_ENTRY.name, "value_double"): DOUBLE,
        (PARAM_ENTRY.name, "value_float"): FLOAT,
        (PARAM_ENTRY.name, "value_int"): INT,
        (PARAM_ENTRY.name, "value_bool"): INT,
        (PARAM_ENTRY.name, "value_array_double"): DOUBLE_POINTER,
        (PARAM_ENTRY.name, "value_array_float"): PointerType(FLOAT),
        (PARAM_ENTRY.name, "value_array_int"): INT_POINTER,
        (PARAM_ENTRY.name, "value_array_bool"): INT_POINTER,
        (OPERATOR.name, "name"): STRING,
        (OPERATOR.name, "optype"): STRING,
    }
)
"""The type of every field that a text may read."""

_RETURNS: Mapping[str, CType] = {
    "ln_alloc": PointerType(None),
    "ln_sprint_shape": STRING,
    "tl_dtype_min_double": DOUBLE,
    "tl_dtype_max_double": DOUBLE,
    "ceil": DOUBLE,
    "floor": DOUBLE,
    "floorf": FLOAT,
}
_REALTYPES: Mapping[str, Arithmetic] = {"int": INT, "float": FLOAT, "double": DOUBLE}

Types = dict[str, CType]
"""The variables of a text, and the type of each."""


def param_type(param: Param) -> CType:
    """Return the type of a parameter's variable."""
    if param.kind == "NULL":
        return NULL.type
    if param.kind == "STRING" and param.realtype is None:
        return StructType("string array") if param.is_array else STRING
    element = INT
    if param.kind == "NUMBER" and param.realtype is not None:
        element = _REALTYPES[param.realtype.text]
    return PointerType(element) if param.is_array else element


def variables(operator: Operator) -> Types:
    """Return every variable that a text of an operator may name."""
    types: Types = {"op_arg": OPERATOR}
    for tensor in (*operator.tensors_in, *operator.tensors_out):
        name = tensor.arg_name
        types |= {name: TENSOR, f"{name}_entry": ENTRY, f"{name}_list_entry": LIST_ENTRY}
        types |= {f"{name}_name": STRING, f"{name}_ndim": INT, f"{name}_dtype": INT}
        types[f"{name}_dims"] = INT_POINTER
    for param in operator.params:
        types |= {param.arg_name: param_type(param), f"{param.arg_name}_entry": PARAM_ENTRY}
    return types


def static_type(node: c.Expression, types: Types) -> CType:
    """Return the type of an expression whose names are known."""
    match node:
        case c.Number():
            return number_value(node).type
        case c.Text():
            return STRING
        case c.Name():
            return types.get(node.name, INT)  # enum constants are int
        case c.Cast():
            return type_of(node.type)
        case c.SizeOf():
            return ULONG
        case c.ArrayLiteral():
            return type_of(node.type)
        case c.Assign() | c.Step():
            return static_type(node.target, types)
        case c.Conditional():
            return _joined(static_type(node.yes, types), static_type(node.no, types))
        case _:
            return _type_of_access(node, types)


def _type_of_access(node: c.Expression, types: Types) -> CType:
    match node:
        case c.Member():
            struct = static_type(node.struct, types)
            assert isinstance(struct, StructType)  # c_names.py lets nothing else pass
            return FIELDS[struct.name, node.field_name]
        case c.Index():
            return _pointee(static_type(node.array, types))
        case c.Call():
            if node.function == "ln_clone":
                return static_type(node.arguments[0], types)
            return _RETURNS.get(node.function, INT)
        case c.Unary(operator="&"):
            return PointerType(_arithmetic(static_type(node.operand, types)))
        case c.Unary(operator="*"):
            return _pointee(static_type(node.operand, types))
        case c.Unary():
            own = static_type(node.operand, types)
            return INT if node.operator == "!" else _joined(own, INT)
        case c.Binary() if node.operator in ("+", "-", "*", "/", "%"):
            return _joined(static_type(node.left, types), static_type(node.right, types))
        case _:
            return INT  # comparisons, && and ||


def _arithmetic(kind: CType) -> Arithmetic | None:
    return kind if isinstance(kind, Arithmetic) else None


def _pointee(kind: CType) -> CType:
    return kind.to if isinstance(kind, PointerType) and kind.to is not None else INT


def _joined(left: CType, right: CType) -> CType:
    """Return the type of `left + right`: the usual conversions, or that of the pointer."""
    if isinstance(left, Arithmetic) and isinstance(right, Arithmetic):
        return max(left, right, INT, key=lambda each: each.rank)
    return right if isinstance(left, Arithmetic) else left
