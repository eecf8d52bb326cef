"""Calls of error, gamma, zeta and Bessel functions."""

import torch

from tests.frontends.aten.calls import Call, Draw, case
from tests.frontends.aten.cases_trigonometry import SPECIAL

# What PyTorch itself is away from the exact values, in the element type of the call.
CLOSE = {torch.float64: (1e-10, 1e-12), torch.float32: (5e-6, 1e-6)}


def at(d: Draw, edges: tuple[float, ...], low: float, high: float) -> Call:
    """Some numbers and all of the edges, in one of the element types; now and then integers."""
    if d.random.random() < 0.2:
        return Call([d.ints(3, 5, low=int(low), high=int(high))])
    dtype = d.choice(torch.float32, torch.float64)
    drawn = d.floats(9, low=low, high=high, dtype=torch.float64)
    values = torch.cat([torch.tensor(edges, dtype=torch.float64), drawn]).to(dtype)
    rtol, atol = CLOSE[dtype]
    return Call([values], rtol=rtol, atol=atol)


@case("aten.erfc.default", "aten.special_erfc.default")
def erfc(d: Draw) -> Call:
    call = at(d, (*SPECIAL, -9.5, -0.0, 1e-9, 3.5, 8.5, 25.5), -4, 5)
    call.atol = 1e-30  # what is near zero is exact too
    return call


@case("aten.special_erfcx.default")
def erfcx(d: Draw) -> Call:
    return at(d, (*SPECIAL, -0.0, 1e-9, 3.5, 25.5, 1e10), -4, 5)


@case("aten.erfinv.default", "aten.special_erfinv.default")
def erfinv(d: Draw) -> Call:
    return at(d, (-1.0, 1.0, -1.5, 1e-12, 0.0, 0.999999, -1 + 1e-11, float("nan")), -1, 1)


@case("aten.lgamma.default", "aten.special_gammaln.default")
def lgamma(d: Draw) -> Call:
    return at(d, (*SPECIAL, 0.0, 1.0, 2.0, 1.75, -1.0, -2.5, -30.25, 171.5, 1e5, 1e30), -6, 9)


@case("aten.digamma.default", "aten.special_digamma.default", "aten.special_psi.default")
def digamma(d: Draw) -> Call:
    return at(d, (0.0, -0.0, 1.0, 0.5, -1.0, -2.5, -30.25, 1e5, 1e30, float("nan")), -6, 9)


@case("aten.special_ndtri.default")
def ndtri(d: Draw) -> Call:
    call = at(d, (0.0, 1.0, -0.5, 1e-12, 1e-37, 0.5, 0.999999, float("nan")), 0, 1)
    call.atol = 1e-10  # of a half it is near zero
    return call


BESSEL = (0.0, -0.0, 19.9, 20.1, -20.1, 80.5, 1e-9, float("nan"))


@case("aten.i0.default", "aten.special_modified_bessel_i0.default", "aten.special_i0e.default")
@case("aten.special_i1.default", "aten.special_modified_bessel_i1.default")
@case("aten.special_i1e.default")
def bessel(d: Draw) -> Call:
    return at(d, BESSEL, -9, 9)


@case("aten.polygamma.default")
def polygamma(d: Draw) -> Call:
    order = d.int(0, 4)
    call = at(d, (0.1, 1.0, 2.5, 9.0, 30.25, 1e5, float("nan")), 1, 9)
    # PyTorch's own trigamma has fewer digits.
    return Call([order, *call.args], rtol=1e-5 if order == 1 else call.rtol)


@case("aten.special_zeta.default")
def zeta(d: Draw) -> Call:
    dtype = d.choice(torch.float32, torch.float64)
    start = torch.tensor([1.0, 0.5, 9.0, 30.25, -3.0, -0.5, 0.0, 1e5], dtype=dtype)
    power = torch.cat([torch.tensor([1.0, 0.5, 2.5, 4.0]), d.floats(3, low=1, high=12)])
    return Call([power.to(dtype).reshape(7, 1), start], rtol=5e-6, atol=0)


@case("aten.special_zeta.other_scalar")
def zeta_from(d: Draw) -> Call:
    return Call([d.floats(5, low=1.5, high=9), d.choice(0.5, 1.0, 12.25)], rtol=5e-6)
