"""A module at the llvm level in the pieces that LLVM optimises apart: kernels, and what calls them.

A kernel is never inlined, so its code is the same wherever it is compiled. Its text says nothing of
the network that it is from: values, functions and constants have numbers, and the kernel is called
after its own text. So equal kernels have one text, in one network as in several.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.llvm_text import definitions_text, llvm_text, passed_through
from gawee_dialect.backend.llvm_values import Names, NumberedNames
from gawee_dialect.upstream.llvm import NOT_INLINED

LINKED_PREFIX = "gawee."
"""Begins the names of what pieces of one program have from each other; none of C is called so."""

OWN_NAME = f"{LINKED_PREFIX}kernel"
"""What a kernel is called until its text is known."""

Definition: TypeAlias = llvm.FuncOp | llvm.GlobalOp


@dataclass(frozen=True)
class CodeUnit:
    """What is compiled in one go."""

    text: str
    """Its LLVM IR."""

    symbol: str = ""
    """What a kernel is called there, by default a hash of the text; empty for what is public."""

    @property
    def only_calls(self) -> bool:
        """Whether all that there is in it is done once, in order: calls of kernels."""
        return not self.symbol and "\n  br " not in self.text


def code_units(
    module: ModuleOp,
    function_attributes: Mapping[str, str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> Sequence[CodeUnit]:
    """Return the pieces of a module, a kernel only once, before what calls it.

    `symbols` are what functions are called that it only declares. A module that cannot be taken
    apart is one piece. Raises GaweeError as `llvm_text` does.
    """
    definitions = _definitions(module) or {}
    units = _Units(definitions, function_attributes or {}, symbols or {})
    for group in _groups(definitions):
        units.add_entries(group)
    if not units.found:
        return (CodeUnit(llvm_text(module, function_attributes, symbols)),)
    return tuple(units.found.values())


def named_units(
    module: ModuleOp, function_attributes: Mapping[str, str] | None = None
) -> Sequence[CodeUnit]:
    """Return the same pieces with the names that the module has; a kernel has its own name too."""
    definitions = _definitions(module) or {}
    units = _Units(definitions, function_attributes or {}, {}, named=True)
    for group in _groups(definitions):
        units.add_entries(group)
    found = units.found.values()
    return tuple(found) if found else (CodeUnit(llvm_text(module, function_attributes)),)


def kernel_units(
    module: ModuleOp, name: str, function_attributes: Mapping[str, str] | None = None
) -> Sequence[CodeUnit]:
    """Return the pieces of a kernel, itself last, from a module that can be taken apart."""
    definitions = _definitions(module)
    assert definitions is not None
    units = _Units(definitions, function_attributes or {}, {})
    units.add_kernel(name)
    return tuple(units.found.values())


def _definitions(module: ModuleOp) -> Mapping[str, Definition] | None:
    """Return functions and globals by name; None where copies of them would not be the same."""
    found: dict[str, Definition] = {}
    for op in module.ops:
        if isinstance(op, llvm.GlobalOp):
            if op.constant is None or op.linkage.linkage.data != "private":
                return None
        elif not isinstance(op, llvm.FuncOp):
            return None
        found[op.sym_name.data] = op
    return found


def _is_public(op: Definition) -> bool:
    return (
        isinstance(op, llvm.FuncOp)
        and bool(op.body.blocks)
        and op.linkage.linkage.data == "external"
    )


def _is_declared(op: Definition) -> bool:
    return isinstance(op, llvm.FuncOp) and not op.body.blocks


def _is_kernel(op: Definition) -> bool:
    if not isinstance(op, llvm.FuncOp) or op.linkage.linkage.data != "internal":
        return False
    return passed_through(op) == NOT_INLINED.data


def _references(op: Definition) -> Iterable[str]:
    """Yield the names that a function uses."""
    for block in op.body.blocks if isinstance(op, llvm.FuncOp) else ():
        for inner in block.ops:
            if isinstance(inner, llvm.CallOp) and inner.callee is not None:
                yield inner.callee.root_reference.data
            elif isinstance(inner, llvm.AddressOfOp):
                yield inner.global_name.root_reference.data


def _groups(definitions: Mapping[str, Definition]) -> Iterable[Sequence[str]]:
    """Return the public functions, those together that call each other."""
    public = [name for name, op in definitions.items() if _is_public(op)]
    groups: dict[str, list[str]] = {name: [name] for name in public}
    for name in public:
        for other in _references(definitions[name]):
            own, theirs = groups[name], groups.get(other)
            if theirs is not None and theirs is not own:
                own += theirs
                groups |= dict.fromkeys(theirs, own)
    return {id(group): group for group in groups.values()}.values()


class _Units:
    """Collects pieces, those first that others call."""

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        attributes: Mapping[str, str],
        symbols: Mapping[str, str],
        *,
        named: bool = False,
    ):
        self.definitions, self.attributes, self.named = definitions, attributes, named
        self.found: dict[str, CodeUnit] = {}
        self._symbols = dict(symbols)
        """What kernels are called, by their names in the module."""
        self._begun: set[str] = set()

    def add_entries(self, names: Sequence[str]) -> None:
        """Add some public functions, which keep their names, and the kernels that they call."""
        self.found[names[0]] = CodeUnit(self._text({name: name for name in names}))

    def add_kernel(self, name: str) -> None:
        """Add a kernel, after those that it calls."""
        self._begun.add(name)
        if self.named:
            self.found[name] = CodeUnit(self._text({name: name}), name)
            self._symbols[name] = name
            return
        text = self._text({name: OWN_NAME})
        symbol = f"{LINKED_PREFIX}{sha256(text.encode()).hexdigest()}"
        self._symbols[name] = symbol
        self.found.setdefault(symbol, CodeUnit(text.replace(f"@{OWN_NAME}", f"@{symbol}"), symbol))

    def _is_elsewhere(self, name: str) -> bool:
        """Whether a function is in another piece than its callers; kernels are added to them.

        A kernel that calls itself by way of others has copies in their pieces.
        """
        op = self.definitions[name]
        if _is_kernel(op) and name not in self._begun:
            self.add_kernel(name)
        return name in self._symbols or _is_public(op) or _is_declared(op)

    def _text(self, roots: Mapping[str, str]) -> str:
        """Write functions, by the given names, with what belongs to them alone."""
        names = dict(roots)
        members: dict[str, Definition] = {}
        declared: dict[str, llvm.FuncOp] = {}
        pending = list(reversed(list(roots)))
        while pending:
            name = pending.pop()
            op = self.definitions[name]
            if name in members:
                continue
            if isinstance(op, llvm.FuncOp) and name not in roots and self._is_elsewhere(name):
                declared[name] = op
                continue
            members[name] = op
            names.setdefault(name, name if self.named else f"{LINKED_PREFIX}{len(names)}")
            pending += reversed(list(_references(op)))
        return definitions_text(
            members.values(),
            declared.values(),
            {**self._symbols, **names},
            roots,
            self.attributes,
            Names if self.named else NumberedNames,
        )
