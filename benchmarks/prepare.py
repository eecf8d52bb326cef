"""What all engines share: a network's input, PyTorch's output, its FLOPs and its ONNX file."""

import contextlib
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import quantized
from benchmarks.int8_page import PRODUCT
from benchmarks.models import build, count_flops

OPSET = 17


def write_onnx(model: nn.Module, x: Tensor, path: Path) -> str | None:
    """Write a network as ONNX; return why that failed, None where it did not."""
    reasons: list[str] = []
    for dynamo, opset in ((False, OPSET), (True, OPSET + 1)):
        try:
            with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
                torch.onnx.export(
                    model,
                    (x,),
                    str(path),
                    dynamo=dynamo,
                    opset_version=opset,
                    external_data=not dynamo,
                )
        except Exception as error:  # exporters fail in many ways, and the other one may work
            reasons.append(f"{type(error).__name__}: {str(error).strip()[:200]}")
            path.unlink(missing_ok=True)
        else:
            return None
    return "no ONNX file: " + "; ".join(reasons)


def prepare(name: str, folder: Path) -> None:
    """Write the files of a network into a folder; of one in int8, the output is that in f32."""
    network, _, activations = name.partition(":")
    if network == PRODUCT:
        quantized.write_product(name, folder)
        return
    model, x = build(network)
    with torch.inference_mode():
        y = model(x)
    np.save(folder / "x.npy", x.numpy())
    np.save(folder / "y.npy", y.numpy())
    (folder / "flops.txt").write_text(str(count_flops(model, x)))
    file = folder / "model.onnx"
    problem = write_onnx(model, x, file)
    if problem is not None:
        (folder / "onnx_error.txt").write_text(problem)
    elif activations:
        quantized.quantize(name, file.rename(folder / "float.onnx"), file)
