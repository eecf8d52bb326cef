"""Images in files, decoded with Pillow."""

from importlib import import_module
from io import BytesIO

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.values import Array

MODES = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}
"""Pillow's modes of ONNX's pixel formats."""


@host_op("ImageDecoder")
def image_decoder(encoded_stream: Array, pixel_format: str = "RGB") -> Array:
    """The pixels of an image, height x width x channels of uint8"""
    try:
        image = import_module("PIL.Image")
    except ModuleNotFoundError as error:
        hint = "pip install 'gawee-dialect[image]'"
        raise GaweeError(Diagnostic("cannot decode an image without Pillow", hint=hint)) from error
    decoded = image.open(BytesIO(encoded_stream.tobytes())).convert(MODES[pixel_format])
    pixels = np.asarray(decoded, np.uint8)
    if pixel_format == "BGR":
        return pixels[:, :, ::-1]
    return pixels if pixels.ndim == 3 else pixels[:, :, None]
