"""Programs of torch.export in which data decide sizes, against PyTorch."""

import re
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

import torch
from torch.export import Dim

from gawee_dialect import compilation, compile_torch
from gawee_dialect.diagnostics import GaweeError
from tests.closeness import Tolerances

pytestmark = pytest.mark.usefixtures("unoptimized")

CLOSE = Tolerances(rtol=1e-5, atol=1e-6)
ROWS = 6


def chosen(x: torch.Tensor) -> torch.Tensor:
    return torch.nonzero(x[:, 0] > 0).squeeze(1)


class Layers(torch.nn.Module):
    """Rows chosen between two layers; counts of them that a buffer keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
        self.register_buffer("seen", torch.zeros(1))
        self.seen: torch.Tensor

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        index = chosen(x)
        self.seen.add_(index.shape[0])
        return self.last(torch.relu(self.first(x))[index]), index, torch.ones(index.shape[0]) * 3


class Function(torch.nn.Module):
    """A function of rows as a module."""

    def __init__(self, function: Callable[[torch.Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def selected(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    values = torch.masked_select(x * 2, x[:, :1] > 0)
    return values.softmax(0), values.mean()


def by_mask(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    rows = x[x[:, 0] > 0]
    return rows @ rows.t(), rows.sum(0), torch.cat([rows, rows * 2, x])


def unique(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    values, places = torch.unique((x[:, 0] * 4).round(), return_inverse=True)
    return values.exp(), places + 1


def as_many_as_counted(x: torch.Tensor) -> torch.Tensor:
    count = (x[:, 0] > 0).sum().item()
    torch._check(count >= 0)
    torch._check(count <= x.shape[0])
    return x[:count] * 2


def two_as_large(x: torch.Tensor) -> torch.Tensor:
    above, below = x[x[:, 0] > 0], x[x[:, 1] > 0]
    torch._check(above.shape[0] == below.shape[0])
    return above + below


def put_in_turn(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    rows, columns = x.clone(), x.t().reshape(2, 2, -1).clone()
    mask = x[:, 0] > 0
    rows[mask] *= torch.arange(4.0)
    columns[:, :, mask] = columns[:, :, mask].softmax(-1)
    elements = x * 3
    elements[elements > 0] += 1
    return rows, columns, elements


CASES: dict[str, Callable[[], torch.nn.Module]] = {
    "layers": Layers,
    "masked_select": lambda: Function(selected),
    "index by a mask": lambda: Function(by_mask),
    "what a mask chooses": lambda: Function(put_in_turn),
    "unique": lambda: Function(unique),
    "a count": lambda: Function(as_many_as_counted),
    "two of one size": lambda: Function(two_as_large),
}


def with_count(rows: int, count: int) -> torch.Tensor:
    """Rows of which so many are chosen."""
    x = torch.rand(rows, 4) + 0.1
    x[torch.randperm(rows)[: rows - count], :2] *= -1
    return x


@pytest.mark.parametrize("name", CASES)
def test_one_code_is_for_all_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    made: list[object] = []
    compile_module = compilation.compile_module
    monkeypatch.setattr(
        *(compilation, "compile_module"),
        lambda *args, **more: made.append(args) or compile_module(*args, **more),
    )
    network, other = CASES[name]().eval(), CASES[name]().eval()
    program = torch.export.export(network, (torch.randn(ROWS, 4),))
    compiled = compile_torch(program)
    compiled.rebind(other.state_dict())
    before = len(made)

    for count in (0, ROWS, 1, 4, 3):
        x = with_count(ROWS, count)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), other(x), **CLOSE, equal_nan=True)
    assert 0 < before == len(made)


def test_what_a_mask_chooses_has_no_number_of_values_that_is_known() -> None:
    def put(x: torch.Tensor) -> torch.Tensor:
        made = x.clone()
        made[x > 0] = torch.arange(3.0)
        return made

    with pytest.raises(GaweeError, match="unsupported index by a mask"):
        compile_torch(Function(put), (torch.randn(2, 3),))


def test_sizes_of_inputs_are_open_too_and_state_is_kept() -> None:
    torch.manual_seed(4)
    network, copy = Layers().eval(), Layers().eval()
    copy.load_state_dict(network.state_dict())
    sizes = ({0: Dim("rows", min=2, max=9)},)
    compiled = compile_torch(network, (torch.randn(ROWS, 4),), dynamic_shapes=sizes)

    for rows, count in ((2, 1), (9, 9), (5, 0)):
        x = with_count(rows, count)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), copy(x), **CLOSE)
    assert network.seen.item() == copy.seen.item() == 10


def test_what_pytorch_runs_is_listed() -> None:
    compiled = compile_torch(Layers().eval(), (torch.randn(ROWS, 4),))

    (left,) = compiled.left
    assert left.op == "aten.nonzero.default"
    line = Layers.forward.__code__.co_firstlineno + 1
    assert left.places == [f"{__file__}:{line}:1"]
    assert re.fullmatch(
        rf"<CompiledTorch 'Layers': 2 parts; PyTorch runs {left.op} \(.*:{line}:1\)>",
        repr(compiled),
    )
    with pytest.raises(GaweeError, match="expected one code, got 2 parts"):
        _ = compiled.native


def test_a_check_that_fails_says_the_line_of_the_op() -> None:
    def few(x: torch.Tensor) -> torch.Tensor:
        index = chosen(x)
        torch._check(index.shape[0] <= 4)
        return x[index] + 1

    compiled = compile_torch(Function(few), (torch.randn(ROWS, 4),))
    line = Function.forward.__code__.co_firstlineno + 1

    with pytest.raises(GaweeError) as error:
        compiled(with_count(ROWS, 5))
    assert str(error.value).splitlines() == [
        f"{__file__}:{line}:1: error: expected u0 <= 4, got u0 = 5",
        "hint: u0 is a size of 'aten.nonzero.default'",
    ]
    with pytest.raises(GaweeError, match="expected input 'x' to be 6x4 float32, got 6x4 float64"):
        compiled(torch.randn(ROWS, 4).double())


def test_all_that_is_not_supported_is_said_at_once() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        rows = torch.special.bessel_j0(x)[x[:, 0] > 0]
        return torch.special.bessel_j1(rows)

    with pytest.raises(GaweeError) as error:
        compile_torch(Function(function), (torch.randn(ROWS, 4),))
    assert re.findall(r"unsupported op '(\S+)'", str(error.value)) == [
        "aten.special_bessel_j0.default",
        "aten.special_bessel_j1.default",
    ]
    with pytest.raises(GaweeError, match=r"'aten\.index\.Tensor': the size of its result"):
        compile_torch(Function(by_mask), (torch.randn(ROWS, 4),), dynamic_batch=True)
