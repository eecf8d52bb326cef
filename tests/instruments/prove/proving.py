"""What the tests of `--prove-each` share: passes run under a proof, and wrong passes."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import all_passes, make_context


def prove(
    module: ModuleOp, pipeline: str, *more: ModulePass, settings: CheckSettings | None = None
) -> ProveEach:
    """Run a pipeline, and more passes, under a proof, and return it; raises CheckFailure."""
    proof = ProveEach(settings)
    with instrumented(proof):
        passes = parse_passes(pipeline, all_passes()) if pipeline else ()
        run_passes(make_context(), module, [*passes, *more])
    return proof


def lowered(module: ModuleOp, pipeline: str) -> ModuleOp:
    """Run a pipeline that nothing watches; return the module."""
    if pipeline:
        run_passes(make_context(), module, parse_passes(pipeline, all_passes()))
    return module


def prove_after(module: ModuleOp, pipeline: str, last: ModulePass) -> ProveEach:
    """Run a pipeline, and then one pass under a proof."""
    return prove(lowered(module, pipeline), "", last)


def unproved(proof: ProveEach) -> dict[str, str]:
    """Return what passes are not proved of, and why: `expand-math: assumed, declared: ...`."""
    open_ones = ("assumed", "checked by data", "wrong")
    return {
        step.name: f"{step.verdict}, {step.note}"
        for step in proof.steps
        if step.verdict.value in open_ones
    }
