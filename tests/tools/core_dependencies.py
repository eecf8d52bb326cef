"""python -m tests.tools.core_dependencies: tools where the core dependencies alone are installed.

Reads lines of JSON, each a tool's name and its arguments; writes for each a line of JSON with the
exit code, and what the tool wrote to standard error. Each tool is forked from this process, which
finds no package of an extra.
"""

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

EXTRAS = frozenset(
    """PIL dask distributed jax marimo matplotlib ml_dtypes numba onnx onnxruntime onnxscript
    openvino orjson playwright pycparser scipy skimage timm torch torchvision transformers""".split()
)


class CoreFinder(PathFinder):
    """Finds what Python does, but for the packages of extras."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in EXTRAS:
            return None
        return super().find_spec(fullname, path, target)


def hide_extras() -> None:
    """Let the packages of extras be no longer found."""
    sys.meta_path[:] = [CoreFinder if each is PathFinder else each for each in sys.meta_path]
    loaded = EXTRAS.intersection(sys.modules)
    assert not loaded, loaded


def run(tool: str, arguments: Sequence[str]) -> tuple[int, str]:
    """Run a tool in a process of its own; return its exit code, and its standard error."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                os.dup2(said.fileno(), 2)
                module = importlib.import_module(f"gawee_dialect.tools.{tool.replace('-', '_')}")
                code = module.main(arguments)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode()


if __name__ == "__main__":
    hide_extras()
    from gawee_dialect.tools.server.fork_server import FIRST_RUN, MODULES

    for name in (*MODULES, FIRST_RUN):  # what most tools would import each
        importlib.import_module(name)
    for line in sys.stdin:
        tool, *arguments = json.loads(line)
        print(json.dumps(run(tool, arguments)), flush=True)
