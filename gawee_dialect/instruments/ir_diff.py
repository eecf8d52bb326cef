"""What each pass changes, function by function, as a diff."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.instruments.text_diff import print_diff
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.printing import ModulePrinter, TextOptions

NOTHING = ("", b"")


@dataclass(eq=False, repr=False)
class LastingNumbers(ModulePrinter):
    """A printer that gives a value without a name the same number every time.

    Otherwise every op that is inserted would be a difference in all lines behind it.
    """

    numbers: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])

    def print_ssa_value(self, value: SSAValue) -> str:
        if value.name_hint is not None:
            return super().print_ssa_value(value)
        number = self.numbers.setdefault(value, str(len(self.numbers)))
        self.print_string(f"%{number}")
        return number


class IRDiff(Instrument):
    """Prints what every pass changes to standard error; functions that stay are left out."""

    def __init__(self, text: TextOptions) -> None:
        self._text = text
        self._numbers: dict[str, dict[SSAValue, str]] = {}
        self._before: Mapping[str, tuple[str, bytes]] = {}

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._numbers = {}
        self._before = self._texts(module)

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return
        before, after = self._before, self._texts(module)
        self._before = after
        name = module_pass.name
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        unchanged = "" if changed else ": (unchanged)"
        print(f"// -----// IR Diff of {name}{unchanged} //----- //", file=sys.stderr)
        for key in changed:
            self._print_difference(key, name, before.get(key, NOTHING), after.get(key, NOTHING))

    def _print_difference(
        self, key: str, name: str, before: tuple[str, bytes], after: tuple[str, bytes]
    ) -> None:
        headings = (f"{key} before {name}", f"{key} after {name}")
        if not print_diff(before[0], after[0], headings, sys.stderr):
            print(f"{key}: only elements of elided constants differ", file=sys.stderr)

    def _texts(self, module: ModuleOp) -> dict[str, tuple[str, bytes]]:
        """Return the text of each op of the module by its symbol, and of the module itself."""
        texts = {_key(op, position): op for position, op in enumerate(module.ops)}
        own = (", ".join(f"{name} = {value}" for name, value in module.attributes.items()), b"")
        return {"module attributes": own, **{key: self._of(key, op) for key, op in texts.items()}}

    def _of(self, key: str, op: Operation) -> tuple[str, bytes]:
        stream = StringIO()
        printer = LastingNumbers(
            stream,
            print_generic_format=self._text.generic,
            print_debuginfo=self._text.locations,
            elide_larger_than=self._text.elide_larger_than,
            numbers=self._numbers.setdefault(key, {}),
        )
        printer.print_op(op)
        return stream.getvalue(), printer.elided


def _key(op: Operation, position: int) -> str:
    symbol = op.get_attr_or_prop("sym_name")
    return f"@{symbol.data}" if isinstance(symbol, StringAttr) else f"{op.name} {position}"
