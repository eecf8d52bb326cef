"""Several places of weights as one."""

from collections.abc import Iterator, Mapping

from gawee_dialect.parameters.store import Array, ArrayDescription, MemoryStore, ParameterStore


def joined(*places: Mapping[str, Array]) -> ParameterStore:
    """Return one store of several mappings; an earlier one comes before a later one."""
    return JoinedStore(
        [each if isinstance(each, ParameterStore) else MemoryStore(each) for each in places]
    )


class JoinedStore(ParameterStore):
    """The first store that has a name is the one that counts."""

    def __init__(self, stores: list[ParameterStore]) -> None:
        self._stores = stores

    def _of(self, name: str) -> ParameterStore:
        for store in self._stores:
            if name in store:
                return store
        raise KeyError(name)

    def describe(self, name: str) -> ArrayDescription:
        return self._of(name).describe(name)

    def __getitem__(self, name: str) -> Array:
        return self._of(name)[name]

    def __contains__(self, name: object) -> bool:
        return any(name in store for store in self._stores)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for store in self._stores for name in store))

    def __len__(self) -> int:
        return sum(1 for _ in self)
