"""Error, gamma, zeta and Bessel functions, in float64 from series and polynomials of their own."""

from collections.abc import Callable, Sequence
from math import factorial, inf, log, nan, pi, prod, sqrt

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import (
    AbsOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogOp,
    NegOp,
    SignOp,
    SinOp,
)
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, broadcast_shape
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, LogicalNotOp, WhereOp
from gawee_dialect.dialect.graph.reduction import ReduceAnyOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import (
    add,
    div,
    frac,
    isinf,
    mul,
    pow_tensors,
    rsub,
    sub,
    tan,
    trunc,
)
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.reduction import reduced
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.control_flow import repeated
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    float_element,
    promoted_to_float,
    to_float,
)
from gawee_dialect.frontends.op_mapping.registry import Number

Function = Callable[[Emitter, SSAValue], SSAValue]


def in_f64(function: Function) -> Function:
    """Return the mapping of a function of float64, rounded to the input's element type."""

    def mapping(emit: Emitter, self: SSAValue) -> SSAValue:
        value = to_float(emit, self)
        return emit.cast(function(emit, emit.cast(value, f64)), element_type(value))

    return mapping


def polynomial(emit: Emitter, value: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """Return a polynomial of each element by Horner's rule, the constant coefficient first."""
    *rest, last = coefficients
    result = emit.number(last, element_type(value))
    for each in reversed(rest):
        result = add(emit, mul(emit, result, value), each)
    return result


# fmt: off
ERFC = (
    -0.6717940840566903, 0.6726432239801886, 0.047343306841332665, -0.04689561041928232,
    -0.009872689339502133, 0.008824942684389957, 0.0017589330595699703, -0.002345854174615114,
    -0.00014624206357593267, 0.000673911226469204, -9.376250605111105e-05, -0.00017508763399154428,
    7.150155985697765e-05, 3.3422853694136696e-05, -3.0432773413599897e-05, -2.1643526922863936e-06,
    8.966703359127567e-06, -9.569063754689003e-07, -1.723317659261369e-06, 2.3448464321662754e-07,
    1.6415045186164444e-07,
)
"""log(erfc(x) exp(x^2) / t) as a polynomial of 2t - 1, where t = 2 / (2 + x): within 2e-13."""

# M. Giles, "Approximating the erfinv function", 2010: 1e-7.
ERFINV_CENTRE = (
    1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
    -3.5233877e-06, 3.43273939e-07, 2.81022636e-08,
)
ERFINV_TAIL = (
    2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
    0.00134934322, 0.000100950558, -0.000200214257,
)

# C. Lanczos, "A precision approximation of the gamma function", 1964, with g = 7: 1e-15.
LANCZOS_FIRST = 0.99999999999980993
LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)
# fmt: on

DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""What is subtracted from log(x) - 1 / (2x): a polynomial of 1 / x^2, without its constant."""

SHIFT = 9
"""How far digamma is moved up its recurrence: its series is exact in float64 from there on."""

# fmt: off
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)
# fmt: on
"""Those of even places from 2 on: of them Euler and Maclaurin make a sum of an integral."""

NEAR = 20.0
"""Up to here Bessel functions are their series, further out that of 1 / x: both exact."""

NEAR_TERMS, FAR_TERMS = 48, 28


def tail(emit: Emitter, size: SSAValue, *, scaled: bool = False) -> SSAValue:
    """Return erfc of numbers from zero on; scaled, times the exponential of their squares."""
    t = div(emit, 2.0, add(emit, size, 2.0))
    series = polynomial(emit, sub(emit, mul(emit, t, 2.0), 1.0), ERFC)
    power = series if scaled else sub(emit, series, mul(emit, size, size))
    return mul(emit, t, emit(ExpOp(power)))


@register_op("aten.erfc", "aten.special_erfc")
@in_f64
def erfc(emit: Emitter, self: SSAValue) -> SSAValue:
    """1 - erf(x), exact where that is near zero"""
    above = tail(emit, emit(AbsOp(self)))
    return emit(WhereOp(compared(emit, self, 0.0, "lt"), rsub(emit, above, 2.0), above))


@register_op("aten.special_erfcx")
@in_f64
def erfcx(emit: Emitter, self: SSAValue) -> SSAValue:
    """exp(x^2) * erfc(x), which does not vanish"""
    above = tail(emit, emit(AbsOp(self)), scaled=True)
    doubled = mul(emit, emit(ExpOp(mul(emit, self, self))), 2.0)
    return emit(WhereOp(compared(emit, self, 0.0, "lt"), sub(emit, doubled, above), above))


@register_op("aten.erfinv", "aten.special_erfinv")
@in_f64
def erfinv(emit: Emitter, self: SSAValue) -> SSAValue:
    """The number whose error function is x: a rough one, and three steps of Newton's method

    Far from zero these are for the logarithm of 1 - erf, which is nearly a parabola.
    """
    size = emit(AbsOp(self))
    beyond = rsub(emit, size, 1.0)
    found = _inverse_tail(emit, size, beyond)
    return emit(WhereOp(compared(emit, self, 0.0, "lt"), emit(NegOp(found)), found))


def _inverse_tail(emit: Emitter, size: SSAValue, beyond: SSAValue) -> SSAValue:
    """Return the number from zero on whose error function is `size`, and its erfc `beyond`."""
    w = emit(NegOp(emit(LogOp(mul(emit, beyond, add(emit, size, 1.0))))))
    root = emit(SqrtOp(w))
    near = polynomial(emit, sub(emit, w, 2.5), ERFINV_CENTRE)
    far = polynomial(emit, sub(emit, root, 3.0), ERFINV_TAIL)
    rough = emit(WhereOp(compared(emit, w, 5.0, "lt"), near, far))
    # Further out than the polynomials go.
    rough = emit(WhereOp(compared(emit, w, 30.0, "gt"), root, rough))
    found = mul(emit, rough, size)
    near_zero = compared(emit, size, 0.5, "lt")
    for _ in range(3):
        slope = mul(emit, emit(ExpOp(emit(NegOp(mul(emit, found, found))))), 2 / sqrt(pi))
        above = tail(emit, found)
        further = mul(emit, above, emit(LogOp(div(emit, above, beyond))))
        missing = emit(WhereOp(near_zero, sub(emit, size, emit(ErfOp(found))), further))
        found = add(emit, found, div(emit, missing, slope))
    return emit(WhereOp(compared(emit, beyond, 0.0, "eq"), emit.number(inf, f64), found))


@register_op("aten.special_ndtri")
@in_f64
def ndtri(emit: Emitter, self: SSAValue) -> SSAValue:
    """The number below which a normal distribution has a share x"""
    low = compared(emit, self, 0.5, "lt")
    beyond = mul(emit, emit(WhereOp(low, self, rsub(emit, self, 1.0))), 2.0)
    found = mul(emit, _inverse_tail(emit, rsub(emit, beyond, 1.0), beyond), sqrt(2))
    return emit(WhereOp(low, emit(NegOp(found)), found))


@register_op("aten.lgamma", "aten.special_gammaln")
@in_f64
def lgamma(emit: Emitter, self: SSAValue) -> SSAValue:
    """log(|gamma(x)|), by Lanczos' sum; below 1/2 by that of 1 - x"""
    low = compared(emit, self, 0.5, "lt")
    value = emit(WhereOp(low, rsub(emit, self, 1.0), self))
    total = emit.number(LANCZOS_FIRST, f64)
    for place, each in enumerate(LANCZOS):
        total = add(emit, total, div(emit, each, add(emit, value, float(place))))
    base = add(emit, value, 6.5)
    power = mul(emit, sub(emit, value, 0.5), sub(emit, emit(LogOp(base)), 1.0))
    upper = add(emit, add(emit, power, emit(LogOp(total))), log(2 * pi) / 2 - 7)
    sine = emit(AbsOp(emit(SinOp(mul(emit, frac(emit, self), pi)))))
    lower = sub(emit, log(pi), add(emit, emit(LogOp(sine)), upper))
    # At infinity sums are of infinities: none.
    infinite = emit.number(inf, f64)
    found = emit(WhereOp(low, lower, upper))
    return emit(WhereOp(isinf(emit, self), infinite, found))


@register_op("aten.digamma", "aten.special_digamma", "aten.special_psi")
@in_f64
def digamma(emit: Emitter, self: SSAValue) -> SSAValue:
    """The slope of log(gamma(x)); NaN at -1, -2, ..."""
    low = compared(emit, self, 0.5, "lt")
    value = emit(WhereOp(low, rsub(emit, self, 1.0), self))
    high = add(emit, value, float(SHIFT))
    inverse = div(emit, 1.0, mul(emit, high, high))
    series = mul(emit, inverse, polynomial(emit, inverse, DIGAMMA))
    upper = sub(emit, sub(emit, emit(LogOp(high)), div(emit, 0.5, high)), series)
    for step in range(SHIFT):
        upper = sub(emit, upper, div(emit, 1.0, add(emit, value, float(step))))
    turn = div(emit, pi, tan(emit, mul(emit, frac(emit, self), pi)))
    found = emit(WhereOp(low, sub(emit, upper, turn), upper))
    whole = compared(emit, self, trunc(emit, self), "eq")
    pole = emit(MulOp(emit.cast(whole, f64), emit.cast(compared(emit, self, 0.0, "lt"), f64)))
    found = emit(WhereOp(compared(emit, pole, 0.0, "ne"), emit.number(nan, f64), found))
    infinite = emit(DivOp(emit.number(-1.0, f64), self))  # by the sign of zero
    return emit(WhereOp(compared(emit, self, 0.0, "eq"), infinite, found))


# Sums of powers.


@register_op("aten.special_zeta.default")
def zeta(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The sum of (other + k)^-self over k = 0, 1, ...; infinite at its poles"""
    power, start = promoted_to_float(emit, self, other)
    wide = _zeta(emit, emit.cast(power, f64), emit.cast(start, f64))
    return emit.cast(wide, element_type(power))


@register_op("aten.special_zeta.other_scalar")
def zeta_from(emit: Emitter, self: SSAValue, other: Number) -> SSAValue:
    """The sum of (other + k)^-self over k = 0, 1, ..."""
    return zeta(emit, self, emit.number(other, float_element(element_type(self))))


def _zeta(emit: Emitter, power: SSAValue, start: SSAValue) -> SSAValue:
    """Return Hurwitz' zeta of float64: terms up to 9, and Euler's and Maclaurin's rest."""
    shape = broadcast_shape(tensor_shape(power), tensor_shape(start))
    power, start = emit.broadcast(power, shape), emit.broadcast(start, shape)

    def few(now: Sequence[SSAValue]) -> SSAValue:
        return reduced(emit, ReduceAnyOp, compared(emit, now[0], 9.0, "le"), None)

    def step(now: Sequence[SSAValue]) -> Sequence[SSAValue]:
        low = emit.cast(compared(emit, now[0], 9.0, "le"), f64)
        term = pow_tensors(emit, now[0], emit(NegOp(power)))
        # No product: a term that does not count may be infinite.
        term = emit(WhereOp(compared(emit, low, 0.0, "ne"), term, emit.number(0.0, f64)))
        return emit(AddOp(now[0], low)), emit(AddOp(now[1], term))

    high, total = repeated(emit, few, step, (start, emit.full(shape, 0.0, f64)))
    last = pow_tensors(emit, high, emit(NegOp(power)))
    rest = div(emit, mul(emit, last, high), sub(emit, power, 1.0))
    total = add(emit, add(emit, total, rest), mul(emit, last, 0.5))
    factor, inverse = div(emit, mul(emit, last, power), high), div(emit, 1.0, mul(emit, high, high))
    for place, each in enumerate(BERNOULLI, 1):
        total = add(emit, total, mul(emit, factor, each / factorial(2 * place)))
        rising = mul(emit, add(emit, power, 2.0 * place - 1), add(emit, power, 2.0 * place))
        factor = mul(emit, mul(emit, factor, rising), inverse)
    whole = compared(emit, start, emit(FloorOp(start)), "eq")
    negative = compared(emit, start, 0.0, "le")
    total = emit(WhereOp(emit(BitwiseAndOp(negative, whole)), emit.number(inf, f64), total))
    odd = emit(BitwiseAndOp(negative, emit(LogicalNotOp(whole))))
    broken = emit(BitwiseAndOp(odd, compared(emit, power, emit(FloorOp(power)), "ne")))
    total = emit(WhereOp(broken, emit.number(nan, f64), total))
    total = emit(WhereOp(compared(emit, power, 1.0, "lt"), emit.number(nan, f64), total))
    return emit(WhereOp(compared(emit, power, 1.0, "eq"), emit.number(inf, f64), total))


@register_op("aten.polygamma")
def polygamma(emit: Emitter, n: int, self: SSAValue) -> SSAValue:
    """The n-th derivative of digamma"""
    if n == 0:
        return digamma(emit, self)
    value = to_float(emit, self)
    power = emit.full(tensor_shape(value), float(n + 1), f64)
    wide = emit.cast(value, f64)
    found = mul(emit, _zeta(emit, power, wide), (-1.0) ** (n + 1) * factorial(n))
    found = emit(WhereOp(compared(emit, wide, inf, "eq"), emit.number(0.0, f64), found))
    return emit.cast(found, element_type(value))


# Modified Bessel functions of the first kind.


def _bessel(emit: Emitter, self: SSAValue, order: int, *, scaled: bool) -> SSAValue:
    """Return I of an order of float64; scaled, times exp(-|x|), so that nothing overflows."""
    size = emit(AbsOp(self))
    exp = emit(ExpOp(emit(NegOp(size)) if scaled else size))
    terms = [1 / (factorial(k) * factorial(k + order)) for k in range(NEAR_TERMS)]
    near = polynomial(emit, mul(emit, mul(emit, self, self), 0.25), terms)
    near = near if order == 0 else mul(emit, near, mul(emit, size, 0.5))
    odd = [[(2 * j - 1) ** 2 - 4 * order**2 for j in range(1, k + 1)] for k in range(FAR_TERMS)]
    terms = [prod(each) / (factorial(k) * 8**k) for k, each in enumerate(odd)]
    far = polynomial(emit, div(emit, 1.0, size), terms)
    far = div(emit, far, emit(SqrtOp(mul(emit, size, 2 * pi))))
    if scaled:
        near = mul(emit, near, exp)
    else:
        far = mul(emit, far, exp)
    found = emit(WhereOp(compared(emit, size, NEAR, "le"), near, far))
    infinite = emit.number(0.0 if scaled else inf, f64)
    found = emit(WhereOp(isinf(emit, size), infinite, found))
    return found if order == 0 else mul(emit, found, emit(SignOp(self)))


def _register_bessel(order: int, scaled: bool, *names: str) -> None:
    """Register the mappings of a modified Bessel function."""

    def mapping(emit: Emitter, self: SSAValue) -> SSAValue:
        return _bessel(emit, self, order, scaled=scaled)

    register_op(*names)(in_f64(mapping))


_register_bessel(0, False, "aten.i0", "aten.special_modified_bessel_i0")
_register_bessel(1, False, "aten.special_i1", "aten.special_modified_bessel_i1")
_register_bessel(0, True, "aten.special_i0e")
_register_bessel(1, True, "aten.special_i1e")
