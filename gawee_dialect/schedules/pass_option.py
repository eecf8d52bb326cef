"""A pass's option `schedules`: a database in Python, the path of a file in text."""

from abc import ABC
from dataclasses import dataclass, replace
from typing import Self

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from gawee_dialect.schedules.database import NO_CHOICES, Database
from gawee_dialect.schedules.file import read_schedules

OPTION = "schedules"


@dataclass(frozen=True)
class ScheduledPass(ModulePass, ABC):
    """A pass that reads a database of choices; the file is read when the pass is named, not run."""

    schedules: Database = NO_CHOICES
    """Choices, a file as `gawee-tune` writes it; they hold in the place of the model's."""

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """Make a pass from text; raises OSError, GaweeError for a file, ValueError for options."""
        others = {name: value for name, value in spec.parameters.items() if name != OPTION}
        made = super().from_spec(ArgSpec(spec.name, others))
        paths = spec.parameters.get(OPTION)
        if paths is None:
            return made
        if len(paths) != 1 or not isinstance(paths[0], str):
            raise ValueError(f"expected the path of a file as '{OPTION}', got {list(paths)}")
        return replace(made, schedules=read_schedules(paths[0]))

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """Return the pass as text; a database that is from no file is left out."""
        text = super().spec(include_default=include_default)
        text.parameters.pop(OPTION, None)
        if self.schedules.path:
            text.parameters[OPTION] = (self.schedules.path,)
        return text
