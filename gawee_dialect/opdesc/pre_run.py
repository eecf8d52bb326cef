"""Check an invocation as its description says, in the documented order, and infer its outputs.

Inputs come first, each with its checks in the order of the format; then the names of outputs, then
parameters, the checks of the operator, and the outputs' shapes and dtypes. The first check that
fails is the one that is reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute

from gawee_dialect.diagnostics import did_you_mean
from gawee_dialect.equations.instance import Instance, Misfit, Type
from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.c_evaluate import RELATIONS, CodeFailure, Evaluator, Unsatisfied
from gawee_dialect.opdesc.c_values import (
    INT,
    INT_POINTER,
    OPERATOR,
    STRING,
    Buffer,
    EvaluationError,
    Ref,
    Value,
    combined,
    converted,
    entry_struct,
    list_entry_struct,
    param_entry_struct,
    param_variable,
    tensor_struct,
    text_value,
)
from gawee_dialect.opdesc.compiled import CompiledOperator, numbers_of
from gawee_dialect.opdesc.description import (
    DTYPES,
    Argument,
    Bound,
    CheckFailure,
    Invocation,
    Param,
    ParamValue,
    Tensor,
    TensorIn,
    TensorOut,
    ptype_of,
)
from gawee_dialect.source import Place

MAX_NDIM = 32


@dataclass(frozen=True)
class Checked:
    """What an invocation that passes makes: its outputs, in the order of the description.

    `params` are the values as run code has them: numbers converted, and what `custom` made of them.
    `instance` is the operator's body for them, where it has one.
    """

    outputs: Sequence[Tensor]
    params: Mapping[str, ParamValue]
    warnings: Sequence[str] = ()
    instance: Instance | None = None


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as messages of the format spell it: [2, 3]."""
    return f"[{', '.join(map(str, shape))}]"


def pre_run(
    compiled: CompiledOperator, invocation: Invocation, table: Mapping[str, Tensor]
) -> Checked:
    """Check an invocation against the tensors that exist; raises CheckFailure at the first."""
    return _PreRun(compiled, invocation, table).run()


@dataclass
class _PreRun:
    compiled: CompiledOperator
    invocation: Invocation
    table: Mapping[str, Tensor]
    evaluator: Evaluator = field(default_factory=Evaluator)
    inputs: dict[str, Tensor] = field(default_factory=dict[str, Tensor])

    def run(self) -> Checked:
        """Go through all checks."""
        operator, invocation = self.compiled.operator, self.invocation
        names = {"name": text_value(invocation.name), "optype": text_value(operator.optype)}
        self.evaluator.declare("op_arg", OPERATOR, Value(OPERATOR, names))
        self._count(
            "tensors_in_len_eq", "input tensors", operator.tensors_in, invocation.tensors_in
        )
        for tensor in operator.tensors_in:
            self._input(tensor)
        self._count(
            "tensors_out_len_eq", "output tensors", operator.tensors_out, invocation.tensors_out
        )
        for output in operator.tensors_out:
            self._output_name(output)
        self._count("params_len_eq", "params", operator.params, tuple(invocation.params))
        for param in operator.params:
            self._param(param)
        for code in operator.checks:
            self._satisfy("'checks'", code)
        self._custom("'custom'", operator.custom)
        params = {param.arg_name: self._resolved(param) for param in operator.params}
        instance = self._instance(params)
        outputs = tuple(self._output(output, instance) for output in operator.tensors_out)
        return Checked(outputs, params, tuple(self.evaluator.warnings), instance)

    def _instance(self, params: Mapping[str, ParamValue]) -> Instance | None:
        """Return what the operator's body is for the invocation; None where there is no body."""
        if self.compiled.body is None:
            return None
        inputs = {name: Type(each.shape, each.element) for name, each in self.inputs.items()}
        try:
            return self.compiled.body.instance(inputs, numbers_of(params))
        except Misfit as misfit:
            message = f"{misfit.message} ({misfit.place})" if misfit.place else misfit.message
            raise CheckFailure("body", message, misfit.hint) from misfit

    def _count(
        self, kind: str, what: str, expected: Sequence[object], given: Sequence[object]
    ) -> None:
        if len(expected) != len(given):
            raise CheckFailure(kind, f"expected {len(expected)} {what}, got {len(given)}")

    def _argument(self, kind: str, what: str, arg_name: str, given: Sequence[Argument]) -> Argument:
        found = next((each for each in given if each.arg_name == arg_name), None)
        if found is None:
            names = [each.arg_name for each in given]
            got = ", ".join(f"'{name}'" for name in names) or "none"
            hint = did_you_mean(arg_name, names, "arguments are found by their names")
            raise CheckFailure(kind, f"expected an {what} '{arg_name}', got {got}", hint)
        return found

    def _number(self, what: str, code: Code) -> Value:
        """Return the value of an expression that is to be a number."""
        value = self._value(what, code)
        if not isinstance(value.data, int | float):
            raise _failure(what, "expected a number", code.place())
        return value

    def _value(self, what: str, code: Code) -> Value:
        try:
            return self.evaluator.evaluate(self.compiled.syntax.expression(code))
        except CodeFailure as failure:
            raise _failure(what, failure.message, failure.place) from failure
        except Unsatisfied as failure:
            raise CheckFailure(failure.kind, f"{what}: {failure.message}") from failure

    def _satisfy(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        condition, message_nodes = self.compiled.syntax.check(code)
        try:
            if self.evaluator.evaluate(condition).truth():
                return
            message = self.evaluator.message(message_nodes) if message_nodes else None
        except CodeFailure as failure:
            raise _failure(what, failure.message, failure.place) from failure
        except (EvaluationError, Unsatisfied) as failure:
            raise _failure(what, str(failure), code.place()) from failure
        kind = "satisfy" if message is None else "satisfy_msg"
        raise CheckFailure(
            kind, f"expected {what} to hold: {message or ' '.join(code.text.split())}"
        )

    def _custom(self, what: str, code: Code | None) -> None:
        if code is None:
            return
        try:
            self.evaluator.run(self.compiled.syntax.statements(code))
        except CodeFailure as failure:
            raise _failure(what, failure.message, failure.place) from failure
        except Unsatisfied as failure:
            raise CheckFailure(failure.kind, f"{what}: {failure.message}") from failure

    # Rows 2 to 13 of the format: an input.

    def _input(self, described: TensorIn) -> None:
        name = described.arg_name
        argument = self._argument(
            "tensor_in_exist", "input tensor", name, self.invocation.tensors_in
        )
        tensor = self.table.get(argument.name)
        what = f"input '{name}'"
        if tensor is None:
            message = f"expected tensor '{argument.name}' of {what} to be defined before"
            raise CheckFailure("tensor_defined", message)
        self.inputs[name] = tensor
        self.evaluator.declare(name, (made := tensor_struct(tensor)).type, made)
        self.evaluator.declare(f"{name}_name", STRING, text_value(tensor.name))
        self.evaluator.declare(f"{name}_entry", (made := entry_struct(tensor)).type, made)
        made = list_entry_struct(name, tensor.name)
        self.evaluator.declare(f"{name}_list_entry", made.type, made)
        self._check_type(described, tensor, what)
        self._check_size(described, tensor, what)
        self._check_same(described, tensor, what)
        if described.static is not None and tensor.static is (not described.static):
            kind = "tensor_isstatic" if described.static else "tensor_isnotstatic"
            expected = "to be static" if described.static else "not to be static"
            raise CheckFailure(kind, f"expected {what} {expected}, got tensor '{tensor.name}'")
        self._satisfy(f"'check' of {what}", described.check)
        for code in described.checks:
            self._satisfy(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", described.custom)

    def _check_type(self, described: TensorIn, tensor: Tensor, what: str) -> None:
        mtype = described.mtype.text
        if mtype != "LN_MEM_NONE" and tensor.mtype not in (None, mtype):
            message = f"expected {what} in {mtype}, got {tensor.mtype}"
            raise CheckFailure("tensor_mtype_eq", message)
        if described.dtype is not None and tensor.dtype != described.dtype.text:
            message = f"expected {what} of dtype {described.dtype.text}, got {tensor.dtype}"
            raise CheckFailure("tensor_dtype_eq", message)

    def _check_size(self, described: TensorIn, tensor: Tensor, what: str) -> None:
        got = f"{shape_text(tensor.shape)}"
        if described.ndim is not None:
            ndim = self._number(f"'ndim' of {what}", described.ndim).number()
            if len(tensor.shape) != ndim:
                message = f"expected {what} of {ndim} dimensions, got {len(tensor.shape)} ({got})"
                raise CheckFailure("tensor_ndim", message)
        if described.len is not None:
            length = self._number(f"'len' of {what}", described.len).number()
            if tensor.len != length:
                message = f"expected {what} of {length} elements, got {tensor.len} ({got})"
                raise CheckFailure("tensor_len", message)

    def _check_same(self, described: TensorIn, tensor: Tensor, what: str) -> None:
        if described.sametype is not None:
            other = self.inputs[described.sametype.text]
            if other.element != tensor.element:
                message = (
                    f"expected {what} of the dtype of '{described.sametype.text}' "
                    f"({other.dtype}), got {tensor.dtype}"
                )
                raise CheckFailure("tensor_issametype", message)
        if described.sameshape is not None:
            other = self.inputs[described.sameshape.text]
            if other.shape != tensor.shape:
                message = (
                    f"expected {what} of the shape of '{described.sameshape.text}' "
                    f"({shape_text(other.shape)}), got {shape_text(tensor.shape)}"
                )
                raise CheckFailure("tensor_issameshape", message)

    # Rows 15 and 16: the name of an output.

    def _output_name(self, described: TensorOut) -> None:
        name = described.arg_name
        argument = self._argument(
            "tensor_out_exist", "output tensor", name, self.invocation.tensors_out
        )
        if argument.name in self.table:
            message = f"expected tensor '{argument.name}' of output '{name}' not to be defined yet"
            raise CheckFailure("tensor_not_defined", message)
        self.evaluator.declare(f"{name}_name", STRING, text_value(argument.name))

    # Rows 18 to 23: a parameter.

    def _param(self, param: Param) -> None:
        name, what = param.arg_name, f"param '{param.arg_name}'"
        if name not in self.invocation.params:
            got = ", ".join(f"'{each}'" for each in self.invocation.params) or "none"
            hint = did_you_mean(name, self.invocation.params, "every param is given, by its name")
            raise CheckFailure("param_exist", f"expected a {what}, got {got}", hint)
        value = self.invocation.params[name]
        if ptype_of(value) != param.ptype.text:
            message = f"expected {what} to be {param.ptype.text}, got {ptype_of(value)}"
            raise CheckFailure("param_type", message)
        variable = param_variable(param, value)
        entry = param_entry_struct(param, value, variable)
        self.evaluator.declare(f"{name}_entry", entry.type, entry)
        if param.len is not None and isinstance(value, tuple):
            length = self._number(f"'len' of {what}", param.len).number()
            if len(value) != length:
                message = f"expected {what} of {length} elements, got {len(value)}"
                raise CheckFailure("param_array_len_eq", message)
        self.evaluator.declare(name, variable.type, variable)
        for bound in param.bounds:
            self._bound(param, bound, variable, what)
        self._satisfy(f"'check' of {what}", param.check)
        for code in param.checks:
            self._satisfy(f"'checks' of {what}", code)
        self._custom(f"'custom' of {what}", param.custom)

    def _bound(self, param: Param, bound: Bound, variable: Value, what: str) -> None:
        assert param.realtype is not None  # read.py refuses a number without one
        limit = self._number(f"'{bound.relation}' of {what}", bound.code)
        infix = "array_" if param.is_array else ""
        kind = f"param_{infix}{param.realtype.text}_{bound.relation}"
        for index, element in enumerate(_elements(variable)):
            if not combined(RELATIONS[bound.relation], element, limit).truth():
                which = f"'{param.arg_name}[{index}]'" if param.is_array else f"'{param.arg_name}'"
                message = (
                    f"expected param {which} {RELATIONS[bound.relation]} {limit.number()}, "
                    f"got {element.number()}"
                )
                raise CheckFailure(kind, message)

    def _resolved(self, param: Param) -> ParamValue:
        """Return the value of a parameter after all checks; a name of a constant stays a name."""
        given = self.invocation.params[param.arg_name]
        variable = self.evaluator.variable(param.arg_name)
        if param.kind != "NUMBER" or variable is None or variable.value is None:
            return given
        elements = tuple(element.number() for element in _elements(variable.value))
        return elements if param.is_array else elements[0]

    # Rows 25 to 32: an output.

    def _output(self, described: TensorOut, instance: Instance | None) -> Tensor:
        name = described.arg_name
        if instance is None:
            return self._computed_output(described)
        type = instance.tensors[name]
        if described.dims is not None and described.ndim is not None and described.dtype:
            said = self._computed_output(described)
            if (said.shape, said.element) != (type.shape, type.element):
                message = (
                    f"expected output '{name}' as its body says, {shape_text(type.shape)} of "
                    f"{type.element}, got {shape_text(said.shape)} of {said.element}"
                )
                raise CheckFailure("body", message)
        return self._tensor(described, type.element, type.shape)

    def _computed_output(self, described: TensorOut) -> Tensor:
        name, what = described.arg_name, f"output '{described.arg_name}'"
        self._declare_number(name, "ndim", described.ndim)
        self._declare_number(name, "dtype", described.dtype)
        self.evaluator.declare(f"{name}_dims", INT_POINTER, self._dims(described))
        self._custom(f"'custom' of {what}", described.custom)
        tensor = self._made(described)
        self.evaluator.declare(name, (made := tensor_struct(tensor)).type, made)
        self.evaluator.declare(f"{name}_entry", (made := entry_struct(tensor)).type, made)
        self._custom(f"'cleanup' of {what}", described.cleanup)
        return tensor

    def _declare_number(self, name: str, key: str, code: Code | None) -> None:
        what = f"'{key}' of output '{name}'"
        value = None if code is None else self._number(what, code)
        self.evaluator.declare(f"{name}_{key}", INT, value)

    def _dims(self, described: TensorOut) -> Value | None:
        what = f"'dims' of output '{described.arg_name}'"
        if described.dims is None:
            return None
        if isinstance(described.dims, Code):
            value = self._value(what, described.dims)
            if not isinstance(value.data, Ref) or value.data.buffer.element != INT:
                raise _failure(what, "expected an array of int", described.dims.place())
            return value
        sizes: list[int | float | None] = [
            converted(self._number(what, code), INT).number() for code in described.dims
        ]
        return Value(INT_POINTER, Ref(Buffer.of(INT, sizes)))

    def _variable(self, name: str, key: str) -> Value:
        variable = self.evaluator.variable(f"{name}_{key}")
        if variable is None or variable.value is None or variable.value.data is None:
            message = f"expected 'custom' of output '{name}' to set '{name}_{key}'"
            raise CheckFailure("evaluation", message)
        return variable.value

    def _made(self, described: TensorOut) -> Tensor:
        name = described.arg_name
        ndim, dtype = (
            self._variable(name, "ndim").integer(),
            self._variable(name, "dtype").integer(),
        )
        ref = self._variable(name, "dims").ref()
        held = len(ref.buffer.cells) - ref.index
        if ndim != held or not 1 <= ndim <= MAX_NDIM:
            message = f"expected output '{name}' of {ndim} dimensions (1 to {MAX_NDIM}), got {held}"
            raise CheckFailure("evaluation", f"{message} in '{name}_dims'")
        try:
            shape = tuple(int(each) for each in ref.elements(ndim))
        except EvaluationError as error:
            message = f"cannot evaluate 'dims' of output '{name}': {error}"
            raise CheckFailure("evaluation", message) from error
        if any(size < 1 for size in shape):
            message = f"expected dims of output '{name}' of at least 1, got {shape_text(shape)}"
            raise CheckFailure("evaluation", message)
        if not 0 <= dtype < len(DTYPES):
            message = f"expected a dtype of output '{name}', got {dtype}"
            raise CheckFailure("evaluation", message)
        return self._tensor(described, tuple(DTYPES.values())[dtype], shape)

    def _tensor(self, described: TensorOut, element: Attribute, shape: tuple[int, ...]) -> Tensor:
        name = described.arg_name
        argument = next(each for each in self.invocation.tensors_out if each.arg_name == name)
        owner = self.compiled.owners.get(name)
        made = Tensor(
            argument.name,
            element,
            shape,
            described.mtype.text,
            described.static,
            None if owner is None else self.inputs[owner].name,
            self.invocation.name,
        )
        if made.len > INT.highest:
            message = f"expected output '{name}' of at most {INT.highest} elements, got {made.len}"
            raise CheckFailure("evaluation", message)
        return made


def _failure(what: str, message: str, place: Place) -> CheckFailure:
    return CheckFailure("evaluation", f"cannot evaluate {what}: {message} ({place})")


def _elements(variable: Value) -> Sequence[Value]:
    """Return the elements of an array, or the one number."""
    if isinstance(variable.data, Ref) and variable.data.buffer.element is not None:
        buffer = variable.data.buffer
        assert buffer.element is not None
        return [Value(buffer.element, each) for each in buffer.cells]
    return [variable]
