"""Sizes that are open: sums of multiples of named sizes and of products of them.

    batch * length + 3          a size of a graph that is for any batch and any length

A size that is open stands in a shape where a number stands otherwise, and counts as one: `+`, `*`,
`//` and comparisons are those of forms, so that the shape rules of ops, which are written for
numbers, are the rules for open sizes too. What is not the same for all values that its names may
have raises UnknownSize: whether `length < 8`, or what `length // 2` is. Two forms are equal where
they are written the same way; a form is not equal to a number.
https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html (whose symbols do the same)
"""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import combinations
from itertools import product as combined
from math import gcd, prod
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.linear_form import LinearForm

UNBOUNDED = 1 << 31
"""The greatest value of a name of which no greatest one is said."""

NOT_A_NUMBER = 1 << 96
"""What an open size is to code that takes it for a number: more than NumPy and struct take, so that
such code fails and does not go on with a wrong number."""

MOST_BITS = 6
"""Of how many names of 0 or 1 all combinations are looked at."""


class UnknownSize(VerifyException):
    """What is asked of an open size is not the same for all values that it may have."""


@dataclass(frozen=True, order=True)
class SizeName:
    """A named size: its values are the multiples of `step` from `low` to `high`."""

    name: str
    low: int = 1
    high: int = UNBOUNDED
    step: int = 1

    def holds(self, value: int) -> bool:
        """Whether the name may have a value."""
        return self.low <= value <= self.high and value % self.step == 0

    @property
    def last(self) -> int:
        """The greatest value."""
        return self.high - self.high % self.step

    @property
    def is_bit(self) -> bool:
        """Whether the values are 0 and 1, whose powers and quotients are sums of multiples."""
        return (self.low, self.high, self.step) == (0, 1, 1)

    def range_text(self) -> str:
        """Return the values as the text of a module has them: `8 to 512 step 8`."""
        high = "" if self.high >= UNBOUNDED else f" to {self.high}"
        return f"{self.low}{high or ' or more'}" + (f" step {self.step}" if self.step > 1 else "")


_RANGE = re.compile(r"(\d{1,18})(?: to (\d{1,18})| or more)(?: step (\d{1,18}))?")


def name_of_range(name: str, text: str) -> SizeName:
    """Return a named size of the values that a text says; raises VerifyException."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise VerifyException(
            f"expected the range of size '{name}' such as '1 to 512', '1 or more' or "
            f"'8 to 512 step 8', got '{text}'"
        )
    low, high, step = int(found[1]), int(found[2] or UNBOUNDED), int(found[3] or 1)
    if low > high or step < 1 or low % step:
        raise VerifyException(
            f"expected the range of size '{name}' to begin with a multiple of its step and to end "
            f"behind it, got '{text}'"
        )
    return SizeName(name, low, high, step)


Product: TypeAlias = tuple[SizeName, ...]
"""Names that are multiplied, sorted. As an atom of a form each counts its steps: of a size that is
a multiple of 8 an eighth, so that a half of it is whole."""

Form: TypeAlias = LinearForm[Product]


def _steps(product: Product) -> int:
    return prod(each.step for each in product)


def _range_of(product: Product) -> tuple[int, int]:
    return (
        prod(each.low // each.step for each in product),
        prod(each.high // each.step for each in product),
    )


def _terms(form: Form) -> list[tuple[Product, int]]:
    """Return products and their factors, the greatest last: more names, then by their names."""
    terms = sorted(form.terms.items(), key=lambda term: (len(term[0]), term[0]))
    return [((), form.constant), *terms] if form.constant else terms


def _term(product: Sequence[SizeName], factor: int) -> Form:
    bits = {each for each in product if each.is_bit}
    kept = (*bits, *(each for each in product if not each.is_bit))
    return Form(0, {tuple(sorted(kept)): factor}) if product else Form(factor)


def _times(lhs: Form, rhs: Form) -> Form:
    total = Form()
    for product, factor in _terms(lhs):
        for other, other_factor in _terms(rhs):
            total += _term((*product, *other), factor * other_factor)
    return total


def _range(form: Form) -> tuple[int, int]:
    """Return a least and a greatest value: exact in names of 0 or 1 that are in several terms."""
    bits = [each for each in _bits(form) if sum(each in product for product in form.terms) > 1]
    if not 0 < len(bits) <= MOST_BITS:
        return form.range(_range_of)
    ends = [
        _with_bits(form, dict(zip(bits, values, strict=True))).range(_range_of)
        for values in combined((0, 1), repeat=len(bits))
    ]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _bits(form: Form) -> Sequence[SizeName]:
    return sorted({each for product in form.terms for each in product if each.is_bit})


def _with_bits(form: Form, values: Mapping[SizeName, int]) -> Form:
    """Return a form where names of 0 or 1 have values."""
    total = Form(form.constant)
    for product, factor in form.terms.items():
        if all(values.get(each, 1) for each in product):
            total += _term([each for each in product if each not in values], factor)
    return total


def _divided_by_bits(form: Form, divisor: int) -> Form | None:
    """Return the quotient that rounds down, where names of 0 or 1 alone leave a rest.

    A function of bits is a sum of multiples of their products: (a + b + 1) // 2 = a + b - a * b.
    """
    quotient, rest = form.parts(divisor)
    bits = _bits(rest)
    if len(bits) > MOST_BITS or any(not {*bits}.issuperset(product) for product in rest.terms):
        return None
    factors: dict[Product, int] = {}
    for chosen in (each for n in range(len(bits) + 1) for each in combinations(bits, n)):
        whole = _with_bits(rest, {each: int(each in chosen) for each in bits}).constant // divisor
        factor = whole - sum(f for each, f in factors.items() if {*each} <= {*chosen})
        if factor:
            factors[chosen] = factor
            quotient += _term(chosen, factor)
    return quotient


def _divided(form: Form, divisor: Form) -> Form | None:
    """Return the quotient that is whole for all values, by long division; None without one."""
    quotient = Form()
    product, factor = _terms(divisor)[-1]
    while terms := _terms(form):
        left, own_factor = list(terms[-1][0]), terms[-1][1]
        if own_factor % factor or any(left.count(each) < product.count(each) for each in product):
            return None
        for each in product:
            left.remove(each)
        term = _term(left, own_factor // factor)
        quotient += term
        form += _times(term, divisor).scaled(-1)
    return quotient


class OpenSize(int):
    """A size that is a form of names; see the top of this file."""

    form: Form

    @staticmethod
    def of(form: Form) -> int:
        """Return the size of a form: a number where no name is left."""
        if not form.terms:
            return form.constant
        size = OpenSize(NOT_A_NUMBER)
        size.form = form
        return size

    @staticmethod
    def named(name: SizeName) -> int:
        """Return the size that a name stands for."""
        return OpenSize.of(Form(0, {(name,): name.step}))

    @property
    def names(self) -> frozenset[SizeName]:
        """The names that the size depends on."""
        return frozenset(name for product in self.form.terms for name in product)

    def at(self, values: Mapping[str, int]) -> int:
        """Return the size where names have values; those without one stay."""
        total = self.form.constant
        for product, factor in self.form.terms.items():
            times: int = factor
            for each in product:
                value = values.get(each.name)
                unit = OpenSize.of(Form(0, {(each,): 1})) if value is None else value // each.step
                times = unit * times
            total = times + total
        return total

    def renamed(self, name_of: Callable[[SizeName], SizeName]) -> int:
        """Return the size of other names, which may have other ranges."""
        total = self.form.constant
        for product, factor in self.form.terms.items():
            sizes = (OpenSize.named(name_of(each)) for each in product)
            # The factor counts steps, and a name all of them.
            total = prod(sizes, start=factor) // _steps(product) + total
        return total

    def split(self) -> tuple[int, int]:
        """Return two sizes, neither less than 0, of which this is the difference."""
        terms, constant = self.form.terms.items(), self.form.constant
        above = LinearForm(max(constant, 0), {each: n for each, n in terms if n > 0})
        below = LinearForm(max(-constant, 0), {each: -n for each, n in terms if n < 0})
        return OpenSize.of(above), OpenSize.of(below)

    def range(self) -> tuple[int, int]:
        """Return a least and a greatest value: none is beyond, these need not be taken."""
        return _range(self.form)

    # Arithmetic: forms as far as they are exact.

    def __add__(self, other: int) -> int:
        return OpenSize.of(self.form + form_of(other))

    __radd__ = __add__

    def __neg__(self) -> int:
        return OpenSize.of(self.form.scaled(-1))

    def __pos__(self) -> int:
        return self

    def __sub__(self, other: int) -> int:
        return self + -other

    def __rsub__(self, other: int) -> int:
        return -self + other

    def __mul__(self, other: object) -> int:
        if not isinstance(other, int):
            return NotImplemented
        return OpenSize.of(_times(self.form, form_of(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> int:
        return _quotient(self, other)[0]

    def __rfloordiv__(self, other: int) -> int:
        return _quotient(other, self)[0]

    def __mod__(self, other: int) -> int:
        return _quotient(self, other)[1]

    def __rmod__(self, other: int) -> int:
        return _quotient(other, self)[1]

    def __divmod__(self, other: int) -> tuple[int, int]:
        return _quotient(self, other)

    def __abs__(self) -> int:
        return -self if self < 0 else self

    # Comparisons: for all values, or not at all.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OpenSize):
            return self.form == other.form
        # Of a size that is not known, `DYNAMIC_INDEX` is what types say.
        return isinstance(other, int) and int.__eq__(other, DYNAMIC_INDEX)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.form.constant, frozenset(self.form.terms.items())))

    def __lt__(self, other: int) -> bool:
        return _is_less(self, other)

    def __gt__(self, other: int) -> bool:
        return _is_less(other, self)

    def __le__(self, other: int) -> bool:
        return not _is_less(other, self)

    def __ge__(self, other: int) -> bool:
        return not _is_less(self, other)

    def __bool__(self) -> bool:
        low, high = self.range()
        if low > 0 or high < 0:
            return True
        raise UnknownSize(f"expected to know whether size '{self.text()}' is 0")

    # What only a number has.

    def refused(self) -> UnknownSize:
        """Return the error of what has to have a number."""
        return UnknownSize(f"expected a number, got the open size '{self.text()}'")

    def __int__(self) -> int:
        raise self.refused()

    def __float__(self) -> float:
        raise self.refused()

    def __truediv__(self, other: float) -> float:
        raise self.refused()

    def __rtruediv__(self, other: float) -> float:
        raise self.refused()

    def __str__(self) -> str:
        return self._text_of_parameters() if _as_parameters.get() else self.text()

    def text(self) -> str:
        """Return the size as messages and modules have it."""
        terms = sorted(_terms(self.form), key=lambda term: (-len(term[0]), term[0]))
        parts = [_term_text(*term) for term in terms]
        return " + ".join(parts).replace("+ -", "- ")

    def _text_of_parameters(self) -> str:
        parts: list[str] = []
        for product, factor in _terms(self.form):
            steps = _steps(product)
            common = gcd(steps, factor)
            text = " * ".join((str(factor // common), *map(parameter_name, product)))
            parts.append(text if steps == common else f"{text} // {steps // common}")
        return f"({' + '.join(parts)})".replace("+ -", "- ")

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)


_as_parameters: ContextVar[bool] = ContextVar("as_parameters", default=False)


def parameter_name(name: SizeName) -> str:
    """Return what a size is called in index notation, where indices have short names."""
    return f"size_{name.name.replace('.', '_')}"


@contextmanager
def as_parameters() -> Generator[None]:
    """Write sizes as expressions of index notation, of parameters, inside a with block."""
    token = _as_parameters.set(True)
    try:
        yield
    finally:
        _as_parameters.reset(token)


def _term_text(product: Product, factor: int) -> str:
    if not product:
        return str(factor)
    steps = _steps(product)
    common = gcd(steps, factor)
    factor, divisor = factor // common, steps // common
    text = " * ".join(each.name for each in product)
    if factor == -1:
        text = f"-{text}"
    elif factor != 1:
        text = f"{factor} * {text}"
    return text if divisor == 1 else f"{text} / {divisor}"


def form_of(size: int) -> Form:
    """Return the form of a size, which may be a number."""
    return size.form if isinstance(size, OpenSize) else Form(size)


def _text(size: int) -> str:
    return size.text() if isinstance(size, OpenSize) else str(size)


NEAR_QUOTIENTS = 0, 1, -1
"""Quotients that are looked for: positions in front of an axis, in it, and behind it."""


def _quotient(size: int, divisor: int) -> tuple[int, int]:
    """Return quotient and remainder of the division that rounds down."""
    whole = _divided(form_of(size), form_of(divisor)) if divisor != 0 else None
    if whole is not None:
        return OpenSize.of(whole), 0
    for times in NEAR_QUOTIENTS:
        rest = form_of(size) + form_of(divisor).scaled(-times)
        left = form_of(divisor) + rest.scaled(-1)
        if _range(rest)[0] >= 0 and _range(left)[0] > 0:
            return times, OpenSize.of(rest)
    if not isinstance(divisor, OpenSize) and divisor > 0:
        split = form_of(size).split(divisor, _range_of)
        if split is not None:
            return OpenSize.of(split[0]), OpenSize.of(split[1])
        by_bits = _divided_by_bits(form_of(size), divisor)
        if by_bits is not None:
            rest = form_of(size) + by_bits.scaled(-divisor)
            return OpenSize.of(by_bits), OpenSize.of(rest)
    raise UnknownSize(
        f"expected size '{_text(size)}' to be a multiple of '{_text(divisor)}' for all its values"
    )


def _is_less(lhs: int, rhs: int) -> bool:
    low, high = _range(form_of(lhs) + form_of(rhs).scaled(-1))
    if high < 0:
        return True
    if low >= 0:
        return False
    raise UnknownSize(f"expected to know whether '{_text(lhs)}' is less than '{_text(rhs)}'")


@dataclass(frozen=True)
class Digit:
    """How a size says a name: (size - rest) % modulus // factor, where there is a modulus."""

    name: SizeName
    factor: int
    rest: int
    modulus: int | None = None

    def of(self, number: int) -> int:
        """Return the name's number from that of the size."""
        above = number - self.rest
        return (above if self.modulus is None else above % self.modulus) // self.factor


def digits_of(size: OpenSize) -> Sequence[Digit]:
    """Return the digits that a size is made of, the greatest first; none where it is another sum.

    Of `4 * a + b + 1`, where b is less than 4, they are both names: a number says each of them.
    """
    rest, terms = size.form.constant, sorted(size.form.terms.items(), key=lambda term: -term[1])
    digits: list[Digit] = []
    for product, factor in terms:
        (name, *others), above = product, digits[-1].factor if digits else None
        if others or factor <= 0 or factor % name.step or (name.step > 1 < len(terms)):
            return ()
        if above is not None and (above % factor or name.low < 0):
            return ()
        digits.append(Digit(name, factor // name.step, rest, above))
    for index, digit in enumerate(digits[:-1]):
        if sum(each.name.high * each.factor for each in digits[index + 1 :]) >= digit.factor:
            return ()
    return digits


# Text.

DIGITS = 18
"""Of the longest number in a size, which fits in 64 bits."""

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w.]*)|([-+*/]))")


def parse_size(text: str, name_of: Callable[[str], SizeName] = SizeName) -> int:
    """Return the size that a text says, as `str` writes it; raises VerifyException.

    `name_of` says which values a name may have.
    """
    try:
        return _parse(text, name_of)
    except UnknownSize as error:
        raise VerifyException(f"{_wrong(text)}: {error}") from error


def _wrong(text: str) -> VerifyException:
    return VerifyException(f"expected a size such as '2 * length + 1', got '{text}'")


def _parse(text: str, name_of: Callable[[str], SizeName]) -> int:
    tokens = list(_tokens(text))
    total: int = 0
    position = 0

    def atom() -> int:
        nonlocal position
        token = tokens[position] if position < len(tokens) else ""
        position += 1
        if token.isdigit() and len(token) <= DIGITS:
            return int(token)
        if not token or token in "+-*/" or token.isdigit():
            raise _wrong(text)
        return OpenSize.named(name_of(token))

    while True:
        sign = 1
        while position < len(tokens) and tokens[position] in "+-":
            sign = -sign if tokens[position] == "-" else sign
            position += 1
        term = atom()
        while position < len(tokens) and tokens[position] in "*/":
            operator = tokens[position]
            position += 1
            term = term * atom() if operator == "*" else term // atom()
        total = total + term * sign
        if position == len(tokens):
            return total
        if tokens[position] not in "+-":
            raise _wrong(text)


def _tokens(text: str) -> Iterator[str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _wrong(text)
        position = found.end()
        yield found[0].strip()


def is_open(shape: Sequence[int]) -> bool:
    """Whether a shape has a size that is open."""
    return OpenSize in map(type, shape)


def without_names(shape: Sequence[int]) -> list[int]:
    """Return a shape as types have it below graphs: `DYNAMIC_INDEX` for each size that is open."""
    return [DYNAMIC_INDEX if isinstance(size, OpenSize) else size for size in shape]


def number_of(size: int) -> int:
    """Return a size that has to be a number; raises UnknownSize."""
    if isinstance(size, OpenSize):
        raise size.refused()
    return size


def indices_of(size: int) -> range:
    """Return the positions along an axis whose size has to be a number; raises UnknownSize."""
    return range(number_of(size))


def lesser(lhs: int, rhs: int) -> int:
    """Return the one of two sizes that is never more than the other; raises UnknownSize."""
    try:
        return lhs if lhs <= rhs else rhs
    except UnknownSize:
        return rhs if rhs <= lhs else lhs


def greater(lhs: int, rhs: int) -> int:
    """Return the one of two sizes that is never less than the other; raises UnknownSize."""
    return lhs + rhs - lesser(lhs, rhs)


def least(size: int) -> int:
    """Return a number that a size is never less than: itself where it is a number."""
    return size.range()[0] if isinstance(size, OpenSize) else size


def greatest(size: int) -> int:
    """Return a number that a size is never more than: itself where it is a number."""
    return size.range()[1] if isinstance(size, OpenSize) else size


def sizes_at(shape: Sequence[int], values: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape where names have values."""
    return tuple(size.at(values) if isinstance(size, OpenSize) else size for size in shape)


def numbers_of_open(shape: Sequence[int], values: Mapping[str, int]) -> Sequence[int]:
    """Return the sizes of a shape that are open, where names have values."""
    return [size.at(values) for size in shape if isinstance(size, OpenSize)]
