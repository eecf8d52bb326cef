"""What a reader made of a model of ONNX, compared with what ONNX Runtime computes."""

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.fuzz.oracle import Done, Finding
from gawee_dialect.fuzz.trial import ROUNDING, Arrays, differing, rounding_of
from tests.graph_fuzz.onnx_rounding import moved_by_rounding
from tests.graph_fuzz.onnx_runtime import onnx_runtime, values_read

if TYPE_CHECKING:
    from onnx import ModelProto

NOT_ONNX_RUNTIMES = "not ONNX Runtime's"


def differs(
    proto: "ModelProto", module: ModuleOp, arrays: Arrays, expected: Arrays, done: Done
) -> Finding | None:
    """Return how outputs differ from ONNX Runtime's by more than roundings; None where it has none.

    Outputs that roundings of the module that was read, or its own, explain are counted.
    """
    said = onnx_runtime(proto, arrays)
    if said is None:
        return None
    done["ONNX Runtime"] += 1
    wrong = differing(expected, said)
    if wrong is None:
        return None
    if differing(expected, said, rounding_of(module, arrays)) is None:
        done[ROUNDING] += 1
        return None
    if differing(expected, said, moved_by_rounding(proto, arrays, said)) is None:
        done[f"{ROUNDING} in ONNX Runtime"] += 1
        return None
    if _pools_nan(proto, arrays):
        done["NaN in a pool of ONNX Runtime"] += 1
        return None
    from onnx import printer

    ops = sorted({node.op_type for node in proto.graph.node} - {"Constant"})
    message = f"output {wrong}\n{printer.to_text(proto)}"
    return Finding(NOT_ONNX_RUNTIMES, " ".join(ops), message, has_all_ops=True)


def _pools_nan(proto: "ModelProto", arrays: Arrays) -> bool:
    """Whether a MaxPool reads NaN, of which ONNX Runtime makes any number (docs/found.md)."""
    nodes = [node for node in proto.graph.node if node.op_type == "MaxPool"]
    known = values_read(proto, nodes, arrays) or {}
    return any(np.isnan(known[name]).any() for node in nodes for name in node.input)
