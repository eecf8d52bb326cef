"""MLIR text of a module; of large constants, the shape alone where that is chosen.

xDSL's printer takes twice as long, elides no constants, and writes none behind the module. MLIR text
may hold them in a section of its own, after the module:

    %w = arith.constant dense_resource<weight> : tensor<2xf32>
    {-# dialect_resources: { builtin: { weight: "0x040000000000803F00000040" } } #-}

A blob is its alignment (4 bytes, little-endian) and the elements as they lie in memory.
https://mlir.llvm.org/docs/LangRef/#resources

xDSL keeps blobs for the whole process, under names that a second module may have too.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from io import StringIO
from typing import TypeGuard

from xdsl.dialects.builtin import (
    AnyDenseElement,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.printer import Printer

from gawee_dialect.dialect.types import dense_bytes
from gawee_dialect.hints import isa

ALIGNMENT_BYTES = 4
ALIGNMENT = 64
"""Bytes that printed blobs ask for: as wide as the widest vector register."""

_BEGIN, _END = "{-#", "#-}"
_BARE = re.compile(r"[A-Za-z_][\w.$-]*")
# A name begins where none goes on: else each letter of a long one is tried as the first.
_ENTRY = re.compile(r"((?<![\w.$-])[A-Za-z_][\w.$-]*|\"[^\"]*\")\s*:\s*\"0x([0-9A-Fa-f]*)\"")


class ResourceBytes(bytes):
    """The elements of a dense constant that has a name of its own in the text.

    xDSL's attributes cannot be derived from, so that the name goes with what they hold.
    """

    resource: str

    @staticmethod
    def named(name: str, elements: bytes) -> "ResourceBytes":
        """Return elements with a name."""
        named = ResourceBytes(elements)
        named.resource = name
        return named


def resource_name(attribute: DenseIntOrFPElementsAttr) -> str | None:
    """Return the name of a constant that was read from the section of resources, or None."""
    elements = attribute.data.data
    return elements.resource if isinstance(elements, ResourceBytes) else None


@dataclass
class Resources:
    """What the section of resources of a text has to hold."""

    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def add(self, name: str, elements: bytes) -> str:
        """Return the name of a constant in this text: its own, or one that is free."""
        free, number = name, 0
        while self.blobs.setdefault(free, elements) != elements:
            number += 1
            free = f"{name}_{number}"
        return _spelled(free)

    def section(self) -> str:
        """Return the section, empty where the text has no resource."""
        if not self.blobs:
            return ""
        head = ALIGNMENT.to_bytes(ALIGNMENT_BYTES, "little")
        entries = ",\n".join(
            f'      {_spelled(name)}: "0x{(head + elements).hex().upper()}"'
            for name, elements in self.blobs.items()
        )
        return (
            f"\n{_BEGIN}\n  dialect_resources: {{\n    builtin: {{\n"
            f"{entries}\n    }}\n  }}\n{_END}\n"
        )


def _spelled(name: str) -> str:
    return name if _BARE.fullmatch(name) else f'"{name}"'


def _bytes(digits: str) -> bytes | None:
    return None if len(digits) % 2 else bytes.fromhex(digits)[ALIGNMENT_BYTES:]


def split_resources(text: str) -> tuple[str, Mapping[str, bytes | None]]:
    """Return a text without its section of resources, and the blobs of the section by name.

    A blob of an odd number of digits is None: no bytes, as is known where its name is used.
    What is cut keeps its lines, so that all that follows keeps its place.
    """
    begin, end = text.find(_BEGIN), text.rfind(_END)
    if begin < 0 or end < begin:
        return text, {}
    section = text[begin : end + len(_END)]
    blobs = {name.strip('"'): _bytes(digits) for name, digits in _ENTRY.findall(section)}
    lines = "\n" * section.count("\n")
    return text[:begin] + lines + text[end + len(_END) :], blobs


def resource_elements(
    name: str, type: TensorType[AnyDenseElement], blobs: Mapping[str, bytes | None]
) -> DenseIntOrFPElementsAttr | None:
    """Return the constant of a resource, None where the text does not hold it.

    Raises ValueError where its size is not that of the type, and where it is no whole bytes.
    """
    if name not in blobs:
        return None
    blob, expected = blobs[name], dense_bytes(type.get_shape(), type.element_type)
    if blob is None:
        raise ValueError(f"expected pairs of digits in resource '{name}', got an odd number")
    if len(blob) != expected:
        raise ValueError(f"expected {expected} bytes in resource '{name}', got {len(blob)}")
    return DenseIntOrFPElementsAttr(type, BytesAttr(ResourceBytes.named(name, blob)))


# The texts of ops but for the names of their values, each made once.
#
# Ops of one kind whose types and attributes are the same are written alike: a loop nest has
# thousands of ops and some dozens of such forms. To fill in names takes a tenth of the time of
# printing an op.

Form = tuple[str, Sequence[int]]
"""A text with `%s` for each name, and whose name that is: of results, then operands, by number."""


class OpForms:
    """The forms that a printer met, or several printers that write in the same way."""

    def __init__(self) -> None:
        """Know none."""
        self._forms: dict[Hashable, Form] = {}
        self._texts: dict[int, str | None] = {}
        self._numbers: dict[int, int | None] = {}
        self._attributes: list[Attribute] = []  # while they live, no other has the identity of one
        self._number_of: dict[str, int] = {}

    def text(self, attribute: Attribute, write: Callable[[Attribute], str | None]) -> str | None:
        """Return the text of an attribute, written when it is first met.

        `write` returns None for one whose text is not to be kept.
        """
        identity = id(attribute)
        if identity in self._texts:
            return self._texts[identity]
        self._attributes.append(attribute)
        text = self._texts[identity] = write(attribute)
        return text

    def key(self, op: Operation, write: Callable[[Attribute], str | None]) -> Hashable | None:
        """Return what the form of an op without regions and successors depends on.

        None where the text of an attribute is not to be kept.
        """
        numbers = self._numbers
        found: list[Hashable] = [type(op)]
        attributes = [value.type for value in op.results]
        attributes += [value.type for value in op.operands]
        for named in (op.properties, op.attributes):
            found += (len(attributes), *named)
            attributes += named.values()
        for attribute in attributes:
            identity = id(attribute)
            number = numbers[identity] if identity in numbers else self._number(attribute, write)
            if number is None:
                return None
            found.append(number)
        return tuple(found)

    def _number(self, attribute: Attribute, write: Callable[[Attribute], str | None]) -> int | None:
        # Attributes that are equal may be written differently: zeros of both signs.
        text = self.text(attribute, write)
        known = self._number_of
        number = None if text is None else known.setdefault(text, len(known))
        self._numbers[id(attribute)] = number
        return number

    def get(self, key: Hashable) -> Form | None:
        """Return the form of ops with a key, None where there is none yet."""
        return self._forms.get(key)

    def learn(
        self, key: Hashable, op: Operation, text: str, names: Sequence[tuple[int, int, SSAValue]]
    ) -> None:
        """Keep the form of an op from its text: where each name begins and ends, and whose it is.

        A text of several lines depends on where it stands, and of a value that is used twice it is
        not known which use a name is of: these are not kept.
        """
        values = (*op.results, *op.operands)
        numbers = {value: number for number, value in enumerate(values)}
        if "\n" in text or len(numbers) < len(values):
            return
        parts: list[str] = []
        end = 0
        for start, next_end, _ in names:
            parts.append(text[end:start].replace("%", "%%"))
            end = next_end
        parts.append(text[end:].replace("%", "%%"))
        self._forms[key] = "%s".join(parts), tuple(numbers[value] for _, _, value in names)


SEGMENTS = AttrSizedOperandSegments.attribute_name

PLAIN = re.compile(rb"[ !#-\[\]-~]*")
"""Texts of printable characters, none of which is a quote or begins an escape."""

LONG = 1024
"""Bytes of a constant beyond which its text is not kept."""

ELIDED = "dense_resource<__elided__>"


def is_larger(attribute: DenseIntOrFPElementsAttr, limit: int) -> bool:
    """Whether a constant has more elements than the limit; one that is uniform has not."""
    data = attribute.data.data
    if len(attribute) <= limit:
        return False
    element = data[: len(data) // len(attribute)]
    return data != element * len(attribute)


def _is_dense(attribute: Attribute) -> TypeGuard[DenseIntOrFPElementsAttr]:
    # The name rules most attributes out in a tenth of the time.
    named = attribute.name == DenseIntOrFPElementsAttr.name
    return named and isa(attribute, DenseIntOrFPElementsAttr)


@dataclass(eq=False, repr=False)
class ModulePrinter(Printer):
    """xDSL's printer, which elides constants of more than `elide_larger_than` elements.

    `elided` is a digest of what was left out, so that two texts can be compared.
    """

    elide_larger_than: int | None = None
    elided: bytes = field(default=b"", init=False)
    resources: Resources = field(default_factory=Resources, init=False)
    type_texts: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    """Texts of types that were printed before; printers of one module share them."""
    forms: OpForms = field(default_factory=OpForms)
    """Texts of ops that were printed before; printers with the same options share them."""
    is_whole: bool = field(default=True, init=False)
    """Whether the attribute that is being written says all there is: it has no elided constant."""
    _names: list[tuple[int, int, SSAValue]] | None = field(default=None, init=False)
    """Where names are in the text of the op whose form is learned."""

    def print_op(self, op: Operation) -> None:
        plain = op.regions or op.successors or self.print_debuginfo or self.diagnostic.op_messages
        key = None if plain else self.forms.key(op, self._whole_text)
        if key is None:
            super().print_op(op)
            return
        form = self.forms.get(key)
        if form is None:
            self._learn(key, op)
            return
        text, numbers = form
        values = (*op.results, *op.operands)
        self.print_string(text % tuple([self.name_of(values[number]) for number in numbers]))

    def _print_whole(self, op: Operation) -> None:
        super().print_op(op)

    def _learn(self, key: Hashable, op: Operation) -> None:
        names: list[tuple[int, int, SSAValue]] = []
        self._names = names
        try:
            text = self._written(lambda: self._print_whole(op))
        finally:
            self._names = None
        self.forms.learn(key, op, text, names)
        self.print_string(text, indent=0)

    def name_of(self, value: SSAValue) -> str:
        """Return the name of a value in this text, with its `%`; one without a name gets one."""
        name = self._ssa_values.get(value)
        if name is not None:
            return f"%{name}"
        hint = value.name_hint
        if hint:
            used = self.ssa_names.get(hint, 0)
            self.ssa_names[hint] = used + 1
            name = f"{hint}_{used}" if used else hint
        else:
            name = self.unnamed(value)
        self._ssa_values[value] = name
        return f"%{name}"

    def unnamed(self, value: SSAValue) -> str:
        """Return the number of a value without a name, which is printed for the first time."""
        return self._get_new_valid_name_id()

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self.name_of(value)
        if self._names is not None:
            assert isinstance(self.stream, StringIO)
            start = self.stream.tell()
            self._names.append((start, start + len(name), value))
        self.print_string(name)
        return name[1:]

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        # What a text is made of, a million times; xDSL's own way takes twice as long.
        if self.stream is None or "\n" in text:
            super().print_string(text, indent=indent)
            return
        self._current_column += len(text)
        self.stream.write(text)

    def print_bytes_literal(self, bytestring: bytes) -> None:
        # xDSL's own way is a letter at a time.
        if PLAIN.fullmatch(bytestring):
            self.print_string(f'"{bytestring.decode("ascii")}"')
        else:
            super().print_bytes_literal(bytestring)

    def print_attribute(self, attribute: Attribute) -> None:
        # A location that is a part of another is written in another way.
        text = None if self.printing_location else self.forms.text(attribute, self._whole_text)
        if text is None:
            self._print_attribute(attribute)
        else:
            self.print_string(text)

    def _whole_text(self, attribute: Attribute) -> str | None:
        """Return the text of an attribute; None where it is long, or does not say all there is."""
        if isinstance(attribute, TypeAttribute):
            return self._type_text(attribute)
        if _is_dense(attribute) and len(attribute.data.data) > LONG:
            return None
        elided, self.is_whole = self.elided, True
        text = self._written(lambda: self._print_attribute(attribute))
        self.elided = elided
        return text if self.is_whole else None

    def _type_text(self, type: TypeAttribute) -> str:
        text = self.type_texts.get(type)
        if text is None:
            text = self.type_texts[type] = self._written(lambda: self._print_attribute(type))
        return text

    def _print_attribute(self, attribute: Attribute) -> None:
        if not _is_dense(attribute):
            super().print_attribute(attribute)
            return
        limit, name = self.elide_larger_than, resource_name(attribute)
        if limit is not None and is_larger(attribute, limit):
            self.is_whole = False
            self.elided = blake2b(self.elided + attribute.data.data, digest_size=16).digest()
            self.print_string(f"{ELIDED} : ")
        elif name is not None:
            self.is_whole = False
            text_name = self.resources.add(name, attribute.data.data)
            self.print_string(f"dense_resource<{text_name}> : ")
        else:
            super().print_attribute(attribute)
            return
        self.print_attribute(attribute.get_type())

    def _written(self, write: Callable[[], object]) -> str:
        outer, column = self.stream, self._current_column
        self.stream = stream = StringIO()
        try:
            write()
        finally:
            self.stream, self._current_column = outer, column
        return stream.getvalue()

    def print_op_with_default_format(self, op: Operation) -> None:
        # Ops that upstream has by their IRDL have attributes only.
        outer = self.print_properties_as_attributes
        ours = op.dialect_name() == "gawee"
        self.print_properties_as_attributes = ours and self.print_generic_format
        self._print_with_upstream_properties(op)
        self.print_properties_as_attributes = outer

    def _print_with_upstream_properties(self, op: Operation) -> None:
        # Upstream's op has no such property: its last operand is the output.
        sizes = op.properties.pop(SEGMENTS, None) if op.name == "linalg.map" else None
        super().print_op_with_default_format(op)
        if sizes is not None:
            op.properties[SEGMENTS] = sizes


@dataclass(frozen=True)
class TextOptions:
    """How MLIR text is to look: the generic form, with locations, without large constants."""

    generic: bool = False
    locations: bool = False
    elide_larger_than: int | None = None

    def generic_form(self) -> "TextOptions":
        """Return the options of the generic form, which can print what does not verify."""
        return replace(self, generic=True)

    def printer(self, stream: StringIO) -> ModulePrinter:
        """Make the printer of this text."""
        return ModulePrinter(
            stream,
            print_generic_format=self.generic,
            print_debuginfo=self.locations,
            elide_larger_than=self.elide_larger_than,
        )


def op_text(op: Operation, options: TextOptions) -> tuple[str, bytes]:
    """Return the text of an op, and a digest of the constants that the text leaves out."""
    text, printer = _printed(op, options)
    return text, printer.elided


def _printed(op: Operation, options: TextOptions) -> tuple[str, ModulePrinter]:
    stream = StringIO()
    printer = options.printer(stream)
    printer.print_op(op)
    return stream.getvalue(), printer


def module_text(module: ModuleOp, options: TextOptions) -> str:
    """Return the text of a module, resources after it, which ends with a newline."""
    text, printer = _printed(module, options)
    return f"{text}\n{printer.resources.section()}"
