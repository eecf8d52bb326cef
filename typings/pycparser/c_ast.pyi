# What gawee_dialect reads of pycparser's syntax trees.

from collections.abc import Sequence

class Node:
    coord: object
    def children(self) -> Sequence[tuple[str, Node]]: ...

class FileAST(Node):
    ext: list[Node]

class FuncDef(Node):
    body: Compound

class Compound(Node):
    block_items: list[Node] | None
    def __init__(self, block_items: list[Node] | None) -> None: ...

class Typedef(Node): ...

class Constant(Node):
    type: str
    value: str

class ID(Node):
    name: str
    def __init__(self, name: str) -> None: ...

class UnaryOp(Node):
    op: str
    expr: Node

class BinaryOp(Node):
    op: str
    left: Node
    right: Node
    def __init__(self, op: str, left: Node, right: Node) -> None: ...

class TernaryOp(Node):
    cond: Node
    iftrue: Node
    iffalse: Node

class ArrayRef(Node):
    name: Node
    subscript: Node

class StructRef(Node):
    name: Node
    type: str
    field: ID

class FuncCall(Node):
    name: Node
    args: ExprList | None

class ExprList(Node):
    exprs: list[Node]

class InitList(Node):
    exprs: list[Node]

class Cast(Node):
    to_type: Typename
    expr: Node

class CompoundLiteral(Node):
    type: Typename
    init: InitList

class Typename(Node):
    name: str | None
    quals: list[str]
    type: Node

class TypeDecl(Node):
    declname: str | None
    type: Node

class PtrDecl(Node):
    type: Node

class ArrayDecl(Node):
    type: Node
    dim: Node | None

class IdentifierType(Node):
    names: list[str]

class Decl(Node):
    name: str | None
    storage: list[str]
    funcspec: list[str]
    type: Node
    init: Node | None
    bitsize: Node | None

class DeclList(Node):
    decls: list[Node]

class Assignment(Node):
    op: str
    lvalue: Node
    rvalue: Node
    def __init__(self, op: str, lvalue: Node, rvalue: Node) -> None: ...

class If(Node):
    cond: Node
    iftrue: Node
    iffalse: Node | None
    def __init__(self, cond: Node, iftrue: Node, iffalse: Node | None) -> None: ...

class For(Node):
    init: Node | None
    cond: Node | None
    next: Node | None
    stmt: Node
    def __init__(
        self, init: Node | None, cond: Node | None, next: Node | None, stmt: Node
    ) -> None: ...

class Break(Node): ...
class Continue(Node): ...
class EmptyStatement(Node): ...
