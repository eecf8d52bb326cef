"""Whether code computes what the graph says: the comparison of --check-each."""

from collections.abc import Sequence

from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.instruments.check.compare import Tolerance, changed_signature, compare
from gawee_dialect.levels import Level
from gawee_dialect.passes.numerics import REASSOCIATES


class Validity(Evaluator[Build]):
    """The largest difference to the graph run in NumPy, as a part of the output's magnitude."""

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        expected = build.model.run(build.inputs, Level.GAWEE)
        outputs = build.compiled.run(build.inputs)
        changed = changed_signature(outputs, expected)
        if changed is not None:
            return {"difference": None, "valid": False}
        tolerance = Tolerance((REASSOCIATES,))
        found = [compare(outputs[name], expected[name], tolerance) for name in expected]
        return {
            "difference": max((each.relative for each in found if each is not None), default=0.0),
            "valid": not any(each is not None and each.is_wrong for each in found),
        }
