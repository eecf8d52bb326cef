"""Networks that are not in the zoo: of five libraries, small and with random weights."""

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.zoo.further import further
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Built, Network

FURTHER = (
    *("vgg13", "resnet34", "squeezenet1_0", "shufflenet_v2_x1_0", "efficientnet_b1", "swin_s"),
    *("regnet_y_800mf", "mnasnet1_0", "fcn_resnet101", "r2plus1d_18"),
    *("resnest14d", "ghostnetv2_100", "ese_vovnet19b_dw", "mambaout_femto", "fasternet_t0"),
    *("xcit_tiny_12_p8_224", "tnt_s_patch16_224", "sequencer2d_s"),
    *("xlm_roberta", "convbert", "roformer", "esm", "olmo2", "phi3", "qwen3_moe", "mbart", "t5"),
    *("hubert", "deit", "xlnet", "mamba2", "funnel"),
)
"""Of torchvision, timm and transformers, from `benchmarks.zoo.further`."""


class FirstTensors(nn.Module):
    """A model of diffusers, which returns tuples when asked to."""

    def __init__(self, model: nn.Module, *args: object, **kwargs: object) -> None:
        super().__init__()
        self.model, self.args, self.kwargs = model, args, kwargs

    def forward(self, *inputs: Tensor) -> Tensor:
        found = self.model(*inputs, *self.args, **self.kwargs, return_dict=False)
        return found[0]


UNET = {
    **{"sample_size": 16, "block_out_channels": (32, 64), "layers_per_block": 1},
    **{"norm_num_groups": 8, "attention_head_dim": 8},
}
CODER = {
    **{"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1},
    **{"down_block_types": ("DownEncoderBlock2D",) * 2},
    **{"up_block_types": ("UpDecoderBlock2D",) * 2},
}


def _diffusers(name: str, options: Mapping[str, object], shapes: list[tuple[int, ...]]) -> Built:
    model = getattr(import_library("diffusers"), name)(**options)
    inputs = tuple(torch.randn(shape) for shape in shapes)
    return FirstTensors(model), inputs


def _of_time(name: str, options: Mapping[str, object], shapes: list[tuple[int, ...]]) -> Built:
    model = getattr(import_library("diffusers"), name)(**options)
    sample, *others = (torch.randn(shape) for shape in shapes)
    return FirstTensors(model), (sample, torch.full((1,), 7), *others)


def _audio(name: str, options: Mapping[str, object], shape: tuple[int, ...]) -> Built:
    made = getattr(import_library("torchaudio").models, name)(**options)
    return made, (torch.randn(shape),)


def _conformer() -> Built:
    made = import_library("torchaudio").models.Conformer(24, 4, 48, 2, 7)
    return made, (torch.randn(1, 19, 24), torch.tensor([19]))


WAV2VEC = {
    "extractor_mode": "group_norm",
    "extractor_conv_layer_config": [(16, 10, 5), (16, 3, 2), (16, 2, 2)],
    "extractor_conv_bias": False,
    "encoder_embed_dim": 32,
    "encoder_projection_dropout": 0.1,
    "encoder_pos_conv_kernel": 16,
    "encoder_pos_conv_groups": 4,
    "encoder_num_layers": 2,
    "encoder_num_heads": 4,
    "encoder_attention_dropout": 0.1,
    "encoder_ff_interm_features": 48,
    "encoder_ff_interm_dropout": 0.1,
    "encoder_dropout": 0.1,
    "encoder_layer_norm_first": False,
    "encoder_layer_drop": 0.0,
    "aux_num_out": None,
}


def others() -> dict[str, Network]:
    """Return the networks by name."""
    known = further()
    made = [
        *(known[name] for name in FURTHER),
        Network(
            "unet_2d",
            "diffusers",
            partial(
                _of_time,
                "UNet2DModel",
                {
                    **UNET,
                    "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                    "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
                },
                [(1, 3, 16, 16)],
            ),
        ),
        Network(
            "unet_2d_condition",
            "diffusers",
            partial(
                _of_time,
                "UNet2DConditionModel",
                {
                    **UNET,
                    "cross_attention_dim": 32,
                    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
                    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
                },
                [(1, 4, 16, 16), (1, 7, 32)],
            ),
        ),
        Network(
            "autoencoder_kl",
            "diffusers",
            partial(_diffusers, "AutoencoderKL", CODER, [(1, 3, 32, 32)]),
        ),
        Network("vq_model", "diffusers", partial(_diffusers, "VQModel", CODER, [(1, 3, 32, 32)])),
        Network(
            "autoencoder_tiny",
            "diffusers",
            partial(
                _diffusers,
                "AutoencoderTiny",
                {
                    "encoder_block_out_channels": (16, 16),
                    "decoder_block_out_channels": (16, 16),
                    "num_encoder_blocks": (1, 1),
                    "num_decoder_blocks": (1, 1),
                },
                [(1, 3, 32, 32)],
            ),
        ),
        Network("conformer", "torchaudio", _conformer),
        Network("wav2letter", "torchaudio", partial(_audio, "Wav2Letter", {}, (1, 1, 4000))),
        Network(
            "deepspeech",
            "torchaudio",
            partial(_audio, "DeepSpeech", {"n_feature": 24}, (1, 1, 19, 24)),
        ),
        Network(
            "conv_tasnet",
            "torchaudio",
            partial(
                _audio,
                "ConvTasNet",
                {
                    "enc_num_feats": 32,
                    "msk_num_feats": 16,
                    "msk_num_hidden_feats": 32,
                    "msk_num_layers": 2,
                },
                (1, 1, 2000),
            ),
        ),
        Network(
            "wav2vec2_audio", "torchaudio", partial(_audio, "wav2vec2_model", WAV2VEC, (1, 4000))
        ),
    ]
    return {each.name: each for each in made}
