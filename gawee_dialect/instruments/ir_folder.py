"""The IR after each pass in a folder: numbered files, and an index of them."""

import re
from collections.abc import Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.instruments.timing import count_ops
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.passes.pass_manager import Pipeline
from gawee_dialect.printing import TextOptions, op_text

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
