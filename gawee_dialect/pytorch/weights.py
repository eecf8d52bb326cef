"""Weights of a graph, wherever they are."""

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.func import FuncOp
from xdsl.utils.hints import isa

from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.frontends.npu_ir.ir import NPU_IR


def weight_tensors(weights: object, ir: NPU_IR) -> Mapping[str, object]:
    """Return weights by the names of the state_dict: given as a mapping, as a file, or not at all."""
    if weights is None:
        return {}
    if isinstance(weights, str | Path):
        from gawee_dialect.parameters import open_parameters

        # Only folders of raw files ask a function for names, which graphs without files lack.
        nothing = FuncOp.external(MAIN, [], [])
        return open_parameters(weights, nothing)
    assert isa(weights, Mapping[str, object])
    return weights
