"""MLIR text of a module; of large constants, the shape alone where that is asked for."""

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from io import StringIO

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.printer import Printer

from gawee_dialect.hints import isa
from gawee_dialect.resources import Resources, resource_name

SEGMENTS = AttrSizedOperandSegments.attribute_name

ELIDED = "dense_resource<__elided__>"


def is_larger(attribute: DenseIntOrFPElementsAttr, limit: int) -> bool:
    """Whether a constant has more elements than the limit; one that is uniform has not."""
    data = attribute.data.data
    if len(attribute) <= limit:
        return False
    element = data[: len(data) // len(attribute)]
    return data != element * len(attribute)


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

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        # What a text is made of, a million times; xDSL's own way takes twice as long.
        if self.stream is None or "\n" in text:
            super().print_string(text, indent=indent)
            return
        self._current_column += len(text)
        self.stream.write(text)

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, TypeAttribute):
            self._print_type(attribute)
            return
        # The name tells what most attributes are not in a tenth of the time.
        dense = attribute.name == DenseIntOrFPElementsAttr.name
        if not dense or not isa(attribute, DenseIntOrFPElementsAttr):
            super().print_attribute(attribute)
            return
        limit, name = self.elide_larger_than, resource_name(attribute)
        if limit is not None and is_larger(attribute, limit):
            self.elided = blake2b(self.elided + attribute.data.data, digest_size=16).digest()
            self.print_string(f"{ELIDED} : ")
        elif name is not None:
            text_name = self.resources.add(name, attribute.data.data)
            self.print_string(f"dense_resource<{text_name}> : ")
        else:
            super().print_attribute(attribute)
            return
        self.print_attribute(attribute.get_type())

    def _print_type(self, type: TypeAttribute) -> None:
        text = self.type_texts.get(type)
        if text is None:
            text = self.type_texts[type] = self._type_text(type)
        self.print_string(text)

    def _type_text(self, type: TypeAttribute) -> str:
        stream, column = self.stream, self._current_column
        self.stream = StringIO()
        super().print_attribute(type)
        text = self.stream.getvalue()
        self.stream, self._current_column = stream, column
        return text

    def print_op_with_default_format(self, op: Operation) -> None:
        # Ops that upstream knows by their IRDL have attributes only.
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
