"""Recurrent layers: the input's product for all steps at once, then a loop over time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp, SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import TanhOp
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.shape import stack
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.control_flow import recurrence
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import (
    Floats,
    Refusal,
)

ACTIVATIONS = {"Sigmoid": SigmoidOp, "Tanh": TanhOp, "Relu": ReluOp}
BACKWARDS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}

State = Sequence[SSAValue]
Product = Callable[[str, int, SSAValue, SSAValue, SSAValue | None], SSAValue]
"""From `w` or `r`, the direction, what is multiplied, the weights of the direction and a bias."""
Step = Callable[[SSAValue, State], State]
"""From a step's input, projected, and the last state to the next state; its first is the output."""


@dataclass(frozen=True)
class Recurrence:
    """The attributes that all recurrent ops of ONNX have."""

    activations: Sequence[str] | None = None
    activation_alpha: Floats | None = None
    activation_beta: Floats | None = None
    clip: float | None = None
    direction: str = "forward"
    hidden_size: int | None = None
    layout: int = 0


@dataclass(frozen=True)
class Direction:
    """One direction of a layer: its recurrent weights, their bias, and its activations.

    `clip` bounds the magnitude of what goes into activations, but for the cell of an LSTM: ONNX
    does not say, and so ONNX Runtime has it.
    """

    emit: Emitter
    index: int
    hidden: int
    weights: SSAValue
    bias: SSAValue | None
    names: Sequence[str]
    multiply: Product | None = None
    clip: float | None = None

    def activation(self, index: int, value: SSAValue) -> SSAValue:
        """Apply one of the direction's activations, to what is clipped where the layer clips."""
        if self.clip is not None:
            value = self.emit(ClipOp(value, min=-self.clip, max=self.clip))
        return self.unclipped(index, value)

    def unclipped(self, index: int, value: SSAValue) -> SSAValue:
        """Apply one of the direction's activations."""
        return self.emit(ACTIVATIONS[self.names[index]](value))

    def gate(self, value: SSAValue, index: int) -> SSAValue:
        """Return the columns of one gate."""
        return part(self.emit, value, 1, index * self.hidden, self.hidden)

    def product(self, state: SSAValue, first: int = 0, count: int | None = None) -> SSAValue:
        """Return what some gates take of a state: all of them, or `count` from the first."""
        weights, bias = self.weights, self.bias
        if count is not None:
            start, size = first * self.hidden, count * self.hidden
            weights = part(self.emit, weights, 0, start, size)
            bias = None if bias is None else part(self.emit, bias, 0, start, size)
        if self.multiply is not None:
            return self.multiply("r", self.index, state, weights, bias)
        return self.emit(MatMulOp(state, weights, bias))


class Layer:
    """What the recurrent ops have in common: weights of each direction, and the walk over time.

    `activations` are those of one direction where the op names none. With a `product` weights lie
    with their gates last, direction x inputs x gates.
    """

    def __init__(
        self,
        emit: Emitter,
        tensors: tuple[SSAValue, SSAValue, SSAValue, SSAValue | None, SSAValue | None],
        gates: int,
        activations: Sequence[str],
        attributes: Recurrence,
        product: Product | None = None,
    ) -> None:
        x, self.w, self.r, self.b, self.lengths = tensors
        if attributes.clip is not None and attributes.clip <= 0:
            raise Refusal(f"expected clip above 0, got {attributes.clip}")
        self.clip = attributes.clip
        if attributes.direction not in BACKWARDS:
            raise Refusal(
                f"unsupported direction '{attributes.direction}'; supported: {', '.join(BACKWARDS)}"
            )
        self.backwards = BACKWARDS[attributes.direction]
        self.names = attributes.activations or [*activations] * len(self.backwards)
        self.per_direction = len(activations)
        if len(self.names) != self.per_direction * len(self.backwards):
            wanted = self.per_direction * len(self.backwards)
            raise Refusal(f"expected {wanted} activations, got {len(self.names)}")
        for name in self.names:
            if name not in ACTIVATIONS:
                known = ", ".join(ACTIVATIONS)
                raise Refusal(f"unsupported activation '{name}'; supported: {known}")
        self.emit = emit
        self.product = product
        self.layout = attributes.layout
        self.x = permuted(emit, x, (1, 0, 2)) if self.layout else x
        self.gates = gates
        self.steps, self.batch, _ = tensor_shape(self.x)
        self.hidden = tensor_shape(self.r)[2 if product is None else 1]

    def of_direction(self, value: SSAValue, index: int) -> SSAValue:
        """Return what a tensor has for one direction."""
        taken = part(self.emit, value, 0, index, 1)
        return self.emit.reshape(taken, tensor_shape(value)[1:])

    def _start(self, value: SSAValue | None, index: int) -> SSAValue:
        """Return the first state of a direction, zeros where it is not given."""
        if value is None:
            zero = (self.batch, self.hidden)
            return self.emit.full(zero, 0, element_type(self.x))
        if self.layout:
            value = permuted(self.emit, value, (1, 0, 2))
        return self.of_direction(value, index)

    def _biases(self, index: int) -> tuple[SSAValue | None, SSAValue | None]:
        """Return the biases of input and state."""
        if self.b is None:
            return None, None
        both = self.of_direction(self.b, index)
        size = self.gates * self.hidden
        return part(self.emit, both, 0, 0, size), part(self.emit, both, 0, size, size)

    def run(
        self, starts: Sequence[SSAValue | None], step_of: Callable[[Direction], Step]
    ) -> Sequence[SSAValue]:
        """Walk over time in every direction.

        Returns outputs as time x direction x batch x hidden, and the last states; with layout 1
        the batch comes first.
        """
        emit = self.emit
        every: list[SSAValue] = []
        last: list[State] = []
        for index in range(len(self.backwards)):
            of_input, of_state = self._biases(index)
            weights = self.of_direction(self.w, index)
            if self.product is None:
                projected = emit(MatMulOp(self.x, weights, of_input))
            else:
                projected = self.product("w", index, self.x, weights, of_input)
            names = self.names[index * self.per_direction : (index + 1) * self.per_direction]
            recurrent = self.of_direction(self.r, index)
            own = Direction(
                *(emit, index, self.hidden, recurrent, of_state, names),
                multiply=self.product,
                clip=self.clip,
            )
            step = step_of(own)
            state = [self._start(each, index) for each in starts]
            outputs, end = self._walk(index, state, step, projected)
            every.append(outputs)
            last.append(end)
        outputs = stack(emit, every, 1)
        states = [stack(emit, [each[i] for each in last], 0) for i in range(len(starts))]
        if self.layout:
            outputs = permuted(emit, outputs, (2, 0, 1, 3))
            states = [permuted(emit, each, (1, 0, 2)) for each in states]
        return outputs, *states

    def _walk(
        self, index: int, state: State, step: Step, projected: SSAValue
    ) -> tuple[SSAValue, State]:
        """Return the outputs of all steps in the order of time, and the last state.

        A sequence that is shorter keeps its state where it has no step, and its output is zero.
        """
        emit, lengths = self.emit, self.lengths

        def walked(before: State, now: State) -> tuple[State, State]:
            made = step(now[0], before)
            if lengths is None:
                return made, made[:1]
            runs = now[1]
            zero = emit.full((self.batch, self.hidden), 0, element_type(self.x))
            pairs = zip(made, before, strict=True)
            state = [emit(WhereOp(runs, new, old)) for new, old in pairs]
            return state, [emit(WhereOp(runs, made[0], zero))]

        sequences = [projected] if lengths is None else [projected, self._runs(lengths)]
        back = self.backwards[index]
        last, (outputs,) = recurrence(emit, walked, state, sequences, reverse=back)
        return outputs, last

    def _runs(self, lengths: SSAValue) -> SSAValue:
        """Return which sequences have a step at each time, as a column each: time x batch x 1."""
        limits = self.emit(IotaOp(TensorType(element_type(lengths), (self.steps, 1, 1)), axis=0))
        column = self.emit.reshape(lengths, (1, self.batch, 1))
        return self.emit(CompareOp(column, limits, predicate="gt"))


@register_op("RNN")
def rnn(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None = None,
    sequence_lens: SSAValue | None = None,
    initial_h: SSAValue | None = None,
    *,
    attributes: Recurrence,
) -> Sequence[SSAValue]:
    """A plain recurrent layer"""
    layer = Layer(emit, (x, w, r, b, sequence_lens), 1, ("Tanh",), attributes)

    return layer.run([initial_h], lambda direction: partial(rnn_step, direction))


def rnn_step(direction: Direction, now: SSAValue, state: State) -> State:
    """Return the state after a step of a plain recurrent layer."""
    total = direction.emit(AddOp(now, direction.product(state[0])))
    return (direction.activation(0, total),)


@register_op("GRU")
def gru(
    emit: Emitter,
    x: SSAValue,
    w: SSAValue,
    r: SSAValue,
    b: SSAValue | None = None,
    sequence_lens: SSAValue | None = None,
    initial_h: SSAValue | None = None,
    linear_before_reset: int = 0,
    *,
    attributes: Recurrence,
) -> Sequence[SSAValue]:
    """A layer of gated recurrent units; the gates are update, reset, hidden"""
    layer = Layer(emit, (x, w, r, b, sequence_lens), 3, ("Sigmoid", "Tanh"), attributes)

    before = bool(linear_before_reset)
    return layer.run([initial_h], lambda direction: partial(gru_step, direction, before))


def gru_step(direction: Direction, before_reset: bool, now: SSAValue, state: State) -> State:
    """Return the state after a step of a GRU; `before_reset`: its product is taken before that."""
    emit, gate, (h,) = direction.emit, direction.gate, state
    both = direction.product(h, 0, 2)
    update, reset = (
        direction.activation(0, emit(AddOp(gate(now, i), gate(both, i)))) for i in (0, 1)
    )
    if before_reset:
        inner = emit(MulOp(reset, direction.product(h, 2, 1)))
    else:
        inner = direction.product(emit(MulOp(reset, h)), 2, 1)
    new = direction.activation(1, emit(AddOp(gate(now, 2), inner)))
    # (1 - update) * new + update * h
    return (emit(AddOp(new, emit(MulOp(update, emit(SubOp(h, new)))))),)


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
    input_forget: int = 0,
    *,
    attributes: Recurrence,
) -> Sequence[SSAValue]:
    """A layer of long short-term memory; the gates are input, output, forget, cell"""
    if input_forget:
        raise Refusal("unsupported input_forget; supported: 0")
    return lstm_layer(emit, (x, w, r, b, sequence_lens), (initial_h, initial_c), p, attributes)


def lstm_layer(
    emit: Emitter,
    tensors: tuple[SSAValue, SSAValue, SSAValue, SSAValue | None, SSAValue | None],
    starts: Sequence[SSAValue | None],
    p: SSAValue | None,
    attributes: Recurrence,
    product: Product | None = None,
) -> Sequence[SSAValue]:
    """Return what an LSTM makes: `tensors` are x, w, r, b and sequence_lens of the op."""
    layer = Layer(emit, tensors, 4, ("Sigmoid", "Tanh", "Tanh"), attributes, product)

    def step_of(direction: Direction) -> Step:
        peephole = None if p is None else layer.of_direction(p, direction.index)
        return partial(lstm_step, direction, peephole)

    return layer.run(starts, step_of)


def lstm_step(
    direction: Direction, peephole: SSAValue | None, now: SSAValue, state: State
) -> State:
    """Return output and cell after a step of an LSTM."""
    emit, gate, activation, (h, c) = direction.emit, direction.gate, direction.activation, state

    def seen(index: int, value: SSAValue, cell: SSAValue) -> SSAValue:
        if peephole is None:
            return value
        weights = part(emit, peephole, 0, index * direction.hidden, direction.hidden)
        return emit(AddOp(value, emit(MulOp(weights, cell))))

    total = emit(AddOp(now, direction.product(h)))
    i = activation(0, seen(0, gate(total, 0), c))
    f = activation(0, seen(2, gate(total, 2), c))
    g = activation(1, gate(total, 3))
    new = emit(AddOp(emit(MulOp(f, c)), emit(MulOp(i, g))))
    o = activation(0, seen(1, gate(total, 1), new))
    return emit(MulOp(o, direction.unclipped(2, new))), new
