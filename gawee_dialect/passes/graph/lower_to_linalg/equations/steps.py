"""The equations of an op in their order; those that go along an index step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.types import AnyTensor, element_type, tensor_shape
from gawee_dialect.equations.instance import Equation, EquationGroup, Instance, Type
from gawee_dialect.equations.syntax import (
    Access,
    Expression,
    Number,
    Wildcard,
    linear,
    mapped,
    names_in,
)
from gawee_dialect.passes.graph.lower_to_linalg.equations.bodies import Context
from gawee_dialect.passes.graph.lower_to_linalg.equations.equation import EquationBuilder
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty

# Equations that go along an index: the first steps one after the other, the others in a loop.
#
#     h[t] = f(h[t - 1], x[t])   ->   %h0 = f(..., slice of %x at 0)
#                                     scf.for %t = 1 to 9 iter_args(%h = %h0, %all) {
#                                       %next = f(%h, slice of %x at %t)
#                                       insert %next into %all at %t
#                                     }
#
# What is read of earlier steps is carried, the last of them first. Steps of a loop have no place
# that is known beforehand: where an equation uses it as a number, all steps are written out.


WRITTEN_OUT = 8
"""Steps up to which there is no loop: kernels of several steps are scheduled as all others."""

MOST_WRITTEN_OUT = 256


@dataclass(frozen=True)
class Slice:
    """An access `x[t + by, ...]` to a tensor: which axis the steps go along."""

    tensor: str
    axis: int
    by: int

    @property
    def name(self) -> str:
        """What the part that is read is called."""
        return f"{self.tensor}@{self.by}"


@dataclass
class ScanBuilder:
    """Builds the steps of a group of equations."""

    instance: Instance
    step: EquationGroup
    builder: Builder
    tensors: dict[str, SSAValue]
    sliced: dict[str, Slice] = field(default_factory=dict[str, Slice])

    def __post_init__(self) -> None:
        assert self.step.along is not None
        self.along = self.step.along
        self.own = {each.definition.tensor: each for each in self.step.equations}
        self.count = self.step.equations[0].extents[self.along]
        self.equations = [self.with_slices(each) for each in self.step.equations]
        made = {each.name: self.slice_type(each) for each in self.sliced.values()}
        for name, type in made.items():
            self.instance.typing.elements[name] = type.element
        self.instance = replace(self.instance, tensors={**self.instance.tensors, **made})
        self.depth = max(abs(each.by) for each in self.sliced.values() if each.tensor in self.own)

    # What is read.

    def with_slices(self, equation: Equation) -> Equation:
        """Return an equation that reads slices where it read a tensor at this or another step."""

        def change(node: Expression) -> Expression:
            found = self.slice_of(node) if isinstance(node, Access) else None
            if found is None or not isinstance(node, Access):
                return node
            self.sliced[found.name] = found
            others = [e for axis, e in enumerate(node.subscripts) if axis != found.axis]
            return replace(node, tensor=found.name, subscripts=others)

        value = mapped(equation.definition.value, change)
        return replace(equation, definition=replace(equation.definition, value=value))

    def slice_of(self, node: Access) -> Slice | None:
        """Return the slice that an access is to; None where it is to no single one."""
        found: Slice | None = None
        for axis, each in enumerate(node.subscripts):
            if isinstance(each, Wildcard) or self.along not in names_in(each):
                continue
            form = linear(each, {self.along})
            moved = form is not None and isinstance(form.constant, Number)
            if found is not None or form is None or not moved:
                return None
            number = form.constant.value if isinstance(form.constant, Number) else None
            if not isinstance(number, int) or not form.is_moved(self.along):
                return None
            found = Slice(node.tensor, axis, number)
        return found

    def slice_type(self, slice: Slice) -> Type:
        type = self.instance.tensors[slice.tensor]
        shape = [size for axis, size in enumerate(type.shape) if axis != slice.axis]
        return Type(tuple(shape), type.element)

    # Steps.

    def build(self) -> None:
        """Build all steps; the tensors that they make are put beside the others."""
        written_out = min(self.count, self.depth)
        if self.count <= WRITTEN_OUT or not self.can_loop():
            written_out = self.count
        if written_out > MOST_WRITTEN_OUT:
            raise GaweeError(
                f"cannot be lowered: expected at most {MOST_WRITTEN_OUT} steps along "
                f"'{self.along}' that depend on their number, got {self.count}"
            )
        made: dict[str, list[SSAValue]] = {name: [] for name in self.own}
        for number in range(written_out):
            for name, value in self.one_step(number, made).items():
                made[name].append(value)
        whole = {name: self.assembled(name, values) for name, values in made.items()}
        if written_out < self.count:
            whole = self.loop(written_out, made, whole)
        self.tensors.update(whole)

    def place(self, number: int) -> int:
        """Return where along the index a step is."""
        return self.count - 1 - number if self.step.backward else number

    def can_loop(self) -> bool:
        """Whether steps read nothing but slices inside of tensors, and not their own number."""
        for equation in self.equations:
            value = equation.definition.value
            if self.along in names_in(value):
                return False
        return all(each.tensor in self.own or each.by == 0 for each in self.sliced.values())

    def one_step(self, number: int, made: Mapping[str, Sequence[SSAValue]]) -> dict[str, SSAValue]:
        """Build a step whose place is known."""
        place = self.place(number)
        outside: set[str] = set()
        slices: dict[str, SSAValue] = {}
        for name, each in self.sliced.items():
            at = place + each.by
            if each.tensor in self.own:
                back = number - abs(each.by)
                if each.by == 0:
                    continue  # of this step: made below
                if back < 0:
                    outside.add(name)
                else:
                    slices[name] = made[each.tensor][back]
            elif 0 <= at < tensor_shape(self.tensors[each.tensor])[each.axis]:
                slices[name] = self.static_slice(each, at)
            else:
                outside.add(name)
        return self.equations_of_step(slices, outside, {self.along: place}, self.builder)

    def equations_of_step(
        self,
        slices: Mapping[str, SSAValue],
        outside: set[str],
        fixed: Mapping[str, int],
        builder: Builder,
    ) -> dict[str, SSAValue]:
        """Build the equations of a step; what is outside of its tensor reads `else`, or 0."""
        tensors = {**self.tensors, **slices}
        results: dict[str, SSAValue] = {}
        for equation in self.equations:
            name = equation.definition.tensor
            value = mapped(equation.definition.value, lambda node: _without(node, outside))
            definition = replace(equation.definition, value=value)
            context = Context(
                self.instance, replace(equation, definition=definition), tensors, fixed
            )
            results[name] = EquationBuilder(context, builder).result()
            tensors[f"{name}@0"] = results[name]
        return results

    def assembled(self, name: str, values: Sequence[SSAValue]) -> SSAValue:
        """Put the first steps into a tensor of all."""
        whole = empty(self.builder, self.whole_type(name))
        for number, value in enumerate(values):
            whole = self.inserted(self.builder, name, value, whole, self.place(number))
        return whole

    def whole_type(self, name: str) -> AnyTensor:
        type = self.instance.tensors[name]
        return TensorType(type.element, type.shape)

    # Slices.

    def static_slice(self, slice: Slice, at: int) -> SSAValue:
        source = self.tensors[slice.tensor]
        return self.extracted(self.builder, source, slice.axis, at)

    def extracted(
        self, builder: Builder, source: SSAValue, axis: int, at: int | SSAValue
    ) -> SSAValue:
        """Take one step of a tensor, without its axis."""
        shape = list(tensor_shape(source))
        sizes, offsets = _one_step(shape, axis, at)
        kept = [size for other, size in enumerate(shape) if other != axis]
        op = tensor.ExtractSliceOp.build(
            operands=[source, [] if isinstance(at, int) else [at], [], []],
            result_types=[TensorType(element_type(source), kept)],
            properties=_slice_properties(offsets, sizes),
        )
        return builder.insert(op).result

    def inserted(
        self, builder: Builder, name: str, value: SSAValue, whole: SSAValue, at: int | SSAValue
    ) -> SSAValue:
        """Put one step into a tensor of all."""
        axis = self.own[name].indices.index(self.along)
        sizes, offsets = _one_step(list(tensor_shape(whole)), axis, at)
        op = tensor.InsertSliceOp.build(
            operands=[value, whole, [] if isinstance(at, int) else [at], [], []],
            result_types=[whole.type],
            properties=_slice_properties(offsets, sizes),
        )
        return builder.insert(op).result

    # The loop.

    def loop(
        self,
        first: int,
        made: Mapping[str, Sequence[SSAValue]],
        whole: Mapping[str, SSAValue],
    ) -> dict[str, SSAValue]:
        """Build the steps from `first` on as a loop; returns the tensors of all steps."""
        names = list(self.own)
        carried = {name: list(reversed(made[name][-self.depth :])) for name in names}
        init = [*(whole[name] for name in names), *(v for name in names for v in carried[name])]
        block = Block(arg_types=[IndexType(), *(value.type for value in init)])
        inside = Builder(InsertPoint.at_end(block))
        counter, *arguments = block.args
        wholes = dict(zip(names, arguments, strict=False))
        states = {
            name: arguments[len(names) + index * self.depth :][: self.depth]
            for index, name in enumerate(names)
        }
        place = self.loop_place(inside, counter)
        slices: dict[str, SSAValue] = {}
        for name, each in self.sliced.items():
            if each.tensor not in self.own:
                source = self.tensors[each.tensor]
                slices[name] = self.extracted(inside, source, each.axis, place)
            elif each.by != 0:
                slices[name] = states[each.tensor][abs(each.by) - 1]
        # No expression has the place of a step in it: what it is said to be is not looked at.
        results = self.equations_of_step(slices, set(), {self.along: 0}, inside)
        new = [self.inserted(inside, name, results[name], wholes[name], place) for name in names]
        next_states = [
            value for name in names for value in [results[name], *states[name]][: self.depth]
        ]
        inside.insert(scf.YieldOp(*new, *next_states))
        low, high, one = (
            constant(self.builder, number, IndexType()) for number in (first, self.count, 1)
        )
        op = self.builder.insert(scf.ForOp(low, high, one, init, Region(block)))
        return dict(zip(names, op.results, strict=False))

    def loop_place(self, builder: Builder, counter: SSAValue) -> SSAValue:
        """Return where along the index a step of the loop is."""
        if not self.step.backward:
            return counter
        last = constant(builder, self.count - 1, IndexType())
        return builder.insert(arith.SubiOp(last, counter)).result


def _one_step(shape: Sequence[int], axis: int, at: int | SSAValue) -> tuple[list[int], list[int]]:
    sizes, offsets = list(shape), [0] * len(shape)
    sizes[axis], offsets[axis] = 1, at if isinstance(at, int) else DYNAMIC_INDEX
    return sizes, offsets


def _slice_properties(offsets: Sequence[int], sizes: Sequence[int]) -> dict[str, Attribute]:
    return {
        "static_offsets": DenseArrayBase.from_list(i64, offsets),
        "static_sizes": DenseArrayBase.from_list(i64, sizes),
        "static_strides": DenseArrayBase.from_list(i64, [1] * len(sizes)),
    }


def _without(node: Expression, outside: set[str]) -> Expression:
    """Return what is read in the place of an element outside of its tensor."""
    if not isinstance(node, Access) or node.tensor not in outside:
        return node
    return Number(node.offset, 0) if node.otherwise is None else node.otherwise


def lower_steps(
    builder: Builder,
    instance: Instance,
    operands: Sequence[SSAValue],
    elements: Sequence[Attribute],
    hints: Mapping[str, str | None] | None = None,
) -> Sequence[SSAValue]:
    """Build what computes the outputs of an instance, of some element types.

    Values are named by the `hints` of outputs; others after the first of them too.
    """
    tensors = dict(zip(instance.program.inputs, operands, strict=True))
    stored = dict(zip(instance.program.outputs, elements, strict=True))
    first = next(iter(hints.values()), None) if hints else None
    for step in instance.steps:
        made = step.equations[0].definition.tensor
        if hints and first is not None:
            builder.name_hint = hints.get(made, f"{first}_{made}")
        if step.along is None:
            (equation,) = step.equations
            context = Context(instance, equation, tensors, {})
            tensors[made] = EquationBuilder(context, builder, stored.get(made)).result()
        else:
            ScanBuilder(instance, step, builder, tensors).build()
    return [tensors[name] for name in instance.program.outputs]
