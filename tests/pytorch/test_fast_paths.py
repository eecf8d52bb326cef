"""What PyTorch's fast paths put into graphs of torch.compile, against eager."""

from collections.abc import Sequence
from copy import deepcopy

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor, nn

from gawee_dialect.pytorch import gawee_backend
from tests.closeness import Tolerances

pytestmark = pytest.mark.usefixtures("unoptimized")

# Sums of some dozen products in float32, in another order.
CLOSE = Tolerances(rtol=1e-4, atol=1e-5)


class Calls(nn.Module):
    """A module called with arguments by name too."""

    def __init__(self, module: nn.Module, *names: str, **options: object) -> None:
        super().__init__()
        self.module = module
        self.names, self.options = names, options

    def forward(self, *inputs: Tensor) -> object:
        first = len(inputs) - len(self.names)
        named = dict(zip(self.names, inputs[first:], strict=True))
        return self.module(*inputs[:first], **named, **self.options)


def layer(*, norm_first: bool = False, activation: str = "relu") -> nn.Module:
    torch.manual_seed(3)
    return nn.TransformerEncoderLayer(
        12, 4, 20, batch_first=True, norm_first=norm_first, activation=activation
    ).eval()


X = torch.randn(3, 7, 12, generator=torch.Generator().manual_seed(1))
CAUSAL = nn.Transformer.generate_square_subsequent_mask(7)
PADDING = torch.arange(7) >= torch.tensor([[5], [7], [1]])
SELF = nn.MultiheadAttention(12, 4, batch_first=True)

CASES: dict[str, tuple[nn.Module, Sequence[Tensor]]] = {
    "an encoder layer": (layer(), [X]),
    "an encoder layer that normalizes first": (layer(norm_first=True, activation="gelu"), [X]),
    "a mask of queries and keys": (Calls(layer(), "src_mask"), [X, CAUSAL]),
    "a mask of the batch": (Calls(layer(), "src_key_padding_mask"), [X, PADDING]),
    "both masks": (Calls(layer(), "src_mask", "src_key_padding_mask"), [X, CAUSAL < 0, PADDING]),
    "attention with its weights": (Calls(SELF.eval()), [X, X, X]),
    "an LSTM": (nn.LSTM(12, 5, 2, batch_first=True, bidirectional=True), [X]),
    "an LSTM without biases": (nn.LSTM(12, 5, bias=False), [X]),
    "a batch norm that trains": (nn.Sequential(nn.Conv1d(7, 5, 3), nn.BatchNorm1d(5)), [X]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_module_of_a_fast_path_is_compiled_whole(name: str, compilations: list[object]) -> None:
    torch._dynamo.reset()
    module, inputs = CASES[name]
    eager = deepcopy(module)
    compiled = torch.compile(module, backend=gawee_backend, fullgraph=True)

    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        for _ in range(2):
            torch.testing.assert_close(compiled(*inputs), eager(*inputs), **CLOSE)

    assert len(compilations) == 1
    torch.testing.assert_close(module.state_dict(), eager.state_dict(), **CLOSE)
