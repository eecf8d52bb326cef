"""Arithmetic of sizes that are open: what is known for all values, and what is not."""

import struct
from itertools import product
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.open_size import (
    OpenSize,
    SizeName,
    UnknownSize,
    digits_of,
    greatest,
    indices_of,
    least,
    name_of_range,
    parse_size,
)

NAMES = {
    "batch": SizeName("batch", 1, 32),
    "length": SizeName("length", 8, 512, 8),
    "past": SizeName("past", 0, 100),
}
BATCH, LENGTH, PAST = (OpenSize.named(name) for name in NAMES.values())


def size(text: str) -> int:
    return parse_size(text, NAMES.__getitem__)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (BATCH * LENGTH + 3, "batch * length + 3"),
        (2 * LENGTH - PAST - 1, "2 * length - past - 1"),
        (LENGTH // 2, "length / 2"),
        (3 * LENGTH // 4 * BATCH, "3 * batch * length / 4"),
        (prod([BATCH, LENGTH, 768]) // (BATCH * 64), "12 * length"),
        ((LENGTH + 1) * (PAST + 2) // (LENGTH + 1), "past + 2"),
        (-(-LENGTH // 8), "length / 8"),
        (sum([LENGTH, 1, BATCH]), "batch + length + 1"),
        (min(LENGTH, 512), "length"),
        (max(PAST, 0), "past"),
        ((PAST + 8 * BATCH) // 1, "8 * batch + past"),
        (LENGTH % 1024, "length"),
        ((LENGTH - 3) % LENGTH, "length - 3"),
        ((LENGTH + BATCH) % (LENGTH + 33), "batch + length"),
        ((3 * LENGTH + 1) % (2 * LENGTH), "length + 1"),
        (-8 % (LENGTH + 1), "length - 7"),
    ],
)
def test_sums_products_and_whole_quotients_are_sizes(made: int, text: str):
    assert str(made) == text
    assert size(text) == made
    values = {"batch": 3, "length": 24, "past": 7}
    for each, number in values.items():
        text = text.replace(each, str(number))
    assert isinstance(made, OpenSize)
    assert made.at(values) == eval(text)


def test_what_no_name_is_left_in_is_a_number():
    assert type(LENGTH - LENGTH + 3) is int
    assert LENGTH - LENGTH + 3 == 3
    assert BATCH * LENGTH // (LENGTH * BATCH) == 1
    assert 8 * PAST % 8 == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda: LENGTH // 3,
        lambda: LENGTH // 16,
        lambda: LENGTH // BATCH,
        lambda: LENGTH < 9,
        lambda: max(LENGTH, 100),
        lambda: bool(PAST),
        lambda: BATCH < LENGTH,
        lambda: int(LENGTH),
        lambda: float(LENGTH),
        lambda: LENGTH / 2,
        lambda: 2 / LENGTH,
        lambda: indices_of(LENGTH),
    ],
)
def test_what_differs_between_values_is_not_known(ask):
    with pytest.raises(UnknownSize, match=r"expected (to know|a number|size)"):
        ask()


@pytest.mark.parametrize(
    "use",
    [
        lambda: np.zeros((LENGTH,)),
        lambda: np.array([LENGTH], np.int64),
        lambda: [0] * LENGTH,
        lambda: struct.pack("<q", LENGTH),
        lambda: list(range(LENGTH)),
    ],
)
def test_code_that_takes_a_form_for_a_number_fails(use):
    with pytest.raises((UnknownSize, OverflowError, ValueError, struct.error)):
        use()


def test_a_type_of_forms_is_open_and_equal_to_one_of_the_same_forms_alone():
    type = TensorType(f32, [BATCH, LENGTH + 1, 3])

    assert str(type) == "tensor<?x?x3xf32>"
    assert not type.has_static_shape()
    assert type == TensorType(f32, [BATCH, 1 + LENGTH, 3])
    assert hash(type) == hash(TensorType(f32, [BATCH, 1 + LENGTH, 3]))
    assert type != TensorType(f32, [BATCH, LENGTH, 3])
    assert type != TensorType(f32, [1, LENGTH + 1, 3])
    assert LENGTH == DYNAMIC_INDEX


@pytest.mark.parametrize("text", ["", "+", "2 * ", "length length", "length ^ 2", "* 2", "a // b"])
def test_texts_that_are_no_sizes_are_refused(text: str):
    with pytest.raises(VerifyException, match=r"expected a size such as '2 \* length \+ 1', got"):
        parse_size(text)


def test_ranges_are_read_and_written():
    for text in ("1 to 512", "0 or more", "8 to 512 step 8"):
        assert name_of_range("n", text).range_text() == text


DIGITS = {"tens": SizeName("tens", 0, 9), **{n: SizeName(n, 0, 1) for n in "abc"}}


@pytest.mark.parametrize(
    "text", ["8 * tens + 4 * a + 2 * b + c + 1", "3 * a + 5 * b + 8 * tens", "a * b + 7 * c + 2"]
)
@pytest.mark.parametrize("divisor", [2, 3, 4, 8])
@pytest.mark.parametrize("more", [-1, 0, 3])
def test_what_names_of_0_or_1_leave_of_a_quotient_is_a_form(text: str, divisor: int, more: int):
    dividend = parse_size(text, DIGITS.__getitem__) + more
    if divisor == 3 and "tens" in text:
        with pytest.raises(UnknownSize, match="to be a multiple of '3'"):
            _ = dividend // divisor
        return

    quotient, rest = divmod(dividend, divisor)
    for numbers in product(range(10), *[(0, 1)] * 3):
        values = dict(zip(DIGITS, numbers, strict=True))
        found = (
            each.at(values) if isinstance(each, OpenSize) else each for each in (quotient, rest)
        )
        assert (*found,) == divmod(eval(text, dict(values)) + more, divisor)


def test_a_size_of_0_or_1_is_its_own_square_and_sums_of_some_have_exact_ends():
    a, b = (OpenSize.named(DIGITS[each]) for each in "ab")

    assert a * a * b == a * b
    either = a + b - a * b
    assert (least(either), greatest(either)) == (0, 1)
    assert a + b >= a * b


def test_a_number_says_each_digit():
    made = parse_size("8 * tens + 4 * a + b + 3", DIGITS.__getitem__)
    assert isinstance(made, OpenSize)

    for numbers in product(range(10), (0, 1), (0, 1)):
        values = dict(zip(("tens", "a", "b"), numbers, strict=True))
        number = 8 * values["tens"] + 4 * values["a"] + values["b"] + 3
        assert {each.name.name: each.of(number) for each in digits_of(made)} == values


@pytest.mark.parametrize(
    "text",
    ["a + b", "8 * tens + 8 * a", "4 * tens + 3 * a", "tens * a + b", "10 - a", "2 * a + tens"],
)
def test_other_sums_have_no_digits(text: str):
    made = parse_size(text, DIGITS.__getitem__)
    assert isinstance(made, OpenSize)
    assert not digits_of(made)
