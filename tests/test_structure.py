"""How the package is put together: which way imports point, and what files may be like."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeGuard

import pytest

from gawee_dialect.universe import ALGORITHMS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gawee_dialect"
FILES = sorted(PACKAGE.rglob("*.py"))

# What each part may import of ours. Equations stand below the ops that are defined by them: they
# know types and functions of arrays. `passes` holds canonicalization patterns, which ops load when
# they are asked for them; that is the one import against the direction, and it is inside a method.
FOUNDATION = {"diagnostics", "hints", "locations", "upstream"}
BELOW_EQUATIONS = {
    *("gawee_dialect.dialect.types", "gawee_dialect.dialect.special_functions"),
    *("gawee_dialect.dialect.arrays", "gawee_dialect.dialect.open_size"),
    *("gawee_dialect.diagnostics", "gawee_dialect.located_json", "gawee_dialect.hints"),
    "gawee_dialect.source",
}
FILES_OF_SCHEDULES = "gawee_dialect.schedules.file"
FORBIDDEN = {
    "dialect": {
        *("analysis", "backend", "frontends", "instruments", "interpreter", "parameters"),
        *("passes", "schedules", "tools", "tuning", "universe"),
    },
    "upstream": {
        *("analysis", "backend", "frontends", "instruments", "interpreter", "parameters"),
        *("passes", "schedules", "tools", "tuning", "universe"),
    },
    "equations": {
        *("analysis", "backend", "frontends", "instruments", "interpreter", "opdesc", "passes"),
        "tools",
    },
    "diagnostics": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "locations": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "located_json": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "source": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "target": {
        *("backend", "frontends", "instruments", "interpreter", "parameters", "passes", "plots"),
        "tools",
    },
    "plots": {"backend", "frontends", "interpreter", "parameters", "passes", "tools"},
    "analysis": {"backend", "frontends", "interpreter", "passes", "tools"},
    "parameters": {"backend", "frontends", "interpreter", "passes", "tools"},
    "pgflow": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "passes": {
        *("backend", "frontends", "interpreter", "inspection", "instruments", "model", "plots"),
        *("pytorch", "reduce", "tools", "tuning"),
    },
    "schedules": {
        *("backend", "frontends", "instruments", "interpreter", "passes", "tools", "tuning"),
    },
    "frontends": {"backend", "interpreter", "passes", "tools"},
    "opdesc": {
        *("analysis", "backend", "inspection", "instruments", "interpreter", "parameters"),
        *("passes", "tools"),
    },
    "language_server": {
        *("backend", "instruments", "interpreter", "model", "parameters", "passes", "pytorch"),
        "tools",
    },
    "inspection": {"backend", "frontends", "interpreter", "passes", "tools"},
    "interpreter": {"backend", "frontends", "passes", "tools"},
    "backend": {"frontends", "instruments", "passes", "plots", "tools"},
    "instruments": {"frontends", "plots", "tools"},
    "report": {
        *("backend", "frontends", "interpreter", "parameters", "plots", "reduce", "tools"),
        "tuning",
    },
    "evaluation": {"frontends", "plots", "reduce", "report", "tools", "tuning"},
    "quantization": {"backend", "plots", "reduce", "report", "tools", "tuning"},
    "experiments": {"backend", "frontends", "instruments", "plots", "reduce", "report", "tools"},
    "workers": {"backend", "dialect", "frontends", "interpreter", "passes", "tools"},
    "tuning": {"frontends", "interpreter", "plots", "reduce", "tools"},
    "scheduling": {"frontends", "interpreter", "plots", "reduce", "tools"},
    "reduce": {"backend", "plots", "tools"},
    "fuzz": {"backend", "plots", "report", "tools"},
    "onnx_backend": {"analysis", "backend", "instruments", "passes", "plots", "reduce", "tools"},
    "pytorch": {"analysis", "inspection", "instruments", "passes", "plots", "reduce", "tools"},
}
PATTERNS = "gawee_dialect.passes.graph.canonicalization"
"""What an op loads when it is canonicalized."""

LATE = {
    # The registry loads what it names.
    "gawee_dialect.universe",
    # A graph is read, written and drawn by methods of its own.
    "gawee_dialect.frontends.npu_ir.ir",
    # Every tool completes command lines, of all tools.
    *("gawee_dialect.tools.command_line", "gawee_dialect.tools.gawee"),
}
"""Whose functions load what imports the module, with the reason."""

HOMELESS = {"utils", "util", "helpers", "helper", "common", "misc", "uncategorized"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


MODULES = {module_name(path): path for path in FILES}


@pytest.fixture(scope="module", autouse=True)
def forget_trees() -> Iterator[None]:
    """Let go of the syntax of the whole package, which garbage collection would look through."""
    yield
    for remembered in (syntax, statements):
        remembered.cache_clear()


def imported(node: ast.AST) -> Iterator[str]:
    """Yield our modules that one import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        inside = [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name if name in MODULES else node.module for name in inside]
    else:
        return
    yield from (name for name in names if name.partition(".")[0] == PACKAGE.name)


@cache
def statements(path: Path) -> tuple[ast.AST, ...]:
    """Return all statements of a module, those inside of others too: imports are among these."""
    found = list(within(syntax(path)))
    for node in found:
        found.extend(within(node))  # which this loop comes to later
    return tuple(found)


def within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that are directly inside of one; no expression holds any."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        yield from getattr(node, part, ())


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return our modules that a module imports, inside functions too, but for what is LATE."""
    found: set[str] = set()
    pending = list(within(syntax(path)))
    name = module_name(path)
    while pending:
        node = pending.pop()
        if name in LATE and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        found.update(imported(node))
        pending.extend(within(node))
    if part_of(name) == "dialect":
        found = {each for each in found if not each.startswith(PATTERNS)}
    return frozenset(found)


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to: its folder, or its own name."""
    return module.split(".")[1] if "." in module else ""


def test_imports_have_no_cycle() -> None:
    graph = {name: imports_of(path) - {name} for name, path in MODULES.items()}
    # Importing a module imports the packages around it as well; ours hold no imports but of
    # their own parts, so only the named modules count.
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_imports_point_one_way() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        for other in sorted(imports_of(path))
        if part_of(other) in FORBIDDEN.get(part_of(name), ())
    ]

    assert wrong == []


def test_passes_read_no_files() -> None:
    wrong = [
        f"{name} imports {FILES_OF_SCHEDULES}"
        for name, path in MODULES.items()
        if part_of(name) == "passes"
        for node in statements(path)
        if FILES_OF_SCHEDULES in imported(node)
    ]
    calls = re.compile(r"\.(open|read_bytes|read_text|write_bytes|write_text)\b")
    reading = [
        f"{name} calls {node.attr}"
        for name, path in MODULES.items()
        if part_of(name) == "passes" and calls.search(path.read_text())
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Attribute) and calls.fullmatch(f".{node.attr}")
    ]

    assert wrong + reading == []


def test_ops_import_passes_only_for_their_canonicalization_patterns() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        if part_of(name) == "dialect"
        for node in statements(path)
        for other in imported(node)
        if part_of(other) not in {"dialect", "equations", *FOUNDATION}
        and not other.startswith(PATTERNS)
    ]

    assert wrong == []


def test_equations_know_no_ops() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        if part_of(name) == "equations"
        for node in statements(path)
        for other in imported(node)
        if part_of(other) != "equations" and other not in BELOW_EQUATIONS
    ]

    assert wrong == []


def test_nothing_imports_the_tools() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        if part_of(name) != "tools"
        for node in statements(path)
        for other in imported(node)
        if part_of(other) == "tools"
    ]

    assert wrong == []


def test_every_part_has_a_rule() -> None:
    parts = {part_of(name) for name in MODULES if MODULES[name].name == "__init__.py"} - {""}

    assert sorted(parts - set(FORBIDDEN) - {"tools"}) == []


# Where an algorithm beside the direct one may be named: its op, its meaning, its two passes, and the
# registries of these. Whatever else handles kernels asks `StructuredKernel` and `Algorithm`.
REGISTRIES = {
    *("gawee_dialect.dialect", "gawee_dialect.interpreter.gawee", "gawee_dialect.universe"),
}


def homes_of(algorithm: str) -> tuple[str, ...]:
    return (
        f"gawee_dialect.dialect.kernels.{algorithm}",
        f"gawee_dialect.interpreter.gawee.{algorithm}",
        f"gawee_dialect.passes.tensors.convert_to_{algorithm}",
        f"gawee_dialect.passes.buffers.lower_{algorithm}_to_loops",
    )


def names_in(path: Path) -> Iterator[str]:
    """Yield the identifiers of a file, modules and strings of one word: names, not prose."""
    for node in ast.walk(syntax(path)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield name
            case ast.ImportFrom(module=str(name)):
                yield name
            case ast.Constant(value=str(text)) if " " not in text:
                yield text
            case _:
                pass


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_algorithm_is_named_in_its_home_alone(algorithm: str) -> None:
    wrong = [
        f"{module} names {name}"
        for module, path in MODULES.items()
        if module not in REGISTRIES and not module.startswith(homes_of(algorithm))
        if algorithm in path.read_text().lower()
        for name in names_in(path)
        if algorithm in name.lower()
    ]

    assert wrong == []


def test_files_are_short_enough_to_read_and_named_after_a_concept() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}

    assert [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > 700] == []
    assert [name for name, path in MODULES.items() if path.stem in HOMELESS] == []


def public(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.ClassDef]:
    definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
    return definition and not node.name.startswith("_")


def test_what_is_public_has_a_docstring() -> None:
    missing = [
        f"{module}.{node.name}"
        for module, path in MODULES.items()
        for node in syntax(path).body
        if public(node) and ast.get_docstring(node) is None
    ]
    modules = [
        module
        for module, path in MODULES.items()
        if path.read_text().strip() and ast.get_docstring(syntax(path)) is None
    ]

    assert missing + modules == []


OPTIONAL = {"onnx", "onnxruntime", "onnxscript", "skimage", "timm", "torch", "torchvision"}


def test_a_test_of_an_absent_oracle_is_skipped_before_it_is_imported() -> None:
    wrong: list[str] = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        asked = ""
        for node in syntax(path).body:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                asked += ast.unparse(node) if "importorskip" in ast.dump(node) else ""
            packages = {name.partition(".")[0] for name in names} & OPTIONAL
            wrong += [f"{path}: {each}" for each in packages if f"'{each}" not in asked]

    assert wrong == []
