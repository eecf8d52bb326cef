"""PyTorch as an oracle of gawee-fuzz: `gawee-fuzz --load tests/graph_fuzz/pytorch_oracle.py`."""

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation

from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)  # a file that is loaded is not imported from its package

from tests.torch_reference import evaluate  # noqa: E402

JUMPS = frozenset(
    "atan2 floor ceil round sign compare floor_div remainder fmod arg_max arg_min sort top_k "
    "bitcast non_max_suppression grid_sample div reciprocal".split()
)
"""Ops at whose jumps a last bit, or the sign of a zero, decides."""


def _jumps(op: Operation) -> bool:
    to_integer = op.name == "gawee.cast" and not isinstance(_element(op), AnyFloat)
    return op.name.removeprefix("gawee.") in JUMPS or to_integer


def _element(op: Operation) -> Attribute | None:
    type = op.results[0].type
    return type.element_type if isa(type, TensorType[Attribute]) else None


class PyTorch(Oracle):
    """What PyTorch computes for a graph without jumps; it has fewer types, and says so."""

    name = "PyTorch"
    share = 0.4

    def outputs(self, module: ModuleOp, arrays: Mapping[str, Array]) -> Mapping[str, Array] | None:
        if any(map(_jumps, module.walk())):
            return None
        try:
            with np.errstate(all="ignore"):
                return evaluate(module, arrays)
        except Exception:  # a type that it has not, or an attribute that it does not know
            return None
