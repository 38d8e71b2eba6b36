"""What no program of Paddle says is an error that names it; what stands just beside it is imported, and right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.errors import ModelFileError
from buildtool.importers.paddle import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from tests.importers.paddle.harness import check
from tests.importers.paddle.plain import program_of
from tests.oracles.paddle.programs import random

_IMAGE = random(1, 4, 6, 6)
_FILTER = random(6, 2, 3, 3)
_BOXES = random(5, 4)
_POOL: dict[str, Any] = {"strides": [1, 1], "paddings": [0, 0], "pooling_type": "max"}
_CONV: dict[str, Any] = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 2}
_UNFOLD: dict[str, Any] = {"kernel_sizes": [2, 2], "strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1]}
_FIVE: dict[str, Any] = {"shape": [2, 3], "dtype": 5, "fp32_values": [1.0] * 5}
_CROP: dict[str, Any] = {"shape": [1, 2], "offsets": [0, 0]}


def _file(
    folder: Path, op: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any], outputs: tuple[str, ...]
) -> Path:
    file = folder / "model.pdmodel"
    file.write_bytes(program_of(op, inputs, {}, attributes, outputs).SerializeToString())
    return file


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "told"),
    [
        ("elementwise_add", {"X": random(2, 3, 4), "Y": random(3, 4)}, {"axis": 2}, r"\['3', '4'\] at axis 2 of 3"),
        ("elementwise_add", {"X": random(2, 3, 4), "Y": random(3)}, {"axis": -2}, r"at axis -2 of 3"),
        (
            "assign_value",
            {},
            {"shape": [2, 3], "dtype": 5, "fp32_values": [1.0] * 5},
            r"5 numbers for the shape \[2, 3\]",
        ),
        ("pool2d", {"X": _IMAGE}, {**_POOL, "ksize": [0, 2]}, r"a window of \[0, 2\] for 2 axes"),
        ("pool2d", {"X": _IMAGE}, {**_POOL, "ksize": [2, 2, 2]}, r"a window of \[2, 2, 2\] for 2 axes"),
        ("pool2d", {"X": _IMAGE}, {**_POOL, "ksize": [2, 2], "pooling_type": "min"}, "'pooling_type' is 'min'"),
        ("pool2d", {"X": random(2, 3, 4)}, {**_POOL, "ksize": [2, 2]}, "its input has rank 3, not 4 or 5"),
        ("conv2d", {"Input": _IMAGE, "Filter": _FILTER}, {**_CONV, "groups": 3}, "3 groups, 4 channels and a filter"),
        ("conv2d", {"Input": _IMAGE, "Filter": _FILTER}, {**_CONV, "groups": 1}, "1 groups, 4 channels and a filter"),
        ("conv2d", {"Input": _IMAGE, "Filter": _FILTER}, {**_CONV, "groups": 0}, "0 groups, 4 channels and a filter"),
        ("conv2d", {"Input": _IMAGE, "Filter": random(6, 2, 3)}, _CONV, "the filter has rank 3, the image 4"),
        ("conv2d", {"Input": _IMAGE, "Filter": _FILTER}, {**_CONV, "strides": [1, 0]}, r"'strides' is \[1, 0\], not 2"),
        ("conv2d", {"Input": _IMAGE, "Filter": _FILTER}, {**_CONV, "paddings": [0, 0, 0]}, "has 3 numbers for 2 axes"),
        ("group_norm", {"X": _IMAGE}, {"groups": 3}, "4 channels cannot be divided into 3 groups"),
        ("group_norm", {"X": _IMAGE}, {"groups": 0}, "4 channels cannot be divided into 0 groups"),
        ("maxout", {"X": _IMAGE}, {"groups": 3, "axis": 1}, "4 channels in groups of 3"),
        ("hard_swish", {"X": _IMAGE}, {"threshold": 6.0, "scale": 0.0, "offset": 3.0}, "'scale' is 0"),
        ("softplus", {"X": _IMAGE}, {"beta": 0.0}, "'beta' is 0"),
        ("prelu", {"X": _IMAGE, "Alpha": random(1)}, {"mode": "some"}, "'mode' is 'some'"),
        ("reshape2", {"X": _IMAGE}, {"shape": [-1, -1]}, "is not possible"),
        ("reshape2", {"X": _IMAGE}, {"shape": [-2, 4]}, "is not possible"),
        ("reshape2", {"X": random(4, 2)}, {"shape": [4, 2, 0]}, "takes over a size that the input does not have"),
        ("flatten", {"X": _IMAGE}, {"axis": 5}, "there is no axis 5 in a tensor of rank 4"),
        ("flatten_contiguous_range", {"X": _IMAGE}, {"start_axis": 2, "stop_axis": 1}, "the axes 2 to 1"),
        ("transpose2", {"X": _IMAGE}, {"axis": [0, 1, 2]}, "is not a permutation of 4 axes"),
        ("expand", {"X": random(2, 3)}, {"expand_times": [1, 2, 3]}, r"\[1, 2, 3\] are not 2 counts"),
        ("expand_v2", {"X": random(2, 3)}, {"shape": [3]}, "a tensor of rank 2 becomes one of rank 1"),
        ("roll", {"X": random(2, 3)}, {"shifts": [1, 1], "axis": [0]}, "2 shifts along 1 axes"),
        ("shuffle_channel", {"X": _IMAGE}, {"group": 3}, "4 channels in 3 groups"),
        ("space_to_depth", {"X": _IMAGE}, {"blocksize": 4}, "images of 6 x 6 in blocks of 4"),
        ("space_to_depth", {"X": random(4, 6, 6)}, {"blocksize": 2}, "its input has rank 3, not 4"),
        ("pad3d", {"X": _IMAGE}, {"paddings": [1, 1], "mode": "constant"}, "a border"),
        ("pad", {"X": random(2, 3)}, {"paddings": [1, 1]}, "borders of 1 axes for a tensor of rank 2"),
        ("pad_constant_like", {"X": random(2, 3), "Y": random(3)}, {}, "tensors of the ranks 2 and 1"),
        ("crop_tensor", {"X": random(3, 3)}, {**_CROP, "offsets": [0]}, "2 sizes and 1 offsets"),
        ("unfold", {"X": _IMAGE}, {**_UNFOLD, "kernel_sizes": [7, 1]}, r"windows of \[7, 1\] in an image of 6"),
        ("unfold", {"X": _IMAGE}, {**_UNFOLD, "strides": [1, 0]}, r"the strides \[1, 0\]"),
        ("unfold", {"X": _IMAGE}, {**_UNFOLD, "kernel_sizes": [2]}, "its attributes are not those of images"),
        ("temporal_shift", {"X": _IMAGE}, {"seg_num": 1, "shift_ratio": 0.6}, "a share of 0.6"),
        ("temporal_shift", {"X": _IMAGE}, {"seg_num": 0, "shift_ratio": 0.25}, "4 channels of videos of 0 images"),
        ("slice", {"Input": _IMAGE}, {"axes": [0, 1], "starts": [0], "ends": [1, 1]}, "differ in length"),
        (
            "slice",
            {"Input": _IMAGE},
            {"axes": [1], "starts": [0], "ends": [2], "decrease_axis": [1]},
            r"it removes axes \[1\] of .*, but not all of them are 1",
        ),
        ("matmul_v2", {"X": np.float32(2), "Y": random(3)}, {}, "a product of single numbers"),
        ("box_coder", {"PriorBox": _BOXES, "TargetBox": _BOXES}, {"code_type": "other"}, "'code_type' is 'other'"),
        (
            "box_coder",
            {"PriorBox": random(5, 3), "TargetBox": random(5, 4)},
            {"code_type": "encode_center_size"},
            "boxes of 3 numbers",
        ),
        ("anchor_generator", {"Input": _IMAGE}, {"stride": [16.0, 0.0]}, r"the strides \[16.0, 0.0\]"),
        ("anchor_generator", {"Input": _IMAGE}, {"stride": [16.0]}, r"the strides \[16.0\]"),
    ],
)
def test_what_no_program_says(
    op: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any], told: str, tmp_path: Path
) -> None:
    fed = {name: np.asarray(item) for name, item in inputs.items()}
    output = {"anchor_generator": "Anchors", "box_coder": "OutputBox", "conv2d": "Output", "unfold": "Y"}.get(op, "Out")
    output = "Y" if op == "group_norm" else output
    with pytest.raises(ModelFileError, match=told):
        import_model(ImportRequest("refused", _file(tmp_path, op, fed, attributes, (output,))))


def test_a_window_of_nothing_is_that_of_the_whole_image(tmp_path: Path) -> None:
    """Where global_pooling says so, ksize says nothing."""
    attributes = {**_POOL, "ksize": [0, 0], "global_pooling": True}
    file = _file(tmp_path, "pool2d", {"X": _IMAGE}, attributes, ("Out",))
    check(file, {"X_0": _IMAGE}, [_IMAGE.max(axis=(2, 3), keepdims=True)])


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_a_factor_for_each_channel(layout: str, tmp_path: Path) -> None:
    x = random(2, 3, 4, 5)
    count = 3 if layout == "NCHW" else 5
    scale, bias = random(count, seed=1), random(count, seed=2)
    inputs = {"X": x, "Scale": scale, "Bias": bias}
    file = _file(tmp_path, "affine_channel", inputs, {"data_layout": layout}, ("Out",))
    shape = (1, 3, 1, 1) if layout == "NCHW" else (5,)
    wanted = x * scale.reshape(shape) + bias.reshape(shape)
    check(file, {f"{name}_0": item for name, item in inputs.items()}, [wanted])


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_of_channels(groups: int, tmp_path: Path) -> None:
    file = _file(tmp_path, "group_norm", {"X": _IMAGE}, {"groups": groups, "epsilon": 1e-5}, ("Y",))
    parts = _IMAGE.reshape(1, groups, -1)
    wanted = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-5)
    check(file, {"X_0": _IMAGE}, [wanted.reshape(_IMAGE.shape)])


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3), 0), ((3, 4), 1), ((3,), 1), ((5,), -1), ((4, 5, 1), 2), ((1, 1), 3), ((3, 1), 1)]
)
def test_the_second_operand_begins_at_an_axis(shape: tuple[int, ...], axis: int, tmp_path: Path) -> None:
    """Ones that would stand behind the last axis are dropped."""
    x, y = random(2, 3, 4, 5), random(*shape, seed=1)
    file = _file(tmp_path, "elementwise_sub", {"X": x, "Y": y}, {"axis": axis}, ("Out",))
    ahead = 3 if axis == -1 else axis
    whole = y.reshape(((1,) * ahead + shape + (1,) * 4)[:4])
    check(file, {"X_0": x, "Y_0": y}, [x - whole])


def test_single_numbers_one_after_the_other(tmp_path: Path) -> None:
    """Numbers without axes are joined as lists of one; where there are axes, as they are."""
    for parts, wanted in (
        ((np.float32(1), np.float32(2), np.float32(3)), np.array([1, 2, 3], np.float32)),
        ((random(2), random(3, seed=1)), np.concatenate([random(2), random(3, seed=1)])),
    ):
        inputs = {f"X{index}": np.asarray(part) for index, part in enumerate(parts)}
        program = program_of("concat", inputs, {}, {"axis": 0}, ("Out",))
        slots = next(item for item in program.blocks[0].ops if item.type == b"concat").inputs
        del slots[1:]
        slots[0].parameter = b"X"
        slots[0].arguments[:] = [f"{name}_0".encode() for name in inputs]
        file = tmp_path / "model.pdmodel"
        file.write_bytes(program.SerializeToString())
        check(file, {f"{name}_0": item for name, item in inputs.items()}, [wanted])


@pytest.mark.parametrize(
    ("stride", "across", "down", "half_width", "half_height"),
    [
        # Steps of 16 across and 8 down: an area of 128, which the ratio 2 makes 8 wide and 16 high.
        ((16.0, 8.0), (7.5, 23.5), 3.5, (32 / 16 * 8 - 1) / 2, (32 / 8 * 16 - 1) / 2),
        # One pixel: 1 wide, since 0.7 is rounded, and 2 high.
        ((1.0, 1.0), (0.0, 1.0), 0.0, (32 * 1 - 1) / 2, (32 * 2 - 1) / 2),
    ],
)
def test_anchors(
    stride: tuple[float, float],
    across: tuple[float, float],
    down: float,
    half_width: float,
    half_height: float,
    tmp_path: Path,
) -> None:
    attributes = {
        "stride": list(stride),
        "anchor_sizes": [32.0],
        "aspect_ratios": [2.0],
        "offset": 0.5,
        "variances": [1.0, 1.0, 1.0, 1.0],
    }
    file = _file(tmp_path, "anchor_generator", {"Input": random(1, 1, 1, 2)}, attributes, ("Anchors", "Variances"))
    wanted = [[x - half_width, down - half_height, x + half_width, down + half_height] for x in across]
    anchors = np.array(wanted, np.float32).reshape(1, 2, 1, 4)
    check(file, {"Input_0": random(1, 1, 1, 2)}, [anchors, np.ones((1, 2, 1, 4), np.float32)])
