"""Random uses of an operator that are valid by its description: shapes, parameters, and data.

Axes that one index walks alone are as long as each other; what requirements say of an axis is made
true; the rest is tried until everything fits. Data is normal, or where the result would not be a
number, between 0 and 1; a tensor that subscripts read has indices of the axis that they are for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import DTYPE_NAMES
from gawee_dialect.equations.element_types import input_types
from gawee_dialect.equations.evaluate import Array, evaluate
from gawee_dialect.equations.instance import Body, Instance, Misfit, flops
from gawee_dialect.equations.program import expressions, indices_of
from gawee_dialect.equations.scalars import Numbers, ParameterValue, ScalarError
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Definition,
    Expression,
    Name,
    Parameter,
    Range,
    Size,
    Wildcard,
    walk,
)
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.invocation import Argument, CheckFailure, Invocation, Tensor
from gawee_dialect.opdesc.pre_run import pre_run

TRIES = 1000

MOST_FLOPS = 2_000_000
"""Of a use: what runs in a moment at every level."""

Axis = tuple[str, int]


@dataclass(frozen=True)
class Use:
    """Inputs and parameters that an operator takes, and what its body makes of them."""

    inputs: Mapping[str, Array]
    parameters: Mapping[str, ParameterValue]
    instance: Instance
    outputs: Sequence[Array] = field(repr=False)

    def __str__(self) -> str:
        shapes = (f"{name} {list(each.shape)}" for name, each in self.inputs.items())
        values = (f"{name} = {value}" for name, value in self.parameters.items())
        return ", ".join((*shapes, *values))


def random_use(compiled: CompiledOperator, seed: int) -> Use:
    """Return a use of an operator with a body, the same for the same seed.

    Raises GaweeError where none is found that its checks let pass.
    """
    body = compiled.body
    assert body is not None
    random = np.random.default_rng(seed)
    reason = "none was tried"
    for _ in range(TRIES):
        draw = _Draw(body, random)
        try:
            parameters, shapes = draw.numbers()
            instance = _checked(compiled, shapes, draw.elements, parameters)
        except (CheckFailure, ScalarError) as failure:
            reason = failure.message
            continue
        if flops(instance) > MOST_FLOPS:
            reason = f"expected at most {MOST_FLOPS} FLOPs"
            continue
        try:
            inputs, outputs = _data(instance, draw, random)
        except Misfit as misfit:
            reason = misfit.message
            continue
        return Use(inputs, parameters, instance, outputs)
    name = compiled.operator.optype
    message = f"cannot find random inputs of operator '{name}' in {TRIES} tries: {reason}"
    raise GaweeError(Diagnostic(message, str(compiled.operator.place)))


def _checked(
    compiled: CompiledOperator,
    shapes: Mapping[str, tuple[int, ...]],
    elements: Mapping[str, Attribute],
    parameters: Mapping[str, ParameterValue],
) -> Instance:
    """Return what the body is for a use that all checks of the description let pass."""
    operator = compiled.operator
    made = [Argument(each.arg_name, each.arg_name) for each in operator.tensors_out]
    taken = [Argument(each.arg_name, each.arg_name) for each in operator.tensors_in]
    table = {name: Tensor(name, elements[name], shape) for name, shape in shapes.items()}
    invocation = Invocation(operator.optype, operator.optype, taken, made, parameters)
    instance = pre_run(compiled, invocation, table).instance
    assert instance is not None  # there is a body
    return instance


def _data(
    instance: Instance, draw: "_Draw", random: np.random.Generator
) -> tuple[Mapping[str, Array], Sequence[Array]]:
    """Return arrays for the inputs, and what comes out: numbers, if that is possible."""
    inputs: Mapping[str, Array] = {}
    outputs: Sequence[Array] = ()
    for positive in (False, True):
        inputs = {name: draw.array(instance, name, positive) for name in instance.program.inputs}
        outputs = evaluate(instance, inputs)
        if not any(np.isnan(each).any() for each in outputs if each.dtype.kind == "f"):
            break
    return inputs, outputs


class _Draw:
    """One try: sizes of axes and values of parameters."""

    def __init__(self, body: Body, random: np.random.Generator) -> None:
        self.body = body
        self.random = random
        self.wild = int(random.integers(0, 3))
        self.ranks: dict[str, int] = {}
        self.links: dict[Axis, Axis] = {}
        self.elements = input_types(body.program)
        self.indexed: dict[str, Axis] = {}
        for definition in body.program.definitions:
            self.note(definition)

    # What the equations say.

    def note(self, definition: Definition) -> None:
        """Take notice of ranks, and of axes that are as long."""
        walked: dict[str, list[Axis]] = {}
        limited = {name for name, each in indices_of(definition).items() if each.limit is not None}
        own = Access(definition.offset, definition.tensor, _names(definition.ranges))
        nodes = [node for part in expressions(definition) for node in walk(part)]
        for access in (own, *(each for each in nodes if isinstance(each, Access))):
            for axis, each in enumerate(self.spread(access)):
                if isinstance(each, str) and each not in limited:
                    walked.setdefault(each, []).append((access.tensor, axis))
                elif isinstance(each, Access):
                    self.indexed[each.tensor] = (access.tensor, axis)
        for first, *others in walked.values():
            for other in others:
                self.links[self.root(other)] = self.root(first)

    def spread(self, access: Access) -> Iterator[str | Access | None]:
        """Yield, for every axis, the index that walks it alone, or what it is read at."""
        axes = 0
        for each in access.subscripts:
            if isinstance(each, Wildcard):
                yield from (f"...{axis}" for axis in range(self.wild))
                axes += self.wild
                continue
            axes += 1
            if isinstance(each, Access):
                yield each
            else:
                yield each.name if isinstance(each, Name) else None
        self.ranks[access.tensor] = axes

    def root(self, axis: Axis) -> Axis:
        while axis in self.links and self.links[axis] != axis:
            axis = self.links[axis]
        return axis

    # Numbers.

    def numbers(self) -> tuple[dict[str, ParameterValue], dict[str, tuple[int, ...]]]:
        """Return parameters and the shapes of inputs."""
        program = self.body.program
        parameters = {each.name: self.parameter(each) for each in program.parameters}
        sizes: dict[Axis, int] = {}
        high = int(self.random.choice([4, 7, 11]))
        for name in program.inputs:
            for axis in range(self.ranks.get(name, 0)):
                sizes.setdefault(self.root((name, axis)), int(self.random.integers(1, high + 1)))

        def size(node: Size) -> int:
            return sizes[self.root((node.of or "", node.axis or 0))]

        numbers = Numbers(program.code, parameters, size)
        for requirement in program.requirements:
            self.make_true(requirement.condition, numbers, sizes)
        shapes = {
            name: tuple(sizes[self.root((name, axis))] for axis in range(self.ranks.get(name, 0)))
            for name in program.inputs
        }
        return parameters, shapes

    def parameter(self, parameter: Parameter) -> ParameterValue:
        if parameter.length is not None:
            return tuple(self.number(parameter) for _ in range(parameter.length))
        return self.number(parameter)

    def number(self, parameter: Parameter) -> bool | int | float:
        default = parameter.default
        if isinstance(default, bool | int | float) and self.random.random() < 0.4:
            return default
        if parameter.kind == "bool":
            return bool(self.random.integers(2))
        if parameter.kind == "int":
            return int(self.random.integers(0, 4))
        if isinstance(default, float):
            return float(default * self.random.uniform(0.5, 1.5))
        return float(self.random.uniform(0.1, 1.5))

    def make_true(self, condition: Expression, numbers: Numbers, sizes: dict[Axis, int]) -> None:
        """Choose a size for which `size(x, 1) == n` holds, or `size(x, 1) % n == 0`."""
        if not isinstance(condition, Binary) or condition.operator != "==":
            return
        lhs, times = condition.lhs, 0
        value = condition.rhs
        if isinstance(lhs, Binary) and lhs.operator == "%":
            lhs, value, times = lhs.lhs, lhs.rhs, int(self.random.integers(1, 4))
        if isinstance(lhs, Size) and lhs.of is not None and lhs.axis is not None:
            sizes[self.root((lhs.of, lhs.axis))] = numbers.integer(value) * (times or 1)

    # Data.

    def array(self, instance: Instance, name: str, positive: bool) -> Array:
        """Return random data of an input."""
        type = instance.tensors[name]
        dtype = np.dtype(DTYPE_NAMES[type.element])
        if type.element == i1:
            return self.random.random(type.shape) < 0.7
        if type.element == i64:
            other = self.indexed.get(name)
            high = 4 if other is None else instance.tensors[other[0]].shape[other[1]]
            return self.random.integers(0, high, type.shape)
        draw: Callable[[tuple[int, ...]], Array] = self.random.standard_normal
        data = self.random.uniform(0.05, 0.95, type.shape) if positive else draw(type.shape)
        return np.asarray(data, dtype)


def _names(ranges: Sequence[Range | Wildcard]) -> list[Expression | Wildcard]:
    return [
        each if isinstance(each, Wildcard) else Name(each.offset, each.index) for each in ranges
    ]
