"""The registry of ops that run on the host, and how a node is run by it."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TypeVar

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.frontends.onnx.folding import FUNCTIONS
from gawee_dialect.frontends.onnx.model import OnnxNode
from gawee_dialect.hints import isa
from gawee_dialect.onnx_backend.values import Value, as_value, is_array, is_numeric

FAMILIES = ("images", "maps", "open_sizes", "random_numbers", "sequences", "text")
"""The files that register ops."""

Function = TypeVar("Function", bound=Callable[..., Value | tuple[Value, ...]])

_OPS: dict[str, Callable[..., Value | tuple[Value, ...]]] = {}


def host_op(*names: str) -> Callable[[Function], Function]:
    """Register a function for ops, by their full types."""

    def register(function: Function) -> Function:
        _OPS.update(dict.fromkeys(names, function))
        return function

    return register


def host_ops() -> Mapping[str, Callable[..., Value | tuple[Value, ...]]]:
    """Return every op that runs on the host."""
    for family in FAMILIES:
        import_module(f"gawee_dialect.onnx_backend.host_ops.{family}")
    return _OPS


def _is_text(inputs: Sequence[Value]) -> bool:
    """Whether all inputs are tensors, of which some are of text."""
    arrays = [each for each in inputs if is_array(each)]
    return len(arrays) == len(inputs) and not all(map(is_numeric, arrays))


def run_on_host(node: OnnxNode, inputs: Sequence[Value], name: str) -> Sequence[Value] | None:
    """Return the outputs of a node; None where it is not run on the host.

    Raises GaweeError for inputs and attributes that the op does not have.
    """
    function = host_ops().get(node.full_type)
    if function is None and _is_text(inputs):
        function = FUNCTIONS.get(node.full_type)  # movements of text
    if function is None:
        return None
    given = list(inputs)
    while given and given[-1] is None:
        given.pop()
    try:
        with np.errstate(all="ignore"):
            made = function(*given, **node.attributes)
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        text = f"cannot run '{node.full_type}': {first_line(error)}"
        raise GaweeError(Diagnostic(text, name, node.name)) from error
    if isinstance(made, tuple):
        return made
    if node.full_type == "Split" and isa(made, list[object]):
        return [as_value(each) for each in made]
    return [as_value(made)]
