"""Networks of the transformers library: of as many kinds as there are, in small."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.zoo.libraries import import_library

LENGTH = 16
VOCABULARY = 128

ENCODER = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
ENCODER |= {"intermediate_size": 48, "max_position_embeddings": 64}
DECODER = {**ENCODER, "use_cache": False}
GROUPED = {**DECODER, "num_key_value_heads": 2}


class OutputTensors(nn.Module):
    """A model called with inputs by name, of whose outputs the tensors are returned."""

    def __init__(self, model: nn.Module, names: tuple[str, ...]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        outputs = self.model(**dict(zip(self.names, inputs, strict=True)), return_dict=False)
        return tuple(each for each in outputs if isinstance(each, Tensor))


@dataclass(frozen=True)
class Recipe:
    """A class of the library, its configuration, and what it takes."""

    model: str
    config: str
    options: Mapping[str, object]
    inputs: tuple[str, ...] = ("input_ids",)


def _gpt(width: str, layers: str, heads: str, positions: str, **more: object) -> dict[str, object]:
    return {width: 32, layers: 2, heads: 4, positions: 64, "use_cache": False, **more}


MASKED = ("input_ids", "attention_mask")
RECIPES: Mapping[str, Recipe] = {
    "bert": Recipe("BertForSequenceClassification", "BertConfig", ENCODER, MASKED),
    "roberta": Recipe("RobertaModel", "RobertaConfig", ENCODER),
    "distilbert": Recipe(
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64},
    ),
    "albert": Recipe("AlbertModel", "AlbertConfig", {**ENCODER, "embedding_size": 16}),
    "electra": Recipe("ElectraModel", "ElectraConfig", {**ENCODER, "embedding_size": 16}),
    "mpnet": Recipe("MPNetModel", "MPNetConfig", ENCODER),
    "deberta_v2": Recipe(
        "DebertaV2Model",
        "DebertaV2Config",
        {**ENCODER, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "modernbert": Recipe("ModernBertModel", "ModernBertConfig", ENCODER, MASKED),
    "squeezebert": Recipe(
        "SqueezeBertModel", "SqueezeBertConfig", {**ENCODER, "embedding_size": 32}
    ),
    "mobilebert": Recipe(
        "MobileBertModel",
        "MobileBertConfig",
        {**ENCODER, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    ),
    "fnet": Recipe("FNetModel", "FNetConfig", ENCODER),
    "gpt2": Recipe(
        "GPT2LMHeadModel", "GPT2Config", _gpt("n_embd", "n_layer", "n_head", "n_positions")
    ),
    "gpt_neo": Recipe(
        "GPTNeoModel",
        "GPTNeoConfig",
        {
            **_gpt("hidden_size", "num_layers", "num_heads", "max_position_embeddings"),
            "attention_types": [[["global", "local"], 1]],
            "window_size": 8,
        },
    ),
    "gpt_neox": Recipe("GPTNeoXModel", "GPTNeoXConfig", DECODER),
    "opt": Recipe(
        "OPTModel", "OPTConfig", {**DECODER, "ffn_dim": 48, "word_embed_proj_dim": 32}, MASKED
    ),
    "bloom": Recipe(
        "BloomModel",
        "BloomConfig",
        {"hidden_size": 32, "n_layer": 2, "n_head": 4, "use_cache": False},
        MASKED,
    ),
    "llama": Recipe("LlamaForCausalLM", "LlamaConfig", GROUPED),
    "mistral": Recipe("MistralModel", "MistralConfig", {**GROUPED, "sliding_window": 8}),
    "qwen2": Recipe("Qwen2Model", "Qwen2Config", GROUPED),
    "qwen3": Recipe("Qwen3Model", "Qwen3Config", {**GROUPED, "head_dim": 8}),
    "gemma": Recipe("GemmaModel", "GemmaConfig", {**GROUPED, "head_dim": 8}),
    "gemma2": Recipe("Gemma2Model", "Gemma2Config", {**GROUPED, "head_dim": 8}),
    "phi": Recipe("PhiModel", "PhiConfig", DECODER),
    "stablelm": Recipe("StableLmModel", "StableLmConfig", GROUPED),
    "falcon": Recipe(
        "FalconModel",
        "FalconConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "use_cache": False},
    ),
    "t5_encoder": Recipe(
        "T5EncoderModel",
        "T5Config",
        {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4},
        MASKED,
    ),
    "bart": Recipe(
        "BartModel",
        "BartConfig",
        {
            "d_model": 32,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": 64,
            "use_cache": False,
        },
        ("input_ids", "decoder_input_ids"),
    ),
    "mixtral": Recipe("MixtralModel", "MixtralConfig", {**GROUPED, "num_local_experts": 4}),
    "mamba": Recipe(
        "MambaModel",
        "MambaConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, "use_cache": False},
    ),
    "vit": Recipe("ViTModel", "ViTConfig", {**ENCODER, "image_size": 32}, ("pixel_values",)),
    "dinov2": Recipe(
        "Dinov2Model", "Dinov2Config", {**ENCODER, "image_size": 28}, ("pixel_values",)
    ),
    "clip_vision": Recipe(
        "CLIPVisionModel", "CLIPVisionConfig", {**ENCODER, "image_size": 64}, ("pixel_values",)
    ),
    "segformer": Recipe(
        "SegformerForSemanticSegmentation",
        "SegformerConfig",
        {"hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4, "decoder_hidden_size": 16},
        ("pixel_values",),
    ),
    "wav2vec2": Recipe(
        "Wav2Vec2Model",
        "Wav2Vec2Config",
        {
            **{**ENCODER, "conv_dim": [16] * 7, "num_conv_pos_embeddings": 16},
            "apply_spec_augment": False,
        },
        ("input_values",),
    ),
    "whisper_encoder": Recipe(
        "WhisperModel",
        "WhisperConfig",
        {
            "d_model": 32,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_source_positions": 20,
            "max_target_positions": 32,
            "num_mel_bins": 16,
            "use_cache": False,
            "pad_token_id": 0,
        },
        ("input_features", "decoder_input_ids"),
    ),
}


def _input(name: str, config: object) -> Tensor:
    """Make the input of a name: ids, a mask with padding, an image, or a wave."""
    if name in ("input_ids", "decoder_input_ids"):
        return torch.randint(3, VOCABULARY, (2, LENGTH))
    if name == "attention_mask":
        mask = torch.ones(2, LENGTH, dtype=torch.int64)
        mask[1, LENGTH - 4 :] = 0
        return mask
    if name == "pixel_values":
        size = getattr(config, "image_size", 64)
        return torch.randn(1, 3, size, size)
    if name == "input_values":
        return torch.randn(1, 3200)
    return torch.randn(1, 16, 40)


def build(recipe: Recipe) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Make a network and an input for it."""
    library = import_library("transformers")
    config = getattr(library, recipe.config)(**recipe.options)
    if hasattr(config, "vocab_size"):
        config.vocab_size = VOCABULARY
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        if getattr(config, name, None) is not None:
            setattr(config, name, 1)
    model = getattr(library, recipe.model)(config)
    inputs = tuple(_input(name, config) for name in recipe.inputs)
    return OutputTensors(model, recipe.inputs), inputs


def language_networks() -> dict[str, Callable[[], tuple[nn.Module, tuple[Tensor, ...]]]]:
    """Return what makes each network, by name."""
    return {name: partial(build, recipe) for name, recipe in RECIPES.items()}
