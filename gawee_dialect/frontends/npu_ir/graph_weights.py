"""Weights of a graph as the function wants them that it becomes: by name, when they are needed."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.weights import check_weights
from gawee_dialect.parameters import ParameterStore
from gawee_dialect.parameters.store import Array, ArrayDescription, read_only


class GraphWeights(ParameterStore):
    """A store under the names of a graph's weights, with the constants that the graph carries.

    Where the store does not have a weight's name, it may have that of a placeholder.
    """

    def __init__(self, ir: NPU_IR, store: ParameterStore) -> None:
        self._ir = ir
        self._store = store

    @cached_property
    def _found(self) -> Mapping[str, str]:
        return check_weights(self._ir, self._store).found

    def describe(self, name: str) -> ArrayDescription:
        if name in self._found:
            return self._store.describe(self._found[name])
        constant = self._ir.constants[name]
        return ArrayDescription(constant.data.shape, constant.dtype)

    def __getitem__(self, name: str) -> Array:
        if name in self._found:
            return self._store[self._found[name]]
        return read_only(self._ir.constants[name].array)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._found, *self._ir.constants))

    def __len__(self) -> int:
        return len({*self._found, *self._ir.constants})
