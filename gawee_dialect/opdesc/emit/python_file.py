"""Descriptions as a Python file: it holds their text, and makes the class of each operator."""

import json
from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import class_name

_FILE = '''"""Ops of the dialect '{dialect}': {name}, by gawee-translate opdesc --emit python."""

from gawee_dialect.opdesc.load import parse_operator_descriptions
from xdsl.ir import Dialect

descriptions = {text}

ops = parse_operator_descriptions(descriptions, {quoted}, __name__)
{classes}

{constant} = Dialect("{dialect}", [*ops.values()])
'''


def python_file(
    dialect: str, compiled: Sequence[CompiledOperator], text: str, path: str | Path
) -> str:
    """Return the file of a dialect whose descriptions are a text, read from a path."""
    name = Path(path).name
    optypes = [each.operator.optype for each in compiled if each.operator.autogen]
    return _FILE.format(
        dialect=dialect,
        name=name,
        quoted=json.dumps(name, ensure_ascii=False),
        text=_literal(text),
        classes="\n".join(f'{class_name(optype)} = ops["{optype}"]' for optype in optypes),
        constant=dialect.upper(),
    )


def _literal(text: str) -> str:
    """Return a text as a literal: as it is between triple quotes, where that can be."""
    plain = all(each.isprintable() or each == "\n" for each in text)
    if plain and '"""' not in text and not text.endswith(('"', "\\")):
        raw = "r" if "\\" in text else ""
        return f'{raw}"""\n{text}""".removeprefix("\\n")'
    lines = (json.dumps(line) for line in text.splitlines(keepends=True))
    return "(\n    {}\n)".format("\n    ".join(lines))
