"""Pieces of C: literals, and the variables of an operator's functions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gawee_dialect.opdesc.arguments import param_type
from gawee_dialect.opdesc.c_values import StructType
from gawee_dialect.opdesc.description import Operator, Param

INDENT = "  "

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_ASIDE = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)


def text_literal(text: str) -> str:
    """Return a string as C spells it."""
    spelled = (
        _ESCAPES.get(each) or (each if each.isprintable() else f"\\{ord(each) & 0xFF:03o}")
        for each in text
    )
    return f'"{"".join(spelled)}"'


@dataclass(frozen=True)
class Local:
    """A variable: its declaration without a name, and what it starts as."""

    type: str
    name: str
    value: str

    def text(self) -> str:
        """Return the declaration."""
        star = "" if self.type.endswith("*") else " "
        return f"{self.type}{star}{self.name} = {self.value};"


def identifiers(text: str) -> frozenset[str]:
    """Return the identifiers of C, those in comments and strings included."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


def read_names(text: str) -> frozenset[str]:
    """Return the identifiers of C outside of comments and strings."""
    return identifiers(_ASIDE.sub(" ", text))


def param_c_type(param: Param) -> str:
    """Return the C type of a parameter's variable."""
    if param.kind == "BOOL" and not param.is_array:
        return "bool"
    kind = param_type(param)
    return "char **" if isinstance(kind, StructType) else kind.name


def param_value(param: Param, entry: str) -> str:
    """Return where in its entry the value of a parameter is."""
    if param.kind == "NULL":
        return "NULL"
    if param.kind == "STRING" and param.realtype is None:
        return f"{entry}->value_array_string" if param.is_array else f"{entry}->value_string"
    kind = "bool" if param.kind == "BOOL" else "int"
    if param.kind == "NUMBER" and param.realtype is not None:
        kind = param.realtype.text
    return f"{entry}->value_{'array_' if param.is_array else ''}{kind}"


def locals_from_private(operator: Operator) -> Iterator[Local]:
    """Yield the variables that bodies see, made again of the private data."""
    for tensor in (*operator.tensors_in, *operator.tensors_out):
        name = tensor.arg_name
        yield Local("ln_tensor_entry *", f"{name}_entry", f"priv->{name}_entry")
        yield Local("ln_tensor *", name, f"priv->{name}_entry->tensor")
        yield Local("char *", f"{name}_name", f"priv->{name}_entry->name")
    for param in operator.params:
        entry = f"priv->{param.arg_name}_entry"
        yield Local("ln_param_entry *", f"{param.arg_name}_entry", entry)
        yield Local(param_c_type(param), param.arg_name, param_value(param, entry))


def private_fields(operator: Operator) -> Iterator[str]:
    """Yield the fields of the private data: every entry, then the extra ones."""
    for tensor in (*operator.tensors_in, *operator.tensors_out):
        yield f"ln_tensor_entry *{tensor.arg_name}_entry;"
    for param in operator.params:
        yield f"ln_param_entry *{param.arg_name}_entry;"
    for extra in operator.extra_privs:
        star = "" if extra.type.rstrip().endswith("*") else " "
        yield f"{extra.type}{star}{extra.name};"


def used_lines(lines: Sequence[str | Local]) -> list[str]:
    """Return lines, without variables that no later one reads, unless a check makes them."""
    read: set[str] = set()
    kept: list[str] = []
    for line in reversed(lines):
        text = line if isinstance(line, str) else line.text()
        if isinstance(line, Local) and line.name not in read:
            if not line.value.startswith("ln_opck_"):
                continue
            text = f"(void){line.value};"
        read |= read_names(text)
        kept.append(text)
    return kept[::-1]
