"""Other engines on a network of PyTorch: what native code is compared with in docs/zoo.md."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.engines import hold_inductor
from benchmarks.targets import import_held

Array = NDArray[np.generic]
Run = Callable[[], object]
"""Does one inference."""


class Runtime:
    """ONNX Runtime on a file, with some threads."""

    def __init__(self, path: Path, threads: int) -> None:
        """Read the file; raises what ONNX Runtime raises."""
        runtime = import_held("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        options.log_severity_level = 3
        self.session = runtime.InferenceSession(str(path), options)

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the outputs."""
        return list(self.session.run(None, dict(inputs)))


def export(model: nn.Module, inputs: Sequence[Tensor], path: Path) -> Mapping[str, Array]:
    """Write a network as an ONNX file; return its inputs by their names there."""
    import onnx

    program = torch.onnx.export(model, tuple(inputs), dynamo=True, verbose=False)
    assert program is not None
    program.save(path, external_data=True)
    names = [each.name for each in onnx.load(path, load_external_data=False).graph.input]
    return {each: x.numpy() for each, x in zip(names, inputs, strict=True)}


def start_onnxruntime(model: nn.Module, inputs: Sequence[Tensor], threads: int) -> Run:
    """ONNX Runtime on what `torch.onnx.export` makes of the network."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        arrays = export(model, inputs, path)
        runtime = Runtime(path, threads)
    return lambda: runtime.run(arrays)


def start_inductor(model: nn.Module, inputs: Sequence[Tensor], threads: int) -> Run:
    """`torch.compile` with freezing: weights packed ahead, normalisations folded."""
    import torch._inductor.config as settings

    settings.freezing = True
    hold_inductor()
    settings.compile_threads = 1
    torch.set_num_threads(threads)
    compiled = torch.compile(model)

    def run() -> object:
        with torch.no_grad():
            return compiled(*inputs)

    run()
    return run


PEERS: Mapping[str, Callable[[nn.Module, Sequence[Tensor], int], Run]] = {
    "onnxruntime": start_onnxruntime,
    "inductor": start_inductor,
}
"""What makes an engine ready, by its name; raises what the engine does where it cannot."""
