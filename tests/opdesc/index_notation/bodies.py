"""Bodies from text, as tests make them."""

from collections.abc import Mapping

from xdsl.dialects.builtin import f32

from gawee_dialect.equations.functions import ParameterValue
from gawee_dialect.equations.instance import Body, Instance, Type, read_body
from gawee_dialect.located_json import Code

CONV = """
int s = 1, d = 1, p = 0, q = 0
y[n,o,h,w] = sum(c,i,j) x[n,c,h*s+i*d-p,w*s+j*d-q] * k[o,c,i,j] + b[o]
"""


def body(text: str) -> Body:
    return read_body(Code.of_text(text, "b"))


def instance(
    text: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    **shapes: tuple[int, ...] | Type,
) -> Instance:
    inputs = {
        name: each if isinstance(each, Type) else Type(each, f32) for name, each in shapes.items()
    }
    return body(text).instance(inputs, parameters or {})
