"""Types and constants of the llvm dialect as LLVM IR text."""

import re
import struct
from collections.abc import Mapping

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.upstream.llvm import X86AMXType

SIMPLE_TYPES: Mapping[type[Attribute], str] = {
    Float16Type: "half",
    Float32Type: "float",
    Float64Type: "double",
    LLVMPointerType: "ptr",
    LLVMVoidType: "void",
    X86AMXType: "x86_amx",
}

MAX_SPELLED_OUT = 16
"""Elements up to which a constant array is written one by one; beyond, as its bytes."""


class Unwritable(Exception):
    """Raised for what this writer has no text for; the text says what."""


def type_text(type: Attribute) -> str:
    """Return LLVM IR's spelling of a type; raises Unwritable."""
    if simple := SIMPLE_TYPES.get(type.__class__):
        return simple
    match type:
        case IntegerType():
            return f"i{type.width.data}"
        case LLVMArrayType():
            return f"[{type.size.data} x {type_text(type.type)}]"
        case LLVMStructType():
            return "{ " + ", ".join(map(type_text, type.types)) + " }"
        case _ if isa(type, VectorType) and type.get_num_dims() == 1:
            return f"<{type.get_shape()[0]} x {type_text(type.element_type)}>"
        case _:
            raise Unwritable(f"unsupported type '{type}'")


def type_suffix(type: Attribute) -> str:
    """Return how the name of an overloaded intrinsic spells a type: `f32`, `v8f32`, `i64`."""
    match type:
        case IntegerType():
            return f"i{type.width.data}"
        case Float16Type() | Float32Type() | Float64Type():
            return f"f{type.bitwidth}"
        case LLVMPointerType():
            return "p0"
        case _ if isa(type, VectorType) and type.get_num_dims() == 1:
            return f"v{type.get_shape()[0]}{type_suffix(type.element_type)}"
        case _:
            raise Unwritable(f"unsupported type '{type}' of an intrinsic")


def float_text(value: float, type: Attribute) -> str:
    """Return the exact spelling of a float constant: its bits, f32 as those of a double."""
    if isinstance(type, Float16Type):
        return f"0xH{struct.pack('>e', value).hex().upper()}"
    if isinstance(type, Float32Type):
        value = struct.unpack(">f", struct.pack(">f", value))[0]
    elif not isinstance(type, Float64Type):
        raise Unwritable(f"unsupported constant of type '{type}'")
    plain = repr(value)
    if "." in plain and "e" not in plain and len(plain) < 10 and value == round(value * 8) / 8:
        return plain  # few binary digits: exact in decimal too, and easier to read
    return f"0x{struct.pack('>d', value).hex().upper()}"


def integer_text(value: int, type: Attribute) -> str:
    """Return the spelling of an integer constant."""
    if type == i1:
        return "true" if value & 1 else "false"
    return str(value)


def constant_text(value: Attribute, type: Attribute) -> str:
    """Return the spelling of a constant without its type; raises Unwritable."""
    if isa(value, IntegerAttr):
        return integer_text(value.value.data, type)
    if isa(value, FloatAttr):
        return float_text(value.value.data, type)
    if isa(value, DenseIntOrFPElementsAttr):
        return _dense_text(value, type)
    raise Unwritable(f"unsupported constant '{value}'")


def _dense_text(value: DenseIntOrFPElementsAttr, type: Attribute) -> str:
    if isa(type, VectorType):
        element, size, brackets = type.element_type, type.get_shape()[0], "<>"
    elif isinstance(type, LLVMArrayType):
        element, size, brackets = type.type, type.size.data, "[]"
    else:
        raise Unwritable(f"unsupported constant of type '{type}'")
    if not any(value.data.data):
        return "zeroinitializer"
    if len(value) == 1 and brackets == "<>":
        return f"splat ({type_text(element)} {_element_text(value.get_values()[0], element)})"
    entries = list(value.get_values()) if len(value) != 1 else [*value.get_values()] * size
    texts = (f"{type_text(element)} {_element_text(entry, element)}" for entry in entries)
    return brackets[0] + ", ".join(texts) + brackets[1]


def _element_text(value: object, element: Attribute) -> str:
    if isinstance(value, int):
        return integer_text(value, element)
    if isinstance(value, float):
        return float_text(value, element)
    raise Unwritable(f"unsupported element '{value}'")


def initializer_text(value: Attribute, type: Attribute) -> str:
    """Return type and value of a global: element by element where short, else as bytes.

    With opaque pointers the type of a global is only its size, and bytes are exact and fast.
    """
    if isa(value, DenseIntOrFPElementsAttr) and isinstance(type, LLVMArrayType):
        data = value.data.data
        if len(value) == 1:
            data = data * type.size.data
        if any(data) and type.size.data > MAX_SPELLED_OUT:
            escaped = "".join(f"\\{byte:02X}" for byte in data)
            return f'[{len(data)} x i8] c"{escaped}"'
    return f"{type_text(type)} {constant_text(value, type)}"


# Readable names in LLVM IR text: those of the source where it has some, else what an op does.

RENAMED = {"getelementptr": "ptr", "icmp": "cond", "fcmp": "cond"}
"""Names for results of ops whose own name says little."""


def clean(name: str) -> str:
    """Return a name with only the characters that an LLVM identifier may have unquoted."""
    return re.sub(r"[^A-Za-z0-9._$-]", "_", name)


class Names:
    """The names of one function: values and blocks share one set."""

    readable = True
    """Whether the text is for people, so that comments are for them too."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self._taken: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """Return a unique name, made from a hint."""
        name = clean(hint)
        if name[:1].isdigit():
            name = f"v{name}"
        count = self._taken.get(name)
        if count is None:
            self._taken[name] = 0
            return name
        while (numbered := f"{name}.{count + 1}") in self._taken:
            count += 1
        self._taken[name] = count + 1
        self._taken[numbered] = 0
        return numbered

    def name_value(self, value: SSAValue, fallback: str) -> str:
        """Name a value, and return how an operand spells it."""
        hint = value.name_hint or RENAMED.get(fallback, fallback.removeprefix("intr."))
        self.values[value] = f"%{self.fresh(hint)}"
        return self.values[value]

    def name_blocks(self, region: Region) -> None:
        """Name the blocks: a loop's are called after its induction variable."""
        names: dict[Block, str] = {region.blocks[0]: "entry"}
        for block in region.blocks:
            last = block.last_op
            if isinstance(last, llvm.CondBrOp) and block.args and block.args[0].name_hint:
                variable = block.args[0].name_hint
                names.setdefault(block, f"loop.{variable}")
                names.setdefault(last.then_block, f"body.{variable}")
                names.setdefault(last.else_block, f"done.{variable}")
        for block in region.blocks:
            self.blocks[block] = self.fresh(names.get(block, "block"))


class NumberedNames(Names):
    """Names by order alone: the same for two functions that differ in names alone."""

    readable = False

    def name_value(self, value: SSAValue, fallback: str) -> str:
        """Number a value, and return how an operand spells it."""
        name = self.values[value] = f"%v{len(self.values)}"
        return name

    def name_blocks(self, region: Region) -> None:
        """Number the blocks."""
        for index, block in enumerate(region.blocks):
            self.blocks[block] = f"b{index}"
