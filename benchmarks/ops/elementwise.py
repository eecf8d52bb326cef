"""Ops that compute every element from those at its own position."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import f16, i32
from xdsl.ir import Operation

from benchmarks.ops.case import Case, Operand
from benchmarks.ops.operands import flags, normal, positive, small_whole, unit
from gawee_dialect.dialect import elementwise as basic
from gawee_dialect.dialect.graph import activation, arithmetic, logic
from gawee_dialect.dialect.graph.cast import BitcastOp, CastOp

PLANES = ((128, 128), (256, 1024), (2048, 1024))

Make = Callable[..., Operand]


def planes(*makes: Make) -> Sequence[Sequence[Operand]]:
    """Return operands of the same shape at each size."""
    return [[make(*shape) for make in makes] for shape in PLANES]


def case(
    name: str, op: Callable[..., Operation], eager: Callable[..., object], *makes: Make
) -> Case:
    """Return an op on planes."""
    return Case(name, op, eager, planes(*makes))


UNARY = [
    case("relu", basic.ReluOp, F.relu, normal),
    case("sqrt", basic.SqrtOp, torch.sqrt, positive),
    case("rsqrt", arithmetic.RsqrtOp, torch.rsqrt, positive),
    case("exp", arithmetic.ExpOp, torch.exp, normal),
    case("log", arithmetic.LogOp, torch.log, positive),
    case("log1p", arithmetic.Log1pOp, torch.log1p, positive),
    case("tanh", arithmetic.TanhOp, torch.tanh, normal),
    case("erf", arithmetic.ErfOp, torch.erf, normal),
    case("sin", arithmetic.SinOp, torch.sin, normal),
    case("cos", arithmetic.CosOp, torch.cos, normal),
    case("neg", arithmetic.NegOp, torch.neg, normal),
    case("abs", arithmetic.AbsOp, torch.abs, normal),
    case("reciprocal", arithmetic.ReciprocalOp, torch.reciprocal, positive),
    case("floor", arithmetic.FloorOp, torch.floor, normal),
    case("ceil", arithmetic.CeilOp, torch.ceil, normal),
    case("round", arithmetic.RoundOp, torch.round, normal),
    case("sign", arithmetic.SignOp, torch.sign, normal),
    case("logical_not", logic.LogicalNotOp, torch.logical_not, flags),
    case("bitwise_not", logic.BitwiseNotOp, torch.bitwise_not, small_whole),
    case("isnan", logic.IsNanOp, torch.isnan, normal),
    case("cast to f16", lambda x: CastOp(x, f16), torch.Tensor.half, normal),
    case("cast to i32", lambda x: CastOp(x, i32), torch.Tensor.int, normal),
    case("bitcast", lambda x: BitcastOp(x, i32), lambda x: x.view(torch.int32).clone(), normal),
]

ACTIVATIONS = [
    case("sigmoid", activation.SigmoidOp, torch.sigmoid, normal),
    case("silu", activation.SiluOp, F.silu, normal),
    case("hard_sigmoid", activation.HardSigmoidOp, F.hardsigmoid, normal),
    case("hard_swish", activation.HardSwishOp, F.hardswish, normal),
    case("softplus", activation.SoftplusOp, F.softplus, normal),
    case("leaky_relu", activation.LeakyReluOp, F.leaky_relu, normal),
    case("elu", activation.EluOp, F.elu, normal),
    case("gelu", activation.GeluOp, F.gelu, normal),
    case(
        "gelu by tanh",
        lambda x: activation.GeluOp(x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
        normal,
    ),
    case(
        "clip",
        lambda x: activation.ClipOp(x, min=-0.5, max=0.5),
        lambda x: x.clamp(-0.5, 0.5),
        normal,
    ),
]

BINARY = [
    case("add", basic.AddOp, torch.add, normal, normal),
    case("sub", basic.SubOp, torch.sub, normal, normal),
    case("mul", basic.MulOp, torch.mul, normal, normal),
    case("div", basic.DivOp, torch.div, normal, positive),
    case("pow", arithmetic.PowOp, torch.pow, positive, unit),
    case("maximum", arithmetic.MaximumOp, torch.maximum, normal, normal),
    case("minimum", arithmetic.MinimumOp, torch.minimum, normal, normal),
    case("remainder", arithmetic.RemainderOp, torch.remainder, normal, positive),
    case("fmod", arithmetic.FmodOp, torch.fmod, normal, positive),
    case("floor_div", arithmetic.FloorDivOp, torch.floor_divide, normal, positive),
    case("atan2", arithmetic.Atan2Op, torch.atan2, normal, normal),
    case("bitwise_and", logic.BitwiseAndOp, torch.bitwise_and, small_whole, small_whole),
    case("bitwise_or", logic.BitwiseOrOp, torch.bitwise_or, small_whole, small_whole),
    case("bitwise_xor", logic.BitwiseXorOp, torch.bitwise_xor, small_whole, small_whole),
    case(
        "compare",
        lambda a, b: logic.CompareOp(a, b, predicate="lt"),
        torch.lt,
        normal,
        normal,
    ),
    case("where", logic.WhereOp, torch.where, flags, normal, normal),
]

CASES: Sequence[Case] = (*UNARY, *ACTIVATIONS, *BINARY)
