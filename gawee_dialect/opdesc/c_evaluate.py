"""Evaluate C: integer semantics of C, and every way to go wrong is an error with its place.

Work is limited: so many steps, so many array elements. Nothing here reads a file, or runs code.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gawee_dialect.opdesc import c_syntax as c
from gawee_dialect.opdesc.c_library import FUNCTIONS, MAX_ELEMENTS
from gawee_dialect.opdesc.c_operations import arithmetic, combined, loaded, number_value, size_of
from gawee_dialect.opdesc.c_values import (
    CHAR,
    DOUBLE,
    INT,
    NULL,
    STRING,
    Arithmetic,
    Buffer,
    CType,
    EvaluationError,
    PointerType,
    Ref,
    Value,
    as_arithmetic,
    converted,
    described,
    element_type,
    type_of,
)
from gawee_dialect.opdesc.enums import CONSTANTS
from gawee_dialect.opdesc.printf import formatted
from gawee_dialect.source import Place

MAX_STEPS = 50_000
"""Expressions and statements of one invocation: a loop over the sizes of a tensor is 100."""

LN_MAXLINE = 4096

NAMED_CONSTANTS: Mapping[str, Value] = {
    **{name: Value(INT, value) for name, value in CONSTANTS.items()},
    "LN_MAXLINE": Value(INT, LN_MAXLINE),
    "NULL": NULL,
    "true": Value(INT, 1),
    "false": Value(INT, 0),
}

RELATIONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
"""The operator of each relation's name."""

PARAM_CHECKS: Mapping[str, tuple[str, str]] = {
    f"ln_opck_param_{kind}_{relation}": (kind, relation)
    for kind in ("int", "float", "double")
    for relation in RELATIONS
}
"""Functions that compare a parameter's value: its C type and the relation."""

STATEMENT_CALLS: Mapping[str, int | None] = {
    "ln_opck_satisfy": 1,
    "ln_opck_satisfy_msg": None,
    "ln_msg_warn": None,
    "ln_msg_inter_error": None,
    "ln_msg_error": None,
    **dict.fromkeys(PARAM_CHECKS, 2),
}
"""Functions that check and complain, and their arity; None for a message and its arguments."""


class CodeFailure(Exception):
    """A text cannot be evaluated to its end; `place` is where in the description."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class Unsatisfied(Exception):
    """A check that a text makes has failed; `kind` is the name that the format has for it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class _Leave(Exception):
    """Leaves a loop's body: `break`, or `continue`."""

    def __init__(self, breaks: bool) -> None:
        self.breaks = breaks


@dataclass
class Variable:
    """A variable and its value, None before it has one."""

    type: CType
    value: Value | None = None


@dataclass
class Evaluator:
    """Evaluates the texts of one invocation, which share their outermost variables."""

    scopes: list[dict[str, Variable]] = field(default_factory=lambda: [dict[str, Variable]()])
    warnings: list[str] = field(default_factory=list[str])
    steps: int = 0
    elements: int = 0

    def declare(self, name: str, kind: CType, value: Value | None = None) -> None:
        """Make a variable in the innermost scope."""
        initial = None if value is None else converted(value, kind)
        self.scopes[-1][name] = Variable(kind, initial)

    def variable(self, name: str) -> Variable | None:
        """Return a variable, the innermost of its name."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def evaluate(self, node: c.Expression) -> Value:
        """Return an expression's value; raises CodeFailure and Unsatisfied."""
        self._step(node.place)
        try:
            return self._evaluate(node)
        except EvaluationError as error:
            raise CodeFailure(str(error), node.place) from error
        except RecursionError as error:
            raise CodeFailure("expected C text that is nested less deeply", node.place) from error

    def run(self, statements: Sequence[c.Statement]) -> None:
        """Run statements in the innermost scope; raises CodeFailure and Unsatisfied."""
        for statement in statements:
            self._run(statement)

    def _step(self, place: Place) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise CodeFailure(f"expected to end within {MAX_STEPS} steps", place)

    def _evaluate(self, node: c.Expression) -> Value:
        match node:
            case c.Number():
                return number_value(node)
            case c.Text():
                return Value(STRING, node.value)
            case c.Name():
                return self._name(node)
            case c.Binary():
                return self._binary(node)
            case c.Unary():
                return self._unary(node)
            case c.Index():
                return self._element(node)
            case c.Member():
                return self._member(node)
            case c.Conditional():
                return self._conditional(node)
            case _:
                return self._evaluate_other(node)

    def _evaluate_other(self, node: c.Expression) -> Value:
        match node:
            case c.Call():
                return self._call(node)
            case c.Cast():
                return self._cast(node)
            case c.SizeOf():
                return size_of(node.type)
            case c.ArrayLiteral():
                return self._array(node)
            case c.Assign():
                return self._assign(node)
            case c.Step():
                return self._increment(node)
            case _:
                raise AssertionError(f"no expression: {node}")

    def _name(self, node: c.Name) -> Value:
        found = self.variable(node.name)
        if found is None:
            constant = NAMED_CONSTANTS.get(node.name)
            if constant is None:
                raise EvaluationError(f"unknown name '{node.name}'")
            return constant
        if found.value is None:
            raise EvaluationError(f"'{node.name}' is read before it is set")
        return found.value

    def _binary(self, node: c.Binary) -> Value:
        left = self.evaluate(node.left)
        if node.operator == "&&":
            return Value(INT, int(left.truth() and self.evaluate(node.right).truth()))
        if node.operator == "||":
            return Value(INT, int(left.truth() or self.evaluate(node.right).truth()))
        return combined(node.operator, left, self.evaluate(node.right))

    def _conditional(self, node: c.Conditional) -> Value:
        chosen = node.yes if self.evaluate(node.condition).truth() else node.no
        value = self.evaluate(chosen)
        # The type is that of both together.
        other = self._type_of(node.no if chosen is node.yes else node.yes)
        if isinstance(value.type, Arithmetic) and other is not None:
            return converted(value, max(value.type, other, INT, key=lambda each: each.rank))
        return value

    def _type_of(self, node: c.Expression) -> Arithmetic | None:
        """Return the type of what is not evaluated, None for what is no number."""
        kind: CType | None = None
        match node:
            case c.Number():
                kind = number_value(node).type
            case c.Cast():
                kind = type_of(node.type)
            case c.Name():
                variable = self.variable(node.name)
                kind = INT if variable is None else variable.type
            case c.Binary() if node.operator in ("+", "-", "*", "/", "%"):
                types = self._type_of(node.left), self._type_of(node.right), INT
                kind = max((each for each in types if each), key=lambda each: each.rank)
            case c.Unary() if node.operator in ("-", "+"):
                kind = self._type_of(node.operand)
            case c.Index(array=c.Name(name=name)):
                variable = self.variable(name)
                if variable is not None and isinstance(variable.type, PointerType):
                    kind = variable.type.to
            case c.Call(function="ceil" | "floor"):
                kind = DOUBLE
            case _:
                kind = INT
        return kind if isinstance(kind, Arithmetic) else None

    def _unary(self, node: c.Unary) -> Value:
        if node.operator == "&":
            assert isinstance(node.operand, c.Index)  # the parser lets nothing else pass
            ref = self._ref(node.operand)
            return Value(PointerType(ref.buffer.element), ref)
        value = self.evaluate(node.operand)
        if node.operator == "*":
            return loaded(value.ref())
        if node.operator == "!":
            return Value(INT, int(not value.truth()))
        if isinstance(value.type, Arithmetic) and value.type.floating:
            return Value(value.type, -value.number() if node.operator == "-" else value.number())
        return arithmetic(node.operator, Value(INT, 0), value)

    def _ref(self, node: c.Index) -> Ref:
        array = self.evaluate(node.array)
        index = self.evaluate(node.index).number()
        if isinstance(index, float):
            raise EvaluationError("expected an index to be an integer")
        return array.ref().moved(index)

    def _element(self, node: c.Index) -> Value:
        array = self.evaluate(node.array)
        if not isinstance(array.data, str):
            index = self.evaluate(node.index).number()
            if isinstance(index, float):
                raise EvaluationError("expected an index to be an integer")
            return loaded(array.ref().moved(index))
        index = self.evaluate(node.index).integer()
        characters = [*array.data.encode(), 0]
        if not 0 <= index < len(characters):
            raise EvaluationError(f"index {index} is out of range of {len(characters)} elements")
        return Value(CHAR, as_arithmetic(characters[index], CHAR))

    def _member(self, node: c.Member) -> Value:
        struct = self.evaluate(node.struct)
        if not isinstance(struct.data, Mapping):
            raise EvaluationError(f"expected a struct before ->, got {described(struct.type)}")
        if node.field_name not in struct.data:
            known = ", ".join(struct.data)
            raise EvaluationError(f"unknown field '{node.field_name}'; known: {known}")
        return struct.data[node.field_name]

    def _cast(self, node: c.Cast) -> Value:
        if node.type.words == ("void",) and not node.type.pointers:
            self.evaluate(node.operand)
            return NULL
        return converted(self.evaluate(node.operand), type_of(node.type))

    def _count(self, elements: int) -> None:
        self.elements += elements
        if self.elements > MAX_ELEMENTS:
            raise EvaluationError(f"expected at most {MAX_ELEMENTS} array elements, got more")

    def _array(self, node: c.ArrayLiteral) -> Value:
        element = element_type(node.type)
        if element is None or node.type.pointers:
            raise EvaluationError("expected an array of numbers")
        length = len(node.elements)
        if node.type.length is not None:
            length = self.evaluate(node.type.length).integer()
        if length < max(1, len(node.elements)):
            raise EvaluationError(f"expected an array of more than {length} elements")
        self._count(length)
        cells: list[int | float | None] = [
            as_arithmetic(self.evaluate(each).number(), element) for each in node.elements
        ]
        cells += [as_arithmetic(0, element)] * (length - len(cells))
        return Value(PointerType(element), Ref(Buffer.of(element, cells)))

    def _assign(self, node: c.Assign) -> Value:
        value = self.evaluate(node.value)
        if node.operator:
            value = combined(node.operator, self.evaluate(node.target), value)
        return self._store(node.target, value)

    def _increment(self, node: c.Step) -> Value:
        before = self.evaluate(node.target)
        after = self._store(node.target, combined("+", before, Value(INT, node.by)))
        return after if node.is_prefix else before

    def _store(self, target: c.Expression, value: Value) -> Value:
        if isinstance(target, c.Name):
            variable = self.variable(target.name)
            if variable is None:
                raise EvaluationError(f"cannot assign to '{target.name}', which is no variable")
            variable.value = converted(value, variable.type)
            return variable.value
        if isinstance(target, c.Index):
            ref = self._ref(target)
        else:
            assert isinstance(target, c.Unary)  # the parser lets nothing else pass
            ref = self.evaluate(target.operand).ref()
        element = ref.buffer.element
        if element is None:
            raise EvaluationError("expected an array whose element type is known")
        number = as_arithmetic(value.number(), element)
        ref.store(number)
        return Value(element, number)

    def _call(self, node: c.Call) -> Value:
        if node.function in STATEMENT_CALLS:
            self._complain(node)
            return NULL
        function = FUNCTIONS.get(node.function)
        if function is None:
            raise EvaluationError(f"unknown function '{node.function}'")
        if len(node.arguments) != function.arity:
            message = f"expected {function.arity} arguments of '{node.function}'"
            raise EvaluationError(f"{message}, got {len(node.arguments)}")
        values = [self.evaluate(each) for each in node.arguments]
        result = function.run(values)
        if isinstance(result.data, Ref):
            self._count(max(result.data.buffer.size // 4, 1))
        return result

    def _complain(self, node: c.Call) -> None:
        """Run a function that checks; its message is only made where the check fails."""
        name, arguments = node.function, node.arguments
        if name in PARAM_CHECKS:
            self._compare_param(name, arguments)
        elif name == "ln_opck_satisfy":
            if not self.evaluate(arguments[0]).truth():
                raise Unsatisfied("satisfy", "expected its check to hold")
        elif name == "ln_opck_satisfy_msg":
            if not self.evaluate(arguments[0]).truth():
                raise Unsatisfied("satisfy_msg", self.message(arguments[1:]))
        elif name == "ln_msg_warn":
            self.warnings.append(self.message(arguments))
        else:
            raise Unsatisfied("satisfy_msg", self.message(arguments))

    def message(self, arguments: Sequence[c.Expression]) -> str:
        """Return a message of a format and its arguments."""
        if not arguments:
            raise EvaluationError("expected a message, got none")
        values = [self.evaluate(each) for each in arguments]
        return formatted(values[0].text(), values[1:])

    def _compare_param(self, name: str, arguments: Sequence[c.Expression]) -> None:
        kind, relation = PARAM_CHECKS[name]
        entry, limit = (self.evaluate(each) for each in arguments)
        if not isinstance(entry.data, Mapping):
            raise EvaluationError("expected the entry of a param")
        actual = entry.data[f"value_{kind}"]
        if not combined(RELATIONS[relation], actual, limit).truth():
            raise Unsatisfied(
                f"param_{kind}_{relation}",
                f"expected '{entry.data['arg_name'].data}' {RELATIONS[relation]} "
                f"{limit.number():g}, got {actual.number():g}",
            )

    def _run(self, node: c.Statement) -> None:
        self._step(node.place)
        match node:
            case c.Evaluate():
                self.evaluate(node.expression)
            case c.Declare():
                self._located(node.place, lambda: self._declare(node))
            case c.Block():
                self._scoped(lambda: self.run(node.statements))
            case c.If():
                if self.evaluate(node.condition).truth():
                    self._scoped(lambda: self._run(node.yes))
                elif node.no is not None:
                    no = node.no
                    self._scoped(lambda: self._run(no))
            case c.For():
                self._scoped(lambda: self._loop(node))
            case c.Break():
                raise _Leave(breaks=True)
            case c.Continue():
                raise _Leave(breaks=False)

    def _located(self, place: Place, run: Callable[[], None]) -> None:
        try:
            run()
        except EvaluationError as error:
            raise CodeFailure(str(error), place) from error

    def _scoped(self, run: Callable[[], None]) -> None:
        depth = len(self.scopes)
        self.scopes.append({})
        try:
            run()
        finally:
            del self.scopes[depth:]

    def _declare(self, node: c.Declare) -> None:
        if node.name in self.scopes[-1]:
            raise EvaluationError(f"there is a variable '{node.name}' already")
        kind = type_of(node.type)
        if node.value is not None:
            self.declare(node.name, kind, self.evaluate(node.value))
            return
        if not node.type.is_array:
            self.declare(node.name, kind)
            return
        element = element_type(node.type)
        if element is None or node.type.length is None or node.type.pointers:
            raise EvaluationError("expected an array of numbers with a length")
        length = self.evaluate(node.type.length).integer()
        if length < 1:
            raise EvaluationError(f"expected a length of at least 1, got {length}")
        # A line of text is never read element by element: it counts as one.
        self._count(1 if element is CHAR and length <= LN_MAXLINE else length)
        cells: list[int | float | None] = [None] * length
        self.declare(node.name, kind, Value(kind, Ref(Buffer.of(element, cells))))

    def _loop(self, node: c.For) -> None:
        self.run(node.start)
        while node.condition is None or self.evaluate(node.condition).truth():
            self._step(node.place)
            try:
                self._scoped(lambda: self._run(node.body))
            except _Leave as leave:
                if leave.breaks:
                    return
            if node.step is not None:
                self.evaluate(node.step)
