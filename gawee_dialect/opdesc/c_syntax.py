"""C as descriptions may use it: the syntax that is evaluated, and where each piece stands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gawee_dialect.source import Place


@dataclass(frozen=True)
class TypeName:
    """A type as it is written: its words, how many `*`, and the lengths of an array.

    `length` is None for what is no array, and for an array whose initializer says its length.
    """

    words: tuple[str, ...]
    pointers: int = 0
    is_array: bool = False
    length: "Expression | None" = None


@dataclass(frozen=True)
class _Located:
    place: Place = field(repr=False, compare=False)


@dataclass(frozen=True)
class Number(_Located):
    """An integer, character or floating constant; `suffix` is that of its type."""

    value: int | float
    suffix: str = ""


@dataclass(frozen=True)
class Text(_Located):
    """A string literal."""

    value: str


@dataclass(frozen=True)
class Name(_Located):
    """A variable or an enum constant."""

    name: str


@dataclass(frozen=True)
class Unary(_Located):
    """`- + ! * &` before an operand."""

    operator: str
    operand: "Expression"


@dataclass(frozen=True)
class Binary(_Located):
    """Two operands and what is between them."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Conditional(_Located):
    """`condition ? yes : no`."""

    condition: "Expression"
    yes: "Expression"
    no: "Expression"


@dataclass(frozen=True)
class Index(_Located):
    """`array[index]`."""

    array: "Expression"
    index: "Expression"


@dataclass(frozen=True)
class Member(_Located):
    """`struct->field`."""

    struct: "Expression"
    field_name: str


@dataclass(frozen=True)
class Call(_Located):
    """`function(arguments)`."""

    function: str
    arguments: Sequence["Expression"]


@dataclass(frozen=True)
class Cast(_Located):
    """`(type)operand`."""

    type: TypeName
    operand: "Expression"


@dataclass(frozen=True)
class SizeOf(_Located):
    """`sizeof(type)`."""

    type: TypeName


@dataclass(frozen=True)
class ArrayLiteral(_Located):
    """`(type[]){elements}`, and the initializer of an array."""

    type: TypeName
    elements: Sequence["Expression"]


@dataclass(frozen=True)
class Assign(_Located):
    """`target = value`, `target += value` and the like; `operator` is what is before the `=`."""

    operator: str
    target: "Expression"
    value: "Expression"


@dataclass(frozen=True)
class Step(_Located):
    """`target++`, `++target`, `target--`, `--target`."""

    by: int
    is_prefix: bool
    target: "Expression"


Expression: TypeAlias = (
    Number
    | Text
    | Name
    | Unary
    | Binary
    | Conditional
    | Index
    | Member
    | Call
    | Cast
    | SizeOf
    | ArrayLiteral
    | Assign
    | Step
)


@dataclass(frozen=True)
class Declare(_Located):
    """`type name = value;`."""

    type: TypeName
    name: str
    value: Expression | None


@dataclass(frozen=True)
class Evaluate(_Located):
    """An expression and a semicolon."""

    expression: Expression


@dataclass(frozen=True)
class If(_Located):
    """`if (condition) yes else no`."""

    condition: Expression
    yes: "Statement"
    no: "Statement | None"


@dataclass(frozen=True)
class For(_Located):
    """`for (start; condition; step) body`."""

    start: Sequence["Statement"]
    condition: Expression | None
    step: Expression | None
    body: "Statement"


@dataclass(frozen=True)
class Block(_Located):
    """Statements in braces."""

    statements: Sequence["Statement"]


@dataclass(frozen=True)
class Break(_Located):
    """`break;`."""


@dataclass(frozen=True)
class Continue(_Located):
    """`continue;`."""


Statement: TypeAlias = Declare | Evaluate | If | For | Block | Break | Continue
