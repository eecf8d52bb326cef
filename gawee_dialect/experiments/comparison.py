"""Two studies side by side: cells of one name, their ratio, and whether it is a difference."""

from collections.abc import Sequence
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.evaluation.statistics import CONFIDENCE, Ratio, holm, noise_text, permutation_p
from gawee_dialect.experiments.results import Results, Row


@dataclass(frozen=True)
class Pair:
    """A cell that both studies have: the ratio of its times, and the test's verdict."""

    before: Row
    after: Row
    ratio: Ratio
    p: float
    is_significant: bool
    """Of all pairs together, by Holm's correction, and by more than the noise."""

    @property
    def verdict(self) -> str:
        """What the second is to the first: `faster`, `slower`, or the `same` for all we know."""
        if not self.is_significant:
            return "same"
        return "slower" if self.ratio.value > 1 else "faster"


def compare(before: Results, after: Results) -> Sequence[Pair]:
    """Compare the cells that two studies both have times of; raises GaweeError where none is."""
    known = {row.names: row for row in before.rows if row.numbers("rounds")}
    both = [
        (known[row.names], row)
        for row in after.rows
        if row.names in known and row.numbers("rounds")
    ]
    if not both:
        raise GaweeError(
            Diagnostic(
                "expected studies with cells of one name, got none in both",
                hint="a cell is known by its network, pipeline and options",
            )
        )
    rounds = [(first.numbers("rounds"), second.numbers("rounds")) for first, second in both]
    p_values = [permutation_p(*each) for each in rounds]
    ratios = [Ratio.of_samples(*each) for each in rounds]
    significant = holm(p_values)
    return [
        Pair(first, second, ratio, p, chance and ratio.is_different)
        for (first, second), ratio, p, chance in zip(
            both, ratios, p_values, significant, strict=True
        )
    ]


def comparison_text(before: Results, after: Results) -> str:
    """Return two studies side by side, in Markdown; raises GaweeError."""
    pairs = compare(before, after)
    lines = [
        f"{before.name} and {after.name}; `same`: no difference at {CONFIDENCE:.0%}, of all rows "
        "together",
        "",
        "| network | pipeline | options | before ms | after ms | after / before | p | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(pair) for pair in pairs]
    processors = [*before.processors, *after.processors]
    if len(set(processors)) > 1:
        lines += ["", f"measured on different processors: {', '.join(dict.fromkeys(processors))}"]
    return "\n".join(lines) + "\n"


def _line(pair: Pair) -> str:
    times = [row.number("seconds") or 0.0 for row in (pair.before, pair.after)]
    cells = [
        *pair.before.names,
        *(f"{1e3 * seconds:.3f}" for seconds in times),
        f"{pair.ratio.value:.3f} {noise_text(pair.ratio.noise)}",
        f"{pair.p:.4f}",
        pair.verdict,
    ]
    return f"| {' | '.join(cells)} |"
