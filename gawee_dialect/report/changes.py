"""What a pass changed in the text of functions, cut where nobody would read on."""

from collections.abc import Mapping

from gawee_dialect.instruments.function_texts import FunctionText
from gawee_dialect.instruments.ir_diff import NOTHING, changed_functions
from gawee_dialect.instruments.text_diff import diff_lines

SHOWN = 600
"""Lines of all diffs of a pass together; of what remains the report has the numbers alone."""

COMPARED = 8000
"""Lines of a function before and after a pass, beyond which they are not compared."""


def diffs_json(
    before: Mapping[str, FunctionText], after: Mapping[str, FunctionText]
) -> list[dict[str, object]]:
    """Return a unified diff of every function that a pass changed; `cut` counts lines left out.

    It is None of a function that was not printed, of which there is no diff.
    """
    room = SHOWN
    found: list[dict[str, object]] = []
    for name in changed_functions(before, after):
        old, new = before.get(name, NOTHING), after.get(name, NOTHING)
        if old.unprinted or new.unprinted:
            found.append({"function": name, "lines": [], "cut": None})
            continue
        lines = _diff(old.text, new.text)
        found.append({"function": name, "lines": lines[:room], "cut": len(lines[room:])})
        room -= min(room, len(lines))
    return found


def _diff(old: str, new: str) -> list[str]:
    counts = old.count("\n") + bool(old), new.count("\n") + bool(new)
    if not all(counts) or sum(counts) > COMPARED:
        removed = [f"-{line}" for line in old.splitlines()]
        return [*removed, *(f"+{line}" for line in new.splitlines())]
    lines = list(diff_lines(old, new, ("before", "after")))
    return lines[2:]  # without the heading, which names no file here
