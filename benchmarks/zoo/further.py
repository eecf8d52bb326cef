"""Networks that are not in the zoo, checked as its own are: `python -m benchmarks.zoo.further`.

They show which ops are missing that the zoo does not have. It prints what became of each, and how
many failed for which reason; nothing is written to the documentation.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import torch

from benchmarks.zoo.__main__ import LIBRARIES, choose, run_zoo
from benchmarks.zoo.check import Result, check
from benchmarks.zoo.language import DECODER, ENCODER, GROUPED, MASKED, Recipe, build
from benchmarks.zoo.libraries import import_library
from benchmarks.zoo.networks import Built, Network, zoo

TORCHVISION: Mapping[str, int] = {
    **{"vgg13": 32, "vgg16_bn": 32, "resnet34": 64, "resnet101": 64, "resnext101_32x8d": 64},
    **{"densenet161": 64, "densenet169": 64, "squeezenet1_0": 64, "shufflenet_v2_x1_0": 64},
    **{"mnasnet1_0": 64, "efficientnet_b1": 64, "regnet_y_800mf": 64, "regnet_x_800mf": 64},
    **{"convnext_small": 64, "swin_s": 64, "swin_v2_s": 64},
}
SEGMENTATION = ("fcn_resnet101", "deeplabv3_resnet50", "deeplabv3_resnet101")
VIDEO: Mapping[str, tuple[int, int]] = {
    "r2plus1d_18": (4, 32),
    "swin3d_t": (4, 64),
    "s3d": (16, 224),
}

TIMM: Mapping[int, Sequence[str]] = {
    64: (
        *("resnest14d", "resnet33ts", "seresnet33ts", "seresnext26t_32x4d", "cspdarknet53"),
        *("cspresnext50", "darknetaa53", "cs3darknet_s", "cs3sedarknet_l", "ese_vovnet19b_dw"),
        *("dla46_c", "ghostnetv2_100", "ghostnetv3_050", "repghostnet_050", "mixnet_m"),
        *("efficientnet_es", "efficientnet_cc_b0_4e", "efficientnetv2_rw_t", "tf_mixnet_s"),
        *("tf_efficientnetv2_b0", "spnasnet_100", "mnasnet_small", "mobilenetv1_100"),
        *("mobilenetv3_rw", "mobilenet_edgetpu_v2_xs", "mobilenetv4_hybrid_medium", "fbnetv3_b"),
        *("eca_nfnet_l0", "nf_regnet_b0", "regnetz_b16", "regnetx_002", "rexnetr_100"),
        *("res2next50", "selecsls42b", "xception41", "legacy_xception", "legacy_seresnet18"),
        *("dpn48b", "densenetblur121d", "hgnet_tiny", "hgnetv2_b0", "convnext_atto", "rdnet_tiny"),
        *("efficientvit_b0", "fasternet_t0", "focalnet_tiny_srf", "mambaout_femto", "gernet_s"),
        *("caformer_s18", "convformer_s18", "poolformerv2_s12", "tresnet_m", "starnet_s2"),
        *("bat_resnext26ts", "sehalonet33ts", "haloregnetz_b", "mobileone_s1", "convmixer_768_32"),
    ),
    128: ("inception_v4", "inception_resnet_v2", "nextvit_small", "shvit_s1"),
    224: (
        *("convit_tiny", "davit_tiny", "efficientformerv2_s0", "efficientvit_m0", "gcvit_xxtiny"),
        *("hiera_tiny_224", "coatnet_nano_rw_224", "mvitv2_tiny", "nest_tiny", "pit_ti_224"),
        *("sequencer2d_s", "swiftformer_xs", "swinv2_cr_tiny_ns_224", "tnt_s_patch16_224"),
        *(
            "twins_pcpvt_small",
            "visformer_tiny",
            "vitamin_small_224",
            "volo_d1_224",
            "crossvit_9_240",
        ),
        *("vit_relpos_small_patch16_224", "vit_tiny_r_s16_p8_224", "flexivit_small"),
        *("deit3_small_patch16_224", "xcit_tiny_12_p8_224", "gmixer_24_224"),
    ),
    256: ("lamhalobotnet50ts_256", "eca_botnext26ts_256", "swinv2_tiny_window8_256"),
}
"""Networks of timm by the extent of the image that each is given."""

SPEECH = {
    "apply_spec_augment": False,
    **ENCODER,
    "conv_dim": [16] * 7,
    "num_conv_pos_embeddings": 16,
}
BOTH = {
    **{"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4},
    **{"decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48},
    **{"max_position_embeddings": 64, "use_cache": False},
}
T5 = {
    **{"d_model": 32, "d_kv": 8, "d_ff": 48},
    **{"num_layers": 2, "num_heads": 4, "use_cache": False},
}
TWO = ("input_ids", "decoder_input_ids")
IMAGE = ("pixel_values",)


def recipes() -> Mapping[str, Recipe]:
    """Return the networks of transformers by name."""
    plain = {
        **{"xlm_roberta": "XLMRoberta", "camembert": "Camembert", "ernie": "Ernie"},
        **{"layoutlm": "LayoutLM", "nystromformer": "Nystromformer", "roformer": "RoFormer"},
        **{"convbert": "ConvBert", "rembert": "RemBert", "megatron_bert": "MegatronBert"},
        **{"data2vec_text": "Data2VecText", "mra": "Mra", "yoso": "Yoso", "esm": "Esm"},
    }
    decoders = {
        **{"olmo": "Olmo", "olmo2": "Olmo2", "cohere": "Cohere", "starcoder2": "Starcoder2"},
        **{"phi3": "Phi3", "granite": "Granite", "glm": "Glm", "nemotron": "Nemotron"},
        **{
            "helium": "Helium",
            "smollm3": "SmolLM3",
            "ministral": "Ministral",
            "apertus": "Apertus",
        },
        **{"persimmon": "Persimmon", "biogpt": "BioGpt", "qwen2_moe": "Qwen2Moe"},
        **{"qwen3_moe": "Qwen3Moe", "olmoe": "Olmoe", "granitemoe": "GraniteMoe"},
    }
    both = {
        **{"mbart": "MBart", "pegasus": "Pegasus", "marian": "Marian", "plbart": "PLBart"},
        **{"blenderbot_small": "BlenderbotSmall", "m2m_100": "M2M100", "mvp": "Mvp"},
    }
    speech = {"hubert": "Hubert", "wavlm": "WavLM", "unispeech": "UniSpeech", "sew": "SEW"}
    images = {
        "deit": "DeiT",
        "beit": "Beit",
        "vit_msn": "ViTMSN",
        "ijepa": "IJepa",
        "yolos": "Yolos",
    }
    moe = {
        **{"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2},
        "moe_intermediate_size": 24,
    }
    small = {"pad_token_id": 0}
    return {
        **{
            key: Recipe(f"{n}Model", f"{n}Config", {**ENCODER, **small}) for key, n in plain.items()
        },
        **{
            key: Recipe(f"{n}Model", f"{n}Config", {**GROUPED, **moe, **small, "head_dim": 8})
            for key, n in decoders.items()
        },
        **{key: Recipe(f"{n}Model", f"{n}Config", BOTH, TWO) for key, n in both.items()},
        **{
            key: Recipe(
                f"{n}Model",
                f"{n}Config",
                {**SPEECH, "apply_spec_augment": False},
                ("input_values",),
            )
            for key, n in speech.items()
        },
        **{
            key: Recipe(f"{n}Model", f"{n}Config", {**ENCODER, "image_size": 32}, IMAGE)
            for key, n in images.items()
        },
        "xlnet": Recipe(
            "XLNetModel", "XLNetConfig", {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}
        ),
        "gptj": Recipe(
            "GPTJModel",
            "GPTJConfig",
            {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8, "use_cache": False},
        ),
        "codegen": Recipe(
            "CodeGenModel",
            "CodeGenConfig",
            {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 8, "use_cache": False},
        ),
        "gpt_bigcode": Recipe(
            "GPTBigCodeModel",
            "GPTBigCodeConfig",
            {"n_embd": 32, "n_layer": 2, "n_head": 4, "use_cache": False},
        ),
        "mpt": Recipe(
            "MptModel",
            "MptConfig",
            {"d_model": 32, "n_layers": 2, "n_heads": 4, "use_cache": False},
        ),
        "xglm": Recipe(
            "XGLMModel",
            "XGLMConfig",
            {
                "d_model": 32,
                "num_layers": 2,
                "attention_heads": 4,
                "ffn_dim": 48,
                "use_cache": False,
            },
        ),
        "rwkv": Recipe("RwkvModel", "RwkvConfig", {**DECODER, "attention_hidden_size": 32}),
        "falcon_mamba": Recipe(
            "FalconMambaModel", "FalconMambaConfig", {**DECODER, "state_size": 4}
        ),
        "mamba2": Recipe(
            "Mamba2Model",
            "Mamba2Config",
            {
                "hidden_size": 32,
                "num_hidden_layers": 2,
                "num_heads": 8,
                "head_dim": 8,
                "n_groups": 2,
                "state_size": 4,
                "use_cache": False,
            },
        ),
        "t5": Recipe("T5Model", "T5Config", T5, TWO),
        "mt5": Recipe("MT5Model", "MT5Config", T5, TWO),
        "funnel": Recipe(
            "FunnelModel",
            "FunnelConfig",
            {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1, 1]},
        ),
        "siglip_vision": Recipe(
            "SiglipVisionModel", "SiglipVisionConfig", {**ENCODER, "image_size": 32}, IMAGE
        ),
        "convnext_hf": Recipe(
            "ConvNextModel",
            "ConvNextConfig",
            {"hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4},
            IMAGE,
        ),
        "swin_hf": Recipe(
            "SwinModel",
            "SwinConfig",
            {
                "embed_dim": 16,
                "depths": [1, 1],
                "num_heads": [2, 4],
                "window_size": 4,
                "image_size": 64,
            },
            IMAGE,
        ),
        "mask2xlm": Recipe("XLMRobertaModel", "XLMRobertaConfig", ENCODER, MASKED),
    }


def _torchvision(name: str, shape: Sequence[int], options: Mapping[str, object]) -> Built:
    models = import_library("torchvision").models
    return models.get_model(name, weights=None, **options), (torch.randn(1, 3, *shape),)


def _timm(name: str, size: int) -> Built:
    size = 240 if name.endswith("_240") else size
    image = torch.randn(1, 3, size, size)
    return import_library("timm").create_model(name, pretrained=False), (image,)


def further() -> dict[str, Network]:
    """Return the networks by name; none of them is in the zoo."""
    plain = {name: ((size, size), {}) for name, size in TORCHVISION.items()}
    dense = {name: ((64, 64), {"weights_backbone": None}) for name in SEGMENTATION}
    video = {name: ((frames, size, size), {}) for name, (frames, size) in VIDEO.items()}
    seen = {**plain, **dense, **video}
    networks = [
        *(Network(n, "torchvision", partial(_torchvision, n, *each)) for n, each in seen.items()),
        *(
            Network(n, "timm", partial(_timm, n, size))
            for size, names in TIMM.items()
            for n in names
        ),
        *(Network(n, "transformers", partial(build, each)) for n, each in recipes().items()),
    ]
    return {each.name: each for each in networks if each.name not in zoo()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Check networks; return 1 where one computes something else than PyTorch."""
    parser = ArgumentParser(prog="python -m benchmarks.zoo.further", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; all networks without them")
    parser.add_argument("--jobs", type=int, default=1, help="how many networks at a time")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each")
    options = parser.parse_args(arguments)
    for library in LIBRARIES:
        import_library(library)
    verdicts: Counter[str] = Counter()
    chosen = choose(further(), options.names)
    for result in run_zoo(chosen, options.jobs, options.timeout, check, Result):
        verdicts[result.verdict] += 1
        figures = f"{result.difference:.1e}, compiled in {result.compile_seconds:.0f} s"
        told = f"{result.stage}: {result.reason}" if result.reason else figures
        print(f"{result.name}: {result.verdict}: {told}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    return int(verdicts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
