"""Functions of tensors of open sizes, compiled once: what PyTorch computes, at five sizes."""

import math
from collections.abc import Callable
from typing import TypeAlias

import pytest

from gawee_dialect import compile_torch
from gawee_dialect.diagnostics import GaweeError

pytest.importorskip("torch")

import torch
from torch.export import Dim
from torch.nn import functional as F

Made: TypeAlias = "torch.Tensor | tuple[torch.Tensor, ...]"


class Function(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Made]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Made:
        return self.function(x)


ROWS, COLUMNS = 9, 20
"""The greatest sizes."""


def compiled_for(
    function: Callable[..., Made], least: int = 1, columns: int = COLUMNS
) -> Callable[..., object]:
    sizes = {
        0: Dim("rows", min=least, max=ROWS),
        1: Dim("columns", min=least, max=columns),
    }
    example = torch.randn(5, 6)
    return compile_torch(Function(function), (example,), dynamic_shapes=(sizes,))


RUNNING = {
    "cumprod": lambda x: (x.cumprod(0), x.cumprod(1)),
    "cummax": lambda x: (*x.cummax(1), *(x > 0).long().cummax(0)),
    "cummin": lambda x: tuple(x.cummin(0)),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
}
CHOSEN = {
    "median": lambda x: (*x.median(1), x.median(), x.nanmedian(0).values),
    "roll": lambda x: (x.roll(5, 1), x.roll((-7, 1), (1, 0)), x.roll(3)),
    "diagonal": lambda x: (x @ x.t()).diagonal(),
    "arange": lambda x: (
        torch.arange(x.shape[1], -x.shape[0], -1.0),
        torch.arange(x.shape[1], 0, -1) * x,
        torch.arange(0, x.shape[1], 0.5),
        torch.arange(-x.shape[0], x.shape[1]),
    ),
}
NORMALIZED = {
    "instance_norm": lambda x: F.instance_norm(torch.stack([x, x * x, -x], 2).permute(0, 2, 1)),
    "attention": lambda x: F.scaled_dot_product_attention(
        x[None, None], x[None, None], x[None, None]
    ),
    "real numbers": lambda x: (
        x * (1 / x.shape[0]) + x / math.sqrt(x.shape[1]) - x.shape[1] ** -0.5,
        torch.full((x.shape[0],), x.shape[1] * 0.5) + x.abs().pow(x.shape[0]).sum(1),
        torch.where(x > 0, x, x.shape[0] / x.shape[1]),
    ),
}
DIVIDED = {
    "every other": lambda x: x[:, ::2] * 2,
    "every third": lambda x: x[:, ::3] * 2,
    "a half and one": lambda x: x[:, : x.shape[1] // 2 + 1],
    "a multiple of four": lambda x: F.pad(x, (0, -x.shape[1] % 4)).view(x.shape[0], -1, 4).sum(-1),
    "pooling": lambda x: (
        F.max_pool1d(x[:, None], 3, 2, 1),
        F.avg_pool1d(x[:, None], 3, 2, 1),
    ),
}


@pytest.mark.filterwarnings("ignore:.*treespec")
@pytest.mark.parametrize("name", [*RUNNING, *CHOSEN, *NORMALIZED, *DIVIDED])
def test_one_code_is_for_sizes_from_one(name: str) -> None:
    function: Callable[..., Made] = {**RUNNING, **CHOSEN, **NORMALIZED, **DIVIDED}[name]
    # A single element has no variance to divide by.
    least = 2 if name == "instance_norm" else 1
    torch.manual_seed(1)
    compiled = compiled_for(function, least)

    for shape in ((least, least), (ROWS, COLUMNS), (least, 7), (4, least), (5, 6)):
        x = torch.randn(*shape)
        # Sums and products of up to 20 numbers, in another order.
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-4, atol=1e-5)


class Halved(torch.nn.Module):
    """Halves an image three times, and doubles it once."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(2, 3, 3, stride=2, padding=1)
        self.second = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small = F.max_pool2d(self.second(self.first(x).relu()), 3, 2, padding=1)
        return F.interpolate(small, scale_factor=1.5, mode="bilinear")


def test_an_image_of_any_size_is_halved_by_one_code() -> None:
    torch.manual_seed(1)
    net = Halved().eval()
    sizes = {2: Dim("height", min=9, max=40), 3: Dim("width", min=9, max=51)}
    compiled = compile_torch(net, (torch.randn(1, 2, 24, 20),), dynamic_shapes=(sizes,))

    for shape in ((9, 9), (40, 51), (17, 32), (24, 11), (33, 26)):
        x = torch.randn(1, 2, *shape)
        with torch.no_grad():
            # Sums of some products in float32, in another order.
            torch.testing.assert_close(compiled(x), net(x), rtol=1e-4, atol=1e-5)


def test_a_range_is_what_was_said_though_digits_take_more() -> None:
    compiled = compiled_for(lambda x: x[:, ::2] * 2, least=3, columns=19)

    with pytest.raises(GaweeError, match="expected size 'columns' of 3 to 19, got 20"):
        compiled(torch.randn(4, 20))
    with pytest.raises(GaweeError, match="expected size 'columns' of 3 to 19, got 2"):
        compiled(torch.randn(4, 2))


def test_a_model_that_does_something_else_for_a_size_is_named_with_it() -> None:
    with pytest.raises(
        GaweeError,
        match=r"test_functions_of_pytorch.py:\d+:1: error: expected a model that does the same for "
        r"all sizes in range, got something else for columns = 1, rows = 1\nhint: columns > 5",
    ):
        compiled_for(lambda x: x if x.shape[1] > 5 else x + 1)


def test_squeezing_an_axis_that_may_have_one_element_is_refused() -> None:
    with pytest.raises(GaweeError, match=r"columns = 1, rows = 1\nhint: a size of 1 is special"):
        compiled_for(lambda x: x.squeeze(1))

    compiled = compiled_for(lambda x: x.squeeze(1) + 1, least=2)
    x = torch.randn(4, 2)
    torch.testing.assert_close(compiled(x), x + 1)


def test_a_model_that_fails_for_a_size_is_named_with_what_it_raises() -> None:
    with pytest.raises(GaweeError, match=r"columns = 1, rows = 1\nhint: IndexError: tuple index"):
        compiled_for(lambda x: x.chunk(2, 1)[1])


def test_a_size_that_pytorch_fixes_is_said() -> None:
    with pytest.raises(GaweeError, match=r"hint: You marked columns as dynamic but .* constant"):
        compiled_for(lambda x: x * math.log(x.shape[1]))


def test_the_greater_of_two_sizes_is_refused_by_their_names() -> None:
    with pytest.raises(GaweeError, match=r"error: unsupported size 'Max\(columns, rows\)'"):
        compiled_for(lambda x: x.new_zeros(max(x.shape[0], x.shape[1])))


def test_a_number_that_no_op_computes_of_sizes_is_refused() -> None:
    with pytest.raises(GaweeError, match="unsupported 'sym_max' of a size; supported: sym_float,"):
        compiled_for(lambda x: x * torch.sym_max(x.shape[0] * 0.5, x.shape[1] * 0.5))


def test_a_scale_that_is_no_ratio_of_small_numbers_is_refused() -> None:
    net = Function(lambda x: F.interpolate(x, scale_factor=0.3))
    sizes = ({2: Dim("columns", min=8, max=40)},)

    with pytest.raises(GaweeError, match=r"error: dynamic shape 2x3xTruncToInt\(0.3\*.*columns"):
        compile_torch(net, (torch.randn(2, 3, 30),), dynamic_shapes=sizes)
