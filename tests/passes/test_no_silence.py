"""No pattern of ours declines in silence: by its source, and on the inputs of the tests.

By its source: every way through `match_and_rewrite` that returns, or runs off the end, passes
`self.missed(...)` or an action of the rewriter. On inputs: whenever a pattern is given an op of
the kind that it is for, it acts or gives a reason.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

import gawee_dialect.passes
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, split_chunks
from gawee_dialect.passes.instrument import SILENT, Instrument, instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass, ops_of
from gawee_dialect.universe import OVERRIDES, UNIVERSE, all_passes, make_context
from tests.effort import FULL, part_of

FILECHECK = Path(__file__).parent.parent / "filecheck"
ACTIONS = {"replace", "erase", "insert", "insert_op", "notify_op_modified", "inline_block"}


def our_patterns() -> dict[str, type[Pattern]]:
    found: dict[str, type[Pattern]] = {}
    for info in walk_packages(gawee_dialect.passes.__path__, "gawee_dialect.passes."):
        for name, value in vars(import_module(info.name)).items():
            if inspect.isclass(value) and value.__module__ == info.name:
                if issubclass(value, Pattern) and not inspect.isabstract(value):
                    found[name] = value
    return found


PATTERNS = our_patterns()


def speaks(node: ast.AST) -> bool:
    """Whether an expression or statement holds `self.missed(...)` or an action of the rewriter."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            owner = ast.unparse(call.func.value)
            if (owner, call.func.attr) == ("self", "missed"):
                return True
            if owner == "rewriter" and call.func.attr in ACTIONS:
                return True
    return False


def silent_exits(body: list[ast.stmt], spoken: bool, exits: list[int]) -> bool | None:
    """Collect the lines of returns that are reached in silence.

    Returns whether all ways to the end of the body have spoken, None where no way goes there.
    """
    for statement in body:
        if isinstance(statement, ast.Return):
            if not spoken and not speaks(statement):
                exits.append(statement.lineno)
            return None
        if isinstance(statement, ast.Raise):
            return None
        if isinstance(statement, ast.FunctionDef):
            continue  # what a nested function does, it does when it is called
        if isinstance(statement, ast.If):
            tested = spoken or speaks(statement.test)
            ways = [
                silent_exits(part, tested, exits) for part in (statement.body, statement.orelse)
            ]
            ends = [way for way in ways if way is not None]
            if not ends:
                return None
            spoken = all(ends)
        elif isinstance(statement, ast.For | ast.While):
            header = statement.iter if isinstance(statement, ast.For) else statement.test
            spoken = spoken or speaks(header)
            silent_exits(statement.body, spoken, exits)  # may run not once
            after = silent_exits(statement.orelse, spoken, exits)
            spoken = spoken if after is None else after
        else:
            assert not isinstance(statement, ast.Try | ast.Match | ast.With), (
                "teach this test the statement"
            )
            spoken = spoken or speaks(statement)
    return spoken


def source_of(pattern: type[Pattern]) -> str:
    """Return the source of the class that says how a pattern rewrites: itself, or its base."""
    return inspect.getsource(
        next(kind for kind in pattern.__mro__ if "match_and_rewrite" in vars(kind))
    )


def silent_lines(source: str) -> list[int]:
    """Return the lines at which a class's match_and_rewrite ends in silence."""
    (kind,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(kind, ast.ClassDef)
    (method,) = [
        node
        for node in kind.body
        if isinstance(node, ast.FunctionDef) and node.name == "match_and_rewrite"
    ]
    exits: list[int] = []
    if silent_exits(method.body, False, exits) is False:
        exits.append(method.body[-1].end_lineno or 0)
    return exits


def test_sources_speak_on_every_way_out() -> None:
    silent = {name: silent_lines(source_of(pattern)) for name, pattern in PATTERNS.items()}

    assert {name: lines for name, lines in silent.items() if lines} == {}


def test_sources_leave_the_type_guard_to_the_annotation() -> None:
    sources = {name: source_of(pattern) for name, pattern in PATTERNS.items()}

    assert [name for name, text in sources.items() if "@op_type_rewrite_pattern" not in text] == []


HEAD = "class P(Pattern):\n    def match_and_rewrite(self, op, rewriter):\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if op.a:\n    return\nrewriter.replace(op, x)", [4]),
        ("if op.a:\n    return self.missed(op, 'no')\nrewriter.replace(op, x)", []),
        ("if op.a:\n    self.missed(op, 'no')\n    return\nrewriter.replace(op, x)", []),
        ("if op.a:\n    rewriter.replace(op, x)", [4]),
        ("if op.a:\n    rewriter.replace(op, x)\nelse:\n    self.missed(op, 'no')", []),
        ("for y in op.a:\n    rewriter.replace(op, y)\n    return", [5]),
        ("for y in op.a:\n    if y:\n        return\nself.missed(op, 'no')", [5]),
        ("def f():\n    self.missed(op, 'no')\nx = f", [5]),
        ("rewriter.name_hint = 'x'", [3]),
        ("raise GaweeError('no')", []),
    ],
)
def test_the_analysis_finds_silence(body: str, expected: list[int]) -> None:
    assert silent_lines(HEAD + textwrap.indent(body, "        ")) == expected


class Listener(Instrument):
    """Hears of patterns of ours that are silent, and counts the reasons of the others."""

    def __init__(self) -> None:
        self.silent: list[str] = []
        self.reasons: list[str] = []

    def pattern_missed(self, pattern: RewritePattern, op: Operation, reason: str) -> None:
        if type(pattern).__name__ in PATTERNS:
            heard = self.silent if reason == SILENT else self.reasons
            heard.append(f"{type(pattern).__name__} on {op}: {reason}")


def chunks(folder: str) -> Iterator[str]:
    for path in sorted((FILECHECK / folder).rglob("*.mlir")):
        yield from (chunk for chunk, _ in split_chunks(path.read_text()))


def test_inputs_of_all_tests_are_rewritten_or_declined_with_a_reason() -> None:
    table = all_passes()
    names = [name for name in (*UNIVERSE.all_passes, *OVERRIDES) if is_ours(table[name]())]
    passes = parse_passes(",".join((*names, "canonicalize")), table)
    listener = Listener()

    with instrumented(listener):
        for chunk in part_of([*chunks("passes")]):
            run_each_alone(passes, chunk)

    assert listener.silent == []
    # The inputs are those of the tests of declined cases, so many reasons are given.
    assert len(set(listener.reasons)) > (50 if FULL else 10)
    numbers = [reason for reason in listener.reasons if re.search(r"expected|leftover", reason)]
    assert len(numbers) == len(listener.reasons)


def is_ours(kind: type) -> bool:
    return issubclass(kind, RewritePass) and kind.__module__.startswith("gawee_dialect.")


@cache
def kinds_of(one: ModulePass) -> tuple[type[Operation], ...]:
    """Return the ops without which a pass tries none of its patterns."""
    if not isinstance(one, RewritePass) or type(one).apply is not RewritePass.apply:
        return (Operation,)
    kinds = [ops_of(type(pattern)) for pattern in one.make_patterns()]
    return tuple({kind for each in kinds for kind in each or (Operation,)})


def run_each_alone(passes: Sequence[ModulePass], text: str) -> None:
    ctx = make_context()
    with suppress(GaweeError):
        module = parse_mlir(ctx, text, "chunk")
        present = {type(op) for op in module.walk()}
        for one in passes:
            if any(issubclass(kind, kinds_of(one)) for kind in present):
                with suppress(GaweeError):  # what is heard until then counts
                    run_passes(ctx, module.clone(), [one], verify_each=False)


def test_a_silent_pattern_is_heard_of() -> None:
    class Silent(Pattern):
        """anything -> itself"""

        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
            return

    assert silent_lines(inspect.getsource(Silent)) == [5]
