"""More small networks: layers that move elements, resizes, reductions, detectors, and forms of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.importers.caffe.cases import CONVOLUTIONS, ELEMENTWISE, NORMALISATIONS, POOLS, Case, Meaning, one, several
from tests.importers.caffe.writer import Array, layer, numbers

MOVING = [
    several("Concat", "", (1, 2, 3, 4), (1, 3, 3, 4)),
    several("Concat", "concat_param { axis: -1 }", (1, 2, 3), (1, 2, 2), name="last"),
    several(
        "Concat",
        "concat_param { concat_dim: 2 }",
        (1, 2, 3),
        (1, 2, 3),
        name="old",
        meaning=lambda a, b: np.concatenate([a, b], 2),
    ),
    several("Slice", "", (1, 6, 3, 4), tops="a b c", meaning=lambda x: np.split(x, 3, 1)),
    several(
        "Slice",
        "slice_param { axis: 2 slice_point: 1 slice_point: 3 }",
        (1, 2, 7),
        tops="a b c",
        name="points",
        meaning=lambda x: np.split(x, [1, 3], 2),
    ),
    several(
        "Slice", "slice_param { slice_dim: 1 }", (1, 4, 2), tops="a b", name="old", meaning=lambda x: np.split(x, 2, 1)
    ),
    one("Flatten", "", (2, 3, 4, 5)),
    one("Flatten", "flatten_param { axis: 1 end_axis: -2 }", (2, 3, 4, 5), name="axes"),
    one("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 2 } }", (2, 3, 4)),
    one(
        "Reshape",
        "reshape_param { shape { dim: 2 dim: 0 dim: -1 } axis: 1 num_axes: 2 }",
        (2, 6, 4, 5),
        name="axes",
        meaning=lambda x: x.reshape(2, 2, 4, 3, 5),
    ),
    one(
        "Reshape",
        "reshape_param { shape { dim: 1 dim: 1 } axis: -1 num_axes: 0 }",
        (2, 3),
        name="inserted",
        meaning=lambda x: x.reshape(2, 3, 1, 1),
    ),
    one("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }", (1, 2, 3, 4)),
    one("Permute", "permute_param { order: 2 }", (2, 3, 4), name="rest", meaning=lambda x: x.transpose(2, 0, 1)),
    several("Crop", "crop_param { axis: 2 offset: 1 }", (1, 2, 6, 7), (1, 2, 3, 4)),
    several("Crop", "crop_param { axis: 1 offset: 1 offset: 0 offset: 2 }", (1, 4, 6, 7), (1, 2, 3, 4), name="offsets"),
    one("Tile", "tile_param { axis: 1 tiles: 3 }", (1, 2, 3), meaning=lambda x: np.tile(x, (1, 3, 1))),
    one("ShuffleChannel", "shuffle_channel_param { group: 3 }", (2, 6, 2, 3)),
    one("Reorg", "reorg_param { stride: 2 }", (1, 4, 6, 8)),
    one(
        "Reorg",
        "reorg_param { stride: 2 reverse: true }",
        (1, 16, 4, 4),
        name="reverse",
        meaning=lambda x: _unreorg(x, 2),
    ),
    several("NonlocalReshape", "", (1, 2, 12, 1), (1, 5, 3, 4), meaning=lambda x, like: x.reshape(1, 2, 3, 4)),
]


def _unreorg(x: Array, stride: int) -> Array:
    """What Reorg makes into x: found by giving every element its number."""
    batch, count, height, width = x.shape
    shape = (batch, count // stride**2, height * stride, width * stride)
    parts = np.arange(x.size).reshape(batch, -1, stride, width * stride, stride)
    places = parts.transpose(0, 2, 4, 1, 3).reshape(-1)
    y = np.empty(x.size, x.dtype)
    y[places] = x.reshape(-1)
    return y.reshape(shape)


def _nearest(x: Array, down: int, across: int) -> Array:
    return x.repeat(down, axis=2).repeat(across, axis=3)


def _align_corners(x: Array, height: int, width: int) -> Array:
    for axis, size in ((2, height), (3, width)):
        at = np.arange(size) * (x.shape[axis] - 1) / max(size - 1, 1)
        low = np.floor(at).astype(int)
        part = (at - low).reshape([-1 if one_ == axis else 1 for one_ in range(4)])
        high = np.minimum(low + 1, x.shape[axis] - 1)
        x = np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part
    return x


RESIZES = [
    one("Interp", "interp_param { height: 7 width: 9 }", (1, 2, 4, 5)),
    one(
        "Interp",
        "interp_param { zoom_factor: 2 pad_beg: -1 pad_end: -1 }",
        (1, 2, 6, 5),
        name="zoom",
        meaning=lambda x: _align_corners(x[:, :, 1:-1, 1:-1], 7, 5),
    ),
    one(
        "Interp",
        "interp_param { shrink_factor: 2 }",
        (1, 2, 7, 5),
        name="shrink",
        meaning=lambda x: _align_corners(x, 4, 3),
    ),
    several("Interp", "", (1, 2, 4, 5), (1, 1, 6, 3), name="like", meaning=lambda x, like: _align_corners(x, 6, 3)),
    one("Upsample", "upsample_param { scale: 3 }", (1, 2, 3, 4), meaning=lambda x: _nearest(x, 3, 3)),
    one(
        "ResizeNearest",
        "resize_nearest_param { height_scale: 2 width_scale: 3 }",
        (1, 2, 3, 4),
        meaning=lambda x: _nearest(x, 2, 3),
    ),
]
_EQUAL = np.array([[1, 3, 3, 2], [5, 0, 5, 5]], np.float32)
REDUCTIONS = [
    one("Reduction", "", (2, 3, 4), meaning=lambda x: x.sum()),
    one(
        "Reduction",
        "reduction_param { operation: ASUM axis: 1 coeff: 0.5 }",
        (2, 3, 4),
        name="absolute",
        meaning=lambda x: 0.5 * np.abs(x).sum(axis=(1, 2)),
    ),
    one(
        "Reduction",
        "reduction_param { operation: SUMSQ axis: 2 }",
        (2, 3, 4),
        name="squares",
        meaning=lambda x: (x * x).sum(axis=2),
    ),
    one(
        "Reduction",
        "reduction_param { operation: MEAN axis: -2 }",
        (2, 3, 4),
        name="mean",
        meaning=lambda x: x.mean(axis=(1, 2)),
    ),
    one("ArgMax", "argmax_param { axis: 1 }", (2, 3, 4), meaning=lambda x: x.argmax(axis=1)[:, None]),
    one("ArgMax", "", _EQUAL, name="equal", meaning=lambda x: np.array([[[2.0]], [[3.0]]])),
    one(
        "ArgMax",
        "argmax_param { top_k: 3 out_max_val: true }",
        _EQUAL,
        name="values",
        meaning=lambda x: np.array([[[2, 1, 3], [3, 3, 2]], [[3, 2, 0], [5, 5, 5.0]]]),
    ),
    one(
        "ArgMax",
        "argmax_param { top_k: 2 out_max_val: true axis: 1 }",
        _EQUAL,
        name="axis_values",
        meaning=lambda x: np.array([[3, 3], [5, 5.0]]),
    ),
    several("MatMul", "", (2, 3, 4), (2, 4, 5), meaning=np.matmul),
    several(
        "MatMul",
        "matmul_param { transpose_b: true }",
        (2, 3, 4),
        (2, 5, 4),
        name="turned",
        meaning=lambda a, b: a @ b.transpose(0, 2, 1),
    ),
]


def _prior(parameters: str, name: str) -> Case:
    return several("PriorBox", f"prior_box_param {{ {parameters} }}", (1, 2, 3, 4), (1, 3, 30, 45), name=name)


_SSD = "aspect_ratio: 2 aspect_ratio: 3 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"
_PRIORS = np.stack([numbers((12, 4), 3, 0, 0.4), np.full((12, 4), 0.15)]).astype(np.float32)
_PRIORS[0, :, 2:] += _PRIORS[0, :, :2] + np.float32(0.2)


def _detector(parameters: str, name: str, own: int = 1, rows: int = 2) -> Case:
    fed: dict[str, Any] = {
        "codes": (1, 48 * own),
        "scores": numbers((1, 36), 5, 0, 1),
        "priors": _PRIORS[:rows].reshape(1, rows, 48),
    }
    shared = "true" if own == 1 else "false"
    words = f"num_classes: 3 background_label_id: 0 share_location: {shared} {parameters}"
    text = layer("DetectionOutput", "y", "codes scores priors", f"detection_output_param {{ {words} }}")
    return Case(f"DetectionOutput_{name}", text, fed)


_REGIONS = np.array([[0, 1, 2, 10, 9], [0, 0, 0, 15, 13], [0, 4, 4, 5, 5], [0, 3, 1, 12, 6]], np.float32)


def _regions(kind: str, parameters: str, shape: Sequence[int], meaning: Meaning | None = None) -> Case:
    return Case(kind, layer(kind, "y", "x rois", parameters), {"x": shape, "rois": _REGIONS}, meaning=meaning)


def samples_of_regions(x: Array, rois: Array, scale: float, made: int, side: int, samples: int) -> Array:
    """The rules of R-FCN's PSROIAlign, sample by sample."""
    y = np.zeros((len(rois), made, side, side), np.float32)
    last = np.array(x.shape[2:]) - 1
    for place in np.ndindex(y.shape):
        box, share = rois[place[0]], np.array(place[2:])
        start, end = box[[2, 1]] * scale, (box[[4, 3]] + 1) * scale
        width = np.maximum(end - start, 0.1) / side
        low, high = np.clip(share * width + start, 0, last), np.clip((share + 1) * width + start, 0, last)
        channel = x[0, (place[1] * side + place[2]) * side + place[3]]
        for number in np.ndindex(samples, samples):
            at = low + (np.array(number) + 1) * width / (samples + 1)
            if np.all(at < high):
                (i, j), (down, across) = at.astype(int), at % 1
                top, bottom = (channel[line, j] * (1 - across) + channel[line, j + 1] * across for line in (i, i + 1))
                y[place] += (top * (1 - down) + bottom * down) / samples**2
    return y


_PROPOSAL = """proposal_param {
    feat_stride: 8 base_size: 8 min_size: 4 ratio: 0.5 ratio: 1 ratio: 2 scale: 1 scale: 2
    pre_nms_topn: 60 post_nms_topn: 12 nms_thresh: 0.6 }"""


def proposals(scores: Array, moves: Array, info: Array) -> list[Array]:
    """Faster R-CNN's rules, box by box."""
    boxes = []
    for row in range(scores.shape[2]):
        for column in range(scores.shape[3]):
            for index, (ratio, scale) in enumerate((r, s) for r in (0.5, 1, 2) for s in (1, 2)):
                width = np.floor(8 / np.sqrt(ratio) + 0.5)
                height = np.floor(width * ratio + 0.5) * scale
                width *= scale
                dx, dy, dw, dh = moves[0, 4 * index : 4 * index + 4, row, column]
                x, y = column * 8 + 4 + dx * width, row * 8 + 4 + dy * height
                half = np.exp(dw) * width / 2, np.exp(dh) * height / 2
                box = np.clip([x - half[0], y - half[1], x + half[0], y + half[1]], 0, info[0, [1, 0, 1, 0]] - 1)
                if min(box[2] - box[0], box[3] - box[1]) + 1 >= 4 * info[0, 2]:
                    boxes.append((scores[0, 6 + index, row, column], box))
    boxes.sort(key=lambda item: -item[0])
    kept: list[tuple[float, Array]] = []
    for score, box in boxes[:60]:
        if len(kept) < 12 and all(_common(box, other) <= 0.6 for _, other in kept):
            kept.append((score, box))
    return [np.array([[0, *box] for _, box in kept], np.float32), np.array([[score] for score, _ in kept], np.float32)]


def _common(a: Array, b: Array) -> float:
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + 1, 0)
    return float(sides.prod() / ((a[2:] - a[:2] + 1).prod() + (b[2:] - b[:2] + 1).prod() - sides.prod()))


DETECTION = [
    _prior(f"min_size: 10 max_size: 20 flip: true clip: false {_SSD}", "ssd"),
    _prior(
        "min_size: 10 min_size: 15 max_size: 20 max_size: 24 clip: false variance: 0.1 step: 8 offset: 0.25",
        "two_sizes",
    ),
    _prior("min_size: 20 aspect_ratio: 2 flip: false clip: true variance: 0.1", "clipped"),
    _detector("code_type: CENTER_SIZE nms_param { nms_threshold: 0.3 top_k: 8 } keep_top_k: 10", "center"),
    _detector("code_type: CORNER nms_param { nms_threshold: 0.45 } confidence_threshold: 0.5 keep_top_k: 30", "corner"),
    _detector(
        "code_type: CENTER_SIZE variance_encoded_in_target: true nms_param { nms_threshold: 0.45 } keep_top_k: 5",
        "encoded",
        rows=1,
    ),
    _detector("code_type: CENTER_SIZE nms_param { nms_threshold: 0.2 } keep_top_k: 20", "own", 3),
    _detector("code_type: CORNER nms_param { nms_threshold: 0.45 } confidence_threshold: 2 keep_top_k: 5", "nothing"),
    _regions("ROIPooling", "roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.5 }", (1, 3, 7, 8)),
    _regions("PSROIPooling", "psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 3 }", (1, 18, 7, 8)),
    _regions(
        "PSROIAlign",
        "psroi_align_param { spatial_scale: 0.5 output_dim: 2 group_size: 3 sample_num: 2 }",
        (1, 18, 7, 8),
        meaning=lambda x, rois: samples_of_regions(x, rois, 0.5, 2, 3, 2),
    ),
    Case(
        "Proposal",
        layer("Proposal", "y", "scores moves info", _PROPOSAL, "y chances"),
        {
            "scores": numbers((1, 12, 4, 5), 3, 0, 1),
            "moves": (1, 24, 4, 5),
            "info": np.array([[32, 40, 1]], np.float32),
        },
        outputs=("y", "chances"),
        meaning=proposals,
        range=(-0.5, 0.5),
        atol=1e-4,
    ),
]
_CONVOLUTION = "convolution_param { num_output: 4 kernel_size: 3 }"
FORMS = [
    Case(
        "in_place",
        layer("Convolution", "conv", "x", _CONVOLUTION)
        + layer("BatchNorm", "bn", "conv", "", "conv")
        + layer("Scale", "scale", "conv", "scale_param { bias_term: true }", "conv")
        + layer("ReLU", "relu", "conv", "", "conv")
        + layer("Pooling", "y", "conv", "pooling_param { kernel_size: 2 stride: 2 }"),
        {"x": (1, 3, 7, 7)},
        {"conv": [(4, 3, 3, 3), (4,)], "bn": [(4,), (4,), np.array([3.0], np.float32)], "scale": [(4,), (4,)]},
    ),
]
CASES = [*CONVOLUTIONS, *POOLS, *ELEMENTWISE, *NORMALISATIONS, *MOVING, *RESIZES, *REDUCTIONS, *DETECTION, *FORMS]
