"""What C expressions compute: typed numbers, text, and pointers into arrays whose ends are known.

The variables of an invocation's tensors and parameters are such values.
"""

import operator as python
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from gawee_dialect.opdesc.description import (
    CONSTANTS,
    DTYPES,
    UNKNOWN,
    Param,
    ParamValue,
    Tensor,
    from_text,
)

if TYPE_CHECKING:
    from pycparser import c_ast


@dataclass(frozen=True)
class TypeName:
    """A type as it is written: its words, whether it is a pointer, and the length of an array.

    `length` is None for what is no array, and for an array whose initializer says its length.
    """

    words: tuple[str, ...]
    is_pointer: bool = False
    is_array: bool = False
    length: "c_ast.Node | None" = None

    def __str__(self) -> str:
        return f"{' '.join(self.words)}{' *' if self.is_pointer else ''}"


class EvaluationError(Exception):
    """What C leaves undefined, or what this machine doesn't do; the evaluator adds its location."""


@dataclass(frozen=True)
class Arithmetic:
    """A type of numbers; `rank` says which of two types their sum has."""

    name: str
    size: int
    rank: int
    signed: bool = True
    floating: bool = False

    @property
    def lowest(self) -> int:
        """The lowest integer of an integer type."""
        return -(1 << (8 * self.size - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        """The highest integer of an integer type."""
        return (1 << (8 * self.size - self.signed)) - 1


BOOL = Arithmetic("bool", 1, 0, signed=False)
CHAR = Arithmetic("char", 1, 1)
UCHAR = Arithmetic("unsigned char", 1, 1, signed=False)
SHORT = Arithmetic("short", 2, 2)
USHORT = Arithmetic("unsigned short", 2, 2, signed=False)
INT = Arithmetic("int", 4, 3)
UINT = Arithmetic("unsigned int", 4, 4, signed=False)
LONG = Arithmetic("long", 8, 5)
ULONG = Arithmetic("unsigned long", 8, 6, signed=False)
FLOAT = Arithmetic("float", 4, 7, floating=True)
DOUBLE = Arithmetic("double", 8, 8, floating=True)


@dataclass(frozen=True)
class PointerType:
    """A pointer to numbers, None to what has no type yet."""

    to: Arithmetic | None

    @property
    def name(self) -> str:
        """The type as C writes it."""
        return f"{'void' if self.to is None else self.to.name} *"


@dataclass(frozen=True)
class StructType:
    """A pointer to one of the format's structs, and the types of its fields."""

    name: str
    fields: "Mapping[str, CType]" = field(default_factory=dict[str, "CType"], compare=False)


CType: TypeAlias = Arithmetic | PointerType | StructType

INT_POINTER = PointerType(INT)
STRING = PointerType(CHAR)


@dataclass
class Buffer:
    """An array of `size` bytes; its cells are made when its element type is known.

    A cell that is None has not been set.
    """

    size: int
    element: Arithmetic | None = None
    cells: list[int | float | None] = field(default_factory=list[int | float | None])
    read_only: bool = False
    freed: bool = False

    @staticmethod
    def of(element: Arithmetic, values: list[int | float | None]) -> "Buffer":
        """Make an array of values."""
        return Buffer(len(values) * element.size, element, values)

    def become(self, element: Arithmetic) -> None:
        """Be an array of a type, all zero, if it had none; raises EvaluationError for another."""
        if self.element is None:
            self.element = element
            self.cells = [0] * (self.size // element.size)
        elif self.element != element:
            message = f"expected an array of {self.element.name}, got a pointer to {element.name}"
            raise EvaluationError(message)

    def check(self, index: int) -> None:
        """Raise EvaluationError where there is no element of an index."""
        if self.freed:
            raise EvaluationError("read or write of freed memory")
        if not 0 <= index < len(self.cells):
            raise EvaluationError(f"index {index} is out of range of {len(self.cells)} elements")


@dataclass(frozen=True)
class Ref:
    """A pointer: an array and the index of an element, which may be one past the last."""

    buffer: Buffer
    index: int = 0

    def load(self) -> int | float:
        """Return the element; raises EvaluationError outside of the array."""
        self.buffer.check(self.index)
        value = self.buffer.cells[self.index]
        if value is None:
            raise EvaluationError(f"element {self.index} is read before it is set")
        return value

    def store(self, value: float) -> None:
        """Set the element; raises EvaluationError outside of the array, or of an input's shape."""
        self.buffer.check(self.index)
        if self.buffer.read_only:
            raise EvaluationError("cannot write the dims of a tensor that exists")
        self.buffer.cells[self.index] = value

    def moved(self, by: int) -> "Ref":
        """Return the pointer to another element."""
        return Ref(self.buffer, self.index + by)

    def elements(self, count: int) -> list[int | float]:
        """Return so many elements; raises EvaluationError where there are fewer."""
        if count < 0:
            raise EvaluationError(f"expected a count of at least 0, got {count}")
        if count:
            self.buffer.check(self.index + count - 1)  # before a list of a wrong length is made
        return [self.moved(index).load() for index in range(count)]


StructData: TypeAlias = "Mapping[str, Value]"
Data: TypeAlias = "int | float | str | Ref | StructData | None"


@dataclass(frozen=True)
class Value:
    """A value of a C type: a number, text, a pointer (None for NULL), or a struct's fields."""

    type: CType
    data: "int | float | str | Ref | Mapping[str, Value] | None"

    def number(self) -> int | float:
        """Return the number; raises EvaluationError for what is none."""
        if isinstance(self.data, int | float) and isinstance(self.type, Arithmetic):
            return self.data
        raise EvaluationError(f"expected a number, got {described(self.type)}")

    def integer(self) -> int:
        """Return the number as an int parameter of a function gets it."""
        number = converted(self, INT).data
        assert isinstance(number, int)
        return number

    def text(self) -> str:
        """Return the text; raises EvaluationError for what is none."""
        if isinstance(self.data, str):
            return self.data
        raise EvaluationError(f"expected a string, got {described(self.type)}")

    def ref(self) -> Ref:
        """Return the pointer; raises EvaluationError for NULL and for what is none."""
        if isinstance(self.data, Ref):
            return self.data
        if self.data is None:
            raise EvaluationError("read or write through NULL")
        raise EvaluationError(f"expected an array, got {described(self.type)}")

    def truth(self) -> bool:
        """Return whether the value is none of 0 and NULL."""
        if isinstance(self.data, int | float):
            return self.data != 0
        return self.data is not None


NULL = Value(PointerType(None), None)


def described(kind: CType) -> str:
    """Return what messages call a value of a type."""
    if isinstance(kind, StructType):
        return f"a {kind.name}"
    return "a string" if kind == STRING else f"'{kind.name}'"


def int_value(number: int) -> Value:
    """Return an `int`; raises EvaluationError where it does not fit."""
    return Value(INT, fitting(number, INT))


def rounded(number: float) -> float:
    """Return the `float` that is nearest to a number; raises EvaluationError beyond its range."""
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError as error:
        raise EvaluationError(f"{number:g} is out of range of float") from error


def fitting(number: int, kind: Arithmetic) -> int:
    """Return the result of integer arithmetic; raises EvaluationError where it overflows."""
    if not kind.signed:
        return number & kind.highest
    if not kind.lowest <= number <= kind.highest:
        raise EvaluationError(f"{_short(number)} is out of range of {kind.name}")
    return number


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**30 else "an integer"


def as_arithmetic(number: float, kind: Arithmetic) -> int | float:
    """Return a number as a type holds it, as C converts; raises EvaluationError where it can't."""
    if kind.floating:
        return rounded(float(number)) if kind is FLOAT else float(number)
    if kind is BOOL:
        return int(number != 0)
    if isinstance(number, float):
        if not isfinite(number) or not kind.lowest <= int(number) <= kind.highest:
            raise EvaluationError(f"{number:g} is out of range of {kind.name}")
        return int(number)
    if kind.signed:  # what gcc does: the low bits
        low = number & ((1 << (8 * kind.size)) - 1)
        return low - (1 << (8 * kind.size)) if low > kind.highest else low
    return number & kind.highest


def converted(value: Value, to: CType) -> Value:
    """Return a value as an assignment to a variable of a type converts it."""
    if value.type == to:
        return value
    if isinstance(to, Arithmetic):
        return Value(to, as_arithmetic(value.number(), to))
    if isinstance(to, PointerType) and isinstance(value.type, PointerType):
        if isinstance(value.data, Ref) and to.to is not None:
            value.data.buffer.become(to.to)
        elif isinstance(value.data, str) and to.to is not CHAR:
            raise EvaluationError(f"expected '{to.name}', got a string")
        return Value(to, value.data)
    if isinstance(to, PointerType) and value.data == 0 and isinstance(value.data, int):
        return Value(to, None)
    expected = described(to)
    raise EvaluationError(f"expected {expected}, got {described(value.type)}")


_TYPES: Mapping[tuple[str, ...], Arithmetic] = {
    ("char",): CHAR,
    ("char", "signed"): CHAR,
    ("char", "unsigned"): UCHAR,
    ("short",): SHORT,
    ("int", "short"): SHORT,
    ("short", "unsigned"): USHORT,
    ("int",): INT,
    ("int", "signed"): INT,
    ("signed",): INT,
    ("unsigned",): UINT,
    ("int", "unsigned"): UINT,
    ("long",): LONG,
    ("int", "long"): LONG,
    ("long", "long"): LONG,
    ("long", "unsigned"): ULONG,
    ("int", "long", "unsigned"): ULONG,
    ("size_t",): ULONG,
    ("bool",): BOOL,
    ("float",): FLOAT,
    ("double",): DOUBLE,
}


def element_type(written: TypeName) -> Arithmetic | None:
    """Return the type of numbers that a written type names, None for `void`.

    Raises EvaluationError for words that make no type.
    """
    if written.words == ("void",):
        return None
    kind = _TYPES.get(tuple(sorted(written.words)))
    if kind is None:
        raise EvaluationError(f"unknown type '{' '.join(written.words)}'")
    return kind


def type_of(written: TypeName) -> CType:
    """Return the type that is written, a pointer for an array; raises EvaluationError."""
    kind = element_type(written)
    if written.is_pointer or written.is_array:
        return PointerType(kind)
    if kind is None:
        raise EvaluationError("expected a type of values, got 'void'")
    return kind


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right` for numbers, by C's usual conversions."""
    a, b = left.number(), right.number()
    assert isinstance(left.type, Arithmetic)
    assert isinstance(right.type, Arithmetic)
    kind = max(left.type, right.type, INT, key=lambda each: each.rank)
    a, b = as_arithmetic(a, kind), as_arithmetic(b, kind)
    if operator in COMPARISONS:
        return Value(INT, int(COMPARISONS[operator](a, b)))
    if operator in ("/", "%") and b == 0:
        raise EvaluationError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return _float_arithmetic(operator, float(a), float(b), kind)
    return Value(kind, fitting(_integer_arithmetic(operator, a, b), kind))


def _integer_arithmetic(operator: str, a: int, b: int) -> int:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case _:
            quotient = abs(a) // abs(b)
            if (a < 0) != (b < 0):
                quotient = -quotient
            return quotient if operator == "/" else a - b * quotient


def _float_arithmetic(operator: str, a: float, b: float, kind: Arithmetic) -> Value:
    match operator:
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case "/":
            result = a / b
        case _:
            raise EvaluationError("% is for integers")
    if not isfinite(result):
        raise EvaluationError(f"{a:g} {operator} {b:g} is out of range of {kind.name}")
    return Value(kind, rounded(result) if kind is FLOAT else result)


def loaded(ref: Ref) -> Value:
    """Return the element that a pointer is to; raises EvaluationError."""
    if ref.buffer.element is None:
        raise EvaluationError("expected an array whose element type is known")
    return Value(ref.buffer.element, ref.load())


def size_of(written: TypeName) -> Value:
    """Return `sizeof` of a type of numbers or pointers; raises EvaluationError."""
    if written.is_pointer:
        return Value(ULONG, 8)
    element = element_type(written)
    if element is None or written.is_array:
        raise EvaluationError("expected sizeof of a type of numbers")
    return Value(ULONG, element.size)


def combined(operator: str, left: Value, right: Value) -> Value:
    """Return what an operator makes of two values: numbers, or a pointer and a number."""
    if isinstance(left.type, Arithmetic) and isinstance(right.type, Arithmetic):
        return arithmetic(operator, left, right)
    if operator in ("==", "!=") and NULL.data in (left.data, right.data):
        return int_value(int((left.data is right.data) == (operator == "==")))
    if operator in ("+", "-") and isinstance(left.data, Ref):
        by = right.number()
        if isinstance(by, int):
            return Value(left.type, left.data.moved(by if operator == "+" else -by))
    if isinstance(left.data, str) and isinstance(right.data, str):
        raise EvaluationError("strings are compared by ln_streq")
    raise EvaluationError(
        f"expected numbers beside {operator}, got {described(left.type)} "
        f"and {described(right.type)}"
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
