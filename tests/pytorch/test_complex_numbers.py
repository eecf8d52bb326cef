"""Complex numbers and Fourier transforms inside of models, against PyTorch."""

from collections.abc import Callable, Sequence

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.pytorch import compile_torch
from gawee_dialect.pytorch.execute import ir_model

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
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


REFUSED = {
    "graph output '_fft_r2c': unsupported dtype 'complex64' outside of a graph": torch.fft.rfft,
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
    assert "test_complex_numbers.py:" in str(raised.value) or "graph output" in message


def test_a_complex_input_is_refused() -> None:
    with pytest.raises(GaweeError, match="unsupported dtype 'complex64' outside of a graph"):
        compile_torch(Function(torch.abs).eval(), (torch.randn(3, 7, dtype=torch.cfloat),))
