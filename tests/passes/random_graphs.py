"""Random small graphs: values read several times, shared weights, several outputs, slices, views.

A pass that decides which buffer may be overwritten, or where in the workspace it lies, is wrong first
on graphs such as these.
"""

from collections.abc import Callable

from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument, output_attributes
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.types import tensor_shape, tensor_type

Draw = st.DrawFn
CHANNELS, HEIGHT, WIDTH = 3, 5, 4


class GraphBuilder:
    """Grows a function of rank-4 values; a step picks among all values there are."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.block = Block()
        self.arguments: list[EntryArgument] = []
        self.values = [self.argument(ArgumentKind.INPUT, (2, CHANNELS, HEIGHT, WIDTH))]

    def argument(self, kind: ArgumentKind, shape: tuple[int, ...], suffix: str = "") -> SSAValue:
        type = TensorType(f32, shape)
        index = len(self.arguments)
        self.arguments.append(EntryArgument(index, kind, f"{kind}{index}{suffix}", type))
        return self.block.insert_arg(type, index)

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def pick(self, like: SSAValue | None = None) -> SSAValue:
        fitting = [v for v in self.values if like is None or v.type == like.type]
        return self.draw(st.sampled_from(fitting))

    def weight(self, *shape: int) -> SSAValue:
        """A parameter of a shape: one that is there already, or a new one."""
        there = [
            value
            for value, entry in zip(self.block.args, self.arguments, strict=True)
            if entry.kind is ArgumentKind.PARAMETER and tensor_shape(value) == shape
        ]
        if there and self.draw(st.booleans()):
            return self.draw(st.sampled_from(there))
        return self.argument(ArgumentKind.PARAMETER, shape)

    # Steps: each returns a new value, or the one it was given where it does not apply.

    def conv(self, x: SSAValue) -> SSAValue:
        channels = tensor_shape(x)[1]
        depthwise = self.draw(st.booleans())
        weight = self.weight(channels, 1 if depthwise else channels, 3, 3)
        bias = self.weight(channels) if self.draw(st.booleans()) else None
        groups = channels if depthwise else 1
        return self.add(ConvOp(x, weight, bias, padding=(1, 1, 1, 1), groups=groups))

    def conv_norm(self, x: SSAValue) -> SSAValue:
        channels = tensor_shape(x)[1]
        variance = self.argument(ArgumentKind.PARAMETER, (channels,), "_variance")
        scale, bias = self.weight(channels), self.weight(channels)
        return self.add(BatchNormOp(self.conv(x), self.weight(channels), variance, scale, bias))

    def binary(self, x: SSAValue) -> SSAValue:
        op = self.draw(st.sampled_from([AddOp, SubOp, MulOp]))
        return self.add(op(x, self.pick(like=x)))

    def pool(self, x: SSAValue) -> SSAValue:
        op = self.draw(st.sampled_from([MaxPoolOp, AvgPoolOp]))
        return self.add(op(x, kernel=(3, 3), strides=(1, 1), padding=(1, 1, 1, 1)))

    def cat(self, x: SSAValue) -> SSAValue:
        if tensor_shape(x)[1] > 8:
            return x
        return self.add(CatOp([x, self.pick(like=x)], dim=1))

    def resize(self, x: SSAValue) -> SSAValue:
        size = self.draw(st.sampled_from([(HEIGHT, WIDTH), (3, 7)]))
        return self.add(InterpolateOp(x, size=size))

    def adaptive(self, x: SSAValue) -> SSAValue:
        return self.add(AdAvgPoolOp(x, output_size=self.draw(st.sampled_from([(1, 1), (3, 2)]))))

    def view(self, x: SSAValue) -> SSAValue:
        flat = self.add(FlattenOp(x, start_dim=1))
        same = self.add(ReluOp(flat)) if self.draw(st.booleans()) else flat
        return self.add(ReshapeOp(same, shape=tensor_shape(x)))

    def unary(self, x: SSAValue) -> SSAValue:
        return self.add(self.draw(st.sampled_from([ReluOp, IdentityOp]))(x))

    def module(self, outputs: list[SSAValue]) -> ModuleOp:
        self.block.add_op(ReturnOp(*outputs))
        types = [v.type for v in self.block.args], [v.type for v in outputs]
        function = FuncOp(
            "main",
            types,
            Region(self.block),
            arg_attrs=ArrayAttr(entry.attributes() for entry in self.arguments),
            res_attrs=output_attributes([f"y{index}" for index in range(len(outputs))]),
        )
        return ModuleOp([function])


@st.composite
def graphs(draw: Draw) -> ModuleOp:
    """Draw a graph of 2 to 9 steps and 1 to 3 outputs, inputs and repeats among them."""
    graph = GraphBuilder(draw)
    steps: list[Callable[[SSAValue], SSAValue]] = [
        graph.conv,
        graph.conv_norm,
        graph.binary,
        graph.pool,
        graph.cat,
        graph.resize,
        graph.adaptive,
        graph.view,
        graph.unary,
    ]
    for _ in range(draw(st.integers(2, 9))):
        graph.values.append(draw(st.sampled_from(steps))(graph.pick()))
    outputs = [graph.values[-1], *(graph.pick() for _ in range(draw(st.integers(0, 2))))]
    assert all(tensor_type(value) for value in outputs)
    return graph.module(outputs)
