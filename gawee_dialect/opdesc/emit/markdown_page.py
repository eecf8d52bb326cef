"""Descriptions as a reference page: what each operator takes, checks and makes, in Markdown."""

from collections.abc import Iterator, Sequence
from textwrap import dedent

from gawee_dialect.opdesc.c_evaluate import RELATIONS
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import Code, Operator, Param, TensorIn, TensorOut

_KINDS = {"NULL": "nothing", "STRING": "text", "NUMBER": "number", "BOOL": "boolean"}


def page(dialect: str, compiled: Sequence[CompiledOperator]) -> str:
    """Return a page with a section for each operator."""
    sections = [section(dialect, each) for each in compiled if each.operator.autogen]
    return "\n\n".join((f"# The operators of `{dialect}`", *sections)) + "\n"


def section(dialect: str, compiled: CompiledOperator) -> str:
    """Return what a page says of an operator."""
    operator = compiled.operator
    parts = [f"## `{dialect}.{operator.optype}`"]
    if operator.doc:
        parts.append(f"{_prose(operator.doc[:1].upper() + operator.doc[1:])}.")
    parts.append(f"```text\n{_syntax(dialect, operator)}\n```")
    rows = [("input", each.arg_name, _input(each, compiled)) for each in operator.tensors_in]
    rows += [("param", each.arg_name, _param(each, compiled)) for each in operator.params]
    rows += [("output", each.arg_name, _output(each, compiled)) for each in operator.tensors_out]
    if rows:
        lines = [f"| {kind} | `{name}` | {_cell(text)} |" for kind, name, text in rows]
        parts.append("\n".join(("| | name | |", "|---|---|---|", *lines)))
    parts += _checked_after(compiled)
    parts += _meaning(compiled)
    return "\n\n".join(parts)


def _checked_after(compiled: CompiledOperator) -> Iterator[str]:
    operator = compiled.operator
    checks = [_check(code, compiled) for code in operator.checks]
    if checks:
        yield f"When all params are known: {'; '.join(checks)}."
    yield from _statements(operator)
    bodies = [
        name
        for name, code in (
            ("static_run", operator.static_run),
            ("run", operator.run),
            ("post_run", operator.post_run),
            ("calc_offset", operator.calc_offset),
        )
        if code is not None and code.text.strip()
    ]
    if bodies:
        yield f"Described in C: {', '.join(f'`{name}`' for name in bodies)}."


def _meaning(compiled: CompiledOperator) -> Iterator[str]:
    """Yield what the operator computes: its equations with an example, or its function in MLIR."""
    if compiled.body is not None:
        # NumPy computes the example: only descriptions with a body pay for its import.
        from gawee_dialect.opdesc.index_notation.reference import reference_text

        yield reference_text(compiled)
    elif compiled.operator.mlir is not None:
        yield f"```mlir\n{dedent(compiled.operator.mlir.text).strip()}\n```"


def _syntax(dialect: str, operator: Operator) -> str:
    """Return the op as it is written, with the names of arguments in the place of values."""
    results = ", ".join(f"%{each.arg_name}" for each in operator.tensors_out)
    operands = ", ".join(f"%{each.arg_name}" for each in operator.tensors_in)
    params = [f"{each.arg_name} {_sample(each)}" for each in operator.params]
    words = [f"{dialect}.{operator.optype}", *([operands] if operands else []), *params]
    return f"{results}{' = ' if results else ''}{' '.join(words)} : (...) -> ..."


def _sample(param: Param) -> str:
    name = f"<{_KINDS[param.kind]}>" if param.kind != "NULL" else "null"
    return f"[{name}, ...]" if param.is_array else name


def _input(tensor: TensorIn, compiled: CompiledOperator) -> str:
    words: list[str] = []
    if tensor.mtype.text != "LN_MEM_NONE":
        words.append(f"in `{tensor.mtype.text}`")
    if tensor.dtype is not None:
        words.append(f"of dtype `{tensor.dtype.text}`")
    if tensor.ndim is not None:
        words.append(f"of {_value(tensor.ndim)} dimensions")
    if tensor.len is not None:
        words.append(f"of {_value(tensor.len)} elements")
    if tensor.sametype is not None:
        words.append(f"of the dtype of `{tensor.sametype.text}`")
    if tensor.sameshape is not None:
        words.append(f"of the shape of `{tensor.sameshape.text}`")
    if tensor.static is not None:
        words.append("static" if tensor.static else "not static")
    return "; ".join((*words, *_checks(tensor, compiled))) or "any tensor"


def _param(param: Param, compiled: CompiledOperator) -> str:
    words = [_kind(param)]
    if param.len is not None:
        words.append(f"{_value(param.len)} elements")
    for bound in param.bounds:
        words.append(f"{RELATIONS[bound.relation]} {_value(bound.code)}")
    return "; ".join((*words, *_checks(param, compiled)))


def _kind(param: Param) -> str:
    kind = _KINDS[param.kind]
    if param.realtype is not None:
        kind = "text, a constant" if param.kind == "STRING" else f"`{param.realtype.text}`"
        if param.from_func is not None:
            kind += f" of `{param.from_func.text}`"
    return f"array: {kind}" if param.is_array else kind


def _output(output: TensorOut, compiled: CompiledOperator) -> str:
    words: list[str] = []
    if isinstance(output.dims, Code):
        words.append(f"of shape {_value(output.dims)}")
    elif output.dims is not None:
        sizes = ", ".join(_text(code) for code in output.dims)
        words.append(f"of shape `[{sizes}]`")
    elif output.ndim is not None:
        words.append(f"of {_value(output.ndim)} dimensions")
    if output.dtype is not None:
        words.append(f"of dtype {_value(output.dtype)}")
    owner = compiled.owners.get(output.arg_name)
    if owner is not None:
        words.append(f"in the memory of `{owner}`")
    if output.static:
        words.append("static")
    if output.custom is not None:
        words.append("statements below")
    return "; ".join(words) or "as the equations say"


def _checks(argument: TensorIn | Param, compiled: CompiledOperator) -> Iterator[str]:
    codes = (*((argument.check,) if argument.check is not None else ()), *argument.checks)
    for code in codes:
        yield _check(code, compiled)
    if argument.custom is not None:
        yield "statements below"


def _check(code: Code, compiled: CompiledOperator) -> str:
    from pycparser.c_generator import CGenerator

    condition, _ = compiled.syntax.check(code)
    return f"`{CGenerator(reduce_parentheses=True).visit(condition)}`"


def _statements(operator: Operator) -> Iterator[str]:
    """Yield every text of statements, dedented, after a comment that says whose it is."""
    arguments = (*operator.tensors_in, *operator.params, *operator.tensors_out)
    owned = [(f"`{each.arg_name}`", each.custom) for each in arguments]
    for owner, code in (*owned, ("all arguments", operator.custom)):
        if code is not None and code.text.strip():
            yield f"Statements of {owner}:\n\n```c\n{dedent(code.text).strip()}\n```"


def _value(code: Code) -> str:
    text = _text(code)
    return text if text.lstrip("-").replace(".", "", 1).isdigit() else f"`{text}`"


def _text(code: Code) -> str:
    return " ".join(code.text.split())


def _prose(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;").replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
