"""Writes functions of LLVM IR that compute on the four parts of exact numbers.

They are parts that are compiled by themselves: each says what it defines, and what it needs.
"""

import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    VectorType,
    f64,
    i8,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute

from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa
from gawee_dialect.instruments.prove.degrees import NEAR, UNIT
from gawee_dialect.instruments.prove.residues import LARGEST_EXACT, RANKS, primes

_NAME = re.compile(r"@([\w.$-]+)")
_DEFINITION = re.compile(r"^define (.*)\{$", re.MULTILINE)
_GLOBAL = re.compile(r"^@([\w.$-]+) = (constant|global) (\[\d+ x \w+\])", re.MULTILINE)
_DECLARATION = re.compile(r"^declare [^@]*@([\w.$-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Code:
    """A function or a global, with what it declares itself."""

    text: str
    defines: Mapping[str, str]
    """How others declare what it defines, by name."""

    needs: frozenset[str]
    """What it names, and neither defines nor declares."""

    @staticmethod
    def of(text: str) -> "Code":
        """Read a text of functions and globals."""
        defines: dict[str, str] = {}
        for match in _DEFINITION.finditer(text):
            head = match[1][: match[1].rindex(")") + 1]
            defines[name_of(head)] = f"declare {head}"
        for match in _GLOBAL.finditer(text):
            defines[match[1]] = f"@{match[1]} = external {match[2]} {match[3]}"
        named = {*_NAME.findall(text)} - defines.keys() - {*_DECLARATION.findall(text)}
        return Code(text, defines, frozenset(named))


def name_of(line: str) -> str:
    """Return the first name in a line, which is a head or a declaration."""
    found = _NAME.search(line)
    assert found is not None
    return found[1]


def joined(parts: Sequence[Code], known: Mapping[str, str]) -> str:
    """Return a text of some parts, with declarations of what they need of others."""
    defined = {name for each in parts for name in each.defines}
    needs = {name for each in parts for name in each.needs} - defined
    declared = [known[name] for name in sorted(needs) if name in known]
    return "\n".join((*(each.text for each in parts), *declared, ""))


# What types become where a float is an exact number: four doubles, the value and three residues.
#
# A vector of n floats is four vectors of n doubles in registers, and n groups of four doubles in
# memory. All of memory is stretched by one factor, so that what overlapped does, and nothing else.

PARTS = 4
"""The doubles of a number: its value, then its residues."""

DOUBLE = 8

_FLOATS = {16: "half", 32: "float", 64: "double"}


def lane_of(type: Attribute) -> Attribute:
    """Return the type of a vector's lanes, any other type as it is."""
    return type.element_type if isa(type, VectorType[Attribute]) else type


def lanes_of(type: Attribute) -> int | None:
    """Return how many lanes a vector has, None of a scalar."""
    return type.get_shape()[0] if isa(type, VectorType[Attribute]) else None


def spelled(type: Attribute) -> str:
    """Return LLVM IR's spelling of a scalar of numbers, or of a vector."""
    lane, lanes = lane_of(type), lanes_of(type)
    text = _FLOATS[lane.bitwidth] if isinstance(lane, AnyFloat) else str(lane)
    return text if lanes is None else f"<{lanes} x {text}>"


def suffix_of(type: Attribute) -> str:
    """Return how names of functions spell a type: `f32`, `v16i8`."""
    lane, lanes = lane_of(type), lanes_of(type)
    return f"{lane}" if lanes is None else f"v{lanes}{lane}"


def is_float(type: Attribute) -> bool:
    """Whether values of a type are exact numbers: floats, and vectors of them."""
    return isinstance(lane_of(type), Float16Type | Float32Type | Float64Type)


def in_registers(type: Attribute) -> Attribute:
    """Return what a value is of: four doubles, or vectors of them, for floats."""
    if is_float(type):
        lanes = lanes_of(type)
        return LLVMArrayType(PARTS, f64 if lanes is None else VectorType(f64, [lanes]))
    return type


def function_type(type: LLVMFunctionType) -> LLVMFunctionType:
    """Return the type of a function of exact numbers."""
    output = None if isinstance(type.output, LLVMVoidType) else in_registers(type.output)
    return LLVMFunctionType([in_registers(each) for each in type.inputs], output)


@dataclass(frozen=True)
class Memory:
    """How memory is stretched."""

    factor: int
    """How many bytes there are for each byte that there was."""

    @staticmethod
    def of(has_halves: bool, dtypes: Iterable[np.dtype[np.generic]]) -> "Memory":
        """Choose the factor by the smallest float, of values or of arguments.

        That must hold four doubles.
        """
        smallest = 2 if has_halves or any(each == np.float16 for each in dtypes) else 4
        return Memory(PARTS * DOUBLE // smallest)

    def doubles(self, type: Attribute) -> int:
        """Return how many doubles a float takes."""
        return self.factor * element_bytes(lane_of(type)) // DOUBLE

    def bytes_of(self, type: Attribute) -> int:
        """Return how many bytes a scalar or a vector takes."""
        return self.factor * element_bytes(lane_of(type)) * (lanes_of(type) or 1)

    def in_memory(self, type: Attribute) -> Attribute:
        """Return a type of the size that a value has in memory; pointers are what they were."""
        match type:
            case LLVMPointerType():
                return type
            case LLVMArrayType():
                return LLVMArrayType(type.size.data, self.in_memory(type.type))
            case LLVMStructType():
                return LLVMStructType.from_type_list([self._field(each) for each in type.types])
            case _:
                return LLVMArrayType(self.bytes_of(type), i8)

    def _field(self, type: Attribute) -> Attribute:
        # Such that a field of doubles is aligned.
        if is_float(type) or isa(lane_of(type), IntegerType):
            return LLVMArrayType(-(-self.bytes_of(type) // DOUBLE), f64)
        return self.in_memory(type)


Parts = Sequence[str]
"""How the value and the residues of a number are spelt."""


def type_of(lanes: int | None, element: str = "double") -> str:
    """Return LLVM's spelling of a scalar, or of a vector."""
    return element if lanes is None else f"<{lanes} x {element}>"


def number_type(lanes: int | None) -> str:
    """Return LLVM's spelling of a number, or of a vector of them."""
    return f"[{PARTS} x {type_of(lanes)}]"


def suffix(lanes: int | None) -> str:
    """Return how names of functions spell doubles: `f64`, `v16f64`."""
    return "f64" if lanes is None else f"v{lanes}f64"


def list_of(type: str, values: Iterable[object]) -> str:
    """Return the spelling of a constant vector."""
    return "<" + ", ".join(f"{type} {value}" for value in values) + ">"


class Writer:
    """The instructions of one function, on scalars or on vectors."""

    def __init__(
        self, lanes: int | None, declare: Callable[[str], None], lines: list[str] | None = None
    ):
        self.lanes = lanes
        self.type = type_of(lanes)
        self.bits = type_of(lanes, "i1")
        self.number = number_type(lanes)
        self.lines = [] if lines is None else lines
        self._declare = declare

    def scalars(self) -> "Writer":
        """Return what writes of scalars in the same function."""
        return type(self)(None, self._declare, self.lines)

    def emit(self, text: str) -> str:
        """Add an instruction, and return the name of its result."""
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(text)

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def parts(self, number: str) -> list[str]:
        """Take a number apart."""
        return [self.emit(f"extractvalue {self.number} {number}, {part}") for part in range(PARTS)]

    def whole(self, parts: Parts) -> str:
        """Put a number together."""
        result = "poison"
        for index, part in enumerate(parts):
            result = self.emit(f"insertvalue {self.number} {result}, {self.type} {part}, {index}")
        return result

    def constant(self, value: float) -> str:
        """Return a whole number as a double, in all lanes."""
        text = f"{float(value):.1f}"
        return text if self.lanes is None else f"splat (double {text})"

    def exact(self, value: float) -> str:
        """Return any double, in all lanes."""
        text = f"0x{bits_of(value):016X}"
        return text if self.lanes is None else f"splat (double {text})"

    def binary(self, op: str, lhs: str, rhs: str) -> str:
        """Compute `fadd`, `fmul` and the like."""
        return self.emit(f"{op} {self.type} {lhs}, {rhs}")

    def compare(self, predicate: str, lhs: str, rhs: str) -> str:
        """Compare doubles."""
        return self.emit(f"fcmp {predicate} {self.type} {lhs}, {rhs}")

    def both(self, lhs: str, rhs: str) -> str:
        """Return where two conditions hold."""
        return self.emit(f"and {self.bits} {lhs}, {rhs}")

    def choose(self, condition: str, lhs: str, rhs: str) -> str:
        """Choose doubles."""
        operands = f"{self.type} {lhs}, {self.type} {rhs}"
        return self.emit(f"select {self.bits} {condition}, {operands}")

    def choose_parts(self, condition: str, lhs: Parts, rhs: Parts) -> list[str]:
        """Choose numbers."""
        return [self.choose(condition, *each) for each in zip(lhs, rhs, strict=True)]

    def intrinsic(self, name: str, *operands: str) -> str:
        """Call an intrinsic of doubles."""
        symbol = f"@llvm.{name}.{suffix(self.lanes)}"
        self._declare(f"declare {self.type} {symbol}({', '.join([self.type] * len(operands))})")
        arguments = ", ".join(f"{self.type} {each}" for each in operands)
        return self.emit(f"call {self.type} {symbol}({arguments})")

    def reduced(self, value: str, prime: int) -> str:
        """Bring a whole number below 2^53 back to about half the prime."""
        quotient = self.binary("fmul", value, self.exact(1 / prime))
        nearest = self.intrinsic("rint", quotient)
        return self.intrinsic("fma", nearest, self.constant(-prime), value)

    def all_reduced(self, residues: Sequence[str]) -> list[str]:
        """Bring three residues back."""
        return [self.reduced(each, prime) for each, prime in zip(residues, primes(), strict=True)]

    def is_finite(self, value: str) -> str:
        """Return whether a double is no infinity and no NaN."""
        size = self.intrinsic("fabs", value)
        return self.compare("olt", size, self.exact(float("inf")))

    def lane(self, parts: Parts, lane: int) -> list[str]:
        """Return one lane of a vector of numbers."""
        return [self.emit(f"extractelement {self.type} {part}, i32 {lane}") for part in parts]

    def from_lanes(self, numbers: Sequence[Parts]) -> list[str]:
        """Make a vector of numbers of its lanes."""
        result = ["poison"] * PARTS
        for lane, number in enumerate(numbers):
            for part in range(PARTS):
                operands = f"{self.type} {result[part]}, double {number[part]}, i32 {lane}"
                result[part] = self.emit(f"insertelement {operands}")
        return result

    # What is computed beside the value: residues, or what a run has in their place.

    def linear(self, op: str, lhs: Parts, rhs: Parts) -> list[str]:
        """Compute a sum, a difference or a product of numbers."""
        value, *rest = (self.binary(op, *each) for each in zip(lhs, rhs, strict=True))
        return [value, *self.all_reduced(rest)]

    def fused(self, lhs: Parts, rhs: Parts, addend: Parts) -> list[str]:
        """Compute x * y + z; not rounded once: the value is that of a product and a sum."""
        value = self.binary("fadd", self.binary("fmul", lhs[0], rhs[0]), addend[0])
        parts = zip(lhs[1:], rhs[1:], addend[1:], strict=True)
        return [value, *self.all_reduced([self.intrinsic("fma", *each) for each in parts])]

    def reciprocals(self, residues: Sequence[str]) -> list[str]:
        """Compute the residues of 1 / x: by Fermat's theorem, the power p - 2."""
        return [self._power_of(*each) for each in zip(residues, primes(), strict=True)]

    def _power_of(self, base: str, prime: int) -> str:
        result = self.constant(1)
        for bit in f"{prime - 2:b}":
            result = self.reduced(self.binary("fmul", result, result), prime)
            if bit == "1":
                result = self.reduced(self.binary("fmul", result, base), prime)
        return result

    def equals(self, number: Parts, whole: str) -> str:
        """Return whether a number is a whole one, whatever rounding did to its value."""
        same = self.compare("olt", self.intrinsic("fabs", whole), self.exact(LARGEST_EXACT))
        for rest in self.all_reduced([self.binary("fsub", each, whole) for each in number[1:]]):
            same = self.both(same, self.compare("oeq", rest, self.constant(0)))
        return same

    def rank(self, number: Parts) -> str:
        """Return a double that distinguishes numbers by two of their residues."""
        first, second = (
            self._positive(residue, prime)
            for residue, prime in zip(number[1:3], primes()[:2], strict=True)
        )
        return self.binary("fadd", self.binary("fmul", first, self.exact(RANKS)), second)

    def _positive(self, residue: str, prime: int) -> str:
        above = self.binary("fadd", residue, self.constant(prime))
        return self.choose(self.compare("olt", residue, self.constant(0)), above, residue)

    def of_function(self, name: str, operands: Sequence[Parts]) -> list[str]:
        """Compute residues of a function that is not interpreted: a hash of its operands."""
        return self._hashed(name, map(self._word, operands))

    def of_bits(self, value: str) -> list[str]:
        """Compute residues of a fraction that was put together bit by bit."""
        return self._hashed("bits", [self.emit(f"bitcast double {value} to i64")])

    def _word(self, number: Parts) -> str:
        """Write what `Residues.words` returns."""
        value, *residues = number
        packed = "0"
        for index, (residue, prime) in enumerate(zip(residues, primes(), strict=True)):
            known = self.choose(self.is_finite(residue), residue, self.constant(0))
            word = self.emit(f"fptoui double {self._positive(known, prime)} to i64")
            packed = self.emit(f"or i64 {packed}, {self.emit(f'shl i64 {word}, {21 * index}')}")
        above = self.compare("ogt", value, self.constant(0))
        infinity = self.emit(f"select i1 {above}, i64 -3, i64 -4")
        is_nan = self.compare("uno", value, value)
        special = self.emit(f"select i1 {is_nan}, i64 -2, i64 {infinity}")
        return self.emit(f"select i1 {self.is_finite(value)}, i64 {packed}, i64 {special}")

    def _hashed(self, name: str, words: Iterable[str]) -> list[str]:
        """Write the residues of a hash of a name and of words."""
        state = self._stirred(self.emit(f"add i64 0, {crc32(name.encode())}"))
        for word in words:
            state = self._stirred(self.emit(f"xor i64 {state}, {word}"))
        rest = [self.emit(f"urem i64 {state}, {prime}") for prime in primes()]
        return self.all_reduced([self.emit(f"uitofp i64 {each} to double") for each in rest])

    def _stirred(self, state: str) -> str:
        """Write what `residues.mixed` does after each word."""
        state = self.emit(f"add i64 {state}, {_signed(0x9E3779B97F4A7C15)}")
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = self.emit(f"xor i64 {state}, {self.emit(f'lshr i64 {state}, {shift}')}")
            state = self.emit(f"mul i64 {mixed}, {_signed(factor)}")
        return self.emit(f"xor i64 {state}, {self.emit(f'lshr i64 {state}, 31')}")


class CountingWriter(Writer):
    """What a run writes that counts: see `Counts`."""

    def linear(self, op: str, lhs: Parts, rhs: Parts) -> list[str]:
        counted = [self._larger(*each) for each in zip(lhs[1:], rhs[1:], strict=True)]
        if op == "fmul":
            counted[0] = self.binary("fadd", lhs[1], rhs[1])
        return [self.binary(op, lhs[0], rhs[0]), *counted]

    def fused(self, lhs: Parts, rhs: Parts, addend: Parts) -> list[str]:
        return self.linear("fadd", self.linear("fmul", lhs, rhs), addend)

    def reciprocals(self, residues: Sequence[str]) -> list[str]:
        return [*residues]

    def equals(self, number: Parts, whole: str) -> str:
        distance = self.intrinsic("fabs", self.binary("fsub", number[0], whole))
        return self.compare("olt", distance, self.exact(NEAR))

    def rank(self, number: Parts) -> str:
        return self.constant(0)

    def of_function(self, name: str, operands: Sequence[Parts]) -> list[str]:
        degree, inner, depth = operands[0][1:]
        for _, *more in operands[1:]:
            degree, inner, depth = map(self._larger, (degree, inner, depth), more)
        of_data = self.compare("ogt", degree, self.exact(UNIT / 2))
        inner, depth = self._larger(inner, degree), self.binary("fadd", depth, self.exact(UNIT))
        counted = (self.exact(UNIT), inner, depth)
        return [self.choose(of_data, each, self.constant(0)) for each in counted]

    def of_bits(self, value: str) -> list[str]:
        return [self.exact(UNIT), self.constant(0), self.constant(0)]

    def _larger(self, lhs: str, rhs: str) -> str:
        return self.intrinsic("maxnum", lhs, rhs)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def bits_of(value: float) -> int:
    """Return the bits of a double."""
    return int.from_bytes(struct.pack(">d", value))
