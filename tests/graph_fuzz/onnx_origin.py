"""A model of ONNX that a module was read from: computed by ONNX Runtime too, and made smaller."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.fuzz.oracle import Done, Finding
from gawee_dialect.fuzz.trial import Arrays, Trial
from gawee_dialect.source import Source
from tests.graph_fuzz.onnx_comparison import NOT_ONNX_RUNTIMES, differs
from tests.graph_fuzz.smaller_onnx import smaller_models

if TYPE_CHECKING:
    from onnx import ModelProto

TEST = '''"""{said}"""

from pathlib import Path

from tests.graph_fuzz.onnx_origin import difference


def test_the_model_computes_what_onnx_runtime_does() -> None:
    model = Path(__file__).with_name("{model}")
    assert difference(model, data_seed={seed}, whole={whole}) is None
'''


@dataclass(frozen=True)
class OnnxOrigin:
    """A model, which ONNX Runtime runs."""

    proto: "ModelProto"
    kind: str = NOT_ONNX_RUNTIMES

    def module(self) -> ModuleOp:
        """Read the model; raises GaweeError."""
        source = Source("random.onnx", self.proto.SerializeToString())
        return open_graph(source, name="onnx").module()

    def differs(
        self, module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
    ) -> Finding | None:
        """Compare what the reader made of the model with what ONNX Runtime computes."""
        return differs(self.proto, module, arrays, expected, done)

    def smaller(self) -> Iterator["OnnxOrigin"]:
        """Yield models of fewer nodes and outputs, and of smaller sizes."""
        return map(OnnxOrigin, smaller_models(self.proto))

    def size(self) -> str:
        """Say how many nodes there are."""
        count = len(self.proto.graph.node)
        return f"{count} node{'' if count == 1 else 's'}"

    def files_of_test(self, name: str, trial: Trial, finding: Finding) -> Mapping[str, bytes]:
        """Return the model, and a test that fails as long as it differs, by their names."""
        model = f"{name}.onnx"
        said = f"{finding.kind}: {finding.message}".replace("\\", "/").replace('"', "'")
        test = TEST.format(said=said, model=model, seed=trial.data_seed, whole=trial.whole)
        return {model: self.proto.SerializeToString(), f"{name}_test.py": test.encode()}


def difference(path: Path, *, data_seed: int, whole: bool) -> Finding | None:
    """Return how what the reader makes of a model differs from what ONNX Runtime computes.

    Raises GaweeError, and Skipped where the module does not run.
    """
    from onnx import ModelProto

    origin = OnnxOrigin(ModelProto.FromString(path.read_bytes()))
    return Trial(origin.module(), (), data_seed, whole, origin=origin).differs_from_origin()
