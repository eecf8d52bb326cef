"""The body of an operator as C: what its names are there, and the sizes of its indices.

A tensor is an `ln_tensor`, also one that is made on the way. `...` is one index that walks all the
axes that it stands for. Integers are computed as `int64_t`; a float that is no element of a tensor
as `real`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from xdsl.dialects.builtin import f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from gawee_dialect.equations.element_types import CONVERTS, Typing, Weak, input_types
from gawee_dialect.equations.functions import ELEMENT_TYPES, FUNCTIONS, ScalarError
from gawee_dialect.equations.instance import Body
from gawee_dialect.equations.program import expressions, indices_of, read_tensors
from gawee_dialect.equations.sizes import (
    Axis,
    Limit,
    Origin,
    Plan,
    Subscript,
    Window,
    subscripts_of,
)
from gawee_dialect.equations.syntax import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Conditional,
    Definition,
    Element,
    Expression,
    Name,
    Number,
    Size,
    Unary,
    Wildcard,
    spelled,
    walk,
)
from gawee_dialect.opdesc.c_values import StructType, param_type
from gawee_dialect.opdesc.compiled import KEYWORDS, CompiledOperator
from gawee_dialect.opdesc.description import DTYPES, Operator, Param

# Pieces of C: literals, and the variables of an operator's functions.


INDENT = "  "

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_ASIDE = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)


def text_literal(text: str) -> str:
    """Return a string as C spells it."""
    spelled = (
        _ESCAPES.get(each) or (each if each.isprintable() else f"\\{ord(each) & 0xFF:03o}")
        for each in text
    )
    return f'"{"".join(spelled)}"'


@dataclass(frozen=True)
class Local:
    """A variable: its declaration without a name, and what it starts as."""

    type: str
    name: str
    value: str

    def text(self) -> str:
        """Return the declaration."""
        star = "" if self.type.endswith("*") else " "
        return f"{self.type}{star}{self.name} = {self.value};"


def identifiers(text: str) -> frozenset[str]:
    """Return the identifiers of C, those in comments and strings included."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


def read_names(text: str) -> frozenset[str]:
    """Return the identifiers of C outside of comments and strings."""
    return identifiers(_ASIDE.sub(" ", text))


def param_c_type(param: Param) -> str:
    """Return the C type of a parameter's variable."""
    if param.kind == "BOOL" and not param.is_array:
        return "bool"
    kind = param_type(param)
    return "char **" if isinstance(kind, StructType) else kind.name


def param_value(param: Param, entry: str) -> str:
    """Return where in its entry the value of a parameter is."""
    if param.kind == "NULL":
        return "NULL"
    if param.kind == "STRING" and param.realtype is None:
        return f"{entry}->value_array_string" if param.is_array else f"{entry}->value_string"
    kind = "bool" if param.kind == "BOOL" else "int"
    if param.kind == "NUMBER" and param.realtype is not None:
        kind = param.realtype.text
    return f"{entry}->value_{'array_' if param.is_array else ''}{kind}"


def locals_from_private(operator: Operator) -> Iterator[Local]:
    """Yield the variables that bodies see, made again of the private data."""
    for tensor in (*operator.tensors_in, *operator.tensors_out):
        name = tensor.arg_name
        yield Local("ln_tensor_entry *", f"{name}_entry", f"priv->{name}_entry")
        yield Local("ln_tensor *", name, f"priv->{name}_entry->tensor")
        yield Local("char *", f"{name}_name", f"priv->{name}_entry->name")
    for param in operator.params:
        entry = f"priv->{param.arg_name}_entry"
        yield Local("ln_param_entry *", f"{param.arg_name}_entry", entry)
        yield Local(param_c_type(param), param.arg_name, param_value(param, entry))


def private_fields(operator: Operator) -> Iterator[str]:
    """Yield the fields of the private data: every entry, then the extra ones."""
    for tensor in (*operator.tensors_in, *operator.tensors_out):
        yield f"ln_tensor_entry *{tensor.arg_name}_entry;"
    for param in operator.params:
        yield f"ln_param_entry *{param.arg_name}_entry;"
    for extra in operator.extra_privs:
        star = "" if extra.type.rstrip().endswith("*") else " "
        yield f"{extra.type}{star}{extra.name};"


def used_lines(lines: Sequence[str | Local]) -> list[str]:
    """Return lines, without variables that no later one reads, unless a check makes them."""
    read: set[str] = set()
    kept: list[str] = []
    for line in reversed(lines):
        text = line if isinstance(line, str) else line.text()
        if isinstance(line, Local) and line.name not in read:
            if not line.value.startswith("ln_opck_"):
                continue
            text = f"(void){line.value};"
        read |= read_names(text)
        kept.append(text)
    return kept[::-1]


WHOLE = "int64_t"

STORED: Mapping[Attribute, tuple[str, str]] = {
    f64: ("double", "TL_DOUBLE"),
    f32: ("float", "TL_FLOAT"),
    i64: ("int", "TL_INT32"),
    i32: ("int", "TL_INT32"),
    i16: ("short", "TL_INT16"),
    i8: ("signed char", "TL_INT8"),
    i1: ("bool", "TL_BOOL"),
}
"""How elements are stored: the C type, and the format's name; it has no integers of 64 bits."""

_BINDS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5} | dict.fromkeys(COMPARISONS, 3)
_PREFIX, _ATOM = 6, 9

_CALLS: Mapping[str, str] = {
    **{name: name + "({})" for name in ("exp", "log", "log1p", "sqrt", "tanh", "erf")},
    **{name: name + "({})" for name in ("sin", "cos", "floor", "ceil")},
    "round": "nearbyint({})",
    "rsqrt": "(1 / sqrt({}))",
    "sigmoid": "(1 / (1 + exp(-({}))))",
    "relu": "ln_max({}, 0)",
}


def require_stored(offset: int, element: Attribute) -> None:
    """Refuse elements that the format cannot store; raises ScalarError."""
    if element not in STORED:
        message = f"expected elements that the format has, got '{element}'"
        raise ScalarError(
            offset, message, ", ".join(dict.fromkeys(name for _, name in STORED.values()))
        )


@dataclass(frozen=True)
class CValue:
    """C of an expression: how tightly it binds, and the type that it is computed in."""

    text: str
    binds: int
    type: str

    def inside(self, least: int) -> str:
        """Return the text, in brackets where it binds less than `least`."""
        return self.text if self.binds >= least else f"({self.text})"


@dataclass
class Numbers:
    """Prints numbers of a definition, or of what is required of sizes."""

    body: "BodyInC"
    definition: Definition | None
    real: str = "double"

    @property
    def typing(self) -> Typing:
        """The types of expressions."""
        return self.body.typing

    def index(self, name: str) -> str | None:
        """Return the variable of an index, None for what is none: numbers have no index."""
        return None

    def size(self, node: Size) -> str:
        """Return the size of an axis, or of an index."""
        if node.axis is not None:
            return f"({WHOLE}){self.body.axis_size(node.of or '', node.axis)}"
        assert self.definition is not None  # a requirement has no index
        return self.body.extent(self.definition, node.of or "...")

    def text(self, node: Expression, type: str | None = None) -> str:
        """Return an expression as C, of a type."""
        value = self.value(node)
        return value.text if type is None else self.as_type(value, type).text

    def type_of(self, node: Expression) -> str:
        """Return the C type that an expression is computed in; raises ScalarError for none."""
        return self.computed(node, self.typing.of(node))

    def computed(self, node: Expression, type: Weak | Attribute) -> str:
        """Return the C type that values of a type are computed in."""
        if isinstance(type, Weak):
            return WHOLE if type is Weak.INT else self.real
        require_stored(node.offset, type)
        stored = STORED[type][0]
        return stored if type in (f32, f64, i1) else WHOLE

    def value(self, node: Expression) -> CValue:
        """Return the C of an expression."""
        match node:
            case Number():
                return _number(node.value, self.type_of(node))
            case Name():
                return self.name(node)
            case Element():
                text = f"{node.parameter}[{node.position}]"
                return CValue(f"({self.type_of(node)}){text}", _PREFIX, self.type_of(node))
            case Size():
                return CValue(self.size(node), _PREFIX, WHOLE)
            case Unary():
                operand = self.value(node.operand)
                text = f"{node.operator}{operand.inside(_PREFIX + 1)}"
                return CValue(text, _PREFIX, operand.type)
            case Conditional():
                type = self.type_of(node)
                yes, no = self.cast(node.yes, type), self.cast(node.no, type)
                condition = self.value(node.condition).inside(1)
                return CValue(f"{condition} ? {yes.inside(1)} : {no.inside(0)}", 0, type)
            case Call():
                return self.call(node)
            case Binary():
                return self.binary(node)
            case _:
                raise AssertionError(f"no number: {node}")

    def name(self, node: Name) -> CValue:
        """Return an index, a constant or a parameter."""
        index = self.index(node.name)
        if index is not None:
            return CValue(index, _ATOM, WHOLE)
        type = self.type_of(node)
        if node.name == "inf":
            return CValue(f"({type})INFINITY", _PREFIX, type)
        if node.name == "pi":
            return _number(3.141592653589793, type)
        return CValue(f"({type}){node.name}", _PREFIX, type)

    def cast(self, node: Expression, type: str) -> CValue:
        """Return an expression converted to a type."""
        if isinstance(node, Number) and type != "bool":
            return _number(node.value, type)
        return self.as_type(self.value(node), type)

    def as_type(self, value: CValue, type: str) -> CValue:
        """Return a value converted to a type."""
        if value.type == type:
            return value
        return CValue(f"({type}){value.inside(_PREFIX)}", _PREFIX, type)

    def binary(self, node: Binary) -> CValue:
        """Return two operands and what is between them."""
        operator = node.operator
        if operator in ("&&", "||"):
            # The compiler warns of one in the other without brackets.
            lhs, rhs = (self.value(each).inside(3) for each in (node.lhs, node.rhs))
            return CValue(f"{lhs} {operator} {rhs}", _BINDS[operator], "bool")
        if operator in COMPARISONS:
            common = self.typing.common(node, node.lhs, node.rhs)
            type = self.computed(node, common)
        else:
            type = self.type_of(node)
        lhs, rhs = self.cast(node.lhs, type), self.cast(node.rhs, type)
        if operator == "**":
            power = "ln_power" if type == WHOLE else f"({type})pow"
            return CValue(f"{power}({lhs.text}, {rhs.text})", _PREFIX, type)
        if operator in ("//", "%"):
            function = "ln_floor_divide" if operator == "//" else "ln_remainder"
            return CValue(f"{function}({lhs.text}, {rhs.text})", _ATOM, WHOLE)
        binds = _BINDS[operator]
        result = "bool" if operator in COMPARISONS else type
        return CValue(f"{lhs.inside(binds)} {operator} {rhs.inside(binds + 1)}", binds, result)

    def call(self, node: Call) -> CValue:
        """Return a function of elements, or a conversion."""
        type = self.type_of(node)
        if node.function in CONVERTS:
            return self.conversion(node, type)
        arguments = [self.cast(each, type) for each in node.arguments]
        if node.function in ("max", "min", "abs", "sign"):
            function = f"ln_{node.function}" + ("_int" if type == WHOLE else "")
            text = f"{function}({', '.join(each.text for each in arguments)})"
        else:
            text = _CALLS[node.function].format(arguments[0].text)
        return CValue(text if type == WHOLE else f"({type}){text}", _PREFIX, type)

    def conversion(self, node: Call, type: str) -> CValue:
        """Return a value converted to the type that a function names."""
        value = self.value(node.arguments[0])
        if type == "bool":
            return CValue(f"{value.inside(4)} != 0", 3, type)
        element = ELEMENT_TYPES.get(node.function)
        if element in (i8, i32):
            narrow = "int8_t" if element == i8 else "int32_t"
            return CValue(f"({WHOLE})({narrow}){value.inside(_PREFIX)}", _PREFIX, type)
        return self.as_type(value, type)


def _number(value: float, type: str) -> CValue:
    """Return a literal of a type."""
    if type == WHOLE:
        return CValue(str(int(value)), _ATOM if value >= 0 else _PREFIX, type)
    if value in (float("inf"), float("-inf")):
        return CValue(f"{'-' if value < 0 else ''}INFINITY", _PREFIX, type)
    text = repr(float(value)) + ("f" if type == "float" else "")
    return CValue(text, _ATOM if value >= 0 else _PREFIX, type)


_WORDS = KEYWORDS.union(
    "true false op_arg priv pow nearbyint INFINITY NULL EOF NAN int64_t int32_t int8_t stdin "
    "stdout stderr errno".split()
)


@dataclass
class Names:
    """Identifiers of C for the names of a body, each its own."""

    taken: set[str]
    known: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def of(self, kind: str, name: str, wish: str) -> str:
        """Return the identifier of a name, `wish` if that is free."""
        if (kind, name) not in self.known:
            while wish in self.taken or wish.startswith(("ln_", "LN_", "TL_", "tl_")):
                wish = f"the_{wish}"
            self.taken.add(wish)
            self.known[kind, name] = wish
        return self.known[kind, name]

    def fresh(self, wish: str) -> str:
        """Return an identifier that nothing has: `wish` with a number."""
        numbers = (f"{wish}_{number}" for number in count(1))
        name = next(each for each in numbers if each not in self.taken)
        self.taken.add(name)
        return name


def span(access: Sequence[object]) -> tuple[int, int]:
    """Return how many subscripts are before the wildcard, and how many behind it."""
    before = next(i for i, each in enumerate(access) if isinstance(each, Wildcard))
    return before, len(access) - before - 1


@dataclass
class BodyInC:
    """What the functions of an operator with a body share."""

    compiled: CompiledOperator
    body: Body

    @cached_property
    def names(self) -> Names:
        """The identifiers; arguments bear their own names."""
        operator = self.compiled.operator
        names = Names({*_WORDS, *FUNCTIONS})
        for name in operator.arg_names():
            own = (f"{name}_{each}" for each in ("entry", "list_entry", "name", "dims", "ndim"))
            names.taken |= {name, f"{name}_dtype", *own}
            names.known["tensor", name] = name
        return names

    @cached_property
    def typing(self) -> Typing:
        """The types of all expressions: raises ScalarError where there are none."""
        program = self.body.program
        parameters = {each.name: each.kind for each in program.parameters}
        for element in self.input_types.values():
            require_stored(0, element)
        typing = Typing(program.code, parameters, self.input_types)
        for group in program.groups:
            for definition in group.definitions:
                element = typing.stored(definition)
                require_stored(definition.offset, element)
                typing.elements[definition.tensor] = element
            if group.along is not None:
                typing.known.clear()
        return typing

    @cached_property
    def input_types(self) -> dict[str, Attribute]:
        """The element types of inputs: what the description says, or what the body is about."""
        found = input_types(self.body.program)
        for tensor in self.compiled.operator.tensors_in:
            if tensor.dtype is not None and tensor.dtype.text in DTYPES:
                found[tensor.arg_name] = DTYPES[tensor.dtype.text]
        return found

    def made(self) -> Sequence[Definition]:
        """Return what is made on the way, and is no output."""
        outputs = self.body.program.outputs
        return [each for each in self.body.program.definitions if each.tensor not in outputs]

    def kept(self) -> Iterator[str]:
        """Yield what gives memory to what is made on the way, until post_run."""
        for each in self.made():
            made, stored = self.shape(each.tensor), self.stored(each.tensor)
            yield f"{made}->data = ln_alloc(sizeof({stored}) * (size_t){made}->len);"
            yield f"priv->{made} = {made};"

    def shape(self, tensor: str) -> str:
        """Return the variable of what an equation defines: its shape, and data if it has any."""
        return self.names.of("made", tensor, f"made_{tensor}")

    def stored(self, tensor: str) -> str:
        """Return the C type of the elements of a tensor."""
        return STORED[self.typing.elements[tensor]][0]

    def dtype(self, tensor: str) -> str:
        """Return the format's name of the type of the elements of a tensor."""
        return STORED[self.typing.elements[tensor]][1]

    def tensor(self, name: str) -> str:
        """Return the variable of an `ln_tensor`."""
        return name if name in self.body.program.inputs else self.shape(name)

    def axis_size(self, tensor: str, axis: int) -> str:
        """Return the size of an axis, a negative one counted from the last."""
        variable = self.tensor(tensor)
        place = str(axis) if axis >= 0 else f"{variable}->ndim - {-axis}"
        return f"{variable}->dims[{place}]"

    def extent(self, definition: Definition, index: str) -> str:
        """Return the variable of the size of an index; of the wildcard for `...`."""
        wish = f"{definition.tensor}_{'rest' if index == '...' else index}"
        return self.names.of("size", f"{definition.tensor} {index}", wish)

    def numbers(self, definition: Definition | None = None) -> Numbers:
        """Return what prints numbers: parameters and sizes."""
        return Numbers(self, definition)

    # Sizes of indices.

    def extents(self, plan: Plan) -> Iterator[Local]:
        """Yield the sizes of the indices of a definition."""
        definition = plan.definition
        if plan.wildcard is not None:
            access, before, behind = plan.wildcard
            value = f"ln_rest({self.tensor(access.tensor)}, {before}, {behind})"
            yield Local(WHOLE, self.extent(definition, "..."), value)
        for origin in plan.origins:
            yield Local(WHOLE, self.extent(definition, origin.index), self.origin(plan, origin))

    def origin(self, plan: Plan, origin: Origin) -> str:
        """Return the size of an index."""
        match origin:
            case Limit():
                return self.numbers(plan.definition).text(origin.limit, WHOLE)
            case Axis():
                return self.axis_size(origin.access.tensor, origin.axis)
            case Window():
                return self.window(plan, origin)

    def window(self, plan: Plan, origin: Window) -> str:
        """Return (size - 1 + padding - constant - greatest of the others) // coefficient + 1."""
        numbers, definition = self.numbers(plan.definition), plan.definition
        constant = numbers.value(origin.form.constant).inside(5)
        room = [self.axis_size(origin.access.tensor, origin.axis), "1"]
        padding = "" if constant == "0" else f" + ln_max_int(0, -({constant})) - {constant}"
        for name, each in origin.form.terms.items():
            if name != origin.index:
                extent = self.extent(definition, name)
                room.append(f"ln_max_int(0, {numbers.value(each).inside(5)} * ({extent} - 1))")
        step = numbers.text(origin.form.terms[origin.index])
        return f"ln_floor_divide({' - '.join(room)}{padding}, {step}) + 1"

    # Checks.

    def checks(self) -> Iterator[str | Local]:
        """Yield the lines of pre_run that check sizes, and make what is made on the way."""
        program = self.body.program
        yield "/* what the body says */"
        for name in program.inputs:
            arguments = f"{text_literal(name)}, {name}_entry, {self.dtype(name)}"
            yield f"ln_opck_tensor_dtype_eq({arguments});"
        ranks = [
            self.rank(access)
            for definition in program.definitions
            for access in read_tensors(definition)
            if access.tensor in program.inputs
        ]
        yield from dict.fromkeys(ranks)
        for each in program.requirements:
            yield from self.size_ranks(each.condition)
            condition = self.numbers().text(each.condition)
            message = text_literal(each.message or f"'{each.text}'")
            yield f'ln_opck_body({condition}, "expected %s", {message});'
        for definition in program.definitions:
            yield from self.definition(definition)

    def rank(self, access: Access) -> str:
        named = sum(not isinstance(each, Wildcard) for each in access.subscripts)
        is_open = named < len(access.subscripts)
        # The format has no tensors of rank 0: their place is taken by those of one element.
        count = named if is_open else max(named, 1)
        arguments = (text_literal(access.tensor), self.tensor(access.tensor), count, int(is_open))
        return f"ln_opck_rank({', '.join(map(str, arguments))});"

    def size_ranks(self, node: Expression) -> Iterator[str]:
        """Yield checks of the ranks that sizes are taken of."""
        for each in walk(node):
            if isinstance(each, Size) and each.axis is not None and each.of is not None:
                tensor, least = self.tensor(each.of), each.axis + 1
                yield f"ln_opck_rank({text_literal(each.of)}, {tensor}, {least}, 1);"

    def definition(self, definition: Definition) -> Iterator[str | Local]:
        """Yield the sizes of a definition, their checks, and its tensor."""
        plan = self.body.plans[definition.tensor]
        yield from dict.fromkeys(self.ranks(plan))
        yield from dict.fromkeys(self.steps(plan))
        yield from self.extents(plan)
        for origin in plan.origins:
            extent = self.extent(definition, origin.index)
            yield f"ln_opck_extent({text_literal(origin.index)}, {extent});"
        yield from self.tensor_of(plan)
        yield from self.stays(definition, plan)

    def ranks(self, plan: Plan) -> Iterator[str]:
        """Yield checks of the ranks of what a definition reads, and of what `...` is in them."""
        definition = plan.definition
        for part in expressions(definition):
            yield from self.size_ranks(part)
        for access in read_tensors(definition):
            if access.tensor not in self.known_before(definition):
                continue
            if access.tensor not in self.body.program.inputs:
                yield self.rank(access)
            if plan.wildcard is not None and access is not plan.wildcard[0]:
                yield from self.same_rest(plan, access)

    def steps(self, plan: Plan) -> Iterator[str]:
        """Yield checks that indices go forward in the windows that say their sizes."""
        for origin in plan.origins:
            if isinstance(origin, Window):
                step = self.numbers(plan.definition).value(origin.form.terms[origin.index])
                if step.text != "1":
                    text = f"expected a multiple of index '{origin.index}' of at least 1"
                    yield f'ln_opck_body({step.inside(4)} >= 1, "%s", {text_literal(text)});'

    def tensor_of(self, plan: Plan) -> Iterator[str | Local]:
        """Yield what makes the tensor of a definition, still without data."""
        definition = plan.definition
        made = self.shape(definition.tensor)
        yield Local("ln_tensor *", made, f"ln_new({self.dtype(definition.tensor)})")
        for each in definition.ranges:
            if isinstance(each, Wildcard):
                assert plan.wildcard is not None  # there is one
                access, before, behind = plan.wildcard
                yield f"ln_add_rest({made}, {self.tensor(access.tensor)}, {before}, {behind});"
            else:
                yield f"ln_add_axis({made}, {self.extent(definition, each.index)});"
        if not definition.ranges:
            yield f"ln_add_axis({made}, 1);"

    def known_before(self, definition: Definition) -> set[str]:
        """Return the tensors whose shape is known before that of a definition."""
        order = [each.tensor for each in self.body.program.definitions]
        return {*self.body.program.inputs, *order[: order.index(definition.tensor)]}

    def same_rest(self, plan: Plan, access: Access) -> Iterator[str]:
        if plan.wildcard is None or not any(isinstance(e, Wildcard) for e in access.subscripts):
            return
        first, before, behind = plan.wildcard
        one = f"{self.tensor(first.tensor)}, {before}, {behind}"
        other = "{}, {}, {}".format(self.tensor(access.tensor), *span(access.subscripts))
        yield f"ln_opck_same_rest({text_literal(access.tensor)}, {one}, {other});"

    def stays(self, definition: Definition, plan: Plan) -> Iterator[str]:
        """Yield checks that sums of multiples of indices stay in their axis and its padding."""
        indices, known = set(indices_of(definition)), self.known_before(definition)
        lines = (
            self.stay(plan, each)
            for access in read_tensors(definition)
            if access.tensor in known
            for each in subscripts_of(access, indices)
        )
        yield from dict.fromkeys(line for line in lines if line is not None)

    def stay(self, plan: Plan, subscript: Subscript) -> str | None:
        """Return the check of one subscript; None where there is nothing to check."""
        access, form, definition = subscript.access, subscript.form, plan.definition
        if form is None:
            return None
        limited = any(isinstance(plan.origin(name), Limit) for name in form.terms)
        if access.otherwise is not None and (limited or not form.is_index()):
            return None
        tensor, size = text_literal(access.tensor), self.axis_size(access.tensor, subscript.axis)
        if form.is_index() and not limited:
            (index,) = form.terms
            origin = plan.origin(index)
            assert origin is not None  # every index has one
            if self.origin(plan, origin) == size:
                return None
            extent = self.extent(definition, index)
            return f"ln_opck_one_size({text_literal(index)}, {extent}, {tensor}, {size});"
        numbers = self.numbers(definition)
        constant = numbers.value(form.constant).inside(4)
        reaches = [
            f"{numbers.value(factor).inside(5)} * ({self.extent(definition, name)} - 1)"
            for name, factor in form.terms.items()
        ]
        low = [constant, *(f"ln_min_int(0, {each})" for each in reaches)]
        high = [constant, *(f"ln_max_int(0, {each})" for each in reaches)]
        padded = "LN_LIMITED" if limited else "LN_PADDED"
        kind = "LN_INSIDE" if form.is_index() else padded
        what = text_literal(f"'{spelled(subscript.expression)}'")
        places = f"{' + '.join(low)}, {' + '.join(high)}, {constant}"
        return f"ln_opck_stays({what}, {tensor}, {size}, {places}, {kind});"
