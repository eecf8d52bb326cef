"""What a module was read from, made small: a step at a time, as long as it differs."""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.fuzz.finding import Finding, Skipped
from gawee_dialect.fuzz.trial import Trial


def with_smaller_origin(trial: Trial, finding: Finding, deadline: float) -> Trial:
    """Return the smallest trial found until the deadline that differs from its origin too."""
    candidates = _smaller(trial)
    while monotonic() < deadline and (candidate := next(candidates, None)) is not None:
        try:
            found = candidate.differs_from_origin()
        except Skipped:
            continue
        if found is not None and finding.is_in(found):
            trial, candidates = candidate, _smaller(candidate)
    return trial


def _smaller(trial: Trial) -> Iterator[Trial]:
    assert trial.origin is not None
    for origin in trial.origin.smaller():
        try:
            yield replace(trial, module=origin.module(), origin=origin)
        except GaweeError:  # it is of no model that can be read
            continue
