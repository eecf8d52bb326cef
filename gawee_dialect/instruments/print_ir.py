"""Dumps of the IR around passes, in mlir-opt's spelling, and the flags for all forms of them."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.instruments.ir_diff import IRDiff
from gawee_dialect.instruments.timing import count_ops
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.upstream.printing import TextOptions, module_text, op_text

# The IR after each pass in a folder: numbered files, and an index of them.

INDEX = "index.txt"
TITLE = "the IR after each pass"


class IRFolder(Instrument):
    """Writes `00_input.mlir`, `01_canonicalize.mlir`, ...; an unchanged module is one line.

    Each module of a split input has a folder of its own. Files of an earlier run are removed.
    """

    def __init__(self, folder: Path, text: TextOptions, *, split: bool = False) -> None:
        self._root = folder
        self._text = text
        self._split = split
        self._modules = 0
        self._last: tuple[str, bytes] = ("", b"")
        self._last_file = ""
        self._rows: list[str] = []

    @property
    def folder(self) -> Path:
        """Where the files of the current module go."""
        return self._root / str(self._modules) if self._split else self._root

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        self._modules += 1
        clear(self.folder)
        self._rows = [TITLE]
        self._write("input", module)

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if not isinstance(module_pass, Pipeline):
            self._write(module_pass.name, module)

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if not isinstance(module_pass, Pipeline):
            self._write(module_pass.name, module, failed=True)

    def _write(self, name: str, module: ModuleOp, *, failed: bool = False) -> None:
        number = f"{len(self._rows) - 1:02}"
        file = f"{number}_{re.sub(r'[^A-Za-z0-9.-]', '_', name)}.mlir"
        text = op_text(module, self._text.generic_form() if failed else self._text)
        if text == self._last:
            content, what = f"// (unchanged) as in {self._last_file}", "(unchanged)"
        else:
            content, what = text[0], f"{count_ops(module)} ops"
            self._last, self._last_file = text, file
        what += ", FAILED" if failed else ""
        (self.folder / file).write_text(content + "\n", encoding="utf-8")
        self._rows.append(f"{number}  {name:<32} {what:<16} {file}")
        (self.folder / INDEX).write_text("\n".join(self._rows) + "\n", encoding="utf-8")


def clear(folder: Path) -> None:
    """Make a folder, or remove what an earlier run wrote there; nothing else is touched.

    Raises GaweeError where files of that name are there which no run of ours wrote.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / INDEX
    numbered = [path for path in folder.glob("*.mlir") if re.match(r"\d\d+_", path.name)]
    ours = index.exists() and index.read_text(encoding="utf-8").startswith(TITLE)
    if (numbered or index.exists()) and not ours:
        raise GaweeError(f"cannot write IR to '{folder}': it has files of another origin")
    for path in numbered:
        path.unlink()


DUMP_LIMIT = 16
"""Constants of more elements are elided in dumps, unless a flag says otherwise."""


@dataclass(frozen=True)
class Selection:
    """Which passes are meant: those of some names; where there are no names, every pass."""

    flag: str
    names: tuple[str, ...] = ()

    def has(self, module_pass: ModulePass) -> bool:
        """Whether a pass is meant; of a pipeline its passes are, unless its own name is given."""
        if self.names:
            return module_pass.name in self.names
        return not isinstance(module_pass, Pipeline)

    def check(self, passes: Sequence[ModulePass]) -> None:
        """Raise GaweeError where a name is that of no pass which will run."""
        known = list(dict.fromkeys(_names(passes)))
        for name in self.names:
            if name not in known:
                here = f"the pipeline has {', '.join(known) or 'no pass'}"
                hint = did_you_mean(name, known, here)
                raise GaweeError(
                    Diagnostic(f"{self.flag} names no pass that runs: '{name}'", hint=hint)
                )


def _names(passes: Sequence[ModulePass]) -> Iterator[str]:
    for module_pass in passes:
        yield module_pass.name
        if isinstance(module_pass, Pipeline):
            yield from _names(module_pass.passes())


@dataclass
class PrintIR(Instrument):
    """Prints the module before and after passes to standard error.

    With `only_change` a dump after a pass is left out where the pass changed nothing.
    """

    text: TextOptions
    before: Sequence[Selection] = ()
    after: Sequence[Selection] = ()
    only_change: bool = False
    after_failure: bool = False

    def __post_init__(self) -> None:
        self._texts: list[tuple[str, bytes]] = []

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        for selection in (*self.before, *self.after):
            selection.check(passes)

    def before_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if self.only_change:
            self._texts.append(op_text(module, self.text))
        if any(selection.has(module_pass) for selection in self.before):
            self._dump(f"Before {title(module_pass)}", module, self.text)

    def after_pass(self, module_pass: ModulePass, module: ModuleOp) -> None:
        changed = not self.only_change or self._texts.pop() != op_text(module, self.text)
        if changed and any(selection.has(module_pass) for selection in self.after):
            self._dump(f"After {title(module_pass)}", module, self.text)

    def pass_failed(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if self.only_change:
            self._texts.pop()
        if self.after_failure and not isinstance(module_pass, Pipeline):
            self._dump(f"After {title(module_pass, ' Failed')}", module, self.text.generic_form())

    def _dump(self, what: str, module: ModuleOp, text: TextOptions) -> None:
        print(f"// -----// IR Dump {what} //----- //", file=sys.stderr)
        print(module_text(module, text), file=sys.stderr)


def title(module_pass: ModulePass, outcome: str = "") -> str:
    """Return how a banner names a pass: by its class, and as a pipeline spells it."""
    return f"{type(module_pass).__name__}{outcome} ({module_pass.spec()})"


def _limit(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ArgumentTypeError(f"expected a number of elements, got '{text}'") from error


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags of dumps, of the folder and of diffs."""
    add = parser.add_argument_group("seeing the IR between passes").add_argument
    for when in ("before", "after"):
        add(
            f"--mlir-print-ir-{when}",
            nargs="?",
            action="append",
            const="",
            default=[],
            metavar="PASS,...",
            help=f"print the IR {when} these passes; without '=PASS', {when} every pass",
        )
        add(
            f"--mlir-print-ir-{when}-all",
            action="store_true",
            help=f"print the IR {when} every pass",
        )
    add(
        "--mlir-print-ir-after-change",
        action="store_true",
        help="print the IR after those passes that change it",
    )
    add(
        "--mlir-print-ir-after-failure",
        action="store_true",
        help="print the IR that a pass leaves when it fails",
    )
    add("--print-ir-diff", action="store_true", help="print what each pass changes, as a diff")
    add("--print-ir-to", metavar="DIR", help="write the IR after each pass to numbered files")
    add(
        "--mlir-elide-elementsattrs-if-larger",
        type=_limit,
        metavar="N",
        help="leave out the elements of constants that have more than N, in the output too "
        f"(default: {DUMP_LIMIT} in dumps, never in the output)",
    )


def text_options(arguments: Namespace, *, dump: bool) -> TextOptions:
    """Return how a command line has IR printed, in dumps or in the output."""
    limit = arguments.mlir_elide_elementsattrs_if_larger
    return TextOptions(
        arguments.mlir_print_op_generic,
        arguments.mlir_print_debuginfo,
        DUMP_LIMIT if dump and limit is None else limit,
    )


def _selections(arguments: Namespace, when: str) -> list[Selection]:
    flag = f"--mlir-print-ir-{when}"
    values: list[str] = getattr(arguments, f"mlir_print_ir_{when}")
    found = [Selection(flag, tuple(filter(None, value.split(",")))) for value in values]
    if getattr(arguments, f"mlir_print_ir_{when}_all"):
        found.append(Selection(flag))
    return found


def from_flags(arguments: Namespace, name: str) -> Sequence[Instrument]:
    """Return what prints dumps, writes files and prints diffs, as far as flags ask for it."""
    text = text_options(arguments, dump=True)
    before, after = _selections(arguments, "before"), _selections(arguments, "after")
    only_change = arguments.mlir_print_ir_after_change
    if only_change and not after:
        after = [Selection("--mlir-print-ir-after-change")]
    found: list[Instrument] = []
    if before or after or arguments.mlir_print_ir_after_failure:
        failure = arguments.mlir_print_ir_after_failure
        found.append(PrintIR(text, before, after, only_change, failure))
    if arguments.print_ir_to is not None:
        folder = Path(arguments.print_ir_to)
        found.append(IRFolder(folder, text, split=arguments.split_input_file))
    if arguments.print_ir_diff:
        found.append(IRDiff(text))
    return found
