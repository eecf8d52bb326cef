"""Tensors and parameters of an invocation as C data, against the structs of `gawee_op.h`."""

from collections.abc import Iterator, Sequence

from gawee_dialect.opdesc.arguments import as_realtype, dtype_value
from gawee_dialect.opdesc.description import Param
from gawee_dialect.opdesc.emit.c_text import text_literal
from gawee_dialect.opdesc.enums import from_text
from gawee_dialect.opdesc.invocation import ParamValue, Tensor, ptype_of


def tensor_data(tensor: Tensor, data: str = "NULL") -> str:
    """Return the initializer of an `ln_tensor`."""
    dims = f"(int[]){{{', '.join(map(str, tensor.shape)) or '0'}}}"
    return f"{{{len(tensor.shape)}, {tensor.len}, {dims}, {dtype_value(tensor)}, {data}}}"


def entry_data(tensor: Tensor, address: str) -> str:
    """Return the initializer of an `ln_tensor_entry` of the tensor at an address."""
    fields = [
        text_literal(tensor.name),
        address,
        str(int(bool(tensor.static))),
        tensor.mtype or "LN_MEM_NONE",
        "NULL" if tensor.owner is None else text_literal(tensor.owner),
        "0",
        "NULL" if tensor.creator is None else text_literal(tensor.creator),
    ]
    return f"{{{', '.join(fields)}}}"


def param_data(arg_name: str, value: ParamValue, param: Param | None = None) -> str:
    """Return the initializer of an `ln_param_entry`.

    `param` says by which function a string becomes a number; pre_run does that by itself. An array
    holds one kind of value, and at least one.
    """
    fields = [f".arg_name = {text_literal(arg_name)}", f".type = {ptype_of(value)}"]
    if isinstance(value, tuple):
        fields += [f".array_len = {len(value)}", *_array(value)]
    elif isinstance(value, str):
        fields.append(f".value_string = {text_literal(value)}")
    elif value is not None:
        fields += [f".value_{kind} = {_number(value, kind)}" for kind in ("double", "float", "int")]
        fields.append(f".value_bool = {int(bool(value))}")
    if param is not None and param.from_func is not None:
        texts = value if isinstance(value, tuple) else (value,)
        numbers = [str(from_text(param.from_func.text, str(each))) for each in texts]
        array = f".value_array_int = (int[]){{{', '.join(numbers)}}}"
        fields.append(array if isinstance(value, tuple) else f".value_int = {numbers[0]}")
    return f"{{{', '.join(fields)}}}"


def _array(values: Sequence[bool | int | float | str]) -> Iterator[str]:
    if isinstance(values[0], str):
        texts = ", ".join(text_literal(str(each)) for each in values)
        yield f".value_array_string = (char *[]){{{texts}}}"
    elif isinstance(values[0], bool):
        yield f".value_array_bool = (int[]){{{', '.join(str(int(bool(each))) for each in values)}}}"
    else:
        for kind in ("double", "float", "int"):
            elements = ", ".join(_number(each, kind) for each in values)
            yield f".value_array_{kind} = ({kind}[]){{{elements}}}"


def _number(value: bool | float | str, kind: str) -> str:
    assert not isinstance(value, str)  # arrays hold one kind of value
    number = as_realtype(value, kind)
    return f"(-{-number - 1} - 1)" if kind == "int" and number < 0 else repr(number)
