"""The `run` of a body in C: a nest of loops for each equation, and one for each reduction in it.

Sums of floats are taken in double. What may be outside of a tensor is guarded.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gawee_dialect.opdesc.emit.c_body import BodyInC
from gawee_dialect.opdesc.emit.c_numbers import WHOLE, CValue, Numbers
from gawee_dialect.opdesc.emit.c_text import INDENT, Local, param_c_type, param_value, used_lines
from gawee_dialect.opdesc.index_notation.recursion import Group
from gawee_dialect.opdesc.index_notation.sizes import Limit
from gawee_dialect.opdesc.index_notation.syntax import (
    Access,
    Conditional,
    Definition,
    Expression,
    Name,
    Range,
    Reduction,
    Wildcard,
    operands,
)

_NEUTRAL = {"sum": "0", "prod": "1", "any": "false", "all": "true"}
_LIMITS = {("max", True): "INT64_MIN", ("min", True): "INT64_MAX"} | {
    ("max", False): "-INFINITY",
    ("min", False): "INFINITY",
}


def run_lines(body: BodyInC) -> Sequence[str]:
    """Return the statements of `run`."""
    lines: list[str | Local] = list(_variables(body))
    for group in body.body.program.groups:
        lines += _group(body, group)
    return used_lines(lines)


def _variables(body: BodyInC) -> Iterator[Local]:
    operator = body.compiled.operator
    yield Local(f"struct {operator.optype}_priv *", "priv", "op_arg->priv")
    for param in operator.params:
        entry = f"priv->{param.arg_name}_entry"
        yield Local(param_c_type(param), param.arg_name, param_value(param, entry))
    for name in body.body.program.inputs:
        yield Local("const ln_tensor *", name, f"priv->{name}_entry->tensor")
        yield Local(f"const {body.stored(name)} *", data(body, name), f"{name}->data")
    outputs = body.body.program.outputs
    for definition in body.body.program.definitions:
        name = definition.tensor
        made = body.shape(name)
        place = f"priv->{name}_entry->tensor" if name in outputs else f"priv->{made}"
        yield Local("const ln_tensor *", made, place)
        yield Local(f"{body.stored(name)} *", data(body, name), f"{made}->data")


def data(body: BodyInC, tensor: str) -> str:
    """Return the variable of the data of a tensor."""
    return body.names.of("data", tensor, f"{tensor}_data")


def _group(body: BodyInC, group: Group) -> Iterator[str | Local]:
    """Yield the loops of equations that are computed together."""
    for definition in group.definitions:
        yield from body.extents(body.body.plans[definition.tensor])
    if group.along is None:
        (definition,) = group.definitions
        yield from _Equation(body, definition).lines_of(definition.ranges)
        return
    step = body.names.of("index", group.along, group.along)
    count = body.extent(group.definitions[0], group.along)
    if group.backward:
        yield f"for ({WHOLE} {step} = {count} - 1; {step} >= 0; {step}--) {{"
    else:
        yield f"for ({WHOLE} {step} = 0; {step} < {count}; {step}++) {{"
    for definition in group.definitions:
        ranges = [
            each
            for each in definition.ranges
            if isinstance(each, Wildcard) or each.index != group.along
        ]
        lines = _Equation(body, definition).lines_of(ranges)
        yield from (INDENT + line for line in lines)
    yield "}"


@dataclass
class _Equation:
    """Prints one equation, line by line."""

    body: BodyInC
    definition: Definition
    lines: list[str] = field(default_factory=list[str])
    depth: int = 0
    places: dict[int, CValue] = field(default_factory=dict[int, CValue])
    """The subscripts that have a variable, by identity."""
    sure: set[int] = field(default_factory=set[int])
    """The accesses that are known to be inside of their tensor here, by identity."""

    def lines_of(self, ranges: Sequence[Range | Wildcard]) -> Sequence[str]:
        """Return the loops over the indices of what is defined."""
        definition = self.definition
        for each in ranges:
            self.open_loop(each)
        name = definition.tensor
        value = self.numbers().text(definition.value, self.body.stored(name))
        own: list[Expression | Wildcard] = [
            each if isinstance(each, Wildcard) else Name(each.offset, each.index)
            for each in definition.ranges
        ]
        address = self.address(Access(definition.offset, name, own))
        self.add(f"{data(self.body, name)}[{address}] = {value};")
        for _ in ranges:
            self.close()
        return self.lines

    def add(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    def open_loop(self, each: Range | Wildcard) -> None:
        index = "..." if isinstance(each, Wildcard) else each.index
        name = self.index(index)
        extent = self.body.extent(self.definition, index)
        self.add(f"for ({WHOLE} {name} = 0; {name} < {extent}; {name}++) {{")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.add("}")

    def index(self, index: str) -> str:
        """Return the variable of an index."""
        return self.body.names.of("index", index, "rest" if index == "..." else index)

    def numbers(self) -> "_Elements":
        return _Elements(self)

    # Elements.

    def address(self, access: Access) -> str:
        """Return the position of an element in its tensor, row by row."""
        subscripts = access.subscripts
        text, wild = "", False
        for axis, each in enumerate(subscripts):
            if isinstance(each, Wildcard):
                wild = True
                size = self.body.extent(self.definition, "...")
                place = CValue(self.index("..."), 9, WHOLE)
            else:
                size = self.body.axis_size(access.tensor, axis - len(subscripts) if wild else axis)
                place = self.place(each)
            if text:
                text = f"({text})" if " + " in text else text
                text = f"{text} * {size} + {place.inside(4)}"
            else:
                text = place.text
        return text or "0"

    def place(self, subscript: Expression) -> CValue:
        """Return a subscript, in a variable where it is more than an index."""
        if isinstance(subscript, Name):
            return self.numbers().value(subscript)
        if id(subscript) not in self.places:
            value = self.numbers().text(subscript, WHOLE)
            name = self.body.names.fresh("at")
            self.add(f"const {WHOLE} {name} = {value};")
            self.places[id(subscript)] = CValue(name, 9, WHOLE)
        return self.places[id(subscript)]

    def bounds(self, access: Access) -> list[str]:
        """Return the conditions under which an access is inside of its tensor."""
        found: list[str] = []
        wild = False
        plan = self.body.body.plans[self.definition.tensor]
        for axis, each in enumerate(access.subscripts):
            if isinstance(each, Wildcard):
                wild = True
                continue
            if isinstance(each, Name) and plan.origin(each.name) is not None:
                limited = isinstance(plan.origin(each.name), Limit)
                if not limited or access.otherwise is None:
                    continue
            size = self.body.axis_size(
                access.tensor, axis - len(access.subscripts) if wild else axis
            )
            place = self.place(each).text
            found.append(f"{place} >= 0 && {place} < {size}")
        return found

    def inside(self, node: Expression) -> list[str]:
        """Return the conditions under which an expression reads inside of tensors."""
        match node:
            case Reduction():
                return []
            case Access() if node.otherwise is not None:
                return []
            case Access():
                nested = [e for e in node.subscripts if not isinstance(e, Wildcard)]
                found = [text for each in nested for text in self.inside(each)]
                self.sure.add(id(node))
                return [*found, *self.bounds(node)]
            case Conditional():
                before = set(self.sure)
                branches = [" && ".join(self.inside(each)) for each in (node.yes, node.no)]
                self.sure = before
                found = self.inside(node.condition)
                if any(branches):
                    yes, no = (each or "true" for each in branches)
                    condition = self.numbers().value(node.condition).inside(1)
                    found.append(f"({condition} ? {yes} : {no})")
                return found
            case _:
                return [text for each in operands(node) for text in self.inside(each)]

    @contextmanager
    def block(self) -> Generator[None]:
        """Keep what is known of subscripts to the loops in between."""
        places, sure = dict(self.places), set(self.sure)
        yield
        self.places, self.sure = places, sure

    def reduction(self, node: Reduction, type: str) -> CValue:
        """Print the loops of a reduction; return the variable of its value."""
        kind = node.kind
        wide = "double" if kind == "sum" and type == "float" else type
        name = self.body.names.fresh(kind)
        neutral = _NEUTRAL.get(kind) or _LIMITS[kind, type == WHOLE]
        self.add(f"{wide} {name} = {neutral};")
        with self.block():
            for each in node.ranges:
                self.open_loop(each)
            if node.condition is not None:
                condition = self.numbers().text(node.condition)
                self.add(f"if (!({condition})) continue;")
            conditions = list(dict.fromkeys(self.inside(node.term)))
            if conditions:
                self.add(f"if (!({' && '.join(conditions)})) continue;")
            term = self.numbers().cast(node.term, type)
            self.add(_accumulated(kind, name, term, type))
        for _ in node.ranges:
            self.close()
        value = CValue(name, 9, wide)
        return self.numbers().as_type(value, type)


def _accumulated(kind: str, name: str, term: CValue, type: str) -> str:
    if kind in ("sum", "prod"):
        return f"{name} {'+' if kind == 'sum' else '*'}= {term.text};"
    if kind in ("any", "all"):
        return f"{name} = {name} {'||' if kind == 'any' else '&&'} {term.inside(3)};"
    suffix = "_int" if type == WHOLE else ""
    return f"{name} = ln_{kind}{suffix}({name}, {term.text});"


class _Elements(Numbers):
    """Prints expressions with elements and reductions, whose loops go before."""

    def __init__(self, equation: _Equation) -> None:
        body, definition = equation.body, equation.definition

        def index(name: str) -> str | None:
            known = body.body.plans[definition.tensor].origin(name)
            return None if known is None else equation.index(name)

        size = body.numbers(definition).size
        super().__init__(body.typing, index, lambda name: name, size, "float")
        self.equation = equation

    def value(self, node: Expression) -> CValue:
        match node:
            case Access():
                return self.access(node)
            case Reduction():
                return self.equation.reduction(node, self.type_of(node))
            case _:
                return super().value(node)

    def access(self, node: Access) -> CValue:
        """Return an element; outside of the tensor `else`, or 0."""
        equation, body = self.equation, self.equation.body
        conditions = [] if id(node) in equation.sure else equation.bounds(node)
        text = f"{data(body, node.tensor)}[{equation.address(node)}]"
        type = self.computed(node, body.typing.elements[node.tensor])
        stored = CValue(text, 9, body.stored(node.tensor))
        found = self.as_type(stored, type)
        if not conditions:
            return found
        otherwise = "0" if node.otherwise is None else self.cast(node.otherwise, type).inside(0)
        return CValue(f"{' && '.join(conditions)} ? {found.text} : {otherwise}", 0, type)
