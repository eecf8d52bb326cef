# What gawee_dialect reads of pycparser's syntax trees.

class Coord:
    line: int
    column: int | None

class Node:
    coord: Coord | None

class FileAST(Node):
    ext: list[Node]

class FuncDef(Node):
    body: Compound

class Compound(Node):
    block_items: list[Node] | None

class Typedef(Node): ...

class Constant(Node):
    type: str
    value: str

class ID(Node):
    name: str

class UnaryOp(Node):
    op: str
    expr: Node

class BinaryOp(Node):
    op: str
    left: Node
    right: Node

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

class If(Node):
    cond: Node
    iftrue: Node
    iffalse: Node | None

class For(Node):
    init: Node | None
    cond: Node | None
    next: Node | None
    stmt: Node

class Break(Node): ...
class Continue(Node): ...
class EmptyStatement(Node): ...
