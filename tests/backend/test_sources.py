"""The files behind a module are those that Python's own syntax tree says it imports."""

import ast
from pathlib import Path

import pytest

import gawee_dialect
from gawee_dialect.backend.kernel_code import sources_behind

ROOT = Path(gawee_dialect.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def names(path: Path) -> set[str]:
    """Return our modules that a file imports, but for an op's canonicalization patterns."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    patterns = "gawee_dialect.passes.graph.canonicalization"
    if path.parent.is_relative_to(ROOT / "dialect"):
        found = {name for name in found if not name.startswith(patterns)}
    return found & set(MODULES)


def closure(module: str) -> set[Path]:
    found: set[str] = set()
    pending = {module}
    while pending:
        name = pending.pop()
        found.add(name)
        pending |= names(MODULES[name]) - found
    return {MODULES[name] for name in found}


@pytest.mark.parametrize(
    "module",
    [
        "gawee_dialect.passes.loops.convert_to_llvm",
        "gawee_dialect.passes.buffers.lower_kernels_to_loops",
        "gawee_dialect.passes.tensors.form_kernels",
        "gawee_dialect.hints",
    ],
)
def test_files_behind_a_module_are_all_that_it_imports(module: str) -> None:
    found = sources_behind((module,))

    assert set(found) == closure(module)
    assert len(found) == len(set(found))


def test_several_modules_have_the_files_of_each() -> None:
    first, second = (
        "gawee_dialect.passes.loops.expand_math",
        "gawee_dialect.passes.loops.hoist_allocas",
    )

    assert set(sources_behind((first, second))) == closure(first) | closure(second)


def test_what_lowers_kernels_does_not_depend_on_what_forms_them() -> None:
    found = sources_behind(("gawee_dialect.passes.buffers.lower_kernels_to_loops",))

    assert not any(
        path.is_relative_to(ROOT / part)
        for path in found
        for part in (
            "frontends",
            "passes/tensors/form_kernels",
            "passes/tensors/assign_schedules",
            "tools",
        )
    )
