"""The registry of ONNX ops, by the opset that each meaning of an op came with.

    @register_op("Clip")            # opsets before 11: bounds are attributes
    @register_op("Clip", since=11)  # bounds are inputs

A function's parameters have the names that the ONNX op's inputs and attributes have.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TypeGuard

import numpy as np
from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import shape_text, tensor_shape
from gawee_dialect.frontends.onnx.model import is_array
from gawee_dialect.frontends.op_mapping.registry import (
    Function,
    Kind,
    OpMapping,
    Refusal,
    Registry,
    value_text,
)
from gawee_dialect.hints import isa

FAMILIES = (
    "attention",
    "contraction",
    "creation",
    "detection",
    "elementwise",
    "machine_learning",
    "microsoft",
    "microsoft_quantization",
    "quantization",
    "recurrent",
    "reduction",
    "resizing",
    "sampling",
    "shape",
    "signal",
    "training",
    "trees",
    "windows",
)
"""The files of `ops/` that register the ops of ONNX."""

LATEST_OPSET = 27
"""The newest version of ONNX's op set that these mappings support."""

ONNX = Registry("gawee_dialect.frontends.onnx.ops", FAMILIES)
"""What is registered for ops of ONNX; `Clip-11` is Clip from opset 11 on."""


def register_op(
    *names: str, since: int = 1, limits: Sequence[str] = ()
) -> Callable[[Function], Function]:
    """Register a function for ops as they are from an opset on."""
    spelled = [name if since == 1 else f"{name}-{since}" for name in names]
    return ONNX.register(*spelled, limits=limits)


def find_mapping(op_type: str, opset: int) -> OpMapping | None:
    """Return what is registered for an op as it is in an opset."""
    versions = (f"{op_type}-{version}" for version in range(opset, 1, -1))
    return ONNX.find(*versions, op_type)


def is_registered(domain: str, op_type: str) -> bool:
    """Whether anything is registered for an op, in any opset."""
    name = op_type if domain in ("", "ai.onnx") else f"{domain}.{op_type}"
    return find_mapping(name, LATEST_OPSET) is not None


# What ONNX says of the shapes and numbers of its ops' arguments, checked before an op is mapped.
#
# A mapping function may take for granted what is written here. A rule of an argument is one of
#
# | rule          | a tensor's shape                 | a list's or number's length |
# |---------------|----------------------------------|-----------------------------|
# | `N C *`       | two sizes, then the spatial ones | `len 2*`: twice as many     |
# | `_ 4`         | any size, then 4                 | `len 2`: two numbers        |
# | `... M M`     | any axes, then two equal sizes   | `len K`: K numbers          |
#
# with `from 1` or `from 1 to 9` behind it where the numbers, or the sizes, have bounds. A name is
# the same size wherever an op's rules have it, and `*` the same number of axes. An argument that is
# not given has no rule; a list without an input is refused for every op.
#
# https://onnx.ai/onnx/operators/


MAX_SIZE = 1 << 24
"""Of what is computed when a graph is read: windows, tables, numbers at equal distances."""

_STEPS = "strides: len * from 1; pads: len 2*"
_WINDOW = f"{_STEPS}; dilations: len * from 1"
_POOL = f"x: N C *; kernel_shape: len * from 1; {_WINDOW}"
_CONV = f"x: N _ *; w: M _ *; b: M; kernel_shape: len *; {_WINDOW}; group: from 1"
_RECURRENT = "x: _ _ I; w: D _ I; r: D _ H; b: D _; sequence_lens: _; initial_h: _ _ H"
_ROI = (
    "x: N C H W; rois: R 4; batch_indices: R; output_height: from 1 to 4096; "
    "output_width: from 1 to 4096; sampling_ratio: from 0 to 4096"
)
_POINTS = f"size: len 1 from 0 to {MAX_SIZE}"
_HEADS = "q_num_heads: from 1; kv_num_heads: from 1"

RULES: Mapping[str, str] = {
    "AffineGrid": "theta: N _ _; size: from 1",
    "Attention": f"q: N * _ from 1; k: N * _ from 1; v: N * _ from 1; attn_mask: ... _; "
    f"past_key: N _ _ _; past_value: N _ _ _; nonpad_kv_seqlen: N; {_HEADS}; "
    "scale: from 0; qk_matmul_output_mode: from 0 to 3",
    "AveragePool": _POOL,
    "BatchNormalization": "x: N C *; scale: C; b: C; input_mean: C; input_var: C",
    "BlackmanWindow": _POINTS,
    "CausalConvWithState": "input: N C _; weight: C 1 _ from 1; bias: C; past_state: N C _",
    "CenterCropPad": "shape: len K from 0; axes: len K",
    "Col2Im": "input: N _ _; image_shape: len * from 1; block_shape: len * from 1; " + _WINDOW,
    "ConstantOfShape": "input: from 0; value: len 1",
    "Conv": _CONV.replace("N _", "N C", 1),
    "ConvInteger": "x: N C *; w: M _ *; group: from 1; pads: len 2*",
    "ConvTranspose": "x: N C *; w: C _ *; group: from 1; pads: len 2*; kernel_shape: len *",
    "CumProd": "x: ... _; axis: len 1",
    "CumSum": "x: ... _; axis: len 1",
    "DFT": "input: _ ... _; dft_length: len 1 from 1; axis: len 1",
    "DeformConv": _CONV + "; offset: N _ *; mask: N _ *; offset_group: from 1",
    "DepthToSpace": "input: N C H W; blocksize: from 1",
    "Det": "x: ... M M",
    "EyeLike": "input: _ _",
    "Gather": "data: ... _",
    "GatherElements": "data: ... _",
    "GatherND": "data: ... _; indices: ... _; batch_dims: from 0",
    "Gemm": "a: _ _; b: _ _",
    "GlobalAveragePool": "x: N C *",
    "GlobalMaxPool": "x: N C *",
    "GridSample": "x: N C *; grid: N * _",
    "GRU": _RECURRENT,
    "HammingWindow": _POINTS,
    "HannWindow": _POINTS,
    "InstanceNormalization": "input: N C *; scale: C; b: C",
    "LRN": "x: N C *; size: from 1 to 4096",
    "LSTM": _RECURRENT + "; initial_c: _ _ H",
    "LinearAttention": "query: N T Q from 1; key: N T K from 1; value: N T V from 1; "
    f"past_state: N _ _ _; decay: N T _; beta: N T _; {_HEADS}",
    "LpPool": f"{_POOL}; p: from 1",
    "MatMul": "a: ... _; b: ... _",
    "MatMulInteger": "a: ... _; b: ... _",
    "MaxPool": _POOL,
    "MaxUnpool": f"x: N C *; i: N C *; kernel_shape: len * from 1; {_STEPS}; output_shape: len *+2",
    "MelWeightMatrix": "num_mel_bins: len 1 from 1 to 4096; dft_length: len 1 from 1; "
    "sample_rate: len 1 from 1; "
    "lower_edge_hertz: len 1 from 0; upper_edge_hertz: len 1 from 0",
    "NegativeLogLikelihoodLoss": "input: N C *; target: N *; weight: C",
    "OneHot": f"depth: len 1 from 0 to {MAX_SIZE}; values: 2",
    "QLinearConv": "x: N C *; w: M _ *; b: M; group: from 1; pads: len 2*",
    "QLinearMatMul": "a: ... _; b: ... _",
    "RNN": _RECURRENT,
    "Range": "start: len 1; limit: len 1; delta: len 1",
    "ReverseSequence": "input: _ _ ...; batch_axis: from 0 to 1; time_axis: from 0 to 1",
    "RoiAlign": _ROI,
    "RotaryEmbedding": "x: N * _ from 1; cos_cache: ... _; sin_cache: ... _; num_heads: from 0",
    "STFT": "signal: _ _ ...; frame_step: len 1 from 1; window: W; frame_length: len 1 from 1",
    "ScatterND": "data: ... _; indices: ... _",
    "Slice": "starts: len K; ends: len K; axes: len K; steps: len K",
    "SoftmaxCrossEntropyLoss": "scores: N C *; labels: N *; weights: C",
    "SpaceToDepth": "input: N C H W; blocksize: from 1",
    "Split": "split: from 0; num_outputs: from 1 to 65536",
    "TensorScatter": "past_cache: N *; update: N *; write_indices: N",
    "TfIdfVectorizer": "ngram_counts: from 0; ngram_indexes: len K from 0 to "
    f"{MAX_SIZE}; weights: len K; min_gram_length: from 1",
    "TopK": "x: ... _; k: len 1 from 0",
    "Trilu": "input: ... _ _",
}


def check_size(elements: float) -> None:
    """Raise Refusal for a table of too many elements."""
    if elements > MAX_SIZE:
        raise Refusal(f"expected a table of at most {MAX_SIZE} elements, got {elements:.0f}")


def check_arguments(op_type: str, mapping: OpMapping, arguments: Mapping[str, object]) -> None:
    """Raise Refusal unless the arguments of a node, by name, fit the rules of its op."""
    given = dict(arguments)
    for parameter in mapping.parameters:
        value = arguments[parameter.name]
        if parameter.kind is Kind.TENSORS and not value:
            raise Refusal(f"expected at least one tensor of argument '{parameter.name}', got none")
        if parameter.kind is Kind.GROUP:
            given |= vars(value)
    known: dict[str, int] = {}
    for rule in rules_of(op_type):
        value = given.get(rule.name)
        if value is not None:
            rule.check(value, known)


@dataclass(frozen=True)
class Rule:
    """What an argument of an op has to be; `text` as it is written, without its bounds."""

    name: str
    text: str
    low: float
    high: float

    def check(self, value: object, known: dict[str, int]) -> None:
        """Raise Refusal where a value does not fit; note what `known` names and `*` stand for."""
        shape, numbers = _shape_and_numbers(value)
        if self.text.startswith("len "):
            self._check_length(len(numbers), self.text.removeprefix("len "), known)
        elif self.text:
            numbers = shape
            self._check_shape(shape, self.text.split(), known)
        bounded = (self.low, self.high) != (-inf, inf)
        if bounded and not all(self.low <= number <= self.high for number in numbers):
            upper = "" if self.high == inf else f" and at most {self.high:g}"
            what = "sizes" if numbers is shape else "numbers"
            got = value_text(list(numbers))
            text = f"expected argument '{self.name}' to have {what} of at least {self.low:g}"
            raise Refusal(f"{text}{upper}, got {got}")

    def _check_length(self, length: int, written: str, known: dict[str, int]) -> None:
        factor, name, more = _length_of(written)
        wanted = known.get(name)
        if wanted is None and name and (length - more) % factor == 0 and length >= more:
            known[name] = wanted = (length - more) // factor
        expected = more if not name else None if wanted is None else factor * wanted + more
        if length != expected:
            count = f"{written} numbers" if expected is None else f"{expected} numbers"
            raise Refusal(f"expected argument '{self.name}' to have {count}, got {length}")

    def _check_shape(
        self, shape: Sequence[int], axes: Sequence[str], known: dict[str, int]
    ) -> None:
        several = next((axis for axis in axes if axis in ("*", "...")), None)
        count = len(shape) - len(axes) + (several is not None)
        fits = count >= 0 if several else count == 0
        if several == "*":
            fits = fits and known.setdefault("*", count) == count
        for axis, size in zip(_written_out(axes, count), shape, strict=False):
            if axis.isdigit():
                fits = fits and int(axis) == size
            elif axis.isidentifier() and axis != "_":
                fits = fits and known.setdefault(axis, size) == size
        if not fits:
            parts = [f"{axis}={known[axis]}" if axis in known else axis for axis in axes]
            text = f"expected argument '{self.name}' of shape [{', '.join(parts)}]"
            raise Refusal(f"{text}, got {shape_text(shape)}")


def _written_out(axes: Sequence[str], count: int) -> Iterator[str]:
    for axis in axes:
        yield from ["_"] * count if axis in ("*", "...") else [axis]


def _is_tensor(value: object) -> TypeGuard[SSAValue]:
    return isinstance(value, SSAValue)


def _shape_and_numbers(value: object) -> tuple[Sequence[int], Sequence[float]]:
    if _is_tensor(value):
        return tensor_shape(value), ()
    array = value if is_array(value) else np.asarray(value)
    numbers = array.reshape(-1).tolist()
    return array.shape, numbers if isa(numbers, list[int | float]) else ()


_RULE = re.compile(r"(\w+): ?(.*?)(?: ?from (-?\d+))?(?: to (\d+))?")
_LENGTH = re.compile(r"(\d*)([*A-Z]?)(?:\+(\d+))?")


def _length_of(written: str) -> tuple[int, str, int]:
    """Return the factor, the name and what is added: of `2*+1` 2, `*` and 1; of `4` 1, ``, 4."""
    found = _LENGTH.fullmatch(written)
    assert found is not None
    number, name, more = found.groups()
    return (int(number or 1), name, int(more or 0)) if name else (1, "", int(number))


@cache
def rules_of(op_type: str) -> Sequence[Rule]:
    """Return the rules of an op's arguments."""
    rules: list[Rule] = []
    for written in filter(None, RULES.get(op_type, "").split("; ")):
        found = _RULE.fullmatch(written)
        assert found is not None
        name, text, low, high = found.groups()
        rules.append(Rule(name, text, float(low or -inf), float(high or inf)))
    return rules
