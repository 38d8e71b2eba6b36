"""Families of torchvision and timm."""

from __future__ import annotations

from collections.abc import Callable

from tests.gallery.entries import Entry, Input, Outputs, image  # isort: skip (before torchvision)

import timm
import torch
import torchvision


def _torchvision(name: str, **options: object) -> Callable[[], torch.nn.Module]:
    return lambda: torchvision.models.get_model(name, weights=None, **options)


def _timm(name: str, **options: object) -> Callable[[], torch.nn.Module]:
    return lambda: timm.create_model(name, pretrained=False, **options)


class Detector(torch.nn.Module):
    """A detector of torchvision, which takes a list of pictures."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.inner([image[0]])[0].values())


def _detector(name: str, **options: object) -> Callable[[], torch.nn.Module]:
    return lambda: Detector(
        torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=11, **options)
    )


# Names with the sizes of the picture; two sizes where the architecture takes any.
_CLASSIFIERS = {
    "alexnet": (96, 96),
    "vgg11_bn": (64, 64),
    "resnet18": (64, 96),
    "resnet50": (64, 96),
    "resnext50_32x4d": (64, 96),
    "wide_resnet50_2": (64, 96),
    "mobilenet_v2": (64, 97),
    "mobilenet_v3_small": (64, 97),
    "mobilenet_v3_large": (64, 97),
    "efficientnet_b0": (64, 97),
    "efficientnet_v2_s": (64, 96),
    "convnext_tiny": (64, 96),
    "regnet_y_400mf": (64, 96),
    "regnet_x_400mf": (64, 96),
    "shufflenet_v2_x1_0": (64, 97),
    "squeezenet1_1": (64, 97),
    "mnasnet0_5": (64, 96),
    "densenet121": (64, 96),
    "googlenet": (64, 96),
    "inception_v3": (96, 128),
    "swin_t": (64, 96),
    "swin_v2_t": (64, 64),
}
_TIMM = {
    "vit_tiny_patch16_224": 224,
    "deit_tiny_distilled_patch16_224": 224,
    "swin_tiny_patch4_window7_224": 224,
    "mobilenetv4_conv_small": 64,
    "mobilenetv4_hybrid_medium": 64,
    "efficientnet_lite0": 64,
    "ghostnetv2_100": 64,
    "repvgg_a0": 64,
    "mobileone_s0": 64,
    "fastvit_t8": 64,
    "efficientvit_b0": 64,
    "efficientvit_m0": 224,
    "levit_128s": 224,
    "mixer_s32_224": 224,
    "resmlp_12_224": 224,
    "gmlp_ti16_224": 224,
    "poolformer_s12": 64,
    "coat_lite_tiny": 224,
    "pvt_v2_b0": 224,
    "xcit_nano_12_p16_224": 224,
    "edgenext_xx_small": 64,
    "mobilevit_xxs": 64,
    "mobilevitv2_050": 64,
    "cait_xxs24_224": 224,
    "eca_nfnet_l0": 64,
    "res2net50_26w_4s": 64,
    "resnest14d": 64,
    "hrnet_w18_small": 64,
    "dla34": 64,
    "ese_vovnet19b_dw": 64,
    "tinynet_e": 64,
    "lcnet_050": 64,
    "crossvit_tiny_240": 240,
    "convmixer_768_32": 64,
    "tnt_s_patch16_224": 224,
    "twins_svt_small": 224,
    "visformer_tiny": 224,
    "maxvit_rmlp_pico_rw_256": 256,
    "hiera_tiny_224": 224,
    "rexnet_100": 64,
    "selecsls42b": 64,
    "inception_next_atto": 64,
    "starnet_s1": 64,
    "efficientformerv2_s0": 224,
    "mambaout_femto": 64,
    "tiny_vit_5m_224": 224,
    "beit_base_patch16_224": 224,
    "eva02_tiny_patch14_224": 224,
    "convnextv2_atto": 64,
    "nest_tiny": 224,
    "davit_tiny": 224,
    "focalnet_tiny_srf": 224,
    "sequencer2d_s": 224,
    "volo_d1_224": 224,
    "botnet26t_256": 256,
    "halonet26t": 256,
    "lambda_resnet26t": 256,
    "cspdarknet53": 64,
    "nf_resnet50": 64,
    "skresnet18": 64,
    "vit_pe_spatial_tiny_patch16_512": 224,
    "repvit_m0_9": 64,
    "shvit_s1": 224,
    "rdnet_tiny": 64,
    "semnasnet_075": 64,
}
# MobileViT computes its sizes with Python's math module: exporters write them as constants.
_ALL_SIZES = {name for name, size in _TIMM.items() if size == 64 and not name.startswith("mobilevit")}

ENTRIES = {
    **{name: Entry("classification", _torchvision(name), image(*sizes)) for name, sizes in _CLASSIFIERS.items()},
    "maxvit_t": Entry("classification", _torchvision("maxvit_t", input_size=(224, 224)), image(224)),
    "vit_b_16 (dynamo)": Entry(
        "classification", _torchvision("vit_b_16", image_size=64), image(64, batch=(2, 3)), "dynamo", 20
    ),
    "resnet18 (dynamo)": Entry("classification", _torchvision("resnet18"), image(64, 96), "dynamo", 20),
    "mobilenet_v3_small (dynamo)": Entry(
        "classification", _torchvision("mobilenet_v3_small"), image(64, 97), "dynamo", 20
    ),
    "swin_t (dynamo)": Entry("classification", _torchvision("swin_t"), image(64, batch=(2, 3)), "dynamo", 20),
    **{
        f"timm/{name}": Entry(
            "classification",
            _timm(name, **({"img_size": 224} if name.startswith("vit_pe") else {})),
            image(size, 96 if name in _ALL_SIZES else 0),
        )
        for name, size in _TIMM.items()
    },
    "deeplabv3_mobilenet_v3_large": Entry(
        "segmentation",
        lambda: Outputs(
            torchvision.models.get_model("deeplabv3_mobilenet_v3_large", weights=None, weights_backbone=None), ["out"]
        ),
        image(96, 129),
    ),
    "lraspp_mobilenet_v3_large": Entry(
        "segmentation",
        lambda: Outputs(
            torchvision.models.get_model("lraspp_mobilenet_v3_large", weights=None, weights_backbone=None), ["out"]
        ),
        image(96, 129),
    ),
    "fcn_resnet50": Entry(
        "segmentation",
        lambda: Outputs(torchvision.models.get_model("fcn_resnet50", weights=None, weights_backbone=None), ["out"]),
        image(64, 97),
    ),
    "ssdlite320_mobilenet_v3_large": Entry(
        "detection", _detector("ssdlite320_mobilenet_v3_large"), image(320), has_ties=True
    ),
    "ssd300_vgg16": Entry("detection", _detector("ssd300_vgg16"), image(300), has_ties=True),
    "fasterrcnn_mobilenet_v3_large_320_fpn": Entry(
        "detection",
        _detector("fasterrcnn_mobilenet_v3_large_320_fpn", min_size=128, max_size=192),
        image(128),
        has_ties=True,
    ),
    "retinanet_resnet50_fpn": Entry(
        "detection", _detector("retinanet_resnet50_fpn", min_size=128, max_size=192), image(128), has_ties=True
    ),
    "fcos_resnet50_fpn": Entry(
        "detection", _detector("fcos_resnet50_fpn", min_size=128, max_size=192), image(128), has_ties=True
    ),
    "maskrcnn_resnet50_fpn": Entry(
        "detection", _detector("maskrcnn_resnet50_fpn", min_size=128, max_size=192), image(128), has_ties=True
    ),
    "keypointrcnn_resnet50_fpn": Entry(
        "detection",
        lambda: Detector(
            torchvision.models.get_model(
                "keypointrcnn_resnet50_fpn", weights=None, weights_backbone=None, min_size=128, max_size=192
            )
        ),
        image(128),
        has_ties=True,
    ),
    "raft_small": Entry(
        "optical flow",
        lambda: Outputs(torchvision.models.get_model("raft_small", weights=None), num_flow_updates=3),
        {"first": Input((1, 3, 128, 128)), "second": Input((1, 3, 128, 128))},
    ),
    "r3d_18": Entry("video", _torchvision("r3d_18"), {"clip": Input((1, 3, 4, 48, 48), (1, 3, 8, 64, 64))}),
    "mvit_v2_s": Entry("video", _torchvision("mvit_v2_s"), {"clip": Input((1, 3, 16, 224, 224))}),
    "s3d": Entry("video", _torchvision("s3d"), {"clip": Input((1, 3, 16, 64, 64))}),
}
