"""Bodies as ONNX functions, in ONNX's text form: element-wise expressions and sums of products.

    y[m,n] = sum(k) a[m,k] * b[k,n]   ->   y = Einsum <equation = "mk,kn->mn"> (a, b)

A model without nodes holds them. They are of float32; parameters are attributes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase

from xdsl.dialects.builtin import f32

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.equations.element_types import input_types
from gawee_dialect.equations.functions import ScalarError
from gawee_dialect.equations.instance import Body
from gawee_dialect.equations.program import indices_of
from gawee_dialect.equations.syntax import (
    Access,
    Binary,
    Call,
    Conditional,
    Definition,
    Expression,
    Name,
    Number,
    Range,
    Reduction,
    Unary,
    Wildcard,
    named_ranges,
    spelled,
)
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import DTYPES

OPSET = 18

_BINARY = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "**": "Pow"} | {
    **{"==": "Equal", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"},
    **{"&&": "And", "||": "Or"},
}
_CALLS = {
    **{name: name.capitalize() for name in ("exp", "log", "sqrt", "tanh", "erf", "sin", "cos")},
    **{name: name.capitalize() for name in ("sigmoid", "relu", "abs", "sign", "floor", "ceil")},
    **{"round": "Round", "max": "Max", "min": "Min"},
}


def onnx_file(dialect: str, compiled: Sequence[CompiledOperator]) -> str:
    """Return the functions of operators; raises GaweeError that lists those that have none."""
    texts: list[str] = []
    problems: list[Diagnostic] = []
    for each in compiled:
        operator = each.operator
        place = operator.place
        try:
            if each.body is None:
                raise ScalarError(0, "expected a body in index notation, got none")
            texts.append(_Function(dialect, each, each.body).text())
        except ScalarError as error:
            place = place if operator.body is None else operator.body.place(error.offset)
            message = f"cannot write operator '{operator.optype}' as ONNX: {error.message}"
            problems.append(Diagnostic(message, str(place), hint=error.hint))
    if problems:
        raise GaweeError(problems)
    head = f'<ir_version: 8, opset_import: ["" : {OPSET}, "{dialect}" : 1]>\nno_nodes () => () {{}}'
    return "\n".join((head, *texts)) + "\n"


@dataclass
class _Function:
    """Writes the function of one operator."""

    dialect: str
    compiled: CompiledOperator
    body: Body
    lines: list[str] = field(default_factory=list[str])
    taken: set[str] = field(default_factory=set[str])
    definition: Definition = field(init=False)

    def text(self) -> str:
        """Return the function; raises ScalarError for what it cannot say."""
        program = self.body.program
        self.taken = {*program.inputs, *(each.tensor for each in program.definitions)}
        elements = input_types(program)
        for tensor in self.compiled.operator.tensors_in:
            if tensor.dtype is not None:
                elements[tensor.arg_name] = DTYPES[tensor.dtype.text]
        for name, element in elements.items():
            if element != f32:
                raise ScalarError(0, f"expected elements of f32, got {element} of '{name}'")
        if program.requirements:
            raise ScalarError(program.requirements[0].offset, "a 'require' has no form in ONNX")
        attributes = self.attributes()
        for group in program.groups:
            if group.along is not None:
                raise ScalarError(group.definitions[0].offset, "steps have no form in ONNX")
            self.define(group.definitions[0])
        head = f'<domain: "{self.dialect}", opset_import: ["" : {OPSET}]>'
        names = f"({', '.join(program.inputs)}) => ({', '.join(program.outputs)})"
        lines = "\n".join(f"  {line}" for line in self.lines)
        return f"{head}\n{self.compiled.operator.optype}{attributes} {names}\n{{\n{lines}\n}}"

    def attributes(self) -> str:
        """Return the declarations of parameters, those with a default behind the others."""
        required, given = list[str](), list[str]()
        for each in self.body.program.parameters:
            if each.default is None and each.length is None and each.kind != "bool":
                required.append(each.name)
            elif isinstance(each.default, int | float) and each.kind != "bool":
                given.append(f"{each.name}: float = {float(each.default)!r}")
            else:
                raise ScalarError(each.offset, f"expected '{each.name}' to be a number")
        return f" <{', '.join((*required, *given))}>" if required or given else ""

    def define(self, definition: Definition) -> None:
        """Write the nodes of one equation."""
        self.definition = definition
        for each in indices_of(definition).values():
            if each.limit is not None:
                message = f"expected index '{each.index}' to walk a whole axis, got a limit"
                raise ScalarError(each.offset, message)
        self.lines.append(f"{definition.tensor} = Identity ({self.value(definition.value)})")

    def node(self, op: str, *inputs: str, attributes: str = "") -> str:
        """Write a node; return its output."""
        count = 1
        while f"v{count}" in self.taken:
            count += 1
        name = f"v{count}"
        self.taken.add(name)
        between = f" <{attributes}>" if attributes else ""
        self.lines.append(f"{name} = {op}{between} ({', '.join(inputs)})")
        return name

    def value(self, node: Expression) -> str:
        """Write an expression; return its value."""
        match node:
            case Number():
                return self.node("Constant", attributes=f"value_float = {float(node.value)!r}")
            case Name(name=name) if name in {each.name for each in self.body.program.parameters}:
                return self.node("Constant", attributes=f"value_float: float = @{name}")
            case Access():
                return self.access(node)
            case Unary():
                return self.node("Neg" if node.operator == "-" else "Not", self.value(node.operand))
            case Binary() if node.operator in _BINARY:
                return self.node(_BINARY[node.operator], *map(self.value, (node.lhs, node.rhs)))
            case Conditional():
                return self.node("Where", *map(self.value, (node.condition, node.yes, node.no)))
            case Call() if node.function in _CALLS:
                return self.node(_CALLS[node.function], *map(self.value, node.arguments))
            case Call(function="rsqrt"):
                return self.node("Reciprocal", self.node("Sqrt", self.value(node.arguments[0])))
            case Reduction():
                return self.contraction(node)
            case _:
                message = f"'{spelled(node)}' is no element-wise expression"
                raise ScalarError(node.offset, message)

    def access(self, node: Access) -> str:
        """Return a tensor whose axes are the last of the result's."""
        letters = self.letters(node)
        own = self.of_ranges()
        if own.endswith(letters):
            return node.tensor
        if sorted(letters) == sorted(own) and "..." not in own:
            equation = f'equation = "{letters}->{own}"'
            return self.node("Einsum", node.tensor, attributes=equation)
        message = f"expected the indices of '{spelled(node)}' to be the last of the result"
        raise ScalarError(node.offset, message)

    def contraction(self, node: Reduction) -> str:
        """Write a sum of products."""
        factors = _factors(node.term)
        accesses = [each for each in factors if isinstance(each, Access)]
        if node.kind != "sum" or node.condition is not None or len(accesses) < len(factors):
            raise ScalarError(node.offset, f"'{spelled(node)}' is no sum of products of elements")
        if any(isinstance(each, Wildcard) for each in node.ranges):
            raise ScalarError(node.offset, "a sum over '...' has no form in ONNX")
        terms = [self.letters(each) for each in accesses]
        reduced = {self.letter(each.index) for each in named_ranges(node.ranges)}
        own, read = self.of_ranges(), set("".join(terms))
        left = own
        while left and not set(left[0]) <= read - reduced:
            left = left[1:]
        if set(left) != read - reduced:
            message = f"expected the indices of '{spelled(node)}' to be the last of the result"
            raise ScalarError(node.offset, message)
        equation = f'equation = "{",".join(terms)}->{left}"'
        return self.node("Einsum", *(each.tensor for each in accesses), attributes=equation)

    def of_ranges(self) -> str:
        """Return the indices of what is defined as Einsum has them."""
        ranges: Sequence[Range | Wildcard] = self.definition.ranges
        return "".join(
            "..." if isinstance(each, Wildcard) else self.letter(each.index) for each in ranges
        )

    def letters(self, node: Access) -> str:
        """Return the indices of an access as Einsum has them."""
        known = indices_of(self.definition)
        found = ""
        if node.otherwise is not None:
            raise ScalarError(node.offset, f"'{spelled(node)}' may be outside of its tensor")
        for each in node.subscripts:
            if isinstance(each, Wildcard):
                found += "..."
            elif isinstance(each, Name) and each.name in known:
                found += self.letter(each.name)
            else:
                message = f"expected an index, got '{spelled(each)}' in '{spelled(node)}'"
                raise ScalarError(each.offset, message)
        return found

    def letter(self, index: str) -> str:
        """Return the letter of an index; bodies have fewer indices than there are letters."""
        order = list(indices_of(self.definition))
        return ascii_lowercase[order.index(index)]


def _factors(node: Expression) -> list[Expression]:
    if isinstance(node, Binary) and node.operator == "*":
        return [*_factors(node.lhs), *_factors(node.rhs)]
    return [node]
