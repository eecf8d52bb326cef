"""The libraries that define the networks, imported when a network of theirs is asked for."""

from functools import cache
from importlib import import_module
from types import ModuleType

import torch

TORCHVISION_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


@cache
def _torchvision_library() -> torch.library.Library:
    """Declare the ops that torchvision wants to see at its import.

    Wheels for graphics cards do not load beside PyTorch for processors; the models need no such op.
    """
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in TORCHVISION_SCHEMAS:
        if not hasattr(torch.ops.torchvision, schema.partition("(")[0]):
            library.define(schema)
    return library


def import_library(name: str) -> ModuleType:
    """Import torchvision, timm or transformers; raises ImportError where it is not installed.

    The others import torchvision themselves where it is installed, so that it has to come first.
    """
    try:
        import_module("torchvision")
    except RuntimeError:  # "operator torchvision::nms does not exist"
        _torchvision_library()
    except ImportError:
        pass
    return import_module(name)
