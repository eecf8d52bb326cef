"""Writes functions of LLVM IR that compute on the four parts of exact numbers."""

import struct
from collections.abc import Callable, Iterable, Sequence

from gawee_dialect.instruments.prove.native.types import PARTS
from gawee_dialect.instruments.prove.residues import PRIMES

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
        return Writer(None, self._declare, self.lines)

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
        return [self.reduced(each, prime) for each, prime in zip(residues, PRIMES, strict=True)]

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


def bits_of(value: float) -> int:
    """Return the bits of a double."""
    return int.from_bytes(struct.pack(">d", value))
