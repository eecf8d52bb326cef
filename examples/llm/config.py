"""What a decoder is: sizes and options, read from the config.json that comes with its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gawee_dialect import GaweeError

ARCHITECTURES = (
    *("llama", "mistral", "qwen2", "qwen3", "phi3", "gemma3_text"),
    *("granite", "olmo2", "smollm3", "helium"),
)
"""Values of `model_type` whose decoder is built of the parts in this folder."""

FULL = "full_attention"
SLIDING = "sliding_attention"


@dataclass(frozen=True)
class Config:
    """Sizes and options of a decoder, whose weights have the names that transformers gives them."""

    architecture: str
    layers: int
    width: int
    heads: int
    shared_heads: int
    """Of keys and values: each serves `heads / shared_heads` heads of queries."""
    head_width: int
    hidden: int
    vocabulary: int
    eps: float
    rotations: Mapping[str, Mapping[str, Any]]
    """Parameters of rotary positions, by kind of layer."""
    kinds: Sequence[str]
    """Of each layer: it sees all positions, or those of a window."""
    window: int
    tied: bool
    """Whether the last product is with the table of the embedding."""
    rotates: Sequence[bool]
    interleaved: bool
    """Whether neighbouring numbers are rotated, or those half a head apart."""
    activation: str
    bias: bool
    """Of queries, keys and values."""
    head_norm: str
    """`each`: queries and keys are normalized head by head; `all`: over all heads; or none."""
    norm_offset: float
    """Added to the weights of norms."""
    norms: Sequence[str]
    """Names of a layer's norms: before and behind attention, before and behind what follows it."""
    embedding_scale: float
    score_scale: float
    residual_scale: float
    logit_scale: float
    end: Sequence[int]
    """Tokens that end a text."""

    @property
    def group(self) -> int:
        """How many heads of queries share keys and values."""
        return self.heads // self.shared_heads

    def frequencies(self, kind: str) -> NDArray[np.float32]:
        """Return the angle of one position for each pair of numbers of a head."""
        given = self.rotations[kind]
        steps = np.arange(0, self.head_width, 2, dtype=np.float32) / np.float32(self.head_width)
        angles = (1 / np.float32(given["rope_theta"]) ** steps).astype(np.float32)
        if "factors" in given:
            return angles / given["factors"]
        scaling = given.get("rope_type", given.get("type", "default"))
        if scaling == "linear":
            return angles / np.float32(given["factor"])
        if scaling == "llama3":
            return _stretched(angles, given)
        if scaling != "default":
            raise GaweeError(
                f"expected rotary positions of type default, linear or llama3, got '{scaling}'"
            )
        return angles


def _stretched(angles: NDArray[np.float32], given: Mapping[str, Any]) -> NDArray[np.float32]:
    """Slow down what turns less often than the context that was trained first has room for."""
    context, factor = given["original_max_position_embeddings"], given["factor"]
    low, high = given["low_freq_factor"], given["high_freq_factor"]
    turns = context * angles / (2 * pi)
    share = np.clip((turns - low) / (high - low), 0, 1)
    return ((1 - share) * angles / factor + share * angles).astype(np.float32)


def config_of(given: Mapping[str, Any]) -> Config:
    """Return what a config.json says; raises GaweeError for what these parts do not build."""
    kind = given.get("model_type")
    if kind not in ARCHITECTURES:
        raise GaweeError(
            f"expected model_type to be one of {', '.join(ARCHITECTURES)}, got '{kind}'"
        )
    try:
        return _config(str(kind), given)
    except KeyError as error:
        raise GaweeError(f"expected the configuration to have {error}") from error


def _config(kind: str, given: Mapping[str, Any]) -> Config:
    heads, width, layers = (
        given[key] for key in ("num_attention_heads", "hidden_size", "num_hidden_layers")
    )
    head_width = given.get("head_dim") or width // heads
    is_gemma, is_granite = kind == "gemma3_text", kind == "granite"
    kinds = given.get("layer_types") or [FULL] * layers
    if kind == "mistral" and given.get("sliding_window"):
        kinds = [SLIDING] * layers
    end = given.get("eos_token_id")
    return Config(
        architecture=kind,
        layers=layers,
        width=width,
        heads=heads,
        shared_heads=given.get("num_key_value_heads") or heads,
        head_width=head_width,
        hidden=given["intermediate_size"],
        vocabulary=given["vocab_size"],
        eps=given["rms_norm_eps"],
        rotations=_rotations(given),
        kinds=kinds,
        window=given.get("sliding_window") or 0,
        tied=bool(given.get("tie_word_embeddings", is_gemma)),
        rotates=[bool(each) for each in given.get("no_rope_layers") or [True] * layers],
        interleaved=given.get("interleaved", kind == "helium"),
        activation=given.get("hidden_activation") or given.get("hidden_act", "silu"),
        bias=bool(given.get("attention_bias")) or kind == "qwen2",
        head_norm={"qwen3": "each", "gemma3_text": "each", "olmo2": "all"}.get(kind, ""),
        norm_offset=1.0 if is_gemma else 0.0,
        norms=_norms(kind),
        embedding_scale=width**0.5 if is_gemma else given.get("embedding_multiplier", 1.0),
        score_scale=(
            given["attention_multiplier"]
            if is_granite
            else (given.get("query_pre_attn_scalar") or head_width) ** -0.5
        ),
        residual_scale=given.get("residual_multiplier", 1.0),
        logit_scale=1 / given.get("logits_scaling", 1.0),
        end=end if isinstance(end, list) else [] if end is None else [end],
    )


def _norms(kind: str) -> Sequence[str]:
    before = "input_layernorm"
    if kind == "gemma3_text":
        behind = "pre_feedforward_layernorm", "post_feedforward_layernorm"
        return before, "post_attention_layernorm", *behind
    if kind == "olmo2":
        return "", "post_attention_layernorm", "", "post_feedforward_layernorm"
    return before, "", "post_attention_layernorm", ""


def _rotations(given: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the parameters by kind of layer, from either way in which files have them."""
    found = given.get("rope_parameters")
    if found and FULL in found:
        return found
    if not found:
        scaling: Mapping[str, Any] = given.get("rope_scaling") or {}
        found = {"rope_theta": given.get("rope_theta", 10000.0), **scaling}
    local = (
        {"rope_theta": given["rope_local_base_freq"]} if "rope_local_base_freq" in given else found
    )
    return {FULL: found, SLIDING: local}
