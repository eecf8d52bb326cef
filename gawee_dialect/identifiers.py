"""Names of graphs as identifiers: of C, and of SSA values in MLIR's text; names that are free."""

import re
from collections.abc import Container
from itertools import count


def ascii_letters(name: str) -> str:
    """Return a name with each letter that ASCII lacks as its number: `図` becomes `u56f3`."""
    return re.sub(r"[^\W_]", lambda found: _spelt(found[0]), name)


def _spelt(letter: str) -> str:
    return letter if letter.isascii() else f"u{ord(letter):04x}"


def c_name(name: str) -> str:
    """Return a name as an identifier of C: `my-net` becomes `my_net`."""
    cleaned = re.sub(r"\W", "_", ascii_letters(name), flags=re.ASCII)
    # What begins with an underscore may be the compiler's own.
    return cleaned if cleaned[:1].isalpha() else f"n{cleaned}"


# Names of graph values as names of SSA values.


def name_hint(name: str) -> str:
    """Return a name as an SSA value may bear it: `layer1.0.conv1` becomes `layer1_0_conv1`."""
    hint = re.sub(r"[^A-Za-z0-9_$-]", "_", ascii_letters(name))
    # xDSL drops one number from the end and appends its own: a second one would give names twice.
    hint = re.sub(r"(?<=.)(_\d+)+$", "", hint)
    return f"v{hint}" if not hint or hint[0].isdigit() else hint


def free_name(name: str, taken: Container[str], first: int = 1) -> str:
    """Return a name that is not taken: itself, or with the first number that makes it so."""
    if name not in taken:
        return name
    numbered = (f"{name}_{number}" for number in count(first))
    return next(each for each in numbered if each not in taken)


def take_name(name: str, taken: set[str], first: int = 1) -> str:
    """Return a name that was not taken, as `free_name` does, and is now."""
    free = free_name(name, taken, first)
    taken.add(free)
    return free
