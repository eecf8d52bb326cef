"""gawee: neural-network graphs as MLIR, in Python, down to native code.

    model = gawee_dialect.load("graph.json")          # any format, weights beside it
    y = model.run({"x": x}, level="linalg")           # NumPy, at any level of the IR
    run = model.compile()                             # machine code
    y = run(x)
    run.save("build")                                 # libraries for C, header, weights

Folders: `dialect` what the IR can say; `frontends` readers of formats; `parameters` weights;
`passes` rewrites; `interpreter` NumPy meaning; `backend` LLVM; `tools` command lines.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gawee_dialect.diagnostics import GaweeError as GaweeError
    from gawee_dialect.model import Model as Model
    from gawee_dialect.model import compile as compile
    from gawee_dialect.model import load as load

_HOMES = {"GaweeError": "diagnostics", "Model": "model", "compile": "model", "load": "model"}

__all__ = ["GaweeError", "Model", "compile", "load"]


def __getattr__(name: str) -> object:
    # Loaded at first use: gawee-opt must not pay for NumPy and LLVM.
    if name in _HOMES:
        return getattr(import_module(f"gawee_dialect.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
