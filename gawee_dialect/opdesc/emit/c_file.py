"""Descriptions as a C file: the functions of every operator's life, against `gawee_op.h`.

pre_run is written from the checks; static_run, run, post_run and calc_offset hold the texts of the
description as they are. Where it has equations and no text for `run`, that is made of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import Code, Operator
from gawee_dialect.opdesc.emit.c_body import BodyInC
from gawee_dialect.opdesc.emit.c_equations import run_lines
from gawee_dialect.opdesc.emit.c_text import (
    INDENT,
    identifiers,
    locals_from_private,
    private_fields,
    text_literal,
)
from gawee_dialect.opdesc.index_notation.scalars import ScalarError

HEADER = "gawee_op.h"


def header_text() -> str:
    """Return the header that the files are compiled against."""
    return (Path(__file__).parent / HEADER).read_text()


def c_file(compiled: Sequence[CompiledOperator], source: str) -> str:
    """Return the C file of some operators; `source` is what they were read from."""
    operators = [each for each in compiled if each.operator.autogen]
    texts = _operator_texts(operators)
    names = ", ".join(f"&ln_op_{each.operator.optype}" for each in operators)
    return "\n\n".join(
        [
            f"/* Made from {Path(source).name} by gawee-translate opdesc --emit c. */\n"
            f'#include "{HEADER}"',
            *texts,
            f"const ln_op *const ln_ops[] = {{{names}{', ' if names else ''}NULL}};\n",
        ]
    )


def _operator_texts(operators: Sequence[CompiledOperator]) -> list[str]:
    """Return the text of every operator; raises GaweeError that lists those that have none."""
    texts: list[str] = []
    problems: list[Diagnostic] = []
    for each in operators:
        try:
            texts.append(operator_text(each))
        except ScalarError as error:
            assert each.operator.body is not None  # what the error is about
            message = f"cannot write operator '{each.operator.optype}' as C: {error.message}"
            place = str(each.operator.body.place(error.offset))
            problems.append(Diagnostic(message, place, hint=error.hint))
    if problems:
        raise GaweeError(problems)
    return texts


@dataclass(frozen=True)
class Body:
    """A function of an operator's life whose statements the description holds."""

    name: str
    code: Code | None
    result: str = "void"
    arguments: str = "ln_op_arg *op_arg"
    after: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether the operator has this function."""
        return self.code is not None or bool(self.after)


def bodies(operator: Operator) -> Sequence[Body]:
    """Return the functions after pre_run, in the order of a life; post_run there always is."""
    entry = "ln_op_arg *op_arg, ln_tensor_entry *entry"
    return (
        Body("static_run", operator.static_run),
        Body("run", operator.run),
        Body("post_run", operator.post_run, after=("ln_end(op_arg);",)),
        Body("calc_offset", operator.calc_offset, "size_t", entry),
    )


def private_struct(operator: Operator, body: BodyInC | None = None) -> str:
    """Return the struct of what an operator keeps from pre_run to post_run."""
    made = [] if body is None else [f"ln_tensor *{body.shape(e.tensor)};" for e in body.made()]
    fields = [f"{INDENT}{each}" for each in (*private_fields(operator), *made)]
    fields = fields or [f"{INDENT}int none;"]
    return "\n".join((f"struct {operator.optype}_priv {{", *fields, "};"))


def operator_text(compiled: CompiledOperator) -> str:
    """Return the functions of an operator, and the table that names them."""
    # Native code of a description has no pre_run: only this needs the generator of C.
    from gawee_dialect.opdesc.emit.c_pre_run import PreRun

    operator = compiled.operator
    optype = operator.optype
    equations = None if compiled.body is None else BodyInC(compiled, compiled.body)
    checks = [_indented(line) for line in PreRun(compiled, equations).body()]
    doc = f"{optype}: {operator.doc}" if operator.doc else optype
    parts = [
        f"/* {doc.replace('*/', '* /')} */",
        private_struct(operator, equations),
        "\n".join((f"static void {optype}_checks(ln_op_arg *op_arg) {{", *checks, "}")),
        f"static int {optype}_pre_run(ln_op_arg *op_arg) {{\n"
        f"{INDENT}return ln_checked(op_arg, {optype}_checks);\n}}",
    ]
    names = [f"{optype}_pre_run"]
    for body in bodies(operator):
        computed = body.name == "run" and not body.is_there and equations is not None
        names.append(f"{optype}_{body.name}" if body.is_there or computed else "NULL")
        if body.is_there:
            parts.append(body_function(operator, body))
        elif computed and equations is not None:
            parts.append(run_function(equations))
    values = ", ".join((text_literal(optype), text_literal(operator.arch), *names))
    return "\n\n".join((*parts, f"const ln_op ln_op_{optype} = {{{values}}};"))


def run_function(equations: BodyInC) -> str:
    """Return `run` as the equations of the body say it."""
    head = f"static void {equations.compiled.operator.optype}_run(ln_op_arg *op_arg) {{"
    return "\n".join((head, *(_indented(line) for line in run_lines(equations)), "}"))


def body_function(operator: Operator, body: Body, *, located: bool = False) -> str:
    """Return the function of a body: the variables that occur in its text, then the text.

    With `located`, a compiler's messages are about lines of the description.
    """
    lines = _body_lines(operator, body.code, located=located)
    read = identifiers(" ".join((*lines, *body.after)))
    unused = [
        f"(void){name};"
        for name in ("op_arg", "entry")
        if f"*{name}" in body.arguments and name not in read
    ]
    head = f"static {body.result} {operator.optype}_{body.name}({body.arguments}) {{"
    inside = (*unused, *lines, *body.after)
    return "\n".join((head, *(line if located else _indented(line) for line in inside), "}"))


def _indented(line: str) -> str:
    return f"{INDENT}{line}" if line else ""


def _body_lines(operator: Operator, code: Code | None, *, located: bool) -> list[str]:
    """Return a text in braces, after the variables that occur in it."""
    if code is None:
        return []
    if not code.text.strip():
        return ["/* nothing is computed */"]
    names = identifiers(code.text)
    needed = [local.text() for local in locals_from_private(operator) if local.name in names]
    if needed or "priv" in names:
        needed.insert(0, f"struct {operator.optype}_priv *priv = op_arg->priv;")
    text = (
        _located_lines(code) if located else map(_indented, dedent(code.text).strip().splitlines())
    )
    return [*needed, "{", *text, "}"]


def _located_lines(code: Code) -> Iterator[str]:
    """Yield the lines of a text, each in its place of the file that it is from."""
    index, expected = 0, -1
    for text in code.text.splitlines(keepends=True):
        file, line, column = str(code.place(index)).rsplit(":", 2)
        if int(line) != expected:
            yield f"#line {line} {text_literal(file)}"
        yield " " * (int(column) - 1) + text.rstrip("\r\n")
        index, expected = index + len(text), int(line) + 1
    yield '#line 1 "the function around it"'
