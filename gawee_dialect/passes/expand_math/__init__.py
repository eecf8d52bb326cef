"""Replace elementary functions by arithmetic, which LLVM can vectorise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, VectorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.hints import isa
from gawee_dialect.passes.expand_math.exponential import exp, exp2, log
from gawee_dialect.passes.expand_math.numbers import Numbers
from gawee_dialect.passes.expand_math.rational import ERF, TANH
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


@dataclass(frozen=True)
class Expansion:
    """How a function is computed on f32, and how far from the exact value the result may be."""

    expand: Callable[[Numbers, SSAValue], SSAValue]
    ulp: float


EXPANSIONS: Mapping[type[Operation], Expansion] = {
    math.ExpOp: Expansion(exp, 1.02),
    math.Exp2Op: Expansion(exp2, 0.9),
    math.LogOp: Expansion(log, 0.95),
    math.TanhOp: Expansion(TANH, 5.5),
    math.ErfOp: Expansion(ERF, 7),
}
"""The functions, each with the largest error in units in the last place over all of f32."""


class ExpandFunction(Pattern):
    """math.exp %x : vector<16xf32>  ->  multiply-adds, a power of two made of its bits"""

    def __init__(self, functions: Sequence[type[Operation]]):
        self.functions = tuple(functions)

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: math.FloatingPointLikeUnaryMathOperation, rewriter: PatternRewriter
    ) -> None:
        if type(op) not in self.functions:
            supported = ", ".join(function.name for function in self.functions)
            return self.missed(op, f"expected one of {supported}")
        type_ = op.operand.type
        element = type_.element_type if isa(type_, VectorType[Attribute]) else type_
        if not isinstance(element, Float16Type | BFloat16Type | Float32Type):
            return self.missed(op, f"expected f16, bf16, f32 or vectors of them, got '{type_}'")
        to = Numbers(rewriter, type_)
        expand = EXPANSIONS[type(op)].expand
        if element == f32:
            result = expand(to, op.operand)
        else:
            wide = to.emit(arith.ExtFOp(op.operand, to.of(f32)))
            result = to.emit(arith.TruncFOp(expand(to, wide), type_))
        rewriter.replace(op, (), (result,))


@dataclass(frozen=True)
class ExpandMath(RewritePass):
    """Replace exp, exp2, log, tanh and erf by arithmetic.

    LLVM calls libm for these, one element at a time. The expansions are branch-free and work on
    vectors as on scalars, so that loops over them are vectorised. Infinities, NaN, zeros and
    denormals give what IEEE 754 and C prescribe. f16 and bf16 are computed as f32; f64 is left to
    libm.

    Largest errors over all of f32, in units in the last place: exp 1.02, exp2 0.9, log 0.95,
    tanh 5.5 and erf 7. The latter two are within 4e-7 of the exact value.

    rewrite:
        %y = math.exp %x : f32
        ->
        %n = math.roundeven %x * log2(e)
        %r = math.fma %n, -ln 2, %x : f32
        %p = a polynomial in %r, by math.fma
        %y = arith.mulf %p, 2^%n : f32
    """

    name = "expand-math"

    functions: tuple[str, ...] = ()
    """The functions to expand, as exp,erf; all where none is named."""

    patterns: ClassVar[tuple[type[Pattern], ...]] = (ExpandFunction,)

    @property
    def numerics(self) -> Numerics:
        """The largest error of any expansion."""
        return approximates(ceil(max(expansion.ulp for expansion in EXPANSIONS.values())))

    def make_patterns(self) -> Sequence[RewritePattern]:
        known = {function.name.removeprefix("math."): function for function in EXPANSIONS}
        for name in self.functions:
            if name not in known:
                raise GaweeError(
                    f"unsupported function '{name}' of expand-math; supported: {', '.join(known)}"
                )
        return [ExpandFunction([known[name] for name in self.functions or known])]
