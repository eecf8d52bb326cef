"""Evaluate C: integer semantics of C, and every way to go wrong is an error with its place.

Work is limited: so many steps, so many array elements. Nothing here reads a file, or runs code.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gawee_dialect.opdesc.c_library import FUNCTIONS, MAX_ELEMENTS, formatted
from gawee_dialect.opdesc.c_parse import constant, place_of, written_type
from gawee_dialect.opdesc.c_values import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    STRING,
    UINT,
    ULONG,
    Arithmetic,
    Buffer,
    CType,
    EvaluationError,
    PointerType,
    Ref,
    StructType,
    TypeName,
    Value,
    arithmetic,
    as_arithmetic,
    combined,
    converted,
    described,
    element_type,
    loaded,
    size_of,
    type_of,
)
from gawee_dialect.opdesc.description import CONSTANTS
from gawee_dialect.source import Place

if TYPE_CHECKING:
    from pycparser import c_ast


# The types that C expressions have before they are evaluated.


_RETURNS: Mapping[str, CType] = {
    "ln_alloc": PointerType(None),
    "ln_sprint_shape": STRING,
    "tl_dtype_min_double": DOUBLE,
    "tl_dtype_max_double": DOUBLE,
    "ceil": DOUBLE,
    "floor": DOUBLE,
    "floorf": FLOAT,
}

Types = dict[str, CType]
"""The variables of a text, and the type of each."""


def constant_type(value: float | str, suffix: str) -> CType:
    """Return the first type that holds a constant; raises EvaluationError beyond long."""
    if isinstance(value, str):
        return STRING
    if isinstance(value, float):
        return FLOAT if suffix == "f" else DOUBLE
    unsigned, long = "u" in suffix, "l" in suffix
    for kind in (INT, UINT, LONG, ULONG):
        if kind.signed != unsigned and (not long or kind.size == LONG.size):
            if value <= kind.highest:
                return kind
    raise EvaluationError("an integer is out of range of long")


def static_type(node: "c_ast.Node", types: Types) -> CType:
    """Return the type of an expression whose names are known."""
    from pycparser import c_ast

    match node:
        case c_ast.Constant():
            known = constant(node.type, node.value)
            assert known is not None  # compiled.py lets nothing else pass
            return constant_type(*known)
        case c_ast.ID():
            return types.get(node.name, INT)  # enum constants are int
        case c_ast.Cast():
            return type_of(written_type(node.to_type))
        case c_ast.CompoundLiteral():
            return type_of(written_type(node.type))
        case c_ast.Assignment():
            return static_type(node.lvalue, types)
        case c_ast.TernaryOp():
            return _joined(static_type(node.iftrue, types), static_type(node.iffalse, types))
        case c_ast.UnaryOp():
            return _type_of_unary(node, types)
        case _:
            return _type_of_access(node, types)


def _type_of_access(node: "c_ast.Node", types: Types) -> CType:
    from pycparser import c_ast

    match node:
        case c_ast.StructRef(name=c_ast.ID(name=name)):
            struct = types[name]
            assert isinstance(struct, StructType)  # compiled.py lets nothing else pass
            return struct.fields[node.field.name]
        case c_ast.ArrayRef():
            return _pointee(static_type(node.name, types))
        case c_ast.FuncCall(name=c_ast.ID(name=function)):
            if function == "ln_clone" and node.args is not None:
                return static_type(node.args.exprs[0], types)
            return _RETURNS.get(function, INT)
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
            return _joined(static_type(node.left, types), static_type(node.right, types))
        case _:
            return INT  # comparisons, && and ||


def _type_of_unary(node: "c_ast.UnaryOp", types: Types) -> CType:
    if node.op == "sizeof":
        return ULONG
    own = static_type(node.expr, types)
    match node.op:
        case "&":
            return PointerType(own if isinstance(own, Arithmetic) else None)
        case "*":
            return _pointee(own)
        case "!":
            return INT
        case "+" | "-":
            return _joined(own, INT)
        case _:
            return own  # ++ and --


def _pointee(kind: CType) -> CType:
    return kind.to if isinstance(kind, PointerType) and kind.to is not None else INT


def _joined(left: CType, right: CType) -> CType:
    """Return the type of `left + right`: the usual conversions, or that of the pointer."""
    if isinstance(left, Arithmetic) and isinstance(right, Arithmetic):
        return max(left, right, INT, key=lambda each: each.rank)
    return right if isinstance(left, Arithmetic) else left


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

    def evaluate(self, node: "c_ast.Node") -> Value:
        """Return an expression's value; raises CodeFailure and Unsatisfied."""
        self._step(node)
        visit: Callable[[c_ast.Node], Value] = getattr(self, f"visit_{type(node).__name__}")
        try:
            return visit(node)
        except EvaluationError as error:
            raise CodeFailure(str(error), place_of(node)) from error
        except RecursionError as error:
            message = "expected C text that is nested less deeply"
            raise CodeFailure(message, place_of(node)) from error

    def run(self, statements: "Sequence[c_ast.Node]") -> None:
        """Run statements in the innermost scope; raises CodeFailure and Unsatisfied."""
        for statement in statements:
            self._run(statement)

    def _step(self, node: "c_ast.Node") -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise CodeFailure(f"expected to end within {MAX_STEPS} steps", place_of(node))

    # Expressions.

    def visit_Constant(self, node: "c_ast.Constant") -> Value:
        known = constant(node.type, node.value)
        assert known is not None  # compiled.py lets nothing else pass
        value, suffix = known
        kind = constant_type(value, suffix)
        if isinstance(value, str) or not isinstance(kind, Arithmetic):
            return Value(kind, value)
        return Value(kind, as_arithmetic(value, kind))

    def visit_ID(self, node: "c_ast.ID") -> Value:
        found = self.variable(node.name)
        if found is None:
            value = NAMED_CONSTANTS.get(node.name)
            if value is None:
                raise EvaluationError(f"unknown name '{node.name}'")
            return value
        if found.value is None:
            raise EvaluationError(f"'{node.name}' is read before it is set")
        return found.value

    def visit_BinaryOp(self, node: "c_ast.BinaryOp") -> Value:
        left = self.evaluate(node.left)
        if node.op == "&&":
            return Value(INT, int(left.truth() and self.evaluate(node.right).truth()))
        if node.op == "||":
            return Value(INT, int(left.truth() or self.evaluate(node.right).truth()))
        return combined(node.op, left, self.evaluate(node.right))

    def visit_TernaryOp(self, node: "c_ast.TernaryOp") -> Value:
        value = self.evaluate(node.iftrue if self.evaluate(node.cond).truth() else node.iffalse)
        if not isinstance(value.type, Arithmetic):
            return value
        types = {name: each.type for scope in self.scopes for name, each in scope.items()}
        return converted(value, static_type(node, types))  # which is that of both together

    def visit_UnaryOp(self, node: "c_ast.UnaryOp") -> Value:
        if node.op == "sizeof":
            return size_of(written_type(node.expr))
        if node.op.endswith(("++", "--")):
            return self._increment(node)
        if node.op == "&":
            ref = self._ref(node.expr)
            return Value(PointerType(ref.buffer.element), ref)
        value = self.evaluate(node.expr)
        if node.op == "*":
            return loaded(value.ref())
        if node.op == "!":
            return Value(INT, int(not value.truth()))
        if isinstance(value.type, Arithmetic) and value.type.floating:
            return Value(value.type, -value.number() if node.op == "-" else value.number())
        return arithmetic(node.op, Value(INT, 0), value)

    def _ref(self, node: "c_ast.Node") -> Ref:
        """Return the pointer to an element, `array[index]` or `*pointer`."""
        from pycparser import c_ast

        if isinstance(node, c_ast.ArrayRef):
            return self._moved(self.evaluate(node.name), node.subscript)
        assert isinstance(node, c_ast.UnaryOp)  # compiled.py lets nothing else pass
        return self.evaluate(node.expr).ref()

    def _moved(self, array: Value, subscript: "c_ast.Node") -> Ref:
        index = self.evaluate(subscript).number()
        if isinstance(index, float):
            raise EvaluationError("expected an index to be an integer")
        return array.ref().moved(index)

    def visit_ArrayRef(self, node: "c_ast.ArrayRef") -> Value:
        array = self.evaluate(node.name)
        if not isinstance(array.data, str):
            return loaded(self._moved(array, node.subscript))
        index = self.evaluate(node.subscript).integer()
        characters = [*array.data.encode(), 0]
        if not 0 <= index < len(characters):
            raise EvaluationError(f"index {index} is out of range of {len(characters)} elements")
        return Value(CHAR, as_arithmetic(characters[index], CHAR))

    def visit_StructRef(self, node: "c_ast.StructRef") -> Value:
        struct, name = self.evaluate(node.name), node.field.name
        if not isinstance(struct.data, Mapping):
            raise EvaluationError(f"expected a struct before ->, got {described(struct.type)}")
        if name not in struct.data:
            known = ", ".join(struct.data)
            raise EvaluationError(f"unknown field '{name}'; known: {known}")
        return struct.data[name]

    def visit_Cast(self, node: "c_ast.Cast") -> Value:
        value, written = self.evaluate(node.expr), written_type(node.to_type)
        return NULL if str(written) == "void" else converted(value, type_of(written))

    def _count(self, elements: int) -> None:
        self.elements += elements
        if self.elements > MAX_ELEMENTS:
            raise EvaluationError(f"expected at most {MAX_ELEMENTS} array elements, got more")

    def visit_CompoundLiteral(self, node: "c_ast.CompoundLiteral") -> Value:
        return self._array(written_type(node.type), node.init.exprs)

    def _array(self, written: TypeName, elements: "Sequence[c_ast.Node]") -> Value:
        """Return an array of elements, and of zeros behind them."""
        element = element_type(written)
        if element is None or written.is_pointer:
            raise EvaluationError("expected an array of numbers")
        length = len(elements)
        if written.length is not None:
            length = self.evaluate(written.length).integer()
        if length < max(1, len(elements)):
            raise EvaluationError(f"expected an array of more than {length} elements")
        self._count(length)
        cells: list[int | float | None] = [
            as_arithmetic(self.evaluate(each).number(), element) for each in elements
        ]
        cells += [as_arithmetic(0, element)] * (length - len(cells))
        return Value(PointerType(element), Ref(Buffer.of(element, cells)))

    def visit_Assignment(self, node: "c_ast.Assignment") -> Value:
        value = self.evaluate(node.rvalue)
        if node.op != "=":
            value = combined(node.op.removesuffix("="), self.evaluate(node.lvalue), value)
        return self._store(node.lvalue, value)

    def _increment(self, node: "c_ast.UnaryOp") -> Value:
        before = self.evaluate(node.expr)
        after = self._store(node.expr, combined(node.op[-1], before, Value(INT, 1)))
        return before if node.op.startswith("p") else after

    def _store(self, target: "c_ast.Node", value: Value) -> Value:
        from pycparser import c_ast

        if isinstance(target, c_ast.ID):
            variable = self.variable(target.name)
            if variable is None:
                raise EvaluationError(f"cannot assign to '{target.name}', which is no variable")
            variable.value = converted(value, variable.type)
            return variable.value
        ref = self._ref(target)
        element = ref.buffer.element
        if element is None:
            raise EvaluationError("expected an array whose element type is known")
        number = as_arithmetic(value.number(), element)
        ref.store(number)
        return Value(element, number)

    def visit_FuncCall(self, node: "c_ast.FuncCall") -> Value:
        name = str(getattr(node.name, "name", ""))  # compiled.py lets no other function pass
        arguments = [] if node.args is None else node.args.exprs
        if name in STATEMENT_CALLS:
            self._complain(name, arguments)
            return NULL
        function = FUNCTIONS[name]
        result = function.run([self.evaluate(each) for each in arguments])
        if isinstance(result.data, Ref):
            self._count(max(result.data.buffer.size // 4, 1))
        return result

    def _complain(self, name: str, arguments: "Sequence[c_ast.Node]") -> None:
        """Run a function that checks; its message is only made where the check fails."""
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

    def message(self, arguments: "Sequence[c_ast.Node]") -> str:
        """Return a message of a format and its arguments."""
        if not arguments:
            raise EvaluationError("expected a message, got none")
        values = [self.evaluate(each) for each in arguments]
        return formatted(values[0].text(), values[1:])

    def _compare_param(self, name: str, arguments: "Sequence[c_ast.Node]") -> None:
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

    # Statements.

    def _run(self, node: "c_ast.Node") -> None:
        self._step(node)
        run: Callable[[c_ast.Node], object]
        run = getattr(self, f"run_{type(node).__name__}", self.evaluate)
        try:
            run(node)
        except EvaluationError as error:
            raise CodeFailure(str(error), place_of(node)) from error

    def run_EmptyStatement(self, node: "c_ast.EmptyStatement") -> None:
        """Do nothing."""

    def run_Compound(self, node: "c_ast.Compound") -> None:
        with self._scope():
            self.run(node.block_items or ())

    def run_If(self, node: "c_ast.If") -> None:
        chosen = node.iftrue if self.evaluate(node.cond).truth() else node.iffalse
        if chosen is not None:
            with self._scope():
                self._run(chosen)

    def run_For(self, node: "c_ast.For") -> None:
        with self._scope():
            if node.init is not None:
                self._run(node.init)
            while node.cond is None or self.evaluate(node.cond).truth():
                self._step(node)
                try:
                    with self._scope():
                        self._run(node.stmt)
                except _Leave as leave:
                    if leave.breaks:
                        return
                if node.next is not None:
                    self.evaluate(node.next)

    def run_Break(self, node: "c_ast.Node") -> None:
        raise _Leave(breaks=True)

    def run_Continue(self, node: "c_ast.Node") -> None:
        raise _Leave(breaks=False)

    @contextmanager
    def _scope(self) -> Generator[None]:
        depth = len(self.scopes)
        self.scopes.append({})
        try:
            yield
        finally:
            del self.scopes[depth:]

    def run_DeclList(self, node: "c_ast.DeclList") -> None:
        self.run(node.decls)

    def run_Decl(self, node: "c_ast.Decl") -> None:
        from pycparser import c_ast

        name = node.name or ""
        if name in self.scopes[-1]:
            raise EvaluationError(f"there is a variable '{name}' already")
        written = written_type(node.type)
        kind = type_of(written)
        if isinstance(node.init, c_ast.InitList):
            self.declare(name, kind, self._array(written, node.init.exprs))
        elif node.init is not None:
            self.declare(name, kind, self.evaluate(node.init))
        elif written.is_array:
            self.declare(name, kind, self._unset(written))
        else:
            self.declare(name, kind)

    def _unset(self, written: TypeName) -> Value:
        """Return an array whose elements are not set."""
        element = element_type(written)
        if element is None or written.length is None or written.is_pointer:
            raise EvaluationError("expected an array of numbers with a length")
        length = self.evaluate(written.length).integer()
        if length < 1:
            raise EvaluationError(f"expected a length of at least 1, got {length}")
        # A line of text is never read element by element: it counts as one.
        self._count(1 if element is CHAR and length <= LN_MAXLINE else length)
        return Value(PointerType(element), Ref(Buffer.of(element, [None] * length)))
