from pycparser.c_ast import FileAST

class Coord:
    line: int
    column: int | None

class ParseError(Exception): ...

class CParser:
    def __init__(self) -> None: ...
    def parse(self, text: str, filename: str = "") -> FileAST: ...
