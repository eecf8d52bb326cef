"""Calls of inverse trigonometric and hyperbolic functions, shifts and choices that NaN loses."""

import torch

from tests.frontends.aten.calls import Call, Draw, case
from tests.frontends.aten.cases_pointwise import FLOATS, unary

# Half of e to these is no infinity; PyTorch's vectors of AVX2 say it is.
_is_exact = torch.cosh(torch.full((16,), 88.9)).isfinite().all()
FAR = (-88.9, 89.1) if _is_exact else (-88.5, 88.6)
UNBOUNDED = (-1e30, -91.5, FAR[0], -1.0, -1e-6, -0.0, 1e-7, 0.3, 1.0, FAR[1], 1e25)
SPECIAL = (float("inf"), -float("inf"), float("nan"))

unary("asin acos atanh arcsin arccos arctanh", low=-1, high=1)


@case(*(f"aten.{name}.default" for name in "atan arctan sinh cosh asinh arcsinh".split()))
def unbounded(d: Draw) -> Call:
    dtype = d.choice(*FLOATS, torch.int32)
    values = torch.tensor([*UNBOUNDED, *SPECIAL], dtype=torch.float64)
    if dtype == torch.int32:
        return Call([d.ints(3, 5)])
    return Call([torch.cat([values, d.floats(5, dtype=torch.float64)]).to(dtype)])


@case("aten.acosh.default", "aten.arccosh.default")
def acosh(d: Draw) -> Call:
    edges = torch.tensor([1.0, 1 + 1e-6, 1e30, 0.5, -1e9, -2.0, *SPECIAL], dtype=torch.float64)
    return Call([torch.cat([edges, d.floats(3, low=1, high=9)]).to(d.choice(*FLOATS))])


@case("aten.fmax.default", "aten.fmin.default")
def fmax(d: Draw) -> Call:
    if d.bool():
        dtype = d.choice(torch.int64, torch.bool)
        return Call([d.tensor(3, 5, dtypes=(dtype,)), d.tensor(5, dtypes=(dtype,))])
    lhs, rhs = d.floats(5, 3), d.floats(3, dtype=d.choice(*FLOATS))
    lhs[1, 1] = lhs[2, 2] = rhs[2] = float("nan")
    return Call([lhs, rhs])


@case("aten.signbit.default")
def signbit(d: Draw) -> Call:
    dtype = d.choice(*FLOATS, torch.float16, torch.int32, torch.uint8, torch.bool)
    if not dtype.is_floating_point:
        return Call([d.tensor(3, 5, dtypes=(dtype,))])
    edges = torch.tensor([0.0, -0.0, *SPECIAL, -torch.nan])
    return Call([torch.cat([edges, d.floats(4)]).to(dtype)])


SHIFTED = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@case(*(f"aten.bitwise_{side}_shift.Tensor" for side in ("left", "right")))
@case("aten.__lshift__.Tensor", "aten.__rshift__.Tensor")
def shift(d: Draw) -> Call:
    dtype = d.choice(*SHIFTED)
    low = 0 if dtype == torch.uint8 else -100
    counts = torch.tensor([0, 1, 5, 6, 7, 8, 9, 30, 31, 32, 62, 63, 64, 100])
    negative = torch.tensor([-1, -70] if dtype != torch.uint8 else [3, 4])
    counts = torch.cat([counts, negative]).to(dtype)
    return Call([d.ints(3, 16, low=low, high=100, dtype=dtype), counts])


@case(*(f"aten.bitwise_{side}_shift.Tensor_Scalar" for side in ("left", "right")))
@case("aten.__lshift__.Scalar", "aten.__rshift__.Scalar")
def shift_by_number(d: Draw) -> Call:
    dtype = d.choice(*SHIFTED)
    low = 0 if dtype == torch.uint8 else -100
    return Call([d.ints(3, 5, low=low, high=100, dtype=dtype), d.choice(0, 1, 3, 7)])


@case(*(f"aten.bitwise_{side}_shift.Scalar_Tensor" for side in ("left", "right")))
def shift_of_number(d: Draw) -> Call:
    return Call([d.choice(-77, 5), d.ints(3, 5, low=-1, high=9, dtype=d.choice(*SHIFTED[:2]))])
