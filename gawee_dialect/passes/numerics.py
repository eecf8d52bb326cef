"""What a pass may do to the numbers that a program computes; `--check-each` holds it to that.

class FoldScale(RewritePass):
    numerics: ClassVar[Numerics] = REASSOCIATES
"""

from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Numerics:
    """How far a pass may move an output, such as `exact`, `reassociates`, `approximates(N ulp)`."""

    name: str
    ulp: int | None = None

    def __str__(self) -> str:
        return self.name if self.ulp is None else f"{self.name}({self.ulp} ulp)"


EXACT = Numerics("exact")
"""Every output keeps its bits, but for the sign of a zero and the payload of a NaN.

-0.0 counts as 0.0: IEEE 754 calls them equal, and rewrites such as x + 0 -> x are exact but for it.
"""

REASSOCIATES = Numerics("reassociates")
"""The same sums and products in another order, or with constants folded into each other."""


FOLDS_CONSTANTS = Numerics("folds constants")
"""As `reassociates`; a product of constants is one constant, rounded to the type that holds it.

`--prove-each` finds that rounding by what a pass declares alone: without it, a
constant that is off by one unit in the last place is another number.
"""


def approximates(ulp: int) -> Numerics:
    """Say that every element stays within so many units in the last place of its value."""
    return Numerics("approximates", ulp)


def keeps_special_values(module_pass: ModulePass) -> bool:
    """Return whether a pass declares `special_values = True`, or is one of xDSL's that is exact.

    Then NaN and infinities are among the data of a check, and stay what and where they are.
    """
    known = module_pass.name in XDSL_NUMERICS
    return getattr(module_pass, "special_values", known) is True


XDSL_NUMERICS = {
    "canonicalize": EXACT,
    "control-flow-hoist": EXACT,
    "convert-scf-to-cf": EXACT,
    "cse": EXACT,
    "dce": EXACT,
    "licm": EXACT,
    "loop-hoist-memref": EXACT,
    "lower-affine": EXACT,
    "scf-for-loop-flatten": EXACT,
    "scf-for-loop-range-folding": EXACT,
    "scf-for-loop-unroll": EXACT,
}
"""Passes of xDSL that move, share or delete ops and leave arithmetic on floats as it is."""


def declared_numerics(module_pass: ModulePass) -> Numerics:
    """Return what a pass declares as `numerics`, what is known of xDSL's, else `reassociates`.

    That default lets sums be reordered, as most lowerings of structured ops do, and nothing more.
    """
    declared = getattr(module_pass, "numerics", None)
    if isinstance(declared, Numerics):
        return declared
    return XDSL_NUMERICS.get(module_pass.name, REASSOCIATES)
