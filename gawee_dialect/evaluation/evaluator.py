"""What can be measured of a candidate, as an interface: figures by name, of any number at once.

    class Rematerialised(Evaluator[Build]):
        def figures(self, candidates):
            return [{"copies": count(each)} for each in candidates]

A search minimises one figure of an evaluator; a study records all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from gawee_dialect.backend.cache import CompileCache
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.program import Program, compile_program
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import random_inputs
from gawee_dialect.parameters.store import Array

Candidate = TypeVar("Candidate")
Figures = Mapping[str, object]
"""What JSON can hold, by name; a number is smaller where it is better."""


class Evaluator(ABC, Generic[Candidate]):
    """Measures candidates, those of one call under the same conditions."""

    @abstractmethod
    def figures(self, candidates: Sequence[Candidate]) -> Sequence[Figures]:
        """Return what was measured of each candidate, in order; raises GaweeError."""


class Build:
    """A network and what code is made of it; compiled at its first use."""

    def __init__(
        self,
        model: Model,
        options: CodeOptions | None = None,
        *,
        inputs: Mapping[str, Array] | None = None,
        cache: bool = False,
    ):
        """Take a network; `inputs` are seeded random arrays unless given."""
        self.model, self.options = model, options or CodeOptions()
        self._given, self._cache = inputs, cache

    @cached_property
    def program(self) -> Program:
        """The code, not loaded; raises GaweeError where there can be none."""
        with no_garbage_collection():
            module = self.model.lowered(Level.LLVM, self.options)
            return compile_program(module, MAIN, cache=CompileCache() if self._cache else None)

    def load(self) -> CompiledModel:
        """Load the code and bind the weights, at new addresses; raises GaweeError."""
        return CompiledModel(self.program, self.model.bound, num_threads=self.options.num_threads)

    @cached_property
    def compiled(self) -> CompiledModel:
        """The code, loaded once."""
        return self.load()

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        """What a run is given, by name."""
        return random_inputs(self.compiled.inputs) if self._given is None else self._given
