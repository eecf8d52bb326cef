"""What moves lanes of exact numbers, compares them, or makes integers of them, and back."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import Float16Type, Float32Type, i1
from xdsl.ir import Attribute

from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.instruments.prove.native.functions import Library, in_order, settled
from gawee_dialect.instruments.prove.native.writer import (
    DOUBLE,
    PARTS,
    Writer,
    bits_of,
    is_float,
    lane_of,
    lanes_of,
    list_of,
    number_type,
    spelled,
    suffix,
    suffix_of,
    type_of,
)


def constant_symbol(library: Library, numbers: bytes) -> str:
    """Return the function without arguments that returns a vector of constants."""
    data = np.frombuffer(numbers).reshape(PARTS, -1)
    lanes = data.shape[1]
    w = library.writer(lanes)
    parts = [
        "<" + ", ".join(f"double 0x{bits_of(float(each)):016X}" for each in part) + ">"
        for part in data
    ]
    text = ", ".join(f"{w.type} {part}" for part in parts)
    symbol = f"exact.constant.{suffix(lanes)}.{crc32(text.encode()):08x}"
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


def lookup_symbol(library: Library, lanes: int) -> str:
    """Return the function that takes lanes by integers, whose lowest bits are the numbers of lanes.

    `lanes` is a power of two.
    """
    symbol = f"exact.lookup.{suffix(lanes)}"
    w, integers = library.writer(lanes), f"<{lanes} x i32>"
    masks = list_of("i32", [lanes - 1] * lanes)
    low, taken = w.emit(f"and {integers} %i, {masks}"), ["poison"] * PARTS
    for lane in range(lanes):
        index = w.emit(f"extractelement {integers} {low}, i32 {lane}")
        for number, part in enumerate(w.parts("%x")):
            found = w.emit(f"extractelement {w.type} {part}, i32 {index}")
            put = f"insertelement {w.type} {taken[number]}, double {found}, i32 {lane}"
            taken[number] = w.emit(put)
    w.do(f"ret {w.number} {w.whole(taken)}")
    library.define(symbol, w.number, f"{w.number} %x, {integers} %i", w.lines)
    return symbol


def reduce_symbol(library: Library, lanes: int, name: str, with_start: bool) -> str:
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


# How exact numbers, and what lies between them, are loaded from memory and stored to it.
#
# A number is four doubles side by side; with those that it may be padded by, `Memory.doubles`.


def load_symbol(library: Library, type: Attribute, masked: bool = False) -> str:
    """Return the function that loads a type: of a pointer, then of a mask and of other lanes."""
    symbol = f"exact.{'masked.' if masked else ''}load.{suffix_of(type)}"
    write = _load_numbers if is_float(type) else _load_integers
    write(library, symbol, type, masked)
    return symbol


def store_symbol(library: Library, type: Attribute, masked: bool = False) -> str:
    """Return the function that stores a type: of a value, a pointer, then of a mask."""
    symbol = f"exact.{'masked.' if masked else ''}store.{suffix_of(type)}"
    write = _store_numbers if is_float(type) else _store_integers
    write(library, symbol, type, masked)
    return symbol


def _lanes(type: Attribute) -> int:
    return lanes_of(type) or 1


def _gathered(library: Library, type: Attribute) -> int:
    """Return how many doubles lie where a float, or a vector of them, is."""
    return _lanes(type) * library.memory.doubles(type)


def _wide_mask(library: Library, w: Writer, type: Attribute) -> str:
    lanes, doubles = _lanes(type), library.memory.doubles(type)
    places = list_of("i32", (lane for lane in range(lanes) for _ in range(doubles)))
    bits = type_of(lanes, "i1")
    return w.emit(f"shufflevector {bits} %mask, {bits} poison, <{lanes * doubles} x i32> {places}")


def _load_numbers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, lanes, doubles = library.writer(lanes_of(type)), _lanes(type), library.memory.doubles(type)
    wide = type_of(_gathered(library, type))
    arguments = "ptr %p"
    if masked:
        arguments = f"ptr %p, {type_of(lanes, 'i1')} %mask, {w.number} %others"
        mask = _wide_mask(library, w, type)
        bits = type_of(_gathered(library, type), "i1")
        name = f"@llvm.masked.load.v{_gathered(library, type)}f64.p0"
        library.declare(f"declare {wide} {name}(ptr, {bits}, {wide})")
        operands = f"ptr align {DOUBLE} %p, {bits} {mask}, {wide} zeroinitializer"
        loaded = w.emit(f"call {wide} {name}({operands})")
    else:
        loaded = w.emit(f"load {wide}, ptr %p, align {DOUBLE}")
    parts = [
        _part(w, loaded, wide, [lane * doubles + part for lane in range(lanes)])
        for part in range(PARTS)
    ]
    if masked:
        chosen = [
            w.emit(f"select {w.bits} %mask, {w.type} {part}, {w.type} {other}")
            for part, other in zip(parts, w.parts("%others"), strict=True)
        ]
        parts = chosen
    w.do(f"ret {w.number} {w.whole(parts)}")
    library.define(symbol, w.number, arguments, w.lines)


def _part(w: Writer, loaded: str, wide: str, places: list[int]) -> str:
    if w.lanes is None:
        return w.emit(f"extractelement {wide} {loaded}, i32 {places[0]}")
    mask = list_of("i32", places)
    return w.emit(f"shufflevector {wide} {loaded}, {wide} poison, <{w.lanes} x i32> {mask}")


def _store_numbers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, lanes = library.writer(lanes_of(type)), _lanes(type)
    parts = w.parts("%value")
    if w.lanes is None:
        for part, value in enumerate(parts):
            place = w.emit(f"getelementptr double, ptr %p, i64 {part}")
            w.do(f"store double {value}, ptr {place}, align {DOUBLE}")
        w.do("ret void")
        library.define(symbol, "void", f"{w.number} %value, ptr %p", w.lines)
        return
    stored = _interleaved(library, w, parts, type)
    wide = type_of(_gathered(library, type))
    arguments = f"{number_type(lanes)} %value, ptr %p"
    if masked:
        arguments += f", {type_of(lanes, 'i1')} %mask"
        mask = _wide_mask(library, w, type)
        bits = type_of(_gathered(library, type), "i1")
        name = f"@llvm.masked.store.v{_gathered(library, type)}f64.p0"
        library.declare(f"declare void {name}({wide}, ptr, {bits})")
        w.do(f"call void {name}({wide} {stored}, ptr align {DOUBLE} %p, {bits} {mask})")
    else:
        w.do(f"store {wide} {stored}, ptr %p, align {DOUBLE}")
    w.do("ret void")
    library.define(symbol, "void", arguments, w.lines)


def _interleaved(library: Library, w: Writer, parts: list[str], type: Attribute) -> str:
    lanes, doubles = _lanes(type), library.memory.doubles(type)
    pairs: list[str] = []
    for first, second in (parts[:2], parts[2:]):
        both = list_of("i32", range(2 * lanes))
        operands = f"{w.type} {first}, {w.type} {second}"
        pairs.append(w.emit(f"shufflevector {operands}, <{2 * lanes} x i32> {both}"))
    places: list[object] = []
    for lane in range(lanes):
        places += [part * lanes + lane for part in range(PARTS)]
        places += ["poison"] * (doubles - PARTS)
    pair = type_of(2 * lanes)
    mask = f"<{lanes * doubles} x i32> {list_of('i32', places)}"
    return w.emit(f"shufflevector {pair} {pairs[0]}, {pair} {pairs[1]}, {mask}")


def _bytes(type: Attribute) -> tuple[int, str]:
    """Return how many bytes integers have in memory, each, and of which type these are."""
    return element_bytes(lane_of(type)), "i1" if lane_of(type) == i1 else "i8"


def _places(library: Library, w: Writer, type: Attribute) -> str:
    """Return pointers to the bytes of integers, which are stretched as all of memory is."""
    bytes, factor = _lanes(type) * _bytes(type)[0], library.memory.factor
    offsets = list_of("i64", (byte * factor for byte in range(bytes)))
    return w.emit(f"getelementptr i8, ptr %p, <{bytes} x i64> {offsets}")


def _mask_of_bytes(w: Writer, type: Attribute, masked: bool) -> str:
    lanes, each = _lanes(type), _bytes(type)[0]
    if not masked:
        return "splat (i1 true)"
    mask, places = type_of(lanes, "i1"), list_of("i32", (at // each for at in range(lanes * each)))
    return w.emit(f"shufflevector {mask} %mask, {mask} poison, <{lanes * each} x i32> {places}")


def _load_integers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, text, (each, byte) = library.writer(lanes_of(type)), spelled(type), _bytes(type)
    count = _lanes(type) * each
    wide, bits = f"<{count} x {byte}>", f"<{count} x i1>"
    name = f"@llvm.masked.gather.v{count}{byte}.v{count}p0"
    library.declare(f"declare {wide} {name}(<{count} x ptr>, {bits}, {wide})")
    places, mask = _places(library, w, type), _mask_of_bytes(w, type, masked)
    others = w.emit(f"bitcast {text} %others to {wide}") if masked else "zeroinitializer"
    operands = f"<{count} x ptr> align 1 {places}, {bits} {mask}, {wide} {others}"
    loaded = w.emit(f"call {wide} {name}({operands})")
    w.do(f"ret {text} {w.emit(f'bitcast {wide} {loaded} to {text}')}")
    lanes = type_of(lanes_of(type), "i1")
    arguments = f"ptr %p, {lanes} %mask, {text} %others" if masked else "ptr %p"
    library.define(symbol, text, arguments, w.lines)


def _store_integers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, text, (each, byte) = library.writer(lanes_of(type)), spelled(type), _bytes(type)
    count = _lanes(type) * each
    wide, bits = f"<{count} x {byte}>", f"<{count} x i1>"
    name = f"@llvm.masked.scatter.v{count}{byte}.v{count}p0"
    library.declare(f"declare void {name}({wide}, <{count} x ptr>, {bits})")
    places, mask = _places(library, w, type), _mask_of_bytes(w, type, masked)
    stored = w.emit(f"bitcast {text} %value to {wide}")
    w.do(f"call void {name}({wide} {stored}, <{count} x ptr> align 1 {places}, {bits} {mask})")
    w.do("ret void")
    lanes = type_of(lanes_of(type), "i1")
    arguments = f"{text} %value, ptr %p" + (f", {lanes} %mask" if masked else "")
    library.define(symbol, "void", arguments, w.lines)
