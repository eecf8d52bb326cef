"""What functions of elements compute on exact numbers in machine code.

The same as `arithmetic.py` and `functions.py` say of arrays, of scalars or of vectors. Where that
takes a hash or a branch, the lanes of a vector are computed one by one.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from gawee_dialect.instruments.prove.arithmetic import SPLIT
from gawee_dialect.instruments.prove.functions import LARGEST_POWER
from gawee_dialect.instruments.prove.native.writer import (
    PARTS,
    Code,
    Memory,
    Parts,
    Writer,
    name_of,
    suffix,
)
from gawee_dialect.instruments.prove.residues import LARGEST_EXACT, primes

# The functions on exact numbers that a module calls, each written once, at its first use.

Meaning = Callable[["Library", Writer, list[Parts]], Parts]
"""Writes a function of numbers, and returns the parts of its result."""

Request = tuple[Callable[..., str], tuple[Hashable, ...]]
"""What writes a function of the library, and of which key."""


class Library:
    """Definitions of functions in LLVM IR, by name."""

    def __init__(
        self,
        memory: Memory,
        on_vectors: Mapping[str, Meaning],
        on_lanes: Mapping[str, Meaning],
        writer: type[Writer] = Writer,
    ):
        """Know functions of scalars and vectors alike, and those of each lane."""
        self.memory = memory
        self._on_vectors = on_vectors
        self._on_lanes = on_lanes
        self._writer = writer
        self.definitions: dict[str, Code] = {}
        self._symbols: dict[Request, str] = {}
        self.declarations: dict[str, str] = {}
        self._groups: dict[str, list[Code]] = {}
        """Of each function those that it is compiled with."""

    def declare(self, line: str) -> None:
        """Declare an intrinsic, or a function of C, once."""
        self.declarations[name_of(line)] = line

    def writer(self, lanes: int | None) -> Writer:
        """Begin a function of scalars or of vectors."""
        return self._writer(lanes, self.declare)

    def symbol(self, write: Callable[..., str], *key: Hashable) -> str:
        """Return the name of a function that is written of a key, at its first use."""
        request = write, key
        if request not in self._symbols:
            self._symbols[request] = write(self, *key)
        return self._symbols[request]

    def define(self, symbol: str, result: str, arguments: str, lines: Sequence[str]) -> None:
        """Add a function."""
        body = "\n".join(f"  {line}" for line in ("entry:", *lines))
        text = f"define {result} @{symbol}({arguments}) noinline {{\n{body}\n}}"
        self.definitions[symbol] = Code.of(text)

    def groups(self, names: Iterable[str]) -> Iterable[Sequence[Code]]:
        """Return the functions that are called, and those that these call: as they are compiled."""
        found: dict[int, list[Code]] = {}
        new: list[Code] = []
        waiting, seen = [*names], set[str]()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.definitions:
                continue
            seen.add(name)
            if name not in self._groups:
                self._groups[name] = new
                new.append(self.definitions[name])
            group = found[id(group)] = self._groups[name]
            for each in group:
                waiting += (*each.defines, *each.needs)
        return found.values()

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


def _linear(op: str) -> Meaning:
    def write(library: Library, w: Writer, operands: list[Parts]) -> Parts:
        return w.linear(op, *operands)

    return write


def _fused(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return w.fused(*operands)


def _inverse(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    """1 / x"""
    (number,) = operands
    finite = w.is_finite(number[0])
    known = [w.choose(finite, each, w.constant(0)) for each in number[1:]]
    return [w.binary("fdiv", w.constant(1), _with_zeros(w, number)), *w.reciprocals(known)]


def _negative(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return _negated(w, *operands)


def _negated(w: Writer, number: Parts) -> Parts:
    return w.linear("fmul", number, [w.constant(-1)] * PARTS)


def _with_zeros(w: Writer, number: Parts) -> str:
    """Write the value, 0 of the number 0, as `arithmetic.py` divides it."""
    return w.choose(_is_zero(w, number), w.constant(0), number[0])


def _divide(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    lhs, rhs = operands
    inverse = library.call(w, "inverse", rhs)
    _, *residues = library.call(w, "multiply", lhs, inverse)
    return [w.binary("fdiv", _with_zeros(w, lhs), _with_zeros(w, rhs)), *residues]


def _absolute(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    (x,) = operands
    return w.choose_parts(w.compare("olt", x[0], w.constant(0)), _negated(w, x), x)


def _copysign(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    size = _absolute(library, w, operands[:1])
    sign = w.intrinsic("copysign", w.constant(1), operands[1][0])
    below = w.compare("olt", sign, w.constant(0))
    return w.choose_parts(below, _negated(w, size), size)


def settled(w: Writer, number: Parts) -> str:
    """Write the value, that of a whole number without roundings, as `Numbers.settled` does."""
    nearest = w.intrinsic("roundeven", number[0])
    return w.choose(w.equals(number, nearest), nearest, number[0])


def in_order(w: Writer, lhs: Parts, rhs: Parts) -> tuple[str, str]:
    """Write values to compare, as `arithmetic.py` has them."""
    x, y = settled(w, lhs), settled(w, rhs)
    finite = w.both(w.is_finite(x), w.is_finite(y))
    near = w.compare("oeq", _leading(w, x), _leading(w, y))
    same = _is_zero(w, w.linear("fsub", lhs, rhs))
    near = w.both(finite, w.emit(f"or {w.bits} {near}, {same}"))
    return w.choose(near, w.rank(lhs), x), w.choose(near, w.rank(rhs), y)


def _leading(w: Writer, value: str) -> str:
    """Write a double rounded to its leading bits."""
    scaled = w.binary("fmul", value, w.exact(SPLIT))
    return w.binary("fsub", scaled, w.binary("fsub", scaled, value))


def _choice(predicate: str, nan: int) -> Meaning:
    """Return the operand that a comparison chooses, the first where operand `nan` is no number."""

    def write(library: Library, w: Writer, operands: list[Parts]) -> Parts:
        lhs, rhs = operands
        first = w.compare(predicate, *in_order(w, lhs, rhs))
        other = w.compare("uno", operands[nan][0], operands[nan][0])
        return w.choose_parts(w.emit(f"or {w.bits} {first}, {other}"), lhs, rhs)

    return write


def _exp_plus(library: Library, w: Writer, operands: list[Parts], name: str) -> Parts:
    """(exp(x) + or - 1 / exp(x)) / 2"""
    raised = library.call(w, "exp", *operands)
    inverse = library.call(w, "divide", _one(w), raised)
    total = library.call(w, name, raised, inverse)
    return library.call(w, "divide", total, [w.constant(2)] * 4)


def _one(w: Writer) -> Parts:
    return [w.constant(1)] * 4


def _sinh(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return _exp_plus(library, w, operands, "subtract")


def _cosh(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return _exp_plus(library, w, operands, "add")


def _expm1(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return library.call(w, "subtract", library.call(w, "exp", *operands), _one(w))


def _log1p(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    return library.call(w, "log", library.call(w, "add", *operands, _one(w)))


ON_VECTORS: Mapping[str, Meaning] = {
    "add": _linear("fadd"),
    "subtract": _linear("fsub"),
    "multiply": _linear("fmul"),
    "fma": _fused,
    "inverse": _inverse,
    "divide": _divide,
    "negative": _negative,
    "absolute": _absolute,
    "copysign": _copysign,
    "maximum": _choice("oge", 0),
    "minimum": _choice("ole", 0),
    "fmax": _choice("oge", 1),
    "fmin": _choice("ole", 1),
    "sinh": _sinh,
    "cosh": _cosh,
    "expm1": _expm1,
    "log1p": _log1p,
}
"""Functions without a branch: scalars and vectors alike."""


def whole(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    """Return the number that a double without a fraction is; of what is not finite, residues 0."""
    value = operands[0][0]
    finite = w.choose(w.is_finite(value), value, w.constant(0))
    small = w.compare("olt", w.intrinsic("fabs", finite), w.exact(LARGEST_EXACT))
    w.do(f"br i1 {small}, label %small, label %large")
    w.label("small")
    low = w.all_reduced([finite] * 3)
    w.do("br label %done")
    w.label("large")
    rest = [w.binary("frem", finite, w.constant(prime)) for prime in primes()]
    high = w.all_reduced(rest)
    w.do("br label %done")
    w.label("done")
    pairs = zip(low, high, strict=True)
    return [value, *(w.emit(f"phi double [ {a}, %small ], [ {b}, %large ]") for a, b in pairs)]


def _rounded(intrinsic: str) -> Meaning:
    def write(library: Library, w: Writer, operands: list[Parts]) -> Parts:
        value = w.intrinsic(intrinsic, settled(w, operands[0]))
        return library.call(w, "whole", [value] * 4)

    return write


def _uninterpreted(name: str, of_values: str) -> Meaning:
    """Write a function of numbers of which nothing is known but its values."""

    def write(library: Library, w: Writer, operands: list[Parts]) -> Parts:
        zeros = [_is_zero(w, each) for each in operands]
        pairs = zip(zeros, [settled(w, each) for each in operands], strict=True)
        values = [w.choose(zero, w.constant(0), value) for zero, value in pairs]
        value = library.of_doubles(w, of_values, values)
        drawn = w.of_function(name, operands)
        known = w.emit(f"xor i1 {w.is_finite(value)}, true")
        if len(operands) == 1:
            infinite = w.emit(f"xor i1 {w.is_finite(values[0])}, true")
            known = w.emit(f"or i1 {known}, {w.emit(f'or i1 {zeros[0]}, {infinite}')}")
        plain = library.call(w, "whole", [value] * 4)
        return [value, *w.choose_parts(known, plain[1:], drawn)]

    return write


def _is_zero(w: Writer, number: Parts) -> str:
    """Write whether a number is 0, as `Numbers.is_zero` says."""
    return w.both(w.is_finite(number[0]), w.equals(number, w.constant(0)))


def _whole_power(library: Library, w: Writer, base: Parts, exponent: str) -> Parts:
    result = _one(w)
    for bit in reversed(range(LARGEST_POWER.bit_length())):
        result = library.call(w, "multiply", result, result)
        shifted = w.emit(f"lshr i64 {exponent}, {bit}")
        is_set = w.emit(f"trunc i64 {shifted} to i1")
        result = w.choose_parts(is_set, library.call(w, "multiply", result, base), result)
    return result


def _power(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    """By multiplication to a whole power, by a root to one half; `functions.py` has the rules."""
    base, exponent = operands
    size = w.intrinsic("fabs", exponent[0])
    is_half = w.compare("oeq", size, w.exact(0.5))
    is_whole = w.compare("oeq", size, w.intrinsic("trunc", size))
    small = w.emit(f"and i1 {is_whole}, {w.compare('ole', size, w.constant(LARGEST_POWER))}")
    by_hash = library.call(w, "any_power", base, exponent)
    root = library.call(w, "sqrt", base)
    count = w.emit(f"fptosi double {w.choose(small, size, w.constant(0))} to i64")
    product = _whole_power(library, w, base, count)
    positive = w.choose_parts(is_half, root, product)
    below = w.compare("olt", exponent[0], w.constant(0))
    inverse = library.call(w, "inverse", positive)
    derived = w.choose_parts(below, inverse, positive)
    simple = w.emit(f"or i1 {is_half}, {small}")
    return w.choose_parts(simple, derived, by_hash)


def _remainder(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    """x - trunc(x / y) * y"""
    lhs, rhs = operands
    quotient = w.intrinsic("trunc", settled(w, library.call(w, "divide", lhs, rhs)))
    exact = library.call(w, "whole", [quotient] * 4)
    return library.call(w, "subtract", lhs, library.call(w, "multiply", exact, rhs))


def _of_bits(library: Library, w: Writer, operands: list[Parts]) -> Parts:
    """Return what a float stands for that was put together bit by bit."""
    value = operands[0][0]
    fraction = w.compare("one", value, w.intrinsic("trunc", value))
    known = w.emit(f"xor i1 {fraction}, true")
    plain = library.call(w, "whole", [value] * 4)
    return [value, *w.choose_parts(known, plain[1:], w.of_bits(value))]


ON_LANES: Mapping[str, Meaning] = {
    "whole": whole,
    "of_bits": _of_bits,
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "trunc": _rounded("trunc"),
    "round": _rounded("round"),
    "roundeven": _rounded("roundeven"),
    "power": _power,
    "any_power": _uninterpreted("pow", "pow"),
    "fmod": _remainder,
    **{
        name: _uninterpreted(name, of_values)
        for name, of_values in {
            "exp": "exp",
            "exp2": "exp2",
            "log": "log",
            "log2": "log2",
            "log10": "log10",
            "sqrt": "sqrt",
            "cbrt": "cbrt",
            "erf": "erf",
            "tanh": "tanh",
            "sin": "sin",
            "cos": "cos",
            "tan": "tan",
            "arcsin": "asin",
            "arccos": "acos",
            "arctan": "atan",
            "arctan2": "atan2",
            "arcsinh": "asinh",
            "arccosh": "acosh",
            "arctanh": "atanh",
        }.items()
    },
}
"""Functions of scalars, by what they are called in the hash; in a vector, of every lane."""
