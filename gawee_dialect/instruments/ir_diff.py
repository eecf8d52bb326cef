"""What each pass changes, function by function, as a diff."""

import sys
from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.instruments.function_texts import FunctionText, FunctionTexts
from gawee_dialect.instruments.text_diff import print_diff
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.printing import TextOptions

NOTHING = FunctionText()


class IRDiff(Instrument):
    """Prints what every pass changes to standard error; functions that stay are left out."""

    def __init__(self, text: TextOptions) -> None:
        self._text = text
        self._texts = FunctionTexts(text)
        self._before: Mapping[str, FunctionText] = {}

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._texts = FunctionTexts(self._text)
        self._before = self._texts.of(module)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        self._texts.note()

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if isinstance(module_pass, Pipeline):
            return
        before, after = self._before, self._texts.of(module)
        self._before = after
        name = module_pass.name
        changed = changed_functions(before, after)
        unchanged = "" if changed else ": (unchanged)"
        print(f"// -----// IR Diff of {name}{unchanged} //----- //", file=sys.stderr)
        for key in changed:
            self._print_difference(key, name, before.get(key, NOTHING), after.get(key, NOTHING))

    def _print_difference(
        self, key: str, name: str, before: FunctionText, after: FunctionText
    ) -> None:
        headings = (f"{key} before {name}", f"{key} after {name}")
        if not print_diff(before.text, after.text, headings, sys.stderr):
            print(f"{key}: only elements of elided constants differ", file=sys.stderr)


def changed_functions(
    before: Mapping[str, FunctionText], after: Mapping[str, FunctionText]
) -> list[str]:
    """Return the functions of which a pass changed the text, made it, or removed it."""
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]
