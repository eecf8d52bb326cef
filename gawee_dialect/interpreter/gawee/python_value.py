"""What a tracer leaves behind: attributes of tensors, and items of those."""

import ast

from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp
from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


def getattr_of(input: Array, attribute: str) -> tuple[int, ...] | int | str:
    """Return what PyTorch calls `shape`, `ndim` or `dtype` of a tensor.

    Raises InterpretationError for any other attribute.
    """
    match attribute:
        case "shape":
            return input.shape
        case "ndim":
            return input.ndim
        case "dtype":
            return input.dtype.name
        case _:
            raise InterpretationError(
                f"unsupported attribute '{attribute}'; supported: shape, ndim, dtype"
            )


def parse_index(text: str) -> int | slice:
    """Read an index as Python prints it: `2`, `-1`, `slice(2, None, None)`.

    Raises InterpretationError for anything else.
    """
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "slice":
            return slice(*(ast.literal_eval(argument) for argument in expression.args))
        index = ast.literal_eval(expression)
    except (SyntaxError, ValueError, TypeError) as error:
        raise InterpretationError(f"expected an integer or a slice, got '{text}'") from error
    if not isinstance(index, int):
        raise InterpretationError(f"expected an integer or a slice, got '{text}'")
    return index


@register_impls
class PythonValueFunctions(OpFunctions):
    """What the ops of `dialect/python_value.py` compute."""

    @impl(GetAttrOp)
    def getattr(self, interpreter: Interpreter, op: GetAttrOp, args: PythonValues) -> PythonValues:
        return (getattr_of(args[0], op.attribute.data),)

    @impl(GetItemOp)
    def getitem(self, interpreter: Interpreter, op: GetItemOp, args: PythonValues) -> PythonValues:
        index = parse_index(op.index.data)
        try:
            return (args[0][index],)
        except (IndexError, TypeError) as error:
            raise InterpretationError(f"cannot take item {index} of {args[0]}") from error
