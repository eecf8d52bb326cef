"""What C texts see of an invocation: the variables of its tensors and parameters."""

from collections.abc import Mapping

from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    FLOAT,
    INT,
    INT_POINTER,
    NULL,
    STRING,
    ULONG,
    Arithmetic,
    Buffer,
    CType,
    PointerType,
    Ref,
    StructType,
    Value,
    rounded,
)
from gawee_dialect.opdesc.description import (
    CONSTANTS,
    DTYPES,
    UNKNOWN,
    Param,
    ParamValue,
    Tensor,
    from_text,
)

MAX_FLOAT = 3.4028234663852886e38

TENSOR = StructType("tensor", {"ndim": INT, "len": INT, "dims": INT_POINTER, "dtype": INT})
ENTRY = StructType(
    "tensor entry",
    {
        **{"name": STRING, "isstatic": INT, "mtype": INT, "owner": STRING, "offset": ULONG},
        "creater": STRING,
    },
)
LIST_ENTRY = StructType("argument", {"arg_name": STRING, "name": STRING})
PARAM_ENTRY = StructType(
    "param entry",
    {
        **{"arg_name": STRING, "type": INT, "array_len": INT, "value_string": STRING},
        **{"value_double": DOUBLE, "value_float": FLOAT, "value_int": INT, "value_bool": INT},
        **{f"value_array_{kind.name}": PointerType(kind) for kind in (DOUBLE, FLOAT, INT)},
        "value_array_bool": INT_POINTER,
    },
)
OPERATOR = StructType("operator", {"name": STRING, "optype": STRING})

_REALTYPES: Mapping[str, Arithmetic] = {"int": INT, "float": FLOAT, "double": DOUBLE}
_NUMBER = Value(INT, 0)


def text_value(text: str | None) -> Value:
    """Return a string, NULL for None."""
    return NULL if text is None else Value(STRING, text)


def dtype_value(tensor: Tensor) -> int:
    """Return the constant of a tensor's element type, -1 where there is none."""
    elements = tuple(DTYPES.values())
    return elements.index(tensor.element) if tensor.element in elements else UNKNOWN


def tensor_struct(tensor: Tensor) -> Value:
    """Return a tensor as `src->ndim` reads it; its dims cannot be written."""
    dims = Buffer.of(INT, [*tensor.shape])
    dims.read_only = True
    fields = {
        "ndim": Value(INT, len(tensor.shape)),
        "len": Value(INT, tensor.len),
        "dims": Value(INT_POINTER, Ref(dims)),
        "dtype": Value(INT, dtype_value(tensor)),
    }
    return Value(TENSOR, fields)


def entry_struct(tensor: Tensor) -> Value:
    """Return what the tensor table says of a tensor, as `src_entry->isstatic` reads it."""
    fields = {
        "name": text_value(tensor.name),
        "isstatic": Value(INT, int(bool(tensor.static))),
        "mtype": Value(INT, CONSTANTS[tensor.mtype or "LN_MEM_NONE"]),
        "owner": text_value(tensor.owner),
        "offset": _NUMBER,
        "creater": text_value(tensor.creator),
    }
    return Value(ENTRY, fields)


def list_entry_struct(arg_name: str, name: str) -> Value:
    """Return an argument as `src_list_entry->name` reads it."""
    return Value(LIST_ENTRY, {"arg_name": text_value(arg_name), "name": text_value(name)})


def as_realtype(number: float, realtype: str) -> int | float:
    """Return a number as the format converts it: `int` truncates, and both ends saturate.

    -0.1 stays what it is as `float`, to the nearest.
    """
    if realtype == "int":
        return int(min(max(number, INT.lowest), INT.highest))
    if realtype == "float":
        return rounded(min(max(float(number), -MAX_FLOAT), MAX_FLOAT))
    return float(number)


def param_type(param: Param) -> CType:
    """Return the type of a parameter's variable."""
    if param.kind == "NULL":
        return NULL.type
    if param.kind == "STRING" and param.realtype is None:
        return StructType("string array") if param.is_array else STRING
    element = INT if param.kind != "NUMBER" or param.realtype is None else _real(param)
    return PointerType(element) if param.is_array else element


def param_variable(param: Param, value: ParamValue) -> Value:
    """Return the variable of a parameter, whose value has the kind of its description."""
    if param.kind == "STRING" and param.realtype is None:
        return _texts(value)
    if param.kind == "NULL":
        return NULL
    element = INT if param.kind != "NUMBER" or param.realtype is None else _real(param)
    if isinstance(value, tuple):
        cells: list[int | float | None] = [_number(param, each) for each in value]
        return Value(PointerType(element), Ref(Buffer.of(element, cells)))
    return Value(element, _number(param, value))


def _texts(value: ParamValue) -> Value:
    # Texts of an array are handed on, not looked at: no description reads one.
    return Value(STRING, value) if isinstance(value, str) else Value(StructType("string array"), {})


def _real(param: Param) -> Arithmetic:
    assert param.realtype is not None  # read.py refuses a number without one
    return _REALTYPES[param.realtype.text]


def _number(param: Param, value: ParamValue) -> int | float:
    if isinstance(value, str):
        assert param.from_func is not None  # a text without one is no number
        return from_text(param.from_func.text, value)
    assert isinstance(value, int | float)  # the kind was checked before
    if isinstance(value, bool) or param.realtype is None:
        return int(value)
    return as_realtype(value, param.realtype.text)


def param_entry_struct(param: Param, value: ParamValue, variable: Value) -> Value:
    """Return what an invocation gives for a parameter, as `size_entry->array_len` reads it."""
    fields: dict[str, Value] = {
        "arg_name": text_value(param.arg_name),
        "type": Value(INT, CONSTANTS[param.ptype.text]),
        "array_len": Value(INT, len(value) if isinstance(value, tuple) else 0),
        "value_string": text_value(value if isinstance(value, str) else None),
    }
    number = 0 if isinstance(value, str | tuple) or value is None else value
    if isinstance(variable.data, int | float):
        number = variable.data if isinstance(value, str) else number
    fields["value_double"] = Value(DOUBLE, as_realtype(number, "double"))
    fields["value_float"] = Value(FLOAT, as_realtype(number, "float"))
    fields["value_int"] = Value(INT, as_realtype(number, "int"))
    fields["value_bool"] = Value(INT, int(bool(number)))
    for kind, element in (*_REALTYPES.items(), ("bool", INT)):
        same = isinstance(variable.type, PointerType) and variable.type.to is element
        fields[f"value_array_{kind}"] = variable if same else NULL
    return Value(PARAM_ENTRY, fields)
