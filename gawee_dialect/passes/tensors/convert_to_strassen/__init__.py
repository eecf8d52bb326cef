"""Compute large products by Strassen's algorithm, where that is faster."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.scan import is_of_one_thread
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.convert_to_strassen.choose import (
    FEWEST,
    SMALLEST_GAIN,
    WIDEST,
    gain,
)
from gawee_dialect.passes.tensors.convert_to_strassen.product import Product, product_of
from gawee_dialect.passes.tensors.convert_to_strassen.quarters import Quarters
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.target.description import Processor
from gawee_dialect.target.machine import MachinePass


@dataclass(eq=False)
class ConvertProduct(Pattern):
    """gawee.kernel (a matrix times weights) -> seven of quarters, and kernels of their sums"""

    processor: Processor
    analysis: ParameterAnalysis = field(default_factory=ParameterAnalysis)
    gains: dict[object, float] = field(default_factory=dict[object, float])
    """What the model says of products of one form: layers of one shape are many."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        found = product_of(op, self.analysis)
        if isinstance(found, str):
            self.missed(op, found)
            return
        misfit = self._misfit(found)
        if misfit is not None:
            self.missed(op, misfit)
            return
        rewriter.replace(op, [], [Quarters(rewriter, found).insert()])

    def _misfit(self, product: Product) -> str | None:
        """Say why a product is better computed as it is written; None where it is not."""
        op, least = product.op, min(product.sizes)
        if least < FEWEST:
            return f"expected {FEWEST} rows, columns and terms or more, got {least}"
        threads = 1 if is_of_one_thread(op) else self.processor.cores
        if threads > 1:
            return f"expected a kernel that one thread runs, got {threads} threads"
        if (bits := self.processor.vector_bits) > WIDEST:
            return f"expected vectors of {WIDEST} bits at most, got {bits}"
        factors = product.matrix, product.weights
        read = tuple((op.inputs[index].type, op.maps[index]) for index in factors)
        key = op.sizes, read, op.target.type, op.maps[-1]
        if key not in self.gains:
            self.gains[key] = gain(product, self.processor)
        if self.gains[key] < SMALLEST_GAIN:
            return "expected fewer cycles than the kernel as it is written, got more"
        return None


@dataclass(frozen=True)
class ConvertToStrassen(MachinePass, RewritePass):
    """Compute large products by Strassen's algorithm, where that is faster.

    One level of Winograd's form: rows, columns and what is summed are halved, and seven products
    of quarters do the work of eight. Four sums of quarters of the matrix come before; those of the
    weights are made once, as `hoist-parameter-computation` moves them into `@prepare`. The sums
    behind are what products start from, but for one. All are kernels, which passes behind this one
    treat as any others. Bias, activation and residual are part of the last one of each quarter.

    An explicit model (`choose.py`) weighs an eighth of the products against reading and writing
    quarters again. Kernels whose loops threads share stay: each would start them 12 times. So do
    all where vectors have 512 bits: little is gained there.

    Sizes are even, all is f32. The bound of the largest error, in the largest elements of both
    factors, is some 4.5 times that of one product. Measured were 1.5 to 3 times, 1e-6 to 4e-6 of
    the largest output. An infinity or a NaN in a row reaches another one.

    rewrite:
        gawee.kernel parallel [128, 256] reduce [192] ins(%a, %w)
        ->
        %s1 = gawee.kernel ins(%a, %a)
        %t2 = gawee.kernel ins(%w, %w)
        %p1 = gawee.kernel parallel [64, 128] reduce [96] ins(%a, %w)
        %u2 = gawee.kernel parallel [64, 128] reduce [96] ins(%s2, %t2, %p1)
        tensor.insert_slice
    """

    name = "convert-to-strassen"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True
    revisits: ClassVar[bool] = False

    def make_patterns(self) -> Sequence[RewritePattern]:
        return [ConvertProduct(self.processor)]
