"""Descriptions as a reference page: what each operator takes, checks and makes, in Markdown.

Of an operator with a body all follows from that: equations, parameters, where sizes come from, and
an example whose numbers were computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING

from gawee_dialect.dialect.types import shape_text
from gawee_dialect.equations.instance import Body, flops
from gawee_dialect.equations.sizes import Axis, Limit, Origin
from gawee_dialect.equations.syntax import Parameter, Wildcard, spelled
from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.c_evaluate import RELATIONS
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import Operator, Param, TensorIn, TensorOut

if TYPE_CHECKING:
    from gawee_dialect.equations.evaluate import Array
    from gawee_dialect.opdesc.oracle import Use

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


EXAMPLES = 8
"""Random uses of which the smallest is shown."""

SHOWN = 4
"""Elements of an output."""


def reference_text(compiled: CompiledOperator) -> str:
    """Return what a page says of a body; raises GaweeError where no example is found."""
    body = compiled.body
    assert body is not None
    equations = "\n".join(map(spelled, body.program.definitions))
    said = "\n".join((*_parameters(body), *_sizes(body)))
    return "\n\n".join((f"```text\n{equations}\n```", said, _example(compiled)))


def _parameters(body: Body) -> Iterator[str]:
    for each in body.program.parameters:
        yield f"- parameter {_parameter(each)}"
    for requirement in body.program.requirements:
        yield f"- requires `{requirement.text}`"


def _parameter(parameter: Parameter) -> str:
    length = "" if parameter.length is None else f"[{parameter.length}]"
    default = "" if parameter.default is None else f" = {parameter.default}"
    return f"`{parameter.kind} {parameter.name}{length}{default}`"


def _sizes(body: Body) -> Iterator[str]:
    """Yield where the size of each index comes from, an equation a line."""
    for name, plan in body.plans.items():
        said = [f"`{each.index}` {_origin(each)}" for each in plan.origins]
        if plan.wildcard is not None:
            said.insert(0, f"`...` the other axes of `{plan.wildcard[0].tensor}`")
        yield f"- `{name}`: {'; '.join(said) or 'one element'}"


def _origin(origin: Origin) -> str:
    if isinstance(origin, Limit):
        return f"up to `{spelled(origin.limit)}`"
    subscript = origin.access.subscripts[origin.axis]
    axis = f"axis {origin.axis} of `{origin.access.tensor}`"
    if isinstance(origin, Axis):
        return f"is {axis}"
    assert not isinstance(subscript, Wildcard)
    return f"while `{spelled(subscript)}` stays in {axis}, padded as far as it is shifted"


def _example(compiled: CompiledOperator) -> str:
    """Return the smallest of some random uses, what it costs, and what came out."""
    # NumPy computes it: only descriptions with a body pay for its import.
    from gawee_dialect.opdesc.oracle import random_use

    uses = [random_use(compiled, seed) for seed in range(EXAMPLES)]
    use = min(uses, key=lambda each: sum(a.size for a in (*each.inputs.values(), *each.outputs)))
    lines = [f"For {use}:", "", "```text"]
    for name, array in zip(use.instance.program.outputs, use.outputs, strict=True):
        lines.append(
            f"{name}: {shape_text(array.shape) or 'one'} of {array.dtype}, {_shown(array)}"
        )
    return "\n".join([*lines, _cost(use), "```"])


def _shown(array: Array) -> str:
    numbers = [f"{each:.4g}" for each in array.reshape(-1)[:SHOWN].tolist()]
    return ", ".join(numbers) + (", ..." if array.size > SHOWN else "")


def _cost(use: Use) -> str:
    moved = sum(each.nbytes for each in (*use.inputs.values(), *use.outputs))
    return f"{flops(use.instance)} FLOPs, {moved} bytes"
