"""The dialect as IRDL, so that stock `mlir-opt --irdl-file` reads and verifies graphs.

What is said of an op: its name, how many operands, results and regions it has, and which attributes
must be there. Shapes and element types stay with `gawee-opt`. IRDL of LLVM 22 cannot say three
things that some of our ops need: that operands in a list may have several types (`gawee.cat`,
`gawee.kernel`), that an op ends a block (`gawee.yield`), and a syntax for an attribute
(`#gawee.schedule`). So kernels are not read by it.
https://mlir.llvm.org/docs/Dialects/IRDL/
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Data, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import IRDLOperation, OptionalDef, OptPropertyDef, VariadicDef

INDENT = "  "


def irdl_text(dialect: Dialect) -> str:
    """Return the text of a module that defines a dialect's attributes, types and ops."""
    lines = [
        *(line for each in dialect.attributes for line in _attribute(each)),
        *(line for each in dialect.operations for line in _operation(each)),
    ]
    body = "\n".join(f"{INDENT}{line}" for line in lines)
    return f"irdl.dialect @{dialect.name} {{\n{body}\n}}\n"


def _attribute(attribute: type[Attribute]) -> Sequence[str]:
    kind = "type" if issubclass(attribute, TypeAttribute) else "attribute"
    body = Body()
    if issubclass(attribute, Data):
        body.add("parameters", [("text", "")])  # how it is printed, as one string
    elif issubclass(attribute, ParametrizedAttribute):
        parameters = attribute.get_irdl_definition().parameters
        body.add("parameters", [(name, "") for name, _ in parameters])
    return body.text(kind, attribute.name)


def _operation(op: type[Operation]) -> Sequence[str]:
    assert issubclass(op, IRDLOperation)
    definition = op.get_irdl_definition()
    body = Body()
    required = [
        f'"{name}" = {body.value("any")}'
        for name, each in definition.properties.items()
        if not isinstance(each, OptPropertyDef)
    ]
    if required:
        body.lines.append(f"irdl.attributes {{ {', '.join(required)} }}")
    body.add("operands", [(name, _variadicity(each)) for name, each in definition.operands])
    body.add("results", [(name, _variadicity(each)) for name, each in definition.results])
    body.add("regions", [(name, "") for name, _ in definition.regions], "region")
    return body.text("operation", op.name)


def _variadicity(definition: object) -> str:
    if isinstance(definition, OptionalDef):
        return "optional "
    return "variadic " if isinstance(definition, VariadicDef) else ""


@dataclass
class Body:
    """What is inside the definition of an op, an attribute or a type."""

    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def value(self, constraint: str) -> str:
        """Add a constraint; return its name. What shares one has to be equal."""
        name = f"%{self.count}"
        self.lines.append(f"{name} = irdl.{constraint}")
        self.count += 1
        return name

    def add(self, part: str, entries: Sequence[tuple[str, str]], constraint: str = "any") -> None:
        """Add a list of names and variadicities, each of which may be anything."""
        if entries:
            texts = [f"{name}: {how}{self.value(constraint)}" for name, how in entries]
            self.lines.append(f"irdl.{part}({', '.join(texts)})")

    def text(self, kind: str, name: str) -> Sequence[str]:
        """Return the lines of the definition of a name such as `gawee.conv`."""
        inside = [f"{INDENT}{line}" for line in self.lines]
        return [f"irdl.{kind} @{name.partition('.')[2]} {{", *inside, "}"]
