"""A network and its weights: load it, run it at any level, compile it, export it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import MAIN, EntryArgument, entry_arguments, find_function
from gawee_dialect.levels import Level, lower_to

if TYPE_CHECKING:
    from xdsl.interpreter import Interpreter

    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.parameters.store import Array


@dataclass
class Model:
    """A module at the gawee or linalg level, and the weights that go with it.

    `parameters` may be any mapping from parameter names to arrays: a ParameterStore reads each
    array when it is first used.
    """

    module: ModuleOp
    parameters: Mapping[str, Array] = field(default_factory=dict[str, "Array"])
    name: str = "model"

    @cached_property
    def function(self) -> FuncOp:
        """The entry function; raises GaweeError where there is none."""
        function = find_function(self.module)
        if function is None:
            raise GaweeError(f"expected a function '@{MAIN}' in the module, got none")
        return function

    @property
    def arguments(self) -> Sequence[EntryArgument]:
        """What the entry function takes: inputs, parameters and constants."""
        return entry_arguments(self.function)

    @cached_property
    def bound(self) -> Mapping[str, Array]:
        """Every parameter's array by name; raises GaweeError that lists all that do not fit."""
        from gawee_dialect.parameters import bind_parameters

        return bind_parameters(self.function, self.parameters)

    def lowered(self, level: Level | str, *, fast_math: str | None = None) -> ModuleOp:
        """Return a copy of the module at a level; raises GaweeError where it cannot get there."""
        return lower_to(self.module, Level(level), fast_math=fast_math)

    def run(
        self,
        inputs: Mapping[str, Array],
        level: Level | str = Level.GAWEE,
        *,
        listeners: Sequence[Interpreter.Listener] = (),
    ) -> dict[str, Array]:
        """Run on arrays at a level, natively at `llvm`, in NumPy otherwise; outputs by name.

        Raises GaweeError for inputs or parameters that are missing or do not fit.
        """
        level = Level(level)
        if level is Level.LLVM:
            return self.compile().run(inputs)
        from gawee_dialect.interpreter import run_module

        module = self.lowered(level)
        return run_module(module, {**self.bound, **inputs}, listeners=listeners)

    def compile(self, *, fast_math: str | None = None) -> CompiledModel:
        """Compile for this processor; returns a callable on NumPy arrays.

        `fast_math` are LLVM's flags for float ops, such as `contract` or `fast`; none by default,
        so that the result has the rounding that the graph says.
        """
        from gawee_dialect.backend.compiled import CompiledModel

        return CompiledModel(
            self.lowered(Level.LLVM, fast_math=fast_math), self.bound, name=self.name
        )


def load(path: str | Path, weights: str | Path | Mapping[str, Array] | None = None) -> Model:
    """Read a graph in any format, with its weights.

    `weights` are a folder of raw files, an .npz, a .safetensors, or a mapping from names to arrays;
    without it raw files are looked for beside the graph. Raises GaweeError for a graph that cannot
    be read; weights are checked when they are first needed.
    """
    from gawee_dialect.frontends.formats import sniff
    from gawee_dialect.parameters import open_parameters

    path = Path(path)
    text = path.read_text(encoding="utf-8")
    beside = path.parent if weights is None else None
    module = sniff(text, str(path)).read(text, str(path), beside)
    model = Model(module, name=path.stem)
    if isinstance(weights, Mapping):
        model.parameters = weights
    else:
        model.parameters = open_parameters(weights or path.parent, model.function)
    return model


def compile(
    module: ModuleOp,
    parameters: Mapping[str, Array] | None = None,
    *,
    fast_math: str | None = None,
) -> CompiledModel:
    """Compile a module at the gawee or linalg level; see `Model.compile`."""
    return Model(module, parameters or {}).compile(fast_math=fast_math)
