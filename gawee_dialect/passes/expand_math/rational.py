"""tanh and erf on f32: odd functions that end at 1, as x * P(x^2) / Q(x^2).

The coefficients are minimax fits of the relative error, each rounded to f32 before the next was
fitted. All are positive, so that nothing cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from gawee_dialect.passes.expand_math.numbers import Numbers, from_hex


@dataclass(frozen=True)
class OddRational:
    """x * P(x^2) / Q(x^2) up to `end`, where the quotient rounds to 1 or more."""

    numerator: Sequence[str]
    denominator: Sequence[str]
    end: float

    def __call__(self, to: Numbers, x: SSAValue) -> SSAValue:
        """x, clamped, times one polynomial and divided by the other"""
        x = to.clamp(x, -self.end, self.end)
        square = to.multiply(x, x)
        above = to.polynomial(square, from_hex(*self.numerator))
        below = to.polynomial(square, from_hex(*self.denominator))
        # Rounding may lead beyond 1, which the function never is.
        return to.clamp(to.divide(to.multiply(x, above), below), -1.0, 1.0)


TANH = OddRational(
    ("0x1p+0", "0x1.1213d4p-3", "0x1.ca6a2p-9", "0x1.5a2e0cp-16", "0x1.cbb334p-27"),
    ("0x1p+0", "0x1.de5f38p-2", "0x1.a816bap-6", "0x1.58d07cp-12", "0x1.a2267cp-21"),
    9.3,
)
"""The fit adds 0.4 ulp up to 9.02, from where on tanh rounds to 1."""

ERF = OddRational(
    (
        *("0x1.20dd76p+0", "0x1.654d1p-3", "0x1.9f701ep-5"),
        *("0x1.978c7cp-9", "0x1.204026p-12", "0x1.2b514p-19"),
    ),
    (
        *("0x1p+0", "0x1.f3a8dap-2", "0x1.b8ad46p-4"),
        *("0x1.befedep-7", "0x1.0987c8p-10", "0x1.4ae5dap-15"),
    ),
    4.0,
)
"""The fit adds 0.9 ulp up to 3.925, from where on erf rounds to 1."""
