"""The operators of torchvision that detectors call, where its compiled ones do not fit the installed PyTorch.

An index may hold PyTorch for the CPU beside a torchvision for GPUs, whose library then cannot be loaded. Import this
before torchvision.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

import torch


def _compiled() -> bool:
    spec = importlib.util.find_spec("torchvision")
    assert spec is not None and spec.origin is not None
    try:
        for file in Path(spec.origin).parent.glob("_C*.so"):
            torch.ops.load_library(str(file))
            return True
    except OSError:
        pass
    return False


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """The best box of each group that overlaps, the best first."""
    order = scores.argsort(descending=True, stable=True)
    boxes = boxes[order]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = (high - low).clamp(min=0).prod(2)
    overlaps = shared / (areas[:, None] + areas[None, :] - shared) > iou_threshold
    alive = torch.ones(len(order), dtype=torch.bool)
    for index in range(len(order)):
        if alive[index]:
            alive[index + 1 :] &= ~overlaps[index, index + 1 :]
    return order[alive]


def roi_align(
    pixels: torch.Tensor,
    rois: torch.Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> torch.Tensor:
    """Means of bilinear samples on a grid in each part of each region."""
    results = [
        _align_one(
            pixels[int(roi[0])],
            roi[1:] * spatial_scale - 0.5 * aligned,
            (pooled_height, pooled_width),
            sampling_ratio,
            aligned,
        )
        for roi in rois
    ]
    empty = pixels.new_zeros((0, pixels.shape[1], pooled_height, pooled_width))
    return torch.stack(results) if results else empty


def _align_one(
    pixels: torch.Tensor, roi: torch.Tensor, bins: tuple[int, int], ratio: int, aligned: bool
) -> torch.Tensor:
    x0, y0, x1, y1 = roi
    weights = []
    for low, high, count, size in ((y0, y1, bins[0], pixels.shape[1]), (x0, x1, bins[1], pixels.shape[2])):
        length = high - low if aligned else (high - low).clamp(min=1.0)
        samples = ratio if ratio > 0 else max(int(torch.ceil(length / count)), 1)
        steps = torch.arange(count * samples, dtype=pixels.dtype) + 0.5
        weights.append(_samples(low + steps * (length / count / samples), size).view(count, samples, size).mean(1))
    return torch.einsum("ph,chw,qw->cpq", weights[0], pixels, weights[1])


def _samples(places: torch.Tensor, size: int) -> torch.Tensor:
    """Rows of bilinear weights; nothing from outside."""
    inside = (places >= -1.0) & (places <= size)
    places = places.clamp(0, size - 1)
    first = places.floor().long()
    second = (first + 1).clamp(max=size - 1)
    share = (places - first).unsqueeze(1)
    identity = torch.eye(size, dtype=places.dtype)
    return (identity[first] * (1 - share) + identity[second] * share) * inside.unsqueeze(1)


def _present() -> bool:
    return True


def _bring_own() -> None:
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define(
        "qnms(Tensor dets, Tensor scores, float iou_threshold, float scale, int zero_point) -> Tensor"
    )  # declared only: importing torchvision asks for it
    library.define(
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
        "int sampling_ratio, bool aligned) -> Tensor"
    )
    library.impl("nms", nms, "CPU")
    library.impl("roi_align", roi_align, "CPU")
    LIBRARIES.append(library)
    for name in ("boxes", "roi_align"):
        module = importlib.import_module(f"torchvision.ops.{name}")
        for question in ("_assert_has_ops", "_has_ops"):
            setattr(module, question, _present)


LIBRARIES: list[torch.library.Library] = []  # operators live as long as these
if not _compiled():
    _bring_own()
