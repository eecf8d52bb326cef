"""The meaning of a description as a function in MLIR, whose types are those of each use.

    func.func @twice(%x: ${src}) -> ${dst} { ... }

`${name}` is the type of a tensor or the value of a parameter, `${name->dims[0]}`, `${name->ndim}`,
`${name->len}` and `${name->dtype}` what C texts call so.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.evaluated import NamedMeaningOp
from gawee_dialect.dialect.types import AnyTensor, tensor_type
from gawee_dialect.located_json import Code
from gawee_dialect.locations import place
from gawee_dialect.opdesc.described_op import DescribedOp, param_text
from gawee_dialect.opdesc.description import Operator

MAX_MLIR = 20_000
"""Characters of one function."""

_HOLE = re.compile(r"\$\{([^{}]*)\}")
_FIELD = re.compile(r"(\w+)->(?:dims\[(\d+)\]|(ndim|len|dtype))", re.ASCII)


def check_mlir_body(operator: Operator, problems: list[Diagnostic]) -> None:
    """Report what an operator's MLIR uses that the operator does not have."""
    code = operator.mlir
    if code is None:
        return
    if len(code.text) > MAX_MLIR:
        message = f"expected MLIR of at most {MAX_MLIR} characters, got {len(code.text)}"
        _report(operator, code, 0, problems, message)
        return
    if operator.body is not None:
        _report(operator, code, 0, problems, "expected no 'mlir' beside a 'body'")
    tensors = [each.arg_name for each in (*operator.tensors_in, *operator.tensors_out)]
    names = [*tensors, *(each.arg_name for each in operator.params)]
    for hole in _HOLE.finditer(code.text):
        text = hole[1].strip()
        field = _FIELD.fullmatch(text)
        if text in names or (field is not None and field[1] in tensors):
            continue
        known = ", ".join(f"${{{name}}}" for name in names)
        hint = did_you_mean(text, names, f"{known}, ${{{names[0]}->dims[0]}} and the like")
        message = f"expected '${{...}}' to name an argument or a field of a tensor, got '{text}'"
        _report(operator, code, hole.start(1), problems, message, hint)


def _report(
    operator: Operator,
    code: Code,
    index: int,
    problems: list[Diagnostic],
    message: str,
    hint: str | None = None,
) -> None:
    text = f"operator '{operator.optype}', 'mlir': {message}"
    problems.append(Diagnostic(text, str(code.place(index)), hint=hint))


def mlir_function(op: DescribedOp) -> FuncOp:
    """Return the function that a description's MLIR is for an op that verifies.

    Raises GaweeError, located in the description, for what is no function of core ops on the types
    of the op.
    """
    body = _MlirBody(op)
    module = body.parsed()
    function = next(iter(module.ops), None)
    if len(list(module.ops)) != 1 or not isinstance(function, FuncOp):
        raise body.error("expected one function and nothing else")
    where = place(function.location)
    if len(function.body.blocks) != 1:
        blocks = len(function.body.blocks)
        raise body.error(f"expected a function of one block, got {blocks}", where)
    given = [*op.operand_types], [*op.result_types]
    taken = [*function.function_type.inputs], [*function.function_type.outputs]
    for kind, types, own in zip(("inputs", "outputs"), given, taken, strict=True):
        if types != own:
            raise body.error(
                f"expected a function of {kind} ({_listed(types)}), as in its use, "
                f"got ({_listed(own)})",
                where,
            )
    for inner in function.walk():
        if isinstance(inner, NamedMeaningOp):
            raise body.error(f"expected core ops, got '{inner.name}'", place(inner.location))
    return function


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "none"


class _MlirBody:
    """The text for one op, and where in the description each of its characters is from."""

    def __init__(self, op: DescribedOp) -> None:
        code = op.description().operator.mlir
        assert code is not None  # the caller looked
        self.op, self.code = op, code
        self.text = ""
        self.breaks: list[tuple[int, int]] = []
        values, end = _values(op), 0
        for hole in _HOLE.finditer(code.text):
            self._add(code.text[end : hole.start()], end)
            self._add(self._value(hole, values), hole.start())
            end = hole.end()
        self._add(code.text[end:], end)

    def _add(self, text: str, index: int) -> None:
        self.breaks.append((len(self.text), index))
        self.text += text

    def _value(self, hole: re.Match[str], values: Mapping[str, "AnyTensor | str"]) -> str:
        text = hole[1].strip()
        field = _FIELD.fullmatch(text)
        if field is None:
            return str(values[text])
        type = values[field[1]]
        assert not isinstance(type, str)  # checked when the description was read
        if field[2] is None:
            fields = {"ndim": type.get_num_dims(), "dtype": type.element_type}
            return str(fields.get(field[3], prod(type.get_shape())))
        shape, axis = type.get_shape(), int(field[2])
        if axis >= len(shape):
            message = f"expected '{field[1]}' of more than {axis} dimensions, got {len(shape)}"
            raise self.error(message, index=hole.start(1))
        return str(shape[axis])

    def parsed(self) -> ModuleOp:
        """Return the text as a module that verifies; raises GaweeError for what is none."""
        from gawee_dialect.frontends.mlir_text import parse_mlir
        from gawee_dialect.universe import make_context

        try:
            return parse_mlir(make_context(), self.text, "mlir")
        except GaweeError as error:
            raise GaweeError(self._moved(error.diagnostics)) from error

    def error(self, message: str, where: str | None = None, index: int = 0) -> GaweeError:
        """Return an error about the text, at a place in what it is for this op or of the code."""
        at = str(self.code.place(index)) if where is None else self._place(where)
        text = f"operator '{self.op.description().operator.optype}', 'mlir': {message}"
        return GaweeError(Diagnostic(text, at, hint=self._use()))

    def _use(self) -> str | None:
        used = place(self.op.location)
        return None if used is None else f"used at {used}"

    def _moved(self, diagnostics: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
        for each in diagnostics:
            moved = self.error(each.message, each.place).diagnostics[0]
            hints = [hint for hint in (each.hint, moved.hint) if hint is not None]
            yield replace(moved, hint="; ".join(hints) or None)

    def _place(self, where: str) -> str:
        line, column = (int(each) for each in where.rsplit(":", 2)[1:])
        lines = self.text.splitlines(keepends=True)
        at = min(sum(map(len, lines[: line - 1])) + column - 1, len(self.text))
        nearest = bisect_right(self.breaks, (at, len(self.code.text))) - 1
        start, index = self.breaks[nearest]
        limits = [each for _, each in self.breaks[nearest + 1 :]] or [len(self.code.text)]
        return str(self.code.place(min(index + at - start, limits[0])))


def _values(op: DescribedOp) -> dict[str, "AnyTensor | str"]:
    """Return the types of tensors and the spelling of parameters, by their names."""
    operator = op.description().operator
    values: dict[str, AnyTensor | str] = {
        name: param_text(value) for name, value in op.checked().params.items()
    }
    inputs = zip(operator.tensors_in, op.operands, strict=True)
    outputs = zip(operator.tensors_out, op.results, strict=True)
    return values | {each.arg_name: tensor_type(value) for each, value in (*inputs, *outputs)}
