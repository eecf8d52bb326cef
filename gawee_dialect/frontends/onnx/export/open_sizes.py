"""Sizes that are open, as nodes: what a run computes of the shapes of its inputs.

batch * length + 1 -> Add(Mul(Shape(x)[0:1], Shape(x)[1:2]), 1)
"""

from collections.abc import Callable, Mapping, Sequence
from math import gcd, prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i64

from gawee_dialect.analysis.open_sizes import simplicity
from gawee_dialect.dialect.open_size import OpenSize, SizeName, form_of
from gawee_dialect.frontends.onnx.export.registry import ExportedNode, ExportedValue, Figures
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.identifiers import c_name


class SizeNodes:
    """The nodes that compute sizes, which come before all others; each size is computed once."""

    def __init__(self, inputs: Sequence[ExportedValue], unique: Callable[[str], str]) -> None:
        self.nodes: list[ExportedNode] = []
        self._unique = unique
        self._axes = [
            (size, given, axis)
            for given in inputs
            for axis, size in enumerate(given.type.get_shape())
            if isinstance(size, OpenSize)
        ]
        self._axes.sort(key=lambda entry: simplicity(entry[0]))
        self._alone = {n for size, _, _ in self._axes if len(size.names) == 1 for n in size.names}
        self._made: dict[object, ExportedValue] = {}

    def list_of(self, sizes: Sequence[int], name: str) -> ExportedValue:
        """Return a list of sizes, some of which are open; raises Refusal where no input has one."""
        key = tuple(sizes)
        if key not in self._made:
            parts: list[ExportedValue | Figures] = [self._size(each) for each in sizes]
            self._made[key] = self._node("Concat", parts, name, len(sizes), axis=0)
        return self._made[key]

    def _size(self, size: int) -> ExportedValue | Figures:
        """Return a size as a list of one."""
        if not isinstance(size, OpenSize):
            return Figures("size", np.array([size], np.int64))
        if size not in self._made:
            self._made[size] = self._sum(size)
        return self._made[size]

    def _sum(self, size: OpenSize) -> ExportedValue:
        form = form_of(size)
        total: ExportedValue | Figures | None = None
        for product, factor in form.terms.items():
            steps = prod(each.step for each in product)
            common = gcd(steps, factor)
            term: ExportedValue | Figures = self._number(product[0])
            for each in product[1:]:
                term = self._node("Mul", [term, self._number(each)], size.text())
            if factor != common:
                term = self._node("Mul", [term, self._size(factor // common)], size.text())
            if steps != common:
                term = self._node("Div", [term, self._size(steps // common)], size.text())
            total = term if total is None else self._node("Add", [total, term], size.text())
        assert total is not None
        if form.constant:
            total = self._node("Add", [total, self._size(form.constant)], size.text())
        assert isinstance(total, ExportedValue)
        return total

    def _number(self, name: SizeName) -> ExportedValue:
        """Return what a name stands for, from an axis of an input."""
        if name not in self._made:
            self._made[name] = self._solved(name)
        return self._made[name]

    def _solved(self, name: SizeName) -> ExportedValue:
        for size, given, axis in self._axes:
            form = form_of(size)
            factor = form.terms.get((name,), 0)
            rest = OpenSize.of(form + type(form)(0, {(name,): -factor}))
            if not factor or any(name in each for each in form.terms if each != (name,)):
                continue
            if isinstance(rest, OpenSize) and not rest.names <= self._alone:
                continue
            found = self._node("Shape", [given], name.name, start=axis, end=axis + 1)
            if isinstance(rest, OpenSize) or rest:
                found = self._node("Sub", [found, self._size(rest)], name.name)
            if factor != name.step:
                found = self._node("Mul", [found, self._size(name.step)], name.name)
                found = self._node("Div", [found, self._size(factor)], name.name)
            return found
        raise Refusal(f"cannot be written as ONNX because no input has size '{name.name}'")

    def _node(
        self,
        op_type: str,
        inputs: Sequence[ExportedValue | Figures],
        name: str,
        count: int = 1,
        **attributes: int,
    ) -> ExportedValue:
        made = ExportedValue(self._unique(f"{c_name(name)}_{op_type}"), TensorType(i64, [count]))
        node = ExportedNode(op_type, inputs, [made], attributes, None, made.name)
        self.nodes.append(node)
        return made


def ranges_of(values: Sequence[ExportedValue]) -> Mapping[str, str]:
    """Return which values the names in shapes may have, as text; the usual ones are left out."""
    sizes = (size for each in values for size in each.type.get_shape())
    names = sorted({name for size in sizes if isinstance(size, OpenSize) for name in size.names})
    return {each.name: each.range_text() for each in names if each != SizeName(each.name)}
