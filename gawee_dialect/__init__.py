"""gawee: neural-network graphs as MLIR, in Python, down to native code.

    model = gawee_dialect.load("graph.json")          # any format, weights beside it
    y = model.run({"x": x}, level="linalg")           # NumPy, at any level of the IR
    run = model.compile()                             # machine code
    y = run(x)
    run.save("build")                                 # libraries for C, header, weights

Folders: `dialect` what the IR can say; `frontends` readers of formats; `parameters` weights;
`passes` rewrites; `interpreter` NumPy meaning; `backend` LLVM; `tools` command lines.
"""

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gawee_dialect.code_options import CodeOptions as CodeOptions
    from gawee_dialect.diagnostics import GaweeError as GaweeError
    from gawee_dialect.frontends.npu_ir.aten.registry import register_op as register_op
    from gawee_dialect.frontends.npu_ir.extract import extract_ir as extract_ir
    from gawee_dialect.frontends.npu_ir.importer import import_ir as import_ir
    from gawee_dialect.frontends.npu_ir.ops import register_executor as register_executor
    from gawee_dialect.model import Model as Model
    from gawee_dialect.model import compile as compile
    from gawee_dialect.model import load as load
    from gawee_dialect.pytorch.background import wait_until_compiled as wait_until_compiled
    from gawee_dialect.pytorch.compiled import compile_torch as compile_torch
    from gawee_dialect.pytorch.execute import execute_ir as execute_ir
    from gawee_dialect.pytorch.verify import verify_ir as verify_ir
    from gawee_dialect.schedules.file import read_schedules as read_schedules
    from gawee_dialect.schedules.script import Script as Script
    from gawee_dialect.scheduling import schedule as schedule

    __version__: str


class _BeforeXdsl:
    """Prepares xDSL for quick imports before the first module that needs it is looked for."""

    NEED_NONE = (
        *(f"{__name__}.tools{name}" for name in ("", ".server", ".server.client")),
        f"{__name__}.garbage_collection",  # it is off while xDSL is imported
        f"{__name__}.upstream",
        *(f"{__name__}.upstream.late_{name}" for name in ("definitions", "formats", "methods")),
    )

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> None:
        """Find nothing: the next finder does."""
        is_ours = name.startswith(f"{__name__}.")
        if is_ours and name not in cls.NEED_NONE and cls in sys.meta_path:
            sys.meta_path.remove(cls)
            from gawee_dialect.upstream.late_methods import make_methods_late

            make_methods_late()  # before any class is defined
            from gawee_dialect.upstream.late_definitions import define_ops_late
            from gawee_dialect.upstream.late_formats import read_formats_late

            define_ops_late()  # before any dialect is imported
            read_formats_late()


sys.meta_path.insert(0, _BeforeXdsl)

_HOMES = {
    "CodeOptions": "code_options",
    "GaweeError": "diagnostics",
    "Model": "model",
    "compile": "model",
    "compile_torch": "pytorch.compiled",
    "execute_ir": "pytorch.execute",
    "extract_ir": "frontends.npu_ir.extract",
    "import_ir": "frontends.npu_ir.importer",
    "load": "model",
    "read_schedules": "schedules.file",
    "Script": "schedules.script",
    "schedule": "scheduling",
    "register_executor": "frontends.npu_ir.ops",
    "register_op": "frontends.npu_ir.aten.registry",
    "verify_ir": "pytorch.verify",
    "wait_until_compiled": "pytorch.background",
}

__all__ = [
    "CodeOptions",
    "GaweeError",
    "Model",
    "Script",
    "compile",
    "compile_torch",
    "execute_ir",
    "extract_ir",
    "import_ir",
    "load",
    "read_schedules",
    "register_executor",
    "register_op",
    "schedule",
    "verify_ir",
    "wait_until_compiled",
]


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__, "__version__"))


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("gawee-dialect")
    # Loaded at first use: gawee-opt must not pay for NumPy and LLVM.
    if name in _HOMES:
        from gawee_dialect.garbage_collection import no_garbage_collection

        with no_garbage_collection():
            return getattr(import_module(f"gawee_dialect.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
