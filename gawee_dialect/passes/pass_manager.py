"""Run a list of passes over a module: verify after each, and notify the instruments."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException

from gawee_dialect.analysis.open_sizes import SIZES_HINT, open_functions, open_names
from gawee_dialect.diagnostics import (
    Diagnostic,
    GaweeError,
    did_you_mean,
    first_line,
)
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.passes.instrument import are_finished, instruments, tell
from gawee_dialect.upstream.verification import Verification

PassTable = Mapping[str, Callable[[], type[ModulePass]]]


def parse_passes(spec: str, table: PassTable) -> list[ModulePass]:
    """Read `a,b{x=1 y=2}`, or the same inside `builtin.module(...)` and `func.func(...)`.

    Raises GaweeError for an unknown pass (with the nearest known name), an unknown option or a
    value of the wrong type; OSError, GaweeError for a file that an option names.
    """
    text = _without_nesting(spec.strip())
    try:
        specs = tuple(parse_pipeline(text))
    except ArgSpecParseError as error:
        raise GaweeError(f"cannot read pass pipeline '{text}': {_what_and_where(error)}") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise GaweeError(f"cannot read pass pipeline: {first_line(error)}") from error
    return [_make_pass(item, table) for item in specs]


_OPTIONS_OR_NESTING = re.compile(
    r""""[^"]*"|\{[^}]*\}|(?P<opens>\b(?:builtin\.module|func\.func|any)\()|(?P<closes>\))"""
)


def _without_nesting(text: str) -> str:
    """Return a pipeline of MLIR without the ops that it nests passes in: all run on the module."""
    open_count = 0

    def flat(found: re.Match[str]) -> str:
        nonlocal open_count
        open_count += (found["opens"] is not None) - (found["closes"] is not None)
        if open_count < 0:
            raise GaweeError(f"cannot read pass pipeline '{text}': expected '(' before ')'")
        return found[0] if found["opens"] is found["closes"] else ""

    flattened = _OPTIONS_OR_NESTING.sub(flat, text)
    if open_count:
        raise GaweeError(f"cannot read pass pipeline '{text}': expected ')' at its end")
    return flattened


def _what_and_where(error: ArgSpecParseError) -> str:
    # xDSL's text: a heading, `file:line:column`, the pipeline, a caret, and what it expected.
    _, position, *_, what = str(error).strip().splitlines()
    return f"{what.strip().lower()} at column {position.rpartition(':')[2]}"


def _make_pass(spec: ArgSpec, table: PassTable) -> ModulePass:
    if spec.name not in table:
        hint = did_you_mean(spec.name, table, "--list-passes lists all passes")
        raise GaweeError(Diagnostic(f"unknown pass '{spec.name}'", hint=hint))
    pass_type = table[spec.name]()
    try:
        return pass_type.from_spec(spec)
    except (GaweeError, OSError):  # of a file that an option names
        raise
    except Exception as error:
        options = ", ".join(field.name.replace("_", "-") for field in fields(pass_type))
        raise GaweeError(
            Diagnostic(
                f"cannot make pass '{spec.name}': {first_line(error)}",
                hint=f"options of {spec.name}: {options or 'none'}",
            )
        ) from error


def run_passes(
    ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], *, verify_each: bool = True
) -> None:
    """Apply passes in order, in place.

    Raises GaweeError where a pass rejects its input or leaves a module that does not verify.
    """
    _run_passes(ctx, module, passes, Verification() if verify_each else None)


def _run_passes(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    verification: Verification | None,
) -> None:
    with no_garbage_collection():
        for module_pass in passes:
            if are_finished(instruments()):
                return
            _run_pass(ctx, module, module_pass, verification)


def _run_pass(
    ctx: Context, module: ModuleOp, module_pass: ModulePass, verification: Verification | None
) -> None:
    tell(lambda instrument: instrument.before_pass(module_pass, module))
    try:
        _apply(ctx, module, module_pass, verification)
    except Exception:
        tell(lambda instrument: instrument.pass_failed(module_pass, module))
        raise
    tell(lambda instrument: instrument.after_pass(module_pass, module))


def run_pipeline(
    ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], *, verify_each: bool = True
) -> None:
    """Apply passes in order, in place, and notify the instruments where they begin and end.

    Raises GaweeError as `run_passes` does.
    """
    tell(lambda instrument: instrument.before_pipeline(ctx, module, passes))
    run_passes(ctx, module, passes, verify_each=verify_each)
    tell(lambda instrument: instrument.after_pipeline(module))


@dataclass(frozen=True)
class Pipeline(ModulePass, ABC):
    """Several passes under one name; instruments see each of them."""

    @abstractmethod
    def passes(self) -> Sequence[ModulePass]:
        """Return the passes in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_passes(ctx, op, self.passes())


def leaf_passes(passes: Sequence[ModulePass]) -> Iterator[ModulePass]:
    """Yield passes in the order they run, those of a pipeline in its place."""
    for each in passes:
        if isinstance(each, Pipeline):
            yield from leaf_passes(each.passes())
        else:
            yield each


COMPARING = frozenset(("cse", "dce"))
"""Passes of xDSL that take open sizes: they compare types, and compute no sizes."""


def takes_open_sizes(module_pass: ModulePass) -> bool:
    """Whether a pass is for modules with open sizes too."""
    return module_pass.name in COMPARING or getattr(type(module_pass), "takes_open_sizes", False)


def require_known_sizes(module: ModuleOp, module_pass: ModulePass) -> None:
    """Raise GaweeError for a module with open sizes before a pass that is for numbers."""
    if takes_open_sizes(module_pass):
        return
    for function in open_functions(module):
        names = ", ".join(f"'{each.name}'" for each in open_names(module))
        message = f"has open sizes ({names}), which pass '{module_pass.name}' does not take"
        raise GaweeError(Diagnostic.at(function, message, SIZES_HINT))


def _apply(
    ctx: Context, module: ModuleOp, module_pass: ModulePass, verification: Verification | None
) -> None:
    if isinstance(module_pass, Pipeline):
        _run_passes(ctx, module, module_pass.passes(), verification)
        return
    name = module_pass.name
    require_known_sizes(module, module_pass)
    try:
        module_pass.apply(ctx, module)
    except DiagnosticException as error:
        raise GaweeError(f"pass '{name}' failed: {first_line(error)}") from error
    except GaweeError:
        raise
    except Exception as error:
        error.add_note(f"in pass '{name}'")
        raise
    if verification is None:
        return
    try:
        verification.verify(module)
    except GaweeError as error:
        hint = f"the module is wrong since pass '{name}' ran"
        raise GaweeError(replace(found, hint=hint) for found in error.diagnostics) from error
