"""One equation as structured ops: each reduction is one, and what stands around it another."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.types import computed_type
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Expression,
    Reduction,
    Unary,
    Wildcard,
    named_ranges,
    names_in,
    operands,
)
from gawee_dialect.passes.graph.lower_to_linalg.combining import (
    ALL,
    ANY,
    MAXIMUM,
    MINIMUM,
    PRODUCT,
    SUM,
    Combiner,
)
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import Body, Context, is_as_stored
from gawee_dialect.passes.graph.lower_to_linalg.equations.reads import Reads
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import filled

_COMBINERS = {
    "sum": SUM,
    "prod": PRODUCT,
    "max": MAXIMUM,
    "min": MINIMUM,
    "any": ANY,
    "all": ALL,
}


@dataclass
class EquationBuilder:
    """Builds the ops of one equation."""

    context: Context
    builder: Builder
    element: Attribute | None = None
    """What elements are stored as, where that is another type than the equation's."""

    def result(self) -> SSAValue:
        """Compute all elements that the equation defines, but for those of fixed indices."""
        equation = self.context.equation
        indices = [each for each in equation.indices if each not in self.context.fixed]
        own = self.context.instance.tensors[equation.definition.tensor].element
        element = self.element or own
        value = equation.definition.value
        if isinstance(value, Reduction) and self.stored_type(value) == element:
            if set(indices) == self.depends(value, set(indices)):
                return self.reduce(value, indices, None)
        rest = self.split_sum(value, indices, element)
        if rest is not None:
            total, added = rest
            init = self.elementwise(added, indices, element)
            return self.reduce(total, indices, init)
        return self.elementwise(value, indices, element)

    def split_sum(
        self, value: Expression, indices: Sequence[str], element: Attribute
    ) -> tuple[Reduction, Expression] | None:
        """Return a sum and what is added to it, which the sum can start from."""
        if not isinstance(value, Binary) or value.operator != "+":
            return None
        for total, added in ((value.lhs, value.rhs), (value.rhs, value.lhs)):
            if not isinstance(total, Reduction) or total.kind != "sum":
                continue
            types = {self.stored_type(total), self.stored_type(value), element}
            if len(types) == 1 and isinstance(added, Access):
                if set(indices) == self.depends(total, set(indices)):
                    return total, added
        return None

    def stored_type(self, node: Expression) -> Attribute:
        """Return the type of an expression as a tensor holds it."""
        return computed_type(self.context.instance.typing.strong(self.context.type(node)))

    def depends(self, node: Expression, indices: set[str]) -> set[str]:
        return names_in(node) & indices

    def elementwise(self, node: Expression, indices: Sequence[str], element: Attribute) -> SSAValue:
        """Compute an expression at every point of some indices."""
        found = Reads(self.context, self.builder, indices)
        self.collect(node, found)
        found.cover(indices)
        type = TensorType(element, found.bounds)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            as_stored = is_as_stored(node, self.context.instance.typing)
            made = Body(self.context, scalars, indices, args, found.by_node, as_stored)
            return made.converted(made.value(node), element)

        return generic(self.builder, type, found.operands, body)

    def reduce(self, node: Reduction, indices: Sequence[str], init: SSAValue | None) -> SSAValue:
        """Compute a reduction at every point of some indices, from its neutral number or `init`."""
        reduced = [each.index for each in named_ranges(node.ranges)]
        loops = [*indices, *reduced]
        found = Reads(self.context, self.builder, loops)
        self.collect(node.term, found, node.kind)
        if node.condition is not None:
            self.collect(node.condition, found)
        found.cover(indices)
        element = self.stored_type(node)
        combiner = _COMBINERS[node.kind]
        if init is None:
            type = TensorType(element, found.bounds[: len(indices)])
            init = filled(self.builder, combiner.neutral(self.builder, element), type)

        def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
            made = Body(self.context, scalars, loops, args, found.by_node)
            term = made.converted(made.value(node.term), element)
            term = counted(made, node, term, combiner)
            return combiner.combine(scalars, args[-1], term)

        return reduction(self.builder, init, found.operands, body, num_reduced=len(reduced))

    def collect(self, node: Expression, found: Reads, kind: str | None = None) -> None:
        """Find how an expression is read; `kind` is the reduction whose whole term it is.

        What reads 0 outside adds nothing to a sum, nor as a factor of a "product" in one, and the
        lowest number nothing to a maximum.
        """
        if isinstance(node, Reduction):
            order = [each for each in found.loops if each in names_in(node)]
            found.tensor(node, self.reduce(node, order, None), order)
            return
        if isinstance(node, Access):
            found.access(node, self.neutral(node, kind), evenly=kind == "product")
            for each in node.subscripts:
                if not isinstance(each, Wildcard) and found.affine(each) is None:
                    self.collect(each, found)
            if node.otherwise is not None:
                self.collect(node.otherwise, found)
            return
        inner: str | None = None
        if kind in ("sum", "product") and isinstance(node, Binary) and node.operator == "*":
            inner = "product"
        elif kind in ("sum", "product") and isinstance(node, Unary) and node.operator == "-":
            inner = kind
        for each in operands(node):
            self.collect(each, found, inner)

    def neutral(self, node: Access, kind: str | None) -> float | None:
        """Return what may be read outside of a tensor, where such points do not count."""
        element = self.context.instance.tensors[node.tensor].element
        if kind in ("sum", "product"):
            return 0
        if kind in ("max", "min") and isinstance(element, AnyFloat):
            return float("-inf") if kind == "max" else float("inf")
        return None


def counted(body: Body, node: Reduction, term: SSAValue, combiner: Combiner) -> SSAValue:
    """Return a term, or what is neutral at points that do not count."""
    conditions = [body.inside(node.term)]
    if node.condition is not None:
        conditions.append(body.value(node.condition))
        conditions.append(body.inside(node.condition))
    counts = body.all([each for each in conditions if each is not None])
    if counts is None:
        return term
    return body.scalars.select(counts, term, combiner.neutral(body.scalars.builder, term.type))
