"""Random graphs of all ops of the dialect: one generator an op, made to fit each other.

What an op needs is made of what is there: a value of its type, or the elements of another value in
the shape that is wanted.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from gawee_dialect.dialect.graph.arrangement import TileOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.gather import IndexedOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.graph.shape import ReshapeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.fuzz.random_ops.table import OPS
from gawee_dialect.fuzz.random_ops.values import FLOATS
from gawee_dialect.fuzz.random_pipeline import Depth, Stage, random_pipeline
from gawee_dialect.fuzz.trial import Trial
from gawee_dialect.hints import isa
from gawee_dialect.locations import file_location
from gawee_dialect.passes.insertion import Insertion

KINDS = [kind for kind in OPS if kind not in (GetAttrOp, GetItemOp)]
"""Ops that compute: no level has Python's values."""

COUNTS = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6)
"""How many ops are drawn for a graph: what is wrong with many ops is wrong with few."""

MOST_ELEMENTS = 2000
"""Of a value, so that a graph takes milliseconds."""

FEW_OUTPUTS = 4


def random_graph(draw: Draw, most_elements: int = MOST_ELEMENTS) -> ModuleOp:
    """Draw a module with one function `@main` of some ops, whose arguments are named."""
    graph = _Graph(draw, most_elements)
    for _ in range(draw.one_of(COUNTS)):
        graph.add(OPS[draw.one_of(KINDS)](draw))
    return graph.module()


class _Graph:
    """A function that grows."""

    def __init__(self, draw: Draw, most_elements: int) -> None:
        self._draw, self._most = draw, most_elements
        self._block = Block()
        self._values: list[SSAValue] = []

    def add(self, op: Operation) -> None:
        """Add an op, and what makes its operands; one that is large or of Python is left out."""
        types = [value.type for value in (*op.operands, *op.results)]
        if not all(isa(type, TensorType[Attribute]) and self._is_small(type) for type in types):
            return
        known: dict[SSAValue, SSAValue] = {}
        for index, operand in enumerate(op.operands):
            if operand not in known:
                positions = isinstance(op, IndexedOp) and index == 1
                known[operand] = self._source(operand.type, is_new=positions)
            op.operands[index] = known[operand]
        self._block.add_op(op)
        self._values += op.results

    def _is_small(self, type: TensorType[Attribute]) -> bool:
        return prod(type.get_shape()) <= self._most

    def _append(self, op: Operation) -> SSAValue:
        self._block.add_op(op)
        self._values += op.results
        return op.results[0]

    def _source(self, type: Attribute, *, is_new: bool) -> SSAValue:
        assert isa(type, TensorType[Attribute])
        if is_new or not self._values or self._draw.chance(0.25):
            return self._argument(type)
        same = [each for each in self._values if each.type == type]
        if same:
            return self._draw.one_of(same)
        fitting = [each for each in self._values if _can_become(each.type, type)]
        if not fitting:
            return self._argument(type)
        return self._shaped(self._draw.one_of(fitting), type)

    def _argument(self, type: TensorType[Attribute]) -> SSAValue:
        value = self._block.insert_arg(type, len(self._block.args))
        self._values.append(value)
        return value

    def _shaped(self, value: SSAValue, type: TensorType[Attribute]) -> SSAValue:
        """Put as many elements of a value as a type has into its shape, again and again."""
        count, there = prod(type.get_shape()), prod(tensor_shape(value))
        if _element(value.type) != type.element_type:
            value = self._append(CastOp(value, type.element_type))
        value = self._append(ReshapeOp(value, shape=[there]))
        if there < count:
            value = self._append(TileOp(value, repeats=[-(-count // there)]))
        if prod(tensor_shape(value)) > count:
            value = self._append(SliceOp(value, offsets=[0], sizes=[count], strides=[1]))
        return self._append(ReshapeOp(value, shape=list(type.get_shape())))

    def module(self) -> ModuleOp:
        """Return the module; values without uses are its outputs, the last few of them."""
        made = [value for op in self._block.ops for value in op.results]
        unused = [value for value in made if not any(True for _ in value.uses)]
        return marked_module(self._draw, self._block, unused[-FEW_OUTPUTS:])


def marked_module(draw: Draw, block: Block, outputs: Sequence[SSAValue]) -> ModuleOp:
    """Return a module of a block's ops, whose arguments are inputs or parameters, as is drawn."""
    for line, op in enumerate(block.ops, 1):  # by its place an op is known to a check
        op.location = file_location("random", line, 1)
    block.add_op(ReturnOp(*outputs))
    types = [each.type for each in block.args], [each.type for each in outputs]
    kinds = [draw.one_of(("input", "parameter")) for _ in block.args]
    marks = [_mark(f"gawee.{kind}", f"x{index}") for index, kind in enumerate(kinds)]
    results = [_mark("gawee.output", f"y{index}") for index, _ in enumerate(outputs)]
    function = FuncOp("main", FunctionType.from_lists(*types), Region(block))
    function.arg_attrs, function.res_attrs = ArrayAttr(marks), ArrayAttr(results)
    return ModuleOp([function])


def _mark(kind: str, name: str) -> DictionaryAttr:
    return DictionaryAttr({kind: StringAttr(name)})


def _element(type: Attribute) -> Attribute:
    assert isa(type, TensorType[Attribute])
    return type.element_type


def _can_become(have: Attribute, want: TensorType[Attribute]) -> bool:
    """Whether a value has elements, and they are what is wanted, or floats for floats."""
    assert isa(have, TensorType[Attribute])
    floats: Sequence[Attribute] = FLOATS
    same = have.element_type == want.element_type
    both = have.element_type in floats and want.element_type in floats
    return prod(have.get_shape()) > 0 and (same or both)


# What is drawn: graphs of the dialect, loops, what files add; each with a pipeline and data.


FEW_ELEMENTS = 120
"""Of a value where loops are interpreted, one scalar after another."""


@dataclass(frozen=True)
class Settings:
    """What is done to how many."""

    loops: float = 0.3
    native: float = 0.2
    """Shares that go on to loops, and to machine code."""
    proved: float = 0.1
    checked: float = 0.02
    """Shares of which every pass is proved, or checked by data."""
    passes: Sequence[ModulePass] = ()
    """The pipeline of all, in the place of random ones."""
    insertions: Sequence[Insertion] = ()
    """What goes into random pipelines."""
    oracles: Sequence[Oracle] = ()
    oracle_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """By an oracle's name, where it is not its own."""

    def asked(self, draw: Draw) -> Sequence[Oracle]:
        """Draw which oracles are asked."""
        shares = self.oracle_shares
        return [each for each in self.oracles if draw.chance(shares.get(each.name, each.share))]


class TrialGenerator(ABC):
    """Draws trials of one kind."""

    name: ClassVar[str]
    what: ClassVar[str]
    """What it draws, as it is said in counts."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Packages that are imported."""
    weight: ClassVar[int] = 1
    """How often it is chosen, beside the others."""

    @abstractmethod
    def trial(self, draw: Draw, settings: Settings) -> Trial:
        """Draw something to try."""


def depth_of(draw: Draw, settings: Settings) -> Depth:
    """Draw how far down a pipeline goes."""
    choice = draw.real(0, 1)
    if choice < settings.native:
        return Depth.NATIVE
    return Depth.LOOPS if choice < settings.native + settings.loops else Depth.TENSORS


def stages_of(draw: Draw, settings: Settings, depth: Depth) -> Sequence[Stage]:
    """Return the user's pipeline, or draw one."""
    if settings.passes:
        return (Stage("the passes", tuple(settings.passes)),)
    return random_pipeline(draw, depth, settings.insertions)


def trial_of(draw: Draw, settings: Settings, module: ModuleOp, stages: Sequence[Stage]) -> Trial:
    """Draw the data of a trial, and how carefully it is looked at."""
    return Trial(
        module,
        stages,
        data_seed=draw.integer(0, 1 << 20),
        whole=draw.chance(),
        proved=draw.chance(settings.proved),
        checked=draw.chance(settings.checked),
    )


class Graphs(TrialGenerator):
    """Graphs of all ops of the dialect."""

    name = "graphs"
    what = "graphs"
    weight = 16

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        module = random_graph(draw, FEW_ELEMENTS if depth is Depth.LOOPS else MOST_ELEMENTS)
        trial = trial_of(draw, settings, module, stages_of(draw, settings, depth))
        return replace(trial, oracles=settings.asked(draw))
