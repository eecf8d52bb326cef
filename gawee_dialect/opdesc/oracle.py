"""Compare what a body says with what a function computes: the smallest use that differs.

compare_with_oracle(ops["conv2d"], lambda x, k, b, s, p: my_conv(x, k, b, s, p))
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import ModuleType

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.types import DTYPE_NAMES, shape_text
from gawee_dialect.equations.element_types import input_types
from gawee_dialect.equations.evaluate import Array, evaluate
from gawee_dialect.equations.functions import Numbers, ParameterValue, ScalarError
from gawee_dialect.equations.instance import Body, Instance, Misfit, flops
from gawee_dialect.equations.program import expressions, indices_of
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
from gawee_dialect.hints import isa
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import BodyOp
from gawee_dialect.opdesc.description import Argument, CheckFailure, Invocation, Tensor
from gawee_dialect.opdesc.pre_run import pre_run

# Random uses of an operator that are valid by its description: shapes, parameters, and data.
#
# Axes that one index walks alone are as long as each other; what requirements say of an axis is
# made true; the rest is tried until everything fits. Data is normal, or where the result would not
# be a number, between 0 and 1; a tensor that subscripts read has indices of the axis that they are
# for.


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


Oracle = Callable[..., object]
"""Takes inputs as arrays and parameters, by their names; returns an array, or a tuple of them."""

TOLERANCE = 1e-4
"""Of the greatest number of an output: sums of f32 in another order."""


@dataclass(frozen=True)
class Difference:
    """A use on which a body and its oracle differ."""

    operator: str
    use: Use
    problem: str

    def __str__(self) -> str:
        return f"operator '{self.operator}' differs from its oracle: {self.problem} ({self.use})"


@dataclass(frozen=True)
class Comparison:
    """How many uses were compared, and the smallest on which there is a difference, if any."""

    uses: int
    difference: Difference | None


def compare_with_oracle(
    op: type[BodyOp] | CompiledOperator,
    oracle: Oracle,
    *,
    uses: int = 20,
    seconds: float = 8,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Compare random uses of an operator with what a function computes, for some seconds at most.

    A use on which the function fails is a difference. Raises GaweeError where no uses are found.
    """
    compiled = op if isinstance(op, CompiledOperator) else op.description()
    name, start = compiled.operator.optype, perf_counter()
    found: Difference | None = None
    done = 0
    while done < uses and (done == 0 or perf_counter() - start < seconds):
        use = random_use(compiled, seed + done)
        done += 1
        problem = _problem(use, oracle, tolerance)
        if problem is not None and (found is None or _size(use) < _size(found.use)):
            found = Difference(name, use, problem)
    return Comparison(done, found)


def oracle_of(module: ModuleType, compiled: CompiledOperator) -> Oracle | None:
    """Return the function of a module that bears an operator's name, None where there is none."""
    function = getattr(module, compiled.operator.optype, None)
    return function if callable(function) else None


def _arrays(found: object) -> Sequence[Array]:
    if isa(found, tuple[object, ...]):
        return [np.asarray(each) for each in found]
    return [np.asarray(found)]


def _problem(use: Use, oracle: Oracle, tolerance: float) -> str | None:
    """Say where outputs differ from what is expected; None where they do not."""
    try:
        expected = _arrays(oracle(**use.inputs, **use.parameters))
    except Exception as error:
        return f"it fails: {first_line(error)}"
    names = use.instance.program.outputs
    if len(expected) != len(names):
        return f"expected {len(expected)} outputs, got {len(names)}"
    for name, got, wanted in zip(names, use.outputs, expected, strict=True):
        if got.shape != wanted.shape:
            shapes = shape_text(wanted.shape), shape_text(got.shape)
            return f"expected '{name}' of shape {shapes[0]}, got {shapes[1]}"
        reach = np.max(np.abs(wanted[np.isfinite(wanted)].astype(np.float64)), initial=1e-30)
        same = np.isclose(got, wanted, rtol=0, atol=tolerance * reach, equal_nan=True)
        if not np.all(same):
            where = tuple(int(axis[0]) for axis in np.nonzero(~same))
            place = f"{name}[{', '.join(map(str, where))}]"
            count = f"{np.count_nonzero(~same)} of {same.size} elements differ"
            return f"expected {place} = {wanted[where]:.6g}, got {got[where]:.6g}; {count}"
    return None


def _size(use: Use) -> int:
    return sum(each.size for each in (*use.inputs.values(), *use.outputs))
