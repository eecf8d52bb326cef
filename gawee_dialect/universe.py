"""The only registry: names of dialects and passes, and how to load each.

`UNIVERSE` is the `xdsl.universe` entry point, through which plain `xdsl-opt` finds them too.
"""

from collections.abc import Callable
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

PASSES: dict[str, str] = {
    # pass name: class in the module gawee_dialect.passes.<pass_name>
    # (none yet)
}

OVERRIDES: dict[str, str] = {
    # Ours in gawee-opt, in the place of xDSL's pass of the same name.
    "canonicalize": "CanonicalizePass",
}


def _dialect() -> Dialect:
    from gawee_dialect.dialect import GAWEE

    return GAWEE


def _pass_factory(name: str, class_name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        module = import_module(f"gawee_dialect.passes.{name.replace('-', '_')}")
        return getattr(module, class_name)

    return load


UNIVERSE = Universe(
    all_dialects={"gawee": _dialect},
    all_passes={name: _pass_factory(name, class_name) for name, class_name in PASSES.items()},
)


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return every pass that can be named: xDSL's, other plugins', ours, and our overrides."""
    passes = Universe.get_multiverse().all_passes
    ours = {name: _pass_factory(name, class_name) for name, class_name in OVERRIDES.items()}
    return {**passes, **UNIVERSE.all_passes, **ours}


def make_context(*, allow_unregistered: bool = False) -> Context:
    """Make a context in which every dialect can be parsed, xDSL's, other plugins' and ours.

    Dialects load when they are first used.
    """
    ctx = Context(allow_unregistered=allow_unregistered)
    dialects = {**Universe.get_multiverse().all_dialects, **UNIVERSE.all_dialects}
    for name, factory in dialects.items():
        ctx.register_dialect(name, factory)
    return ctx
