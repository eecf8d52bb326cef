"""What there is to read of an op, as Markdown: the reference page, and what editors show."""

import inspect
import re
from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from gawee_dialect.hints import isa


def prose(text: str) -> str:
    """Return docstring text as Markdown: formulas keep their stars, code stays as it is."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else _escape(part) for part in parts)


def _escape(text: str) -> str:
    return re.sub(r"([*|])", r"\\\1", text).replace("<", "&lt;")


def docstring(thing: object) -> str:
    """Return a docstring without its indentation, empty where a dataclass made it up."""
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return "" if inspect.isclass(thing) and text.startswith(f"{thing.__name__}(") else text


def constraint_list(text: str) -> str:
    """Return a `Constraints:` block, whose entries may go on over lines, as a list."""
    entries = re.split(r"\n\s*(?=C\d+:)", "\n" + text.strip())[1:]
    lines = [" ".join(entry.split()).split(":", 1) for entry in entries]
    return "\n".join(f"- **{label}**:{prose(rest)}" for label, rest in lines)


def op_section(op: type[Operation]) -> str:
    """Return what the page of the dialect says of an op."""
    text, _, constraints = docstring(op).partition("Constraints:\n")
    summary, _, body = text.partition("\n")
    parts = [f"### `{op.name}`", prose(summary), prose(body.strip())]
    parts += _equations(op)
    if constraints:
        parts.append("The verifier checks:\n\n" + constraint_list(constraints))
    assembly = op.__dict__.get("assembly_format") or getattr(op, "assembly_format", None)
    if isinstance(assembly, str):
        parts.append(f"Assembly format:\n\n```text\n{op.name} {assembly}\n```")
    parts.append(f"{_signature(op)}Traits: {', '.join(_traits(op)) or 'none'}.")
    return "\n\n".join(part for part in parts if part)


def _equations(op: type[Operation]) -> Iterator[str]:
    """Yield the equations of an op as a block: one, or one for each value of a property."""
    equation = getattr(op, "EQUATION", None)
    lines: list[str] = []
    if isinstance(equation, str):
        lines = re.sub(r"[{}]", "", equation).split(";")  # names of several indices stay
    elif isa(equation, dict[str, str]):
        lines = [f"{key}: {text}" for key, text in equation.items()]
    if lines:
        yield "\n".join(("```text", *(line.strip() for line in lines), "```"))


def _signature(op: type[Operation]) -> str:
    if not issubclass(op, IRDLOperation):
        return ""
    definition = op.get_irdl_definition()
    signature = [
        *(f"operand `{name}`" for name, _ in definition.operands),
        *(f"property `{name}`" for name in definition.properties),
        *(f"result `{name}`" for name, _ in definition.results),
    ]
    return f"Has {', '.join(signature)}. " if signature else ""


def _traits(op: type[Operation]) -> list[str]:
    return sorted(type(trait).__name__ for trait in op.traits.traits)
