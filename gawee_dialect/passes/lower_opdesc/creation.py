"""Tensors of data that a description says."""

from collections.abc import Mapping, Sequence
from math import prod
from random import Random

from xdsl.ir import SSAValue

from gawee_dialect.passes.lower_opdesc.site import Meaning, NoMeaning, Site

MAX_ELEMENTS = 1_000_000
"""Of a constant with data of its own; more come from a file."""


def _filled(site: Site, values: Sequence[float]) -> Sequence[SSAValue]:
    type_ = site.result_type()
    return [site.constant(values, type_.get_shape(), type_.element_type)]


def _zeros(site: Site) -> Sequence[SSAValue]:
    return _filled(site, [0])


def _create(site: Site) -> Sequence[SSAValue]:
    """Return random data where a range is given, the same in every run; else the data itself."""
    if site.params["from_file"] is True:
        raise NoMeaning(
            "expected its data in the IR, got a file; a graph has it as an argument of @main"
        )
    low, high = site.numbers("ran")
    data, count = site.numbers("data"), prod(site.result_type().get_shape())
    if low < high:
        if count > MAX_ELEMENTS:
            raise NoMeaning(f"expected at most {MAX_ELEMENTS} random elements, got {count}")
        random = Random(0)
        data = [random.uniform(low, high) for _ in range(count)]
    if len(data) != count and data != [0]:
        raise NoMeaning(f"expected data of {count} elements, got {len(data)}")
    return _filled(site, data)


def _arange(site: Site) -> Sequence[SSAValue]:
    count = site.result_type().get_shape()[0]
    if count > MAX_ELEMENTS:
        raise NoMeaning(f"expected at most {MAX_ELEMENTS} elements, got {count}")
    start, step = site.number("start"), site.number("step")
    return _filled(site, [start + step * index for index in range(count)])


CREATION: Mapping[str, Meaning] = {
    "create": _create,
    "zeros": _zeros,
    "arange": _arange,
    "rearange": _arange,
}
