"""A reader that is fuzzed: how it reads bytes, what it reads well, how that is damaged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.fuzz.mutate import mutated

ROOT = Path(__file__).parents[2]
Mutate = Callable[[bytes, int], bytes]
Read = Callable[[bytes, Path], object]


def nothing_more(_: object) -> None:
    """Do nothing with what was read."""


@dataclass(frozen=True)
class Reader:
    """What reads bytes, with an empty folder for files that it wants, and seeds for it.

    Its messages call the bytes `seed`. What it read without complaint goes through `then`.
    """

    name: str
    read: Read
    make_seeds: Callable[[], Sequence[bytes]]
    mutate: Mutate = mutated
    then: Callable[[object], None] = nothing_more
    needs: Sequence[str] = ()
    """Packages without which it reads nothing."""
    is_file: bool = True
    """Whether messages have to say where: what a command line says is in sight."""

    @cached_property
    def seeds(self) -> Sequence[bytes]:
        """The inputs that are damaged."""
        return self.make_seeds()

    def damaged(self, number: int) -> bytes:
        """Return the damaged input of a number: always the same."""
        return self.mutate(self.seeds[number % len(self.seeds)], number)


def files(folder: str, pattern: str, most: int = 4000) -> list[bytes]:
    """Return what is in the files of a folder of this project, the short ones."""
    texts = (path.read_bytes() for path in sorted((ROOT / folder).rglob(pattern)))
    return [text for text in texts if len(text) < most]
