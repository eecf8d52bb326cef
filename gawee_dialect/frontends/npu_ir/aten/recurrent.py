"""Recurrent layers: the input's product for all steps at once, then a loop over time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import TanhOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import cat, select, stack, transpose
from gawee_dialect.frontends.op_mapping.control_flow import recurrence
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part
from gawee_dialect.frontends.op_mapping.registry import Ints, Refusal, Tensors

State: TypeAlias = Sequence[SSAValue]
"""What one step hands to the next: h, or h and c."""

Cell: TypeAlias = Callable[[Emitter, SSAValue, State, "Weights"], State]
"""One step: takes the projected input and the state, returns the next state."""


@dataclass(frozen=True)
class Weights:
    """The weights of one layer in one direction."""

    input: SSAValue
    hidden: SSAValue
    input_bias: SSAValue | None
    hidden_bias: SSAValue | None
    output: SSAValue | None = None
    """What an LSTM multiplies its output with, before that becomes the state."""

    def project(self, emit: Emitter, state: SSAValue) -> SSAValue:
        """Return what the state adds to the gates."""
        return emit(MatMulOp(state, self.hidden, self.hidden_bias))


@dataclass(frozen=True)
class Layers:
    """How a recurrent layer is stacked, as every op of this file says it."""

    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool
    batch_first: bool

    def weights(self, params: Tensors) -> Sequence[Weights]:
        """Return the weights of each layer and direction; raises Refusal where they do not fit."""
        if self.train and self.dropout > 0:
            raise Refusal(f"unsupported dropout {self.dropout} with train=True; supported: 0")
        count = self.num_layers * (2 if self.bidirectional else 1)
        plain = 4 if self.has_biases else 2
        each = plain + (len(params) == count * (plain + 1))
        if len(params) != count * each:
            raise Refusal(
                f"expected {count * plain} weights, or {count * (plain + 1)} with projections, "
                f"got {len(params)}"
            )
        groups = [params[start : start + each] for start in range(0, len(params), each)]
        return [self._of_direction(group, projects=each > plain) for group in groups]

    def _of_direction(self, group: Tensors, *, projects: bool) -> Weights:
        input_bias, hidden_bias = group[2:4] if self.has_biases else (None, None)
        output = group[-1] if projects else None
        return Weights(group[0], group[1], input_bias, hidden_bias, output)


def gates(emit: Emitter, value: SSAValue, count: int) -> Sequence[SSAValue]:
    """Return the parts of the last axis, one for each gate."""
    axis = len(tensor_shape(value)) - 1
    size = tensor_shape(value)[axis] // count
    return [part(emit, value, axis, index * size, size) for index in range(count)]


def lstm_cell(emit: Emitter, projected: SSAValue, state: State, weights: Weights) -> State:
    """One step of an LSTM; the gates are input, forget, cell, output."""
    hidden, cell = state
    total = emit(AddOp(projected, weights.project(emit, hidden)))
    i, f, g, o = gates(emit, total, 4)
    kept = emit(MulOp(emit(SigmoidOp(f)), cell))
    new = emit(AddOp(kept, emit(MulOp(emit(SigmoidOp(i)), emit(TanhOp(g))))))
    output = emit(MulOp(emit(SigmoidOp(o)), emit(TanhOp(new))))
    if weights.output is not None:
        output = emit(MatMulOp(output, weights.output))
    return output, new


def gru_cell(emit: Emitter, projected: SSAValue, state: State, weights: Weights) -> State:
    """One step of a GRU; the gates are reset, update, new."""
    (hidden,) = state
    from_input = gates(emit, projected, 3)
    from_hidden = gates(emit, weights.project(emit, hidden), 3)
    reset, update = (
        emit(SigmoidOp(emit(AddOp(*pair))))
        for pair in zip(from_input[:2], from_hidden[:2], strict=True)
    )
    new = emit(TanhOp(emit(AddOp(from_input[2], emit(MulOp(reset, from_hidden[2]))))))
    # (1 - update) * new + update * hidden
    return (emit(AddOp(new, emit(MulOp(update, emit(SubOp(hidden, new)))))),)


def rnn_cell(activation: Callable[[SSAValue], TanhOp | ReluOp]) -> Cell:
    """Return one step of a plain recurrent layer."""

    def cell(emit: Emitter, projected: SSAValue, state: State, weights: Weights) -> State:
        return (emit(activation(emit(AddOp(projected, weights.project(emit, state[0]))))),)

    return cell


def over_time(
    emit: Emitter,
    cell: Cell,
    input: SSAValue,
    state: Sequence[SSAValue],
    weights: Weights,
    back: bool,
) -> tuple[SSAValue, State]:
    """Run one layer in one direction over (time, batch, features); return outputs, last state."""
    projected = emit(MatMulOp(input, weights.input, weights.input_bias))

    def step(current: State, now: State) -> tuple[State, State]:
        following = cell(emit, now[0], current, weights)
        return following, following[:1]

    last, (outputs,) = recurrence(emit, step, state, [projected], reverse=back)
    return outputs, last


def run_layers(
    emit: Emitter, cell: Cell, input: SSAValue, hx: Tensors, params: Tensors, layers: Layers
) -> Sequence[SSAValue]:
    """Run all layers; return outputs and, one tensor for each part of the state, last states."""
    weights = layers.weights(params)
    value = transpose(emit, input, 0, 1) if layers.batch_first else input
    directions = 2 if layers.bidirectional else 1
    last: list[State] = []
    for start in range(0, len(weights), directions):
        outputs: list[SSAValue] = []
        for index in range(start, start + directions):
            state = [select(emit, each, 0, index) for each in hx]
            back = index > start
            output, end = over_time(emit, cell, value, state, weights[index], back)
            outputs.append(output)
            last.append(end)
        value = cat(emit, outputs, 2)
    finals = [stack(emit, [state[i] for state in last], 0) for i in range(len(hx))]
    return [transpose(emit, value, 0, 1) if layers.batch_first else value, *finals]


@register_op("aten.lstm.input")
def lstm(
    emit: Emitter, input: SSAValue, hx: Tensors, params: Tensors, layers: Layers
) -> Sequence[SSAValue]:
    """LSTM layers: outputs, last h, last c"""
    return run_layers(emit, lstm_cell, input, hx, params, layers)


_LSTM = 2
"""The mode that oneDNN gives an LSTM."""


@register_op("aten.mkldnn_rnn_layer", limits=("mode is 2, an LSTM", "no batch_sizes"))
def mkldnn_rnn_layer(
    emit: Emitter,
    input: SSAValue,
    weight0: SSAValue,
    weight1: SSAValue,
    weight2: SSAValue,
    weight3: SSAValue,
    hx_: SSAValue,
    cx_: SSAValue,
    reverse: bool,
    batch_sizes: Ints,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> Sequence[SSAValue | None]:
    """One layer of an LSTM in one direction, time first: outputs, last h, last c

    What is said of the whole module does not count: its other layers are nodes of their own.
    """
    if mode != _LSTM:
        raise Refusal(f"unsupported mode {mode}; supported: {_LSTM}, an LSTM")
    if batch_sizes:
        raise Refusal(f"unsupported batch_sizes {list(batch_sizes)}; supported: none")
    biases = (weight2, weight3) if has_biases else (None, None)
    weights = Weights(weight0, weight1, *biases)
    state = [select(emit, each, 0, 0) for each in (hx_, cx_)]
    outputs, last = over_time(emit, lstm_cell, input, state, weights, reverse)
    return outputs, *(emit.reshape(each, (1, *tensor_shape(each))) for each in last), None


def single_state(cell: Cell) -> Callable[..., Sequence[SSAValue]]:
    """Return the mapping of layers whose state is h alone."""

    def mapping(
        emit: Emitter, input: SSAValue, hx: SSAValue, params: Tensors, layers: Layers
    ) -> Sequence[SSAValue]:
        return run_layers(emit, cell, input, [hx], params, layers)

    return mapping


register_op("aten.gru.input")(single_state(gru_cell))
register_op("aten.rnn_tanh.input")(single_state(rnn_cell(TanhOp)))
register_op("aten.rnn_relu.input")(single_state(rnn_cell(ReluOp)))
