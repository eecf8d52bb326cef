"""Modules of PyTorch that NNSmith draws, compiled by gawee, and compared with PyTorch itself.

    python -m tests.graph_fuzz.nnsmith_modules --first 0 --modules 250

NNSmith (https://github.com/ise-uiuc/nnsmith) finds shapes that fit by a solver: an opinion on what
graphs there are that shares nothing with our generators. Prints what differs, by its number.
"""

import logging
import random
import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from nnsmith.abstract.extension import activate_ext
from nnsmith.graph_gen import model_gen
from nnsmith.materialize import Model
from nnsmith.narrow_spec import auto_opset

import gawee_dialect
from gawee_dialect.diagnostics import GaweeError

NODES, ELEMENTS, SOLVER_MS = 4, 4096, 10_000

PART = 1e-3
"""Of the largest magnitude, or of 1: convolutions and products of f16 and f32 in any order."""


def drawn(seed: int, kind: type[Model], opset: Sequence[type], nodes: int) -> tuple:
    """Return a module, the arguments that it takes, and its ops."""
    random.seed(seed)
    torch.manual_seed(seed)
    graph = model_gen(
        opset=opset,
        method="symbolic-cinit",
        seed=seed,
        max_nodes=nodes,
        max_elem_per_tensor=ELEMENTS,
        timeout_ms=SOLVER_MS,
    ).make_concrete()
    module = kind.from_gir(graph).native_model.eval()
    # It looks for NaN after each op: control flow that depends on data.
    module.debug_numeric = lambda tensors: None
    inputs = tuple(module.get_random_inps(margin=4, base=-2).values())
    ops = {type(each.iexpr.op).__name__ for each in graph.insts} - {"Input", "Constant"}
    return module, inputs, " ".join(sorted(ops))


def differs(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether a result is another than PyTorch's by more than roundings, where that is finite."""
    if (actual.shape, actual.dtype) != (expected.shape, expected.dtype):
        return True
    ours, theirs = actual.detach().numpy(), expected.detach().numpy()
    if theirs.dtype.kind != "f":
        return bool((ours != theirs).any())
    finite = np.isfinite(theirs)
    left, right = ours[finite].astype(np.float64), theirs[finite].astype(np.float64)
    most = PART * max(1.0, np.abs(right).max(initial=0.0))
    return not (np.abs(left - right) <= most).all()


def outcome(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> str:
    """Compile and run a module; say what came of it."""
    with torch.no_grad():
        expected = module(*inputs)
        try:
            actual = gawee_dialect.compile_torch(module, tuple(inputs))(*inputs)
        except GaweeError as error:
            return f"refused: {error.diagnostics[0].message}"
    pairs = zip(_several(actual), _several(expected), strict=True)
    return "differs" if any(differs(*pair) for pair in pairs) else "same"


def _several(value: object) -> Sequence:
    return value if isinstance(value, tuple | list) else (value,)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--modules", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    kind = Model.init("torch", backend_target="cpu")
    opset = auto_opset(kind, None, vulops=False)
    activate_ext(opset=opset, factory=None)
    counts = Counter[str]()
    for number in range(arguments.first, arguments.first + arguments.modules):
        try:
            module, inputs, ops = drawn(number, kind, opset, arguments.nodes)
        except Exception as error:  # NNSmith's own: no solution in time, tensors too large
            counts[f"not drawn: {type(error).__name__}"] += 1
            continue
        said = outcome(module, inputs)
        counts[said.partition(":")[0]] += 1
        if said != "same":
            print(f"{number} ({ops}): {said}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))


if __name__ == "__main__":
    main()
