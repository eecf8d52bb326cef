"""A program for given inputs: every index has its size, every tensor its type.

Wildcards are gone: `...` of rank 2 became the indices `...0` and `...1`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from math import prod

from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.open_size import least
from gawee_dialect.equations.element_types import CONVERTS, Typing, Weak
from gawee_dialect.equations.functions import (
    CONSTANTS,
    OPERATORS,
    PREFIXES,
    Numbers,
    ParameterValue,
    ScalarError,
    function_of,
)
from gawee_dialect.equations.parse import IndexNotationError
from gawee_dialect.equations.program import Arguments, Program, read_program
from gawee_dialect.equations.sizes import (
    Axis,
    Limit,
    Origin,
    Plan,
    Subscript,
    Window,
    plan_sizes,
    subscripts_of,
)
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Call,
    Definition,
    Expression,
    Name,
    Number,
    Range,
    Reduction,
    Requirement,
    Size,
    Unary,
    Wildcard,
    accesses,
    mapped,
    mapped_ranges,
    named_ranges,
    names_in,
    operands,
    spelled,
    walk,
)
from gawee_dialect.located_json import Code

MAX_SIZE = 1 << 40
"""Elements of one tensor."""


class Misfit(Exception):
    """Why a program has no meaning for some shapes and parameters."""

    def __init__(self, message: str, hint: str | None = None, place: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place


@dataclass(frozen=True)
class Type:
    """Shape and element type of a tensor."""

    shape: tuple[int, ...]
    element: Attribute


@dataclass(frozen=True)
class Equation:
    """A definition without wildcards, and the size of each of its indices, reduced ones too."""

    definition: Definition
    extents: Mapping[str, int]
    windows: Sequence[Window] = ()
    """Where sizes of indices come from windows."""

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """The indices of what is defined, one an axis."""
        return tuple(each.index for each in named_ranges(self.definition.ranges))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is defined."""
        return tuple(self.extents[each] for each in self.indices)


@dataclass(frozen=True)
class EquationGroup:
    """Equations that are computed together; see `recursion.Group`."""

    equations: Sequence[Equation]
    along: str | None = None
    backward: bool = False


@dataclass(frozen=True, eq=False)
class Instance:
    """What a program is for given inputs: `tensors` are all, inputs and what equations make."""

    program: Program
    parameters: Mapping[str, ParameterValue]
    tensors: Mapping[str, Type]
    steps: Sequence[EquationGroup]
    typing: Typing

    @property
    def outputs(self) -> Sequence[Type]:
        """The types of the results."""
        return [self.tensors[name] for name in self.program.outputs]

    def numbers(self, equation: Equation) -> Numbers:
        """Return what numbers an equation's expressions stand for."""

        def size(node: Size) -> int:
            if node.axis is None:
                assert node.of is not None  # a wildcard's size is a number by now
                return equation.extents[node.of]
            return self.tensors[node.of or ""].shape[node.axis]

        return Numbers(self.program.code, self.parameters, size)


def instantiate(
    program: Program,
    plans: Mapping[str, Plan],
    inputs: Mapping[str, Type],
    parameters: Mapping[str, ParameterValue],
) -> Instance:
    """Find all sizes and types; raises Misfit that says which do not fit, with their values."""
    return _Instantiation(program, plans, parameters, dict(inputs)).instance()


@dataclass
class _Instantiation:
    program: Program
    plans: Mapping[str, Plan]
    parameters: Mapping[str, ParameterValue]
    tensors: dict[str, Type]
    extents: dict[str, int] = field(default_factory=dict[str, int])
    wild: Sequence[int] = ()
    together: frozenset[str] = frozenset()
    """What the equations of a group make: it may be read one step before the first."""

    def instance(self) -> Instance:
        """Go through requirements and equations."""
        typing = Typing(
            self.program.code,
            {param.name: param.kind for param in self.program.parameters},
            {name: each.element for name, each in self.tensors.items()},
            of_op=self.program.of_op,
            single=self.program.single,
        )
        steps: list[EquationGroup] = []
        try:
            for requirement in self.program.requirements:
                self.require(requirement)
            for group in self.program.groups:
                self.together = frozenset(each.tensor for each in group.definitions)
                equations = [self.equation(each, typing) for each in group.definitions]
                steps.append(EquationGroup(equations, group.along, group.backward))
                self.check_group(steps[-1], typing)
        except ScalarError as error:
            place = str(self.program.code.place(error.offset))
            raise Misfit(error.message, error.hint, place) from error
        return Instance(self.program, self.parameters, self.tensors, steps, typing)

    def misfit(self, offset: int, message: str, hint: str | None = None) -> Misfit:
        return Misfit(message, hint, str(self.program.code.place(offset)))

    @property
    def numbers(self) -> Numbers:
        return Numbers(self.program.code, self.parameters, self.size)

    def size(self, node: Size) -> int:
        """Return the value of `size(i)`, `size(x, 1)` or `size(...)`."""
        if node.of is None:
            return prod(self.wild)
        if node.axis is None:
            return self.extents[node.of]
        shape = self.tensors[node.of].shape
        if node.axis >= len(shape):
            message = f"expected '{node.of}' of more than {node.axis} dimensions, got {len(shape)}"
            raise self.misfit(node.offset, message)
        return shape[node.axis]

    def require(self, requirement: Requirement) -> None:
        """Check a requirement; the message has the values of what it is about."""
        if self.numbers.value(requirement.condition):
            return
        parts = dict.fromkeys(
            (spelled(each), self.numbers.value(each))
            for each in walk(requirement.condition)
            if isinstance(each, Size) or (isinstance(each, Name) and each.name in self.parameters)
        )
        values = ", ".join(f"{text} = {value}" for text, value in parts)
        what = requirement.message or f"'{requirement.text}'"
        raise self.misfit(requirement.offset, f"expected {what}, got {values or 'false'}")

    # One equation.

    def equation(self, definition: Definition, typing: Typing) -> Equation:
        plan = self.plans[definition.tensor]
        self.extents = {}
        for access in {id(s.access): s.access for s in plan.subscripts}.values():
            self.check_rank(access)
        self.wild = self.wildcard(plan)
        for index, size in enumerate(self.wild):
            self.extents[f"...{index}"] = size
        for origin in plan.origins:
            self.extents[origin.index] = self.extent(origin)
        for origin in plan.origins:
            if isinstance(origin, Window):
                self.check_one_window(origin, plan)
        expanded = self.expanded(definition)
        windows = [each for each in plan.origins if isinstance(each, Window)]
        equation = Equation(expanded, dict(self.extents), windows)
        if least(prod(equation.shape)) > MAX_SIZE:
            message = f"expected '{definition.tensor}' of at most {MAX_SIZE} elements"
            raise self.misfit(definition.offset, f"{message}, got {prod(equation.shape)}")
        element = typing.stored(expanded)
        typing.elements[definition.tensor] = element
        self.tensors[definition.tensor] = Type(equation.shape, element)
        self.check_accesses(expanded, plan)
        return equation

    def check_accesses(self, expanded: Definition, plan: Plan) -> None:
        """Check the rank of all that is read, and that indices stay in their axes."""
        for access in _all_accesses(expanded):
            self.check_rank(access)
            for subscript in subscripts_of(access, set(self.extents)):
                self.check_stays(subscript, plan)

    def check_rank(self, access: Access) -> None:
        if access.tensor not in self.tensors:
            return  # of the same group: checked when it is known
        shape = self.tensors[access.tensor].shape
        named = sum(not isinstance(each, Wildcard) for each in access.subscripts)
        open_ended = named < len(access.subscripts)
        if named == len(shape) or (open_ended and named < len(shape)):
            return
        least = "at least " if open_ended else ""
        message = f"expected '{access.tensor}' of {least}{named} dimensions, got {list(shape)}"
        raise self.misfit(access.offset, message)

    def wildcard(self, plan: Plan) -> Sequence[int]:
        """Return the sizes that `...` stands for, the same everywhere in an equation."""
        if plan.wildcard is None:
            return ()
        first, before, behind = plan.wildcard
        shape = self.tensors[first.tensor].shape
        found = shape[before : len(shape) - behind]
        for access in _all_accesses(plan.definition):
            wild = [isinstance(each, Wildcard) for each in access.subscripts]
            if not any(wild) or access.tensor not in self.tensors:
                continue
            self.check_rank(access)
            other = self.tensors[access.tensor].shape
            place = wild.index(True)
            sizes = other[place : len(other) - (len(wild) - place - 1)]
            if sizes != found:
                message = (
                    f"expected '...' to stand for the same sizes, got {list(found)} of "
                    f"'{first.tensor}' and {list(sizes)} of '{access.tensor}'"
                )
                raise self.misfit(access.offset, message)
        return found

    def extent(self, origin: Origin) -> int:
        """Return how many values an index has, at least one."""
        match origin:
            case Limit():
                size = self.numbers.integer(origin.limit)
                why = f"'{origin.index} < {spelled(origin.limit)}'"
            case Axis():
                size = self.tensors[origin.access.tensor].shape[origin.axis]
                why = f"axis {self.axis(origin.access, origin.axis)} of '{origin.access.tensor}'"
            case Window():
                size = self.window(origin)
                axis = self.axis(origin.access, origin.axis)
                shape = list(self.tensors[origin.access.tensor].shape)
                why = f"axis {axis} of '{origin.access.tensor}' of shape {shape}"
        if size < (0 if self.program.of_op else 1):
            message = f"expected at least one value of index '{origin.index}', got {size}"
            offset = origin.offset if isinstance(origin, Limit) else origin.access.offset
            raise self.misfit(offset, f"{message} by {why}")
        return size

    def axis(self, access: Access, axis: int) -> int:
        return axis % len(self.tensors[access.tensor].shape)

    def window(self, origin: Window) -> int:
        """Return (size - 1 + padding - constant - greatest of the others) // coefficient + 1."""
        shape = self.tensors[origin.access.tensor].shape
        coefficients = {
            name: self.numbers.integer(each) for name, each in origin.form.terms.items()
        }
        constant = self.numbers.integer(origin.form.constant)
        step = coefficients.pop(origin.index)
        if step < 1:
            message = f"expected a multiple of index '{origin.index}' of at least 1, got {step}"
            hint = f"or say how many values it has: {origin.index} < 3"
            raise self.misfit(origin.access.offset, message, hint)
        greatest = sum(max(c * (self.extents[name] - 1), 0) for name, c in coefficients.items())
        room = shape[origin.axis] - 1 + max(0, -constant) - constant - greatest
        return room // step + 1

    def check_one_window(self, origin: Window, plan: Plan) -> None:
        """Check that no other window gives an index another size."""
        for each in plan.subscripts:
            if each.form is None or origin.index not in each.form.terms:
                continue
            if each.access is origin.access or each.access.tensor not in self.tensors:
                continue
            other = Window(origin.index, each.access, each.axis, each.form)
            size = self.extents[origin.index]
            found = self.window(other)
            if found != size:
                message = (
                    f"expected index '{origin.index}' to have one size, got {size} by "
                    f"'{spelled(origin.access)}' and {found} by '{spelled(each.access)}'"
                )
                hint = f"say how many values it has: {origin.index} < {min(size, found)}"
                raise self.misfit(each.access.offset, message, hint)

    # What stays as it is.

    def check_stays(self, subscript: Subscript, plan: Plan) -> None:
        """Check that a sum of multiples of indices stays in its axis and its padding."""
        access, form = subscript.access, subscript.form
        if form is None or access.tensor not in self.tensors:
            return
        if not all(self.extents[name] for name in form.terms):
            return  # nothing is read
        size = self.tensors[access.tensor].shape[subscript.axis]
        constant = self.numbers.integer(form.constant)
        low = high = constant
        for name, each in form.terms.items():
            factor = self.numbers.integer(each)
            reach = factor * (self.extents[name] - 1)
            low, high = (low + reach, high) if factor < 0 else (low, high + reach)
        limited = any(isinstance(plan.origin(name), Limit) for name in form.terms)
        if access.otherwise is not None and (limited or not form.is_index()):
            return
        padding = abs(constant) if access.tensor in self.together else max(0, -constant)
        if form.is_index():
            fits = high == size - 1 or (limited and high < size)
        else:
            outside = limited and (padding > 0 or self.program.of_op)
            fits = outside or (-padding <= low and high < size + padding)
        if fits:
            return
        if form.is_index() and not limited:
            raise self.two_sizes(subscript, plan, size)
        axis = self.axis(access, subscript.axis)
        message = (
            f"expected '{spelled(subscript.expression)}' to stay in axis {axis} of "
            f"'{access.tensor}' of size {size}, got {low} to {high}"
        )
        hint = f"{access.tensor}[... else 0] reads 0 outside"
        raise self.misfit(access.offset, message, hint)

    def two_sizes(self, subscript: Subscript, plan: Plan, size: int) -> Misfit:
        """Return the error of an index that two axes give different sizes."""
        access = subscript.access
        assert subscript.form is not None  # it is one index
        (name,) = subscript.form.terms
        first, where = plan.origin(name), ""
        if isinstance(first, Axis | Window):
            axis = self.axis(first.access, first.axis)
            where = f" (axis {axis} of '{first.access.tensor}')"
        axis = self.axis(access, subscript.axis)
        message = (
            f"expected index '{name}' to have one size, got {self.extents[name]}{where} "
            f"and {size} (axis {axis} of '{access.tensor}')"
        )
        return self.misfit(access.offset, message)

    def check_group(self, step: EquationGroup, typing: Typing) -> None:
        """Check what equations of a group read of each other, and that they have as many steps."""
        if step.along is None:
            return
        typing.known.clear()
        first = step.equations[0]
        for equation in step.equations:
            definition = equation.definition
            self.extents = dict(equation.extents)
            one, other = first.extents[step.along], self.extents[step.along]
            if one != other:
                message = (
                    f"expected '{step.along}' to have one size, got {one} in "
                    f"'{first.definition.tensor}' and {other} in '{definition.tensor}'"
                )
                raise self.misfit(definition.offset, message)
            element, stored = typing.stored(definition), typing.elements[definition.tensor]
            if element != stored:
                message = f"expected '{definition.tensor}' to have one type, got {stored}"
                raise self.misfit(definition.offset, f"{message} and {element}", "convert: f32(v)")
            self.check_accesses(definition, self.plans[definition.tensor])

    # Wildcards.

    def expanded(self, definition: Definition) -> Definition:
        """Return a definition in which `...` is the indices that it stands for."""
        ranges = self.expanded_ranges(mapped_ranges(definition.ranges, self.expand))
        value = mapped(definition.value, self.expand)
        return replace(definition, ranges=ranges, value=value)

    def expanded_ranges(self, ranges: Sequence[Range | Wildcard]) -> list[Range | Wildcard]:
        found: list[Range | Wildcard] = []
        for each in ranges:
            if isinstance(each, Wildcard):
                found += [Range(each.offset, f"...{axis}") for axis in range(len(self.wild))]
            else:
                found.append(each)
        return found

    def expand(self, node: Expression) -> Expression:
        match node:
            case Access():
                subscripts: list[Expression | Wildcard] = []
                for each in node.subscripts:
                    if isinstance(each, Wildcard):
                        names = (f"...{axis}" for axis in range(len(self.wild)))
                        subscripts += [Name(each.offset, name) for name in names]
                    else:
                        subscripts.append(each)
                return replace(node, subscripts=subscripts)
            case Reduction():
                return replace(node, ranges=self.expanded_ranges(node.ranges))
            case Size(of=None):
                return Number(node.offset, prod(self.wild))
            case Unary() | Binary() | Call():
                return self.folded(node)
            case _:
                return node

    def folded(self, node: Expression) -> Expression:
        """Return the number that a float of numbers alone is: `sqrt(2 / pi)`."""
        if not all(isinstance(each, Number) or _is_constant(each) for each in operands(node)):
            return node
        try:
            value = self.numbers.value(node)
        except ScalarError:
            return node  # it is computed when it runs
        return Number(node.offset, value) if isinstance(value, float) else node


def _is_constant(node: Expression) -> bool:
    return isinstance(node, Name) and node.name in CONSTANTS


def _all_accesses(definition: Definition) -> list[Access]:
    limits = [each.limit for each in named_ranges(definition.ranges) if each.limit is not None]
    return [access for part in (*limits, definition.value) for access in accesses(part)]


@dataclass(frozen=True)
class Body:
    """A program, and the plan of each of its definitions by the tensor that it defines."""

    program: Program
    plans: Mapping[str, Plan]

    @property
    def defaults(self) -> Mapping[str, ParameterValue]:
        """The values of parameters that a use may leave out."""
        parameters = self.program.parameters
        return {each.name: each.default for each in parameters if each.default is not None}

    def instance(
        self, inputs: Mapping[str, Type], parameters: Mapping[str, ParameterValue]
    ) -> Instance:
        """Return what the body is for inputs and parameters, those with a default left out or not.

        Raises Misfit for what is missing, unknown, or does not fit.
        """
        values: dict[str, ParameterValue] = {}
        for parameter in self.program.parameters:
            value = parameters.get(parameter.name, parameter.default)
            if value is None:
                raise Misfit(f"expected a parameter '{parameter.name}', got none")
            values[parameter.name] = value
        return instantiate(self.program, self.plans, inputs, values)

    def in_f64(self) -> "Body":
        """Return the body with conversions to f64 in the place of those to f32."""
        return replace(self, program=replace(self.program, single=f64))


def read_body(code: Code, given: Arguments | None = None) -> Body:
    """Read a body; raises IndexNotationError that lists every problem of it."""
    program = read_program(code, given)
    problems: list[Diagnostic] = []
    plans: dict[str, Plan] = {}
    for group in program.groups:
        together = [each.tensor for each in group.definitions]
        for each in group.definitions:
            plans[each.tensor] = plan_sizes(code, each, together, problems)
    if problems:
        raise IndexNotationError(problems)
    return Body(program, plans)


@lru_cache(maxsize=4096)
def of_elements(
    text: str, elements: Sequence[Attribute], parameters: Sequence[tuple[str, float, float]]
) -> Instance:
    """Return what the equation of an elementwise op is for single elements of some types.

    `parameters` are names, values and their signs.
    """
    body = _body_of_op(text)
    types = (Type((), each) for each in elements)
    values = {name: value for name, value, _ in parameters}
    return body.instance(dict(zip(body.program.inputs, types, strict=True)), values)


@lru_cache(maxsize=1024)
def of_tensors(
    text: str, types: Sequence[Type], parameters: Sequence[tuple[str, float, float]]
) -> Instance:
    """Return what the equations of an op are for operands of some types (see `of_elements`)."""
    body = _body_of_op(text)
    values = {name: value for name, value, _ in parameters}
    return body.instance(dict(zip(body.program.inputs, types, strict=True)), values)


@cache
def _body_of_op(text: str) -> Body:
    return read_body(Code.of_text(text, "equation"), Arguments(of_op=True))


@lru_cache(maxsize=4096)
def flops(instance: Instance) -> int:
    """Return the arithmetic of all equations: two for a multiply-add, one for any other step.

    Subscripts, comparisons, choices, conversions and what a sum begins with count none. A reduction
    is computed once for the indices that it depends on, whatever it stands in.
    """
    equations = (each for step in instance.steps for each in step.equations)
    return sum(_equation(instance, each) for each in equations)


def _equation(instance: Instance, equation: Equation) -> int:
    value = equation.definition.value
    own, reductions = _steps(instance, value)
    total = prod(equation.shape) * own
    while reductions:
        node = reductions.pop()
        steps, inner = _steps(instance, node.term)
        reduced = {each.index for each in named_ranges(node.ranges)}
        depends = (names_in(node) & set(equation.extents)) | reduced
        points = prod(equation.extents[each] for each in depends)
        total += points * (steps + 1)
        reductions += inner
    return total


def _steps(instance: Instance, node: Expression) -> tuple[int, list[Reduction]]:
    """Return the steps on an element outside of reductions, and these."""
    if isinstance(node, Reduction):
        return 0, [node]
    total, reductions = 0, list[Reduction]()
    if instance.typing.of(node) is not Weak.INT:
        total = _own(node)
        for each in operands(node):
            steps, inner = _steps(instance, each)
            total += steps
            reductions += inner
    return total, reductions


def _own(node: Expression) -> int:
    match node:
        case Call():
            return 0 if node.function in CONVERTS else function_of(node.function).flops
        case Binary(operator="**", rhs=Number(value=int(power))):
            return max(0, power - 1)
        case Binary(operator="+", lhs=Reduction(kind="sum"), rhs=Access()):
            return 0  # what the sum begins with
        case Binary():
            return OPERATORS[node.operator].flops
        case Unary():
            return PREFIXES[node.operator].flops
        case _:
            return 0
