"""Which networks are in the zoo, and how each is made: random weights, small inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.zoo.language import language_networks
from benchmarks.zoo.libraries import import_library

Built = tuple[nn.Module, tuple[Tensor, ...]]


@dataclass(frozen=True)
class Network:
    """A network of the zoo: `build` makes the module and an input for it."""

    name: str
    library: str
    build: Callable[[], Built]


def _image(size: int, batch: int = 1) -> Tensor:
    return torch.randn(batch, 3, size, size)


def _torchvision(name: str, size: int, options: Mapping[str, object]) -> Built:
    models = import_library("torchvision").models
    return models.get_model(name, weights=None, **options), (_image(size),)


def _segmentation(name: str, size: int, options: Mapping[str, object]) -> Built:
    model, inputs = _torchvision(name, size, {"weights_backbone": None, **options})
    return model, inputs


def _video(name: str, size: int, options: Mapping[str, object]) -> Built:
    model, _ = _torchvision(name, size, options)
    return model, (torch.randn(1, 3, 4, size, size),)


def _timm(name: str, size: int, options: Mapping[str, object]) -> Built:
    return import_library("timm").create_model(name, pretrained=False, **options), (_image(size),)


PLAIN_TORCHVISION: Mapping[str, int] = {
    "alexnet": 64,
    "vgg11": 32,
    "vgg11_bn": 32,
    "resnet18": 64,
    "resnet50": 64,
    "wide_resnet50_2": 64,
    "resnext50_32x4d": 64,
    "squeezenet1_1": 64,
    "densenet121": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_small": 64,
    "mobilenet_v3_large": 64,
    "mnasnet0_5": 64,
    "shufflenet_v2_x0_5": 64,
    "efficientnet_b0": 64,
    "efficientnet_v2_s": 64,
    "regnet_x_400mf": 64,
    "regnet_y_400mf": 64,
    "convnext_tiny": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "maxvit_t": 224,
}
"""Classifiers of torchvision, and the extent of the image each is given."""

PLAIN_TIMM: Mapping[str, int] = {
    "resnet10t": 64,
    "resnet26d": 64,
    "seresnet18": 64,
    "skresnet18": 64,
    "ecaresnet26t": 64,
    "res2net50_26w_4s": 64,
    "cspresnet50": 64,
    "darknet17": 64,
    "vovnet39a": 64,
    "dla34": 64,
    "hrnet_w18_small": 64,
    "ghostnet_050": 64,
    "repvgg_a0": 64,
    "mixnet_s": 64,
    "tinynet_e": 64,
    "lcnet_050": 64,
    "efficientnet_lite0": 64,
    "semnasnet_075": 64,
    "regnety_002": 64,
    "rexnet_100": 64,
    "hardcorenas_a": 64,
    "fbnetc_100": 64,
    "mobilenetv4_conv_small": 64,
    "mobileone_s0": 64,
    "convnextv2_atto": 64,
    "edgenext_xx_small": 64,
    "poolformer_s12": 64,
    "mobilevit_xxs": 64,
    "mobilevitv2_050": 64,
    "repvit_m0_9": 64,
    "fastvit_t8": 64,
    "efficientformer_l1": 224,
    "levit_128s": 224,
    "starnet_s1": 64,
    "resnetv2_50": 64,
    "nf_resnet50": 64,
    "inception_next_atto": 64,
    "lambda_resnet26t": 64,
    "botnet26t_256": 256,
    "halonet26t": 256,
    "gcresnet33ts": 64,
    "xcit_nano_12_p16_224": 64,
    "tiny_vit_5m_224": 224,
    "pvt_v2_b0": 64,
    "twins_svt_small": 64,
}
"""Classifiers of timm that need no options."""

SMALL_TIMM: Mapping[str, tuple[int, Mapping[str, object]]] = {
    "vit_tiny_patch16_224": (64, {"img_size": 64, "depth": 4}),
    "deit_tiny_distilled_patch16_224": (64, {"img_size": 64, "depth": 4}),
    "beit_base_patch16_224": (64, {"img_size": 64, "depth": 2}),
    "coat_lite_tiny": (64, {"img_size": 64}),
    "cait_xxs24_224": (64, {"img_size": 64, "depth": 3}),
    "mixer_s32_224": (64, {"img_size": 64}),
    "gmlp_ti16_224": (64, {"img_size": 64}),
    "resmlp_12_224": (64, {"img_size": 64}),
    "swin_tiny_patch4_window7_224": (64, {"img_size": 64, "window_size": 4}),
    "eva02_tiny_patch14_224": (56, {"img_size": 56, "depth": 3}),
}
"""Networks of timm that are made for small images by an option."""

SEGMENTATION = ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")
VIDEO = ("r3d_18", "mc3_18")


def _vision() -> list[Network]:
    return [
        *(
            Network(name, "torchvision", partial(_torchvision, name, size, {}))
            for name, size in PLAIN_TORCHVISION.items()
        ),
        Network("vit_b_16", "torchvision", partial(_vit, 64)),
        Network(
            "googlenet",
            "torchvision",
            partial(_torchvision, "googlenet", 64, {"aux_logits": False, "init_weights": False}),
        ),
        Network(
            "inception_v3",
            "torchvision",
            partial(_torchvision, "inception_v3", 80, {"aux_logits": False, "init_weights": False}),
        ),
        *(
            Network(name, "torchvision", partial(_segmentation, name, 64, {}))
            for name in SEGMENTATION
        ),
        *(Network(name, "torchvision", partial(_video, name, 32, {})) for name in VIDEO),
        *(
            Network(name, "timm", partial(_timm, name, size, {}))
            for name, size in PLAIN_TIMM.items()
        ),
        *(
            Network(name, "timm", partial(_timm, name, size, options))
            for name, (size, options) in SMALL_TIMM.items()
        ),
    ]


def _vit(size: int) -> Built:
    transformer = import_library("torchvision").models.vision_transformer.VisionTransformer
    return transformer(size, 16, 4, 4, 128, 256), (_image(size),)


def zoo() -> dict[str, Network]:
    """Return every network by name."""
    language = (Network(name, "transformers", build) for name, build in language_networks().items())
    return {each.name: each for each in (*_vision(), *language)}
