"""The arguments of an operator with a body: those that are said, and those that follow."""

from collections.abc import Mapping
from dataclasses import replace

from gawee_dialect.easy_json import Scalar
from gawee_dialect.opdesc.description import (
    Code,
    Named,
    Operator,
    Param,
    TensorIn,
    TensorOut,
)
from gawee_dialect.opdesc.index_notation.body import Body, read_body
from gawee_dialect.opdesc.index_notation.program import Arguments
from gawee_dialect.opdesc.index_notation.scalars import ParameterValue
from gawee_dialect.opdesc.index_notation.syntax import Parameter
from gawee_dialect.opdesc.invocation import ParamValue

GIVEN = 0
"""The offset of a parameter that the description declares, and not the body itself."""

_KINDS = {"int": "int", "float": "float", "double": "float"}


def with_body(operator: Operator) -> tuple[Operator, Body | None]:
    """Return an operator with all of its arguments, and its body; raises IndexNotationError.

    Inputs and outputs that the description does not list are those of the body, parameters that
    the body declares come behind those of the description.
    """
    code = operator.body
    if code is None:
        return operator, None
    inputs = [each.arg_name for each in operator.tensors_in]
    outputs = [each.arg_name for each in operator.tensors_out]
    given = [each for param in operator.params if (each := _parameter(param)) is not None]
    body = read_body(code, Arguments(inputs or None, outputs or None, given))
    own = [each for each in body.program.parameters if each not in given]
    place = code.place()
    anywhere = Named("LN_MEM_NONE", place)
    return (
        replace(
            operator,
            tensors_in=operator.tensors_in
            or [TensorIn(name, place, anywhere) for name in body.program.inputs],
            tensors_out=operator.tensors_out
            or [TensorOut(name, place, anywhere) for name in body.program.outputs],
            params=[*operator.params, *(_param(each, code) for each in own)],
        ),
        body,
    )


def numbers_of(params: Mapping[str, ParamValue]) -> Mapping[str, ParameterValue]:
    """Return those parameters that a body can name: numbers, truth values, arrays of numbers."""
    found: dict[str, ParameterValue] = {}
    for name, value in params.items():
        if isinstance(value, tuple):
            numbers = [each for each in value if isinstance(each, int | float)]
            found[name] = tuple(numbers)
        elif isinstance(value, int | float):
            found[name] = value
    return found


def _parameter(param: Param) -> Parameter | None:
    """Return a parameter of a description as the body names it; None for texts and the like."""
    kind = "bool" if param.kind == "BOOL" else ""
    if param.kind == "NUMBER" and param.realtype is not None:
        kind = _KINDS[param.realtype.text]
    if not kind or (param.is_array and (param.len is None or not param.len.text.isdigit())):
        return None
    length = int(param.len.text) if param.is_array and param.len is not None else None
    return Parameter(GIVEN, kind, param.arg_name, length)


def _param(parameter: Parameter, code: Code) -> Param:
    """Return a parameter that a body declares as descriptions have it."""
    place = code.place(parameter.offset)
    array = "" if parameter.length is None else "ARRAY_"
    kind = "BOOL" if parameter.kind == "bool" else "NUMBER"
    realtype = {"int": "int", "float": "double"}.get(parameter.kind)
    length = None
    if parameter.length is not None:
        text = str(parameter.length)
        length = Code(text, code.source, Scalar(text, code.place(parameter.offset).offset))
    return Param(
        parameter.name,
        place,
        Named(f"LN_PARAM_{array}{kind}", place),
        realtype=None if realtype is None else Named(realtype, place),
        len=length,
    )
