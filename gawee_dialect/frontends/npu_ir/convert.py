"""From the graph that torch.export makes to NPU_IR.

Higher-order calls that only set a mode around a sub-graph are replaced by what they hold; those
that decide when they are run keep their graphs.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.ir import (
    CARRIED,
    COND,
    GETITEM,
    LIST_NONE_MASKS,
    LIST_SIZES,
    MODULE,
    NPU_IR,
    WHILE_LOOP,
    Attributes,
    AttributeValue,
    ConversionError,
    OpNode,
    Place,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Node,
    SchemaArgument,
    is_graph_module,
    is_node,
    is_sequence,
    is_tensor,
    library_folder,
    torch,
    torch_name,
)
from gawee_dialect.frontends.npu_ir.symbols import Sizes, said, size_of
from gawee_dialect.hints import isa

# The arguments of a call in an FX graph, as inputs and attributes of a node.

Resolve = Callable[[Node], Sequence[TensorMeta]]
"""Returns the tensors that a node of the FX graph made."""

Number = Callable[[Node], int | None]
"""Returns the size that a node of the FX graph stands for; None where it is not one."""

_MISSING = object()


class Unsayable(Exception):
    """Why an argument cannot be written, in one line."""


@dataclass
class Call:
    """Inputs and attributes of one call, as `ir.py` says they are written."""

    resolve: Resolve
    inputs: list[TensorMeta] = field(default_factory=list[TensorMeta])
    attrs: Attributes = field(default_factory=dict[str, AttributeValue])
    sizes: list[AttributeValue] = field(default_factory=list[AttributeValue])
    masks: list[list[AttributeValue]] = field(default_factory=list[list[AttributeValue]])

    def add(self, argument: SchemaArgument, value: object) -> None:
        """Take one argument; raises Unsayable for what the format cannot say."""
        kind = str(argument.type)
        if value is _MISSING or value is None:
            # A null where a tensor could be, or a reader would take the next tensor for it.
            if "Tensor" in kind or value is None:
                self.attrs[argument.name] = None
        elif is_node(value) and "List" not in kind:
            self._add_tensor(argument, value)
        elif "Tensor" in kind and "List" in kind:
            self._add_list(argument, value)
        else:
            self.attrs[argument.name] = encode(value, argument.name)

    def _add_tensor(self, argument: SchemaArgument, value: Node) -> None:
        tensors = self.resolve(value)
        if len(tensors) != 1:
            raise Unsayable(f"expected argument '{argument.name}' to be a tensor")
        self.inputs.extend(tensors)

    def _add_list(self, argument: SchemaArgument, value: object) -> None:
        tensors: list[TensorMeta] = []
        mask: list[AttributeValue] = []
        for entry in self._entries(argument, value):
            found = [None] if entry is None else self.resolve(entry)
            tensors.extend(each for each in found if each is not None)
            mask.extend(each is None for each in found)
        self.inputs.extend(tensors)
        self.sizes.append(len(tensors))
        self.masks.append(mask)

    def _entries(self, argument: SchemaArgument, value: object) -> list[Node | None]:
        entries: list[Node | None] = []
        for entry in value if is_sequence(value) else [value]:
            if entry is not None and not is_node(entry):
                raise Unsayable(f"expected argument '{argument.name}' to be a list of tensors")
            entries.append(entry)
        return entries

    def finish(self) -> None:
        """Write what readers need to find the lists of tensors again."""
        if self.sizes:
            self.attrs[LIST_SIZES] = self.sizes
        if any(any(mask) for mask in self.masks):
            self.attrs[LIST_NONE_MASKS] = list(self.masks)


def call_arguments(
    node: Node, schema: Sequence[SchemaArgument], resolve: Resolve, number: Number
) -> Call:
    """Return the inputs and attributes of a call, in the order of its op's schema.

    Raises Unsayable for an argument that the format cannot say.
    """
    call = Call(resolve)
    for index, argument in enumerate(schema):
        if not argument.kwarg_only and index < len(node.args):
            call.add(argument, _with_numbers(node.args[index], number))
        else:
            given = node.kwargs.get(argument.name, _MISSING)
            call.add(argument, _with_numbers(given, number))
    call.finish()
    return call


def _with_numbers(value: object, number: Number) -> object:
    """Return an argument with the numbers that nodes stand for in their place."""
    if is_sequence(value):
        return [_with_numbers(each, number) for each in value]
    known = number(value) if is_node(value) else None
    return value if known is None else known


def encode(value: object, name: str) -> AttributeValue:
    """Return an argument that is no tensor as a JSON value; raises Unsayable for others."""
    library = torch()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, complex):
        return {"real": value.real, "imag": value.imag}
    if is_sequence(value):
        return [encode(entry, name) for entry in value]
    if isinstance(value, library.dtype | library.device | library.layout | library.memory_format):
        return str(value)
    if is_node(value) or isinstance(value, library.SymInt | library.SymFloat | library.SymBool):
        raise Unsayable(f"expected argument '{name}' to be static, got '{value}'")
    raise Unsayable(f"unsupported argument '{name}' of type {type(value).__name__}")


Results = list[TensorMeta | None]
"""What a call that returns a tuple or a list made; None for what is not a tensor."""


ON_DATA = "shapes and control flow must not depend on data"

SUMS = (
    "sizes are numbers, or sums and products of open ones; a Dim with a range that decides which "
    f"it is helps; {ON_DATA}"
)

SCALAR = "aten.scalar_tensor.default"
"""Makes a tensor of a number."""

OF_REALS: Mapping[str, str] = {
    **{name: f"aten.{op}.Tensor" for name, op in {"truediv": "div", "mul": "mul"}.items()},
    **{name: f"aten.{name}.Tensor" for name in ("add", "sub")},
    **{
        f"sym_{name}": f"aten.{name}.default"
        for name in ("sqrt", "exp", "log", "sin", "cos", "tanh")
    },
    "pow": "aten.pow.Tensor_Tensor",
    "neg": "aten.neg.default",
}
"""Ops of Python and of PyTorch on real numbers that are computed of sizes, and those on tensors."""

CHECKS = re.compile(
    r"aten\._?(assert|sym_constrain|functional_assert|functional_sym|linalg_check_errors)"
)
"""Calls without a result that check what export has already checked."""

_AS_STRIDED = "aten.as_strided.default", "aten.as_strided_scatter.default"

CONTROL_FLOW: Mapping[str, tuple[str, Sequence[str]]] = {
    "cond": (COND, ("true_graph", "false_graph")),
    "while_loop": (WHILE_LOOP, ("cond_graph", "body_graph")),
}
"""PyTorch's names of higher-order ops, the op_types of their nodes, and how graphs are called."""

_PATH = re.compile(r"[\w.]+")
"""The path of a module; torch.compile has expressions of Python in its place."""

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def place_of(node: Node) -> Place | None:
    """Return the line of the model that a node comes from: PyTorch's own where all lines are."""
    frames = [
        (frame["file"], int(frame["line"]), 1)
        for frame in _FRAME.finditer(str(node.meta.get("stack_trace") or ""))
        if not frame["file"].startswith("<eval")
    ]
    own = [frame for frame in frames if not frame[0].startswith(library_folder())]
    return (own or frames or [None])[-1]


def module_of(node: Node) -> str:
    """Return the path of the module that calls a node, as in the state_dict; '' of the model."""
    stack = node.meta.get("nn_module_stack")
    last = list(stack.values())[-1:] if isa(stack, dict[str, tuple[str, object]]) else []
    return last[0][0] if last and _PATH.fullmatch(last[0][0]) else ""


def refusal(node: Node, message: str, hint: str | None = None) -> ConversionError:
    """Make the error about one node of the traced graph."""
    place = place_of(node)
    return ConversionError(Diagnostic(message, place_text(place), node.name, hint))


def reads_other_order(node: Node) -> bool:
    """Whether an op reads the memory of a tensor that is not in row-major order, or a part."""
    read = node.all_input_nodes[0].meta.get("val") if str(node.target) in _AS_STRIDED else None
    if not is_tensor(read):
        return False
    in_order: bool = getattr(read, "is_contiguous")()
    return not in_order or getattr(read, "storage_offset")() != 0


class Converter:
    """Walks FX graphs and collects nodes; `sizes` are what symbols are, which sizes are of."""

    def __init__(self, sizes: Sizes | None = None) -> None:
        self.nodes: list[OpNode] = []
        self._symbols = sizes or {}
        self._values: dict[Node, object] = {}
        self._names: set[str] = set()

    def add_placeholder(self, node: Node, *, weight: bool) -> TensorMeta | None:
        """Take an input of the whole graph; None where it is not a tensor."""
        value = node.meta.get("val")
        if not is_tensor(value):
            self._values[node] = value
            return None
        meta = self._meta(node, node.name, value)
        self._names.add(node.name)
        producer = None if weight else node.name
        self._values[node] = TensorMeta(meta.name, meta.shape, meta.dtype, producer)
        return meta

    def add_token(self, node: Node) -> None:
        """Take an input that only keeps calls with effects in order: no tensor of the graph."""
        self._values[node] = None

    def convert(self, module: GraphModule) -> object:
        """Convert all calls of a graph whose placeholders have values; return its result.

        Raises ConversionError with every node that cannot be said. A node that reads what one of
        them made is looked at where that is a tensor of a known shape.
        """
        problems: list[Diagnostic] = []
        unknown: set[Node] = set()
        returned: object = None
        for node in module.graph.nodes:
            if node.op == "output":
                returned = None if problems else self._value(node.args[0])
                break
            if not unknown.isdisjoint(node.all_input_nodes):
                unknown.add(node)
                continue
            try:
                self.convert_node(module, node)
            except ConversionError as error:
                problems += error.diagnostics
                if not self._stands_in(node):
                    unknown.add(node)
        if problems:
            raise ConversionError(problems)
        return returned

    def _stands_in(self, node: Node) -> bool:
        """Whether what a refused node declares could take the place of what it makes."""
        try:
            return bool(self.stand_in(node))
        except ConversionError:
            return False  # a shape that depends on data

    def convert_node(self, module: GraphModule, node: Node) -> None:
        """Convert one node, after those that it reads; raises ConversionError."""
        if node.op == "call_function":
            self._convert_call(node)
        elif node.op == "get_attr":
            self._values[node] = getattr(module, str(node.target))

    def stand_in(self, node: Node) -> Sequence[TensorMeta]:
        """Take a node that is refused to make what it declares; return its tensors."""
        made = node.meta.get("val")
        self._values[node] = None
        if not is_tensor(made) and not is_sequence(made):
            return []
        values = made if is_sequence(made) else [made]
        name = self._fresh(node.name, len(values), indexed=is_sequence(made))
        names = list(_result_names(name, len(values), is_sequence(made)))[is_sequence(made) :]
        metas: Results = [
            self._meta(node, name, value) if is_tensor(value) else None
            for name, value in zip(names, values, strict=True)
        ]
        self._values[node] = metas[0] if is_tensor(made) else metas
        return [meta for meta in metas if meta is not None]

    def tensors_of(self, node: Node) -> Sequence[TensorMeta]:
        """Return the tensors that a node has made, none where it made no tensor."""
        try:
            return self._tensors(node)
        except Unsayable:
            return []

    def _value(self, argument: object) -> object:
        if is_node(argument):
            return self._values[argument]
        if is_sequence(argument):
            return [self._value(entry) for entry in argument]
        return argument

    def _convert_call(self, node: Node) -> None:
        library = torch()
        number = self._number(node)
        if number is not None:
            self._values[node] = number
            return
        if isinstance(node.target, library._ops.HigherOrderOperator):
            self._values[node] = self._inline(node)
        elif node.target is operator.getitem:
            self._convert_getitem(node)
        elif not isinstance(node.target, library._ops.OpOverload):
            self._convert_number(node)
        elif not CHECKS.match(str(node.target)):
            self._convert_op(node)

    def _convert_number(self, node: Node) -> None:
        """Take what Python computes of sizes, and is no size itself."""
        library, made = torch(), node.meta.get("val")
        if isinstance(made, library.SymFloat):
            self._values[node] = self._real(node, node)
        elif isinstance(made, library.SymInt | library.SymBool):
            raise refusal(node, f"unsupported size '{said(made, self._symbols)}'", SUMS)
        else:
            raise refusal(node, f"unsupported call of '{node.target}'", ON_DATA)

    def _convert_op(self, node: Node) -> None:
        if reads_other_order(node):
            message = "unsupported 'as_strided' of a tensor that is not in row-major order"
            raise refusal(node, message, "read a copy: x.contiguous().as_strided(...)")
        made = node.meta.get("val")
        schema: Sequence[SchemaArgument] = getattr(node.target, "_schema").arguments
        try:
            call = call_arguments(node, schema, self._tensors, self._number)
        except Unsayable as error:
            raise refusal(node, f"'{node.target}' call: {error}") from error
        if str(node.target) == _AS_STRIDED[0]:
            call.inputs[:1] = [self._in_row_major_order(node, *call.inputs)]
        if is_tensor(made):
            name = self._fresh(node.name, 1)
            self._emit(node, name, str(node.target), call, [self._meta(node, name, made)])
        elif is_sequence(made):
            self._convert_results(node, call, made)
        elif made is not None:
            raise refusal(
                node,
                f"expected '{node.target}' to return tensors, got a number",
                ON_DATA,
            )

    def _in_row_major_order(self, node: Node, read: TensorMeta) -> TensorMeta:
        """Add a view of one more axis: it tells readers what strides tell here."""
        name, shape = self._fresh(f"{node.name}_memory", 1), (1, *read.shape)
        view = TensorMeta(name, shape, read.dtype)
        size: Attributes = {"size": [*shape]}
        self.nodes.append(
            OpNode(name, "aten.view.default", [read], [view], size, {}, place_of(node))
        )
        return TensorMeta(name, shape, read.dtype, name)

    def _convert_results(
        self, node: Node, call: Call, made: Sequence[object], op_type: str | None = None
    ) -> None:
        name = self._fresh(node.name, len(made), indexed=True)
        results: Results = [
            self._meta(node, f"{name}_{index}", value) if is_tensor(value) else None
            for index, value in enumerate(made)
        ]
        outputs = [result for result in results if result is not None]
        self._emit(node, name, op_type or str(node.target), call, outputs)
        position = {id(output): index for index, output in enumerate(outputs)}
        self._values[node] = [
            result
            and TensorMeta(result.name, result.shape, result.dtype, name, position[id(result)])
            for result in results
        ]

    def _convert_getitem(self, node: Node) -> None:
        source, index = node.args
        results = self._values[source] if is_node(source) else source
        assert is_sequence(results)
        assert isinstance(index, int)
        if is_node(source) and isinstance(source.target, torch()._ops.HigherOrderOperator):
            self._values[node] = results[index]
            return
        tensors = [entry for entry in results if isinstance(entry, TensorMeta)]
        name = self._fresh(node.name, 1)
        call = Call(self._tensors, tensors, {"index": index % len(results)})
        self._emit(node, name, GETITEM, call, [self._meta(node, name, node.meta.get("val"))])

    def _emit(
        self, node: Node, name: str, op_type: str, call: Call, outputs: list[TensorMeta]
    ) -> None:
        module = module_of(node)
        extra: Attributes = {MODULE: module} if module else {}
        self.nodes.append(
            OpNode(name, op_type, call.inputs, outputs, call.attrs, extra, place_of(node))
        )
        if len(outputs) == 1:
            only = outputs[0]
            self._values[node] = TensorMeta(only.name, only.shape, only.dtype, name)

    def _fresh(self, base: str, count: int, *, indexed: bool = False) -> str:
        """Return the first of `base`, `base_1`.. that is free, as are the names of its results."""
        attempt, name = 0, base
        while self._names & set(_result_names(name, count, indexed)):
            attempt += 1
            name = f"{base}_{attempt}"
        self._names.update(_result_names(name, count, indexed))
        return name

    def _meta(self, node: Node, name: str, value: object) -> TensorMeta:
        """Describe a traced tensor; raises ConversionError for sizes that have no form of names."""
        assert is_tensor(value)
        sizes = [size_of(size, self._symbols) for size in value.shape]
        known = tuple(size for size in sizes if size is not None)
        if len(known) < len(sizes):
            shape = "x".join(said(size, self._symbols) for size in value.shape)
            raise refusal(node, f"dynamic shape {shape} in node '{node.name}'", SUMS)
        return TensorMeta(name, known, torch_name(value.dtype))

    def _number(self, node: Node) -> int | None:
        value = node.meta.get("val")
        is_open = isinstance(value, torch().SymInt)
        return size_of(value, self._symbols) if is_open else None

    def _real(self, node: Node, value: object) -> TensorMeta:
        """Return a number that is computed of sizes as a tensor of rank 0 of float64."""
        number = value.meta.get("val") if is_node(value) else value
        known = self._number(value) if is_node(value) else value
        if is_node(value) and isinstance(self._values.get(value), TensorMeta):
            return self._tensors(value)[0]
        if isinstance(known, int | float):
            op, inputs, attrs = SCALAR, [], Attributes(s=known, dtype="torch.float64")
        elif is_node(value) and isinstance(number, torch().SymFloat):
            name = getattr(value.target, "__name__", str(value.target)).strip("_")
            if name == "sym_float":
                return self._real(node, value.args[0])
            if name not in OF_REALS:
                supported = ", ".join(("sym_float", *OF_REALS))
                text = f"unsupported '{name}' of a size; supported: {supported}"
                raise refusal(node, text, SUMS)
            op, inputs, attrs = OF_REALS[name], [self._real(node, e) for e in value.args], {}
        else:
            raise refusal(node, f"unsupported size '{said(number, self._symbols)}'", SUMS)
        name = self._fresh(node.name, 1)
        made = TensorMeta(name, (), "float64")
        self._emit(node, name, op, Call(self._tensors, inputs, attrs), [made])
        return TensorMeta(name, (), "float64", name)

    def _tensors(self, node: Node) -> Sequence[TensorMeta]:
        value = self._values.get(node)
        if isinstance(value, TensorMeta):
            return [value]
        entries = value if is_sequence(value) else ()
        tensors = [entry for entry in entries if isinstance(entry, TensorMeta)]
        if not tensors:
            raise Unsayable(f"expected '{node.name}' to be a tensor")
        return tensors

    def _inline(self, node: Node) -> object:
        """Convert what a wrapped sub-graph holds in the place of the call."""
        arguments = list(node.args)
        name = str(node.target)
        if name == "with_effects" and CHECKS.match(str(arguments[1])):
            return [None, None]  # the next token, and what the check returns
        if name == "wrap_with_set_grad_enabled":
            module, inputs = arguments[1], arguments[2:]
        elif name == "wrap_with_autocast":
            enabled, module, inputs = arguments[2], arguments[4], arguments[5:]
            if enabled:
                hint = "decompose=True writes the casts of autocast as nodes"
                raise refusal(node, "unsupported autocast in a graph that is not decomposed", hint)
        elif name in CONTROL_FLOW:
            return self._decided(node, name)
        else:
            supported = ", ".join((*CONTROL_FLOW, "wrap_with_set_grad_enabled, wrap_with_autocast"))
            text = f"unsupported higher-order op '{name}'; supported: {supported}"
            raise refusal(node, text, ON_DATA)
        inner = self._value(module)
        return self._convert_inner(inner, inputs)

    def _decided(self, node: Node, name: str) -> object:
        """Convert a node that decides which graph is run, or how often; return what it makes."""
        op_type, names = CONTROL_FLOW[name]
        made, arguments, attrs = node.meta.get("val"), list(node.args), Attributes()
        if op_type == COND:
            condition, *modules, operands = arguments
            assert is_sequence(operands)
            given = [condition, *operands]
        else:
            *modules, state, same = arguments
            assert is_sequence(state)
            assert is_sequence(same)
            given, attrs[CARRIED] = [*state, *same], len(state)
        if not is_sequence(made) or not all(map(is_node, given)):
            raise refusal(node, f"expected '{name}' to take and return tensors alone", ON_DATA)
        nodes = [value for value in given if is_node(value) and self._number(value) is None]
        inputs = [each for value in nodes for each in self._tensors(value)]
        graphs = {
            key: self._graph(node, self._value(each))
            for key, each in zip(names, modules, strict=True)
        }
        self._convert_results(node, Call(self._tensors, inputs, attrs), made, op_type)
        self.nodes[-1].graphs = graphs
        return self._values[node]

    def _graph(self, node: Node, module: object) -> NPU_IR:
        """Convert what a branch or a step is."""
        assert is_graph_module(module)
        outer, self.nodes, inputs = self.nodes, [], list[TensorMeta]()
        for each in module.graph.nodes:
            if each.op == "placeholder" and self._number(each) is None:
                name = self._fresh(each.name, 1)
                inputs.append(self._meta(each, name, each.meta.get("val")))
                self._values[each] = replace(inputs[-1], producer_node=name)
        made = self.convert(module)
        nodes, self.nodes = self.nodes, outer
        outputs = list(made) if is_sequence(made) else [made]
        tensors = [each for each in outputs if isinstance(each, TensorMeta)]
        if len(tensors) < len(outputs):
            raise refusal(node, f"expected '{node.target}' to return tensors alone", ON_DATA)
        return NPU_IR(nodes, inputs, tensors, [])

    def _convert_inner(self, module: object, inputs: Sequence[object]) -> object:
        assert is_graph_module(module)
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        for placeholder, argument in zip(placeholders, inputs, strict=True):
            self._values[placeholder] = self._value(argument)
        return self.convert(module)


def _result_names(name: str, count: int, indexed: bool) -> Iterator[str]:
    yield name
    if indexed:
        yield from (f"{name}_{index}" for index in range(count))
