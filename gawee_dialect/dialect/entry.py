"""The entry function: what its arguments and results are called, and which are parameters.

    func.func @main(%x: tensor<1x3x8x8xf32> {gawee.input = "x"},
                    %w: tensor<4x3x3x3xf32> {gawee.parameter = "conv.weight",
                                             gawee.path = "weights/conv_weight_0.bin"})
        -> (tensor<1x4x6x6xf32> {gawee.output = "conv"})

`gawee.constant` marks a graph constant too large to be written in the IR; `gawee.prepared` a value
that `@prepare` computes from the parameters once, by the index of its result. A result marked
`gawee.indices` is no output: it reports run-time indices (`index_check.py`). On buffers, where a
function returns nothing, the same marks say which arguments it writes: `gawee.output`,
`gawee.indices`; `gawee.updated` is what it may read before it writes it, and `gawee.workspace`
scratch memory. In the llvm dialect, where every buffer is a pointer, `gawee.type` keeps its type.

Where sizes are open, `gawee.sizes` of arguments and results say their forms (`analysis/open_sizes.py`).
On buffers, an argument of type index marked `gawee.size` is the number that a name stands for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation

from gawee_dialect.dialect.index_check import MARK, ROLE, IndexCheck
from gawee_dialect.hints import isa

SIZES = "gawee.sizes"
"""The attribute of an argument, or of a result, that says the forms of its sizes."""

SIZE = "gawee.size"
"""The attribute of a value that is the number of a name: of an argument, or of an op."""

MAIN = "main"
"""The function that a network runs; some files call it `forward`."""


def workspace_size_name(function: str) -> str:
    """Return the name of the function that says how many bytes of workspace another one needs.

    It is there where sizes are open, and takes their numbers in the order of the other's arguments.
    """
    return f"{function}_workspace_size"


PREPARE = "prepare"
"""The function that computes prepared values from parameters, once per load."""


def name_of_part(number: int) -> str:
    """Return what a function is called that does a part of `@prepare`: they run in this order."""
    return f"{PREPARE}.{number}"


class ArgumentKind(StrEnum):
    """What an entry argument is; the value is the attribute `gawee.<kind>` that says so."""

    INPUT = "input"
    PARAMETER = "parameter"
    CONSTANT = "constant"
    PREPARED = "prepared"
    OUTPUT = "output"
    UPDATED = "updated"
    INDICES = ROLE
    WORKSPACE = "workspace"
    SIZE = "size"


_KINDS = tuple((f"gawee.{kind}", kind) for kind in ArgumentKind)

WEIGHTS = (ArgumentKind.PARAMETER, ArgumentKind.CONSTANT)
"""The arguments whose data comes with the network, by name."""


@dataclass(frozen=True)
class EntryArgument:
    """One argument of the entry function: its position, kind, name, type and file, if any."""

    index: int
    kind: ArgumentKind
    name: str
    type: Attribute
    path: str | None = None
    is_marked: bool = True
    """Whether an attribute says what it is; what nothing marks is taken for an input."""
    check: IndexCheck | None = None
    """What the indices are about that the buffer gets."""
    sizes: Attribute | None = None
    """The forms of its sizes, where some are open."""

    def attributes(self) -> DictionaryAttr:
        """Return the argument attributes that say what this argument is."""
        if self.check is not None:
            return self.check.mark()
        return _marks(self.kind, self.name, self.path, self.sizes)


@lru_cache(maxsize=1 << 14)
def _marks(
    kind: ArgumentKind, name: str, path: str | None, sizes: Attribute | None
) -> DictionaryAttr:
    """Return the attributes of an argument; several passes write those of the same one."""
    mark = StringAttr(name) if kind is not ArgumentKind.WORKSPACE else UnitAttr()
    entries: dict[str, Attribute] = {f"gawee.{kind}": mark}
    if path is not None:
        entries["gawee.path"] = StringAttr(path)
    if sizes is not None:
        entries[SIZES] = sizes
    return DictionaryAttr(entries)


def find_function(module: ModuleOp, name: str = MAIN) -> FuncOp | None:
    """Return the function of a name at the module's top level, None where there is none."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    return next((function for function in functions if function.sym_name.data == name), None)


def is_public(function: FuncOp) -> bool:
    """Whether a function can be called from outside of the module."""
    visibility = function.sym_visibility
    return visibility is None or visibility.data == "public"


def find_entry(module: ModuleOp, name: str = MAIN) -> Operation | None:
    """Return the function of a name, be it of func or of the llvm dialect; None without one."""
    for op in module.ops:
        if op.name in ("func.func", "llvm.func") and op.properties["sym_name"] == StringAttr(name):
            return op
    return None


_NO_ATTRIBUTES = DictionaryAttr({})


def _attribute_of(attributes: ArrayAttr[DictionaryAttr] | None, index: int) -> DictionaryAttr:
    return _NO_ATTRIBUTES if attributes is None else attributes.data[index]


def entry_arguments(function: Operation) -> list[EntryArgument]:
    """Describe every argument of a function, of func or of the llvm dialect.

    One that nothing marks is an input named as in the text. A function without a body has none.
    """
    marks = function.properties.get("arg_attrs")
    attributes = marks if isa(marks, ArrayAttr[DictionaryAttr]) else None
    body = function.regions[0].first_block
    return [
        _described(index, value.name_hint, value.type, _attribute_of(attributes, index))
        for index, value in enumerate(() if body is None else body.args)
    ]


def append_argument(
    block: Block, type: Attribute, location: LocationAttr | None = None
) -> BlockArgument:
    """Append an argument to a block; xDSL's `insert_arg` visits all others each time."""
    index = len(block.args)
    new = BlockArgument(type, block, index, UNKNOWN_LOC if location is None else location)
    block._args = (*block.args, new)  # pyright: ignore[reportPrivateUsage]
    return new


def argument_kinds(function: FuncOp) -> list[ArgumentKind]:
    """Return what each argument of a function is, as `entry_arguments` says it."""
    marks = function.arg_attrs
    if marks is None:
        return [ArgumentKind.INPUT] * len(function.args)
    return [_kind_of(each) or ArgumentKind.INPUT for each in marks.data]


def _kind_of(marks: DictionaryAttr) -> ArgumentKind | None:
    attributes = marks.data
    for name, kind in _KINDS:
        if name in attributes:
            return kind
    return None


def _described(
    index: int, hint: str | None, type: Attribute, marks: DictionaryAttr
) -> EntryArgument:
    attributes = marks.data
    if not attributes:  # as of all that a kernel takes
        return EntryArgument(
            index, ArgumentKind.INPUT, hint or f"arg{index}", type, is_marked=False
        )
    path = attributes.get("gawee.path")
    kind = _kind_of(marks)
    name = hint or f"arg{index}"
    match attributes.get(f"gawee.{kind}"):
        case StringAttr(data=text):
            name = text
        case IntegerAttr() as number:
            name = str(number.value.data)
        case DictionaryAttr():
            name = ROLE
        case _:
            pass
    return EntryArgument(
        index,
        kind or ArgumentKind.INPUT,
        name,
        attributes.get("gawee.type", type),
        path.data if isinstance(path, StringAttr) else None,
        is_marked=kind is not None,
        check=IndexCheck.of(marks),
        sizes=attributes.get(SIZES),
    )


def output_names(function: FuncOp) -> list[str]:
    """Return the name of every result: its `gawee.output`, or `output<i>`.

    What `@prepare` returns goes by its number alone: so `gawee.prepared` names it.
    """
    names: list[str] = []
    prefix = "" if function.sym_name.data == PREPARE else "output"
    for index in range(len(function.function_type.outputs)):
        marker = _attribute_of(function.res_attrs, index).data.get("gawee.output")
        names.append(marker.data if isinstance(marker, StringAttr) else f"{prefix}{index}")
    return names


def result_attributes(function: FuncOp) -> list[DictionaryAttr]:
    """Return what marks every result: an output's name, or which indices it reports."""
    return [
        own if MARK in own.data else _mark_of_output(name, own)
        for name, own in (
            (name, _attribute_of(function.res_attrs, index))
            for index, name in enumerate(output_names(function))
        )
    ]


def _mark_of_output(name: str, own: DictionaryAttr) -> DictionaryAttr:
    entries: dict[str, Attribute] = {"gawee.output": StringAttr(name)}
    if SIZES in own.data:
        entries[SIZES] = own.data[SIZES]
    return DictionaryAttr(entries)


def output_attributes(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    """Return the result attributes that give results their names."""
    return ArrayAttr(DictionaryAttr({"gawee.output": StringAttr(name)}) for name in names)
