"""Which options of gawee-run go together: what would be ignored silently is refused."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from gawee_dialect.diagnostics import Diagnostic, GaweeError

NEEDS: Mapping[str, Sequence[str]] = {
    "--emit-dir": ("--emit",),
    "--name": ("--emit",),
    "--target": ("--emit",),
    "--triple": ("--emit",),
    "--tolerance": ("--compare", "--verify"),
    "--mean": ("--input",),
    "--std": ("--input",),
}
"""Options that say something about another one: one of these."""

RUNNING = (
    *("--level", "--compare", "--tolerance", "--verify", "--repeat", "--profile", "--roofline"),
    *("--measure", "--input", "--inputs", "--output", "--json", "--report-json", "--html"),
    "--trace",
)
"""Options of a run, and with --emit nothing runs."""

NATIVE = ("--algorithms", "--schedules", "--fast-math", "--trust-indices", "--num-threads")
"""Options of the code that is made for level llvm."""


def _spelling(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_options(arguments: Namespace, defaults: Namespace) -> None:
    """Raise GaweeError for options that do not go together."""
    values: Mapping[str, object] = vars(arguments)
    given = [_spelling(name) for name in values if values[name] != getattr(defaults, name)]
    for flag, others in NEEDS.items():
        if flag in given and not set(others) & set(given):
            raise GaweeError(f"expected {flag} to go with {' or '.join(others)}")
    if "--emit" in given:
        running = [flag for flag in given if flag in RUNNING]
        if running:
            hint = "--emit writes files and runs nothing"
            raise GaweeError(
                Diagnostic(f"expected --emit without {running[0]}, got both", hint=hint)
            )
        return
    native = [flag for flag in given if flag in NATIVE]
    if native and "llvm" not in (arguments.level, arguments.compare):
        hint = f"level {arguments.level} runs in NumPy"
        raise GaweeError(Diagnostic(f"expected {native[0]} to go with --level llvm", hint=hint))
