"""One equation as structured ops: each reduction is one, and what stands around it another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects.builtin import AnyFloat, TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from gawee_dialect.dialect.affine_range import is_linear, value_range
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    computed_type,
    element_type,
    is_unsigned,
    tensor_of,
    tensor_shape,
)
from gawee_dialect.equations.functions import ScalarError
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Expression,
    Name,
    Reduction,
    Unary,
    Wildcard,
    is_free,
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
from gawee_dialect.passes.graph.lower_to_linalg.conv import sliced
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import (
    Body,
    Computed,
    Context,
    Operand,
    is_as_stored,
)
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.graph.lower_to_linalg.structured import generic, reads, reduction
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty, filled, padded

# How a structured op reads the elements of an equation: by a map, through padding, or computed.


MAX_PADDED = 4
"""How many times as large as a tensor its padded form may be."""


@dataclass
class Reads:
    """Collects the operands of a structured op over loops with some bounds."""

    context: Context
    builder: Builder
    loops: Sequence[str]
    operands: list[tuple[SSAValue, AffineMap]] = field(
        default_factory=list[tuple[SSAValue, AffineMap]]
    )
    by_node: dict[int, Operand | Computed] = field(default_factory=dict[int, Operand | Computed])

    @property
    def bounds(self) -> list[int]:
        """The bounds of the loops."""
        return [self.context.equation.extents[each] for each in self.loops]

    def add(self, value: SSAValue, map: AffineMap) -> int:
        """Add an operand, if it is a new one; returns its position."""
        if (value, map) not in self.operands:
            self.operands.append((value, map))
        return self.operands.index((value, map))

    def tensor(self, node: Expression, value: SSAValue, indices: Sequence[str]) -> None:
        """Read a tensor that has an axis for each of some indices."""
        map = reads(len(self.loops), *(self.loops.index(each) for each in indices))
        self.by_node[id(node)] = Operand(self.add(value, map))

    def access(self, node: Access, neutral: float | None, *, evenly: bool) -> None:
        """Read an element; `neutral` is what may be read outside, where points do not count.

        `evenly` padded are both ends of an axis, as of convolutions, whether or not that is read.
        """
        value = self.context.tensors[node.tensor]
        indices = [each.name for each in node.subscripts if isinstance(each, Name)]
        if len(indices) == len(node.subscripts) and self.walk_all_of(indices, value):
            self.tensor(node, value, indices)
            return
        exprs = [
            None if isinstance(each, Wildcard) else self.affine(each) for each in node.subscripts
        ]
        known = [each for each in exprs if each is not None]
        if len(known) < len(exprs):
            self.by_node[id(node)] = Computed(value)
            return
        ranges = [value_range(each, self.bounds) for each in known]
        shape = tensor_shape(value)
        low = [max(0, -least) for least, _ in ranges]
        high = [max(most - size + 1, 0) for (_, most), size in zip(ranges, shape, strict=True)]
        map = AffineMap(len(self.loops), 0, tuple(known))
        if evenly:
            high = [max(each, self.padding(node, axis)) for axis, each in enumerate(high)]
        if 0 in self.bounds or (not any(low) and not any(high)):
            self.read(node, value, known)
            return
        outside = self.outside(node, neutral)
        if outside is None or not is_linear(map) or not self.is_worth_padding(value, low, high):
            self.by_node[id(node)] = Computed(value)
            return
        number = constant(self.builder, outside, element_type(value))
        source = padded(self.builder, value, low, high, number)
        moved = [each + offset if offset else each for each, offset in zip(known, low, strict=True)]
        self.read(node, source, moved, guarded=neutral is None)

    def walk_all_of(self, indices: Sequence[str], value: SSAValue) -> bool:
        """Whether indices are loops that walk the whole axes of a tensor."""
        extents = self.context.equation.extents
        return all(each in self.loops for each in indices) and tensor_shape(value) == tuple(
            extents[each] for each in indices
        )

    def read(
        self, node: Access, source: SSAValue, places: Sequence[AffineExpr], *, guarded: bool = False
    ) -> None:
        """Read a tensor at places inside of it; a loop that alone walks an axis walks all of it."""
        sizes = [
            self.bounds[each.position] if isinstance(each, AffineDimExpr) else size
            for each, size in zip(places, tensor_shape(source), strict=True)
        ]
        part = sliced(self.builder, source, [0] * len(sizes), sizes)
        place = self.add(part, AffineMap(len(self.loops), 0, tuple(places)))
        self.by_node[id(node)] = Operand(place, guarded)

    def padding(self, node: Access, axis: int) -> int:
        """Return p of a window `h*s + i - p` that says the size of h, 0 where it says none."""
        for window in self.context.equation.windows:
            same = (
                window.access.offset == node.offset and window.axis % len(node.subscripts) == axis
            )
            if same:
                return max(0, -self.context.numbers.integer(window.form.constant))
        return 0

    def outside(self, node: Access, neutral: float | None) -> float | None:
        """Return the number that is read outside; None where it is computed."""
        if node.otherwise is None:
            return 0 if neutral is None else neutral
        if not is_free(node.otherwise, self.context.indices):
            return None
        try:
            return self.context.numbers.value(node.otherwise)
        except ScalarError:
            return None

    def is_worth_padding(self, value: SSAValue, low: Sequence[int], high: Sequence[int]) -> bool:
        """Whether a padded tensor is no more than a few times as large, and its type can be."""
        if is_unsigned(element_type(value)):
            return False
        before = after = 1
        for size, front, back in zip(tensor_shape(value), low, high, strict=True):
            before, after = before * size, after * (size + front + back)
        return after <= MAX_PADDED * before + 4096

    def affine(self, node: Expression) -> AffineExpr | None:
        """Return a subscript as an affine expression of the loops; None where it is none."""
        if isinstance(node, Name) and node.name in self.context.indices:
            return AffineExpr.dimension(self.loops.index(node.name))
        if is_free(node, self.context.indices):
            number = self.context.numbers.integer(node)
            return None if isinstance(number, OpenSize) else AffineExpr.constant(number)
        if isinstance(node, Unary) and node.operator == "-":
            inner = self.affine(node.operand)
            return None if inner is None else inner * -1
        if not isinstance(node, Binary):
            return None
        lhs, rhs = self.affine(node.lhs), self.affine(node.rhs)
        if lhs is None or rhs is None:
            return None
        return self.combined(node, lhs, rhs)

    def combined(self, node: Binary, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
        match node.operator:
            case "+":
                return lhs + rhs
            case "-":
                return lhs + rhs * -1
            case "*" if is_free(node.rhs, self.context.indices):
                return lhs * self.context.numbers.integer(node.rhs)
            case "*" if is_free(node.lhs, self.context.indices):
                return rhs * self.context.numbers.integer(node.lhs)
            case "//" | "%" if is_free(node.rhs, self.context.indices):
                divisor = self.context.numbers.integer(node.rhs)
                if divisor < 1:
                    return None
                return lhs // divisor if node.operator == "//" else lhs % divisor
            case _:
                return None

    def cover(self, written: Sequence[str]) -> None:
        """Add an operand without data that says the bounds of loops that no other operand says."""
        named = {*written}
        for _, map in self.operands:
            for expr in map.results:
                named |= {
                    index
                    for loop, index in enumerate(self.loops)
                    if expr == AffineExpr.dimension(loop)
                }
        missing = [each for each in self.loops if each not in named]
        if missing:
            extents = self.context.equation.extents
            type = TensorType(f32, [extents[each] for each in missing])
            map = reads(len(self.loops), *(self.loops.index(each) for each in missing))
            self.add(empty(self.builder, type), map)


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
        type = tensor_of(element, found.bounds)

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
