"""Passes that are wrong on purpose, for `--load`: most about strided convolutions of size 1."""

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.dialect.graph.pool import MaxPoolOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


def strided_pointwise(op: ConvOp) -> bool:
    return tensor_shape(op.weight)[2:] == (1, 1) and op.strides.get_values() != (1, 1)


class MaximumOfSkipped(Pattern):
    """gawee.conv 1x1 strides [2, 2] -> gawee.conv 1x1 (gawee.max_pool)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        if not strided_pointwise(op):
            return self.missed(op, "expected a strided convolution of size 1")
        strides = op.strides.get_values()
        pool = MaxPoolOp(op.input, kernel=strides, strides=strides, ceil_mode=True)
        rewriter.replace(op, [pool, ConvOp(pool.output, op.weight, op.bias)])


@dataclass(frozen=True)
class WrongNumbers(RewritePass):
    """Take the maximum of what a stride skips."""

    name = "wrong-numbers"
    patterns = (MaximumOfSkipped,)


class LookUpStride(Pattern):
    """gawee.conv 1x1 strides [2, 2] -> KeyError"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        if strided_pointwise(op):
            raise KeyError("stride")
        return self.missed(op, "expected a strided convolution of size 1")


@dataclass(frozen=True)
class Crash(RewritePass):
    """Crash."""

    name = "crash"
    patterns = (LookUpStride,)


class ForgetStride(Pattern):
    """gawee.conv 1x1 strides [2, 2] -> gawee.conv 1x1, of another type than its reader declares"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp, rewriter: PatternRewriter) -> None:
        if not strided_pointwise(op):
            return self.missed(op, "expected a strided convolution of size 1")
        rewriter.replace(op, ConvOp(op.input, op.weight, op.bias))


@dataclass(frozen=True)
class Invalid(RewritePass):
    """Leave a module that does not verify."""

    name = "leave-invalid"
    patterns = (ForgetStride,)


class FindRelu(Pattern):
    """gawee.relu -> ValueError"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        raise ValueError("relu")


@dataclass(frozen=True)
class CrashOnRelu(RewritePass):
    """Crash on another op."""

    name = "crash-on-relu"
    patterns = (FindRelu,)
