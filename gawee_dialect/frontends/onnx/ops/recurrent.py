"""Recurrent layers, each step written out."""

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.activation import SigmoidOp
from gawee_dialect.dialect.elementary import TanhOp
from gawee_dialect.dialect.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.joining import stack
from gawee_dialect.frontends.npu_ir.aten.shape import permuted
from gawee_dialect.frontends.npu_ir.aten.slicing import part
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    Floats,
)

ACTIVATIONS = {"Sigmoid": SigmoidOp, "Tanh": TanhOp, "Relu": ReluOp}


def _activation(emit: Emitter, name: str, value: SSAValue) -> SSAValue:
    if name not in ACTIVATIONS:
        raise Refusal(f"unsupported activation '{name}'; supported: {', '.join(ACTIVATIONS)}")
    return emit(ACTIVATIONS[name](value))


class Layer:
    """What the recurrent ops have in common: weights of each direction, and the walk over time."""

    def __init__(
        self,
        emit: Emitter,
        x: SSAValue,
        w: SSAValue,
        r: SSAValue,
        b: SSAValue | None,
        gates: int,
        direction: str,
        layout: int,
    ) -> None:
        if direction not in ("forward", "reverse", "bidirectional"):
            raise Refusal(
                f"unsupported direction '{direction}'; supported: forward, reverse, bidirectional"
            )
        self.emit = emit
        self.layout = layout
        self.x = permuted(emit, x, (1, 0, 2)) if layout else x
        self.w, self.r, self.b, self.gates = w, r, b, gates
        self.backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[
            direction
        ]
        self.steps, self.batch, _ = tensor_shape(self.x)
        self.hidden = tensor_shape(r)[2]

    def of_direction(self, value: SSAValue, index: int) -> SSAValue:
        """Return what a tensor has for one direction."""
        taken = part(self.emit, value, 0, index, 1)
        return self.emit.reshape(taken, tensor_shape(value)[1:])

    def state(self, value: SSAValue | None, index: int) -> SSAValue:
        """Return the first state of a direction, zeros where it is not given."""
        if value is None:
            zero = (self.batch, self.hidden)
            return self.emit.full(zero, 0, element_type(self.x))
        if self.layout:
            value = permuted(self.emit, value, (1, 0, 2))
        return self.of_direction(value, index)

    def biases(self, index: int) -> tuple[SSAValue | None, SSAValue | None]:
        """Return the biases of input and state."""
        if self.b is None:
            return None, None
        both = self.of_direction(self.b, index)
        size = self.gates * self.hidden
        return part(self.emit, both, 0, 0, size), part(self.emit, both, 0, size, size)

    def gate(self, value: SSAValue, index: int) -> SSAValue:
        """Return the columns of one gate."""
        return part(self.emit, value, 1, index * self.hidden, self.hidden)

    def run(
        self,
        index: int,
        state: Sequence[SSAValue],
        step: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
        projected: SSAValue,
    ) -> tuple[list[SSAValue], Sequence[SSAValue]]:
        """Walk over time; return all outputs in order, and the last state."""
        order = list(range(self.steps))
        outputs: dict[int, SSAValue] = {}
        for time in order[::-1] if self.backwards[index] else order:
            row = part(self.emit, projected, 0, time, 1)
            now = self.emit.reshape(row, tensor_shape(projected)[1:])
            state = step(now, state)
            outputs[time] = state[0]
        return [outputs[time] for time in order], state

    def results(
        self, outputs: Sequence[Sequence[SSAValue]], last: Sequence[Sequence[SSAValue]]
    ) -> Sequence[SSAValue]:
        """Return outputs as time x direction x batch x hidden, and the last states."""
        rows = [stack(self.emit, each, 0) for each in outputs]
        every = stack(self.emit, rows, 1)
        states = [stack(self.emit, [each[i] for each in last], 0) for i in range(len(last[0]))]
        if self.layout:
            every = permuted(self.emit, every, (2, 0, 1, 3))
            states = [permuted(self.emit, each, (1, 0, 2)) for each in states]
        return every, *states


@register_op("RNN")
def rnn(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None = None,
    sequence_lens: SSAValue | None = None,
    initial_h: SSAValue | None = None,
    activations: Sequence[str] = ("Tanh", "Tanh"),
    activation_alpha: Floats | None = None,
    activation_beta: Floats | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> Sequence[SSAValue]:
    """A plain recurrent layer"""
    _refuse(sequence_lens, clip)
    layer = Layer(emit, x, w, r, b, 1, direction, layout)
    outputs: list[Sequence[SSAValue]] = []
    last: list[Sequence[SSAValue]] = []
    for index in range(len(layer.backwards)):
        of_input, of_state = layer.biases(index)
        projected = emit(MatMulOp(layer.x, layer.of_direction(w, index), of_input))
        hidden = layer.of_direction(r, index)
        name = activations[index]

        def step(
            now: SSAValue,
            state: Sequence[SSAValue],
            hidden: SSAValue = hidden,
            of_state: SSAValue | None = of_state,
            name: str = name,
        ) -> Sequence[SSAValue]:
            total = emit(AddOp(now, emit(MatMulOp(state[0], hidden, of_state))))
            return (_activation(emit, name, total),)

        made, end = layer.run(index, [layer.state(initial_h, index)], step, projected)
        outputs.append(made)
        last.append(end)
    return layer.results(outputs, last)


def _refuse(sequence_lens: SSAValue | None, clip: float | None) -> None:
    if sequence_lens is not None:
        raise Refusal("unsupported sequence_lens; supported: sequences of one length")
    if clip is not None:
        raise Refusal("unsupported clip; supported: none")


@register_op("GRU")
def gru(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None = None,
    sequence_lens: SSAValue | None = None,
    initial_h: SSAValue | None = None,
    activations: Sequence[str] = ("Sigmoid", "Tanh", "Sigmoid", "Tanh"),
    activation_alpha: Floats | None = None,
    activation_beta: Floats | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> Sequence[SSAValue]:
    """A layer of gated recurrent units; the gates are update, reset, hidden"""
    _refuse(sequence_lens, clip)
    layer = Layer(emit, x, w, r, b, 3, direction, layout)
    outputs: list[Sequence[SSAValue]] = []
    last: list[Sequence[SSAValue]] = []
    size = layer.hidden
    for index in range(len(layer.backwards)):
        of_input, of_state = layer.biases(index)
        projected = emit(MatMulOp(layer.x, layer.of_direction(w, index), of_input))
        recurrent = layer.of_direction(r, index)
        first, second = activations[2 * index : 2 * index + 2]

        def rows(start: int, count: int, weights: SSAValue = recurrent) -> SSAValue:
            return part(emit, weights, 0, start * size, count * size)

        def bias(start: int, count: int, all: SSAValue | None = of_state) -> SSAValue | None:
            return None if all is None else part(emit, all, 0, start * size, count * size)

        def step(
            now: SSAValue,
            state: Sequence[SSAValue],
            rows: Callable[[int, int], SSAValue] = rows,
            bias: Callable[[int, int], SSAValue | None] = bias,
            names: tuple[str, str] = (first, second),
        ) -> Sequence[SSAValue]:
            (h,) = state
            both = emit(MatMulOp(h, rows(0, 2), bias(0, 2)))
            update, reset = (
                _activation(emit, names[0], emit(AddOp(layer.gate(now, i), layer.gate(both, i))))
                for i in (0, 1)
            )
            if linear_before_reset:
                inner = emit(MulOp(reset, emit(MatMulOp(h, rows(2, 1), bias(2, 1)))))
            else:
                inner = emit(MatMulOp(emit(MulOp(reset, h)), rows(2, 1), bias(2, 1)))
            new = _activation(emit, names[1], emit(AddOp(layer.gate(now, 2), inner)))
            # (1 - update) * new + update * h
            return (emit(AddOp(new, emit(MulOp(update, emit(SubOp(h, new)))))),)

        made, end = layer.run(index, [layer.state(initial_h, index)], step, projected)
        outputs.append(made)
        last.append(end)
    return layer.results(outputs, last)


@register_op("LSTM")
def lstm(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None = None,
    sequence_lens: SSAValue | None = None,
    initial_h: SSAValue | None = None,
    initial_c: SSAValue | None = None,
    p: SSAValue | None = None,
    activations: Sequence[str] = ("Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"),
    activation_alpha: Floats | None = None,
    activation_beta: Floats | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> Sequence[SSAValue]:
    """A layer of long short-term memory; the gates are input, output, forget, cell"""
    _refuse(None, clip)  # lengths are checked where they are known
    if input_forget:
        raise Refusal("unsupported input_forget; supported: 0")
    layer = Layer(emit, x, w, r, b, 4, direction, layout)
    outputs: list[Sequence[SSAValue]] = []
    last: list[Sequence[SSAValue]] = []
    for index in range(len(layer.backwards)):
        of_input, of_state = layer.biases(index)
        projected = emit(MatMulOp(layer.x, layer.of_direction(w, index), of_input))
        recurrent = layer.of_direction(r, index)
        peephole = None if p is None else layer.of_direction(p, index)
        names = activations[3 * index : 3 * index + 3]

        def step(
            now: SSAValue,
            state: Sequence[SSAValue],
            recurrent: SSAValue = recurrent,
            of_state: SSAValue | None = of_state,
            peephole: SSAValue | None = peephole,
            names: Sequence[str] = names,
        ) -> Sequence[SSAValue]:
            h, c = state
            total = emit(AddOp(now, emit(MatMulOp(h, recurrent, of_state))))

            def seen(gate: int, value: SSAValue, cell: SSAValue) -> SSAValue:
                if peephole is None:
                    return value
                size = layer.hidden
                weights = part(emit, peephole, 0, gate * size, size)
                return emit(AddOp(value, emit(MulOp(weights, cell))))

            i = _activation(emit, names[0], seen(0, layer.gate(total, 0), c))
            f = _activation(emit, names[0], seen(2, layer.gate(total, 2), c))
            g = _activation(emit, names[1], layer.gate(total, 3))
            new = emit(AddOp(emit(MulOp(f, c)), emit(MulOp(i, g))))
            o = _activation(emit, names[0], seen(1, layer.gate(total, 1), new))
            return emit(MulOp(o, _activation(emit, names[2], new))), new

        start = [layer.state(initial_h, index), layer.state(initial_c, index)]
        made, end = layer.run(index, start, step, projected)
        outputs.append(made)
        last.append(end)
    return layer.results(outputs, last)
