"""Random weights with which a network's output depends on its input, and on all of its branches."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

CALIBRATION_BATCH = 16
"""Images that normalisations see: after 4, rounding decides what efficientnet_v2_s computes."""


def settle(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Spread weights that start as one number, then let normalisations see what they normalise."""
    with torch.no_grad():
        for name, weight in [*model.named_parameters(), *model.named_buffers()]:
            if weight.is_floating_point() and weight.numel() > 1 and _is_constant(weight):
                _spread(name.rpartition(".")[2], weight)
        _calibrate(model, inputs)


def _is_constant(weight: Tensor) -> bool:
    mean = weight.float().mean().abs()
    return bool(weight.float().std() <= 1e-4 * (1 + mean))


def _spread(name: str, weight: Tensor) -> None:
    """Fill a weight: scales of zero or 1e-6, as some networks start with, hide whole branches."""
    if name in ("running_mean", "bias"):
        weight.copy_(torch.randn_like(weight) * 0.1)
    elif weight.ndim > 1 and weight.mean() == 0:
        weight.copy_(torch.randn_like(weight) * 0.05)
    else:
        weight.copy_(torch.rand_like(weight) + 0.5)


def _calibrate(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Give batch normalisations the statistics of random inputs, so that no signal dies away."""
    norms = [each for each in model.modules() if isinstance(each, _BatchNorm)]
    if not norms or not all(each.is_floating_point() for each in inputs):
        return
    momenta = [each.momentum for each in norms]
    for norm in norms:
        norm.train()
        norm.momentum = 1.0
    model(*(torch.randn(CALIBRATION_BATCH, *each.shape[1:]) for each in inputs))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.eval()
        norm.momentum = momentum
