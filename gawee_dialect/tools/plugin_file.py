"""Passes of a user's own Python file, for --load: no package, no registration."""

import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError, first_line
from gawee_dialect.passes.pass_manager import PassTable
from gawee_dialect.tools.command_line import CommandParser


def with_loaded_passes(
    prog: str, argv: Sequence[str], table: PassTable
) -> tuple[list[str], PassTable]:
    """Take every `--load FILE` off a command line, and add the passes of the files to the table.

    Raises GaweeError where a file cannot be run, defines no pass, or takes a name that is in use.
    """
    parser = CommandParser(prog=prog, add_help=False, allow_abbrev=False)
    parser.add_argument("--load", action="append", default=[])
    loaded, rest = parser.parse_known_args(argv)
    for path in loaded.load:
        table = {**table, **_passes_in(path, table)}
    return rest, table


def _passes_in(path: str, table: PassTable) -> dict[str, Callable[[], type[ModulePass]]]:
    passes: dict[str, Callable[[], type[ModulePass]]] = {}
    module = _run_file(path)
    for value in vars(module).values():
        if not _defines_pass(value, module):
            continue
        if value.name in table:
            raise GaweeError(f"cannot load '{path}': there is a pass '{value.name}' already")
        passes[value.name] = lambda value=value: value
    if not passes:
        raise GaweeError(f"cannot load '{path}': it defines no pass")
    return passes


def _defines_pass(value: object, module: ModuleType) -> TypeGuard[type[ModulePass]]:
    """Whether a value is a pass of the file's own, and not what it imports."""
    return (
        inspect.isclass(value)
        and issubclass(value, ModulePass)
        and value.__module__ == module.__name__
        and not inspect.isabstract(value)
    )


def _run_file(path: str) -> ModuleType:
    if not Path(path).is_file():
        raise GaweeError(f"cannot load '{path}': no such file")
    # A name of its own: the file may be called as a module that exists.
    spec = spec_from_file_location(f"loaded.{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise GaweeError(f"cannot load '{path}': expected a Python file (.py)")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        kind = type(error).__name__
        raise GaweeError(f"cannot load '{path}': {kind}: {first_line(error)}") from error
    return module
