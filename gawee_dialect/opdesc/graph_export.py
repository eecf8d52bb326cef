"""From a module of described ops back to invocations, in program order and with unique names."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.identifiers import take_name
from gawee_dialect.locations import node_name
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.enums import dtype_name
from gawee_dialect.opdesc.invocation import Argument, Invocation


def export_invocations(module: ModuleOp) -> Sequence[Invocation]:
    """Return the invocations of a module's entry function.

    Arguments of the function are `create` ops: parameters with data in a file, inputs of one zero.
    Raises GaweeError that lists every op that is no described one.
    """
    function = find_function(module)
    if function is None:
        raise GaweeError("expected a function '@main' in the module, got none")
    ops = [op for op in function.body.block.ops if not isinstance(op, ReturnOp)]
    foreign = [op for op in ops if not isinstance(op, DescribedOp)]
    if foreign:
        raise GaweeError(
            Diagnostic.at(op, "cannot be an invocation: no description defines it")
            for op in foreign
        )
    return _Exporter(function).export([op for op in ops if isinstance(op, DescribedOp)])


class _Exporter:
    def __init__(self, function: FuncOp) -> None:
        self.function = function
        self.tensors: dict[SSAValue, str] = {}
        self.taken: set[str] = set()
        self.ops_taken: set[str] = set()

    def export(self, ops: Sequence[DescribedOp]) -> Sequence[Invocation]:
        """Name every tensor, those with a name of their own first, then say each op."""
        self._name_entry()
        arguments = zip(entry_arguments(self.function), self.function.body.block.args, strict=True)
        made = [self._create(argument, value) for argument, value in arguments]
        return [*made, *(self._invocation(op) for op in ops)]

    def _name_entry(self) -> None:
        arguments = zip(entry_arguments(self.function), self.function.body.block.args, strict=True)
        for argument, value in arguments:
            self.tensors[value] = take_name(argument.name, self.taken, 2)
        last = self.function.body.block.last_op
        assert isinstance(last, Operation)
        for name, value in zip(output_names(self.function), last.operands, strict=True):
            if value not in self.tensors:
                self.tensors[value] = take_name(name, self.taken, 2)

    def _tensor(self, value: SSAValue) -> str:
        if value not in self.tensors:
            self.tensors[value] = take_name(value.name_hint or "tensor", self.taken, 2)
        return self.tensors[value]

    def _create(self, argument: EntryArgument, value: SSAValue) -> Invocation:
        type_ = tensor_type(value)
        dtype = dtype_name(type_.element_type)
        if dtype is None:
            message = (
                f"cannot create tensor '{argument.name}' of element type '{type_.element_type}'"
            )
            raise GaweeError(Diagnostic.at(self.function, message))
        params = {
            "dtype": dtype,
            "dims": tuple(type_.get_shape()),
            "ran": (0, 0),
            "data": (0,),
            "from_file": argument.kind is not ArgumentKind.INPUT,
        }
        name = take_name(f"create_{argument.name}", self.ops_taken, 2)
        return Invocation(name, "create", (), (Argument("dst", self.tensors[value]),), params)

    def _invocation(self, op: DescribedOp) -> Invocation:
        operator = op.description().operator
        name = take_name(node_name(op.location) or operator.optype, self.ops_taken, 2)
        inputs = zip(operator.tensors_in, op.operands, strict=True)
        outputs = zip(operator.tensors_out, op.results, strict=True)
        return Invocation(
            name,
            operator.optype,
            [Argument(tensor.arg_name, self._tensor(value)) for tensor, value in inputs],
            [Argument(tensor.arg_name, self._tensor(value)) for tensor, value in outputs],
            op.params(),
        )
