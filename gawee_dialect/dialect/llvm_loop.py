"""What a loop's back edge asks of LLVM's loop passes: unrolling and vectorisation.

    llvm.br ^header(%next : i64) {loop_annotation = #llvm.loop_annotation<
        unroll = <full = true>, vectorize = <width = 8 : i32>>}

An entry that is absent leaves the choice to LLVM.
"""

from collections.abc import Iterator

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa

SETTINGS: dict[str, dict[str, str]] = {
    # group: its settings, each with the metadata that LLVM IR writes for it
    "vectorize": {
        "disable": "llvm.loop.vectorize.enable",
        "width": "llvm.loop.vectorize.width",
    },
    "interleave": {"count": "llvm.loop.interleave.count"},
    "unroll": {
        "disable": "llvm.loop.unroll.disable",
        "count": "llvm.loop.unroll.count",
        "full": "llvm.loop.unroll.full",
    },
}
"""The settings of MLIR's loop annotation that we write, by group."""


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """A subset of MLIR's `#llvm.loop_annotation`: vectorize, interleave and unroll."""

    name = "llvm.loop_annotation"

    groups: DictionaryAttr

    @staticmethod
    def of(**groups: dict[str, bool | int]) -> "LoopAnnotationAttr":
        """Make an annotation: `LoopAnnotationAttr.of(unroll={"full": True})`."""

        def attribute(value: bool | int) -> Attribute:
            return BoolAttr.from_bool(value) if isinstance(value, bool) else IntegerAttr(value, i32)

        return LoopAnnotationAttr(
            DictionaryAttr(
                {
                    group: DictionaryAttr({key: attribute(value) for key, value in entries.items()})
                    for group, entries in groups.items()
                }
            )
        )

    def verify(self) -> None:
        for group, entries in self.groups.data.items():
            assert isinstance(entries, DictionaryAttr)
            for key, value in entries.data.items():
                if key not in SETTINGS.get(group, {}):
                    known = ", ".join(f"{g}.{k}" for g, keys in SETTINGS.items() for k in keys)
                    message = f"unsupported setting '{group}.{key}'; supported: {known}"
                    raise VerifyException(message)
                counts = key in ("count", "width")
                if not isa(value, IntegerAttr[IntegerType]) or value.type != (
                    i32 if counts else i1
                ):
                    wanted = "a number of i32" if counts else "true or false"
                    message = f"expected '{group}.{key}' to be {wanted}, got '{value}'"
                    raise VerifyException(message)

    def settings(self) -> Iterator[tuple[str, str, int]]:
        """Yield every setting: its group, its name and its value (a bool as 0 or 1)."""
        for group, entries in self.groups.data.items():
            assert isinstance(entries, DictionaryAttr)
            for key, value in entries.data.items():
                assert isinstance(value, IntegerAttr)
                yield group, key, abs(value.value.data)

    def print_parameters(self, printer: Printer) -> None:
        def entry(item: tuple[str, Attribute]) -> None:
            printer.print_string(f"{item[0]} = ")
            printer.print_attribute(item[1])

        def group(item: tuple[str, Attribute]) -> None:
            assert isinstance(item[1], DictionaryAttr)
            printer.print_string(f"{item[0]} = ")
            with printer.in_angle_brackets():
                printer.print_list(item[1].data.items(), entry)

        with printer.in_angle_brackets():
            printer.print_list(self.groups.data.items(), group)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        def entry() -> tuple[str, Attribute]:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            return key, parser.parse_attribute()

        def group() -> tuple[str, Attribute]:
            key = parser.parse_identifier()
            parser.parse_punctuation("=")
            entries = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
            return key, DictionaryAttr(dict(entries))

        groups = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, group)
        return [DictionaryAttr(dict(groups))]
