"""Complex numbers and Fourier transforms inside of models, against PyTorch."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from torch import nn

from gawee_dialect import extract_ir, verify_ir
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.pytorch import compile_torch
from gawee_dialect.pytorch.execute import execute_ir, ir_model
from gawee_dialect.tools import gawee_run

pytestmark = pytest.mark.usefixtures("unoptimized")

# A transform by a product has other sums than a fast one: relative to the largest result.
RTOL = 1e-5


class Spectrogram(nn.Module):
    window: torch.Tensor

    def __init__(self, size: int, hop: int) -> None:
        super().__init__()
        self.hop = hop
        self.register_buffer("window", torch.hann_window(size))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        size = self.window.shape[0]
        made = torch.stft(x, size, self.hop, window=self.window, return_complex=True)
        return made.abs(), torch.view_as_real(made)


class SpectralConvolution(nn.Module):
    """The layer of a Fourier neural operator: the lowest frequencies, mixed by weights."""

    def __init__(self, channels: int, modes: int) -> None:
        super().__init__()
        self.channels, self.modes = channels, modes
        self.weight = nn.Parameter(torch.randn(3, channels, modes, modes, 2) / 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, _, height, width = x.shape
        low = torch.fft.rfft2(x)[..., : self.modes, : self.modes]
        mixed = torch.zeros(batch, self.channels, height, width // 2 + 1, dtype=torch.cfloat)
        weight = torch.view_as_complex(self.weight)
        mixed[..., : self.modes, : self.modes] = torch.einsum("bixy,ioxy->boxy", low, weight)
        return torch.fft.irfft2(mixed, s=(height, width))


class Calculation(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, b = torch.view_as_complex(x), torch.view_as_complex(y)
        c = (a * b + a / b - 2 * a) * x[..., 0] + b.conj() + 1.5 - x[..., 1]
        d = torch.cat([c, a.mT.mT], 1).sum(1) / y[0, 0, 0]
        return torch.view_as_real(c), c.real * c.imag, d.angle(), torch.complex(x, y).abs()


class Transforms(nn.Module):
    def __init__(self, norm: str) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        whole = torch.fft.fft(x, dim=0, norm=self.norm)
        back = torch.fft.ifft2(whole, norm=self.norm)
        return (
            torch.view_as_real(whole),
            back.abs(),
            torch.fft.irfft(torch.fft.rfft(x, norm=self.norm), n=6, norm=self.norm),
        )


class Rotation(nn.Module):
    """Rotary positions as a table of complex numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frequencies = torch.outer(torch.arange(x.shape[1]), 100.0 ** -torch.arange(0, 1, 0.25))
        table = torch.polar(torch.ones_like(frequencies), frequencies)[:, None]
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * table).flatten(3)


class BesideOthers(nn.Module):
    """Complex numbers of two columns beside integers, truth values and other floats of two."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        a, steps, positive = torch.view_as_complex(x), torch.arange(1, 3), y[..., 0] > 0
        made = [a * steps, steps - a, a / steps, steps / a, a + positive, a * y[0, 0, 0].double()]
        made += [a * y[..., 0].double(), (a / 4).exp(), a.reciprocal(), y[..., 0].to(a.dtype) * a]
        return [torch.view_as_real(each) for each in made]


MODELS: dict[str, tuple[Callable[[], nn.Module], list[tuple[int, ...]]]] = {
    "spectrogram": (lambda: Spectrogram(60, 17), [(3, 301)]),
    "spectrogram of odd frames": (lambda: Spectrogram(33, 8), [(1, 129)]),
    "spectral convolution": (lambda: SpectralConvolution(5, 4), [(2, 3, 15, 18)]),
    "spectral convolution of odd sizes": (lambda: SpectralConvolution(2, 3), [(1, 3, 9, 11)]),
    "arithmetic": (Calculation, [(3, 5, 2), (3, 5, 2)]),
    "rotation": (Rotation, [(2, 5, 3, 8)]),
    "beside others": (BesideOthers, [(3, 2, 2), (3, 2, 2)]),
    "transforms": (lambda: Transforms("backward"), [(3, 7)]),
    "transforms by the root": (lambda: Transforms("ortho"), [(5, 4, 9)]),
    "transforms divided forward": (lambda: Transforms("forward"), [(5, 9)]),
}


def made(name: str) -> tuple[nn.Module, list[torch.Tensor], list[torch.Tensor]]:
    torch.manual_seed(5)
    make, shapes = MODELS[name]
    model, inputs = make().eval(), [torch.randn(shape) for shape in shapes]
    with torch.no_grad():
        results = model(*inputs)
    return model, inputs, [results] if isinstance(results, torch.Tensor) else list(results)


def assert_close(found: Sequence[object], expected: list[torch.Tensor]) -> None:
    for got, want in zip(found, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=RTOL, atol=RTOL * want.abs().max().item())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_what_it_does_in_pytorch(name: str) -> None:
    model, inputs, expected = made(name)
    compiled = compile_torch(model, inputs)

    found = compiled(*inputs)

    assert_close(list(found) if isinstance(found, tuple) else [found], expected)
    arrays = {
        meta.name: each.numpy() for meta, each in zip(compiled.ir.graph_inputs, inputs, strict=True)
    }
    interpreted = ir_model(compiled.ir, model.state_dict()).run(arrays).values()
    assert_close([torch.from_numpy(each) for each in interpreted], expected)


class Function(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def complexes(*shape: int, dtype: torch.dtype = torch.cfloat) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype)


EDGES = torch.tensor([0, 1, -1, 1j, -1j, -2 - 0j, 3 + 0j], dtype=torch.cfloat)

FUNCTIONS: dict[str, Callable[..., object]] = {
    **{
        name: getattr(torch, name)
        for name in "sqrt sin cos tanh sigmoid sinh cosh exp sgn abs angle square".split()
    },
    "log": lambda a: torch.log(a[:-7]),
    "reciprocal": lambda a: a[:-7].reciprocal(),
    "numbers": lambda a: (
        a * 2j,
        a + (1 + 2j),
        1j - a,
        a / (1 + 1j),
        (1 + 1j) / a[:-7],
        a.real * 1j,
    ),
    "turned": lambda a: (torch.exp(1j * a.real), a.real + 2j, a.clone().mul_(2j)),
    "powers": lambda a: (a**2, a**3, a[:-7] ** 0.5, a[:-7] ** -1, a[:-7] ** (1 + 1j), 2**a, a**0),
    "equal": lambda a: (a == a.flip(0), a != a.flip(0), a == 1, a == a.clone()),
    "chosen": lambda a: (torch.where(a.real > 0, a, 2.0), a.masked_fill(a.imag > 0, 2j)),
    "padded": lambda a: (nn.functional.pad(a, (1, 2), value=1.0), a.new_ones(2), a.new_zeros(1)),
    "filled": lambda a: (torch.ones_like(a), torch.full_like(a, 3j), torch.full((2,), 1j)),
    "norms": lambda a: (a.norm(), torch.linalg.vector_norm(a, 1), a.cumsum(0), a.mean()),
    "products": lambda a: (a @ a, torch.vdot(a, a), torch.outer(a, a), torch.kron(a, a)),
    "linear": lambda a: nn.functional.linear(a[:12].view(3, 4), a[:20].view(5, 4), a[:5]),
    "convolution": lambda a: nn.functional.conv1d(a[:16].view(1, 2, 8), a[:12].view(2, 2, 3)),
    "systems": lambda a: (
        torch.linalg.inv(a[:8].view(2, 2, 2)),
        torch.linalg.solve(a[:4].view(2, 2), a[4:8].view(2, 2)),
        torch.linalg.solve(a[:4].view(2, 2), a[4:6]),
    ),
    "conjugates": lambda a: (a.conj(), a[:12].view(3, 4).H, a.conj().imag),
    "kinds": lambda a: (torch.isnan(a), torch.isfinite(a / a), torch.isinf(a)),
    "constant": lambda a: a[:3] * torch.tensor([1j, 2, 3 + 1j]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_complex_tensors(name: str, tmp_path: Path) -> None:
    torch.manual_seed(7)
    model, x = Function(FUNCTIONS[name]).eval(), torch.cat([complexes(23) * 2, EDGES])
    expected = model(x)
    wanted = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    compiled = compile_torch(model, (x,))

    for found in (compiled.run((x,)), execute_ir(compiled.ir, [x], engine="interpreter")):
        torch.testing.assert_close(list(found), wanted, rtol=2e-5, atol=2e-5, equal_nan=True)
    torch.testing.assert_close(list(execute_ir(compiled.ir, [x], engine="aten")), wanted)
    compiled.ir.save(tmp_path / "ir.json")
    assert NPU_IR.load(tmp_path / "ir.json") == compiled.ir


class Held(nn.Module):
    """Complex weights, a complex table, and a complex state that calls change."""

    table: torch.Tensor
    state: torch.Tensor

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(complexes(3, 5, dtype=dtype))
        self.register_buffer("table", complexes(5, dtype=dtype))
        self.register_buffer("state", complexes(3, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state = self.state * 0.5j + self.weight @ (x * self.table)
        return self.state.clone()


@pytest.mark.parametrize("dtype", [torch.cfloat, torch.cdouble])
def test_weights_and_state_may_be_complex(dtype: torch.dtype) -> None:
    torch.manual_seed(8)
    model, x = Held(dtype).eval(), complexes(5, dtype=dtype)
    eager = copy.deepcopy(model)
    compiled = compile_torch(model, (x,))

    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(compiled(x), eager(x))
        torch.testing.assert_close(model.state, eager.state)
        eager.weight.mul_(1j)
        compiled.rebind(eager.state_dict())
        torch.testing.assert_close(compiled(x), eager(x))


def test_files_have_complex_weights_and_inputs(tmp_path: Path) -> None:
    torch.manual_seed(8)
    x, model = complexes(5), nn.Linear(5, 3, dtype=torch.cfloat).eval()
    ir = extract_ir(model, (x,), strict=False)
    assert verify_ir(ir, model.state_dict(), model, (x,))[0]
    ir.save(tmp_path / "ir.json")
    torch.save(model.state_dict(), tmp_path / "w.pt")
    given: dict[str, Any] = {ir.graph_inputs[0].name: x.numpy()}
    np.savez(tmp_path / "in.npz", **given)
    files = ("--weights", str(tmp_path / "w.pt"), "--inputs", str(tmp_path / "in.npz"))

    assert gawee_run.main([str(tmp_path / "ir.json"), *files, "--verify"]) == 0


def test_a_conjugate_goes_from_one_part_to_another() -> None:
    class Cut(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            left = torch.asin((x @ x).conj())
            return (left @ left).conj() @ x

    torch.manual_seed(9)
    x = complexes(40, 40) / 20
    fast = torch.compile(Cut(), backend="gawee")
    with torch.no_grad():
        torch.testing.assert_close(fast(x), Cut()(x), rtol=1e-4, atol=1e-5)


REFUSED = {
    "'aten.tan.default' node unsupported on complex numbers": (
        lambda x: torch.fft.rfft(x).tan().abs()
    ),
    "unsupported Fourier transform of length 5000; supported: up to 4096": (
        lambda x: torch.fft.rfft(x, n=5000).abs()
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_supported_is_said(message: str) -> None:
    with pytest.raises(GaweeError) as raised:
        compile_torch(Function(REFUSED[message]).eval(), (torch.randn(3, 7),))

    assert message in str(raised.value)
    assert "test_complex_numbers.py:" in str(raised.value)
