"""A compiled program as bytes, as the cache keeps it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

import numpy as np

from gawee_dialect.backend.jit import ObjectCode
from gawee_dialect.backend.signature import Buffer, Signature
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.hints import isa


def packed(code: ObjectCode, signatures: Mapping[str, Signature]) -> bytes:
    """Return code, and what its functions take by their names, as bytes."""
    described = {
        "external": code.external,
        "sources": dict(code.sources),
        "assembly": code.assembly,
        "symbol": code.symbol,
        "sizes": [*map(len, code.kernels)],
        "signatures": {
            name: [
                [
                    *(each.role, each.name, list(each.shape), each.dtype.name),
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
    assert isa(external, list[str])
    assert isa(signatures, dict[str, list[object]])
    assert isa(sources, dict[str, str])
    assert isinstance(assembly, str)
    assert isinstance(symbol, str)
    assert isa(sizes, list[int])
    *kernels, code = _cut(code, sizes)
    return ObjectCode(code, tuple(external), sources, assembly, tuple(kernels), symbol), {
        name: Signature(name, tuple(map(_buffer, range(len(buffers)), buffers)))
        for name, buffers in signatures.items()
    }


def _cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Yield pieces of some sizes, and what is left."""
    start = 0
    for size in sizes:
        yield data[start : start + size]
        start += size
    yield data[start:]


def _buffer(index: int, described: object) -> Buffer:
    assert isa(described, list[object])
    role, name, shape, dtype, check = described
    assert isinstance(role, str)
    assert isinstance(name, str)
    assert isa(shape, list[int])
    assert isinstance(dtype, str)
    known = None if check is None else _check(check)
    return Buffer(index, role, name, tuple(shape), np.dtype(dtype), known)


def _check(described: object) -> IndexCheck:
    assert isa(described, list[object])
    op, axes, sizes, place, node, from_end = described
    assert isinstance(op, str)
    assert isa(axes, list[int])
    assert isa(sizes, list[int])
    assert isa(place, str | None)
    assert isa(node, str | None)
    assert isinstance(from_end, bool)
    return IndexCheck(op, tuple(axes), tuple(sizes), place, node, from_end)
