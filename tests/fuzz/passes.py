"""Every pass and pipeline on modules that verify: each either runs, or says why it does not."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.universe import OVERRIDES, UNIVERSE, all_passes, make_context
from tests.fuzz.mutate_ir import mutated_ir, seeds
from tests.fuzz.reader import Reader

NAMES = (*UNIVERSE.all_passes, *OVERRIDES)
"""Our passes: xDSL's are its own."""


def verified(data: bytes, folder: Path | None) -> ModuleOp:
    """Read a module that verifies."""
    return parse_mlir(make_context(), data.decode(), "seed")


def made_pass(name: str) -> ModulePass:
    """Return a pass with its default options, of those without a default the smallest."""
    options = {"specialize-batch": "{images=2}"}.get(name, "")
    return parse_passes(f"{name}{options}", all_passes())[0]


def run_every_pass(module: object) -> None:
    """Run each pass on a copy of a module.

    Raises what a pass raises that is no GaweeError, with the pass's name in its first line.
    """
    assert isinstance(module, ModuleOp)
    for name in NAMES:
        try:
            run_passes(make_context(), module.clone(), [made_pass(name)])
        except GaweeError:
            continue


PASSES = Reader(
    "passes",
    verified,
    lambda: [text.encode() for text in seeds()],
    mutate=mutated_ir,
    then=run_every_pass,
)
