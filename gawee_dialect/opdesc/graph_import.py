"""From invocations to a module, and back: one op each, arguments for tensors from outside."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, verify_module
from gawee_dialect.dialect.entry import (
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction
from gawee_dialect.identifiers import name_hint, take_name
from gawee_dialect.located_json import MAX_PROBLEMS
from gawee_dialect.locations import node_name
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import DescribedOp, param_attribute
from gawee_dialect.opdesc.description import Argument, CheckFailure, Invocation, Tensor, dtype_name
from gawee_dialect.opdesc.invocation_graph import InvocationGraph, LocatedInvocation
from gawee_dialect.opdesc.load import is_shipped, registered_operators
from gawee_dialect.opdesc.pre_run import Checked, pre_run

# From invocations to a module: one op each, and arguments for the tensors that come from outside.
#
# A `create` whose data is in a file is a parameter of the entry function, and one of a single zero
# is an input: the caller sets it. A tensor without uses is an output; so is one that is only
# printed.


# An operator's life: `init`, `checked` by pre_run, `ready` by static_run, run, `end` by post_run.
#
# What a step does is the format's: pre_run checks and makes the outputs' entries of the tensor
# table, static_run computes once, run computes as often as asked, post_run frees the names of the
# outputs.


class State(StrEnum):
    """Where in its life an operator is."""

    INIT = "init"
    CHECKED = "checked"
    READY = "ready"
    END = "end"


def _nothing(checked: Checked) -> None:
    """Do what an operator without a body does."""


@dataclass
class Life:
    """One invocation while a graph is set up, run and torn down; its steps come in their order.

    `table` is the tensor table that all operators of a graph share. `on_static_run` and `on_run`
    are what the steps compute; without `static_run` in the description, checked is ready.
    """

    compiled: CompiledOperator
    invocation: Invocation
    table: MutableMapping[str, Tensor]
    on_static_run: Callable[[Checked], None] = _nothing
    on_run: Callable[[Checked], None] = _nothing
    state: State = State.INIT
    _checked: Checked | None = field(default=None, init=False)

    def pre_run(self) -> Checked:
        """Check the invocation and add its outputs to the table; raises GaweeError."""
        self._require("pre_run", State.INIT)
        try:
            checked = pre_run(self.compiled, self.invocation, self.table)
        except CheckFailure as failure:
            text = f"'{self.invocation.optype}' op {failure.message}"
            raise GaweeError(
                Diagnostic(text, node=self.invocation.name, hint=failure.hint)
            ) from failure
        self.table.update({tensor.name: tensor for tensor in checked.outputs})
        self._checked = checked
        has_static_run = self.compiled.operator.static_run is not None
        self.state = State.CHECKED if has_static_run else State.READY
        return checked

    def static_run(self) -> None:
        """Compute what is computed once; raises GaweeError out of order."""
        self.on_static_run(self._require("static_run", State.CHECKED))
        self.state = State.READY

    def run(self) -> None:
        """Compute; raises GaweeError out of order."""
        self.on_run(self._require("run", State.READY))

    def post_run(self) -> None:
        """Take the outputs out of the table, so that their names are free; raises GaweeError."""
        checked = self._require("post_run", State.CHECKED, State.READY)
        for tensor in checked.outputs:
            del self.table[tensor.name]
        self.state = State.END

    def _require(self, step: str, *states: State) -> Checked:
        if self.state not in states:
            expected = " or ".join(f"'{state}'" for state in states)
            message = f"'{self.invocation.optype}' op cannot {step}: expected state {expected}"
            raise GaweeError(
                Diagnostic(f"{message}, got '{self.state}'", node=self.invocation.name)
            )
        return self._checked or Checked((), {})


def offset_in_arena(
    name: str,
    table: Mapping[str, Tensor],
    offsets: Mapping[str, int],
    calc_offset: Callable[[Tensor], int] | None = None,
) -> int:
    """Return where in an arena a tensor starts, in bytes: its own place, or inside its owner.

    `offsets` are the places of tensors that have memory of their own. `calc_offset` says where in
    its owner a tensor begins; it begins with its owner where there is none. Raises GaweeError for
    a tensor whose memory is not planned.
    """
    tensor = table.get(name)
    if tensor is None:
        raise GaweeError(f"expected tensor '{name}' to be in the tensor table")
    if tensor.owner is None:
        if name not in offsets:
            raise GaweeError(f"expected a place of tensor '{name}' in the arena")
        return offsets[name]
    inside = 0 if calc_offset is None else calc_offset(tensor)
    return offset_in_arena(tensor.owner, table, offsets) + inside


PRINTS = ("print", "fprint")
"""Operators that show what they read, and make nothing."""

OVERWRITES = ("sort1d", "sort1d_by_key", "rearange")
"""Operators whose outputs are in their inputs' memory, with other data."""


def import_invocations(graph: InvocationGraph) -> ModuleOp:
    """Make the module of a graph; raises GaweeError that lists every op that fails a check."""
    module = _Builder(graph).build()
    verify_module(module)
    return module


class _Builder:
    def __init__(self, graph: InvocationGraph) -> None:
        self.graph = graph
        self.known = registered_operators()
        self.function = EntryFunction()
        self.values: dict[str, SSAValue] = {}
        self.table: dict[str, Tensor] = {}
        self.refused: set[str] = set()
        self.overwritten: dict[str, str] = {}

    def build(self) -> ModuleOp:
        """Make every op; problems are collected, and what reads a refused op's tensors is left."""
        for each in self.graph.invocations:
            if len(self.graph.report.problems) >= MAX_PROBLEMS:
                break
            if not any(argument.name in self.refused for argument in each.invocation.tensors_in):
                self._add(each)
            if any(argument.name not in self.values for argument in each.invocation.tensors_out):
                self.refused.update(argument.name for argument in each.invocation.tensors_out)
        self.graph.report.raise_if_any()
        outputs = self._outputs()
        results = [self.values[name] for name in outputs]
        location = self.graph.source.location(0)
        return self.function.located_module(results, outputs, location)

    def _report(self, each: LocatedInvocation, message: str, hint: str | None = None) -> None:
        text = f"'{each.invocation.optype}' op {message}"
        self.graph.report.add(each.offset, text, each.invocation.name, hint)

    def _add(self, each: LocatedInvocation) -> None:
        invocation = each.invocation
        kind = self.known.get(invocation.optype)
        if kind is None:
            hint = did_you_mean(invocation.optype, self.known, "--load-ops FILE adds operators")
            self._report(each, "is not registered", hint)
            return
        life = Life(kind.description(), invocation, self.table)
        try:
            checked = life.pre_run()
        except GaweeError as error:
            for problem in error.diagnostics:
                self.graph.report.add(each.offset, problem.message, problem.node, problem.hint)
            return
        for argument in invocation.tensors_in:
            if argument.name in self.overwritten:
                by = self.overwritten[argument.name]
                self._report(
                    each, f"reads tensor '{argument.name}', which op '{by}' has overwritten"
                )
                return
        self._make(each, kind, checked)

    def _make(self, each: LocatedInvocation, kind: type[DescribedOp], checked: Checked) -> None:
        invocation = each.invocation
        names = {argument.arg_name: argument.name for argument in invocation.tensors_in}
        operands = [self.values[names[t.arg_name]] for t in kind.description().operator.tensors_in]
        params = kind.description().operator.params
        op = kind(
            operands=[operands],
            result_types=[[TensorType(t.element, t.shape) for t in checked.outputs]],
            attributes={p.arg_name: param_attribute(invocation.params[p.arg_name]) for p in params},
        )
        op.location = self.graph.source.location(each.offset, invocation.name)
        outside = _outside(op, invocation)
        if outside is None:
            self.function.block.add_op(op)
        for tensor, result in zip(checked.outputs, op.results, strict=True):
            value = result
            if outside is not None:
                type = TensorType(tensor.element, tensor.shape)
                value = self.function.add_argument(outside, tensor.name, type)
            value.name_hint = name_hint(tensor.name)
            self.values[tensor.name] = value
            if outside is not None:
                self.table[tensor.name] = _known(tensor, outside)
            if tensor.owner is not None and invocation.optype in OVERWRITES and is_shipped(op):
                self.overwritten[tensor.owner] = invocation.name

    def _outputs(self) -> Sequence[str]:
        """Return the tensors that ops make and no op but a printing one reads, in program order."""
        read = {
            argument.name
            for each in self.graph.invocations
            for argument in each.invocation.tensors_in
            if each.invocation.optype not in PRINTS
        }
        arguments = {argument.name for argument in self.function.arguments}
        return [name for name in self.values if name not in read and name not in arguments]


def _known(tensor: Tensor, kind: ArgumentKind) -> Tensor:
    """Return what is known of a tensor that comes from outside: not where it will be."""
    return replace(tensor, mtype=None, static=kind is ArgumentKind.PARAMETER)


def _outside(op: DescribedOp, invocation: Invocation) -> ArgumentKind | None:
    """Return what kind of argument stands for a `create`, None for an op that makes its data."""
    if invocation.optype != "create" or not is_shipped(op):
        return None
    params = invocation.params
    if params["from_file"] is True:
        return ArgumentKind.PARAMETER
    is_blank = params["ran"] == (0, 0) and params["data"] == (0,)
    return ArgumentKind.INPUT if is_blank else None


# From a module of described ops back to invocations, in program order and with unique names.


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
