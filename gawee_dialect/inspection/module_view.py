"""Modules at any level of the IR, as inspection sees them: the ops of the entry function."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    ArgumentKind,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.types import dtype_name, is_tensor
from gawee_dialect.identifiers import take_name
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.locations import node_name


def module_view(module: ModuleOp, name: str) -> GraphView:
    """Describe a module's entry function: `main`, `forward`, or the only one there is.

    Raises GaweeError where there is none of these.
    """
    function = _entry(module)
    names = _Names()
    inputs: list[TensorView] = []
    weights: list[TensorView] = []
    weight_of: dict[str, str] = {}
    for argument in entry_arguments(function):
        value = names.of(function.body.block.args[argument.index], argument.name)
        view = _tensor(argument.name, argument.type)
        if argument.kind in (ArgumentKind.PARAMETER, ArgumentKind.CONSTANT):
            weights.append(view)
            weight_of[value] = argument.name
        else:
            inputs.append(_tensor(value, argument.type))
    nodes: list[NodeView] = []
    returned: Sequence[SSAValue] = ()
    for op in function.body.block.ops:
        used = [names.of(value) for value in dict.fromkeys(used_from_outside(op))]
        if op.has_trait(IsTerminator):
            returned = op.operands
        else:
            nodes.append(_node(op, used, names))
    outputs = [
        _tensor(output, value.type)
        for output, value in zip(output_names(function), returned, strict=True)
    ]
    values = [names.of(value) for value in returned]
    return GraphView(name, inputs, outputs, weights, nodes, weight_of, values)


def _entry(module: ModuleOp) -> FuncOp:
    functions = [
        op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks.first is not None
    ]
    found = find_function(module, MAIN) or find_function(module, "forward")
    if found is not None and found in functions:
        return found
    if len(functions) != 1:
        names = ", ".join(f"'@{each.sym_name.data}'" for each in functions) or "no function"
        raise GaweeError(
            Diagnostic(
                f"expected a function '@{MAIN}' or a single function, got {names}",
                hint="inspection shows the function that a network runs",
            )
        )
    return functions[0]


def _node(op: Operation, used: Sequence[str], names: "_Names") -> NodeView:
    named = node_name(op.location)
    results = [_tensor(names.of(result, named), result.type) for result in op.results]
    own = named or (results[0].name if results else op.name)
    return NodeView(own, op.name, used, results)


def used_from_outside(op: Operation) -> Iterator[SSAValue]:
    """Yield what an op and all ops inside it use of what is made outside of it."""
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            around = owner if isinstance(owner, Operation) else owner.parent_op()
            if around is None or not op.is_ancestor(around):
                yield value


def _tensor(name: str, type: Attribute) -> TensorView:
    if not is_tensor(type):
        return TensorView(name, (), str(type))
    try:
        dtype = dtype_name(type.element_type)
    except VerifyException:
        dtype = str(type.element_type)
    return TensorView(name, type.get_shape(), dtype)


class _Names:
    """Gives values names that differ: a node's own, the one in the text, or a number."""

    def __init__(self) -> None:
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()

    def of(self, value: SSAValue, wanted: str | None = None) -> str:
        """Return the name of a value; the first call for it says what is wanted."""
        if value not in self._names:
            self._names[value] = take_name(wanted or value.name_hint or "value", self._taken)
        return self._names[value]
