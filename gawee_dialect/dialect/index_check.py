"""What is known of indices that come at run time, and how a wrong one is reported.

`check-indices` clamps such indices, so that nothing outside a tensor is read or written, and
returns for each axis that they name the worst of them, in a result of `@main` marked

    {gawee.indices = {op = "gawee.gather", axes = array<i64: 0>, sizes = array<i64: 5>}}

An index is shifted so that the ones in range come first among all i64: the greatest is the worst.
Along an axis whose size is open, all that are in range count as 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.hints import isa
from gawee_dialect.locations import node_name, place

ROLE = "indices"
MARK = f"gawee.{ROLE}"
"""The attribute of a result, and later of the buffer, that holds the worst indices."""

LEAST = -(1 << 63)


@dataclass(frozen=True)
class IndexCheck:
    """An op whose indices come at run time, and the axes that they name, with their sizes."""

    op: str
    axes: tuple[int, ...]
    sizes: tuple[int | str, ...]
    """Of the axes: numbers, or the texts of sizes that are open."""
    place: str | None = None
    """Its `file:line:column`."""
    node: str | None = None
    """Its node of the graph."""
    from_end: bool = True
    """Whether negative indices count from the end."""

    @staticmethod
    def at(
        op: Operation, axes: Sequence[int], sizes: Sequence[int], *, from_end: bool = True
    ) -> "IndexCheck":
        """Describe an op of the graph."""
        found = place(op.location), node_name(op.location)
        said = (each.text() if isinstance(each, OpenSize) else each for each in sizes)
        return IndexCheck(op.name, tuple(axes), tuple(said), *found, from_end)

    def shifts(self) -> Sequence[int]:
        """Return what is added to an index for each axis: the least in range is the least i64."""
        return [
            LEAST + (0 if isinstance(size, str) else size) * self.from_end for size in self.sizes
        ]

    def limits(self) -> Sequence[int]:
        """Return the least shifted index that is out of range, for each axis."""
        return [
            LEAST + (1 if isinstance(size, str) else size * (1 + self.from_end))
            for size in self.sizes
        ]

    @staticmethod
    def of(attributes: DictionaryAttr) -> "IndexCheck | None":
        """Read the mark of a result or a buffer; None where there is none."""
        mark = attributes.data.get(MARK)
        if mark is None or not isinstance(mark, DictionaryAttr):
            return None
        entries = mark.data

        def text(name: str) -> str | None:
            value = entries.get(name)
            return value.data if isinstance(value, StringAttr) else None

        def numbers(name: str) -> tuple[int, ...]:
            value = entries.get(name)
            return value.get_values() if isa(value, DenseArrayBase[IntegerType]) else ()

        named, sizes = entries.get("sizes"), tuple[int | str, ...](numbers("sizes"))
        if isa(named, ArrayAttr[StringAttr]):
            sizes = tuple(int(each.data) if each.data.isdigit() else each.data for each in named)
        described = text("place"), text("node"), "from_start" not in entries
        return IndexCheck(text("op") or "", numbers("axes"), sizes, *described)

    def mark(self) -> DictionaryAttr:
        """Return the attributes that mark a result."""
        entries: dict[str, Attribute] = {
            "op": StringAttr(self.op),
            "axes": DenseArrayBase.from_list(i64, self.axes),
            "sizes": DenseArrayBase.from_list(i64, self.sizes)
            if isa(self.sizes, tuple[int, ...])
            else ArrayAttr(StringAttr(str(size)) for size in self.sizes),
        }
        for name, value in (("place", self.place), ("node", self.node)):
            if value is not None:
                entries[name] = StringAttr(value)
        if not self.from_end:
            entries["from_start"] = UnitAttr()
        return DictionaryAttr({MARK: DictionaryAttr(entries)})

    @property
    def text(self) -> str:
        """Which indices are checked: `an index of 'gawee.gather' (net.mlir:3:8) for axis 0`."""
        axes = ", ".join(map(str, self.axes))
        where = f" ({self.place})" if self.place else ""
        several = "axes" if len(self.axes) > 1 else "axis"
        return f"an index of '{self.op}'{where} for {several} {axes} is out of bounds"

    def problem(self, worst: Sequence[int]) -> Diagnostic | None:
        """Say which index is out of range; None where none is."""
        along = zip(self.axes, self.sizes, self.shifts(), self.limits(), worst, strict=True)
        for axis, size, shift, limit, value in along:
            if value >= limit:
                index = (value - shift - LEAST) % (1 << 64) + LEAST
                message = (
                    f"'{self.op}' op cannot run: index {index} is out of bounds for axis {axis} "
                    f"with size {size}"
                )
                return Diagnostic(message, self.place, self.node)
        return None
