"""What op classes that are written from descriptions are made of: `--emit python`.

A class says in `check` what is checked, in Python: in the order of the description, by the methods
of `Checks`, whose messages are those of described ops. Integers are Python's; `quotient` and
`remainder` truncate as C's do.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Generic, NoReturn, TypeVar

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import IRDLOperation, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import require_static
from gawee_dialect.easy_json import Code
from gawee_dialect.equations.instance import Body, Misfit, Type, read_body
from gawee_dialect.equations.program import Arguments
from gawee_dialect.equations.syntax import Parameter
from gawee_dialect.opdesc.arguments import as_realtype, dtype_value
from gawee_dialect.opdesc.c_library import FUNCTIONS
from gawee_dialect.opdesc.c_operations import COMPARISONS
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    INT,
    INT_POINTER,
    STRING,
    Buffer,
    EvaluationError,
    Ref,
    Value,
)
from gawee_dialect.opdesc.compiled import GIVEN
from gawee_dialect.opdesc.described_op import tensor_of
from gawee_dialect.opdesc.enums import DTYPES, from_text
from gawee_dialect.opdesc.invocation import ParamValue, Tensor, ptype_of
from gawee_dialect.opdesc.param_syntax import param_value, parse_op, print_op
from gawee_dialect.opdesc.pre_run import MAX_NDIM, shape_text

Number = TypeVar("Number", int, float)

MAX_ELEMENTS = 2**31 - 1
"""Of a result."""


class Array(Generic[Number]):
    """Numbers with a first and a last: an index outside is an error, as it is in descriptions."""

    def __init__(self, cells: Sequence[Number], start: int = 0) -> None:
        self.cells = cells if isinstance(cells, list) else list(cells)
        self.start = start

    def __len__(self) -> int:
        return len(self.cells) - self.start

    def _place(self, index: int) -> int:
        if not 0 <= index < len(self):
            raise VerifyException(f"index {index} is out of range of {len(self)} elements")
        return self.start + index

    def __getitem__(self, index: int) -> Number:
        return self.cells[self._place(index)]

    def __setitem__(self, index: int, value: Number) -> None:
        self.cells[self._place(index)] = value

    def after(self, count: int) -> "Array[Number]":
        """Return the same array without the first elements."""
        return Array(self.cells, self.start + count)

    def copy(self, count: int) -> "Array[Number]":
        """Return the first elements in an array of their own."""
        return Array([self[index] for index in range(count)])

    def numbers(self) -> list[Number]:
        """Return the elements."""
        return self.cells[self.start :]


def library(function: str, *arguments: "int | float | str | Array[int]") -> int:
    """Call a function of the format that returns an int, or nothing; raises VerifyException."""
    return int(library_double(function, *arguments))


def library_double(function: str, *arguments: "int | float | str | Array[int]") -> float:
    """Call a function of the format that returns a number; raises VerifyException."""
    values = [_value(each) for each in arguments]
    try:
        result = FUNCTIONS[function].run(values).data
    except EvaluationError as error:
        raise VerifyException(str(error)) from error
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(argument, Array):  # what the function has written
            argument.cells[:] = [int(each or 0) for each in value.ref().buffer.cells]
    return result if isinstance(result, int | float) else 0


def _value(argument: "int | float | str | Array[int]") -> Value:
    if isinstance(argument, str):
        return Value(STRING, argument)
    if isinstance(argument, Array):
        cells: list[int | float | None] = [*argument.cells]
        shared = Buffer.of(INT, cells)
        return Value(INT_POINTER, Ref(shared, argument.start))
    return Value(DOUBLE if isinstance(argument, float) else INT, argument)


def zeros(count: int) -> Array[int]:
    """Return so many zeros."""
    return Array([0] * count)


def quotient(a: int, b: int) -> int:
    """Return a / b, truncated; raises VerifyException for division by zero."""
    if b == 0:
        raise VerifyException("division by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """Return what `quotient` leaves of a, with its sign."""
    return a - b * quotient(a, b)


@dataclass(frozen=True)
class TensorView:
    """An operand, or a result that was checked."""

    tensor: Tensor

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.tensor.shape)

    @property
    def len(self) -> int:
        """How many elements."""
        return prod(self.tensor.shape)

    @property
    def dims(self) -> Array[int]:
        """The sizes."""
        return Array([*self.tensor.shape])

    @property
    def dtype(self) -> int:
        """The constant of the element type."""
        return dtype_value(self.tensor)


def equations(
    text: str,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    *params: tuple[str, str, int | None],
) -> Body:
    """Read a body in index notation; None for arguments that it says itself.

    `params` are those that it does not: kind, name, and how many where it is an array.
    """
    given = [Parameter(GIVEN, kind, name, length) for kind, name, length in params]
    code = Code.of_text(text, "equations")
    return read_body(code, Arguments(inputs, outputs, given))


class CheckedOp(IRDLOperation, ABC):
    """An op whose checks are a method, and whose syntax is that of described ops."""

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)

    PARAMS: ClassVar[Sequence[str]] = ()
    """The names of the parameters, in the order in which they are printed."""

    BODY: ClassVar[Body | None] = None
    """What the op computes, in index notation, where that is known."""

    @abstractmethod
    def check(self, check: "Checks") -> None:
        """Check the op, and say what its results are; raises VerifyException."""

    def params(self) -> dict[str, ParamValue]:
        """Return what the op gives for each parameter."""
        attributes = self.attributes.items()
        return {name: param_value(each) for name, each in attributes if "." not in name}

    def verify_(self) -> None:
        for index, operand in enumerate(self.operands):
            require_static(f"operand #{index}", operand.type)
        self.check(Checks(self))

    @classmethod
    def parse(cls, parser: Parser) -> "CheckedOp":
        operands, attributes, types = parse_op(parser)
        return cls(operands=[operands], result_types=[types], attributes=attributes)

    def print(self, printer: Printer) -> None:
        params = self.params()
        known = [name for name in self.PARAMS if name in params]
        print_op(printer, self, [*known, *(name for name in params if name not in known)])


class Checks:
    """The checks of one op; the first that fails is the error."""

    def __init__(self, op: CheckedOp) -> None:
        self._op = op
        self._params = op.params()
        if op.BODY is not None:
            self._params = {**op.BODY.defaults, **self._params}

    @property
    def params(self) -> int:
        """How many parameters there are, those that a body has a value for included."""
        return len(self._params)

    def fail(self, message: str) -> NoReturn:
        """Raise VerifyException."""
        raise VerifyException(message)

    def count(self, what: str, expected: int, got: int) -> None:
        """Check how many operands, results or params there are."""
        if expected != got:
            self.fail(f"expected {expected} {what}, got {got}")

    # Inputs.

    def input(self, name: str, index: int) -> TensorView:
        """Return an operand."""
        return TensorView(tensor_of(name, self._op.operands[index]))

    def mtype(self, view: TensorView, expected: str) -> None:
        """Check where an input is, if that is known."""
        got = view.tensor.mtype
        if got not in (None, expected):
            self.fail(f"expected input '{view.tensor.name}' in {expected}, got {got}")

    def dtype(self, view: TensorView, expected: str) -> None:
        """Check the element type of an input."""
        if view.tensor.dtype != expected:
            name = view.tensor.name
            self.fail(f"expected input '{name}' of dtype {expected}, got {view.tensor.dtype}")

    def ndim(self, view: TensorView, expected: int) -> None:
        """Check the rank of an input."""
        self._size(view, "dimensions", expected, view.ndim)

    def len(self, view: TensorView, expected: int) -> None:
        """Check how many elements an input has."""
        self._size(view, "elements", expected, view.len)

    def _size(self, view: TensorView, what: str, expected: int, got: int) -> None:
        if expected != got:
            name, shape = view.tensor.name, shape_text(view.tensor.shape)
            self.fail(f"expected input '{name}' of {expected} {what}, got {got} ({shape})")

    def same_type(self, view: TensorView, other: TensorView) -> None:
        """Check that two inputs have one element type."""
        one, two = view.tensor, other.tensor
        if one.element != two.element:
            dtype = f"the dtype of '{two.name}' ({two.dtype})"
            self.fail(f"expected input '{one.name}' of {dtype}, got {one.dtype}")

    def same_shape(self, view: TensorView, other: TensorView) -> None:
        """Check that two inputs have one shape."""
        one, two = view.tensor, other.tensor
        if one.shape != two.shape:
            shape = f"the shape of '{two.name}' ({shape_text(two.shape)})"
            self.fail(f"expected input '{one.name}' of {shape}, got {shape_text(one.shape)}")

    def static(self, view: TensorView, expected: bool) -> None:
        """Check whether an input has the same data in every run, if that is known."""
        if view.tensor.static is (not expected):
            words = "to be static" if expected else "not to be static"
            name = view.tensor.name
            self.fail(f"expected input '{name}' {words}, got tensor '{name}'")

    # Parameters.

    def _value(self, name: str, ptype: str) -> ParamValue:
        if name not in self._params:
            got = ", ".join(f"'{each}'" for each in self._params) or "none"
            self.fail(f"expected a param '{name}', got {got}")
        value = self._params[name]
        if ptype_of(value) != ptype:
            self.fail(f"expected param '{name}' to be {ptype}, got {ptype_of(value)}")
        return value

    def integer(self, name: str) -> int:
        """Return a number, truncated."""
        return int(self.number(name, "int"))

    def number(self, name: str, realtype: str = "double") -> float:
        """Return a number in the range of a C type."""
        value = self._value(name, "LN_PARAM_NUMBER")
        assert isinstance(value, int | float)
        return as_realtype(value, realtype)

    def integers(self, name: str) -> Array[int]:
        """Return an array of numbers, truncated."""
        return Array([int(each) for each in self.numbers(name, "int").numbers()])

    def numbers(self, name: str, realtype: str = "double") -> Array[float]:
        """Return an array of numbers in the range of a C type."""
        value = self._value(name, "LN_PARAM_ARRAY_NUMBER")
        assert isinstance(value, tuple)
        return Array([as_realtype(each, realtype) for each in value if not isinstance(each, str)])

    def text(self, name: str) -> str:
        """Return a string."""
        return str(self._value(name, "LN_PARAM_STRING"))

    def constant(self, name: str, function: str) -> int:
        """Return the constant that a string names, -1 where it names none."""
        return from_text(function, self.text(name))

    def constants(self, name: str, function: str) -> Array[int]:
        """Return the constants that strings name, -1 for one that names none."""
        texts = self.elements(name, "LN_PARAM_ARRAY_STRING")
        return Array([from_text(function, str(each)) for each in texts])

    def boolean(self, name: str) -> bool:
        """Return a boolean."""
        return bool(self._value(name, "LN_PARAM_BOOL"))

    def elements(self, name: str, ptype: str) -> Sequence[str | bool]:
        """Return an array of strings or booleans."""
        value = self._value(name, ptype)
        assert isinstance(value, tuple)
        return [each for each in value if isinstance(each, str | bool)]

    def null(self, name: str) -> None:
        """Check that a parameter is null."""
        self._value(name, "LN_PARAM_NULL")

    def length(self, name: str, got: int, expected: int) -> None:
        """Check how many elements an array has."""
        if got != expected:
            self.fail(f"expected param '{name}' of {expected} elements, got {got}")

    def bound(self, name: str, value: float, relation: str, limit: float) -> None:
        """Check that a number compares so with another."""
        if not COMPARISONS[relation](value, limit):
            self.fail(f"expected param '{name}' {relation} {limit}, got {value}")

    def bounds(self, name: str, values: Array[Number], relation: str, limit: float) -> None:
        """Check that every element compares so with a number."""
        for index, value in enumerate(values.numbers()):
            self.bound(f"{name}[{index}]", value, relation, limit)

    def compare(self, what: str, name: str, value: float, relation: str, limit: float) -> None:
        """Check what statements compare: the message is theirs."""
        if not COMPARISONS[relation](value, limit):
            self.fail(f"{what}: expected '{name}' {relation} {limit:g}, got {value:g}")

    # Outputs.

    def output(self, name: str, index: int, ndim: int, dims: Array[int], dtype: int) -> TensorView:
        """Check that a result has a rank, sizes and an element type that are possible, and its."""
        sizes = dims.numbers()
        if ndim != len(dims) or not 1 <= ndim <= MAX_NDIM:
            message = f"expected output '{name}' of {ndim} dimensions (1 to {MAX_NDIM}), got"
            self.fail(f"{message} {len(dims)} in '{name}_dims'")
        if min(sizes) < 1:
            got = shape_text(sizes)
            self.fail(f"expected dims of output '{name}' of at least 1, got {got}")
        if not 0 <= dtype < len(DTYPES):
            self.fail(f"expected a dtype of output '{name}', got {dtype}")
        if prod(sizes) > MAX_ELEMENTS:
            limit = f"at most {MAX_ELEMENTS} elements"
            self.fail(f"expected output '{name}' of {limit}, got {prod(sizes)}")
        inferred = TensorType(tuple(DTYPES.values())[dtype], sizes)
        got = self._op.results[index].type
        if inferred != got:
            self.fail(f"expected output '{name}' of type '{inferred}', got '{got}'")
        return TensorView(tensor_of(name, self._op.results[index]))

    def body(
        self,
        inputs: Sequence[TensorView],
        params: "Mapping[str, float | Array[int] | Array[float]]",
    ) -> None:
        """Check that the results are those of the equations of `BODY`; raises VerifyException."""
        body = self._op.BODY
        assert body is not None  # the class that calls this has one
        types = {each.tensor.name: Type(each.tensor.shape, each.tensor.element) for each in inputs}
        numbers = {
            name: tuple(value.numbers()) if isinstance(value, Array) else value
            for name, value in params.items()
        }
        try:
            instance = body.instance(types, numbers)
        except Misfit as misfit:
            self.fail(f"{misfit.message} ({misfit.place})" if misfit.place else misfit.message)
        for name, result in zip(body.program.outputs, self._op.results, strict=True):
            made = instance.tensors[name]
            if prod(made.shape) > MAX_ELEMENTS:
                limit = f"at most {MAX_ELEMENTS} elements"
                self.fail(f"expected output '{name}' of {limit}, got {prod(made.shape)}")
            inferred = TensorType(made.element, made.shape)
            if inferred != result.type:
                self.fail(f"expected output '{name}' of type '{inferred}', got '{result.type}'")
