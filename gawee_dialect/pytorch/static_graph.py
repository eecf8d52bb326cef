"""A graph of PyTorch whose shapes are known, as NPU_IR and as machine code."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.fingerprint import Places, fingerprint
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir.convert import Converter
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, TensorMeta
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Node,
    Tensor,
    is_sequence,
    is_tensor,
)
from gawee_dialect.frontends.npu_ir.symbols import Sizes
from gawee_dialect.python_numbers import array_of_parts, parts_of_array
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, tensor_of_array


def lift_constants(graph: GraphModule) -> list[Tensor]:
    """Make tensors that a graph holds itself its last inputs; return them."""
    nodes = list(graph.graph.nodes)
    held = [node for node in nodes if node.op == "get_attr"]
    constants: list[Tensor] = []
    body = next(node for node in nodes if node.op != "placeholder")
    for node in held:
        constant: object = getattr(graph, str(node.target))
        if not is_tensor(constant):
            continue
        constants.append(constant)
        with getattr(graph.graph, "inserting_before")(body):
            lifted = getattr(graph.graph, "placeholder")(f"constant_{len(constants)}")
        lifted.meta["val"] = constant
        getattr(node, "replace_all_uses_with")(lifted)
    return constants


def _is_token(node: Node) -> bool:
    """Whether an input only keeps calls with effects in order; calls are given None for it."""
    return any(str(user.target) == "with_effects" and user.args[0] is node for user in node.users)


class ConvertedGraph:
    """A graph as NPU_IR; its outputs may also be inputs, numbers and None.

    Shapes are known, but for the symbols that are open `sizes`.
    """

    def __init__(
        self, graph: GraphModule, static: frozenset[int], sizes: Sizes | None = None
    ) -> None:
        converter = Converter(sizes)
        given = sum(node.op == "placeholder" for node in graph.graph.nodes)
        self.constants = lift_constants(graph)
        static |= frozenset(range(given, given + len(self.constants)))
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        metas: list[TensorMeta | None] = []
        for index, node in enumerate(placeholders):
            if _is_token(node):
                converter.add_token(node)
                metas.append(None)
            else:
                metas.append(converter.add_placeholder(node, weight=index in static))
        returned = converter.convert(graph)
        self.returned: Sequence[object] = returned if is_sequence(returned) else [returned]
        self.names = {i: meta.name for i, meta in enumerate(metas) if meta is not None}
        self.weights = {i: name for i, name in self.names.items() if i in static}
        self.inputs = {i: name for i, name in self.names.items() if i not in static}
        by_kind: tuple[list[TensorMeta], list[TensorMeta]] = ([], [])
        for index, meta in enumerate(metas):
            if meta is not None:
                by_kind[index in static].append(meta)
        outputs = [each for each in self.returned if isinstance(each, TensorMeta)]
        inputs, weights = by_kind
        self.ir = NPU_IR(converter.nodes, inputs, outputs, weights)

    @property
    def numbers(self) -> Sequence[object]:
        """What is returned, without the tensors."""
        return [None if isinstance(each, TensorMeta) else each for each in self.returned]


MOST_BOUND = 64
"""Sets of weights that one graph is kept ready for: layers of a model that are alike share it."""


@dataclass(frozen=True)
class Bound:
    """Code with weights of its own, and the state that these were in."""

    native: CompiledModel
    state: Sequence[object]
    weights: Sequence[weakref.ref[Tensor]]
    """While they live, no other tensor can have the address of one."""
    data: Callable[[], int]
    """Computes a number of the data of those that were copied."""
    number: int
    """That number, when they were."""

    @property
    def is_alive(self) -> bool:
        """Whether all weights are still there."""
        return all(each() is not None for each in self.weights)

    def holds(self, state: Sequence[object]) -> bool:
        """Whether the code has the weights that are in a state now."""
        return state == self.state and self.is_alive and self.data() == self.number


class StaticGraph:
    """A compiled graph, called with what the graph of TorchDynamo is called with."""

    def __init__(
        self,
        graph: ConvertedGraph,
        native: CompiledModel,
        sizes: Callable[[Sequence[object]], Mapping[str, int]] = lambda args: {},
    ) -> None:
        """`sizes` returns what sizes that are returned have names for, from the arguments."""
        self._graph, self._native, self._sizes = graph, native, sizes
        self._returns_size = any(isinstance(each, OpenSize) for each in graph.returned)
        self._lock = threading.Lock()
        self._bound: dict[Sequence[object], Bound] = {}
        needed = {buffer.name for buffer in native.parameters}
        self._weights = {index: name for index, name in graph.weights.items() if name in needed}

    def run(self, args: Sequence[object]) -> Sequence[object]:
        """Run on the arguments of the graph; any number of threads may, with weights of theirs."""
        arrays: dict[str, Array] = {}
        for index, name in self._graph.inputs.items():
            value = args[index]
            if is_tensor(value):
                arrays[name] = parts_of_array(array_of_tensor(value))
        made = iter(self.bind(args).native.run(arrays).values())
        returned = self._graph.returned
        if self._returns_size:
            sizes = self._sizes(args)
            returned = [e.at(sizes) if isinstance(e, OpenSize) else e for e in returned]
        return [
            tensor_of_array(array_of_parts(next(made), each.dtype))
            if isinstance(each, TensorMeta)
            else each
            for each in returned
        ]

    def bind(self, args: Sequence[object]) -> Bound:
        """Return the code with the weights of some arguments, as they are now."""
        constants = self._graph.constants
        args = (*args, *constants) if constants else args
        given = [(name, args[index]) for index, name in self._weights.items()]
        weights = {name: each for name, each in given if is_tensor(each)}
        states = [_state_of(each) for each in weights.values()]
        state, where = (_version.number, *states), tuple(pointer for pointer, _ in states)
        bound = self._bound.get(where)
        if bound is not None and bound.holds(state):
            return bound
        with self._lock:
            bound = self._bound.get(where)
            if bound is not None and bound.holds(state):
                return bound  # another thread has bound them meanwhile
            bound = self._with_weights(weights, state)
            others = [
                (key, each) for key, each in self._bound.items() if key != where and each.is_alive
            ]
            self._bound = {**dict(others[1 - MOST_BOUND :]), where: bound}
        return bound

    def _with_weights(self, weights: Mapping[str, Tensor], state: Sequence[object]) -> Bound:
        arrays = {name: parts_of_array(array_of_tensor(each)) for name, each in weights.items()}
        copied = [each for name, each in weights.items() if self._is_copied(name, arrays[name])]
        data = fingerprint(map(_memory_of, filter(_is_at_hand, copied)))
        number = data()  # before they are read: a write meanwhile shows in the next call
        native = self._native.with_parameters(arrays)
        return Bound(native, state, [weakref.ref(each) for each in weights.values()], data, number)

    def _is_copied(self, name: str, array: Array) -> bool:
        flags = array.flags
        return name in self._native.packed or not (flags.c_contiguous and flags.aligned)


@dataclass
class _Version:
    """How often all weights were said to be others."""

    number: int = 0


_version = _Version()


def rebind_weights() -> None:
    """Have everything that `torch.compile` compiled read its weights again, in the next call.

    Needed after few numbers of a large weight were written past PyTorch, through `.data` or NumPy.
    """
    _version.number += 1


def _state_of(tensor: Tensor) -> tuple[object, object]:
    """Return what is another one after a tensor was replaced or written."""
    # Tensors made under inference_mode count no versions.
    return tensor.data_ptr(), None if tensor.is_inference() else getattr(tensor, "_version")


def _is_at_hand(tensor: Tensor) -> bool:
    return tensor.is_cpu and 0 not in tensor.shape


def _memory_of(tensor: Tensor) -> Places:
    """Return where a tensor's numbers are, and what lies between them."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * step for size, step in steps if isinstance(size, int))
    return tensor.data_ptr(), (last + 1) * tensor.element_size()
