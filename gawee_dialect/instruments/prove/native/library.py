"""The functions on exact numbers that a module calls, each written once, when it is asked for."""

from collections.abc import Callable, Mapping, Sequence

from gawee_dialect.instruments.prove.native.types import Memory
from gawee_dialect.instruments.prove.native.writer import Parts, Writer, suffix

Meaning = Callable[["Library", Writer, list[Parts]], Parts]
"""Writes a function of numbers, and returns the parts of its result."""


class Library:
    """Definitions of functions in LLVM IR, by name."""

    def __init__(
        self, memory: Memory, on_vectors: Mapping[str, Meaning], on_lanes: Mapping[str, Meaning]
    ):
        """Know functions of scalars and vectors alike, and those of each lane."""
        self.memory = memory
        self._on_vectors = on_vectors
        self._on_lanes = on_lanes
        self.definitions: dict[str, str] = {}
        self.declarations: dict[str, None] = {}

    def declare(self, line: str) -> None:
        """Declare an intrinsic, or a function of C, once."""
        self.declarations[line] = None

    def writer(self, lanes: int | None) -> Writer:
        """Begin a function of scalars or of vectors."""
        return Writer(lanes, self.declare)

    def define(self, symbol: str, result: str, arguments: str, lines: Sequence[str]) -> None:
        """Add a function."""
        body = "\n".join(f"  {line}" for line in ("entry:", *lines))
        self.definitions[symbol] = f"define {result} @{symbol}({arguments}) {{\n{body}\n}}"

    def of_numbers(self, name: str, lanes: int | None, count: int) -> str:
        """Return the symbol of a function of so many numbers, or vectors of them."""
        symbol = f"exact.{name}.{suffix(lanes)}"
        if symbol in self.definitions:
            return symbol
        w = self.writer(lanes)
        operands: list[Parts] = [w.parts(f"%a{index}") for index in range(count)]
        if name in self._on_vectors:
            result = self._on_vectors[name](self, w, operands)
        elif lanes is None:
            result = self._on_lanes[name](self, w, operands)
        else:
            result = w.from_lanes([self._lane(w, name, operands, lane) for lane in range(lanes)])
        w.do(f"ret {w.number} {w.whole(result)}")
        arguments = ", ".join(f"{w.number} %a{index}" for index in range(count))
        self.define(symbol, w.number, arguments, w.lines)
        return symbol

    def _lane(self, w: Writer, name: str, operands: Sequence[Parts], lane: int) -> Parts:
        scalars = w.scalars()
        numbers = [scalars.whole(w.lane(each, lane)) for each in operands]
        return self._called(scalars, self.of_numbers(name, None, len(operands)), numbers)

    def call(self, w: Writer, name: str, *operands: Parts) -> list[str]:
        """Write a call of a function of numbers."""
        symbol = self.of_numbers(name, w.lanes, len(operands))
        return self._called(w, symbol, [w.whole(each) for each in operands])

    def _called(self, w: Writer, symbol: str, numbers: Sequence[str]) -> list[str]:
        arguments = ", ".join(f"{w.number} {each}" for each in numbers)
        return w.parts(w.emit(f"call {w.number} @{symbol}({arguments})"))

    def of_doubles(self, w: Writer, name: str, values: Sequence[str]) -> str:
        """Write a call of a function of C's libm."""
        self.declare(f"declare double @{name}({', '.join(['double'] * len(values))})")
        return w.emit(f"call double @{name}({', '.join(f'double {each}' for each in values)})")
