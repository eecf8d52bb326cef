"""How much memory a network needs: what was planned, and the most that the process ever had."""

from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.evaluation.machine import peak_memory


class Memory(Evaluator[Build]):
    """Bytes: the workspace, prepared and bound weights, and the process's peak while it runs.

    The peak is None where the system does not tell; it is that of all that the process holds.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        compiled, inputs = build.compiled, build.inputs
        forget_peak()
        compiled.run(inputs)
        use = compiled.memory
        return {
            "workspace_bytes": use.workspace,
            "prepared_bytes": use.prepared,
            "weight_bytes": use.parameters,
            "peak_bytes": peak_memory() or None,
        }


def forget_peak() -> None:
    """Have the system count the most memory of this process anew, where it can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # the peak is then that since the process began
