"""Static quantization: a graph whose layers read integers, as ONNX's QDQ form has them.

    x -> quantize -> dequantize -> conv(., dequantize(weight), dequantize(bias)) -> relu -> ...

A tensor that is quantized has one pair of ops behind it, and all that reads it reads what they
make. `sink-dequantize` makes layers of integers of that, as of any QDQ file.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType, f32, i8
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.analysis.effects import values_read
from gawee_dialect.analysis.work import flops_rule
from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.entry import ArgumentKind, entry_arguments, output_names
from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, ReluOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type, ui8
from gawee_dialect.frontends.onnx.ops.quantization import dequantize_linear, quantize_linear
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction, dtype_element
from gawee_dialect.identifiers import take_name
from gawee_dialect.interpreter import run_module
from gawee_dialect.levels import Level, level_of
from gawee_dialect.locations import node_name
from gawee_dialect.parameters.given_inputs import Inputs, WantedInput
from gawee_dialect.parameters.store import Array
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.fold_batch_norm import FoldBatchNorm
from gawee_dialect.passes.graph.fold_conv_add import FoldConvAdd
from gawee_dialect.passes.graph.inline import Inline
from gawee_dialect.passes.pass_manager import run_pipeline
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.quantization.calibration import (
    OBSERVERS,
    Observer,
    Range,
    Watch,
    observe,
    sample_inputs,
)
from gawee_dialect.universe import make_context

if TYPE_CHECKING:
    from gawee_dialect.model import Model

Activations: TypeAlias = Literal["unsigned", "signed"]
ACTIVATIONS: Sequence[str] = get_args(Activations)

LAYERS = (ConvOp, MatMulOp, BatchMatMulOp)
"""Ops that multiply by weights: those are quantized by output channel."""
FOLLOWS = (AddOp, CatOp)
"""Ops whose operands and results are quantized where one of the operands is already."""
KEEPS = (MaxPoolOp, AvgPoolOp, AdAvgPoolOp, ReshapeOp, FlattenOp, TransposeOp, SliceOp)
"""Ops whose result has the scale of their operand, but for means of whole images."""
MOST = 127
"""Of a weight: -128 is not used, so that scales are symmetric."""


@dataclass(frozen=True)
class Layer:
    """An op that multiplies by weights, and what it is called."""

    name: str
    op: Operation

    @property
    def weight(self) -> SSAValue:
        return self.op.operands[1]

    @property
    def bias(self) -> SSAValue | None:
        return self.op.operands[2] if len(self.op.operands) > 2 else None

    @property
    def axis(self) -> int:
        """The axis of the weight's output channels."""
        if not isinstance(self.op, BatchMatMulOp):
            return 0
        return len(tensor_shape(self.weight)) - (1 if self.op.transpose_b is None else 2)


def least_of(element: Attribute) -> int:
    """Return the least integer of 8 bits, with a sign or without."""
    return -128 if element == i8 else 0


@dataclass(frozen=True)
class Scale:
    """How numbers of a tensor become integers: round(x / scale) + zero point, clipped."""

    scale: np.float32
    zero_point: int
    element: Attribute

    @staticmethod
    def of(range: Range, element: Attribute) -> "Scale":
        """Return what has a range, of which zero is an integer."""
        low, high = min(range[0], 0.0), max(range[1], 0.0)
        least = least_of(element)
        scale = (high - low) / 255
        if scale < np.finfo(np.float32).tiny:
            return Scale(np.float32(1), 0, element)
        return Scale(np.float32(scale), round(least - low / scale), element)

    def is_inside(self, op: Operation) -> bool:
        """Whether all numbers that the integers stand for are as they were behind a clip."""
        least = least_of(self.element)
        step = float(self.scale)
        low, high = ((end - self.zero_point) * step for end in (least, least + 255))
        if isinstance(op, ReluOp):
            return low >= 0
        if not isinstance(op, ClipOp):
            return False
        above = op.max is None or high <= op.max.value.data * (1 + 1e-6)
        return above and (op.min is None or low >= op.min.value.data)


class Quantizer:
    """A network with folded weights, and what its tensors hold on data."""

    def __init__(
        self,
        model: "Model",
        data: Inputs,
        *,
        observer: Observer = "minmax",
        activations: Activations = "unsigned",
        origin: str = "",
    ) -> None:
        """Run the network on data; raises GaweeError as `Model.quantize` does."""
        _require_graph(model)
        _require_choice("observer", observer, OBSERVERS)
        _require_choice("activations", activations, ACTIVATIONS)
        self.model = replace(model, module=model.module.clone())
        passes = (CanonicalizePass(), FoldBatchNorm(), FoldConvAdd(), Inline(), CanonicalizePass())
        run_pipeline(make_context(), self.model.module, passes)
        self.element: Attribute = ui8 if activations == "unsigned" else i8
        self.samples = sample_inputs(WantedInput.of(model.arguments), data, origin)
        function = self.model.function
        self._early = ParameterAnalysis()
        self.ops = [
            op
            for op in function.body.block.ops
            if not all(map(self._early.is_known_early, op.results)) or not op.results
        ]
        """The ops that depend on inputs, the return included."""
        self.layers = self._named_layers()
        if not self.layers:
            raise GaweeError("expected a layer with weights of float32 to quantize, got none")
        self.nodes = self._nodes()
        self.arrays = self._early_arrays(function)
        wanted = {
            value
            for op in self.nodes.values()
            for value in (*op.operands, *op.results, behind(op))
            if not self._early.is_known_early(value)
        }
        inputs = {
            each.name: function.body.block.args[each.index]
            for each in entry_arguments(function)
            if each.kind is ArgumentKind.INPUT
        }
        self._ranges = observe(self._run, self.samples, inputs, wanted, observer)

    def _run(self, sample: Mapping[str, Array], watch: Interpreter.Listener) -> None:
        run_module(self.model.module, {**self.model.bound, **sample}, listeners=[watch])

    def _early_arrays(self, function: FuncOp) -> Mapping[SSAValue, Array]:
        """Return the arrays that ops which depend on inputs read of what depends on none."""
        read = {value for op in self.ops for value in values_read(op)}
        read = {value for value in read if self._early.is_known_early(value)}
        arrays: dict[SSAValue, Array] = {}
        self._run(self.samples[0], Watch(read, arrays.__setitem__))
        for each in entry_arguments(function):
            value = function.body.block.args[each.index]
            if value in read:
                arrays[value] = np.asarray(self.model.bound[each.name])
        return arrays

    def _named_layers(self) -> Sequence[Layer]:
        taken: set[str] = set()
        return [
            Layer(take_name(_name(op), taken), op)
            for op in self.ops
            if isinstance(op, LAYERS)
            and element_type(op.results[0]) == f32
            and self._early.is_known_early(op.operands[1])
            and (len(op.operands) < 3 or self._early.is_known_early(op.operands[2]))
            and (not isinstance(op, BatchMatMulOp) or len(tensor_shape(op.b)) == 2)
        ]

    def _nodes(self) -> Mapping[str, Operation]:
        """Return the ops that are quantized, by name."""
        found = {each.name: each.op for each in self.layers}
        taken = set(found)
        for op in self.ops:
            if isinstance(op, (*FOLLOWS, *KEEPS)) and element_type(op.results[0]) == f32:
                found[take_name(_name(op), taken)] = op
        return found

    def all_but(self, excluded: Iterable[str]) -> set[Operation]:
        """Return the ops to quantize; raises GaweeError for a name that no node has."""
        for name in excluded:
            if name not in self.nodes:
                hint = did_you_mean(name, [*self.nodes], f"nodes: {', '.join(self.nodes)}")
                raise GaweeError(Diagnostic(f"unknown node '{name}' to exclude", hint=hint))
        return {op for name, op in self.nodes.items() if name not in set(excluded)}

    def integer_part(self, chosen: Collection[Operation]) -> float:
        """Return which part of all products of convolutions and matrices is of integers."""
        every = sum(products(op) for op in self.ops if isinstance(op, LAYERS))
        whole = sum(products(each.op) for each in self.layers if each.op in chosen)
        return whole / every if every else 0.0

    def scales(self, chosen: Collection[Operation]) -> Mapping[SSAValue, Scale]:
        """Return the tensors to quantize for some ops, and how."""
        sources: dict[SSAValue, SSAValue] = {}
        layers = {each.op for each in self.layers}
        for op in self.ops:
            if op not in chosen:
                continue
            read: Sequence[SSAValue] = op.operands
            if op in layers:
                read = read[:1]
            elif isinstance(op, KEEPS) and not _is_mean_of_image(op):
                if op.operands[0] in sources:
                    sources.setdefault(op.results[0], sources[op.operands[0]])
                continue
            elif any(map(self._early.is_known_early, read)) or not sources.keys() & set(read):
                continue
            for value in (*read, behind(op)):
                sources.setdefault(value, value)
        return {
            value: Scale.of(self._ranges[source], self.element) for value, source in sources.items()
        }

    def quantized(self, chosen: Collection[Operation]) -> "Model":
        """Return the network in which some ops read and make integers."""
        return Rewriter(self, chosen).model()


def _require_graph(model: "Model") -> None:
    if level_of(model.module) is not Level.GAWEE:
        raise GaweeError(f"expected a graph to quantize, got level '{level_of(model.module)}'")
    if model.sizes:
        hint = f"model.specialized gives numbers to {', '.join(model.sizes)}; --shape does"
        raise GaweeError(Diagnostic("expected sizes that are numbers to quantize", hint=hint))


def _require_choice(what: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        raise GaweeError(f"unsupported {what} '{given}'; supported: {', '.join(choices)}")


def _name(op: Operation) -> str:
    return node_name(op.location) or op.results[0].name_hint or op.name.removeprefix("gawee.")


def products(op: Operation) -> int:
    """Return how many products a layer adds up: half of its FLOPs."""
    count = flops_rule(type(op))
    assert count is not None
    return count(op) // 2


def _is_mean_of_image(op: Operation) -> bool:
    return isinstance(op, AdAvgPoolOp) and all(each == 1 for each in op.output_size.get_values())


def behind(op: Operation) -> SSAValue:
    """Return the result of an op, or of the clip that alone reads it."""
    result = op.results[0]
    users = [use.operation for use in result.uses]
    clipped = len(users) == 1 and isinstance(users[0], ReluOp | ClipOp)
    return users[0].results[0] if clipped else result


def weight_scales(
    weight: NDArray[np.float32], axis: int, bias: Array | None, input: np.float32
) -> NDArray[np.float32]:
    """Return the scale of each output channel; a bias has room in 32 bits at its scale too."""
    others = tuple(each for each in range(weight.ndim) if each != axis)
    scales = np.abs(weight.astype(np.float64)).max(axis=others) / MOST
    if bias is not None:
        scales = np.maximum(scales, np.abs(bias.astype(np.float64)) / float(input) / (2**31 - 1024))
    return np.where(scales < np.finfo(np.float32).tiny, 1, scales).astype(np.float32)


class Rewriter:
    """Writes the function again, with integers between the ops that were chosen."""

    def __init__(self, quantizer: Quantizer, chosen: Collection[Operation]) -> None:
        self.quantizer = quantizer
        self.layers = {each.op: each for each in quantizer.layers if each.op in chosen}
        self.scales = quantizer.scales(chosen)
        self.made = EntryFunction()
        self.values: dict[SSAValue, SSAValue] = {}
        """What each value of the folded graph has become."""
        self.names: dict[SSAValue, str] = {}
        self.parameters: dict[str, Array] = {}
        self.taken: set[str] = set()

    def model(self) -> "Model":
        """Return the new network."""
        function = self.quantizer.model.function
        for each in entry_arguments(function):
            value = function.body.block.args[each.index]
            self.names[value] = each.name
            if each.kind is ArgumentKind.INPUT:
                self.taken.add(each.name)
                self.values[value] = self.made.add_argument(
                    each.kind, each.name, tensor_type(value)
                )
        for value in list(self.values):
            self._quantize(value)
        outputs: Sequence[SSAValue] = ()
        for op in self.quantizer.ops:
            if isinstance(op, ReturnOp):
                outputs = [self._value(each) for each in op.operands]
            else:
                self._add(op)
        module = self.made.located_module(outputs, output_names(function), function.location)
        module.verify()
        return replace(self.quantizer.model, module=module, parameters=self.parameters)

    def _add(self, op: Operation) -> None:
        scale = self.scales.get(op.results[0]) if op.results else None
        if scale is not None and scale.is_inside(op):  # rounding to the range is the clip
            self.values[op.results[0]] = self._value(op.operands[0])
        else:
            self._copy(op)
        for value in op.results:
            self._quantize(value)

    def _copy(self, op: Operation) -> None:
        emit = self.made.emit
        emit.location = op.location
        layer = self.layers.get(op)
        weights: Sequence[SSAValue] = () if layer is None else self._weights(layer)
        kept = op.operands[: len(op.operands) - len(weights)]
        for value in kept if weights else values_read(op):
            self._value(value)
        clone = op.clone(self.values)
        for index, value in enumerate(weights, len(kept)):
            clone.operands[index] = value
        emit.all(clone)

    def _value(self, value: SSAValue) -> SSAValue:
        """Return what a value has become: a new parameter for one that depends on no input."""
        if value in self.values:
            return self.values[value]
        if isinstance(value.owner, ConstantOp):
            made = self.made.emit(value.owner.clone())
        else:
            name = self.names.get(value, value.name_hint or "weight")
            made = self._parameter(name, self.quantizer.arrays[value])
        self.values[value] = made
        return made

    def _parameter(self, name: str, array: Array) -> SSAValue:
        name = take_name(name, self.taken)
        self.parameters[name] = array
        type = TensorType(dtype_element(array.dtype.name), array.shape)
        return self.made.add_argument(ArgumentKind.PARAMETER, name, type)

    def _quantize(self, value: SSAValue) -> None:
        """Put integers behind a value, where it is to be quantized."""
        found = self.scales.get(value)
        if found is None:
            return
        emit = self.made.emit
        scale = emit.number(float(found.scale), f32)
        zero_point = emit.number(found.zero_point, found.element)
        integers = quantize_linear(emit, self.values[value], scale, zero_point)
        real = dequantize_linear(emit, integers, scale, zero_point)
        if value.name_hint is not None:
            integers.name_hint = f"{value.name_hint}_quantized"
            real.name_hint = f"{value.name_hint}_dequantized"
        self.values[value] = real

    def _weights(self, layer: Layer) -> Sequence[SSAValue]:
        """Return the weight and the bias of a layer, dequantized."""
        arrays, axis, emit = self.quantizer.arrays, layer.axis, self.made.emit
        weight = arrays[layer.weight].astype(np.float32)
        bias = None if layer.bias is None else arrays[layer.bias]
        input = self.scales[layer.op.operands[0]].scale
        scales = weight_scales(weight, axis, bias, input)
        along = scales.reshape([-1 if each == axis else 1 for each in range(weight.ndim)])
        integers = np.clip(np.round(weight / along), -MOST, MOST).astype(np.int8)
        given = self._parameter(f"{layer.name}.weight", integers)
        made = [dequantize_linear(emit, given, emit.array(scales, f32), axis=axis)]
        if bias is not None:
            steps = input * scales
            whole = np.round(bias.astype(np.float64) / steps).astype(np.int32)
            given = self._parameter(f"{layer.name}.bias", whole)
            made.append(dequantize_linear(emit, given, emit.array(steps, f32), axis=0))
        return made


def quantize(
    model: "Model",
    data: Inputs,
    observer: Observer,
    exclude: Iterable[str],
    activations: Activations,
) -> "Model":
    """Return a network on integers; see `Model.quantize`."""
    quantizer = Quantizer(model, data, observer=observer, activations=activations)
    return quantizer.quantized(quantizer.all_but(tuple(exclude)))
