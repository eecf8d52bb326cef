"""Tensor types as the ops of this dialect see them: narrowing, element types, sizes in bytes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import copysign, inf, prod
from typing import TypeAlias, TypeGuard

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Signedness,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import OpenSize, is_open
from gawee_dialect.hints import isa

AnyTensor: TypeAlias = TensorType[Attribute]
AnyShaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]

ui8 = IntegerType(8, Signedness.UNSIGNED)
ui16 = IntegerType(16, Signedness.UNSIGNED)

ELEMENT_TYPES: dict[str, Attribute] = {
    "float32": f32,
    "float16": f16,
    "float64": f64,
    "int64": i64,
    "int32": i32,
    "int16": i16,
    "int8": i8,
    "uint16": ui16,
    "uint8": ui8,
    "bool": i1,
}
"""NumPy's name of every element type that tensors of this dialect may have."""

DTYPE_NAMES: dict[Attribute, str] = {element: name for name, element in ELEMENT_TYPES.items()}
"""The inverse of `ELEMENT_TYPES`: what NumPy calls an element type."""


def is_tensor(type: Attribute) -> TypeGuard[AnyTensor]:
    """Whether a type is a tensor type; xDSL's `isa` says the same ten times slower."""
    return isinstance(type, TensorType)


def is_shaped(type: Attribute) -> TypeGuard[AnyShaped]:
    """Whether a type is that of a tensor or of a buffer."""
    return isinstance(type, TensorType | MemRefType)


def tensor_type(value: SSAValue) -> AnyTensor:
    """Return the type of a value that an op definition has constrained to be a tensor."""
    assert is_tensor(value.type)
    return value.type


def tensor_shape(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a value that an op definition has constrained to be a tensor."""
    return tensor_type(value).get_shape()


def element_type(value: SSAValue) -> Attribute:
    """Return the element type of a value constrained to be a tensor."""
    return tensor_type(value).element_type


def is_byte(element: Attribute) -> bool:
    """Whether elements are integers of 8 bits, with a sign or without."""
    return isa(element, IntegerType) and element.width.data == 8


def is_float(element: Attribute) -> bool:
    """Whether an element type is one of the float types of this dialect."""
    return isinstance(element, Float16Type | Float32Type | Float64Type)


def is_signed_number(element: Attribute) -> bool:
    """Whether an element type is a float or a signless integer wider than one bit."""
    if isa(element, IntegerType):
        return element.signedness.data is Signedness.SIGNLESS and element.width.data > 1
    return is_float(element)


def is_integer(element: Attribute) -> bool:
    """Whether an element type is an integer of any width and signedness, i1 included."""
    return isinstance(element, IntegerType)


def is_number(element: Attribute) -> bool:
    """Whether an element type is a float or an integer wider than one bit."""
    if isa(element, IntegerType):
        return element.width.data > 1
    return is_float(element)


def is_unsigned(element: Attribute) -> bool:
    """Whether an element type is an unsigned integer."""
    return isa(element, IntegerType) and element.signedness.data is Signedness.UNSIGNED


LONG_SUM = 8192
"""Sums of f32 of more terms than this have a total in f64.

Shorter ones are left as they are: the longest of the usual convolutions has 6912.
"""


def computed_type(element: Attribute) -> Attribute:
    """Return the type that elements are computed in: f32 for f16, i32 for unsigned bytes.

    The arith dialect has signless integers only; i32 holds every unsigned byte.
    """
    if element == f16:
        return f32
    return i32 if is_unsigned(element) else element


def integer_range(element: IntegerType) -> tuple[int, int]:
    """Return the lowest and the highest value of an integer type; signless ones are signed."""
    bits = element.width.data
    if element.signedness.data is Signedness.UNSIGNED:
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


@dataclass(frozen=True)
class ElementClass:
    """A set of element types that ops are defined on, and how messages spell it."""

    text: str
    holds: Callable[[Attribute], bool]

    def require(self, what: str, element: Attribute) -> None:
        """Raise VerifyException that lists the element types of the set unless it has `element`."""
        if not self.holds(element):
            raise VerifyException(
                f"unsupported element type '{element}' of {what}; supported: {self.text}"
            )


FLOATS = ElementClass("f16, f32, f64", is_float)
NUMBERS = ElementClass("f16, f32, f64, integers of more than one bit", is_number)
INTEGERS = ElementClass("integers", is_integer)
BOOLEANS = ElementClass("i1", lambda element: element == i1)
ELEMENTS = ElementClass("f16, f32, f64, integers", lambda e: is_float(e) or is_integer(e))
STORED = ElementClass("bf16, f16, f32, f64, integers", lambda e: e == bf16 or ELEMENTS.holds(e))
"""What tensors may hold; ops that compute cast bf16 to f32 and back."""


def float_attribute(number: float, element: AnyFloat) -> FloatAttr:
    """Return a number rounded to an element type, as IEEE 754 rounds: far too large is infinite."""
    try:
        return FloatAttr(number, element)
    except OverflowError:
        return FloatAttr(copysign(inf, number), element)


def dtype_name(element: Attribute) -> str:
    """Return NumPy's name of an element type; an `index` is an int64.

    `bfloat16` is a name that the package ml_dtypes registers with NumPy. Raises VerifyException for
    an element type that NumPy has no array of.
    """
    if isinstance(element, IndexType):
        return "int64"
    if isinstance(element, BFloat16Type):
        return _bfloat16()
    if element not in DTYPE_NAMES:
        raise VerifyException(
            f"unsupported element type '{element}'; supported: "
            + ", ".join(str(supported) for supported in DTYPE_NAMES)
        )
    return DTYPE_NAMES[element]


def install_hint(element: Attribute) -> str | None:
    """Return how to install what has NumPy's arrays of an element type; None where NumPy has."""
    return "pip install 'gawee-dialect[bf16]'" if isinstance(element, BFloat16Type) else None


def _bfloat16() -> str:
    try:
        import_module("ml_dtypes")
    except ImportError as error:
        raise VerifyException(
            "unsupported element type 'bf16': NumPy has it from ml_dtypes, which is not installed"
        ) from error
    return "bfloat16"


def tensor_of(element: Attribute, shape: Sequence[int]) -> AnyTensor:
    """Return the type of a tensor; where its sizes are numbers, it is made once."""
    if [size for size in shape if type(size) is not int]:  # forms are equal that are others
        return TensorType(element, shape)
    return _tensor_of(element, tuple(shape))


@lru_cache(maxsize=4096)
def _tensor_of(element: Attribute, shape: tuple[int, ...]) -> AnyTensor:
    return TensorType(element, shape)


@lru_cache(maxsize=256)
def vector_of(element: Attribute, lanes: int) -> VectorType[Attribute]:
    """Return the type of a vector of rank 1, which is made once."""
    return VectorType(element, [lanes])


_FLOAT_BYTES: Mapping[type[Attribute], int] = {
    Float32Type: 4,
    Float16Type: 2,
    BFloat16Type: 2,
    Float64Type: 8,
}


def element_bytes(element: Attribute) -> int:
    """Return the bytes one element takes in memory; i1 is stored as one byte, as NumPy does.

    The element of an accumulator is a vector.
    """
    known = _FLOAT_BYTES.get(type(element))
    if known is not None:
        return known
    if isa(element, VectorType[Attribute]):
        return prod(element.get_shape()) * element_bytes(element.element_type)
    if isa(element, IntegerType):
        return max(1, element.width.data // 8)
    if isinstance(element, IndexType):
        return 8
    assert isinstance(element, AnyFloat)
    return element.size


def dense_bytes(shape: Sequence[int], element: Attribute) -> int:
    """Return the bytes a dense, C-ordered array takes."""
    return prod(shape) * element_bytes(element)


def shaped_bytes(type: AnyShaped) -> int:
    """Return the bytes a dense, C-ordered array of this type takes."""
    return dense_bytes(type.get_shape(), type.element_type)


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as messages spell it: 1x3x224x224, batch x 3 of a size with a name, ?x3
    of one without, or `scalar`."""
    between = " x " if is_open(shape) else "x"
    return between.join(map(_size_text, shape)) if shape else "scalar"


def _size_text(size: int) -> str:
    if isinstance(size, OpenSize):
        return str(size) if len(size.form.terms) == 1 and not size.form.constant else f"({size})"
    return "?" if size == DYNAMIC_INDEX else str(size)


def require(condition: bool, message: str) -> None:
    """Raise VerifyException with `message` unless `condition` holds."""
    if not condition:
        raise VerifyException(message)


# These test first and write the message after: printing a type costs more than all the checks of
# an op together.


def require_rank(what: str, type: AnyTensor, rank: int) -> None:
    """Raise VerifyException unless `type` has the rank that an op expects of it."""
    if len(type.get_shape()) != rank:
        raise VerifyException(
            f"expected {what} of rank {rank}, got rank {len(type.get_shape())} ('{type}')"
        )


def fits_shape(wanted: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a shape is one of those of a type, which leaves some sizes open or none."""
    return len(wanted) == len(shape) and all(
        size in (DYNAMIC_INDEX, number) for size, number in zip(wanted, shape, strict=True)
    )


def require_input_shape(name: str, wanted: Sequence[int], shape: Sequence[int]) -> None:
    """Raise GaweeError unless a shape is one of those that an input may have."""
    if not fits_shape(wanted, shape):
        text = f"expected input '{name}' of shape {shape_text(wanted)}, got {shape_text(shape)}"
        raise GaweeError(text)


def require_shape(what: str, type: AnyTensor, shape: Sequence[int]) -> None:
    """Raise VerifyException unless `type` has the shape that an op expects of it."""
    if type.get_shape() != tuple(shape):
        raise VerifyException(
            f"expected {what} of shape {shape_text(shape)}, got {shape_text(type.get_shape())}"
        )


def require_same_element(
    what: str, type: AnyTensor, reference: AnyTensor, reference_name: str = "input"
) -> None:
    """Raise VerifyException unless two tensors have one element type."""
    if type.element_type != reference.element_type:
        raise VerifyException(
            f"expected {what} element type '{type.element_type}' to match "
            f"{reference_name} element type '{reference.element_type}'"
        )


def require_static(what: str, type: Attribute) -> None:
    """Raise VerifyException where a size of a tensor is neither a number nor a form of names."""
    if isinstance(type, ShapedType) and not type.has_static_shape():
        if all(isinstance(size, OpenSize) or size != DYNAMIC_INDEX for size in type.get_shape()):
            return
        raise VerifyException(f"expected {what} of static shape, got '{type}'")


def require_float(what: str, type: AnyTensor) -> None:
    """Raise VerifyException unless the element type is f16, f32 or f64."""
    if not is_float(type.element_type):
        raise VerifyException(
            f"expected {what} of element type f16, f32 or f64, got '{type.element_type}'"
        )


def require_signed_number(what: str, type: AnyTensor) -> None:
    """Raise VerifyException unless the element type is a float or a signless integer above i1."""
    if not is_signed_number(type.element_type):
        raise VerifyException(
            f"expected {what} of a float or signless integer element type, "
            f"got '{type.element_type}'"
        )


def require_length(what: str, values: Sequence[int], length: int) -> None:
    """Raise VerifyException unless an attribute has as many entries as an op expects."""
    require(
        len(values) == length,
        f"expected {what} of {length} entries, got {len(values)} ({list(values)})",
    )


def require_positive(what: str, values: Sequence[int]) -> None:
    """Raise VerifyException unless every entry of an attribute is at least 1."""
    require(all(v >= 1 for v in values), f"expected {what} of at least 1, got {list(values)}")


def require_non_negative(what: str, values: Sequence[int]) -> None:
    """Raise VerifyException unless every entry of an attribute is at least 0."""
    require(all(v >= 0 for v in values), f"expected {what} of at least 0, got {list(values)}")


# Axes that ops name; a negative one counts from the end.


def require_axis(what: str, axis: int, rank: int) -> int:
    """Return an axis counted from 0; raises VerifyException where there is no such axis."""
    require(rank >= 1, f"expected input of rank 1 or more for {what} {axis}, got a scalar")
    require(-rank <= axis < rank, f"expected {what} from {-rank} to {rank - 1}, got {axis}")
    return axis % rank


def resolved_axes(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from 0; raises VerifyException unless they are axes, each named once."""
    resolved = [require_axis("axes", axis, rank) for axis in axes]
    require(len(set(resolved)) == len(resolved), f"expected axes named once each, got {list(axes)}")
    return resolved
