"""Ops of the llvm dialect as instructions of LLVM IR, one line each."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Protocol

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i1,
)
from xdsl.dialects.llvm import FastMathAttr, OverflowAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.backend.llvm_values import (
    Names,
    Unwritable,
    constant_text,
    initializer_text,
    type_suffix,
    type_text,
)
from gawee_dialect.hints import isa
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream import llvm_vector
from gawee_dialect.upstream.llvm import SETTINGS, LoopAnnotationAttr

# Ops of the llvm dialect on vectors as instructions of LLVM IR.


class Operands(Protocol):
    """How the function that is being written spells its values, and calls intrinsics."""

    def typed(self, value: SSAValue) -> str:
        """Return how an operand is spelt, with its type."""
        ...

    def call(
        self,
        op: Operation,
        name: str,
        arguments: Sequence[SSAValue],
        *,
        intrinsic: bool,
        notes: Sequence[str] = (),
    ) -> str:
        """Return a call; `notes` are attributes of the arguments, one text each."""
        ...


def vector_text(op: Operation, operands: Operands) -> str | None:
    """Return the instruction of an op on vectors, None for any other op."""
    match op:
        case llvm.InsertElementOp():
            return "insertelement " + ", ".join(map(operands.typed, op.operands))
        case llvm_vector.ExtractElementOp():
            return "extractelement " + ", ".join(map(operands.typed, op.operands))
        case llvm.ShuffleVectorOp():
            return _shuffle(op, operands)
        case llvm_vector.MaskedLoadOp():
            name = f"llvm.masked.load.{type_suffix(op.res.type)}.p0"
            notes = (_aligned(op.alignment), "", "")
            return operands.call(op, name, op.operands, intrinsic=True, notes=notes)
        case llvm_vector.MaskedStoreOp():
            name = f"llvm.masked.store.{type_suffix(op.value.type)}.p0"
            notes = ("", _aligned(op.alignment), "")
            return operands.call(op, name, op.operands, intrinsic=True, notes=notes)
        case _:
            return None


def _shuffle(op: llvm.ShuffleVectorOp, operands: Operands) -> str:
    assert isa(op.mask, DenseArrayBase[IntegerType])
    lanes = op.mask.get_values()
    mask = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes)
    vectors = f"{operands.typed(op.v1)}, {operands.typed(op.v2)}"
    return f"shufflevector {vectors}, <{len(lanes)} x i32> <{mask}>"


def _aligned(alignment: Attribute) -> str:
    return f"align {alignment.value.data}" if isa(alignment, IntegerAttr) else ""


BINARY = (
    *(llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.SDivOp, llvm.UDivOp, llvm.SRemOp, llvm.URemOp),
    *(llvm.AndOp, llvm.OrOp, llvm.XOrOp, llvm.ShlOp, llvm.LShrOp, llvm.AShrOp),
    *(llvm.FAddOp, llvm.FSubOp, llvm.FMulOp, llvm.FDivOp, llvm.FRemOp),
)
"""Ops written `add nsw i64 %a, %b`; the instruction is named as the op."""

CASTS = (
    *(llvm.TruncOp, llvm.ZExtOp, llvm.SExtOp, llvm.FPExtOp, llvm.FPTruncOp, llvm.BitcastOp),
    *(llvm.SIToFPOp, ours.UIToFPOp, ours.FPToSIOp, ours.FPToUIOp),
    *(llvm.PtrToIntOp, llvm.IntToPtrOp),
)
"""Ops written `sext i32 %a to i64`."""

INTRINSICS = (
    *(llvm.FAbsOp, llvm.FCeilOp, llvm.FCopySignOp, llvm.FCosOp, llvm.FExpOp, llvm.FExp2Op),
    *(llvm.FFloorOp, llvm.FLogOp, llvm.FLog2Op, llvm.FMAOp, llvm.FPowOp, llvm.FSinOp),
    *(llvm.FSqrtOp, llvm.VectorFMaxOp, llvm.VectorFMinOp),
    *(ours.FloatUnaryIntrinsic, ours.FloatBinaryIntrinsic, ours.IntegerBinaryIntrinsic),
    *(llvm.VectorReduceFAddOp, llvm.VectorReduceFMulOp),
    *(llvm_vector.FloatReduction, llvm_vector.IntegerReduction),
)
"""Calls of an intrinsic named as the op, with the type of its last operand as suffix."""


INLINED = (llvm.ConstantOp, llvm.AddressOfOp, llvm.UndefOp, llvm.ZeroOp)
"""Ops that are written where their results are used."""

BRANCHES = (llvm.BrOp, llvm.CondBrOp)

MEMORY = (llvm.GEPOp, llvm.LoadOp, llvm.StoreOp, llvm.AllocaOp)
"""What finds, reads and writes memory."""

FAMILIES = (INLINED, BINARY, CASTS, INTRINSICS, BRANCHES, MEMORY)


@cache
def _family(kind: type[Operation]) -> Collection[type[Operation]]:
    """Return the family that a class of ops is of, found once: `issubclass` is slow."""
    return next((each for each in FAMILIES if issubclass(kind, each)), ())


class ModuleParts:
    """What instructions need beside their function: intrinsics and metadata, collected."""

    def __init__(
        self, symbols: Mapping[str, str] | None = None, exported: Collection[str] = ()
    ) -> None:
        """Begin a module; `symbols` are other names for functions and globals.

        Those functions that are `exported`, by the names that they have, are so whatever they say.
        """
        self.declarations: dict[str, str] = {}
        self.metadata: list[str] = []
        self.exported = exported
        self._symbols = symbols or {}

    def symbol(self, name: str) -> str:
        """Return what a function or a global is called in the text."""
        return self._symbols.get(name, name)

    def declare(self, name: str, result: str, arguments: Sequence[str]) -> None:
        """Declare an intrinsic once."""
        self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"

    def node(self, text: str) -> str:
        """Add a metadata node; return its number."""
        self.metadata.append(f"!{len(self.metadata)} = {text}")
        return f"!{len(self.metadata) - 1}"


@cache
def _overflow_flags(number: int) -> Sequence[str]:
    return [flag.value for flag in sorted(OverflowAttr.from_int(number).data)]


def flags_text(op: Operation) -> str:
    """Return the flags of an instruction, each followed by a space."""
    flags: list[str] = []
    for name, value in op.properties.items():
        if name == "overflowFlags" and isa(value, IntegerAttr):
            flags += _overflow_flags(value.value.data)
        elif isinstance(value, FastMathAttr):
            names = [flag.value for flag in sorted(value.data)]
            flags += ["fast"] if len(names) == len(FastMathFlag) else names
        elif isinstance(value, OverflowAttr):
            flags += [flag.value for flag in sorted(value.data)]
        elif name in ("isExact", "isDisjoint", "nonNeg") and isinstance(value, UnitAttr):
            flags.append({"isExact": "exact", "isDisjoint": "disjoint", "nonNeg": "nneg"}[name])
    return "".join(f"{flag} " for flag in flags)


class Instructions:
    """Writes the instructions of one function."""

    def __init__(self, names: Names, parts: ModuleParts):
        self.names = names
        self.parts = parts
        self._types: dict[int, str] = {}

    def bare(self, value: SSAValue) -> str:
        """Return how an operand is spelt, without its type."""
        return self.names.values[value]

    def typed(self, value: SSAValue) -> str:
        """Return how an operand is spelt, with its type."""
        identity = id(value.type)  # the function keeps it alive
        text = self._types.get(identity)
        if text is None:
            text = self._types[identity] = type_text(value.type)
        return f"{text} {self.names.values[value]}"

    def inline(self, op: Operation) -> str | None:
        """Return the text of an op that is written where it is used, None for others."""
        if _family(type(op)) is not INLINED:
            return None
        match op:
            case llvm.ConstantOp():
                return constant_text(op.value, op.result.type)
            case llvm.AddressOfOp():
                return f"@{self.parts.symbol(op.global_name.root_reference.data)}"
            case llvm.UndefOp():
                return "undef"
            case llvm.ZeroOp():
                return (
                    "null" if isinstance(op.res.type, llvm.LLVMPointerType) else ("zeroinitializer")
                )
            case _:
                return None

    def text(self, op: Operation) -> str:
        """Return an instruction, without the name of its result; raises Unwritable."""
        mnemonic, family = op.name.removeprefix("llvm."), _family(type(op))
        if family is BINARY:
            first, second = op.operands
            return f"{mnemonic} {flags_text(op)}{self.typed(first)}, {self.bare(second)}"
        if family is CASTS:
            result = type_text(op.results[0].type)
            return f"{mnemonic} {flags_text(op)}{self.typed(op.operands[0])} to {result}"
        if family is INTRINSICS:
            name = f"llvm.{mnemonic.removeprefix('intr.')}.{type_suffix(op.operands[-1].type)}"
            return self.call(op, name, op.operands, intrinsic=True)
        if family is BRANCHES:
            return self._branch(op)
        if family is MEMORY:
            return self._memory(op)
        return self._choice(op) or vector_text(op, self) or self._last(op)

    def _choice(self, op: Operation) -> str | None:
        match op:
            case llvm.FNegOp():
                return f"fneg {flags_text(op)}{self.typed(op.arg)}"
            case llvm.ICmpOp():
                predicate = llvm.ICmpPredicateFlag.from_int(op.predicate.value.data).value
                return f"icmp {predicate} {self.typed(op.lhs)}, {self.bare(op.rhs)}"
            case llvm.FCmpOp() | llvm_vector.FCmpOp():
                predicate = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data).value
                predicate = predicate.removeprefix("_")
                return f"fcmp {flags_text(op)}{predicate} {self.typed(op.lhs)}, {self.bare(op.rhs)}"
            case llvm.SelectOp() | llvm_vector.SelectOp():
                return f"select {flags_text(op)}" + ", ".join(map(self.typed, op.operands))
            case _:
                return None

    def _memory(self, op: Operation) -> str:
        # By position: an op's own names for its operands take longer than all else here.
        operands = list(map(self.typed, op.operands))
        match op:
            case llvm.GEPOp():
                inbounds = "inbounds " if op.inbounds is not None else ""
                pointer, *dynamic = operands
                indices = "".join(f", {index}" for index in _indices(op, dynamic))
                return f"getelementptr {inbounds}{type_text(op.elem_type)}, {pointer}{indices}"
            case llvm.LoadOp():
                type = type_text(op.results[0].type)
                kind, order = _ordering(op)
                return f"load {kind}{type}, {operands[0]}{order}{_alignment(op.alignment)}"
            case llvm.StoreOp():
                kind, order = _ordering(op)
                kind += "volatile " if op.volatile_ is not None else ""
                return f"store {kind}{', '.join(operands)}{order}{_alignment(op.alignment)}"
            case _:
                assert isinstance(op, llvm.AllocaOp)
                count = "" if operands[0].endswith(" 1") else f", {operands[0]}"
                return f"alloca {type_text(op.elem_type)}{count}{_alignment(op.alignment)}"

    def call(
        self,
        op: Operation,
        name: str,
        arguments: Sequence[SSAValue],
        *,
        intrinsic: bool,
        extra: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> str:
        """Return a call of a function by name; an intrinsic is declared too.

        `extra` are arguments that are no values, `notes` attributes of the values, one text each.
        """
        result = type_text(op.results[0].type) if op.results else "void"
        operands = [*map(self.typed, arguments), *extra]
        for index, note in enumerate(notes):
            type, _, value = operands[index].partition(" ")
            operands[index] = f"{type} {note} {value}" if note else operands[index]
        if intrinsic:
            types = [type_text(argument.type) for argument in arguments]
            types += [each.rpartition(" ")[0] for each in extra]
            self.parts.declare(name, result, types)
        return f"call {flags_text(op)}{result} @{name}({', '.join(operands)})"

    def _last(self, op: Operation) -> str:
        match op:
            case llvm.ReturnOp():
                return f"ret {', '.join(map(self.typed, op.operands)) or 'void'}"
            case llvm.UnreachableOp():
                return "unreachable"
            case _:
                return self._call(op)

    def _call(self, op: Operation) -> str:
        match op:
            case llvm.CallOp():
                if op.callee is None or op.var_callee_type is not None:
                    raise Unwritable("unsupported call of a pointer or a variadic function")
                callee = self.parts.symbol(op.callee.root_reference.data)
                return self.call(op, callee, op.args, intrinsic=False)
            case llvm.CallIntrinsicOp():
                notes = _argument_notes(op)
                return self.call(op, op.intrin.data, op.args, intrinsic=True, notes=notes)
            case ours.MemcpyOp():
                name = f"llvm.memcpy.p0.p0.{type_suffix(op.len.type)}"
                volatile = constant_text(op.isVolatile, i1)
                return self.call(op, name, op.operands, intrinsic=True, extra=(f"i1 {volatile}",))
            case ours.PrefetchOp():
                numbers = (f"i32 {each.value.data}" for each in (op.rw, op.hint, op.cache))
                name, extra = "llvm.prefetch.p0", tuple(numbers)
                return self.call(op, name, op.operands, intrinsic=True, extra=extra)
            case _:
                raise Unwritable("no instruction is known for it")

    def _branch(self, op: Operation) -> str:
        if isinstance(op, llvm.CondBrOp):
            condition = self.typed(op.cond)
            labels = f"label {self._label(op.then_block)}, label {self._label(op.else_block)}"
            return f"br {condition}, {labels}{self._loop(op)}"
        assert isinstance(op, llvm.BrOp)
        return f"br label {self._label(op.successor)}{self._loop(op)}"

    def _label(self, block: Block) -> str:
        return f"%{self.names.blocks[block]}"

    def _loop(self, op: Operation) -> str:
        annotation = op.attributes.get("loop_annotation")
        if not isinstance(annotation, LoopAnnotationAttr):
            return ""
        entries = [
            self.parts.node(_loop_property(group, key, value))
            for group, key, value in annotation.settings()
        ]
        own = f"!{len(self.parts.metadata)}"  # a loop is identified by a node naming itself
        self.parts.node(f"distinct !{{{', '.join([own, *entries])}}}")
        return f", !llvm.loop {own}"


def _indices(op: llvm.GEPOp, dynamic: Sequence[str]) -> list[str]:
    """Return the indices of a pointer to an element; those that are values are given as text."""
    values = iter(dynamic)
    return [
        next(values) if index == llvm.GEP_USE_SSA_VAL else f"i32 {index}"
        for index in op.rawConstantIndices.iter_values()
    ]


def _loop_property(group: str, key: str, value: int) -> str:
    name = SETTINGS[group][key]
    if name.endswith(".enable"):
        return f'!{{!"{name}", i1 {"false" if value else "true"}}}'
    if name.endswith((".width", ".count")):
        return f'!{{!"{name}", i32 {value}}}'
    return f'!{{!"{name}"}}'


def _ordering(op: llvm.LoadOp | llvm.StoreOp) -> tuple[str, str]:
    """Return what LLVM writes before and behind the operands of an atomic access."""
    number = 0 if op.ordering is None else op.ordering.value.data
    if number == 0:
        return "", ""
    if op.alignment is None:
        raise Unwritable("expected an alignment, which an atomic access needs")
    return "atomic ", f" {llvm.ATOMIC_ORDERING_KEYWORDS[number]}"


def _alignment(value: Attribute | None) -> str:
    return f", align {value.value.data}" if isa(value, IntegerAttr) else ""


def global_text(op: llvm.GlobalOp, parts: ModuleParts) -> str:
    """Return the definition of a global; raises Unwritable."""
    kind = "constant" if op.constant is not None else "global"
    linkage = op.linkage.linkage.data
    name = parts.symbol(op.sym_name.data)
    if op.value is None:
        return f"@{name} = external {kind} {type_text(op.global_type)}{_alignment(op.alignment)}"
    linkage = "" if linkage == "external" else f"{linkage} "
    value = initializer_text(op.value, op.global_type)
    return f"@{name} = {linkage}{kind} {value}{_alignment(op.alignment)}"


ARGUMENT_ATTRIBUTES: Mapping[str, str] = {
    "llvm.noalias": "noalias",
    "llvm.nonnull": "nonnull",
    "llvm.readonly": "readonly",
    "llvm.readnone": "readnone",
    "llvm.noundef": "noundef",
    "llvm.nocapture": "captures(none)",
    "llvm.align": "align {}",
    "llvm.dereferenceable": "dereferenceable({})",
}
"""Argument attributes of LLVM; others, as `gawee.input`, are ours and are not written."""


def _argument_notes(op: llvm.CallIntrinsicOp) -> Sequence[str]:
    """Return the attributes of an intrinsic's arguments, which xDSL's op does not define."""
    given = op.attributes.get("arg_attrs")
    if not isa(given, ArrayAttr[DictionaryAttr]):
        return ()
    return [argument_text(each.data).strip() for each in given]


def argument_text(attributes: Mapping[str, Attribute]) -> str:
    """Return the attributes of an argument, each after a space."""
    texts: list[str] = []
    for name, value in attributes.items():
        if name in ARGUMENT_ATTRIBUTES:
            number = value.value.data if isa(value, IntegerAttr) else ""
            texts.append(ARGUMENT_ATTRIBUTES[name].format(number))
    return "".join(f" {text}" for text in texts)
