"""A graph as inspection sees it: names, shapes and uses; no format, no weights.

Modules at any level of the IR are seen by the ops of their entry function.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

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
from gawee_dialect.dialect.types import dtype_name, is_tensor, shape_text
from gawee_dialect.identifiers import take_name
from gawee_dialect.locations import node_name


@dataclass(frozen=True)
class TensorView:
    """One value or weight; what is no tensor has shape `()` and its type as dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many elements it has; a scalar has one."""
        return prod(self.shape)

    @property
    def text(self) -> str:
        """Its shape as labels spell it: 1x3x8x8, or `scalar`."""
        return shape_text(self.shape)


@dataclass(frozen=True)
class NodeView:
    """One node: `inputs` are names of values or weights, `outputs` what it makes."""

    name: str
    op: str
    inputs: Sequence[str]
    outputs: Sequence[TensorView]


@dataclass(frozen=True)
class GraphView:
    """A whole graph; nodes in the order they run."""

    name: str
    inputs: Sequence[TensorView]
    outputs: Sequence[TensorView]
    weights: Sequence[TensorView]
    nodes: Sequence[NodeView]
    weight_of: Mapping[str, str] = field(default_factory=dict[str, str])
    """From the name under which nodes use a weight to its name in `weights`."""

    output_values: Sequence[str] = ()
    """Which value each output is, where that has another name."""

    @property
    def returned(self) -> Sequence[tuple[TensorView, str]]:
        """Every output, and the name of the value that it is."""
        values = self.output_values or [output.name for output in self.outputs]
        return list(zip(self.outputs, values, strict=True))


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
