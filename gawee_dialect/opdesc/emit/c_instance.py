"""One use of an operator as a C function of pointers: what a compiled network calls.

A call is a whole life of the operator, from what pre_run has made of the description: static_run,
run, post_run. Nothing is kept between calls, so that they may run at the same time.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType

from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.opdesc.arguments import as_realtype, dtype_value
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.description import Param
from gawee_dialect.opdesc.emit.c_file import HEADER, bodies, body_function, private_struct
from gawee_dialect.opdesc.emit.c_text import INDENT, text_literal
from gawee_dialect.opdesc.enums import from_text
from gawee_dialect.opdesc.invocation import ParamValue, Tensor, ptype_of
from gawee_dialect.opdesc.pre_run import Checked

SYMBOL_PREFIX = "gawee_native_"


@dataclass(frozen=True)
class Instance:
    """A C function of one use of an operator: its symbol, and the file that defines it."""

    symbol: str
    source: str


def instance_of(op: DescribedOp) -> Instance:
    """Return the C function of an op that verifies and whose description has a `run`.

    It takes pointers to the data of the inputs, then to that of the outputs, in the order of the
    description. An output that is in the memory of an input is in that of a copy of it.
    """
    compiled = op.description()
    operator, checked = compiled.operator, op.checked()
    lines = list(_call(op, checked))
    functions = [
        body_function(operator, each, located=True) for each in bodies(operator) if each.is_there
    ]
    file = [f'#include "{HEADER}"', private_struct(operator), *functions]
    digest = hashlib.sha256("\n".join((*file, *lines)).encode()).hexdigest()[:12]
    symbol = f"{SYMBOL_PREFIX}{operator.optype}_{digest}"
    arguments = ", ".join(
        [f"const void *{each.arg_name}_data" for each in operator.tensors_in]
        + [f"void *{each.arg_name}_data" for each in operator.tensors_out]
    )
    head = f"void {symbol}({arguments or 'void'}) {{"
    function = "\n".join((head, *(f"{INDENT}{line}" for line in lines), "}"))
    return Instance(symbol, "\n\n".join((*file, function)) + "\n")


def _tensors(op: DescribedOp, checked: Checked) -> Sequence[Tensor]:
    operator = op.description().operator
    types = [tensor_type(each) for each in op.operands]
    inputs = [
        Tensor(described.arg_name, type.element_type, type.get_shape(), described.mtype.text)
        for described, type in zip(operator.tensors_in, types, strict=True)
    ]
    return (*inputs, *checked.outputs)


def _call(op: DescribedOp, checked: Checked) -> Iterator[str]:
    """Yield the statements of a call."""
    compiled = op.description()
    operator = compiled.operator
    optype = operator.optype
    for tensor in _tensors(op, checked):
        data = tensor_data(tensor, f"(void *){tensor.name}_data")
        yield f"ln_tensor {tensor.name}_tensor = {data};"
        entry = entry_data(tensor, f"&{tensor.name}_tensor")
        yield f"ln_tensor_entry {tensor.name}_entry = {entry};"
    for param in operator.params:
        data = param_data(param.arg_name, checked.params[param.arg_name], param)
        yield f"ln_param_entry {param.arg_name}_entry = {data};"
    fields = ", ".join(f".{name}_entry = &{name}_entry" for name in operator.arg_names())
    yield f"struct {optype}_priv priv = {{{fields or '0'}}};"
    yield "ln_tensor_table table = {NULL, 0, 0};"
    name = text_literal(optype)
    names = f".name = {name}, .optype = {name}"
    yield f"ln_op_arg op_arg = {{{names}, .table = &table, .priv = &priv}};"
    yield from _shared(op, checked)
    if operator.static_run is not None:
        yield f"{optype}_static_run(&op_arg);"
    if operator.run is not None:
        yield f"{optype}_run(&op_arg);"
    for described, output in zip(operator.tensors_out, checked.outputs, strict=True):
        if described.arg_name in compiled.owners:
            size = f"{output.len} * {_size(output)}"
            place = described.arg_name
            yield f"memcpy({place}_data, {place}_tensor.data, {size});"
    yield f"{optype}_post_run(&op_arg);"


def _shared(op: DescribedOp, checked: Checked) -> Iterator[str]:
    """Yield what puts outputs into the memory of a copy of their owner."""
    compiled = op.description()
    tensors = {tensor.name: tensor for tensor in _tensors(op, checked)}
    for name in dict.fromkeys(compiled.owners.values()):
        size = f"{tensors[name].len} * {_size(tensors[name])}"
        yield f"{name}_tensor.data = ln_copy(&op_arg, {name}_data, {size});"
    for output, owner in compiled.owners.items():
        offset = "0"
        if compiled.operator.calc_offset is not None:
            offset = f"{compiled.operator.optype}_calc_offset(&op_arg, &{output}_entry)"
        yield f"{output}_tensor.data = (char *){owner}_tensor.data + {offset};"


def _size(tensor: Tensor) -> int:
    """Return the bytes of an element, as the format stores it."""
    assert isinstance(tensor.element, FixedBitwidthType)  # the format has no other
    return tensor.element.size


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
