"""Descriptions as IRDL, so that stock `mlir-opt --irdl-file` reads and verifies their ops.

What is said of an op: how many operands and results it has, that they are tensors, which of them
have one type, and of what kind each parameter is. Numbers may be anything, since IRDL has no word
for `i64` or `f64` attributes; shapes and checks stay with `gawee-opt`.
https://mlir.llvm.org/docs/Dialects/IRDL/
"""

from collections.abc import Sequence

from gawee_dialect.dialect.irdl_text import INDENT, Body
from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import Operator, Param, TensorIn, TensorOut

TENSOR = 'base "!builtin.tensor"'

_KINDS = {"NULL": "unit", "STRING": "string", "BOOL": "integer"}


def irdl_file(dialect: str, compiled: Sequence[CompiledOperator]) -> str:
    """Return a module that defines the ops of a dialect."""
    lines = [
        f"{INDENT}{line}"
        for each in compiled
        if each.operator.autogen
        for line in _operation(each.operator)
    ]
    return "\n".join((f"irdl.dialect @{dialect} {{", *lines, "}")) + "\n"


def _operation(operator: Operator) -> Sequence[str]:
    if operator.optype != operator.optype.lower():
        return [f"// '{operator.optype}' is left out: a name in IRDL has no uppercase letters"]
    body = Body()
    params = [f'"{each.arg_name}" = {body.value(_attribute(each))}' for each in operator.params]
    if params:
        body.lines.append(f"irdl.attributes {{{', '.join(params)}}}")
    types: dict[str, str] = {}
    for tensor in operator.tensors_in:
        same = _same_type(tensor)
        types[tensor.arg_name] = body.value(TENSOR) if same is None else types[same]
    _arguments(body, "operands", operator.tensors_in, types)
    for output in operator.tensors_out:
        owner = _type_of(output, types)
        types[output.arg_name] = body.value(TENSOR) if owner is None else types[owner]
    _arguments(body, "results", operator.tensors_out, types)
    return body.text("operation", f".{operator.optype}")


def _arguments(
    body: Body, part: str, tensors: Sequence[TensorIn | TensorOut], types: dict[str, str]
) -> None:
    if tensors:
        entries = ", ".join(f"{each.arg_name}: {types[each.arg_name]}" for each in tensors)
        body.lines.append(f"irdl.{part}({entries})")


def _attribute(param: Param) -> str:
    if param.is_array:
        return 'base "#builtin.array"'
    kind = _KINDS.get(param.kind)
    return "any" if kind is None else f'base "#builtin.{kind}"'


def _same_type(tensor: TensorIn) -> str | None:
    """Return the input whose whole type another has."""
    dtype, shape = tensor.sametype, tensor.sameshape
    if dtype is None or shape is None or dtype.text != shape.text:
        return None
    return dtype.text


def _type_of(output: TensorOut, types: dict[str, str]) -> str | None:
    """Return the input whose shape and dtype an output has, None where it may have others."""
    if output.custom is not None or not isinstance(output.dims, Code) or output.dtype is None:
        return None
    texts = output.dims.text.strip(), output.dtype.text.strip()
    return next((name for name in types if texts == (f"{name}->dims", f"{name}->dtype")), None)
