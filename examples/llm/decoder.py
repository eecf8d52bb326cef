"""The graph of a decoder: scores of next tokens, from tokens and the cache of those before them.

    @main(%tokens: tensor<rows x i64>, %positions, %sequences, %wanted: tensor<outputs x i64>,
          %cached_positions: tensor<groups x 16 x i64>, %cached_sequences,
          %keys.0: tensor<groups x heads x width x 16>,
          %values.0: tensor<groups x heads x 16 x width>, ...)
        -> (%logits: tensor<outputs x vocabulary>, %new_keys.0: tensor<rows x heads x width>, ...)

The number of tokens and of what came before are open, so one code serves a prompt and each token
behind it. Rows are tokens of one sequence or of several, each with its position: a row sees those
of its own sequence that are not behind it, in the cache and among the rows. `wanted` are the rows
whose scores are computed. The cache is the caller's, in groups of 16 tokens: it gives the groups
that have begun, at least one, which are read where they are, and puts the new tokens there. A place
that holds no token is of a sequence that no row is of.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np
from config import FULL, Config
from products import MixedOp, ScoresOp
from weights import FLOATS, Blocks, Matrix, weight_of
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.activation import GeluOp, SiluOp
from gawee_dialect.dialect.graph.arithmetic import CosOp, SinOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.normalization import RmsNormOp
from gawee_dialect.dialect.graph.reduction import SoftmaxOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction

TABLE = "model.embed_tokens.weight"
GROUP = 16
"""Tokens whose keys lie side by side in the cache: the lanes of the widest vectors."""


class Decoder:
    """Builds the graph; `dtype_of` says how a weight is stored: `float32`, `q8_0`, ...

    With `rounds`, weights of bf16 multiply what is rounded to bf16.
    """

    def __init__(
        self,
        config: Config,
        dtype_of: Callable[[str], str],
        most_groups: int,
        most_rows: int,
        most_outputs: int = 1,
        *,
        rounds: bool = False,
    ) -> None:
        self.config, self.dtype_of, self.rounds = config, dtype_of, rounds
        self.function = EntryFunction()
        self.emit = self.function.emit
        self.rows = OpenSize.named(SizeName("rows", 1, most_rows))
        self.outputs = 1  # code for one row is a little faster than for any number, at one
        if most_outputs > 1:
            self.outputs = OpenSize.named(SizeName("outputs", 1, most_outputs))
        self.groups = OpenSize.named(SizeName("groups", 1, most_groups))
        self.past = self.groups * GROUP

    def module(self) -> ModuleOp:
        """Return the module of all layers."""
        config, emit = self.config, self.emit
        tokens, self.positions, self.sequences = (
            self._input(name, i64, self.rows) for name in ("tokens", "positions", "sequences")
        )
        wanted = self._input("wanted", i64, self.outputs)
        cached_positions, cached_sequences = (
            self._input(f"cached_{what}", i64, self.groups, GROUP)
            for what in ("positions", "sequences")
        )
        heads = config.shared_heads, config.head_width
        caches = [
            (
                self._input(f"keys.{layer}", f32, self.groups, *heads, GROUP),
                self._input(f"values.{layer}", f32, self.groups, heads[0], GROUP, heads[1]),
            )
            for layer in range(config.layers)
        ]
        kinds = dict.fromkeys(config.kinds)
        self.turns = {kind: self._turns(kind) for kind in kinds}
        keys = (cached_positions, cached_sequences), (self.positions, self.sequences)
        self.seen = {kind: [self._seen(kind, *each) for each in keys] for kind in kinds}
        table = self._matrix(TABLE, config.vocabulary, config.width)
        x = self._scaled(table.rows(tokens), config.embedding_scale)
        outputs: list[SSAValue] = []
        for layer, cache in enumerate(caches):
            x, *new = self._layer(layer, x, cache)
            outputs += new
        last = self._norm("model.norm", emit(GatherOp(x, wanted)))
        head = (
            table
            if config.tied
            else self._matrix("lm_head.weight", config.vocabulary, config.width)
        )
        logits = self._scaled(head.product(last, 0, config.vocabulary, None), config.logit_scale)
        names = [
            f"new_{what}.{layer}" for layer in range(config.layers) for what in ("keys", "values")
        ]
        return self.function.module([logits, *outputs], ["logits", *names])

    # Arguments.

    def _input(self, name: str, element: Attribute, *shape: int) -> SSAValue:
        return self.function.add_argument(ArgumentKind.INPUT, name, TensorType(element, shape))

    def _matrix(self, name: str, rows: int, columns: int) -> Matrix | Blocks:
        dtype, shape = self.dtype_of(name), (rows, columns)
        return weight_of(self.function, name, dtype, shape, rounds=self.rounds)

    def _row(self, name: str, size: int) -> SSAValue:
        """Return a bias, or the scale of a norm, in f32."""
        type = TensorType(FLOATS[self.dtype_of(name)], (size,))
        return self.emit.cast(self.function.add_argument(ArgumentKind.PARAMETER, name, type), f32)

    # Parts of a layer.

    def _layer(
        self, layer: int, x: SSAValue, cache: tuple[SSAValue, SSAValue]
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Return what a layer makes, and the keys and values that it adds to its cache."""
        config, emit, name = self.config, self.emit, f"model.layers.{layer}"
        before, behind, before_hidden, behind_hidden = config.norms
        attended, keys, values = self._attention(layer, self._norm_in(name, before, x), cache)
        attended = self._norm_in(name, behind, attended)
        x = emit(AddOp(x, self._scaled(attended, config.residual_scale)))
        made = self._hidden(f"{name}.mlp", self._norm_in(name, before_hidden, x))
        made = self._norm_in(name, behind_hidden, made)
        return emit(AddOp(x, self._scaled(made, config.residual_scale))), keys, values

    def _norm_in(self, layer: str, norm: str, x: SSAValue) -> SSAValue:
        return self._norm(f"{layer}.{norm}", x) if norm else x

    def _norm(self, name: str, x: SSAValue) -> SSAValue:
        emit = self.emit
        scale = self._row(f"{name}.weight", tensor_shape(x)[-1])
        if self.config.norm_offset:
            scale = emit(AddOp(scale, emit.number(self.config.norm_offset, f32)))
        return emit(RmsNormOp(x, scale, eps=self.config.eps))

    def _scaled(self, x: SSAValue, factor: float) -> SSAValue:
        return x if factor == 1 else self.emit(MulOp(x, self.emit.number(factor, f32)))

    def _hidden(self, name: str, x: SSAValue) -> SSAValue:
        """Return down(activation(gate(x)) * up(x))."""
        config, emit = self.config, self.emit
        if config.architecture == "phi3":
            sizes = [config.hidden] * 2
            gate, up = self._products(f"{name}.gate_up_proj", x, sizes)
        else:
            gate, up = (self._product(f"{name}.{e}_proj", x, config.hidden) for e in ("gate", "up"))
        if config.activation == "silu":
            gate = emit(SiluOp(gate))
        else:
            gate = emit(GeluOp(gate, approximate="tanh"))
        return self._product(f"{name}.down_proj", emit(MulOp(gate, up)), config.width)

    def _product(self, name: str, x: SSAValue, size: int, *, bias: bool = False) -> SSAValue:
        return self._products(name, x, [size], bias=bias)[0]

    def _products(
        self, name: str, x: SSAValue, sizes: Sequence[int], *, bias: bool = False
    ) -> Sequence[SSAValue]:
        """Return products with parts of one weight."""
        weight = self._matrix(f"{name}.weight", sum(sizes), tensor_shape(x)[-1])
        added = self._row(f"{name}.bias", sizes[0]) if bias else None
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()
        return [
            weight.product(x, first, size, added) for first, size in zip(firsts, sizes, strict=True)
        ]

    def _attention(
        self, layer: int, x: SSAValue, cache: tuple[SSAValue, SSAValue]
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Attend to the cache and to the rows themselves, by one softmax over both."""
        config, emit, kind = self.config, self.emit, self.config.kinds[layer]
        q, keys, values = self._heads(f"model.layers.{layer}.self_attn", x)
        if config.rotates[layer]:
            q, keys = (self._turned(each, kind) for each in (q, keys))
        queries = self._by_head(q)
        own_keys = emit(TransposeOp(keys, permutation=[1, 0, 2]))
        both = (
            (emit(ScoresOp(queries, cache[0])), self.past),
            (emit(BatchMatMulOp(queries, own_keys, transpose_b=True)), self.rows),
        )
        scores = [
            self._masked(part, seen, count)
            for (part, count), seen in zip(both, self.seen[kind], strict=True)
        ]
        shares = emit(SoftmaxOp(emit(CatOp(scores, dim=-1))))
        places = config.shared_heads, config.group, self.rows
        before, own = (
            emit(SliceOp(shares, offsets=[0, 0, 0, first], sizes=[*places, count]))
            for first, count in ((0, self.past), (self.past, self.rows))
        )
        heads = config.shared_heads, config.group * self.rows
        mixed = emit(MixedOp(emit.reshape(before, (*heads, self.groups, GROUP)), cache[1]))
        own_values = emit(TransposeOp(values, permutation=[1, 0, 2]))
        own = emit(BatchMatMulOp(emit.reshape(own, (*heads, self.rows)), own_values))
        mixed = emit(AddOp(mixed, own))
        out = self._product(
            f"model.layers.{layer}.self_attn.o_proj", self._by_row(mixed), config.width
        )
        return out, keys, values

    def _heads(self, name: str, x: SSAValue) -> Sequence[SSAValue]:
        """Return queries, keys and values: (rows, heads, width of a head)."""
        config = self.config
        counts = (config.heads, config.shared_heads, config.shared_heads)
        sizes = [count * config.head_width for count in counts]
        if config.architecture == "phi3":
            made = self._products(f"{name}.qkv_proj", x, sizes)
        else:
            made = [
                self._product(f"{name}.{what}_proj", x, size, bias=config.bias)
                for what, size in zip("qkv", sizes, strict=True)
            ]
        q, keys, values = made
        if config.head_norm == "all":
            q, keys = self._norm(f"{name}.q_norm", q), self._norm(f"{name}.k_norm", keys)
        q, keys, values = (
            self.emit.reshape(each, (self.rows, count, config.head_width))
            for each, count in zip((q, keys, values), counts, strict=True)
        )
        if config.head_norm == "each":
            q, keys = self._norm(f"{name}.q_norm", q), self._norm(f"{name}.k_norm", keys)
        return q, keys, values

    def _by_head(self, q: SSAValue) -> SSAValue:
        """(rows, heads, width) -> (shared heads, heads of each * rows, width)"""
        config, emit = self.config, self.emit
        q = emit(TransposeOp(q, permutation=[1, 0, 2]))
        shape = (config.shared_heads, config.group * self.rows, config.head_width)
        return emit(ReshapeOp(q, shape=shape))

    def _by_row(self, x: SSAValue) -> SSAValue:
        """Undo `_by_head`, heads side by side."""
        config, emit = self.config, self.emit
        x = emit(ReshapeOp(x, shape=(config.heads, self.rows, config.head_width)))
        x = emit(TransposeOp(x, permutation=[1, 0, 2]))
        return emit(ReshapeOp(x, shape=(self.rows, config.heads * config.head_width)))

    def _masked(self, scores: SSAValue, seen: SSAValue, count: int) -> SSAValue:
        config, emit = self.config, self.emit
        shape = (config.shared_heads, config.group, self.rows, count)
        scores = self._scaled(emit(ReshapeOp(scores, shape=shape)), config.score_scale)
        return emit(WhereOp(seen, scores, emit.number(-np.inf, f32)))

    # Positions.

    def _turns(self, kind: str) -> tuple[SSAValue, SSAValue]:
        """Return cosines and sines of all angles: (rows, 1, half a head)."""
        emit, angles = self.emit, self.config.frequencies(kind)
        places = emit.cast(emit(ReshapeOp(self.positions, shape=(self.rows, 1, 1))), f32)
        turned = emit(MulOp(places, emit.array(angles, f32)))
        return emit(CosOp(turned)), emit(SinOp(turned))

    def _turned(self, x: SSAValue, kind: str) -> SSAValue:
        """Rotate pairs of numbers by the angles of their positions."""
        emit, half = self.emit, self.config.head_width // 2
        rows, heads, width = tensor_shape(x)
        cos, sin = self.turns[kind]
        step = 2 if self.config.interleaved else 1
        starts = (0, 1) if self.config.interleaved else (0, half)
        first, second = (
            emit(SliceOp(x, offsets=[0, 0, at], sizes=[rows, heads, half], strides=[1, 1, step]))
            for at in starts
        )
        left = emit(SubOp(emit(MulOp(first, cos)), emit(MulOp(second, sin))))
        right = emit(AddOp(emit(MulOp(second, cos)), emit(MulOp(first, sin))))
        if not self.config.interleaved:
            return emit(CatOp([left, right], dim=-1))
        pairs = [emit(ReshapeOp(each, shape=(rows, heads, half, 1))) for each in (left, right)]
        return emit(ReshapeOp(emit(CatOp(pairs, dim=-1)), shape=(rows, heads, width)))

    def _seen(self, kind: str, positions: SSAValue, sequences: SSAValue) -> SSAValue:
        """Return which of some keys each row sees: (rows, keys)."""
        emit = self.emit
        count = prod(tensor_shape(positions))
        positions, sequences = (emit.reshape(x, (1, count)) for x in (positions, sequences))
        position, sequence = (
            emit.reshape(x, (self.rows, 1)) for x in (self.positions, self.sequences)
        )

        def compared(lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
            return emit(CompareOp(lhs, rhs, predicate=predicate))

        before = compared(positions, "le", position)
        seen = emit(BitwiseAndOp(compared(sequences, "eq", sequence), before))
        if kind == FULL:
            return seen
        oldest = emit(SubOp(position, emit.number(self.config.window, i64)))
        return emit(BitwiseAndOp(seen, compared(positions, "gt", oldest)))


def shapes_of(config: Config) -> Mapping[str, tuple[int, ...]]:
    """Return the shapes of the weights that a decoder reads, by name."""
    decoder = Decoder(config, lambda _: "float32", 1, 2)
    decoder.module()
    return {
        each.name: tensor_shape(decoder.function.block.args[each.index])
        for each in decoder.function.arguments
        if each.kind is ArgumentKind.PARAMETER
    }
