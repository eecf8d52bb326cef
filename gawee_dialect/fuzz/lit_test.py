"""A finding as a test that passes when it is mended: of IR, or of what a module was read from."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.fuzz.judge import CRASH, REFUSED, WRONG, WRONG_BY_DATA, passes_of
from gawee_dialect.fuzz.oracle import Finding
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.reduce.reducer import count_ops, largest_tensor
from gawee_dialect.universe import all_passes, make_context

BY_PROOF, BY_DATA = "--prove-each", "--check-each"
CHECKS = {WRONG: BY_PROOF, "crash of a proof": BY_PROOF, CRASH: "", REFUSED: ""}
"""What of gawee-opt shows a finding of each kind; the others are shown by data."""

LINES_OF_MESSAGE = 6


def file_name(finding: Finding) -> str:
    """Return how the name of a test begins, the same for all findings of one cause."""
    cause = sha256(f"{finding.kind} {finding.cause}".encode()).hexdigest()[:10]
    return f"{finding.kind.replace(' ', '_').replace(chr(39), '')}_{cause}"


def files_of_test(trial: Trial, finding: Finding, load: Sequence[str] = ()) -> Mapping[str, bytes]:
    """Return the files of a test by name; the first is the one to look at."""
    name = file_name(finding)
    if trial.origin is not None and trial.is_of_origin(finding):
        return trial.origin.files_of_test(name, trial, finding)
    text = lit_text(trial.module, passes_of(trial.stages), finding, load)
    return {f"{name}.mlir": text.encode()}


def size_text(trial: Trial, finding: Finding) -> str:
    """Say how large what a finding is of is."""
    if trial.origin is not None and trial.is_of_origin(finding):
        return trial.origin.size()
    module = trial.module
    return f"{count_ops(module)} ops, largest tensor {largest_tensor(module)} elements"


def lit_text(
    module: ModuleOp, passes: Sequence[ModulePass], finding: Finding, load: Sequence[str] = ()
) -> str:
    """Return the test's text: the command, what was said, and the module.

    `load` are the files that have the passes, as the test names them.
    """
    module, passes = _as_written(module, passes, finding)
    pipeline = ",".join(str(each.spec()) for each in passes)
    flags = [*(f"--load {path}" for path in load), CHECKS.get(finding.kind, BY_DATA)]
    words = [*filter(None, flags), *([f"-p '{pipeline}'"] if passes else [])]
    said = f"{finding.kind}: {finding.message}".splitlines()[:LINES_OF_MESSAGE]
    lines = [
        f"// RUN: gawee-opt %s {' '.join(words)} | filecheck %s",
        "// CHECK: @main",
        *(f"// {line}".rstrip() for line in said),
        print_mlir(module),
    ]
    return "\n".join(lines)


def _as_written(
    module: ModuleOp, passes: Sequence[ModulePass], finding: Finding
) -> tuple[ModuleOp, Sequence[ModulePass]]:
    """Return a module and passes that gawee-opt has: what others did is in the module.

    What comes after the pass that is wrong is left out.
    """
    names = [each.name for each in passes]
    wrong = finding.cause.partition(":")[0]
    if finding.kind in (WRONG, WRONG_BY_DATA) and wrong in names:
        passes = passes[: names.index(wrong) + 1]
    known: Collection[str] = all_passes()
    own = [index for index, each in enumerate(passes) if each.name not in known]
    if not own:
        return module, passes
    lowered, end = module.clone(), own[-1] + 1
    try:
        run_passes(make_context(), lowered, passes[:end])
    except Exception:  # what is wrong comes first
        return module, [each for each in passes if each.name in known]
    return lowered, passes[end:]
