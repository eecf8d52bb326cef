"""Which array is which weight of an XOC graph: `NODE.weight` by the id or the index of a node."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.frontends.xoc.document import XocDocument
from gawee_dialect.parameters.data_files import RawFolder
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MemoryStore,
    ParameterProblem,
    ParameterStore,
)
from gawee_dialect.parameters.uwef import UwefFile

KEYS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("RNN", "GRU", "LSTM"), ("weight", "recurrence", "bias")),
    "BatchNormalization": ("weight", "bias", "running_mean", "running_var"),
}
"""What the weights of a node are called, in the order of its operands, where it is not `USUAL`."""
USUAL = ("weight", "bias")


def weight_keys(operator: str, count: int) -> Sequence[str]:
    """Return what the weights of a node are called; more than have a name get a number."""
    keys = KEYS.get(operator, USUAL)
    return [*keys[:count], *(f"weight_{index}" for index in range(len(keys), count))]


OPERATORS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("conv", "dwconv"), ("Conv", "ConvTranspose")),
    "linear": ("Gemm", "MatMul"),
    "batchnorm": ("BatchNormalization",),
    "layernorm": ("LayerNormalization",),
}
"""ONNX's names of what UWEF's table of operations calls so, before the first underscore."""


def beside(graph: Path) -> Path:
    """Return the UWEF file that goes with a graph: net.uwef.json with net.xoc.json."""
    stem = graph.name.removesuffix(".json").removesuffix(".xoc")
    return graph.with_name(f"{stem}.uwef.json")


class XocWeights(ParameterStore):
    """A store's arrays under the names that the graph has for them.

    A weight is found by its node's id, then by the index of its node, then by its tensor's id.
    Raises GaweeError for UWEF that is of another graph.
    """

    def __init__(
        self,
        document: XocDocument,
        store: ParameterStore,
        tensors: Mapping[str, str],
        graph: Path | None,
    ) -> None:
        """Look a graph's weights up in a store; `tensors` are their tensors' ids by their names.

        A folder has no files for them: in its place is the UWEF file beside the graph, if any.
        """
        self._graph = graph
        if isinstance(store, RawFolder):
            own = None if graph is None else beside(graph)
            store = MemoryStore({}) if own is None or not own.exists() else UwefFile(own)
        if isinstance(store, UwefFile):
            problems = list(_differences(document, store))
            if problems:
                raise GaweeError(problems)
        self._store = store
        self.names = self._found = _names(document, set(store), tensors)

    def _name(self, name: str) -> str:
        if name in self._found:
            return self._found[name]
        if not len(self._store):
            place = "" if self._graph is None else f", or it is '{beside(self._graph).name}'"
            raise ParameterProblem(
                f"expected data, which such a graph has none of: --weights FILE has it{place}"
            )
        raise KeyError(name)

    def describe(self, name: str) -> ArrayDescription:
        return self._store.describe(self._name(name))

    def __getitem__(self, name: str) -> Array:
        return self._store[self._name(name)]


def _names(document: XocDocument, given: set[str], tensors: Mapping[str, str]) -> dict[str, str]:
    """Return from the names of weights to those that a store has them under."""
    indices = _indices(document)
    found: dict[str, str] = {}
    for name, tensor in tensors.items():
        node, _, key = name.rpartition(".")
        candidates = (name, f"{indices.get(node)}.{key}", tensor)
        own = next((each for each in candidates if each in given), None)
        if own is not None:
            found[name] = own
    return found


def _indices(document: XocDocument) -> dict[str, str]:
    """Return the nodes' indices by their ids, where no other node has the index as its id."""
    ids = {node.id for node in document.nodes}
    numbered = ((node.id, str(index)) for index, node in enumerate(document.nodes))
    return {id: index for id, index in numbered if index not in ids}


def _differences(document: XocDocument, weights: UwefFile) -> Iterator[Diagnostic]:
    """Yield where entries of weights are not those of the graph's nodes."""
    known = {node.id: node.name for node in document.nodes}
    for id, index in _indices(document).items():
        known[index] = known[id]
    for key, entry in weights.nodes.items():
        if key not in known:
            hint = did_you_mean(key, known, f"the graph has {len(document.nodes)} nodes")
            message = f"expected weights of nodes of the graph, got '{key}'"
            yield Diagnostic(message, entry.place, hint=hint)
        elif not _is_of(entry.op_type, known[key]):
            wanted = f"expected weights of node '{key}' for '{known[key]}'"
            yield Diagnostic(f"{wanted}, got '{entry.op_type}'", entry.place)


def _is_of(op_type: str, operator: str) -> bool:
    """Whether weights of an operation may be an operator's; names that are in no table may."""
    if op_type == operator:
        return True
    of_table = OPERATORS.get(op_type.partition("_")[0].lower())
    return of_table is None or operator in of_table
