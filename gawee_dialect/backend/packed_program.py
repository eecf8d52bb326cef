"""A compiled program as bytes, as the cache keeps it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

import numpy as np

from gawee_dialect.backend.jit import ObjectCode
from gawee_dialect.backend.signature import Buffer, Signature
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.open_size import OpenSize, SizeName, name_of_range, parse_size
from gawee_dialect.hints import isa


def packed(code: ObjectCode, signatures: Mapping[str, Signature]) -> bytes:
    """Return code, and what its functions take by their names, as bytes."""
    described = {
        "external": code.external,
        "sources": dict(code.sources),
        "assembly": code.assembly,
        "symbol": code.symbol,
        "sizes": [*map(len, code.kernels)],
        "ranges": {
            each.name: each.range_text()
            for signature in signatures.values()
            for each in signature.size_names
        },
        "signatures": {
            name: [
                [
                    *(each.role, each.name, [_size(size) for size in each.shape], each.dtype.name),
                    None if each.check is None else astuple(each.check),
                ]
                for each in signature.buffers
            ]
            for name, signature in signatures.items()
        },
    }
    return b"".join((json.dumps(described).encode(), b"\n", *code.objects))


def unpacked(data: bytes) -> tuple[ObjectCode, dict[str, Signature]]:
    """Return what was packed."""
    head, _, code = data.partition(b"\n")
    described: object = json.loads(head)
    assert isa(described, dict[str, object])
    external, signatures = described["external"], described["signatures"]
    sources, sizes = described["sources"], described["sizes"]
    assembly, symbol = described["assembly"], described["symbol"]
    ranges = described["ranges"]
    assert isa(external, list[str])
    assert isa(ranges, dict[str, str])
    names = {name: name_of_range(name, text) for name, text in ranges.items()}
    assert isa(signatures, dict[str, list[object]])
    assert isa(sources, dict[str, str])
    assert isinstance(assembly, str)
    assert isinstance(symbol, str)
    assert isa(sizes, list[int])
    *kernels, code = _cut(code, sizes)
    return ObjectCode(code, tuple(external), sources, assembly, tuple(kernels), symbol), {
        name: Signature(
            name, tuple(_buffer(index, each, names) for index, each in enumerate(buffers))
        )
        for name, buffers in signatures.items()
    }


def _cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Yield pieces of some sizes, and what is left."""
    start = 0
    for size in sizes:
        yield data[start : start + size]
        start += size
    yield data[start:]


def _size(size: int) -> int | str:
    return str(size) if isinstance(size, OpenSize) else size


def _buffer(index: int, described: object, names: Mapping[str, SizeName]) -> Buffer:
    assert isa(described, list[object])
    role, name, shape, dtype, check = described
    assert isinstance(role, str)
    assert isinstance(name, str)
    assert isa(shape, list[int | str])
    assert isinstance(dtype, str)
    sizes = (
        parse_size(size, lambda name: names.get(name, SizeName(name)))
        if isinstance(size, str)
        else size
        for size in shape
    )
    known = None if check is None else _check(check)
    return Buffer(index, role, name, tuple(sizes), np.dtype(dtype), known)


def _check(described: object) -> IndexCheck:
    assert isa(described, list[object])
    op, axes, sizes, place, node, from_end = described
    assert isinstance(op, str)
    assert isa(axes, list[int])
    assert isa(sizes, list[int | str])
    assert isa(place, str | None)
    assert isa(node, str | None)
    assert isinstance(from_end, bool)
    return IndexCheck(op, tuple(axes), tuple(sizes), place, node, from_end)
