"""NPU_IR as a module of the gawee dialect."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
    bf16,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.analysis.open_sizes import verify_at_numbers
from gawee_dialect.diagnostics import Diagnostic, verify_module
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.indexing import IndexedOp, ScatterOp
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.slicing import InsertSliceOp, SliceOp
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import (
    ELEMENT_TYPES,
    AnyTensor,
    element_type,
    is_float,
    shape_text,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.npu_ir.aten.registry import (
    OpMapping,
    base_name,
    bind_arguments,
    canonical_name,
    find_mapping,
    is_in_place,
)
from gawee_dialect.frontends.npu_ir.complex_numbers import (
    call_on_complex,
    has_complex,
)
from gawee_dialect.frontends.npu_ir.ir import (
    CARRIED,
    COND,
    GETITEM,
    NPU_IR,
    WHILE_LOOP,
    AttributeValue,
    ConversionError,
    OpNode,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.liveness import Aliases, Liveness, read_inputs
from gawee_dialect.frontends.op_mapping.control_flow import chosen, repeated
from gawee_dialect.frontends.op_mapping.emitter import (
    INLINE_ELEMENTS,
    Emitter,
    EntryFunction,
    dtype_element,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.identifiers import name_hint
from gawee_dialect.locations import file_location
from gawee_dialect.python_numbers import PARTS as COMPLEX_PARTS
from gawee_dialect.python_numbers import parts_of_array

# bfloat16, which tensors are stored in: each node computes in float32 and rounds its results.
#
# That is what PyTorch's own functions do on a processor. What only moves elements needs neither.

BFLOAT16 = "bfloat16"

MOVES = (
    *(BroadcastToOp, CatOp, IndexedOp, InsertSliceOp, ReshapeOp, ReverseOp, SliceOp, TileOp),
    TransposeOp,
)
"""Ops whose result is made of elements of their operands, whatever those are."""


AS_STORED = ("aten.view.dtype", "aten.nextafter.default", "aten.ldexp.Tensor")
"""Ops that read bfloat16 as it is stored: its bits, or what they round on the way."""


def stored_element(dtype: str) -> Attribute:
    """Return the element type of a dtype of tensors; raises Refusal for one that there is not."""
    if dtype == BFLOAT16:
        return bf16
    if dtype not in ELEMENT_TYPES:
        known = ", ".join((*ELEMENT_TYPES, BFLOAT16))
        raise Refusal(f"unsupported dtype '{dtype}'; supported: {known}")
    return dtype_element(dtype)


def in_float32(
    emit: Emitter, inputs: Sequence[SSAValue], attributes: Mapping[str, AttributeValue]
) -> tuple[Sequence[SSAValue], Mapping[str, AttributeValue]]:
    """Return what a node computes with: float32 in the place of bfloat16.

    A call whose dtype is bfloat16 rounds its inputs before it computes.
    """
    named = {key for key, value in attributes.items() if value == f"torch.{BFLOAT16}"}
    wide = [_widened(emit, each, rounded=bool(named)) for each in inputs]
    return wide, {
        key: "torch.float32" if key in named else value for key, value in attributes.items()
    }


def _widened(emit: Emitter, value: SSAValue, *, rounded: bool) -> SSAValue:
    if rounded and is_float(element_type(value)):
        value = emit.cast(value, bf16)
    return emit.cast(value, f32) if element_type(value) == bf16 else value


def rounded(emit: Emitter, value: SSAValue, dtype: str) -> SSAValue:
    """Return a result as its node declares it: float32 rounded to bfloat16 where that is it."""
    if dtype != BFLOAT16 or element_type(value) != f32:
        return value
    return _moved(emit, value) or emit.cast(value, bf16)


def _moved(emit: Emitter, value: SSAValue) -> SSAValue | None:
    """Return the bfloat16 value that a value is equal to without rounding; None where none is."""
    op = value.owner
    if isinstance(op, CastOp):
        return op.input if element_type(op.input) == bf16 else None
    if not isinstance(op, MOVES) or not _is_move(op):
        return None
    operands: list[SSAValue] = []
    for each in op.operands:
        narrow = _moved(emit, each) if element_type(each) == f32 else each
        if narrow is None:
            return None
        operands.append(narrow)
    type = TensorType(bf16, tensor_shape(value))
    return emit(op.create(operands=operands, result_types=[type], properties=op.properties))


def _is_move(op: Operation) -> bool:
    """Whether elements are not added, multiplied or compared where they come together."""
    return not isinstance(op, ScatterOp) or op.reduction.data == "none"


PARTS = {"aten.slice": "aten.slice_scatter.default", "aten.select": "aten.select_scatter.default"}
"""Ops that take a part of a tensor, and what replaces that part."""


def import_ir(ir: NPU_IR) -> ModuleOp:
    """Return the module whose entry function computes what a graph does.

    The function takes the graph's inputs, then the weights that nodes read: parameters and buffers
    (`gawee.parameter`, named as in the state_dict), and constants that are large or have no data
    (`gawee.constant`; `large_constants` has the data). Every op's location is its node.

    Raises ConversionError that lists every op that is not supported, every call whose arguments are
    not, and every node that does not make what it declares.
    """
    importer = Importer(ir)
    module = importer.module()
    if importer.problems:
        raise ConversionError(importer.problems)
    verify_module(module)
    verify_at_numbers(module)
    return module


def large_constants(ir: NPU_IR) -> Mapping[str, NDArray[np.generic]]:
    """Return the data of the constants that are arguments of the entry function, by name."""
    return {
        name: constant.array
        for name, constant in ir.constants.items()
        if constant.data.size > INLINE_ELEMENTS
    }


def node_location(node: OpNode) -> LocationAttr:
    """Return the location of a node's ops: where it is written, and its name."""
    if node.place is None:
        return NameLoc(StringAttr(node.qualified_name), UnknownLoc())
    return file_location(*node.place, node.qualified_name)


CONTROL_FLOW = (COND, WHILE_LOOP)
GRAPHS = 2
"""How many a node of control flow has."""


class _Reported(Refusal):
    """Problems that are in the list already."""


class Importer:
    """Imports node by node; a node that is refused leaves its outputs unknown.

    Nodes that read what is unknown are passed over silently, so that every problem is reported
    once.
    """

    def __init__(self, ir: NPU_IR) -> None:
        self.ir = ir
        self.problems: list[Diagnostic] = []
        self.function = EntryFunction()
        self.emit = self.function.emit
        self.values: dict[str, SSAValue] = {}
        self.liveness = Liveness(ir)
        self.aliases = Aliases()
        self.parts: dict[str, OpNode] = {}
        """From a value that is a part of another one to the node that took it."""
        self.unsupported: list[OpNode] = []
        self.index = 0

    def module(self) -> ModuleOp:
        """Import the whole graph; what is wrong with it is in `problems`."""
        self.add_arguments()
        self.add_nodes()
        outputs = self.outputs()
        return self.function.module(outputs, [each.name for each in self.ir.graph_outputs])

    def add_nodes(self) -> None:
        """Make the ops of all nodes that outputs need."""
        for self.index, node in enumerate(self.ir.nodes):
            if self.index in self.liveness.live:
                self.add_node(node)
        self.report_unsupported()

    def add_arguments(self) -> None:
        """Make the graph's inputs and the weights that nodes read."""
        for each in self.ir.graph_inputs:
            self._add(ArgumentKind.INPUT, each.name, each, "graph input")
        made: dict[str, SSAValue] = {}
        for placeholder, weight in self.ir.placeholders():
            if not self.liveness.is_read(placeholder):
                continue
            if weight.name not in made:
                self._add_weight(weight, placeholder)
            else:
                self.values[placeholder] = made[weight.name]
            if placeholder in self.values:
                made[weight.name] = self.values[placeholder]

    def _add_weight(self, weight: TensorMeta, placeholder: str) -> None:
        constant = self.ir.constants.get(weight.name)
        if constant is not None and constant.data.size <= INLINE_ELEMENTS:
            try:
                element = stored_element(COMPLEX_PARTS.get(constant.dtype, constant.dtype))
            except Refusal as problem:
                self._report_tensor(weight, f"constant '{weight.name}'", problem)
                return
            numbers = parts_of_array(constant.data)
            value = self.values[placeholder] = self.emit.array(numbers, element)
            value.name_hint = name_hint(weight.name)
            return
        lifted = constant is not None or placeholder.startswith("c_")
        kind = ArgumentKind.CONSTANT if lifted else ArgumentKind.PARAMETER
        self._add(kind, placeholder, weight, "weight")

    def _add(self, kind: ArgumentKind, value_name: str, meta: TensorMeta, what: str) -> None:
        try:
            type = declared_type(as_parts(meta))
        except Refusal as problem:
            self._report_tensor(meta, f"{what} '{meta.name}'", problem)
            return
        self.values[value_name] = self.function.add_argument(kind, meta.name, type)

    def _report_tensor(self, meta: TensorMeta, what: str, problem: Refusal) -> None:
        text = f"{what}: {problem.message}"
        self.problems.append(Diagnostic(text, place_text(meta.place), hint=problem.hint))

    def add_node(self, node: OpNode) -> None:
        """Make a node's ops; report why where it is refused."""
        mapping = None if node.op_type == GETITEM else find_mapping(node.op_type)
        known = node.op_type in (GETITEM, *CONTROL_FLOW) or mapping is not None
        if not known and not has_complex(node):
            self.unsupported.append(node)
            return
        reads = read_inputs(node)
        inputs = [self.values[each.name] for each in reads if each.name in self.values]
        if len(inputs) != len(reads):
            return
        try:
            if node.op_type in CONTROL_FLOW:
                results = self._decided(node, inputs)
            elif node.op_type == GETITEM:
                results = inputs
            else:
                results = self._call(mapping, node, inputs)
            self._take(node, results)
            self._write_back(node)
        except _Reported:
            return
        except (Refusal, VerifyException) as problem:
            self._report(node, problem)

    def _decided(self, node: OpNode, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Make a branch or a loop of graphs; raises Refusal."""
        self.emit.location = node_location(node)
        graphs, carried = list(node.graphs.values()), node.attrs.get(CARRIED, 0)
        if len(graphs) != GRAPHS or not inputs:
            raise Refusal(f"expected two graphs and inputs, got {len(graphs)} and {len(inputs)}")
        if node.op_type == COND:
            branches = [partial(self._run, graph, inputs[1:]) for graph in graphs]
            return chosen(self.emit, inputs[0], branches)
        if not isinstance(carried, int) or not 0 <= carried <= len(inputs):
            raise Refusal(f"expected '{CARRIED}' to count some of {len(inputs)} inputs")
        state, same = inputs[:carried], inputs[carried:]

        def test(now: Sequence[SSAValue]) -> SSAValue:
            return self._run(graphs[0], [*now, *same])[0]

        def step(now: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return self._run(graphs[1], [*now, *same])

        return repeated(self.emit, test, step, state)

    def _run(self, graph: NPU_IR, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Make the ops of a graph where they are emitted; return its outputs.

        Raises _Reported where it has problems, which are then this graph's.
        """
        inner = Importer(graph)
        inner.emit = self.emit
        if len(inputs) != len(graph.graph_inputs):
            raise Refusal(f"expected graphs of {len(inputs)} inputs, got {len(graph.graph_inputs)}")
        for meta, value in zip(graph.graph_inputs, inputs, strict=True):
            check_declared(meta, tensor_type(value))
            inner.values[meta.name] = value
        inner.add_nodes()
        outputs = inner.outputs()
        self.problems += inner.problems
        if inner.problems or not outputs:
            raise _Reported("expected a graph whose nodes are read")
        return outputs

    def _call(
        self, mapping: OpMapping | None, node: OpNode, inputs: Sequence[SSAValue]
    ) -> Sequence[SSAValue | None]:
        self.emit.location = node_location(node)
        positions = result_positions(node)

        def is_used(result: int) -> bool:
            return any(
                self.liveness.is_read(output.name)
                for output, position in zip(node.outputs, positions, strict=True)
                if position == result
            )

        self.emit.is_used = is_used
        if mapping is None or has_complex(node):
            made = call_on_complex(self.emit, node, inputs)
        else:
            attributes: Mapping[str, AttributeValue] = node.attrs
            if canonical_name(node.op_type) not in AS_STORED:
                inputs, attributes = in_float32(self.emit, inputs, attributes)
            with _needs_numbers(node):
                made = mapping.function(self.emit, **bind_arguments(mapping, inputs, attributes))
        if made is None:
            return []
        if isinstance(made, SSAValue):
            # What is written in place keeps its element type, whatever it is promoted to.
            kept = is_in_place(node.op_type) and inputs
            return [self.emit.cast(made, element_type(inputs[0])) if kept else made]
        if positions and max(positions) >= len(made):
            raise Refusal(f"expected {len(made)} outputs, got {max(positions) + 1}")
        return [made[position] for position in positions]

    def _take(self, node: OpNode, results: Sequence[SSAValue | None]) -> None:
        if len(results) != len(node.outputs):
            raise Refusal(f"expected {len(results)} outputs, got {len(node.outputs)}")
        for output, value in zip(node.outputs, results, strict=True):
            if value is None:
                continue
            value = rounded(self.emit, value, output.dtype)
            check_declared(output, tensor_type(value))
            self.values[output.name] = value
            value.name_hint = value.name_hint or name_hint(node.qualified_name)
        base = base_name(canonical_name(node.op_type))
        self.aliases.add(node, base)
        if base in PARTS:
            self.parts[node.outputs[0].name] = node

    def _write_back(self, node: OpNode) -> None:
        """After an op that writes its argument, all that has the argument's memory is new."""
        if not is_in_place(node.op_type):
            return
        written, result = node.inputs[0].name, node.outputs[0].name
        new = {written: self.values[result]}
        for view in self._views_from(written):
            base = view.inputs[0].name
            new[base] = self._scattered(view, self.values[base], new[view.outputs[0].name])
        renewed = {name: self.values[name] for name in new}
        for name in (written, *self.aliases.others(written)):
            owner = next((n for n, old in renewed.items() if self.values.get(name) is old), None)
            if owner is not None:
                self.values[name] = new[owner]
            elif name != result and self.liveness.read_after(name, self.index):
                raise Refusal(
                    f"unsupported change in place of '{written}', as '{name}' may share its "
                    "memory and is read later",
                    hint="extract the graph with decompose=True, which has no changes in place",
                )

    def _views_from(self, name: str) -> Iterator[OpNode]:
        """Yield the nodes that made a value as a part of another one, up to the whole."""
        while name in self.parts:
            yield self.parts[name]
            name = self.parts[name].inputs[0].name

    def _scattered(self, view: OpNode, base: SSAValue, part: SSAValue) -> SSAValue:
        """Return a tensor with the part that a node took of it replaced."""
        mapping = find_mapping(PARTS[base_name(canonical_name(view.op_type))])
        assert mapping is not None
        made = mapping.function(self.emit, **bind_arguments(mapping, [base, part], view.attrs))
        assert isinstance(made, SSAValue)
        return made

    def _report(self, node: OpNode, problem: Refusal | VerifyException) -> None:
        hint = problem.hint if isinstance(problem, Refusal) else None
        text = f"'{node.op_type}' node {problem}"
        self.problems.append(Diagnostic(text, place_text(node.place), node.qualified_name, hint))

    def add_stand_in(self, output: TensorMeta) -> None:
        """Make an argument of a tensor's declared type, so that what reads it can be checked."""
        if output.name not in self.values:
            self._add(ArgumentKind.INPUT, output.name, output, "output")

    def report_unsupported(self) -> None:
        """Report the ops that nothing is registered for, each once, with its nodes."""

        def op_type(node: OpNode) -> str:
            return node.op_type

        for name, group in groupby(sorted(self.unsupported, key=op_type), key=op_type):
            nodes = list(group)
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            hint = f"register_op('{name}') adds what it means"
            text = f"unsupported op '{name}' of node '{nodes[0].name}'{more}"
            if base_name(canonical_name(name)) in RANDOM:
                text += ": a graph computes the same in every call"
                hint = "give random numbers to forward as an input"
            self.problems.append(Diagnostic(text, place_text(nodes[0].place), hint=hint))

    def outputs(self) -> list[SSAValue]:
        """Return the values of the graph's outputs; those of refused nodes are left out."""
        found: list[SSAValue] = []
        for output in self.ir.graph_outputs:
            if output.name in self.values:
                found.append(self.values[output.name])
            elif not self.problems:
                text = f"expected a node that makes graph output '{output.name}', got none"
                self.problems.append(Diagnostic(text, place_text(output.place)))
        return found


@contextmanager
def _needs_numbers(node: OpNode) -> Generator[None]:
    """Refuse a node whose mapping computes with sizes what is computed of numbers alone."""
    try:
        yield
    except (OverflowError, ValueError, TypeError) as error:
        sizes = [size for each in (*node.inputs, *node.outputs) for size in each.shape]
        size = next((each for each in sizes if isinstance(each, OpenSize)), None)
        if size is None:
            raise
        raise size.refused() from error


RANDOM = frozenset(
    f"aten.{name}"
    for name in (
        *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
        *("bernoulli", "multinomial", "normal", "normal_functional", "uniform", "exponential"),
        "poisson",
    )
)
"""Ops that draw random numbers."""


def result_positions(node: OpNode) -> list[int]:
    """Return at which position of what the op returns each output of a node stands.

    Results that are not tensors are no outputs; the outputs' names say their positions.
    """
    suffixes = [output.name.removeprefix(f"{node.name}_") for output in node.outputs]
    named = all(
        output.name.startswith(f"{node.name}_") and suffix.isdecimal()
        for output, suffix in zip(node.outputs, suffixes, strict=True)
    )
    positions = [int(suffix) for suffix in suffixes] if named else []
    return positions if positions == sorted(set(positions)) and named else [*range(len(suffixes))]


def as_parts(meta: TensorMeta) -> TensorMeta:
    """Return what a tensor is held as: the parts of a complex one."""
    parts = COMPLEX_PARTS.get(meta.dtype)
    return meta if parts is None else replace(meta, shape=(*meta.shape, 2), dtype=parts)


def declared_type(meta: TensorMeta) -> AnyTensor:
    """Return the type of a tensor; raises Refusal for a dtype that this dialect does not have."""
    element: Attribute = stored_element(meta.dtype)
    return TensorType(element, meta.shape)


def check_declared(output: TensorMeta, inferred: AnyTensor) -> None:
    """Raise Refusal where a node declares another shape or dtype than its op makes."""
    declared = declared_type(as_parts(output))
    if declared.get_shape() != inferred.get_shape():
        raise Refusal(
            f"expected output '{output.name}' of shape {shape_text(inferred.get_shape())}, "
            f"got {shape_text(declared.get_shape())}"
        )
    if declared != inferred:
        raise Refusal(f"expected output '{output.name}' of type '{inferred}', got '{declared}'")
