"""One network under torch.compile, in eval and in training mode, with and without gradients."""

import copy
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import count

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from benchmarks.zoo.check import best_ms, relative_difference
from benchmarks.zoo.networks import Network
from benchmarks.zoo.weights import settle
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule
from gawee_dialect.pytorch.dynamo import InferenceGraph, gawee_backend
from gawee_dialect.pytorch.explanation import Explanation

TOLERANCE = 1e-3
"""How far an output may be from eager's, relative to its range."""

OWN_ERRORS = 4
"""So many times as far as eager itself is from double precision, where that is more."""

MODES = ("eval", "eval, gradients", "training", "training, gradients")
CALLS = 2
SECONDS = 0.5
"""How long calls are timed."""

SEEDS = 16
"""Networks that draw random numbers are timed with so many draws."""

LONG = 1.1
"""So many times as long as eager is too long."""


@dataclass
class Outcome:
    """What became of a network in one mode."""

    graphs: int = 0
    parts: int = 0
    whole: bool = False
    """Whether every graph is compiled as a whole."""
    share_left: float = math.nan
    """Of the FLOPs of its graphs what PyTorch runs."""
    difference: float = math.nan
    ms: float = math.nan
    eager_ms: float = math.nan
    dynamo_ms: float = math.nan
    """Of TorchDynamo with a backend that does nothing, measured where ours takes long."""
    left: dict[str, int] = field(default_factory=dict[str, int])
    """The ops that PyTorch runs since they are not supported, with how often each occurs."""
    bugs: int = 0
    """How many internal errors were told."""
    reason: str = ""
    """Why it raised, or is wrong."""


@dataclass
class CompiledNetwork:
    """What became of a network."""

    name: str
    library: str
    stage: str = ""
    reason: str = ""
    """Why the network itself does not run: no verdict on the compiler."""
    modes: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])


class Bugs(logging.Handler):
    """Counts messages that have a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.exc_info is not None and record.exc_info[0] is not None


def check(network: Network) -> CompiledNetwork:
    """Compile a network in each mode; raises nothing."""
    result = CompiledNetwork(network.name, network.library)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        model, inputs = network.build()
        model = model.float().eval()
        settle(model, inputs)
    except Exception as error:
        result.reason = f"{type(error).__name__}: {error}"[:300]
        return result
    for mode in MODES:
        result.modes[mode] = asdict(_outcome(model, inputs, mode))
    return result


def _outcome(model: nn.Module, inputs: Sequence[Tensor], mode: str) -> Outcome:
    outcome, bugs, found = Outcome(), Bugs(), list[InferenceGraph]()
    logger = logging.getLogger("gawee_dialect")
    logger.addHandler(bugs)
    training, gradients = mode.startswith("training"), mode.endswith("gradients")
    net = copy.deepcopy(model).train(training)
    eager = copy.deepcopy(net)
    if training:
        inputs = [torch.cat([x, x.flip(-1)]) for x in inputs]  # several, for batch normalisation
    torch._dynamo.reset()

    def backend(graph: GraphModule, example: Sequence[object]) -> object:
        return gawee_backend(graph, example, seen=found.append)

    compiled = torch.compile(net, backend=backend)
    with nullcontext() if gradients else torch.no_grad():
        try:
            _compare(outcome, compiled, eager, inputs)
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            outcome.reason = f"{type(error).__name__}: {lines[0]}"[:300]
        else:
            _time(outcome, compiled, eager, inputs)
    _explain(outcome, found)
    outcome.bugs = bugs.count
    logger.removeHandler(bugs)
    return outcome


def _time(
    outcome: Outcome, compiled: Callable[..., object], eager: nn.Module, inputs: Sequence[Tensor]
) -> None:
    outcome.ms, outcome.eager_ms = _best_ms((compiled, eager), inputs, SECONDS)
    if outcome.ms > LONG * outcome.eager_ms:
        outcome.ms, outcome.eager_ms = _best_ms((compiled, eager), inputs, 4 * SECONDS)
        torch._dynamo.reset()  # the code that one function may have is limited
        dynamo = torch.compile(copy.deepcopy(eager), backend="eager")
        ms, eager_ms = _best_ms((dynamo, eager), inputs, 4 * SECONDS)
        outcome.dynamo_ms = ms / eager_ms * outcome.eager_ms


def _best_ms(
    nets: Sequence[Callable[..., object]], inputs: Sequence[Tensor], seconds: float
) -> list[float]:
    return best_ms([_call(net, inputs) for net in nets], seconds)


def _call(net: Callable[..., object], inputs: Sequence[Tensor]) -> Callable[[], object]:
    """Return what calls a network, with the same seeds in the same turns as others.

    Some draw which of their layers they run. All draws are compiled before the first turn.
    """
    seeds = count()

    def call() -> object:
        torch.default_generator.manual_seed(
            next(seeds) % SEEDS
        )  # 55 us less than torch.manual_seed
        return net(*inputs)

    for _ in range(SEEDS):
        call()
    return call


def _compare(
    outcome: Outcome, compiled: Callable[..., object], eager: nn.Module, inputs: Sequence[Tensor]
) -> None:
    exact = copy.deepcopy(eager).double()
    for call in range(CALLS):
        expected = _seeded(eager, inputs, call)
        got = _seeded(compiled, inputs, call)
        if len(got) != len(expected):
            raise ValueError(f"expected {len(expected)} outputs, got {len(got)}")
        apart = max(map(relative_difference, expected, got), default=0.0)
        outcome.difference = (
            apart if math.isnan(outcome.difference) else max(apart, outcome.difference)
        )
        if not apart <= TOLERANCE:
            wide = [x.double() if x.is_floating_point() else x for x in inputs]
            true = _seeded(exact, wide, call)
            own, ours = _error(expected, true), _error(got, true)
            if not ours <= OWN_ERRORS * own:
                raise ValueError(
                    f"{apart:.1e} of the range apart; {ours:.1e} from double, eager {own:.1e}"
                )


def _error(outputs: Sequence[np.ndarray], true: Sequence[np.ndarray]) -> float:
    """Return how far outputs are from those in double precision, relative to their range."""
    pairs = zip(outputs, true, strict=True)
    return max(relative_difference(exact.astype(each.dtype), each) for each, exact in pairs)


def _seeded(net: Callable[..., object], inputs: Sequence[Tensor], seed: int) -> list[np.ndarray]:
    torch.manual_seed(seed)
    leaves = tree_leaves(net(*inputs))
    return [each.detach().numpy() for each in leaves if isinstance(each, Tensor)]


def _explain(outcome: Outcome, found: Sequence[InferenceGraph]) -> None:
    explained = Explanation([each.explained() for each in found if each.was_called])
    outcome.graphs = len(explained.graphs)
    outcome.parts = sum(len(each.parts) for each in explained.graphs)
    outcome.whole = all(not each.left for each in explained.graphs)
    outcome.share_left = explained.share_left
    for graph in explained.graphs:
        for each in graph.left:
            if each.is_unsupported:
                outcome.left[each.op] = outcome.left.get(each.op, 0) + each.count
