"""What moves lanes of exact numbers, compares them, or makes integers of them, and back."""

from collections.abc import Sequence
from zlib import crc32

from xdsl.dialects.builtin import Float16Type, Float32Type
from xdsl.ir import Attribute

from gawee_dialect.instruments.prove.native.functions import in_order, settled
from gawee_dialect.instruments.prove.native.library import Library
from gawee_dialect.instruments.prove.native.types import (
    PARTS,
    lane_of,
    lanes_of,
    spelled,
    suffix_of,
)
from gawee_dialect.instruments.prove.native.writer import bits_of, list_of, number_type, suffix
from gawee_dialect.instruments.prove.numbers import Numbers


def constant_symbol(library: Library, numbers: Numbers) -> str:
    """Return the function without arguments that returns a vector of constants."""
    w = library.writer(numbers.size)
    parts = [
        "<" + ", ".join(f"double 0x{bits_of(float(each)):016X}" for each in part) + ">"
        for part in numbers.data
    ]
    text = ", ".join(f"{w.type} {part}" for part in parts)
    symbol = f"exact.constant.{suffix(numbers.size)}.{crc32(text.encode()):08x}"
    library.define(symbol, w.number, "", [f"ret {w.number} [{text}]"])
    return symbol


def select_symbol(library: Library, lanes: int | None) -> str:
    """Return the function that chooses numbers lane by lane."""
    symbol = f"exact.select.{suffix(lanes)}"
    w = library.writer(lanes)
    result = w.choose_parts("%c", w.parts("%x"), w.parts("%y"))
    w.do(f"ret {w.number} {w.whole(result)}")
    library.define(symbol, w.number, f"{w.bits} %c, {w.number} %x, {w.number} %y", w.lines)
    return symbol


def compare_symbol(library: Library, lanes: int | None, predicate: str) -> str:
    """Return the function that compares numbers by their values."""
    symbol = f"exact.compare.{predicate}.{suffix(lanes)}"
    w = library.writer(lanes)
    found = w.compare(predicate, *in_order(w, w.parts("%x"), w.parts("%y")))
    w.do(f"ret {w.bits} {found}")
    library.define(symbol, w.bits, f"{w.number} %x, {w.number} %y", w.lines)
    return symbol


def extract_symbol(library: Library, lanes: int, index: str) -> str:
    """Return the function that takes a lane, whose number is of an integer type."""
    symbol = f"exact.extract.{index}.{suffix(lanes)}"
    w = library.writer(lanes)
    taken = [w.emit(f"extractelement {w.type} {part}, {index} %i") for part in w.parts("%x")]
    scalars = w.scalars()
    w.do(f"ret {scalars.number} {scalars.whole(taken)}")
    library.define(symbol, scalars.number, f"{w.number} %x, {index} %i", w.lines)
    return symbol


def insert_symbol(library: Library, lanes: int, index: str) -> str:
    """Return the function that puts a number in a lane."""
    symbol = f"exact.insert.{index}.{suffix(lanes)}"
    w = library.writer(lanes)
    pairs = zip(w.parts("%x"), w.scalars().parts("%y"), strict=True)
    put = [w.emit(f"insertelement {w.type} {x}, double {y}, {index} %i") for x, y in pairs]
    w.do(f"ret {w.number} {w.whole(put)}")
    arguments = f"{w.number} %x, {number_type(None)} %y, {index} %i"
    library.define(symbol, w.number, arguments, w.lines)
    return symbol


def shuffle_symbol(library: Library, lanes: int, mask: Sequence[int]) -> str:
    """Return the function that takes lanes of two vectors; -1 is any."""
    name = "_".join(map(str, mask)).replace("-1", "x")
    symbol = f"exact.shuffle.{name}.{suffix(lanes)}"
    w, made = library.writer(lanes), len(mask)
    places = list_of("i32", ("poison" if lane < 0 else lane for lane in mask))
    pairs = zip(w.parts("%x"), w.parts("%y"), strict=True)
    parts = [
        w.emit(f"shufflevector {w.type} {x}, {w.type} {y}, <{made} x i32> {places}")
        for x, y in pairs
    ]
    result = "poison"
    for part in range(PARTS):
        operands = f"{number_type(made)} {result}, <{made} x double> {parts[part]}, {part}"
        result = w.emit(f"insertvalue {operands}")
    w.do(f"ret {number_type(made)} {result}")
    library.define(symbol, number_type(made), f"{w.number} %x, {w.number} %y", w.lines)
    return symbol


def reduce_symbol(library: Library, lanes: int, name: str, *, with_start: bool) -> str:
    """Return the function that combines all lanes, one after the other, from a first number on."""
    symbol = f"exact.reduce.{name}.{suffix(lanes)}"
    w = library.writer(lanes)
    scalars = w.scalars()
    vector = w.parts("%x")
    numbers = [w.lane(vector, lane) for lane in range(lanes)]
    if with_start:
        numbers = [scalars.parts("%start"), *numbers]
    total = numbers[0]
    for number in numbers[1:]:
        total = library.call(scalars, name, total, number)
    w.do(f"ret {scalars.number} {scalars.whole(total)}")
    start = f"{scalars.number} %start, " if with_start else ""
    library.define(symbol, scalars.number, f"{start}{w.number} %x", w.lines)
    return symbol


def of_integers_symbol(library: Library, cast: str, type: Attribute) -> str:
    """Return the function that makes numbers of integers, by `sitofp` or `uitofp`."""
    symbol = f"exact.{cast}.{suffix_of(type)}"
    w = library.writer(lanes_of(type))
    value = w.emit(f"{cast} {spelled(type)} %x to {w.type}")
    w.do(f"ret {w.number} {w.whole(library.call(w, 'whole', [value] * PARTS))}")
    library.define(symbol, w.number, f"{spelled(type)} %x", w.lines)
    return symbol


def to_integers_symbol(library: Library, cast: str, type: Attribute) -> str:
    """Return the function that makes integers of numbers, by their values."""
    symbol = f"exact.{cast}.{suffix_of(type)}"
    w = library.writer(lanes_of(type))
    made = w.emit(f"{cast} {w.type} {settled(w, w.parts('%x'))} to {spelled(type)}")
    w.do(f"ret {spelled(type)} {made}")
    library.define(symbol, spelled(type), f"{w.number} %x", w.lines)
    return symbol


def to_bits_symbol(library: Library, source: Attribute, type: Attribute) -> str:
    """Return the function that takes the bits of the nearest floats to the values."""
    symbol = f"exact.to_bits.{suffix_of(source)}"
    w = library.writer(lanes_of(type))
    value, narrow = w.parts("%x")[0], spelled(source)
    if isinstance(lane_of(source), Float16Type | Float32Type):
        value = w.emit(f"fptrunc {w.type} {value} to {narrow}")
    bits = w.emit(f"bitcast {narrow} {value} to {spelled(type)}")
    w.do(f"ret {spelled(type)} {bits}")
    library.define(symbol, spelled(type), f"{w.number} %x", w.lines)
    return symbol


def of_bits_symbol(library: Library, type: Attribute, result: Attribute) -> str:
    """Return the function that makes numbers of the bits of floats."""
    symbol = f"exact.float_of_bits.{suffix_of(result)}"
    w = library.writer(lanes_of(type))
    narrow = spelled(result)
    value = w.emit(f"bitcast {spelled(type)} %x to {narrow}")
    if isinstance(lane_of(result), Float16Type | Float32Type):
        value = w.emit(f"fpext {narrow} {value} to {w.type}")
    w.do(f"ret {w.number} {w.whole(library.call(w, 'of_bits', [value] * PARTS))}")
    library.define(symbol, w.number, f"{spelled(type)} %x", w.lines)
    return symbol
