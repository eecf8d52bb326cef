"""Ways to compute a kernel, each with what is chosen about it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import ClassVar, Self


@dataclass(frozen=True)
class Algorithm(ABC):
    """A way to compute a kernel; the fields are what is chosen about it, numbers and flags.

    Where it is not the direct way, an op of its own computes it: a `StructuredKernel`.
    """

    name: ClassVar[str]
    """What it is called in a database of choices."""

    @property
    def seen_outside(self) -> object:
        """What of the choice other kernels depend on, such as how far it reads their outputs."""
        return None

    @property
    def family(self) -> object:
        """What choices have in common that are alike: a few of them are enough to measure."""
        return self

    @abstractmethod
    def __str__(self) -> str:
        """Return the choice in a few words."""

    def form(self) -> dict[str, object]:
        """Return the choice as `json.dumps` takes it."""
        return {"algorithm": self.name, **asdict(self)}

    @classmethod
    def of_form(cls, form: Mapping[str, object]) -> Self:
        """Read what `form` returned; raises ValueError that says what is wrong with it.

        What was not chosen yet when the form was written is as it was then: the default.
        """
        numbers: dict[str, int] = {}
        for each in fields(cls):
            default = None if each.default is MISSING else each.default
            value, is_flag = form.get(each.name, default), each.type is bool
            fits = isinstance(value, bool) == is_flag and (is_flag or value != 0)
            if not isinstance(value, int) or not fits or value < 0:
                wanted = "true or false" if is_flag else "a positive number"
                raise ValueError(f"expected {wanted} as '{each.name}', got {json_text(value)}")
            numbers[each.name] = value
        return cls(**numbers)


@dataclass(frozen=True)
class Direct(Algorithm):
    """Compute a kernel as it is written."""

    name = "direct"

    def __str__(self) -> str:
        return self.name


def json_text(value: object) -> str:
    """Return a value as JSON writes it, for messages; `none` where there is none."""
    return "none" if value is None else json.dumps(value)
