"""LSTM layers over many steps: seconds to import and compile, milliseconds a run beside others.

`python -m benchmarks.recurrences` compiles networks of PyTorch's LSTM layers anew, runs them in
turns with PyTorch as it is written and with ONNX Runtime, and prints the median of each. That takes
about a minute on a quiet machine. *ort* is ONNX Runtime, *difference* the largest to its output or
PyTorch's.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import median
from time import perf_counter

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from rich.table import Table

from benchmarks.list_values import numbers
from benchmarks.timing import console, processor
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.turns import orders
from gawee_dialect.frontends.npu_ir import extract_ir
from gawee_dialect.pytorch import ir_model

Array = NDArray[np.float32]
Run = Callable[[], object]

ONNX_ORDER = (0, 3, 1, 2)
"""Which of PyTorch's gates (input, forget, cell, output) each of ONNX's is."""

WEIGHTS, BIASES = ("weight_ih", "weight_hh"), ("bias_ih", "bias_hh")

TURN_SECONDS = 0.3


@dataclass(frozen=True)
class Case:
    """A network: sizes of its layers, and the threads that run it."""

    layers: int
    hidden: int
    steps: int
    batch: int
    threads: int

    def network(self) -> torch.nn.LSTM:
        """Return the network with seeded weights."""
        torch.manual_seed(0)
        return torch.nn.LSTM(self.hidden, self.hidden, self.layers).eval()

    def input(self) -> torch.Tensor:
        """Return an input: steps x batch x features."""
        return torch.randn(self.steps, self.batch, self.hidden)


def onnx_model(network: torch.nn.LSTM, x: torch.Tensor) -> onnx.ModelProto:
    """Write the layers as nodes of ONNX, whose gates have another order."""
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    name = "x"
    for layer in range(network.num_layers):
        given = {
            each: _in_order(network, f"{each}_l{layer}") for each in ("weight_ih", "weight_hh")
        }
        biases = [_in_order(network, f"bias_{each}_l{layer}") for each in ("ih", "hh")]
        arrays = {**given, "bias": np.concatenate(biases)}
        for what, array in arrays.items():
            weights.append(numpy_helper.from_array(array[np.newaxis], f"{what}{layer}"))
        inputs = [name, *(f"{what}{layer}" for what in arrays)]
        nodes.append(
            helper.make_node("LSTM", inputs, [f"y{layer}"], hidden_size=network.hidden_size)
        )
        nodes.append(helper.make_node("Squeeze", [f"y{layer}", "axes"], [f"x{layer}"]))
        name = f"x{layer}"
    weights.append(numpy_helper.from_array(np.array([1], np.int64), "axes"))
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, list(x.shape))
    output = helper.make_empty_tensor_value_info(name)
    graph = helper.make_graph(nodes, "lstm", [value], [output], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _in_order(network: torch.nn.LSTM, name: str) -> Array:
    array: Array = network.get_parameter(name).detach().numpy()
    gates = np.split(array, 4)
    return np.concatenate([gates[gate] for gate in ONNX_ORDER])


@dataclass(frozen=True)
class Row:
    """What one case took, and how far the results are apart."""

    case: Case
    ready: Sequence[float]
    """Seconds that PyTorch took to trace the network, and that it took to import and to compile."""

    milliseconds: Sequence[float]
    difference: float


def measure(case: Case, rounds: int) -> Row:
    """Make a case ready for each engine, and run them in turns."""
    network, x = case.network(), case.input()
    torch.set_num_threads(case.threads)
    times = [perf_counter()]
    ir = extract_ir(network, (x,), strict=False)
    times.append(perf_counter())
    model = ir_model(ir, network.state_dict())
    times.append(perf_counter())
    compiled = model.compile(CodeOptions(num_threads=case.threads), cache=False)
    times.append(perf_counter())
    (name,) = (each.name for each in compiled.inputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
    data = onnx_model(network, x).SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    array = x.numpy()

    def eager() -> object:
        with torch.inference_mode():
            return network(x)[0]

    runs: list[Run] = [
        lambda: next(iter(compiled.run({name: array}).values())),
        eager,
        lambda: session.run(None, {"x": array})[0],
    ]
    results = [np.asarray(run()) for run in runs]
    difference = max(float(np.abs(each - results[0]).max()) for each in results)
    milliseconds = [median(each) * 1e3 for each in _in_turns(runs, rounds)]
    return Row(case, [end - start for start, end in pairwise(times)], milliseconds, difference)


def _in_turns(runs: Sequence[Run], rounds: int) -> Sequence[Sequence[float]]:
    seconds: list[list[float]] = [[] for _ in runs]
    for order in orders(len(runs), rounds):
        for index in order:
            start = perf_counter()
            while perf_counter() - start < TURN_SECONDS:
                before = perf_counter()
                runs[index]()
                seconds[index].append(perf_counter() - before)
    return seconds


def main() -> int:
    """Print the table; returns the exit code."""
    parser = ArgumentParser(
        prog="python -m benchmarks.recurrences",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--layers", type=numbers, default=[1, 2], help="such as 1,2")
    parser.add_argument("--hidden", type=numbers, default=[64, 256, 512], help="sizes of states")
    parser.add_argument("--steps", type=int, default=512, help="of a sequence")
    parser.add_argument("--batch", type=int, default=1, help="sequences")
    parser.add_argument("--threads", type=numbers, default=[1], help="such as 1,2")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each engine")
    arguments = parser.parse_args()
    console.print(f"processor: {processor()}")
    title = f"LSTM of {arguments.steps} steps, batch {arguments.batch}, ms a run"
    sizes, steps = ("layers", "hidden", "threads"), ("trace\ns", "import\ns", "compile\ns")
    # As narrow as a terminal of 80 columns, which cuts figures of a wider one.
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for head in (*sizes, *steps, "gawee", "torch", "ort", "peer /\ngawee", "differ-\nence"):
        table.add_column(head, justify="right", no_wrap=True)
    for layers, hidden, threads in product(arguments.layers, arguments.hidden, arguments.threads):
        case = Case(layers, hidden, arguments.steps, arguments.batch, threads)
        row = measure(case, arguments.rounds)
        own, *others = row.milliseconds
        table.add_row(
            *(str(each) for each in (layers, hidden, threads)),
            *(f"{each:.2f}" for each in row.ready),
            *(f"{each:.2f}" for each in row.milliseconds),
            f"{min(others) / own:.2f}",
            f"{row.difference:.0e}",
        )
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
