"""One network of the zoo, from PyTorch to native code: `python -m benchmarks.zoo.check resnet18`.

It prints one JSON object: a Result.
"""

import argparse
import json
import math
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from torch.utils._pytree import tree_leaves

from benchmarks.timing import processor_seconds
from benchmarks.zoo.networks import Network, zoo
from benchmarks.zoo.peers import PEERS, Run
from benchmarks.zoo.weights import settle
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.evaluation.turns import least_seconds
from gawee_dialect.frontends.npu_ir import NPU_IR, extract_ir
from gawee_dialect.pytorch import ir_model

TOLERANCE = 1e-3
"""How far an output may be from PyTorch's, relative to its range."""

ROUNDINGS = 10
"""How often PyTorch's own outputs are computed again, with other last bits."""

LEAST_RESPONSE = 1e-2
"""How much of its range an output must move with the input: one that does not shows nothing."""

THREADS = 1
MOST_TURNS = 200


@dataclass
class Result:
    """What became of a network; `reason` says why it failed, and is empty where it did not."""

    name: str
    library: str
    stage: str = "build"
    nodes: int = 0
    ops: int = 0
    difference: float = math.nan
    spread: float = math.nan
    """How far outputs move with the last bit of inputs and weights, where that was asked."""
    compile_seconds: float = math.nan
    ms: float = math.nan
    eager_ms: float = math.nan
    peers_ms: dict[str, float] = field(default_factory=dict[str, float])
    """Of other engines by their names, as far as they were asked and could run it."""
    reason: str = ""

    @property
    def verdict(self) -> str:
        """`passed`, `wrong` where it ran and computed something else, or `failed` before that."""
        if not self.reason:
            return "passed"
        return "wrong" if self.stage == "compare" else "failed"


def relative_difference(expected: np.ndarray, got: np.ndarray) -> float:
    """Return the largest difference over the range of what is expected; inf for other shapes."""
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return math.inf
    wide, other = expected.astype(np.float64), got.astype(np.float64)
    if not wide.size:
        return 0.0
    finite = wide[np.isfinite(wide)]
    span = float(np.ptp(finite)) if finite.size else 0.0
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    apart = np.where(same, 0.0, np.abs(wide - other))
    return float(np.nan_to_num(apart / (span or 1.0), nan=math.inf).max())


def tensors(output: object) -> list[np.ndarray]:
    """Return the tensors of a model's output, as arrays."""
    leaves = tree_leaves(output)
    return [leaf.detach().numpy() for leaf in leaves if isinstance(leaf, Tensor)]


def other_inputs(inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the inputs with other numbers, as far as any numbers will do."""
    return tuple(torch.randn_like(x) if x.is_floating_point() else x.roll(1, -1) for x in inputs)


def best_ms(runs: Sequence[Callable[[], object]], seconds: float = 2.0) -> list[float]:
    """Return the shortest time of each function, in milliseconds, taking turns for some seconds."""
    return [each * 1e3 for each in least_seconds(runs, MOST_TURNS, most_seconds=seconds)]


def first_line(error: Exception) -> str:
    """Return the kind of an error, and the first line of what it says."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def check(network: Network, peers: Sequence[str] = (), *, measure: bool = True) -> Result:
    """Take a network all the way; never raises for what the compiler does not do."""
    result = Result(network.name, network.library)
    try:
        _check(network, result, peers, measure)
    except Exception as error:
        text = str(error).strip().splitlines() or [type(error).__name__]
        reason = re.sub(r"\S+/(?=graph\.json)", "", text[0])  # the folder is a temporary one
        result.reason = f"{type(error).__name__}: {reason}"[:300]
        if "-v" in sys.argv:
            raise
    return result


def _check(network: Network, result: Result, peers: Sequence[str], measure: bool) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(THREADS)
    model, inputs = network.build()
    model = model.float().eval()
    settle(model, inputs)
    with torch.inference_mode():
        expected = tensors(model(*inputs))
        other = tensors(model(*other_inputs(inputs)))
    response = max(map(relative_difference, expected, other))
    if not response > LEAST_RESPONSE or not all(np.isfinite(each).all() for each in expected):
        raise ValueError(f"outputs show nothing: they move by {response:.1g} of their range")

    result.stage = "extract"
    ir = extract_ir(model, inputs, strict=False, model_name=network.name)
    result.stage = "save and load"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        ir.save(path)
        ir = NPU_IR.load(path)
    result.nodes, result.ops = len(ir.nodes), len({node.op_type for node in ir.nodes})

    result.stage = "import"
    graph = ir_model(ir, dict(model.state_dict()))
    result.stage = "compile"
    start = processor_seconds()
    compiled = graph.compile(CodeOptions(num_threads=THREADS), cache=False)
    result.compile_seconds = processor_seconds() - start

    result.stage = "run"
    arrays = {
        meta.name: tensor.numpy() for meta, tensor in zip(ir.graph_inputs, inputs, strict=True)
    }
    got = list(compiled.run(arrays).values())
    result.stage = "compare"
    if len(got) != len(expected):
        raise ValueError(f"expected {len(expected)} outputs, got {len(got)}")
    result.difference = max(map(relative_difference, expected, got))
    if not result.difference <= TOLERANCE:
        own = own_error(model, inputs, expected)
        apart = f"outputs are {result.difference:.1e} of their range apart"
        raise ValueError(f"{apart}; PyTorch's are {own:.1e} from double precision")
    if not measure:
        return
    result.stage = "time"
    with torch.inference_mode():
        runs = (lambda: compiled.run(arrays), lambda: model(*inputs))
        result.ms, result.eager_ms = best_ms(runs)
    for name in peers:
        result.peers_ms[name], ours = _peer_ms(name, model, inputs, runs[0])
        result.ms = min(result.ms, ours)


def _peer_ms(name: str, model: Module, inputs: Sequence[Tensor], ours: Run) -> tuple[float, float]:
    """Return the shortest calls of an engine and of ours, by turns; NaN where it cannot run."""
    try:
        peer, own = best_ms((PEERS[name](model, inputs, THREADS), ours))
        return peer, own
    except Exception as error:
        print(f"{name}: {first_line(error)}", file=sys.stderr)
        return math.nan, math.inf


def own_error(model: Module, inputs: tuple[Tensor, ...], expected: Sequence[np.ndarray]) -> float:
    """Return how far PyTorch's outputs are from its own in double precision: what rounding does."""
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    with torch.inference_mode():
        exact = tensors(model.double()(*wide))
    return max(
        relative_difference(each, got.astype(each.dtype))
        for each, got in zip(exact, expected, strict=True)
    )


def rounding_error(model: Module, inputs: tuple[Tensor, ...]) -> float:
    """Return how far from double precision PyTorch's outputs are, however floats are rounded.

    One rounding may be near it by chance. So inputs and weights are rounded otherwise too: each is
    moved by its last bit, or is not, at random. The error is the largest of these.
    """
    bits = torch.Generator().manual_seed(0)

    def rounded_otherwise() -> list[np.ndarray]:
        moved = deepcopy(model)
        with torch.inference_mode():
            for weight in moved.parameters():
                weight.copy_(_moved(weight, bits))
            return tensors(moved(*(_moved(each, bits) for each in inputs)))

    with torch.inference_mode():
        roundings = [tensors(model(*inputs))]
    roundings += [rounded_otherwise() for _ in range(ROUNDINGS)]
    return max(own_error(deepcopy(model), inputs, each) for each in roundings)


def _moved(x: Tensor, bits: torch.Generator) -> Tensor:
    """Return floats with their last bits moved up, down, or not at all."""
    if not x.is_floating_point():
        return x
    way = torch.randint(-1, 2, x.shape, generator=bits)
    return torch.where(way == 0, x, torch.nextafter(x, way * torch.inf))


def main() -> None:
    """Check the network that the command line names."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo.check", description=__doc__)
    parser.add_argument("network", choices=zoo(), metavar="NETWORK", help="of the zoo: resnet18")
    parser.add_argument("-v", action="store_true", help="the traceback of a failure")
    print(json.dumps(asdict(check(zoo()[parser.parse_args().network]))))


if __name__ == "__main__":
    main()
