"""The programs of single operators, second part: what picks, samples, detects, and has states."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracles.paddle.programs import Case, ints, random, whole


def _picking() -> list[Case]:
    x = random(5, 4)
    table = random(6, 3)
    wide = {"Input": random(3, 4, 5)}
    flags = {"infer_flags": [1, 1], "decrease_axis": []}
    return [
        Case("slice", wide, {"axes": [0, 2], "starts": [1, -3], "ends": [3, 100], **flags}),
        Case(
            "slice",
            wide,
            {"axes": [1], "starts": [2], "ends": [3], "infer_flags": [1], "decrease_axis": [1]},
            suffix="one",
        ),
        Case("strided_slice", wide, {"axes": [1, 2], "starts": [3, 0], "ends": [0, 5], "strides": [-1, 2], **flags}),
        Case("gather", {"X": x, "Index": ints(3, 0, 1)}, {"axis": 0}),
        Case("index_select", {"X": x, "Index": ints(3, 0, 1)}, {"dim": 1}),
        Case("gather_nd", {"X": x, "Index": ints(3, 1, 0, 2).reshape(2, 2)}),
        Case(
            "take_along_axis", {"Input": x, "Index": ints(1, 0, 2, 3).reshape(1, 4)}, {"Axis": 0}, outputs={"Result": 1}
        ),
        Case("index_sample", {"X": x, "Index": whole(5, 2, high=4, dtype="int32")}),
        Case("scatter", {"X": x, "Ids": ints(3, 1), "Updates": random(2, 4, seed=3)}, {"overwrite": True}),
        Case(
            "scatter",
            {"X": x, "Ids": ints(3, 1, 3), "Updates": random(3, 4, seed=3)},
            {"overwrite": False},
            suffix="add",
        ),
        Case("scatter_nd_add", {"X": x, "Index": ints(3, 1, 3).reshape(3, 1), "Updates": random(3, 4, seed=3)}),
        Case("lookup_table", {"Ids": whole(4, 1, high=6), "W": table}, {"padding_idx": -1}, ("W",)),
        Case("lookup_table_v2", {"Ids": whole(4, 2, high=6), "W": table}, {"padding_idx": 2}, ("W",)),
        Case("one_hot_v2", {"X": whole(3, high=4)}, {"depth": 4, "dtype": 5}),
        Case("top_k", {"X": x}, {"k": 2}, outputs={"Out": 1, "Indices": 1}, dtypes={"Indices": "int64"}),
        Case(
            "top_k_v2",
            {"X": x},
            {"k": 2, "axis": 0, "largest": False, "sorted": True},
            outputs={"Out": 1, "Indices": 1},
            dtypes={"Indices": "int64"},
        ),
        Case(
            "argsort",
            {"X": x},
            {"axis": 0, "descending": True},
            outputs={"Out": 1, "Indices": 1},
            dtypes={"Indices": "int64"},
        ),
        Case("where_index", {"Condition": x > 0}, dtypes={"Out": "int64"}),
        Case("masked_select", {"X": x, "Mask": x > 0}, outputs={"Y": 1}),
        Case("multiplex", {"X": [x, random(5, 4, seed=2)], "Ids": whole(5, 1, high=2, dtype="int32")}),
    ]


def _sizes() -> list[Case]:
    like = {"input_dim_idx": 0, "output_dim_idx": 1, "shape": [3, -1], "dtype": 5, "value": 1.5}
    filling = {"shape": [2, 3], "dtype": 2, "value": 7.0, "str_value": "7"}
    sections = {"dtype": 5, "shape": [2, 3], "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    ends = {"Start": ints(2), "End": ints(9), "Step": ints(3)}
    places = {"Start": random(1), "Stop": random(1, seed=1), "Num": ints(5)}
    return [
        Case("fill_constant", {}, filling, dtypes={"Out": "int32"}),
        Case("assign_value", {}, sections),
        Case("eye", {}, {"num_rows": 3, "num_columns": 4, "dtype": 5}),
        Case("range", ends, {}, ("Start", "End", "Step"), dtypes={"Out": "int32"}),
        Case("linspace", places, {"dtype": 5}, ("Start", "Stop", "Num")),
        Case("shape", {"Input": random(2, 3, 4)}, dtypes={"Out": "int32"}),
        Case("size", {"Input": random(2, 3, 4)}, dtypes={"Out": "int64"}),
        Case("fill_any_like", {"X": random(2, 3)}, {"value": 2.5, "dtype": -1}),
        Case("fill_constant_batch_size_like", {"Input": random(2, 3)}, like),
    ]


def _proposals() -> list[Case]:
    """Boxes around a grid of 3 x 4 places, two at each."""
    middle = np.stack(np.meshgrid(np.arange(4), np.arange(3)), -1)[:, :, None].astype(np.float32) * 16 + 8
    half = np.array([[10, 6], [20, 14]], np.float32)
    anchors = np.concatenate([middle - half, middle + half], -1)
    inputs = {
        "Scores": random(1, 2, 3, 4, low=0, high=1),
        "BboxDeltas": random(1, 8, 3, 4, low=-1, high=1),
        "Anchors": anchors,
        "Variances": np.full_like(anchors, 0.5),
    }
    attributes = {"pre_nms_topN": 20, "post_nms_topN": 6, "nms_thresh": 0.4, "min_size": 4.0, "eta": 1.0}
    results = {"RpnRois": 1, "RpnRoiProbs": 1, "RpnRoisNum": 1}
    shape = {"ImShape": np.array([[50, 60]], np.float32)}
    info = {"ImInfo": np.array([[50, 60, 2]], np.float32)}
    boxes = random(9, 2, low=0, high=90)
    rois = np.concatenate([boxes, boxes + random(9, 2, low=1, high=120, seed=5)], 1)
    levels = {"min_level": 2, "max_level": 4, "refer_level": 3, "refer_scale": 40}
    spread = {"MultiFpnRois": 3, "RestoreIndex": 1, "MultiLevelRoIsNum": 3}
    counts = {"MultiLevelRoIsNum": [ints(4), ints(5)]}
    scores = (
        np.array([[4, 1, 8, 3, 6, 0, 2, 7, 5]], np.float32).T / 10
    )  # all different: which of equal ones comes first is open
    return [
        *(
            Case(
                "generate_proposals_v2",
                {**inputs, **shape},
                {**attributes, "pixel_offset": offset},
                outputs=results,
                dtypes={"RpnRoisNum": "int32"},
                suffix=f"offset{int(offset)}",
            )
            for offset in (False, True)
        ),
        Case("generate_proposals", {**inputs, **info}, attributes, outputs=results, dtypes={"RpnRoisNum": "int32"}),
        *(
            Case(
                "distribute_fpn_proposals",
                {"FpnRois": rois, "RoisNum": ints(9)},
                {**levels, "pixel_offset": offset},
                outputs=spread,
                dtypes={"RestoreIndex": "int32", "MultiLevelRoIsNum": "int32"},
                suffix=f"offset{int(offset)}",
            )
            for offset in (False, True)
        ),
        Case(
            "collect_fpn_proposals",
            {
                "MultiLevelRois": [rois[:4], rois[4:]],
                "MultiLevelScores": [scores[:4], scores[4:]],
                **counts,
            },
            {"post_nms_topN": 6},
            outputs={"FpnRois": 1, "RoisNum": 1},
            dtypes={"RoisNum": "int32"},
        ),
    ]


def _unpooled() -> list[Case]:
    places = ints(0, 5, 8, 14, 6, 1, 15, 11).reshape(1, 2, 2, 2)
    attributes = {"ksize": [2, 2], "strides": [2, 2], "paddings": [0, 0], "unpooling_type": "max"}
    more = {"output_size": [4, 4], "data_format": "NCHW"}
    return [Case("unpool", {"X": random(1, 2, 2, 2), "Indices": places}, attributes | more)]


def _resizes() -> list[Case]:
    picture = {"X": random(1, 2, 4, 5)}
    base = {"data_layout": "NCHW", "out_d": -1, "out_h": -1, "out_w": -1, "scale": [], "align_corners": False}
    cases = []
    for mode in ("nearest", "bilinear", "bicubic"):
        given = {**base, "interp_method": mode, "align_mode": 1}
        sizes = {"out_h": 7, "out_w": 3}
        cases += [
            Case(f"{mode}_interp_v2", picture, {**given, "scale": [2.0, 2.0]}, suffix="twice"),
            Case(f"{mode}_interp_v2", picture, {**given, **sizes}, suffix="sizes"),
            Case(f"{mode}_interp_v2", picture, {**given, **sizes, "align_corners": True}, suffix="corners"),
        ]
    half = {**base, "interp_method": "bilinear", "align_mode": 0}
    cases += [
        Case("bilinear_interp_v2", picture, {**half, "out_h": 7, "out_w": 3}, suffix="half"),
        Case("bilinear_interp_v2", picture, {**half, "scale": [1.5, 2.5]}, suffix="fraction"),
        Case("bilinear_interp_v2", {**picture, "OutSize": ints(6, 8)}, half, ("OutSize",), suffix="tensor"),
        Case(
            "linear_interp_v2",
            {"X": random(1, 2, 5)},
            {**half, "interp_method": "linear", "out_w": 8, "data_layout": "NCHW"},
        ),
        Case(
            "grid_sampler",
            {"X": picture["X"], "Grid": random(1, 3, 2, 2, low=-1.2, high=1.2)},
            {"mode": "bilinear", "padding_mode": "zeros", "align_corners": True},
            outputs={"Output": 1},
        ),
        Case(
            "grid_sampler",
            {"X": picture["X"], "Grid": random(1, 3, 2, 2, low=-1.2, high=1.2)},
            {"mode": "nearest", "padding_mode": "border", "align_corners": False},
            outputs={"Output": 1},
            suffix="nearest",
        ),
        Case(
            "affine_grid",
            {"Theta": random(1, 2, 3)},
            {"output_shape": [1, 2, 3, 4], "align_corners": True},
            outputs={"Output": 1},
        ),
        Case(
            "roi_align",
            {
                "X": random(1, 2, 6, 6),
                "ROIs": ints(0, 0, 4, 4, 1, 2, 5, 3).reshape(2, 4).astype("float32"),
                "RoisNum": ints(2),
            },
            {"pooled_height": 2, "pooled_width": 2, "spatial_scale": 1.0, "sampling_ratio": 2, "aligned": True},
            ("RoisNum",),
        ),
    ]
    return cases


def _detection() -> list[Case]:
    pictures = {"Input": random(1, 2, 3, 4), "Image": random(1, 3, 24, 32)}
    prior = {"min_sizes": [4.0, 8.0], "max_sizes": [8.0, 12.0], "aspect_ratios": [2.0, 3.0], "flip": True, "clip": True}
    prior |= {"variances": [0.1, 0.1, 0.2, 0.2], "step_w": 0.0, "step_h": 0.0, "offset": 0.5}
    priors = {"Boxes": 1, "Variances": 1}
    anchors = {"anchor_sizes": [16.0, 32.0], "aspect_ratios": [0.5, 1.0], "variances": [0.1, 0.1, 0.2, 0.2]}
    corners = random(5, 4, low=0, high=4)
    boxes = corners.copy()
    boxes[:, 2:] += boxes[:, :2] + 1
    coder = {"PriorBox": boxes, "PriorBoxVar": random(5, 4, low=0.1, high=0.5)}
    yolo = {"anchors": [10, 13, 16, 30], "class_num": 3, "conf_thresh": 0.4, "downsample_ratio": 8, "clip_bbox": True}
    yolo |= {"scale_x_y": 1.1, "iou_aware": False, "iou_aware_factor": 0.5}
    return [
        Case("prior_box", pictures, {**prior, "min_max_aspect_ratios_order": False}, outputs=priors),
        Case(
            "prior_box",
            pictures,
            {**prior, "min_max_aspect_ratios_order": True, "clip": False},
            outputs=priors,
            suffix="order",
        ),
        Case(
            "anchor_generator",
            {"Input": random(1, 2, 3, 4)},
            {**anchors, "stride": [16.0, 16.0], "offset": 0.5},
            outputs={"Anchors": 1, "Variances": 1},
        ),
        Case(
            "box_coder",
            {**coder, "TargetBox": random(2, 5, 4)},
            {"code_type": "decode_center_size", "box_normalized": True, "axis": 0, "variance": []},
            outputs={"OutputBox": 1},
        ),
        Case(
            "box_coder",
            {"PriorBox": boxes, "TargetBox": boxes[:3] + 0.5},
            {"code_type": "encode_center_size", "box_normalized": False, "axis": 0, "variance": [0.1, 0.1, 0.2, 0.2]},
            outputs={"OutputBox": 1},
            suffix="encode",
        ),
        Case(
            "yolo_box",
            {"X": random(1, 16, 3, 2), "ImgSize": ints(30, 40).reshape(1, 2)},
            yolo,
            outputs={"Boxes": 1, "Scores": 1},
        ),
    ]


def _suppression() -> list[Case]:
    many = random(1, 20, 4, low=0, high=8, seed=7)
    many[..., 2:] += many[..., :2] + 2
    nms = {"background_label": 0, "score_threshold": 0.2, "nms_top_k": 12, "nms_threshold": 0.4, "nms_eta": 1.0}
    nms |= {"keep_top_k": 6, "normalized": True}
    found = {"BBoxes": many, "Scores": random(1, 3, 20, low=0, high=1, seed=8)}
    rows = {"Out": 1, "Index": 1, "NmsRoisNum": 1}
    whole_numbers = {"Index": "int32", "NmsRoisNum": "int32"}
    falling = {"background_label": 0, "score_threshold": 0.2, "post_threshold": 0.3, "nms_top_k": 12, "keep_top_k": 6}
    falling |= {"normalized": True, "use_gaussian": False, "gaussian_sigma": 2.0}
    others = {"background_label": -1, "nms_top_k": -1, "keep_top_k": -1, "post_threshold": 0.0, "use_gaussian": True}
    unlike = {
        "BBoxes": many,
        "Scores": np.random.default_rng(9).permutation(60).reshape(1, 3, 20).astype(np.float32) / 60,
    }
    twice = np.concatenate([many[:, :10]] * 2, axis=1)  # what lies on another box divides by 0
    none = {"post_threshold": 2.0}
    found_rows = {"Out": 1, "Index": 1, "RoisNum": 1}
    numbers = {"Index": "int32", "RoisNum": "int32"}
    return [
        Case("matrix_nms", unlike, falling, outputs=found_rows, dtypes=numbers),
        Case("matrix_nms", unlike, {**falling, **others}, outputs=found_rows, dtypes=numbers, suffix="gaussian"),
        Case("matrix_nms", {**unlike, "BBoxes": twice}, falling, outputs=found_rows, dtypes=numbers, suffix="twice"),
        Case("matrix_nms", unlike, {**falling, **none}, outputs=found_rows, dtypes=numbers, suffix="none"),
        Case("multiclass_nms3", found, nms, outputs=rows, dtypes=whole_numbers),
        Case(
            "multiclass_nms3",
            found,
            {**nms, "keep_top_k": -1, "background_label": -1, "nms_top_k": -1},
            outputs=rows,
            dtypes=whole_numbers,
            suffix="all",
        ),
    ]


def _recurrent() -> list[Case]:
    cases = []
    for mode, gates in (("LSTM", 4), ("GRU", 3), ("RNN_TANH", 1)):
        for directions, layers in ((1, 1), (2, 2)):
            weights, biases = [], []
            for place in range(directions * layers):
                width = 3 if place < directions else 4 * directions
                weights += [
                    random(gates * 4, width, low=-0.5, high=0.5, seed=place),
                    random(gates * 4, 4, low=-0.5, high=0.5, seed=9 + place),
                ]
                biases += [
                    random(gates * 4, low=-0.5, high=0.5, seed=20 + place),
                    random(gates * 4, low=-0.5, high=0.5, seed=30 + place),
                ]
            states = [random(directions * layers, 2, 4, seed=40 + one) for one in range(2 if mode == "LSTM" else 1)]
            attributes = {
                "mode": mode,
                "is_bidirec": directions == 2,
                "num_layers": layers,
                "hidden_size": 4,
                "input_size": 3,
            }
            attributes |= {"dropout_prob": 0.0, "is_test": True, "seed": 0}
            inputs: dict[str, Any] = {"Input": random(5, 2, 3), "PreState": states, "WeightList": weights + biases}
            cases.append(
                Case(
                    "rnn",
                    inputs,
                    attributes,
                    ("WeightList",),
                    {"Out": 1, "State": len(states)},
                    ("Reserve", "DropoutState"),
                    suffix=f"{mode}-{layers}",
                )
            )
    unit = {"Input": random(2, 12), "HiddenPrev": random(2, 4), "Weight": random(4, 12), "Bias": random(1, 12)}
    for origin in (False, True):
        given = {"activation": 2, "gate_activation": 1, "origin_mode": origin}
        cases.append(
            Case(
                "gru_unit",
                unit,
                given,
                ("Weight", "Bias"),
                {"Hidden": 1, "ResetHiddenPrev": 1, "Gate": 1},
                suffix="origin" if origin else "",
            )
        )
    return cases


def _tagging() -> list[Case]:
    """With lengths; sequences that stand one behind the other need offsets, which feeds of arrays do not have."""
    scores, lengths = random(4, 6, 5), ints(6, 1, 4, 0, dtype="int64")
    rows = {"Emission": scores, "Transition": random(7, 5), "Length": lengths}
    batch = {"Input": scores[:3], "Transition": random(5, 5), "Length": ints(4, 1, 5, dtype="int64")}
    best, path = {"Scores": 1, "Path": 1}, {"ViterbiPath": 1}
    types = {"Path": "int64", "ViterbiPath": "int64"}
    labelled = {**rows, "Label": whole(4, 6, 1, high=5)}
    plain = {"include_bos_eos_tag": False}
    return [
        Case("crf_decoding", rows, weights=("Transition",), outputs=path, dtypes=types),
        Case("crf_decoding", labelled, suffix="labels", outputs=path, dtypes=types),
        Case("viterbi_decode", batch, {"include_bos_eos_tag": True}, outputs=best, dtypes=types),
        Case("viterbi_decode", batch, plain, ("Transition",), outputs=best, dtypes=types, suffix="plain"),
    ]


def _simulated() -> list[Case]:
    x = {"X": random(2, 3, 4)}
    return [
        Case("fake_quantize_dequantize_abs_max", x, {"bit_length": 8}, unread=("OutScale",)),
        Case(
            "fake_channel_wise_quantize_dequantize_abs_max",
            {"X": random(3, 2, 2)},
            {"bit_length": 8, "quant_axis": 0},
            ("X",),
            unread=("OutScale",),
        ),
        Case("fake_dequantize_max_abs", {**x, "Scale": random(1, low=1)}, {"max_range": 127.0}, ("Scale",)),
        Case(
            "fake_channel_wise_dequantize_max_abs",
            {"X": random(3, 4), "Scales": [random(3, low=1)]},
            {"quant_bits": [8], "quant_axis": 0},
            ("Scales",),
        ),
    ]


MORE_CASES: tuple[Case, ...] = (
    *_picking(),
    *_sizes(),
    *_unpooled(),
    *_resizes(),
    *_detection(),
    *_suppression(),
    *_proposals(),
    *_recurrent(),
    *_tagging(),
    *_simulated(),
)
