"""Ops whose definition is a description: its checks are the verifier, its dims the result types.

    %y = lightnet.slice %x axis 1 start 1 len 3 : (tensor<2x4xf32>) -> tensor<2x3xf32>

Operands come in the order of the description, then every parameter by its name.

A Python function may say what an op computes, by the name of the op:

    @register_meaning("mine.nms")
    def nms(boxes: Array, scores: Array, *, threshold: float) -> Array: ...

It takes an array an input, in the order of the description, and parameters by their names; it
returns an array, or one for each output. The interpreter calls it, and nothing compiles it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.equation import IN_F64, EquationOp
from gawee_dialect.dialect.evaluated import NamedMeaningOp
from gawee_dialect.dialect.types import is_tensor, require_static
from gawee_dialect.equations.instance import Instance
from gawee_dialect.hints import isa
from gawee_dialect.locations import node_name
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import (
    Argument,
    CheckFailure,
    Invocation,
    ParamValue,
    Scalar,
    Tensor,
)
from gawee_dialect.opdesc.pre_run import Checked, pre_run

if TYPE_CHECKING:
    from gawee_dialect.dialect.dense import Array

    Meaning: TypeAlias = Callable[..., "Array | Sequence[Array]"]


Function = TypeVar("Function", bound="Meaning")

_meanings: dict[str, Meaning] = {}


def register_meaning(name: str) -> Callable[[Function], Function]:
    """Register a function as the meaning of an op, `dialect.optype`; the last one counts.

    Raises GaweeError for a name that is none of an op.
    """
    if not all(part.isidentifier() for part in name.split(".")) or name.count(".") != 1:
        raise GaweeError(f"expected a meaning to be that of an op 'dialect.optype', got '{name}'")

    def register(function: Function) -> Function:
        _meanings[name] = function
        return function

    return register


def registered_meanings() -> Mapping[str, Meaning]:
    """Return the function of every op that has one, by the op's name."""
    return _meanings


@contextmanager
def meanings_undone() -> Generator[None]:
    """Forget what is registered inside a with block at its end."""
    before = dict(_meanings)
    try:
        yield
    finally:
        _meanings.clear()
        _meanings.update(before)


# How the parameters of described ops are spelled, and which attributes hold them.
#
# size [3, 3] mode "TL_LINEAR" slope -0.1 flag true nothing null


def param_attribute(value: ParamValue) -> Attribute:
    """Return a parameter's value as an op holds it: i64, f64, i1, a string, an array, or unit."""
    if isinstance(value, tuple):
        return ArrayAttr(param_attribute(element) for element in value)
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return UnitAttr() if value is None else StringAttr(value)


def param_value(attribute: Attribute) -> ParamValue:
    """Return the value of a parameter; raises VerifyException for an attribute that is none."""
    if isa(attribute, ArrayAttr[Attribute]):
        return tuple(_scalar(element) for element in attribute)
    return None if isinstance(attribute, UnitAttr) else _scalar(attribute)


def _scalar(attribute: Attribute) -> Scalar:
    if isa(attribute, IntegerAttr[IntegerType]):
        is_bool = attribute.type == i1
        return bool(attribute.value.data) if is_bool else attribute.value.data
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, StringAttr):
        return attribute.data
    raise VerifyException(f"expected a param to be a number, string or boolean, got '{attribute}'")


def parse_op(
    parser: Parser,
) -> tuple[Sequence[SSAValue], dict[str, Attribute], Sequence[Attribute]]:
    """Read `%a, %b name value ... : (types) -> types`: operands, attributes, result types."""
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes = _parse_params(parser)
    attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    types = parser.parse_type()
    if not isinstance(types, FunctionType):
        parser.raise_error("expected the types of operands and results", start, parser.pos)
    inputs = parser.resolve_operands(operands or [], types.inputs.data, start)
    return inputs, attributes, types.outputs.data


def print_op(printer: Printer, op: Operation, names: Sequence[str]) -> None:
    """Print what `parse_op` reads; `names` are the parameters, in their order."""
    if op.operands:
        printer.print_string(" ")
        printer.print_list(op.operands, printer.print_ssa_value)
    for name in names:
        printer.print_string(f" {name} {param_text(param_value(op.attributes[name]))}")
    printer.print_op_attributes(op.attributes, reserved_attr_names=names)
    printer.print_string(" : ")
    printer.print_function_type(
        [operand.type for operand in op.operands], [result.type for result in op.results]
    )


def _parse_params(parser: Parser) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    while (name := parser.parse_optional_identifier()) is not None:
        if name in attributes:
            parser.raise_error(f"expected params to differ, got '{name}' twice")
        attributes[name] = param_attribute(_parse_param(parser))
    return attributes


def _parse_param(parser: Parser) -> ParamValue:
    elements = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_scalar(parser)
    )
    if elements is not None:
        return tuple(elements)
    return None if parser.parse_optional_keyword("null") else _parse_scalar(parser)


def _parse_scalar(parser: Parser) -> Scalar:
    text = parser.parse_optional_str_literal()
    if text is not None:
        return text
    boolean = parser.parse_optional_boolean()
    if boolean is not None:
        return boolean
    number = parser.parse_optional_number(allow_boolean=False)
    if number is None or isinstance(number, complex):
        parser.raise_error("expected a number, string, boolean or array")
    return number


def param_text(value: ParamValue) -> str:
    """Return the value of a parameter as MLIR spells it."""
    if isinstance(value, tuple):
        return f"[{', '.join(param_text(element) for element in value)}]"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return str(StringAttr(value))
    text = repr(value)
    if isinstance(value, int) or "." in text:
        return text
    return text.replace("e", ".0e")  # MLIR has no number like 1e-05


class DescribedOp(IRDLOperation, ABC):
    """An op of a description; a subclass for each is made by `op_class`."""

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)

    @classmethod
    @abstractmethod
    def description(cls) -> CompiledOperator:
        """Return what the op is defined by."""

    @classmethod
    def make(cls, inputs: Sequence[SSAValue], params: Mapping[str, ParamValue]) -> DescribedOp:
        """Make an op with the results that follow; raises CheckFailure where a check fails."""
        attributes = {name: param_attribute(value) for name, value in params.items()}
        operator = cls.description().operator
        outputs = len(operator.tensors_out)
        checked = _check(cls.description(), operator.optype, inputs, params, outputs)
        types = [TensorType(each.element, each.shape) for each in checked.outputs]
        return cls(operands=[inputs], result_types=[types], attributes=attributes)

    def params(self) -> dict[str, ParamValue]:
        """Return what the op gives for each parameter; names with a dot are no parameters."""
        return {
            name: param_value(attribute)
            for name, attribute in self.attributes.items()
            if "." not in name
        }

    def input(self, arg_name: str) -> SSAValue:
        """Return the operand of an argument."""
        names = [each.arg_name for each in self.description().operator.tensors_in]
        return self.operands[names.index(arg_name)]

    def checked(self) -> Checked:
        """Return what the description makes of this op; raises CheckFailure."""
        name = node_name(self.location) or self.description().operator.optype
        compiled = self.description()
        if compiled.body is not None and IN_F64 in self.attributes:
            compiled = replace(compiled, body=compiled.body.in_f64())
        return _check(compiled, name, self.operands, self.params(), len(self.results))

    def verify_(self) -> None:
        for index, operand in enumerate(self.operands):
            require_static(f"operand #{index}", operand.type)
        try:
            checked = self.checked()
        except CheckFailure as failure:
            raise VerifyException(failure.message) from failure
        for output, result in zip(checked.outputs, self.results, strict=True):
            inferred = TensorType(output.element, output.shape)
            if inferred != result.type:
                raise VerifyException(
                    f"expected output '{output.name}' of type '{inferred}', got '{result.type}'"
                )

    @classmethod
    def parse(cls, parser: Parser) -> DescribedOp:
        operands, attributes, types = parse_op(parser)
        return cls(operands=[operands], result_types=[types], attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_op(printer, self, _ordered(self.description(), self.params()))


class OpaqueOp(DescribedOp, NamedMeaningOp, ABC):
    """A described op without a body: `lower-opdesc` finds its meaning by its name."""

    def has_function(self) -> bool:
        return self.name in registered_meanings()

    def call_function(self, arrays: Sequence[Array]) -> Array | Sequence[Array]:
        return registered_meanings()[self.name](*arrays, **self.checked().params)


class BodyOp(DescribedOp, EquationOp, ABC):
    """A described op whose meaning is its body, in index notation."""

    def meaning(self) -> Instance:
        instance = self.checked().instance
        assert instance is not None  # there is a body
        return instance


def _ordered(compiled: CompiledOperator, params: Mapping[str, ParamValue]) -> list[str]:
    """Return the names of parameters, in the order of the description."""
    known = [param.arg_name for param in compiled.operator.params if param.arg_name in params]
    return [*known, *(name for name in params if name not in known)]


def _check(
    compiled: CompiledOperator,
    name: str,
    inputs: Sequence[SSAValue],
    params: Mapping[str, ParamValue],
    results: int,
) -> Checked:
    """Check what an op says; tensors bear the names of their arguments."""
    operator = compiled.operator
    names_in = _names([each.arg_name for each in operator.tensors_in], len(inputs), "operand")
    names_out = _names([each.arg_name for each in operator.tensors_out], results, "result")
    if compiled.body is not None:
        params = {**compiled.body.defaults, **params}
    table = {key: tensor_of(key, value) for key, value in zip(names_in, inputs, strict=True)}
    invocation = Invocation(
        name,
        operator.optype,
        [Argument(each, each) for each in names_in],
        [Argument(each, each) for each in names_out],
        params,
    )
    return pre_run(compiled, invocation, table)


def _names(described: Sequence[str], count: int, extra: str) -> list[str]:
    return [*described[:count], *(f"{extra} #{i}" for i in range(len(described), count))]


def tensor_of(name: str, value: SSAValue) -> Tensor:
    """Return what is known of a value: where it is, and whether it is static, if anything."""
    type_ = value.type
    if not is_tensor(type_):
        raise VerifyException(f"expected '{name}' to be a tensor, got '{type_}'")
    mtype, static = None, None
    if isinstance(value.owner, DescribedOp):
        output = value.owner.description().operator.tensors_out[value.owner.results.index(value)]
        mtype, static = output.mtype.text, output.static
    elif isinstance(value, BlockArgument):
        static = _is_parameter(value)
    return Tensor(name, type_.element_type, type_.get_shape(), mtype, static)


def _is_parameter(value: BlockArgument) -> bool | None:
    """Whether an argument of the entry function has the same data in every run."""
    function = value.block.parent_op()
    if not isinstance(function, FuncOp) or function.arg_attrs is None:
        return None
    attributes = function.arg_attrs.data[value.index].data
    if "gawee.input" in attributes:
        return False
    return True if attributes.keys() & {"gawee.parameter", "gawee.constant"} else None


def op_class(dialect: str, compiled: CompiledOperator) -> type[DescribedOp]:
    """Make the class of a description's op, `dialect.optype`.

    An op that makes no tensor is there for its effect, and is never removed as dead.
    """
    operator = compiled.operator
    namespace: dict[str, object] = {
        "__doc__": operator.doc or f"The operator '{operator.optype}' of {operator.author}.",
        "__module__": __name__,
        "description": classmethod(lambda cls: compiled),  # a value would be a part of the op
        "name": f"{dialect}.{operator.optype}",
    }
    if operator.tensors_out:
        namespace["traits"] = traits_def(Pure())
    base = OpaqueOp if compiled.body is None else BodyOp
    made = type(class_name(operator.optype), (base,), namespace)
    assert issubclass(made, DescribedOp)
    return irdl_op_definition(made)


def class_name(optype: str) -> str:
    """Return what the class of an operator is called."""
    return "".join(part[:1].upper() + part[1:] for part in optype.split("_")) + "Op"
