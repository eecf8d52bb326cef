"""What the tests of `--check-each` share: modules from text, and passes run under a check."""

from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.native_code import C_SOURCE
from gawee_dialect.frontends.mlir_text import parse_mlir, split_chunks
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context


def parse(text: str, name: str = "test.mlir", line_offset: int = 0) -> ModuleOp:
    return parse_mlir(make_context(), text, name, line_offset)


def modules_in(path: Path) -> Iterator[ModuleOp]:
    """Yield every module of a file that is split by `// -----`, but those that bring C."""
    for chunk, line_offset in split_chunks(path.read_text()):
        if C_SOURCE not in chunk:
            yield parse(chunk, path.name, line_offset)


def check(module: ModuleOp, pipeline: str, settings: CheckSettings | None = None) -> CheckEach:
    """Run a pipeline on a module under a check, and return the check; raises CheckFailure."""
    checked = CheckEach(settings)
    with instrumented(checked):
        run_passes(make_context(), module, parse_passes(pipeline, all_passes()))
    return checked


def notes(checked: CheckEach) -> dict[str, str]:
    """Return what the table says beside each pass, where it says anything."""
    return {step.name: step.note for step in checked.steps if step.note}
