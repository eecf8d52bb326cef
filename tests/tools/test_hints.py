"""Hints name flags that there are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import gawee_dialect
from gawee_dialect.tools import (
    gawee_opt,
    gawee_quantize,
    gawee_reduce,
    gawee_run,
    gawee_translate,
    gawee_tune,
)
from gawee_dialect.tools.gawee_experiment import run_parser, table_parser
from gawee_dialect.tools.inspect_graph import torch_parser, weights_parser
from gawee_dialect.universe import all_passes

PACKAGE = Path(gawee_dialect.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
TOOLS = (gawee_opt, gawee_quantize, gawee_reduce, gawee_run, gawee_translate, gawee_tune)


def is_hint(node: ast.AST) -> bool:
    """Whether a node gives a hint: `hint="..."`, `hint = "..."`, `HINT = "..."`."""
    match node:
        case ast.keyword(arg="hint"):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return "hint" in name.lower()
        case _:
            return False


def flags_of_hints() -> Iterator[tuple[str, str]]:
    """Yield each flag that a hint names, with where it does."""
    for path in sorted(PACKAGE.glob("**/*.py")):
        text = path.read_text()
        if FLAG.search(text) is None or "hint" not in text.lower():
            continue
        for node in ast.walk(ast.parse(text)):
            if not is_hint(node):
                continue
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    for flag in FLAG.findall(part.value):
                        yield flag, f"{path.relative_to(PACKAGE)}:{part.lineno}"


def test_every_flag_that_a_hint_names_exists() -> None:
    parsers = [*(tool.argument_parser() for tool in TOOLS), weights_parser(), torch_parser()]
    parsers += [run_parser(), table_parser()]
    known = {flag for parser in parsers for flag in parser.flags()}
    known |= {f"--{name}" for name in all_passes()}
    named = list(flags_of_hints())

    assert len(named) > 10
    assert [f"{where}: {flag}" for flag, where in named if flag not in known] == []
