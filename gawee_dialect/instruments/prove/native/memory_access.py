"""How exact numbers, and what lies between them, are loaded from memory and stored to it.

A number is four doubles side by side; with those that it may be padded by, `Memory.doubles`.
"""

from xdsl.ir import Attribute

from gawee_dialect.instruments.prove.native.library import Library
from gawee_dialect.instruments.prove.native.types import (
    DOUBLE,
    PARTS,
    is_float,
    lane_of,
    lanes_of,
    spelled,
    suffix_of,
)
from gawee_dialect.instruments.prove.native.writer import Writer, list_of, number_type, type_of


def load_symbol(library: Library, type: Attribute, *, masked: bool = False) -> str:
    """Return the function that loads a type: of a pointer, then of a mask and of other lanes."""
    symbol = f"exact.{'masked.' if masked else ''}load.{suffix_of(type)}"
    if symbol not in library.definitions:
        write = _load_numbers if is_float(type) else _load_integers
        write(library, symbol, type, masked)
    return symbol


def store_symbol(library: Library, type: Attribute, *, masked: bool = False) -> str:
    """Return the function that stores a type: of a value, a pointer, then of a mask."""
    symbol = f"exact.{'masked.' if masked else ''}store.{suffix_of(type)}"
    if symbol not in library.definitions:
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


def _places(library: Library, w: Writer, type: Attribute) -> str:
    """Return pointers to the lanes of integers, which are stretched as all of memory is."""
    lanes = _lanes(type)
    step = library.memory.bytes_of(lane_of(type))
    offsets = list_of("i64", (lane * step for lane in range(lanes)))
    return w.emit(f"getelementptr i8, ptr %p, <{lanes} x i64> {offsets}")


def _load_integers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, lanes, text = library.writer(lanes_of(type)), _lanes(type), spelled(type)
    bits = type_of(lanes, "i1")
    name = f"@llvm.masked.gather.{suffix_of(type)}.v{lanes}p0"
    library.declare(f"declare {text} {name}(<{lanes} x ptr>, {bits}, {text})")
    places = _places(library, w, type)
    mask, others = ("%mask", "%others") if masked else ("splat (i1 true)", "zeroinitializer")
    operands = f"<{lanes} x ptr> align 1 {places}, {bits} {mask}, {text} {others}"
    w.do(f"ret {text} {w.emit(f'call {text} {name}({operands})')}")
    arguments = f"ptr %p, {bits} %mask, {text} %others" if masked else "ptr %p"
    library.define(symbol, text, arguments, w.lines)


def _store_integers(library: Library, symbol: str, type: Attribute, masked: bool) -> None:
    w, lanes, text = library.writer(lanes_of(type)), _lanes(type), spelled(type)
    bits = type_of(lanes, "i1")
    name = f"@llvm.masked.scatter.{suffix_of(type)}.v{lanes}p0"
    library.declare(f"declare void {name}({text}, <{lanes} x ptr>, {bits})")
    places = _places(library, w, type)
    mask = "%mask" if masked else "splat (i1 true)"
    w.do(f"call void {name}({text} %value, <{lanes} x ptr> align 1 {places}, {bits} {mask})")
    w.do("ret void")
    arguments = f"{text} %value, ptr %p" + (f", {bits} %mask" if masked else "")
    library.define(symbol, "void", arguments, w.lines)
