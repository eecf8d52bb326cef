"""Write a module of the llvm dialect as LLVM IR text.

Values keep their names, loops are named after their induction variable, and a comment says which
node of the graph the instructions after it come from. Text that is only compiled has none of that:
modules that differ in names alone have the same one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation

from gawee_dialect.backend.llvm_ops import (
    Instructions,
    ModuleParts,
    argument_text,
    global_text,
)
from gawee_dialect.backend.llvm_values import Names, NumberedNames, Unwritable, type_text
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.hints import isa
from gawee_dialect.locations import node_name


def llvm_text(
    module: ModuleOp,
    function_attributes: Mapping[str, str] | None = None,
    symbols: Mapping[str, str] | None = None,
) -> str:
    """Return the LLVM IR of a module at the llvm level.

    `function_attributes` are string attributes put on every function, as
    `{"prefer-vector-width": "512"}`; `symbols` are other names for functions and globals, by the
    names that they have. Raises GaweeError at the first op that has no LLVM IR.
    """
    return _text(module.ops, ModuleParts(symbols), function_attributes or {}, Names)


def definitions_text(
    ops: Iterable[Operation],
    declared: Iterable[llvm.FuncOp],
    symbols: Mapping[str, str],
    exported: Collection[str],
    function_attributes: Mapping[str, str] | None = None,
    names: Callable[[], Names] = NumberedNames,
) -> str:
    """Return the LLVM IR of some functions and globals, by default without names and comments.

    `declared` are functions that are defined elsewhere; `symbols` are other names for functions and
    globals, by the names that they have; functions that are `exported` are seen from elsewhere.
    Raises GaweeError as `llvm_text` does.
    """
    parts = ModuleParts(symbols, exported)
    for function in declared:
        name = parts.symbol(function.sym_name.data)
        parts.declarations[name] = _located(function, partial(_declaration, function, name))
    return _text(ops, parts, function_attributes or {}, names)


def _text(
    ops: Iterable[Operation],
    parts: ModuleParts,
    attributes: Mapping[str, str],
    names: Callable[[], Names],
) -> str:
    sections: list[str] = []
    for op in ops:
        match op:
            case llvm.FuncOp():
                sections.append(_FunctionWriter(op, parts, attributes, names()).text())
            case llvm.GlobalOp():
                sections.append(_located(op, lambda op=op: global_text(op, parts)))
            case _:
                raise _rejected(op, "no LLVM IR is known for it")
    sections += parts.declarations.values()
    sections += ["\n".join(parts.metadata)] if parts.metadata else []
    return "\n\n".join(sections) + "\n"


def _rejected(op: Operation, reason: object) -> GaweeError:
    return GaweeError(Diagnostic.at(op, f"cannot be written as LLVM IR: {reason}"))


def _located(op: Operation, write: Callable[[], str]) -> str:
    try:
        return write()
    except Unwritable as reason:
        raise _rejected(op, reason) from reason


def passed_through(function: llvm.FuncOp) -> Sequence[Attribute]:
    """Return the attributes that a function has for LLVM alone; xDSL reads them as any other."""
    given = function.passthrough or function.attributes.get("passthrough")
    return given.data if isa(given, ArrayAttr[Attribute]) else ()


def _string_attributes(function: llvm.FuncOp, extra: Mapping[str, str]) -> str:
    texts = [f'"{key}"="{value}"' for key, value in extra.items()]
    for entry in passed_through(function):
        if isinstance(entry, StringAttr):
            texts.append(entry.data)
        elif isa(entry, ArrayAttr[StringAttr]):
            texts.append("=".join(f'"{part.data}"' for part in entry))
    return "".join(f" {text}" for text in texts)


def _declaration(function: llvm.FuncOp, name: str) -> str:
    types = ", ".join(map(type_text, function.function_type.inputs))
    return f"declare {type_text(function.function_type.output)} @{name}({types})"


class _FunctionWriter:
    """Writes one function, block by block."""

    def __init__(
        self,
        function: llvm.FuncOp,
        parts: ModuleParts,
        attributes: Mapping[str, str],
        names: Names,
    ):
        self.function = function
        self.attributes = attributes
        self.names = names
        name = function.sym_name.data
        self.symbol = parts.symbol(name)
        self.linkage = "external" if name in parts.exported else function.linkage.linkage.data
        self.instructions = Instructions(self.names, parts)
        self.node: str | None = None
        self.incoming: dict[Block, list[tuple[Block, list[str]]]] = {}
        self.inlined: set[Operation] = set()
        """Ops that are written where their results are used."""

    def text(self) -> str:
        """Return the definition or declaration; raises GaweeError."""
        return _located(self.function, self._definition)

    def _definition(self) -> str:
        function = self.function
        if not function.body.blocks:
            return _declaration(function, self.symbol)
        result = type_text(function.function_type.output)
        linkage = "" if self.linkage == "external" else f"{self.linkage} "
        strings = _string_attributes(function, self.attributes)
        head = f"define {linkage}{result} @{self.symbol}({self._arguments()}){strings} {{"
        self.names.name_blocks(function.body)
        self._name_values()
        self.incoming = self._find_incoming()
        lines = [head]
        for block in function.body.blocks:
            lines += self._block(block)
        return "\n".join([*self._comment(function), *lines, "}"])

    def _arguments(self) -> str:
        given = self.function.arg_attrs
        texts: list[str] = []
        for index, argument in enumerate(self.function.body.blocks[0].args):
            attributes: Mapping[str, Attribute] = {} if given is None else given.data[index].data
            name = self.names.name_value(argument, f"arg{index}")
            texts.append(f"{type_text(argument.type)}{argument_text(attributes)} {name}")
        return ", ".join(texts)

    def _name_values(self) -> None:
        # Before any line is written: a phi names values of blocks that come later.
        for index, block in enumerate(self.function.body.blocks):
            for argument in block.args if index else ():
                self.names.name_value(argument, "phi")
            for op in block.ops:
                text = self._inlined(op)
                if text is not None:
                    self.inlined.add(op)
                    self.names.values[op.results[0]] = text
                elif op.results:
                    self.names.name_value(op.results[0], op.name.removeprefix("llvm."))

    def _inlined(self, op: Operation) -> str | None:
        try:
            return self.instructions.inline(op)
        except Unwritable as reason:
            raise _rejected(op, reason) from reason

    def _comment(self, op: Operation) -> list[str]:
        node = node_name(op.location) if self.names.readable else None
        if node is None or node == self.node:
            return []
        self.node = node
        return [f'; node "{node}"']

    def _block(self, block: Block) -> Iterable[str]:
        if block is not self.function.body.blocks[0]:
            yield ""
        yield f"{self.names.blocks[block]}:"
        yield from self._phis(block)
        for op in block.ops:
            if op in self.inlined:
                continue
            if self.names.readable:
                yield from (f"  {line}" for line in self._comment(op))
            if isinstance(op, llvm.CondBrOp) and op.then_block is op.else_block:
                yield from (f"  {line}" for line in self._merged_branch(op))
            else:
                yield f"  {self._line(op)}"

    def _line(self, op: Operation) -> str:
        try:
            text = self.instructions.text(op)
        except Unwritable as reason:
            raise _rejected(op, reason) from reason
        return f"{self.names.values[op.results[0]]} = {text}" if op.results else text

    def _merged_branch(self, op: llvm.CondBrOp) -> list[str]:
        # A phi may name a predecessor once, so the values are chosen before the branch.
        lines: list[str] = []
        pairs = zip(op.then_arguments, op.else_arguments, strict=True)
        for name, (then_value, else_value) in zip(self._merged_names(op), pairs, strict=True):
            typed = map(self.instructions.typed, (op.cond, then_value, else_value))
            lines.append(f"{name} = select {', '.join(typed)}")
        return [*lines, f"br label %{self.names.blocks[op.then_block]}"]

    def _merged_names(self, op: llvm.CondBrOp) -> list[str]:
        block = op.parent_block()
        assert block is not None
        # A name hint never starts with '-', so these are free.
        label = self.names.blocks[block]
        return [f"%-merged.{label}.{index}" for index in range(len(op.then_arguments))]

    def _phis(self, block: Block) -> Iterable[str]:
        if block is self.function.body.blocks[0]:
            return
        incoming = self.incoming.get(block, [])
        for index, argument in enumerate(block.args):
            entries = ", ".join(
                f"[ {values[index]}, %{self.names.blocks[origin]} ]" for origin, values in incoming
            )
            yield f"  {self.names.values[argument]} = phi {type_text(argument.type)} {entries}"

    def _find_incoming(self) -> dict[Block, list[tuple[Block, list[str]]]]:
        """Return each block's predecessors, with the values they hand to its arguments."""
        found: dict[Block, list[tuple[Block, list[str]]]] = {}

        def add(origin: Block, target: Block, values: list[str]) -> None:
            found.setdefault(target, []).append((origin, values))

        bare = self.instructions.bare
        for origin in self.function.body.blocks:
            match origin.last_op:
                case llvm.BrOp() as op:
                    add(origin, op.successor, [bare(value) for value in op.arguments])
                case llvm.CondBrOp() as op if op.then_block is op.else_block:
                    add(origin, op.then_block, self._merged_names(op))
                case llvm.CondBrOp() as op:
                    add(origin, op.then_block, [bare(value) for value in op.then_arguments])
                    add(origin, op.else_block, [bare(value) for value in op.else_arguments])
                case _:
                    pass
        return found
