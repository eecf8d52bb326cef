"""Ops on each element."""

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph.activation import (
    ClipOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    LeakyReluOp,
    SiluOp,
)
from gawee_dialect.dialect.graph.arithmetic import FmodOp, RemainderOp, RsqrtOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.logic import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    CompareOp,
)
from gawee_dialect.dialect.graph.movement import IdentityOp
from gawee_dialect.dialect.types import dtype_name, element_type, is_float, tensor_type
from gawee_dialect.frontends.onnx.export.registry import Figures, Nodes, exports
from gawee_dialect.frontends.op_mapping.registry import Refusal

SAME: dict[type[Operation], str] = {
    **{kind: kind.ONNX for kind in ELEMENTWISE if kind.ONNX},
    IdentityOp: "Identity",
}
"""Ops that are the same in ONNX: operands in the same order, no attributes."""

BITWISE: dict[type[Operation], tuple[str, str]] = {
    BitwiseAndOp: ("And", "BitwiseAnd"),
    BitwiseOrOp: ("Or", "BitwiseOr"),
    BitwiseXorOp: ("Xor", "BitwiseXor"),
    BitwiseNotOp: ("Not", "BitwiseNot"),
}
"""What ops on bits are called on booleans, and on other integers."""

ONNX_DTYPES = {
    **{"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7},
    **{"bool": 9, "float16": 10, "float64": 11},
}
"""ONNX's numbers of dtypes."""


@exports(*SAME)
def same(nodes: Nodes, op: Operation) -> None:
    """The op of ONNX that means the same"""
    nodes(SAME[type(op)], list(op.operands), op.results)


@exports(*BITWISE)
def bitwise(nodes: Nodes, op: Operation) -> None:
    """Booleans have ops of their own"""
    of_booleans, of_integers = BITWISE[type(op)]
    name = of_booleans if element_type(op.operands[0]) == i1 else of_integers
    nodes(name, list(op.operands), op.results)


@exports(RemainderOp)
def remainder(nodes: Nodes, op: RemainderOp) -> None:
    """ONNX has the remainder with the divisor's sign of integers only"""
    if is_float(element_type(op.lhs)):
        raise Refusal("cannot be written as ONNX because it is of floats")
    nodes("Mod", [op.lhs, op.rhs], op.results)


@exports(FmodOp)
def fmod(nodes: Nodes, op: FmodOp) -> None:
    """The remainder with the dividend's sign"""
    nodes("Mod", [op.lhs, op.rhs], op.results, fmod=1)


@exports(RsqrtOp)
def rsqrt(nodes: Nodes, op: RsqrtOp) -> None:
    """1 / sqrt(x)"""
    root = nodes("Sqrt", [op.input], tensor_type(op.input))
    nodes("Reciprocal", [root], op.results)


@exports(SiluOp)
def silu(nodes: Nodes, op: SiluOp) -> None:
    """x * sigmoid(x)"""
    gate = nodes("Sigmoid", [op.input], tensor_type(op.input))
    nodes("Mul", [op.input, gate], op.results)


@exports(HardSigmoidOp)
def hard_sigmoid(nodes: Nodes, op: HardSigmoidOp) -> None:
    """x / 6 + 1/2, cut to 0 and 1"""
    nodes("HardSigmoid", [op.input], op.results, alpha=1 / 6, beta=0.5)


@exports(LeakyReluOp)
def leaky_relu(nodes: Nodes, op: LeakyReluOp) -> None:
    """A line with another slope below zero"""
    nodes("LeakyRelu", [op.input], op.results, alpha=op.alpha.value.data)


@exports(EluOp)
def elu(nodes: Nodes, op: EluOp) -> None:
    """alpha * (exp(x) - 1) below zero"""
    nodes("Elu", [op.input], op.results, alpha=op.alpha.value.data)


@exports(GeluOp)
def gelu(nodes: Nodes, op: GeluOp) -> None:
    """x times the normal distribution's integral"""
    nodes("Gelu", [op.input], op.results, approximate=op.approximate.data)


@exports(ClipOp)
def clip(nodes: Nodes, op: ClipOp) -> None:
    """Bounds that are numbers"""
    dtype = dtype_name(element_type(op.input))

    def bound(name: str, value: float | None) -> Figures | None:
        return None if value is None else Figures(name, np.asarray(value, dtype))

    low = bound("min", None if op.min is None else op.min.value.data)
    high = bound("max", None if op.max is None else op.max.value.data)
    nodes("Clip", [op.input, low, high], op.results)


COMPARISONS = {
    **{"eq": "Equal", "lt": "Less", "le": "LessOrEqual"},
    **{"gt": "Greater", "ge": "GreaterOrEqual"},
}
"""ONNX's names of predicates; it has no `ne`."""


@exports(CompareOp)
def compare(nodes: Nodes, op: CompareOp) -> None:
    """A comparison; other than equal is not equal"""
    predicate = op.predicate.data
    if predicate == "ne":
        equal = nodes("Equal", [op.lhs, op.rhs], tensor_type(op.result))
        nodes("Not", [equal], op.results)
    else:
        nodes(COMPARISONS[predicate], [op.lhs, op.rhs], op.results)


@exports(CastOp)
def cast(nodes: Nodes, op: CastOp) -> None:
    """Another element type"""
    nodes("Cast", [op.input], op.results, to=ONNX_DTYPES[dtype_name(element_type(op.result))])
