"""How a structured op reads the elements of an equation: by a map, through padding, or computed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from gawee_dialect.dialect.affine_range import is_linear, value_range
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import element_type, is_unsigned, tensor_shape
from gawee_dialect.equations.scalars import ScalarError
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Expression,
    Name,
    Unary,
    Wildcard,
    is_free,
)
from gawee_dialect.passes.graph.lower_to_linalg.conv_transpose import sliced
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import Computed, Context, Operand
from gawee_dialect.passes.graph.lower_to_linalg.structured import reads
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty, padded

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
