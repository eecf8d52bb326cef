"""Machine code of a module on exact numbers, a function at a time.

A pass changes few functions: the code of the others is what it was.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.instruments.prove.native.rewriting import ExactModule

KEPT_OBJECTS = 1024
"""How many functions are kept compiled."""

OPT_LEVEL = 1
"""What runs once need not be optimised."""

_NAME = re.compile(r"@([\w.$-]+)")
_DEFINITION = re.compile(r"^define (.*)\{$", re.MULTILINE)
_GLOBAL = re.compile(r"^@([\w.$-]+) = (constant|global) (\[\d+ x \w+\])", re.MULTILINE)


@lru_cache(maxsize=KEPT_OBJECTS)
def _object(text: str) -> tuple[bytes, tuple[str, ...]]:
    """Compile LLVM IR; returns the object file, and the names that it does not define."""
    from gawee_dialect.backend.jit import Target, compile_object

    made = compile_object(text, Target(opt_level=OPT_LEVEL))
    return made.code, made.external


def _texts(exact: ExactModule) -> Iterator[str]:
    from gawee_dialect.backend.jit import Target
    from gawee_dialect.backend.llvm_text import llvm_text

    attributes = Target().resolved().function_attributes()
    for op in list(exact.module.ops):
        if isinstance(op, llvm.FuncOp) and not op.body.blocks:
            continue
        op.detach()
        yield llvm_text(ModuleOp([op]), attributes)
    yield from exact.library.definitions.values()


def _declarations(texts: Iterable[str], external: Iterable[str]) -> dict[str, str]:
    """Return how each function and global is declared where it is not defined."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _DEFINITION.finditer(text):
            head = _without_attributes(match[1])
            found[_first_name(head)] = f"declare {head}"
        for match in _GLOBAL.finditer(text):
            found[match[1]] = f"@{match[1]} = external {match[2]} {match[3]}"
    for line in external:
        found[_first_name(line)] = line
    return found


def _without_attributes(head: str) -> str:
    return head[: head.rindex(")") + 1]


def _first_name(line: str) -> str:
    match = _NAME.search(line)
    assert match is not None
    return match[1]


def _modules(exact: ExactModule) -> Iterator[str]:
    """Yield LLVM IR for each function, with what it needs declared."""
    from gawee_dialect.backend.llvm_text import llvm_text

    declared = [
        llvm_text(ModuleOp([op.clone()])).strip()
        for op in exact.module.ops
        if isinstance(op, llvm.FuncOp) and not op.body.blocks
    ]
    texts = list(_texts(exact))
    known = _declarations(texts, (*declared, *exact.library.declarations))
    for text in texts:
        named = set(_NAME.findall(text))
        defined = {_first_name(match[0]) for match in _DEFINITION.finditer(text)}
        defined |= {match[1] for match in _GLOBAL.finditer(text)}
        defined |= {_first_name(line) for line in text.splitlines() if line.startswith("declare")}
        needed = [known[name] for name in sorted(named - defined) if name in known]
        yield "\n".join((text, *needed, ""))


class ExactCode:
    """Machine code on exact numbers in this process; it lives as long as this object."""

    def __init__(self, exact: ExactModule):
        """Compile a module; raises GaweeError where LLVM rejects it."""
        from llvmlite import binding

        from gawee_dialect.backend import openmp
        from gawee_dialect.backend.jit import Target, initialize, make_machine, parse_llvm

        initialize()
        target = Target(opt_level=OPT_LEVEL)
        objects = [_object(text) for text in _modules(exact)]
        external = {name for _, names in objects for name in names}
        with openmp.linked(tuple(external)) as runtime:
            self.runtime = runtime
            """What starts the threads of parallel regions, None where there are none."""
            self._engine = binding.create_mcjit_compiler(
                parse_llvm(""), make_machine(target, jit=True)
            )
            for code, _ in objects:
                self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self._engine.get_function_address(name)
