"""The flags that say what code is made: the fields of `CodeOptions`, with their docstrings."""

import ast
import inspect
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from gawee_dialect.code_options import ALGORITHMS, CodeOptions
from gawee_dialect.flag_values import positive
from gawee_dialect.passes.insertion import parse_insertion
from gawee_dialect.schedules.database import NO_CHOICES
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.tools.command_line import CommandParser
from gawee_dialect.tools.graph_arguments import add_insert
from gawee_dialect.universe import all_passes

VALUES: Mapping[str, str] = {
    "fast_math": "FLAGS",
    "target": "CPU",
    "schedules": "FILE",
    "num_threads": "N",
}
"""What the fields that are no choice are called in a usage line."""

FLAGS = ("algorithms", "trust_indices", *VALUES)
"""The fields that have a flag of their own name."""


def spelling(name: str) -> str:
    """Return how the command line spells a field."""
    return f"--{name.replace('_', '-')}"


def add_code_flags(parser: CommandParser) -> None:
    """Add a flag for each of the fields, and `--insert`."""
    documented = field_docstrings(CodeOptions)
    for each in fields(CodeOptions):
        name, text = spelling(each.name), documented[each.name].replace("`", "").rstrip(".")
        if each.name == "trust_indices":
            parser.add_argument(name, action="store_true", help=text)
        elif each.name in FLAGS:
            default = each.default if isinstance(each.default, str) else None
            parser.add_argument(
                name,
                default=default,
                type=positive if each.name == "num_threads" else str,
                choices=ALGORITHMS if each.name == "algorithms" else None,
                metavar=VALUES.get(each.name),
                help=text if default is None else f"{text} (default: {default})",
            )
    add_insert(parser)


def code_options(arguments: Namespace) -> CodeOptions:
    """Return what code is made; raises OSError, GaweeError for a file of schedules."""
    given = {name: getattr(arguments, name) for name in FLAGS}
    path = given["schedules"]
    given["schedules"] = NO_CHOICES if path is None else read_schedules(path)
    passes = tuple(parse_insertion(text, all_passes()) for text in arguments.insert)
    return CodeOptions(**given, passes=passes)


def field_docstrings(kind: type) -> dict[str, str]:
    """Return the strings that stand under a dataclass's fields, and those of its bases."""
    found: dict[str, str] = {}
    for base in kind.__bases__:
        if is_dataclass(base) and base.__module__.startswith("gawee_dialect"):
            found.update(field_docstrings(base))
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found
