"""Concatenations without copies compute what PyTorch does, at every level, in not much more memory.

Tolerance: convolutions of up to 9 * 61 products in f32 in another order, a few of them one after
the other, differ by about 1e-6 of their size; 1e-4 leaves room for cancellation.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.instruments.check.each_pass import CheckSettings
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.passes.buffers.coalesce_copies import CoalesceCopies
from gawee_dialect.passes.buffers.plan_memory import PlanMemory, find_workspace
from gawee_dialect.passes.pass_manager import run_passes
from gawee_dialect.universe import make_context
from tests.effort import full_run, mostly_full
from tests.instruments.checking import check
from tests.instruments.prove.proving import prove, unproved

pytest.importorskip("torch")

import torch

F = torch.nn.functional

BY_KERNELS = "gawee-to-kernels,gawee-kernels-to-loops,convert-to-llvm"


class Graph(torch.nn.Module):
    """Convolutions and concatenations of what was computed before, drawn by a seed."""

    def __init__(self, seed: int, steps: int, widths: tuple[int, ...]):
        super().__init__()
        draw = random.Random(seed)
        self.steps: list[tuple[str, list[int]]] = []
        self.layers = torch.nn.ModuleList()
        channels = [draw.choice(widths)]
        first = channels[0]
        for _ in range(steps):
            kind = draw.choice(["conv", "conv", "relu", "add", "cat", "cat", "cat"])
            known = range(len(channels))
            takes = [draw.choice(known) for _ in range(draw.choice([2, 2, 3]))]
            if kind in ("conv", "relu"):
                takes = [max(draw.choice(known), draw.choice(known))]
            if kind == "add" and channels[takes[0]] != channels[takes[1]]:
                kind = "cat"
            if kind == "cat" and sum(channels[each] for each in takes) > 61:
                kind, takes = "conv", takes[:1]
            width = sum(channels[each] for each in takes)
            if kind == "conv":
                out = draw.choice(widths)
                size = draw.choice([1, 3])
                self.layers.append(torch.nn.Conv2d(width, out, size, padding=size // 2))
                width = out
            elif kind == "add":
                takes, width = takes[:2], channels[takes[0]]
            self.steps.append((kind, takes))
            channels.append(width)
        self.last = torch.nn.Conv2d(sum(channels[-3:]), 5, 1)
        self.channels = first

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        known, layers = [x], iter(self.layers)
        compute: dict[str, Callable[..., torch.Tensor]] = {
            "conv": lambda value: next(layers)(value),
            "relu": lambda value: F.relu(value),
            "add": lambda left, right: left + right,
            "cat": lambda *values: torch.cat(values, 1),
        }
        for kind, takes in self.steps:
            known.append(compute[kind](*(known[each] for each in takes)))
        return self.last(torch.cat(known[-3:], 1))


def graph(seed: int, batch: int) -> tuple[Graph, "torch.Tensor"]:
    torch.manual_seed(seed)
    widths = ((8, 16), (16, 32), (3, 5, 16), (7, 16))[seed % 4]
    net = Graph(seed, steps=9, widths=widths).eval()
    return net, torch.randn(batch, net.channels, *((8, 8) if seed % 3 else (5, 7)))


def run(model: Model, x: "torch.Tensor", options: CodeOptions) -> np.ndarray:
    compiled = model.compile(options, cache=False)
    (name,) = (each.name for each in model.entry.main.inputs)
    (found,) = compiled.run({name: x.numpy()}).values()
    return found


def copies(module: ModuleOp) -> int:
    return sum(isinstance(op, memref.CopyOp) for op in module.walk())


def workspace_bytes(module: ModuleOp) -> int:
    function = find_function(module)
    assert function is not None
    workspace = find_workspace(function)
    assert workspace is not None
    assert isinstance(workspace.type, MemRefType)
    return workspace.type.get_shape()[0]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(each, marks=full_run) for each in range(2, 6))]
)
def test_random_concatenations_compute_what_pytorch_does(seed: int) -> None:
    batch, threads = (1, 2) if seed % 2 else (2, 1)
    net, x = graph(seed, batch)
    model = Model.from_torch(net, (x,))

    found = run(model, x, CodeOptions(num_threads=threads, algorithms="exact"))

    np.testing.assert_allclose(found, net(x).detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", mostly_full(range(4)))
def test_random_concatenations_compute_it_by_plain_loops_too(seed: int) -> None:
    net, x = graph(seed, 1)
    model = Model.from_torch(net, (x,))

    found = run(model, x, CodeOptions(num_threads=1, algorithms=PLAIN))

    np.testing.assert_allclose(found, net(x).detach().numpy(), rtol=1e-4, atol=1e-4)


class Dense(torch.nn.Module):
    """Two concatenations in which one is a part of the other, as in DenseNet; and one for later."""

    def __init__(self):
        super().__init__()
        widths = [(5, 16), (16, 32), (48, 16), (64, 16), (80, 3)]
        self.layers = torch.nn.ModuleList(torch.nn.Conv2d(*each, 3, padding=1) for each in widths)

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        a = F.relu(self.layers[0](x))
        b = torch.cat([a, F.relu(self.layers[1](a))], 1)
        c = torch.cat([b, F.relu(self.layers[2](b))], 1)
        return self.layers[4](torch.cat([c, self.layers[3](c)], 1))


def dense(batch: int = 1) -> tuple[Model, Dense, "torch.Tensor"]:
    torch.manual_seed(7)
    net, x = Dense().eval(), torch.randn(batch, 5, 6, 9)
    return Model.from_torch(net, (x,)), net, x


def test_concatenations_of_concatenations_copy_nothing() -> None:
    model, net, x = dense()
    options = CodeOptions(num_threads=1, algorithms="exact")
    as_before = model.lowered(Level.BUFFERS, options)
    coalesced = as_before.clone()

    run_passes(make_context(), coalesced, (CoalesceCopies(), PlanMemory()))

    run_passes(make_context(), as_before, (PlanMemory(),))
    assert (copies(coalesced), copies(as_before)) == (0, 6)
    assert workspace_bytes(coalesced) <= 1.1 * workspace_bytes(as_before)
    np.testing.assert_allclose(
        run(model, x, options), net(x).detach().numpy(), rtol=1e-4, atol=1e-4
    )


def test_of_several_pictures_copies_stay() -> None:
    model, net, x = dense(batch=2)
    options = CodeOptions(num_threads=2, algorithms="exact")

    found = run(model, x, options)

    np.testing.assert_allclose(found, net(x).detach().numpy(), rtol=1e-4, atol=1e-4)


def test_every_pass_on_concatenations_is_checked_and_proved() -> None:
    model, _, _ = dense()
    checked = check(model.module.clone(), BY_KERNELS, CheckSettings(arrays=model.bound))
    assert "coalesce-copies" in {step.name for step in checked.steps}

    proof = prove(model.module.clone(), BY_KERNELS)

    assert unproved(proof) == {}
    verdicts = {step.name: step.verdict.value for step in proof.steps}
    assert verdicts["coalesce-copies"] == verdicts["plan-memory"] == "proved"
