"""Replace elementary functions by arithmetic, which LLVM can vectorise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, VectorType, f32, f64
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.expand_math import logarithms, trigonometric
from gawee_dialect.passes.loops.expand_math.exponential import ERF, TANH, exp, exp2, log, log1p
from gawee_dialect.passes.loops.expand_math.logarithms import DOUBLE_DIGITS, SINGLE_DIGITS, Doubles
from gawee_dialect.passes.loops.expand_math.numbers import Numbers, has_large_quotient, remainder
from gawee_dialect.passes.numerics import Numerics, approximates
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.upstream.arith import RemFOp
from gawee_dialect.upstream.vector import reduction


@dataclass(frozen=True)
class Expansion:
    """How a function is computed, and how far from the exact value the result may be."""

    expand: Callable[..., SSAValue]
    """Takes what writes arithmetic and the operands."""
    ulp: float
    doubles: bool = False
    """Whether a function of f32 is computed on f64 and rounded once."""
    by_libm: Callable[..., SSAValue] | None = None
    """Tells operands that libm has to take."""

    def __call__(self, to: Numbers, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """Write the function's arithmetic for an op of f32, or of the type it is written for."""
        if self.by_libm is None:
            return self._arithmetic(to, operands)
        left = self.by_libm(to, *operands)
        if to.shape is not None:
            left = to.emit(reduction(left, CombiningKindFlag.OR))
        libm, own = Block(), Block()
        copy = type(op).create(
            operands=operands, result_types=[operands[0].type], properties=op.properties
        )
        libm.add_ops((copy, scf.YieldOp(copy.results[0])))
        there = to.within(Builder(InsertPoint.at_end(own)))
        there.builder.insert(scf.YieldOp(self._arithmetic(there, operands)))
        return to.emit(scf.IfOp(left, (operands[0].type,), Region(libm), Region(own)))

    def _arithmetic(self, to: Numbers, operands: Sequence[SSAValue]) -> SSAValue:
        if self.doubles:
            return to.on_doubles(self.expand, *operands)
        return self.expand(to, *operands)


def _doubles(expand: Callable[..., SSAValue]) -> Expansion:
    return Expansion(expand, 0.502, doubles=True)


def _turns(expand: Callable[..., SSAValue]) -> Expansion:
    return Expansion(expand, 1, doubles=True, by_libm=trigonometric.is_large)


_SINGLE, _DOUBLE = Doubles(SINGLE_DIGITS), Doubles(DOUBLE_DIGITS)

EXPANSIONS: Mapping[type[Operation], Expansion] = {
    math.ExpOp: Expansion(exp, 1.02),
    math.Exp2Op: Expansion(exp2, 0.9),
    math.LogOp: Expansion(log, 0.95),
    math.TanhOp: Expansion(TANH, 5.5),
    math.ErfOp: Expansion(ERF, 7),
    math.ExpM1Op: _doubles(_SINGLE.expm1),
    math.Log1pOp: Expansion(log1p, 1),
    math.Log2Op: _doubles(logarithms.log2),
    math.Log10Op: _doubles(logarithms.log10),
    math.SinhOp: _doubles(_SINGLE.sinh),
    math.CoshOp: _doubles(_SINGLE.cosh),
    math.AsinhOp: _doubles(logarithms.asinh),
    math.AcoshOp: _doubles(logarithms.acosh),
    math.AtanhOp: _doubles(logarithms.atanh),
    math.CbrtOp: _doubles(logarithms.cbrt),
    math.PowFOp: Expansion(logarithms.pow, 0.502),
    math.SinOp: _turns(trigonometric.sin),
    math.CosOp: _turns(trigonometric.cos),
    math.TanOp: _turns(trigonometric.tan),
    math.AsinOp: _doubles(trigonometric.asin),
    math.AcosOp: _doubles(trigonometric.acos),
    math.AtanOp: _doubles(trigonometric.atan),
    math.Atan2Op: _doubles(trigonometric.atan2),
    RemFOp: Expansion(remainder, 0, doubles=True, by_libm=has_large_quotient),
}
"""Functions of f32, each with the largest error in units in the last place over all of f32."""

EXPANSIONS_OF_F64: Mapping[type[Operation], Expansion] = {
    math.ExpOp: Expansion(_DOUBLE.exp, 1),
    math.ExpM1Op: Expansion(_DOUBLE.expm1, 2),
    math.LogOp: Expansion(_DOUBLE.log, 1),
    math.Log1pOp: Expansion(_DOUBLE.log1p, 2),
    math.TanhOp: Expansion(_DOUBLE.tanh, 2),
}
"""Functions of f64, each with the largest error in units in the last place over dense samples."""

FUNCTIONS = {function.name.rpartition(".")[2]: function for function in EXPANSIONS}


class ExpandFunction(Pattern):
    """math.exp %x : vector<16xf32>  ->  multiply-adds, a power of two made of its bits"""

    def __init__(self, functions: Sequence[type[Operation]]):
        self.functions = tuple(functions)

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self,
        op: math.FloatingPointLikeUnaryMathOperation
        | math.FloatingPointLikeBinaryMathOperation
        | RemFOp,
        rewriter: PatternRewriter,
    ) -> None:
        if type(op) not in self.functions:
            supported = ", ".join(function.name for function in self.functions)
            return self.missed(op, f"expected one of {supported}")
        type_ = op.result.type
        element = type_.element_type if isa(type_, VectorType[Attribute]) else type_
        if element == f64 and type(op) in EXPANSIONS_OF_F64:
            to = Numbers(rewriter, type_, f64)
            result = EXPANSIONS_OF_F64[type(op)](to, op, op.operands)
        elif isinstance(element, Float16Type | BFloat16Type | Float32Type):
            result = self._on_singles(Numbers(rewriter, type_), op)
        else:
            return self.missed(op, f"expected f16, bf16, f32 or vectors of them, got '{type_}'")
        rewriter.replace(op, (), (result,))

    def _on_singles(self, to: Numbers, op: Operation) -> SSAValue:
        type_, single = op.results[0].type, to.of(f32)
        expand = EXPANSIONS[type(op)]
        if type_ == single:
            return expand(to, op, op.operands)
        wide = [to.emit(arith.ExtFOp(operand, single)) for operand in op.operands]
        return to.emit(arith.TruncFOp(expand(to, op, wide), type_))


@dataclass(frozen=True)
class ExpandMath(RewritePass):
    """Replace elementary functions by arithmetic.

    LLVM calls libm for these, one element at a time. The expansions work on vectors as on scalars,
    and have no branch but two: where the angle in some lane is beyond 2^30, sin, cos and tan of
    all lanes are left to libm, and remainders where a quotient is beyond 2^52. Infinities, NaN,
    zeros and denormals give what IEEE 754 and C prescribe. f16 and bf16 are computed as f32.

    Largest errors over all of f32, in units in the last place: exp 1.02, exp2 0.9, log 0.95, log1p
    1, tanh 5.5 and erf 7, of which the latter two are within 4e-7 of the exact value; all others
    are computed on f64 and within 0.502, or within what libm gives where it takes an angle;
    remainders are exact. Of f64 exp and log are within 1, expm1, log1p and tanh within 2; its other
    functions are left to libm.

    rewrite:
        %y = math.exp %x : f32
        ->
        %n = math.roundeven %x * log2(e)
        %r = math.fma %n, -ln 2, %x : f32
        %p = a polynomial in %r, by math.fma
        %y = arith.mulf %p, 2^%n : f32
    """

    name = "expand-math"
    takes_open_sizes: ClassVar[bool] = True

    functions: tuple[str, ...] = ()
    """The functions to expand, as exp,erf; all where none is named."""

    patterns: ClassVar[tuple[type[Pattern], ...]] = (ExpandFunction,)
    revisits: ClassVar[bool] = False  # what is left to libm stays

    @property
    def numerics(self) -> Numerics:
        """The largest error of any expansion."""
        return approximates(ceil(max(expansion.ulp for expansion in EXPANSIONS.values())))

    def make_patterns(self) -> Sequence[RewritePattern]:
        for name in self.functions:
            if name not in FUNCTIONS:
                raise GaweeError(
                    f"unsupported function '{name}' of expand-math; "
                    f"supported: {', '.join(FUNCTIONS)}"
                )
        return [ExpandFunction([FUNCTIONS[name] for name in self.functions or FUNCTIONS])]
