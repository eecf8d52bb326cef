"""A file of choices for kernels: lines of JSON, or a program of steps; read into a database."""

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.schedules.database import Database, Entry, entry_of
from gawee_dialect.schedules.script import Script, parse_statement
from gawee_dialect.source import Source

PROGRAM = ".py"
"""How the name of a file ends that is a program of steps; every other one is lines of JSON."""
LONGEST = 100
"""Columns of a statement on one line."""


def read_schedules(path: str | Path) -> Database:
    """Read a file of choices; a program of steps is read, not run.

    Raises OSError, or GaweeError that names every line that cannot be read.
    """
    text = Source.read(path).text
    problems: list[Diagnostic] = []
    read = _of_program if str(path).endswith(PROGRAM) else _of_lines
    entries = list(read(text, str(path), problems))
    if problems:
        raise GaweeError(problems)
    return Database(entries, str(path))


def _of_lines(text: str, path: str, problems: list[Diagnostic]) -> Iterator[Entry]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            yield entry_of(json.loads(line), place)
        except json.JSONDecodeError as error:
            message = f"expected a JSON object, got an error at column {error.colno}: {error.msg}"
            problems.append(Diagnostic(message, place))
        except RecursionError:
            problems.append(Diagnostic("expected less nesting", place))
        except ValueError as error:
            problems.append(Diagnostic(str(error), place))


def append(path: str | Path, entry: Entry) -> None:
    """Add a line to a file of choices, in one write; raises OSError."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(entry.line())


# Programs of steps.


def _of_program(text: str, path: str, problems: list[Diagnostic]) -> Iterator[Entry]:
    try:
        statements = ast.parse(text).body
    except SyntaxError as error:  # zero bytes are on no line
        problems.append(Diagnostic(f"expected Python: {error.msg}", f"{path}:{error.lineno or 1}"))
        return
    except ValueError as error:  # what Python before 3.11.4 says of zero bytes
        problems.append(Diagnostic(f"expected Python: {error}", f"{path}:1"))
        return
    except (MemoryError, RecursionError):  # Python's parser says either
        problems.append(Diagnostic("expected less nesting", f"{path}:1"))
        return
    target = ""
    for statement in statements:
        place = f"{path}:{statement.lineno}"
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="sch")],
                value=ast.Call(
                    func=ast.Name(id="schedule"),
                    args=[],
                    keywords=[ast.keyword(arg="target", value=ast.Constant(value=str(name)))],
                ),
            ):
                target = name
            case ast.Expr(value=chain) if target:
                try:
                    key, script = parse_statement(chain)
                except ValueError as error:
                    problems.append(Diagnostic(str(error), place))
                else:
                    yield Entry(key, target, script, place)
            case _:
                wanted = 'sch["key"].step(...)' if target else 'sch = schedule(target="...")'
                shown = ast.unparse(statement).partition("\n")[0]
                problems.append(Diagnostic(f"expected {wanted}, got '{shown}'", place))


def program_text(entries: Iterable[Entry], target: str) -> str:
    """Return choices, programs of steps all of them, as the text of a program."""
    lines = [f'sch = schedule(target="{target}")']
    for entry in entries:
        assert isinstance(entry.choice, Script)
        facts = [str(entry.facts[each]) for each in ("kernel", "nodes") if each in entry.facts]
        lines += ["", *(f"# {each}" for each in facts), _statement(entry.key, entry.choice)]
    return "\n".join(lines) + "\n"


def _statement(key: str, script: Script) -> str:
    whole = f'sch["{key}"].{script}'
    if len(whole) <= LONGEST:
        return whole
    steps = "".join(f"\n    .{step}" for step in script.steps)
    return f'(\n    sch["{key}"]{steps}\n)'
