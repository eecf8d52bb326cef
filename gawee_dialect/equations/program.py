"""A body whose names are resolved: what it reads, what it makes, its parameters, in which order.

Inputs are in the order of `inputs`, or else in that of the text; outputs are those that `return`
names, or else all that are not read again. Equations that read what they define, one step earlier
(`h[t] = f(h[t - 1], x[t])`), are a group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic, did_you_mean
from gawee_dialect.equations.functions import (
    CONSTANTS,
    CONVERSIONS,
    ELEMENT_TYPES,
    FUNCTIONS,
    OF_OPS,
)
from gawee_dialect.equations.parse import IndexNotationError, parse_body, problem
from gawee_dialect.equations.syntax import (
    Access,
    Call,
    Definition,
    Element,
    Expression,
    Inputs,
    Name,
    Number,
    Parameter,
    Range,
    Reduction,
    Requirement,
    Return,
    Size,
    Statement,
    Wildcard,
    accesses,
    linear,
    mapped,
    mapped_ranges,
    named_ranges,
    operands,
    walk,
)
from gawee_dialect.located_json import Code


@dataclass(frozen=True)
class Group:
    """Equations that are computed together: one alone, or some along an index, step by step.

    `along` is that index, None where nothing is read that comes later; `backward` where steps read
    `t + 1`, and go from the last.
    """

    definitions: Sequence[Definition]
    along: str | None = None
    backward: bool = False


def groups_of(
    code: Code, definitions: Sequence[Definition], problems: list[Diagnostic]
) -> Sequence[Group]:
    """Return equations in groups; reports those that have no order to compute them in."""
    position = {each.tensor: index for index, each in enumerate(definitions)}
    groups: list[Group] = []
    start = 0
    while start < len(definitions):
        end = start + 1
        index = start
        while index < end:
            read = [position.get(each.tensor, -1) for each in accesses(definitions[index].value)]
            end = max(end, *(each + 1 for each in read if each >= start), index + 1)
            index += 1
        part = definitions[start:end]
        if not _is_recursive(part):
            groups.append(Group(part))
        else:
            groups.append(_group(code, part, problems))
        start = end
    return groups


def _is_recursive(part: Sequence[Definition]) -> bool:
    names = {each.tensor for each in part}
    return any(access.tensor in names for each in part for access in accesses(each.value))


def _group(code: Code, part: Sequence[Definition], problems: list[Diagnostic]) -> Group:
    """Return a group along the index by which all that is read comes earlier."""
    common = [
        each.index
        for each in named_ranges(part[0].ranges)
        if all(any(each.index == r.index for r in named_ranges(d.ranges)) for d in part)
    ]
    wrong = _first_access(part)
    for index in common:
        steps: set[int] = set()
        found = _steps(part, index, steps)
        if found is None and (max(steps) < 0 or min(steps) > 0):
            return Group(part, index, backward=min(steps) > 0)
        wrong = found or wrong
    name = wrong.tensor
    message = f"expected '{name}' to be read one step earlier, as in {name}[t - 1]"
    hint = "an equation may read what it defines along one index, all of it from the same side"
    problems.append(problem(code, wrong.offset, message, hint))
    return Group(part)


def _first_access(part: Sequence[Definition]) -> Access:
    names = {each.tensor for each in part}
    found = (access for each in part for access in accesses(each.value) if access.tensor in names)
    return next(found)


def _steps(part: Sequence[Definition], index: str, steps: set[int]) -> Access | None:
    """Collect how far from `index` a group reads itself; returns an access that is no step."""
    order = {each.tensor: number for number, each in enumerate(part)}
    for number, definition in enumerate(part):
        for access in accesses(definition.value):
            if access.tensor not in order:
                continue
            other = part[order[access.tensor]]
            step = _step(access, other, index)
            if step is None or (step == 0 and order[access.tensor] >= number):
                return access
            if step != 0:
                steps.add(step)
    return None


def _step(access: Access, of: Definition, index: str) -> int | None:
    """Return the number that an access adds to an index of what it reads, None for no number."""
    position = _position(of, index, len(access.subscripts))
    subscript = access.subscripts[position]
    if isinstance(subscript, Wildcard):
        return None
    form = linear(subscript, {index})
    if form is None or not isinstance(form.constant, Number):
        return None
    value = form.constant.value
    steps = set(form.terms) == {index} and _is_one(form.terms[index])
    return value if steps and isinstance(value, int) else None


def _position(of: Definition, index: str, count: int) -> int:
    """Return which subscript stands for an index of a definition."""
    names = [None if isinstance(each, Wildcard) else each.index for each in of.ranges]
    found = names.index(index)
    return found if None not in names[:found] else found - len(names) + count


def _is_one(coefficient: object) -> bool:
    return isinstance(coefficient, Number) and coefficient.value == 1


@dataclass(frozen=True)
class Arguments:
    """What is said of a body beside it; None for arguments of which nothing is.

    Those `of_op`, a class of the dialect, may call functions that descriptions lack.
    """

    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    parameters: Sequence[Parameter] = ()
    of_op: bool = False


@dataclass(frozen=True)
class Program:
    """Equations in their order, and the arguments of the operator that they are."""

    code: Code
    inputs: Sequence[str]
    outputs: Sequence[str]
    parameters: Sequence[Parameter]
    requirements: Sequence[Requirement]
    definitions: Sequence[Definition]
    groups: Sequence[Group]
    """The definitions again: those that depend on each other's earlier elements together."""

    of_op: bool = False

    single: Attribute = f32
    """What `f32(v)` is: f64 where the same is computed with fewer roundings."""


def read_program(code: Code, given: Arguments | None = None) -> Program:
    """Parse a body and resolve its names; raises IndexNotationError that lists every problem."""
    return _Resolver(code, given or Arguments(), parse_body(code)).program()


def read_tensors(definition: Definition) -> list[Access]:
    """Return every access of a definition, those in limits of its indices included."""
    return [access for part in expressions(definition) for access in accesses(part)]


def expressions(definition: Definition) -> list[Expression]:
    """Return the limits and the value of a definition."""
    ranges = named_ranges(definition.ranges)
    return [*(each.limit for each in ranges if each.limit is not None), definition.value]


def indices_of(definition: Definition) -> dict[str, Range]:
    """Return every index of a definition, reduced ones too; a limit goes before none."""
    found: dict[str, Range] = {}
    for part in (definition, *(each for e in expressions(definition) for each in walk(e))):
        if isinstance(part, Definition | Reduction):
            for each in named_ranges(part.ranges):
                if each.index not in found or found[each.index].limit is None:
                    found[each.index] = each
    return found


def _uses(definition: Definition) -> list[Name]:
    """Return the tensors that a definition reads, or takes a size of."""
    parts = (node for part in expressions(definition) for node in walk(part))
    return [
        Name(node.offset, node.tensor if isinstance(node, Access) else node.of or "")
        for node in parts
        if isinstance(node, Access) or (isinstance(node, Size) and node.axis is not None)
    ]


@dataclass
class _Resolver:
    code: Code
    given: Arguments
    statements: Sequence[Statement]
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    ranks: dict[str, Access | Definition] = field(default_factory=dict[str, Access | Definition])

    def report(self, offset: int, message: str, hint: str | None = None) -> None:
        self.problems.append(problem(self.code, offset, message, hint))

    def program(self) -> Program:
        """Resolve everything."""
        for parameter in self.given.parameters:
            self.parameters[parameter.name] = parameter
        for statement in self.statements:
            if isinstance(statement, Parameter):
                self.declare(statement)
        definitions = [
            self.with_elements(each) for each in self.statements if isinstance(each, Definition)
        ]
        requirements = [
            replace(each, condition=mapped(each.condition, self.element))
            for each in self.statements
            if isinstance(each, Requirement)
        ]
        if not definitions:
            self.report(0, "expected an equation such as y[n] = x[n], got none")
        self.check_defined_once(definitions)
        inputs = self.inputs(definitions)
        self.check_names(definitions, requirements, inputs)
        outputs = self.outputs(definitions)
        self.stop_at_problems()
        groups = groups_of(self.code, definitions, self.problems)
        self.stop_at_problems()
        parameters = tuple(self.parameters.values())
        return Program(
            *(self.code, inputs, outputs, parameters, requirements, definitions, groups),
            self.given.of_op,
        )

    def stop_at_problems(self) -> None:
        if self.problems:
            raise IndexNotationError(dict.fromkeys(self.problems))

    def declare(self, parameter: Parameter) -> None:
        if parameter.name in self.parameters or parameter.name in CONSTANTS:
            message = f"expected parameters to differ, got '{parameter.name}' twice"
            if parameter.name in CONSTANTS:
                message = f"expected another name than '{parameter.name}', which is a constant"
            self.report(parameter.offset, message)
        self.parameters[parameter.name] = parameter

    # Elements of parameters.

    def with_elements(self, definition: Definition) -> Definition:
        """Return a definition in which `pads[2]` is an element of a parameter."""
        ranges = mapped_ranges(definition.ranges, self.element)
        return replace(definition, ranges=ranges, value=mapped(definition.value, self.element))

    def element(self, node: Expression) -> Expression:
        if not isinstance(node, Access) or node.tensor not in self.parameters:
            return node
        parameter = self.parameters[node.tensor]
        if parameter.length is None:
            message = f"expected '{node.tensor}' without subscripts, it is one number"
            self.report(node.offset, message)
            return Name(node.offset, node.tensor)
        position = node.subscripts[0] if len(node.subscripts) == 1 else None
        number = position.value if isinstance(position, Number) else None
        if not isinstance(number, int) or not number < parameter.length:
            message = (
                f"expected one number from 0 to {parameter.length - 1} in the brackets of "
                f"parameter '{node.tensor}'"
            )
            self.report(node.offset, message)
            number = 0
        return Element(node.offset, node.tensor, number)

    # Arguments.

    def check_defined_once(self, definitions: Sequence[Definition]) -> None:
        seen: set[str] = set()
        for each in definitions:
            if each.tensor in seen:
                self.report(each.offset, f"expected one equation for '{each.tensor}', got two")
            seen.add(each.tensor)

    def inputs(self, definitions: Sequence[Definition]) -> Sequence[str]:
        """Return the tensors that are read and not made, as they are declared or else found."""
        made = {each.tensor for each in definitions}
        read = [use for each in definitions for use in _uses(each)]
        found = [use for use in read if use.name not in made]
        declared = self.declared_inputs()
        if declared is None:
            return list(dict.fromkeys(use.name for use in found))
        for use in found:
            if use.name not in declared:
                known = [*declared, *made]
                hint = did_you_mean(use.name, known, f"tensors: {', '.join(known)}")
                self.report(use.offset, f"unknown tensor '{use.name}'", hint)
        for name, offset in declared.items():
            if name in made:
                self.report(offset, f"expected input '{name}' not to be defined by an equation")
            elif name not in {use.name for use in found}:
                self.report(offset, f"expected input '{name}' to be read, it is not")
        return list(declared)

    def declared_inputs(self) -> Mapping[str, int] | None:
        """Return the inputs that the description or the body declares, and where."""
        declared: dict[str, int] | None = None
        if self.given.inputs is not None:
            declared = dict.fromkeys(self.given.inputs, 0)
        for statement in self.statements:
            if not isinstance(statement, Inputs):
                continue
            if declared is not None:
                self.report(statement.offset, "expected inputs to be declared once, got twice")
            declared = {}
            for name in statement.names:
                if name.name in declared:
                    self.report(name.offset, f"expected inputs to differ, got '{name.name}' twice")
                declared[name.name] = name.offset
        return declared

    def outputs(self, definitions: Sequence[Definition]) -> Sequence[str]:
        """Return the tensors that are results."""
        made = {each.tensor: each for each in definitions}
        read = {
            access.tensor
            for each in definitions
            for access in read_tensors(each)
            if access.tensor != each.tensor
        }
        declared = self.declared_outputs()
        if declared is None:
            return [name for name in made if name not in read] or list(made)[-1:]
        for name, offset in declared.items():
            if name not in made:
                hint = did_you_mean(name, made, f"equations define: {', '.join(made)}")
                self.report(offset, f"expected an equation for output '{name}', got none", hint)
        for name, definition in made.items():
            if name not in read and name not in declared:
                message = f"expected '{name}' to be read or returned, it is neither"
                self.report(definition.offset, message)
        return list(declared)

    def declared_outputs(self) -> Mapping[str, int] | None:
        declared: dict[str, int] | None = None
        if self.given.outputs is not None:
            declared = dict.fromkeys(self.given.outputs, 0)
        for statement in self.statements:
            if not isinstance(statement, Return):
                continue
            if declared is not None:
                self.report(statement.offset, "expected outputs to be declared once, got twice")
            declared = {}
            for name in statement.names:
                if name.name in declared:
                    self.report(name.offset, f"expected outputs to differ, got '{name.name}' twice")
                declared[name.name] = name.offset
        return declared

    # Names in expressions.

    def check_names(
        self,
        definitions: Sequence[Definition],
        requirements: Sequence[Requirement],
        inputs: Sequence[str],
    ) -> None:
        """Check every name, every number of subscripts and of arguments."""
        known: set[str] = set(inputs) | {each.tensor for each in definitions}
        for definition in definitions:
            self.note_rank(definition.tensor, definition)
            indices = indices_of(definition)
            scope = _Scope({*indices}, known, self.bound(definition.ranges, set()))
            wild = any(isinstance(each, Wildcard) for each in definition.ranges)
            for each in named_ranges(definition.ranges):
                if each.limit is not None:
                    self.check(each.limit, replace(scope, indices=set()), wild)
            self.check(definition.value, scope, wild)
        scope = _Scope(set(), set(inputs), set())
        for requirement in requirements:
            for access in accesses(requirement.condition):
                message = "expected a requirement to be about sizes and parameters"
                self.report(access.offset, f"{message}, got an element of '{access.tensor}'")
            self.check(requirement.condition, scope, wild=False)

    def bound(self, ranges: Sequence[Range | Wildcard], outer: set[str]) -> set[str]:
        """Return indices with those of ranges, which are to be new ones."""
        found = set(outer)
        for each in named_ranges(ranges):
            if each.index in found:
                self.report(each.offset, f"expected indices to differ, got '{each.index}' twice")
            if each.index in self.parameters or each.index in CONSTANTS:
                message = f"expected another name than '{each.index}' for an index"
                self.report(each.offset, f"{message}, it has a meaning")
            found.add(each.index)
        wild = [each for each in ranges if isinstance(each, Wildcard)]
        if len(wild) > 1:
            self.report(wild[1].offset, "expected '...' once among indices, got it twice")
        return found

    def check(self, node: Expression, scope: "_Scope", wild: bool) -> None:
        match node:
            case Name():
                self.check_name(node, scope)
            case Access():
                self.check_access(node, scope, wild)
            case Size():
                self.check_size(node, scope, wild)
            case Call():
                self.check_call(node)
            case Reduction():
                wild = wild or any(isinstance(each, Wildcard) for each in node.ranges)
                scope = replace(scope, indices=self.bound(node.ranges, scope.indices))
            case _:
                pass
        for each in operands(node):
            self.check(each, scope, wild)

    def check_name(self, node: Name, scope: "_Scope") -> None:
        parameter = self.parameters.get(node.name)
        if parameter is not None and parameter.length is not None:
            message = f"expected an element of parameter '{node.name}', such as {node.name}[0]"
            self.report(node.offset, message)
        if parameter is not None or node.name in scope.indices or node.name in CONSTANTS:
            return
        known = [*scope.indices, *self.parameters, *CONSTANTS]
        hint = did_you_mean(
            node.name,
            known,
            f"an index is bound by = or sum(i), a parameter declared: int {node.name} = 1",
        )
        if node.name in scope.tensors:
            hint = f"an element of a tensor has subscripts: {node.name}[...]"
        self.report(node.offset, f"unknown name '{node.name}'", hint)

    def check_access(self, node: Access, scope: "_Scope", wild: bool) -> None:
        if node.tensor not in scope.tensors:
            return  # reported with the inputs
        self.note_rank(node.tensor, node)
        wildcards = [each for each in node.subscripts if isinstance(each, Wildcard)]
        if len(wildcards) > 1:
            self.report(wildcards[1].offset, "expected '...' once in a subscript, got it twice")
        if wildcards and not wild:
            message = "expected '...' among the indices of the equation or of a reduction"
            self.report(wildcards[0].offset, message, f"such as y[...] = {node.tensor}[...]")

    def note_rank(self, tensor: str, node: Access | Definition) -> None:
        """Report a tensor that is used with two numbers of subscripts."""
        first = self.ranks.setdefault(tensor, node)
        (one, open_one), (other, open_other) = _rank(first), _rank(node)
        if open_one and not open_other:
            self.ranks[tensor] = node
        fits = one <= other if open_one else other <= one
        if (open_one and open_other) or (one == other) or ((open_one or open_other) and fits):
            return
        message = f"expected {one} subscripts of '{tensor}', got {other}"
        hint = f"as at {self.code.place(first.offset)}"
        self.report(node.offset, message, hint)

    def check_size(self, node: Size, scope: "_Scope", wild: bool) -> None:
        if node.of is None:
            if not wild:
                self.report(node.offset, "expected '...' among the indices, got none")
            return
        if node.axis is not None or node.of in scope.all_indices:
            return  # unknown tensors are reported with the inputs
        known = scope.all_indices
        if node.of in scope.tensors:
            hint = f"the size of an axis: size({node.of}, 0)"
        else:
            hint = did_you_mean(node.of, known, f"known: {', '.join(sorted(known)) or 'none'}")
        self.report(node.offset, f"unknown index '{node.of}'", hint)

    def check_call(self, node: Call) -> None:
        functions = {**FUNCTIONS, **OF_OPS} if self.given.of_op else FUNCTIONS
        count = None
        if node.function in CONVERSIONS or (self.given.of_op and node.function in ELEMENT_TYPES):
            count = 1
        elif node.function in functions:
            count = functions[node.function].arity
        if count is None:
            known = [*FUNCTIONS, *CONVERSIONS]
            hint = did_you_mean(node.function, known, f"functions: {', '.join(known)}")
            self.report(node.offset, f"unknown function '{node.function}'", hint)
        elif len(node.arguments) != count:
            message = f"expected {count} arguments of '{node.function}', got {len(node.arguments)}"
            self.report(node.offset, message.replace("1 arguments", "1 argument"))


@dataclass(frozen=True)
class _Scope:
    """Names that an expression may use: `all_indices` have a size, `indices` a value here."""

    all_indices: set[str]
    tensors: set[str]
    indices: set[str]


def _rank(node: Access | Definition) -> tuple[int, bool]:
    """Return how many axes are named, and whether there may be more."""
    parts = node.subscripts if isinstance(node, Access) else node.ranges
    named = sum(not isinstance(each, Wildcard) for each in parts)
    return named, named < len(parts)
