"""Drawings as pictures, by what is installed: Mermaid's `mmdc`, else Graphviz's `dot`."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.whole_file import whole_file

PICTURES = (".svg", ".png")
"""What renderers write."""


def render(path: Path, mermaid: str, dot: str | None) -> None:
    """Write a picture of Mermaid text, or of the same drawing in DOT where there is one.

    Raises GaweeError where no renderer is installed, or where it fails.
    """
    mmdc, graphviz = shutil.which("mmdc"), shutil.which("dot")
    with TemporaryDirectory() as folder:
        if mmdc is not None:
            source = Path(folder, "graph.mmd")
            source.write_text(mermaid, encoding="utf-8")
            with whole_file(path) as draft:
                _run([mmdc, "--input", str(source), "--output", str(draft)])
        elif graphviz is not None and dot is not None:
            source = Path(folder, "graph.dot")
            source.write_text(dot, encoding="utf-8")
            with whole_file(path) as draft:
                _run([graphviz, f"-T{path.suffix[1:]}", "-o", str(draft), str(source)])
        else:
            raise GaweeError(
                Diagnostic(
                    f"cannot write '{path}': no renderer is installed; supported: "
                    + ("mmdc" if dot is None else "mmdc, dot"),
                    hint="-o FILE.mmd writes Mermaid text, which many pages show as a picture",
                )
            )


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        said = first_line(RuntimeError(result.stderr or result.stdout or "it says nothing"))
        raise GaweeError(f"cannot render: '{Path(command[0]).name}' failed: {said}")
