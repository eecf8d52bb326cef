"""Wrong rewrites after reports on LLVM, MLIR, TVM, IREE, XLA and ONNX Runtime: a module each.

A rewrite is what a program computes before it and after it, in one of three short notations:

- `elements`: what becomes of an element of each operand, `r = addi a b; t = muli r r`; the last value
  is the result. `c = 5` is a constant of the first operand's type, `x -> i8` names another type,
  `m.f` an op of `math`.
- `memory`: statements of a function on buffers, `<4x5>` for `memref<4x5xf32>`, with constants
  `%c0` to `%c9`.
- `graph`: ops of gawee, `<2x3>` for `tensor<2x3xf32>`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHECK, PROOF, BOTH = "check", "proof", "both"
"""Which tool names it."""

UNDECIDED = "undecided: "
"""Before the reason why neither does."""

COUNT = 2048
"""Elements of each operand of `elements`."""


@dataclass(frozen=True)
class Rewrite:
    """A program as it was, as a wrong pass leaves it, the report that it is after, and what sees it."""

    before: str
    after: str
    report: str
    seen: str = BOTH


# Elements.


def _element_lines(text: str, names: Mapping[str, str]) -> tuple[list[str], str]:
    """Return ops of a body, and the result with its type."""
    types, lines, result = dict(names), list[str](), ""
    first = next(iter(names.values()))
    for line in filter(None, map(str.strip, text.split(";"))):
        result, _, rest = line.partition(" = ")
        rest, _, to = rest.partition(" -> ")
        words = rest.split()
        if len(words) == 1:
            type = to or first
            types[result] = type
            lines.append(f"%{result} = arith.constant {words[0]} : {type}")
            continue
        name, *operands = words
        op = name.replace("m.", "math.") if name.startswith("m.") else f"arith.{name}"
        predicate = f"{operands.pop(0)}, " if name in ("cmpi", "cmpf") else ""
        type = types[operands[-1]]
        types[result] = to or ("i1" if predicate else type)
        given = ", ".join(f"%{each}" for each in operands)
        suffix = f"{type} to {to}" if to else type
        lines.append(f"%{result} = {op} {predicate}{given} : {suffix}")
    return lines, f"%{result} : {types[result]}"


def _elements(types: str, text: str) -> str:
    names = dict(zip("abcd", types.split(), strict=False))
    lines, result = _element_lines(text, names)
    to = result.partition(" : ")[2]
    shapes = {name: f"tensor<{COUNT}x{type}>" for name, type in names.items()}
    out = f"tensor<{COUNT}x{to}>"
    map = "affine_map<(i) -> (i)>"
    arguments = ", ".join(f"%{n}s: {shape}" for n, shape in shapes.items())
    body = "\n    ".join(lines)
    given = ", ".join(f"%{n}: {type}" for n, type in names.items())
    return f"""
func.func @main({arguments}) -> {out} {{
  %empty = tensor.empty() : {out}
  %y = linalg.generic {{indexing_maps = [{", ".join([map] * (len(names) + 1))}], iterator_types = ["parallel"]}}
      ins({", ".join(f"%{n}s" for n in names)} : {", ".join(shapes.values())}) outs(%empty : {out}) {{
  ^bb0({given}, %out: {to}):
    {body}
    linalg.yield {result}
  }} -> {out}
  return %y : {out}
}}
"""


def elements(types: str, before: str, after: str, report: str, seen: str = BOTH) -> Rewrite:
    """What becomes of elements of some types."""
    return Rewrite(_elements(types, before), _elements(types, after), report, seen)


# Memory.


def _memory(arguments: str, text: str) -> str:
    constants = "\n".join(f"  %c{n} = arith.constant {n} : index" for n in range(10))
    zero = "  %zero = arith.constant 0.0 : f32"
    return _types(
        f"func.func @main({arguments}) {{\n{constants}\n{zero}\n{text}\n  return\n}}\n", "memref"
    )


def memory(arguments: str, before: str, after: str, report: str, seen: str = BOTH) -> Rewrite:
    """Statements on buffers."""
    return Rewrite(_memory(arguments, before), _memory(arguments, after), report, seen)


def _types(text: str, kind: str) -> str:
    return re.sub(r"(?<![a-z])<((?:\d+x?)+)>", rf"{kind}<\1xf32>", text)


def loop(counter: str, bounds: str, *body: str) -> str:
    """Write a loop: `loop("i", "0 4", ...)`, or with a step, `0 4 2`."""
    low, high, *step = bounds.split()
    name = [each if each.startswith("%") else f"%c{each}" for each in (low, high, *(step or ["1"]))]
    inside = "\n".join(body)
    return f"scf.for %{counter} = {name[0]} to {name[1]} step {name[2]} {{\n{inside}\n}}"


def load(name: str, place: str, shape: str) -> str:
    """Write a load: `load("v", "x[%i]", "4")`."""
    return f"%{name} = memref.load %{place} : <{shape}>"


def store(name: str, place: str, shape: str) -> str:
    """Write a store."""
    return f"memref.store %{name}, %{place} : <{shape}>"


def op(name: str, kind: str, first: str, second: str) -> str:
    """Write an op on floats: `op("v", "addf", "a", "b")`."""
    return f"%{name} = arith.{kind} %{first}, %{second} : f32"


# Graphs.


def _graph(arguments: str, result: str, lines: Sequence[str]) -> str:
    body = "\n  ".join(lines)
    last = lines[-1].partition(" = ")[0]
    head = f"func.func @main({arguments}) -> {result} {{"
    return _types(f"{head}\n  {body}\n  return {last} : {result}\n}}\n", "tensor")


def graph(
    arguments: str,
    result: str,
    before: Sequence[str],
    after: Sequence[str],
    report: str,
    seen: str = BOTH,
) -> Rewrite:
    """Ops of gawee; the last one's result is returned."""
    return Rewrite(
        _graph(arguments, result, before), _graph(arguments, result, after), report, seen
    )


def unary(op: str, shape: str, result: str = "") -> str:
    """Write an op of one operand: `unary("gawee.relu %x", "2x3")`."""
    return f"{op} : (<{shape}>) -> <{result or shape}>"


INTEGERS: Mapping[str, Rewrite] = {
    "a remainder that is never negative": elements(
        "i32",
        "c = 7; r = remsi a c",
        "c = 7; s = remsi a c; t = addi s c; r = remsi t c",
        "HalideIR 52",
    ),
    "a product for a remainder": elements(
        "i32", "c = 3; r = remsi a c", "c = 3; r = muli a c", "tvm 2486"
    ),
    "a quotient rounded to zero, and not down": elements(
        "i32", "c = 4; r = floordivsi a c", "c = 4; r = divsi a c", "tvm 2308"
    ),
    "a remainder by floor for one by truncation": elements(
        "i32",
        "c = 4; r = remsi a c",
        "c = 4; q = floordivsi a c; p = muli q c; r = subi a p",
        "tvm 4236",
    ),
    "a quotient rounded up by a sum that is right above zero alone": elements(
        "i32",
        "c = 2; r = ceildivsi a c",
        "c = 2; o = 1; s = addi a o; r = divsi s c",
        "llvm 106519",
    ),
    "a quotient rounded up whose least dividend wraps": elements(
        "i8",
        "c = 2; r = ceildivsi a c",
        "c = 2; m = -127; l = maxsi a m; r = ceildivsi l c",
        "llvm 89382",
    ),
    "a difference that cancels with the wrong sign": elements(
        "i32 i32", "s = addi a b; r = subi a s", "z = 0; r = addi b z", "futhark 1194"
    ),
    "a maximum of unsigned numbers as if they were signed": elements(
        "i32 i32", "r = maxui a b", "r = maxsi a b", "llvm 126195"
    ),
    "a comparison of unsigned numbers as if they were signed": elements(
        "i32 i32", "r = cmpi ult a b", "r = cmpi slt a b", "llvm 76069"
    ),
    "an extension by zeros for one by the sign": elements(
        "i8", "r = extsi a -> i32", "r = extui a -> i32", "llvm 125374"
    ),
    "a truncation and an extension that are dropped together": elements(
        "i32", "t = trunci a -> i8; r = extsi t -> i32", "z = 0; r = addi a z", "onnxruntime 18212"
    ),
    "an index that is multiplied in 32 bits": elements(
        "i32 i32",
        "x = extsi a -> i64; y = extsi b -> i64; r = muli x y",
        "p = muli a b; r = extsi p -> i64",
        "llvm 186922",
    ),
    "half of a negative number by a shift": elements(
        "i32", "c = 2; r = divsi a c", "c = 1; r = shrsi a c", "llvm 90855"
    ),
    "a product by a shift that is one too far": elements(
        "i32", "c = 8; r = muli a c", "c = 4; r = shli a c", "llvm 173459"
    ),
    "a shift in fewer bits than it is by": elements(
        "i64 i64",
        "m = 63; s = andi b m; r = shrsi a s",
        "m = 63; s = andi b m; x = trunci a -> i32; y = trunci s -> i32; t = shrsi x y; r = extsi t -> i64",
        "llvm 218191",
    ),
    "a shift that brings zeros in": elements(
        "i32", "c = 2; r = shrsi a c", "c = 2; r = shrui a c", "llvm 121745"
    ),
    "bounds of a clamp in the other order, where they cross": elements(
        "i32",
        "l = 3; h = 1; x = maxsi a l; r = minsi x h",
        "l = 3; h = 1; x = minsi a h; r = maxsi x l",
        "onnxruntime 23133",
    ),
    "a sum of bytes that wraps and does not saturate": elements(
        "i8 i8",
        "x = extsi a -> i32; y = extsi b -> i32; s = addi x y; h = 127 -> i32; l = -128 -> i32; t = minsi s h; u = maxsi t l; r = trunci u -> i8",
        "r = addi a b",
        "onnxruntime 20321",
    ),
    "a product of bytes that is shifted as bytes": elements(
        "i8 i8",
        "x = extsi a -> i32; y = extsi b -> i32; p = muli x y; c = 7 -> i32; s = shrsi p c; r = trunci s -> i8",
        "p = muli a b; c = 7; r = shrsi p c",
        "iree 14662",
    ),
    "an average that overflows": elements(
        "i32 i32",
        "x = extsi a -> i64; y = extsi b -> i64; s = addi x y; o = 1 -> i64; h = shrsi s o; r = trunci h -> i32",
        "s = addi a b; o = 1; r = shrsi s o",
        "llvm 122602",
    ),
    "an exclusive or for a sum of bits": elements(
        "i1 i1", "r = xori a b", "r = ori a b", "llvm 176954"
    ),
    "operands of a choice exchanged": elements(
        "i32 i32",
        "f = cmpi slt a b; r = select f a b",
        "f = cmpi slt a b; r = select f b a",
        "llvm 219456",
    ),
    "a comparison that holds for equal numbers too": elements(
        "i32 i32", "r = cmpi slt a b", "r = cmpi sle a b", "llvm 122496"
    ),
    "a number without a sign made a float with one": elements(
        "i32", "r = uitofp a -> f32", "r = sitofp a -> f32", "xla: unsigned conversion"
    ),
    "a float of 64 bits made of 32": elements(
        "i64",
        "r = sitofp a -> f32",
        "t = trunci a -> i32; r = sitofp t -> f32",
        "tvm 12305",
        UNDECIDED + "integers that floats are computed of are drawn up to 1024",
    ),
    "a mask that takes one bit too few": elements(
        "i32", "m = 255; r = andi a m", "m = 127; r = andi a m", "llvm 180781"
    ),
    "a negated sum": elements(
        "i32 i32", "z = 0; s = subi a b; r = subi z s", "z = 0; r = subi a b", "casadi 466"
    ),
    "an absolute value of unsigned numbers": elements(
        "i32",
        "z = 0; n = subi z a; r = maxsi a n",
        "z = 0; n = subi z a; r = maxui a n",
        "llvm 219211",
    ),
    "a step of an expression for the expression": elements(
        "i32",
        "f = 4; c = 4; p = muli a f; e = cmpi eq a c; o = -1; r = select e p o",
        "f = 16; c = 4; p = muli a f; e = cmpi eq a c; o = -1; r = select e p o",
        "llvm 219211",
    ),
}

FLOATS: Mapping[str, Rewrite] = {
    "a multiple of the product of three primes below 2^21": elements(
        "f32",
        "o = 1.0; r = mulf a o",
        "x = 2097143.0; y = 2097133.0; z = 2097131.0; p = mulf a x; q = mulf p y; s = mulf q z; r = addf a s",
        "a term that such a proof cannot see, where it is known modulo what it computes",
    ),
    "zero for a quotient by zero": elements(
        "f32 f32",
        "r = divf a b",
        "z = 0.0; f = cmpf oeq b z; q = divf a b; r = select f z q",
        "onnxruntime: Div",
    ),
    "a number beyond 6e4 that is cut": elements(
        "f32",
        "k = 100.0; r = mulf a k",
        "k = 100.0; h = 6.5e4; s = mulf a k; r = minimumf s h",
        "onnxruntime 17689",
        CHECK,
    ),
    "an input beyond 6e4 that is cut": elements(
        "f32",
        "o = 1.0; r = mulf a o",
        "h = 6.5e4; r = minimumf a h",
        "onnxruntime 17689",
        UNDECIDED + "inputs are drawn up to some thousands",
    ),
    "a subnormal number in between that is zero": elements(
        "f32",
        "k = 1.0e-20; i = 1.0e20; p = mulf a k; q = mulf p k; s = mulf q i; r = mulf s i",
        "k = 1.0e-20; i = 1.0e20; p = mulf a k; q = mulf p k; x = m.absf q; n = 1.2e-38; z = 0.0; f = cmpf olt x n; t = select f z q; s = mulf t i; r = mulf s i",
        "llvm: denormals",
    ),
    "halves rounded away from zero, and not to even": elements(
        "f32",
        "r = m.roundeven a",
        "r = m.round a",
        "onnxruntime: QuantizeLinear",
    ),
    "a number rounded by a half and floor": elements(
        "f32",
        "r = m.round a",
        "h = 0.5; s = addf a h; r = m.floor s",
        "tvm: round",
    ),
    "a float truncated, which was rounded down": elements(
        "f32", "f = m.floor a; r = fptosi f -> i32", "r = fptosi a -> i32", "tvm 8616"
    ),
    "a cast without the clamp before it": elements(
        "f32",
        "h = 100.0; l = -100.0; x = minimumf a h; y = maximumf x l; r = fptosi y -> i32",
        "r = fptosi a -> i32",
        "onnxruntime: saturate",
    ),
    "a clamp behind the cast": elements(
        "f32",
        "k = 200.0; s = mulf a k; h = 127.0; l = -128.0; x = minimumf s h; y = maximumf x l; r = fptosi y -> i8",
        "k = 200.0; s = mulf a k; x = fptosi s -> i32; r = trunci x -> i8",
        "onnxruntime: saturate",
    ),
    "a product of exponentials for the exponential of a product": elements(
        "f32 f32", "x = m.exp a; y = m.exp b; r = mulf x y", "p = mulf a b; r = m.exp p", "xla: exp"
    ),
    "a quotient of exponentials, which overflow": elements(
        "f32 f32",
        "d = subf a b; r = m.exp d",
        "x = m.exp a; y = m.exp b; r = divf x y",
        "onnxruntime: softmax",
    ),
    "a root of a square without its absolute value": elements(
        "f32", "s = mulf a a; r = m.sqrt s", "o = 1.0; r = mulf a o", "xla: sqrt"
    ),
    "an epsilon outside of its root": elements(
        "f32",
        "e = 1.0e-5; s = mulf a a; t = addf s e; r = m.rsqrt t",
        "e = 1.0e-5; s = mulf a a; t = m.sqrt s; u = addf t e; o = 1.0; r = divf o u",
        "onnxruntime 4293",
    ),
    "constants of three sums of which one is lost": elements(
        "f32",
        "c = 0.5; d = 0.25; e = 2.0; s = addf a c; t = addf s d; r = addf t e",
        "c = 0.75; r = addf a c",
        "tvm 16211",
    ),
    "one operand five times for a sum of five": elements(
        "f32 f32",
        "s = addf a b; t = addf s b; u = addf t b; r = addf u b",
        "s = addf a b; t = addf s s; u = addf t t; r = addf u b",
        "tvm 12305",
    ),
    "a hyperbolic tangent by a sigmoid of half": elements(
        "f32",
        "r = m.tanh a",
        "n = negf a; x = m.exp n; o = 1.0; d = addf o x; q = divf o d; t = addf q q; r = subf t o",
        "tvm: tanh",
    ),
    "a remainder with the sign of the divisor": elements(
        "f32",
        "c = 1.5; r = remf a c",
        "c = 1.5; s = remf a c; t = addf s c; r = remf t c",
        "onnx: Mod fmod",
    ),
    "a product rounded to 16 bits in between": elements(
        "f32 f32",
        "p = mulf a b; r = addf p a",
        "p = mulf a b; h = truncf p -> f16; q = extf h -> f32; r = addf q a",
        "onnxruntime 17689",
        CHECK,
    ),
    "a number that is infinite in 16 bits": elements(
        "f32",
        "k = 2000.0; p = mulf a k; i = 5.0e-4; r = mulf p i",
        "k = 2000.0; p = mulf a k; h = truncf p -> f16; q = extf h -> f32; i = 5.0e-4; r = mulf q i",
        "onnxruntime 17689",
        CHECK,
    ),
    "a mean of squares less the square of a mean": elements(
        "f32 f32",
        "k = 1000.0; x = addf a k; y = addf b k; d = subf x y; r = mulf d d",
        "k = 1000.0; x = addf a k; y = addf b k; p = mulf x x; q = mulf y y; m = mulf x y; t = addf m m; s = addf p q; r = subf s t",
        "onnxruntime 4293",
        CHECK,
    ),
    "a small number that is cut off": elements(
        "f32",
        "r = m.absf a",
        "x = m.absf a; t = 1.0e-3; z = 0.0; f = cmpf olt x t; r = select f z x",
        "llvm: denormals",
    ),
    "a comparison that NaN passes": elements(
        "f32 f32",
        "r = cmpf olt a b",
        "r = cmpf ult a b",
        "llvm: unordered",
        UNDECIDED + "NaN is no data of a pass that does not declare to keep it",
    ),
    "a maximum that passes over NaN": elements(
        "f32 f32",
        "r = maximumf a b",
        "r = maxnumf a b",
        "llvm: minnum",
        UNDECIDED + "NaN is no data of a pass that does not declare to keep it",
    ),
    "zero for a product with zero": elements(
        "f32",
        "z = 0.0; r = mulf a z",
        "z = 0.0; r = addf z z",
        "xla: x * 0",
        UNDECIDED + "NaN and infinities are no data of a pass that does not declare to keep them",
    ),
    "zero less a number for its negative": elements(
        "f32",
        "r = negf a",
        "z = 0.0; r = subf z a",
        "llvm: fneg",
        UNDECIDED + "the sign of a zero is unspecified",
    ),
    "a number for the logarithm of its exponential": elements(
        "f32",
        "x = m.exp a; r = m.log x",
        "o = 1.0; r = mulf a o",
        "xla: log(exp(x))",
        PROOF,
    ),
    "a power by its square": elements(
        "f32", "c = 3.0; r = m.powf a c", "r = mulf a a", "onnxruntime: Pow"
    ),
    "a number that is divided by itself": elements(
        "f32",
        "z = 0.0; d = subf a a; e = addf d a; r = divf e e",
        "o = 1.0; r = addf o o",
        "tvm: x / x",
    ),
    "a difference turned round by an identity of sums": elements(
        "f32 f32 f32", "d = subf b c; r = subf a d", "d = addf b c; r = subf a d", "tvm 16211"
    ),
    "a product distributed over one operand alone": elements(
        "f32 f32 f32", "s = addf b c; r = mulf a s", "p = mulf a b; r = addf p c", "tvm 16211"
    ),
}

ROWS = "%x: <5x4>, %y: <5x4>"
LINE = "%x: <9>, %y: <9>"
COPY = loop("i", "0 9", load("a", "x[%i]", "9"), store("a", "y[%i]", "9"))
SUMMED = (load("a", "x[%i]", "9"), load("s", "t[%c0]", "1"), op("r", "addf", "s", "a"))
START = "%t = memref.alloc() : <1>\nmemref.store %zero, %t[%c0] : <1>\n"
END = "\n%e = memref.load %t[%c0] : <1>\nmemref.store %e, %y[%c0] : <9>"
KEEP = store("r", "t[%c0]", "1")
INNER = "memref<4xf32, strided<[{}], offset: {}>>"


def view(name: str, source: str, offset: str, step: int, of: str, shift: int) -> str:
    """Write a view of four elements of a buffer."""
    return f"%{name} = memref.subview %{source}[{offset}] [4] [{step}] : {of} to " + INNER.format(
        step, shift
    )


MEMORY: Mapping[str, Rewrite] = {
    "the last element of a loop for the tail": memory(
        LINE,
        START + loop("i", "0 9", load("a", "x[%i]", "9"), store("a", "t[%c0]", "1")) + END,
        START + loop("i", "0 8", load("a", "x[%i]", "9"), store("a", "t[%c0]", "1")) + END,
        "llvm 55167",
    ),
    "a store taken out of a loop that does not run": memory(
        LINE,
        COPY + "\n" + loop("i", "0 0", store("zero", "y[%c3]", "9")),
        COPY + "\n" + store("zero", "y[%c3]", "9"),
        "llvm 128273",
    ),
    "a load taken out of a loop that writes its place": memory(
        LINE,
        START + loop("i", "0 9", *SUMMED, KEEP, store("r", "y[%i]", "9")),
        START
        + load("s", "t[%c0]", "1")
        + "\n"
        + loop("i", "0 9", SUMMED[0], SUMMED[2], KEEP, store("r", "y[%i]", "9")),
        "llvm 217538",
    ),
    "a store forwarded past one to the same place by another view": memory(
        LINE,
        COPY
        + "\n%v = memref.subview %y[2] [4] [1] : <9> to memref<4xf32, strided<[1], offset: 2>>\n"
        + "%b = memref.load %x[%c5] : <9>\nmemref.store %b, %y[%c3] : <9>\n"
        + "memref.store %zero, %v[%c1] : memref<4xf32, strided<[1], offset: 2>>\n"
        + "%d = memref.load %y[%c3] : <9>\nmemref.store %d, %y[%c0] : <9>",
        COPY
        + "\n%v = memref.subview %y[2] [4] [1] : <9> to memref<4xf32, strided<[1], offset: 2>>\n"
        + "%b = memref.load %x[%c5] : <9>\nmemref.store %b, %y[%c3] : <9>\n"
        + "memref.store %zero, %v[%c1] : memref<4xf32, strided<[1], offset: 2>>\n"
        + "memref.store %b, %y[%c0] : <9>",
        "llvm 113687",
    ),
    "a store that is left out though a loop reads it": memory(
        LINE,
        COPY
        + "\nmemref.store %zero, %y[%c4] : <9>\n"
        + loop(
            "i", "0 9", load("a", "y[%i]", "9"), op("b", "addf", "a", "a"), store("b", "y[%i]", "9")
        ),
        COPY
        + "\n"
        + loop(
            "i", "0 9", load("a", "y[%i]", "9"), op("b", "addf", "a", "a"), store("b", "y[%i]", "9")
        ),
        "llvm 217538",
    ),
    "two loads made one across a store": memory(
        LINE,
        COPY
        + "\n%a = memref.load %y[%c1] : <9>\nmemref.store %zero, %y[%c1] : <9>\n"
        + "%b = memref.load %y[%c1] : <9>\n"
        + op("d", "addf", "a", "b")
        + "\nmemref.store %d, %y[%c2] : <9>",
        COPY
        + "\n%a = memref.load %y[%c1] : <9>\nmemref.store %zero, %y[%c1] : <9>\n"
        + op("d", "addf", "a", "a")
        + "\nmemref.store %d, %y[%c2] : <9>",
        "llvm 172595",
    ),
    "a nest fused with one that reads the element after": memory(
        LINE,
        "%t = memref.alloc() : <9>\nlinalg.fill ins(%zero : f32) outs(%t : <9>)\n"
        + loop("i", "0 9", load("a", "x[%i]", "9"), store("a", "t[%i]", "9"))
        + "\n"
        + loop(
            "i",
            "0 8",
            "%j = arith.addi %i, %c1 : index",
            load("a", "t[%j]", "9"),
            store("a", "y[%i]", "9"),
        )
        + "\nmemref.store %zero, %y[%c8] : <9>",
        "%t = memref.alloc() : <9>\nlinalg.fill ins(%zero : f32) outs(%t : <9>)\n"
        + loop(
            "i",
            "0 8",
            load("a", "x[%i]", "9"),
            store("a", "t[%i]", "9"),
            "%j = arith.addi %i, %c1 : index",
            load("b", "t[%j]", "9"),
            store("b", "y[%i]", "9"),
        )
        + "\nmemref.store %zero, %y[%c8] : <9>",
        "llvm 132155",
    ),
    "a fill moved behind the copy that it was before": memory(
        ROWS,
        'linalg.fill ins(%zero : f32) outs(%y : <5x4>)\n"memref.copy"(%x, %y) : (<5x4>, <5x4>) -> ()',
        '"memref.copy"(%x, %y) : (<5x4>, <5x4>) -> ()\nlinalg.fill ins(%zero : f32) outs(%y : <5x4>)',
        "llvm 218696",
    ),
    "two loops exchanged against a dependence": memory(
        ROWS,
        '"memref.copy"(%x, %y) : (<5x4>, <5x4>) -> ()\n'
        + loop(
            "i",
            "1 5",
            loop(
                "j",
                "0 3",
                "%p = arith.subi %i, %c1 : index",
                "%q = arith.addi %j, %c1 : index",
                load("a", "y[%p, %q]", "5x4"),
                store("a", "y[%i, %j]", "5x4"),
            ),
        ),
        '"memref.copy"(%x, %y) : (<5x4>, <5x4>) -> ()\n'
        + loop(
            "j",
            "0 3",
            loop(
                "i",
                "1 5",
                "%p = arith.subi %i, %c1 : index",
                "%q = arith.addi %j, %c1 : index",
                load("a", "y[%p, %q]", "5x4"),
                store("a", "y[%i, %j]", "5x4"),
            ),
        ),
        "llvm 119683",
    ),
    "a loop written out by two, without the odd one": memory(
        LINE,
        "linalg.fill ins(%zero : f32) outs(%y : <9>)\n" + COPY,
        "linalg.fill ins(%zero : f32) outs(%y : <9>)\n"
        + loop(
            "i",
            "0 8 2",
            load("a", "x[%i]", "9"),
            store("a", "y[%i]", "9"),
            "%j = arith.addi %i, %c1 : index",
            load("b", "x[%j]", "9"),
            store("b", "y[%j]", "9"),
        ),
        "llvm 173459",
    ),
    "a sum that begins again in each tile": memory(
        LINE,
        START + loop("i", "0 9", *SUMMED, KEEP) + END,
        START
        + loop(
            "o",
            "0 9 3",
            "memref.store %zero, %t[%c0] : <1>",
            "%h = arith.addi %o, %c3 : index",
            loop("i", "%o %h", *SUMMED, KEEP),
        )
        + END,
        "iree 19343",
    ),
    "a recurrence that runs backwards": memory(
        LINE,
        COPY
        + "\n"
        + loop(
            "i",
            "1 9",
            "%p = arith.subi %i, %c1 : index",
            load("a", "y[%p]", "9"),
            load("b", "y[%i]", "9"),
            op("d", "addf", "a", "b"),
            store("d", "y[%i]", "9"),
        ),
        COPY
        + "\n"
        + loop(
            "k",
            "1 9",
            "%i = arith.subi %c9, %k : index",
            "%p = arith.subi %i, %c1 : index",
            load("a", "y[%p]", "9"),
            load("b", "y[%i]", "9"),
            op("d", "addf", "a", "b"),
            store("d", "y[%i]", "9"),
        ),
        "llvm 121745",
    ),
    "a loop split against a dependence": memory(
        LINE,
        COPY
        + "\n"
        + loop(
            "i",
            "0 8",
            "%j = arith.addi %i, %c1 : index",
            load("a", "y[%i]", "9"),
            op("b", "addf", "a", "a"),
            store("b", "y[%i]", "9"),
            store("a", "y[%j]", "9"),
        ),
        COPY
        + "\n"
        + loop(
            "i", "0 8", load("a", "y[%i]", "9"), op("b", "addf", "a", "a"), store("b", "y[%i]", "9")
        )
        + "\n"
        + loop(
            "i",
            "0 8",
            "%j = arith.addi %i, %c1 : index",
            load("a", "y[%i]", "9"),
            store("a", "y[%j]", "9"),
        ),
        "llvm 119351",
    ),
    "a store of a branch that is done in any case": memory(
        LINE,
        COPY
        + "\n"
        + loop(
            "i",
            "0 9",
            "%f = arith.cmpi ult, %i, %c4 : index",
            "scf.if %f {",
            store("zero", "y[%i]", "9"),
            "}",
        ),
        COPY + "\n" + loop("i", "0 9", store("zero", "y[%i]", "9")),
        "llvm 76069",
    ),
    "a branch that is taken for the other": memory(
        LINE,
        COPY
        + "\n"
        + loop(
            "i",
            "0 9",
            "%f = arith.cmpi ult, %i, %c4 : index",
            "scf.if %f {",
            store("zero", "y[%i]", "9"),
            "}",
        ),
        COPY
        + "\n"
        + loop(
            "i",
            "0 9",
            "%f = arith.cmpi uge, %i, %c4 : index",
            "scf.if %f {",
            store("zero", "y[%i]", "9"),
            "}",
        ),
        "llvm 219456",
    ),
    "states of a loop exchanged": memory(
        LINE,
        COPY
        + "\n%a = memref.load %x[%c0] : <9>\n%b = memref.load %x[%c1] : <9>\n"
        + "%r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %b) -> (f32, f32) {\n"
        + op("s", "addf", "p", "q")
        + "\nscf.yield %q, %s : f32, f32\n}\nmemref.store %r#0, %y[%c0] : <9>",
        COPY
        + "\n%a = memref.load %x[%c0] : <9>\n%b = memref.load %x[%c1] : <9>\n"
        + "%r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %b) -> (f32, f32) {\n"
        + op("s", "addf", "p", "q")
        + "\nscf.yield %s, %q : f32, f32\n}\nmemref.store %r#0, %y[%c0] : <9>",
        "onnxruntime: Scan states",
    ),
    "a first iteration that is done twice": memory(
        LINE,
        START + loop("i", "0 9", *SUMMED, KEEP) + END,
        START
        + "%f = memref.load %x[%c0] : <9>\nmemref.store %f, %t[%c0] : <1>\n"
        + loop("i", "0 9", *SUMMED, KEEP)
        + END,
        "llvm: loop peeling",
    ),
    "a buffer of each iteration that all share": memory(
        ROWS,
        loop(
            "i",
            "0 5",
            "%t = memref.alloc() : <1>",
            "memref.store %zero, %t[%c0] : <1>",
            loop(
                "j",
                "0 4",
                load("a", "x[%i, %j]", "5x4"),
                load("s", "t[%c0]", "1"),
                op("r", "addf", "s", "a"),
                KEEP,
                store("r", "y[%i, %j]", "5x4"),
            ),
        ),
        "%t = memref.alloc() : <1>\nmemref.store %zero, %t[%c0] : <1>\n"
        + loop(
            "i",
            "0 5",
            loop(
                "j",
                "0 4",
                load("a", "x[%i, %j]", "5x4"),
                load("s", "t[%c0]", "1"),
                op("r", "addf", "s", "a"),
                KEEP,
                store("r", "y[%i, %j]", "5x4"),
            ),
        ),
        "llvm 218091",
    ),
    "elements moved one by one onto those to come": memory(
        LINE,
        COPY
        + "\n"
        + loop(
            "k",
            "1 9",
            "%i = arith.subi %c9, %k : index",
            "%p = arith.subi %i, %c1 : index",
            load("a", "y[%p]", "9"),
            store("a", "y[%i]", "9"),
        ),
        COPY
        + "\n"
        + loop(
            "i",
            "1 9",
            "%p = arith.subi %i, %c1 : index",
            load("a", "y[%p]", "9"),
            store("a", "y[%i]", "9"),
        ),
        "llvm: memmove",
    ),
    "views of views whose steps are not multiplied": memory(
        LINE,
        COPY
        + "\n"
        + view("v", "y", "1", 2, "<9>", 1)
        + "\nmemref.store %zero, %v[%c2] : "
        + INNER.format(2, 1),
        COPY
        + "\n"
        + view("v", "y", "1", 1, "<9>", 1)
        + "\nmemref.store %zero, %v[%c2] : "
        + INNER.format(1, 1),
        "llvm 80551",
    ),
    "a view that forgets its offset": memory(
        LINE,
        COPY
        + "\n"
        + view("v", "y", "3", 1, "<9>", 3)
        + "\nmemref.store %zero, %v[%c0] : "
        + INNER.format(1, 3),
        COPY + "\nmemref.store %zero, %y[%c0] : <9>",
        "llvm 114657",
    ),
    "a least number that begins at zero": memory(
        LINE,
        "%f = memref.load %x[%c0] : <9>\n"
        + op("g", "mulf", "f", "f")
        + "\n"
        + START
        + "memref.store %g, %t[%c0] : <1>\n"
        + loop(
            "i", "0 9", *SUMMED[:2], op("q", "mulf", "a", "a"), op("r", "minimumf", "s", "q"), KEEP
        )
        + END,
        START
        + loop(
            "i", "0 9", *SUMMED[:2], op("q", "mulf", "a", "a"), op("r", "minimumf", "s", "q"), KEEP
        )
        + END,
        "llvm 129415",
    ),
    "lanes side by side of a loop that steps by two": memory(
        LINE,
        COPY + "\n" + loop("i", "0 8 2", store("zero", "y[%i]", "9")),
        COPY + "\n" + loop("i", "0 4", store("zero", "y[%i]", "9")),
        "MLIR 22: affine-super-vectorize",
    ),
    "elements copied back that were never copied in": memory(
        LINE,
        COPY
        + "\n"
        + loop("i", "0 4", "%j = arith.muli %i, %c2 : index", store("zero", "y[%j]", "9")),
        COPY
        + "\n%t = memref.alloc() : <9>\n"
        + loop("i", "0 4", "%j = arith.muli %i, %c2 : index", store("zero", "t[%j]", "9"))
        + "\n"
        + loop("i", "0 7", load("b", "t[%i]", "9"), store("b", "y[%i]", "9")),
        "MLIR 22: affine-data-copy-generate",
    ),
    "an update in place of what is still read": memory(
        ROWS,
        "%t = memref.alloc() : <5x4>\n"
        + '"memref.copy"(%x, %t) : (<5x4>, <5x4>) -> ()\n'
        + loop(
            "i",
            "0 5",
            loop(
                "j",
                "0 4",
                load("a", "t[%c0, %j]", "5x4"),
                load("b", "t[%i, %j]", "5x4"),
                op("d", "addf", "a", "b"),
                store("d", "y[%i, %j]", "5x4"),
            ),
        ),
        "%t = memref.alloc() : <5x4>\n"
        + '"memref.copy"(%x, %t) : (<5x4>, <5x4>) -> ()\n'
        + loop(
            "i",
            "0 5",
            loop(
                "j",
                "0 4",
                load("a", "t[%c0, %j]", "5x4"),
                load("b", "t[%i, %j]", "5x4"),
                op("d", "addf", "a", "b"),
                store("d", "t[%i, %j]", "5x4"),
            ),
        )
        + '\n"memref.copy"(%t, %y) : (<5x4>, <5x4>) -> ()',
        "llvm 90019",
    ),
    "rows of one matrix as columns": memory(
        "%x: <4x4>, %y: <4x4>",
        loop(
            "i",
            "0 4",
            loop("j", "0 4", load("a", "x[%i, %j]", "4x4"), store("a", "y[%j, %i]", "4x4")),
        ),
        loop(
            "i",
            "0 4",
            loop("j", "0 4", load("a", "x[%i, %j]", "4x4"), store("a", "y[%i, %j]", "4x4")),
        ),
        "llvm 74579",
    ),
}

X = "%x: <2x3x4>"
IMAGE = "%x: <1x2x5x6>"
POOL = "kernel [2, 2] strides [{0}, {0}] padding [{1}] {2}ceil_mode false {3}: (<1x2x{4}>) -> <1x2x{5}>"


def max_pool(operand: str, step: int, padding: str, of: str, to: str) -> str:
    """Write maxima of windows of two by two."""
    return f"gawee.max_pool {operand} " + POOL.format(
        step, padding, "dilations [1, 1] ", "", of, to
    )


def mean_pool(operand: str, padding: str, of: str, to: str, *, padded: bool) -> str:
    """Write means of windows of two by two."""
    said = f"count_include_pad {str(padded).lower()} "
    return f"gawee.avg_pool {operand} " + POOL.format(1, padding, "", said, of, to)


def conv(operand: str) -> str:
    """Write a convolution of three by three."""
    return (
        f"%c = gawee.conv {operand}, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 "
        ": (<1x2x5x6>, <3x2x3x3>) -> <1x3x3x4>"
    )


def binary(text: str, first: str, second: str, result: str) -> str:
    """Write an op of two operands."""
    return f"{text} : (<{first}>, <{second}>) -> <{result}>"


PADDED = 'gawee.pad %x low [0, 0, 1, 1] high [0, 0, 1, 1] mode "constant" value 0.0 : f64'
SCALED = "%x: <1x2x5x6>, %w: <3x2x3x3>, %s: <1x3x1x1>"

GRAPHS: Mapping[str, Rewrite] = {
    "padding by zeros folded into maxima": graph(
        IMAGE,
        "<1x2x6x7>",
        (
            unary(f"%p = {PADDED}", "1x2x5x6", "1x2x7x8"),
            f"%y = {max_pool('%p', 1, '0, 0, 0, 0', '7x8', '6x7')}",
        ),
        (f"%y = {max_pool('%x', 1, '1, 1, 1, 1', '5x6', '6x7')}",),
        "onnx/optimizer 318",
    ),
    "padding folded into means that do not count it": graph(
        IMAGE,
        "<1x2x6x7>",
        (
            unary(f"%p = {PADDED}", "1x2x5x6", "1x2x7x8"),
            f"%y = {mean_pool('%p', '0, 0, 0, 0', '7x8', '6x7', padded=False)}",
        ),
        (f"%y = {mean_pool('%x', '1, 1, 1, 1', '5x6', '6x7', padded=False)}",),
        "onnxruntime 22177",
    ),
    "padding at the end that means do not count": graph(
        IMAGE,
        "<1x2x6x7>",
        (f"%y = {mean_pool('%x', '1, 1, 1, 1', '5x6', '6x7', padded=True)}",),
        (f"%y = {mean_pool('%x', '1, 1, 1, 1', '5x6', '6x7', padded=False)}",),
        "onnxruntime 24681",
    ),
    "a scale moved through a relu": graph(
        SCALED,
        "<1x3x3x4>",
        (
            conv("%x"),
            unary("%r = gawee.relu %c", "1x3x3x4"),
            binary("%y = gawee.mul %r, %s", "1x3x3x4", "1x3x1x1", "1x3x3x4"),
        ),
        (
            conv("%x"),
            binary("%m = gawee.mul %c, %s", "1x3x3x4", "1x3x1x1", "1x3x3x4"),
            unary("%y = gawee.relu %m", "1x3x3x4"),
        ),
        "tvm 16211",
    ),
    "a relu folded into the one operand of a sum": graph(
        "%x: <2x3x4>, %z: <2x3x4>",
        "<2x3x4>",
        (
            binary("%s = gawee.add %x, %z", "2x3x4", "2x3x4", "2x3x4"),
            unary("%y = gawee.relu %s", "2x3x4"),
        ),
        (
            unary("%r = gawee.relu %x", "2x3x4"),
            binary("%y = gawee.add %r, %z", "2x3x4", "2x3x4", "2x3x4"),
        ),
        "iree 18157",
    ),
    "two transposes composed the other way round": graph(
        X,
        "<3x4x2>",
        (
            unary("%t = gawee.transpose %x permutation [1, 0, 2]", "2x3x4", "3x2x4"),
            unary("%y = gawee.transpose %t permutation [0, 2, 1]", "3x2x4", "3x4x2"),
        ),
        (
            unary("%t = gawee.transpose %x permutation [2, 0, 1]", "2x3x4", "4x2x3"),
            unary("%y = gawee.reshape %t shape [3, 4, 2]", "4x2x3", "3x4x2"),
        ),
        "onnxruntime: transpose optimizer",
    ),
    "a transpose between reshapes that is dropped": graph(
        X,
        "<4x6>",
        (
            unary("%r = gawee.reshape %x shape [6, 4]", "2x3x4", "6x4"),
            unary("%y = gawee.transpose %r permutation [1, 0]", "6x4", "4x6"),
        ),
        (unary("%y = gawee.reshape %x shape [4, 6]", "2x3x4", "4x6"),),
        "llvm 74579",
    ),
    "operands of a concatenation in another order": graph(
        "%x: <2x3>, %z: <2x3>",
        "<4x3>",
        ("%y = gawee.cat %x, %z dim 0 : (<2x3>, <2x3>) -> <4x3>",),
        ("%y = gawee.cat %z, %x dim 0 : (<2x3>, <2x3>) -> <4x3>",),
        "iree 19355",
    ),
    "a softmax along another axis after a transpose": graph(
        X,
        "<2x4x3>",
        (
            unary("%t = gawee.transpose %x permutation [0, 2, 1]", "2x3x4", "2x4x3"),
            unary("%y = gawee.softmax %t axis -1", "2x4x3"),
        ),
        (
            unary("%s = gawee.softmax %x axis -1", "2x3x4"),
            unary("%y = gawee.transpose %s permutation [0, 2, 1]", "2x3x4", "2x4x3"),
        ),
        "onnxruntime: transpose optimizer",
    ),
    "a sum along another axis": graph(
        "%x: <4x4>",
        "<4>",
        (unary("%y = gawee.reduce_sum %x axes [0]", "4x4", "4"),),
        (unary("%y = gawee.reduce_sum %x axes [1]", "4x4", "4"),),
        "iree 18479",
    ),
    "a mean of means of parts that are not equal": graph(
        "%x: <2x3>, %z: <4x3>",
        "<3>",
        (
            "%c = gawee.cat %x, %z dim 0 : (<2x3>, <4x3>) -> <6x3>",
            unary("%y = gawee.reduce_mean %c axes [0]", "6x3", "3"),
        ),
        (
            unary("%a = gawee.reduce_mean %x axes [0]", "2x3", "3"),
            unary("%b = gawee.reduce_mean %z axes [0]", "4x3", "3"),
            binary("%s = gawee.add %a, %b", "3", "3", "3"),
            "%h = gawee.constant dense<0.5> : <3>",
            binary("%y = gawee.mul %s, %h", "3", "3", "3"),
        ),
        "iree 18479",
    ),
    "two clamps made one of the outer bounds": graph(
        X,
        "<2x3x4>",
        (
            unary("%a = gawee.clip %x min -0.5 max 0.5", "2x3x4"),
            unary("%y = gawee.clip %a min -1.0 max 1.0", "2x3x4"),
        ),
        (unary("%y = gawee.clip %x min -1.0 max 1.0", "2x3x4"),),
        "onnxruntime: clip fusion",
    ),
    "two clamps with other bounds made one": graph(
        X,
        "<2x3x4>",
        (
            unary("%a = gawee.clip %x min -0.5 max 0.5", "2x3x4"),
            unary("%b = gawee.clip %x min -0.5 max 0.25", "2x3x4"),
            binary("%y = gawee.add %a, %b", "2x3x4", "2x3x4", "2x3x4"),
        ),
        (
            unary("%a = gawee.clip %x min -0.5 max 0.5", "2x3x4"),
            binary("%y = gawee.add %a, %a", "2x3x4", "2x3x4", "2x3x4"),
        ),
        "onnxruntime 18212",
    ),
    "a relu taken for a clamp at six": graph(
        X,
        "<2x3x4>",
        (unary("%y = gawee.relu %x", "2x3x4"),),
        (unary("%y = gawee.clip %x min 0.0 max 6.0", "2x3x4"),),
        "onnxruntime 23143",
    ),
    "a weight that is not turned": graph(
        "%x: <2x4>, %w: <4x4>",
        "<2x4>",
        (binary("%y = gawee.matmul %x, %w", "2x4", "4x4", "2x4"),),
        (
            unary("%t = gawee.transpose %w permutation [1, 0]", "4x4"),
            binary("%y = gawee.matmul %x, %t", "2x4", "4x4", "2x4"),
        ),
        "iree 19343",
    ),
    "a bias that is scaled with the product": graph(
        "%x: <2x4>, %w: <3x4>, %b: <3>",
        "<2x3>",
        (
            "%h = gawee.constant dense<0.5> : <2x4>",
            binary("%m = gawee.mul %x, %h", "2x4", "2x4", "2x4"),
            "%y = gawee.matmul %m, %w bias %b : (<2x4>, <3x4>, <3>) -> <2x3>",
        ),
        (
            "%m = gawee.matmul %x, %w bias %b : (<2x4>, <3x4>, <3>) -> <2x3>",
            "%h = gawee.constant dense<0.5> : <2x3>",
            binary("%y = gawee.mul %m, %h", "2x3", "2x3", "2x3"),
        ),
        "tvm 13359",
    ),
    "a sum of one axis for the product with ones": graph(
        "%x: <2x4>, %w: <2x4>",
        "<2x4>",
        (binary("%y = gawee.sub %x, %w", "2x4", "2x4", "2x4"),),
        (binary("%y = gawee.sub %w, %x", "2x4", "2x4", "2x4"),),
        "onnxruntime 4110",
    ),
    "a mask added to scores by -1e4 where it excludes": graph(
        "%x: <2x3>, %m: tensor<2x3xi1>",
        "<2x3>",
        (
            "%n = gawee.constant dense<0xFF800000> : <2x3>",
            "%a = gawee.where %m, %x, %n : (tensor<2x3xi1>, <2x3>, <2x3>) -> <2x3>",
            unary("%y = gawee.softmax %a axis -1", "2x3"),
        ),
        (
            "%n = gawee.constant dense<-1.0e4> : <2x3>",
            "%a = gawee.where %m, %x, %n : (tensor<2x3xi1>, <2x3>, <2x3>) -> <2x3>",
            unary("%y = gawee.softmax %a axis -1", "2x3"),
        ),
        "onnxruntime: attention mask",
        PROOF,
    ),
    "the place of the last of equal maxima": graph(
        X,
        "tensor<2x3xi64>",
        ("%y = gawee.arg_max %x axis 2 : (<2x3x4>) -> tensor<2x3xi64>",),
        (
            unary("%n = gawee.neg %x", "2x3x4"),
            "%y = gawee.arg_max %n axis 2 : (<2x3x4>) -> tensor<2x3xi64>",
        ),
        "onnxruntime: ArgMax",
    ),
    "sums so far along another axis": graph(
        "%x: <3x3>",
        "<3x3>",
        (unary("%y = gawee.cumsum %x axis 0", "3x3"),),
        (unary("%y = gawee.cumsum %x axis 1", "3x3"),),
        "onnxruntime: CumSum",
    ),
    "a slice that begins one later": graph(
        "%x: <5x4>",
        "<3x4>",
        (unary("%y = gawee.slice %x offsets [1, 0] sizes [3, 4] strides [1, 1]", "5x4", "3x4"),),
        (unary("%y = gawee.slice %x offsets [2, 0] sizes [3, 4] strides [1, 1]", "5x4", "3x4"),),
        "llvm 112435",
    ),
    "steps of two slices that are added": graph(
        "%x: <9x4>",
        "<2x4>",
        (
            unary("%s = gawee.slice %x offsets [0, 0] sizes [5, 4] strides [2, 1]", "9x4", "5x4"),
            unary("%y = gawee.slice %s offsets [0, 0] sizes [2, 4] strides [3, 1]", "5x4", "2x4"),
        ),
        (unary("%y = gawee.slice %x offsets [0, 0] sizes [2, 4] strides [5, 1]", "9x4", "2x4"),),
        "llvm 80551",
    ),
}

KINDS: Mapping[str, Mapping[str, Rewrite]] = {
    "integers": INTEGERS,
    "floats": FLOATS,
    "memory": MEMORY,
    "graphs": GRAPHS,
}
