"""The engines that are compared: each makes a function that runs one network once.

An engine is a function of a Task; it fills in how long its steps took. Its packages are imported
inside, so that an engine which is absent is named and left out.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.targets import AVX2_BITS, held_target, import_held, is_held_to_avx2

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Array = NDArray[np.generic]


class Absent(Exception):
    """Raised where an engine cannot take part; the text says why."""


@dataclass
class Task:
    """One network for one engine: its files, and the seconds that each step took."""

    model: str
    threads: int
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def x(self) -> Array:
        """The input."""
        return np.load(self.folder / "x.npy")

    @property
    def is_quantized(self) -> bool:
        """Whether the network is the ONNX file in int8, not the one in PyTorch."""
        return ":" in self.model

    def onnx(self) -> str:
        """Return the network's ONNX file; raises Absent where it could not be written."""
        path = self.folder / "model.onnx"
        if not path.exists():
            raise Absent((self.folder / "onnx_error.txt").read_text())
        return str(path)

    @contextmanager
    def timed(self, step: str) -> Generator[None]:
        """Add the time of a with block to a step."""
        start = perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + perf_counter() - start


Run = Callable[[], object]
"""Does one inference; what it returns, `numpy.asarray` takes."""


def run_gawee(task: Task) -> Run:
    """Ours: compiled anew, so that the time of that is known."""
    with task.timed("import"):
        from benchmarks import gawee_engine
    array = task.x
    if task.is_quantized:
        with task.timed("compile"):
            compiled = gawee_engine.compile_file(task.onnx(), num_threads=task.threads)
        return lambda: compiled(array)
    from benchmarks.models import build

    model, x = build(task.model)
    with task.timed("compile"):
        compiled = gawee_engine.compile(model, (x,), num_threads=task.threads)
    return lambda: compiled(array)


def run_onnxruntime(task: Task) -> Run:
    """ONNX Runtime with all graph optimisations."""
    with task.timed("import"):
        onnxruntime = import_held("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads, options.inter_op_num_threads = task.threads, 1
    with task.timed("compile"):
        session = onnxruntime.InferenceSession(
            task.onnx(), options, providers=["CPUExecutionProvider"]
        )
    feed = {session.get_inputs()[0].name: task.x}
    return lambda: session.run(None, feed)[0]


def run_openvino(task: Task) -> Run:
    """OpenVINO's CPU plugin, tuned for latency, floats in f32 as the others."""
    with task.timed("import"):
        openvino = import_held("openvino")
    with task.timed("compile"):
        core = openvino.Core()
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": task.threads,
            "INFERENCE_PRECISION_HINT": "f32",
        }
        compiled = core.compile_model(core.read_model(task.onnx()), "CPU", settings)
    request, output, x = compiled.create_infer_request(), compiled.output(0), task.x
    return lambda: request.infer([x], share_inputs=True, share_outputs=True)[output]


def _torch(task: Task) -> "tuple[Module, Tensor]":
    if task.is_quantized:
        raise Absent("runs no ONNX files: its network is the one in f32")
    with task.timed("import"):
        import torch
    from benchmarks.models import build

    torch.set_num_threads(task.threads)
    torch.set_num_interop_threads(1)
    return build(task.model)


def run_torch(task: Task) -> Run:
    """PyTorch as it is written, op by op."""
    model, x = _torch(task)
    import torch

    def run() -> object:
        with torch.inference_mode():
            return model(x)

    return run


def run_inductor(task: Task) -> Run:
    """torch.compile with freezing: weights packed ahead, normalisations folded."""
    # A folder of its own: code from an earlier process would hide the time to compile.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=task.folder)
    model, x = _torch(task)
    import torch
    import torch._inductor.config as settings

    settings.freezing = True
    hold_inductor()
    compiled = torch.compile(model)

    def run() -> object:
        with torch.no_grad():
            return compiled(x)

    with task.timed("compile"):
        run()
    return run


def hold_inductor() -> None:
    """Hold what torch.compile makes to AVX2 where this process is."""
    if is_held_to_avx2():
        import torch._inductor.config as settings

        settings.cpp.simdlen, settings.cpp.march = AVX2_BITS, held_target()


IREE_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-opt-level=O3",
    "--iree-global-opt-use-im2col-for-convs",
    "--iree-global-opt-data-tiling",
    "--iree-llvmcpu-enable-ukernels=all",
)


def run_iree(task: Task) -> Run:
    """IREE with the flags that make it fastest on most of these networks."""
    with task.timed("import"):
        from iree import runtime
        from iree.compiler import tools
    text, code = task.folder / "iree.mlir", str(task.folder / f"iree-{task.threads}.vmfb")
    with task.timed("compile"):
        importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx", task.onnx()]
        subprocess.run([*importer, "-o", str(text)], check=True, capture_output=True)
        cpu = f"--iree-llvmcpu-target-cpu={held_target() or 'host'}"
        tools.compile_file(str(text), output_file=code, extra_args=[*IREE_FLAGS, cpu])
    if task.threads > 1:
        runtime.flags.parse_flags(f"--task_topology_group_count={task.threads}")
    config = runtime.Config("local-task" if task.threads > 1 else "local-sync")
    module = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, code), config)
    names = module.vm_module.function_names
    name = next(each for each in names if not each.startswith("__") and "$async" not in each)
    function, x = module[name], runtime.asdevicearray(config.device, task.x)
    return lambda: function(x).to_host()


@dataclass(frozen=True)
class Engine:
    """An engine, and what to install for it."""

    start: Callable[[Task], Run]
    packages: str


ENGINES: dict[str, Engine] = {
    "gawee": Engine(run_gawee, "gawee-dialect"),
    "onnxruntime": Engine(run_onnxruntime, "onnxruntime onnx"),
    "openvino": Engine(run_openvino, "openvino onnx"),
    "torch": Engine(run_torch, "torch"),
    "inductor": Engine(run_inductor, "torch"),
    "iree": Engine(run_iree, "iree-base-compiler iree-base-runtime onnx"),
}
"""Engines by name; the first is the one that others are compared with."""


def start_engine(name: str, task: Task) -> Run:
    """Make an engine ready; raises Absent with what to install, or why it cannot run."""
    engine = ENGINES[name]
    try:
        return engine.start(task)
    except ImportError as error:
        raise Absent(f"not installed ({error.name}): pip install {engine.packages}") from error
