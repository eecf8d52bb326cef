"""All that can be drawn, by name."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from gawee_dialect.fuzz.generator import Graphs, TrialGenerator
from gawee_dialect.fuzz.loop_nests import LoopNests
from gawee_dialect.fuzz.onnx_models import OnnxModels

GENERATORS: Mapping[str, type[TrialGenerator]] = {
    each.name: each for each in (Graphs, LoopNests, OnnxModels)
}


def installed() -> Sequence[type[TrialGenerator]]:
    """Return those whose packages are installed."""
    return [each for each in GENERATORS.values() if all(map(find_spec, each.needs))]
