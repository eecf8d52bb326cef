"""Functions with a backward of their own, in graphs that gradients flow through."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from gawee_dialect.pytorch import gawee_backend


class Cube(torch.autograd.Function):
    """Gives twice its derivative, which shows that its own backward is run."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 6 * x**2 * gradients[0]


class Sorted(torch.autograd.Function):
    """Of two outputs one has no gradient; it saves what is no input."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        values, order = x.sort()
        ctx.mark_non_differentiable(order)
        ctx.save_for_backward(order)
        ctx.scale = scale
        return values * scale, order

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (order,) = ctx.saved_tensors
        return torch.zeros_like(gradients[0]).scatter(0, order, gradients[0] * ctx.scale), None


class Root(torch.autograd.Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        root = x.sqrt()
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (root,) = ctx.saved_tensors
        return gradients[0] / (2 * root)


class Doubled(torch.autograd.Function):
    """Changes its argument."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> Tensor:
        return gradients[0] * 2


def cubes(x: Tensor) -> Tensor:
    return Cube.apply(Cube.apply(x.sin()) + 1)


def roots(x: Tensor) -> Tensor:
    return Root.apply(x**2 + 1) ** 2


def sorted_values(x: Tensor) -> Tensor:
    values, order = Sorted.apply(x.sin(), 3.0)
    return values * (order + 1)


def doubled(x: Tensor) -> Tensor:
    return Doubled.apply(x.sin()).exp()


@pytest.mark.parametrize("function", [cubes, roots, sorted_values, doubled])
def test_gradients_are_those_of_eager(function: Callable[[Tensor], Tensor]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=gawee_backend, fullgraph=True)

    for seed in range(2):
        torch.manual_seed(seed)
        x = torch.randn(5, requires_grad=True)
        gradients = [torch.autograd.grad(f(x).sum(), x) for f in (compiled, function)]
        # PyTorch runs the same ops in the same order.
        torch.testing.assert_close(*gradients, rtol=0, atol=0)


@pytest.mark.parametrize("function", [cubes, roots])
def test_gradients_of_gradients_are_those_of_eager(function: Callable[[Tensor], Tensor]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=gawee_backend, fullgraph=True)
    x = torch.randn(5, requires_grad=True)

    def second(f: Callable[[Tensor], Tensor]) -> Tensor:
        (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)[0]

    torch.testing.assert_close(second(compiled), second(function), rtol=0, atol=0)


def test_calls_that_are_alive_together_keep_their_own_values() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(cubes, backend=gawee_backend, fullgraph=True)
    inputs = [torch.randn(5, requires_grad=True) for _ in range(2)]

    outputs = [compiled(x) for x in inputs]

    for x, y in zip(inputs, outputs, strict=True):
        expected = torch.autograd.grad(cubes(x).sum(), x)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x), expected, rtol=0, atol=0)


def test_a_write_to_what_is_saved_is_noticed() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(Cube.apply, backend=gawee_backend, fullgraph=True)
    x = torch.randn(5, requires_grad=True).sin()
    y = compiled(x)
    x.mul_(2)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_calls_share_a_class_and_functions_do_not() -> None:
    torch._dynamo.reset()
    cube, root = (
        torch.compile(each.apply, backend=gawee_backend, fullgraph=True) for each in (Cube, Root)
    )
    x = torch.randn(5, requires_grad=True)

    assert type(cube(x).grad_fn) is type(cube(x).grad_fn)
    assert type(cube(x).grad_fn) is not type(root(x).grad_fn)
