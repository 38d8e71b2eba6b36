"""The keys of `preprocess`, which says how images fill an input."""

from __future__ import annotations

import math
from typing import Annotated, Any

from buildtool.sections.readers import WHOLE, Many, Plain, choice, number_choice, read_text, wrong
from buildtool.sections.section import Section, Text, key
from buildtool.wording import quoted

# The numbers are those of native/include/lathe/vision.h.
_FORMATS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420", "yuyv")
PIXELS = {name: code for code, name in enumerate(_FORMATS, 1)}
CHANNELS = {"rgb": 3, "bgr": 3, "rgba": 4, "bgra": 4, "gray": 1}
MEANINGS = {"full": 0, "video": 1, "hd": 2}
FILTERS = {"nearest": 0, "bilinear": 1, "area": 2}
FLIPS = {"none": 0, "x": 1, "y": 2, "xy": 3}
FITS = {"stretch": 0, "letterbox": 1, "corner": 2}
#: The members of lathe_vision_api that a library may hold, in their order, and the functions of native/vision.
FUNCTIONS = {
    "convert": "Convert",
    "resize": "Resize",
    "rotate": "Rotate",
    "flip": "Flip",
    "warp": "Warp",
    "crop": "Crop",
    "to_tensor": "ToTensor",
    "boxes_back": "BoxesBack",
    "points_back": "PointsBack",
    "run_image": "RunImage",
    "set_image": "SetImage",
    "softmax": "Softmax",
    "top_k": "TopK",
    "nms": "Nms",
    "yolo": "Yolo",
    "ssd": "Ssd",
    "keypoints": "Keypoints",
    "ctc_greedy": "CtcGreedy",
    "ctc_beam": "CtcBeam",
    "mask_to_alpha": "MaskToAlpha",
}
OF_INPUTS = ("run_image", "set_image")  # held where an input has `preprocess`


def _read_number(value: Any) -> float:
    text = read_text(value)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) < 1e9 or "_" in text:
        raise wrong(f"{{key}} cannot be {quoted(text)}", rule="allowed: a number")
    return number


NUMBER = Plain(_read_number, {"type": ["number", "string"]}, "number")
Reals = Annotated[list[float] | None, Many(NUMBER, commas=True)]


class PreprocessSection(Section):
    """How images fill an input of the library."""

    input: Text = key("Alias of the input.", default_words="the first input")
    source: Annotated[str | None, choice(tuple(PIXELS))] = key(
        "Format of the images: `nv12`, `nv21`, `i420`, `yuyv`, `rgb`, `bgr`, `rgba`, `bgra` or `gray`.", required=True
    )
    yuv: Annotated[str | None, choice(tuple(MEANINGS))] = key(
        "Meaning of Y, U and V: `full` (BT.601, 0 to 255, as phones have it), `video` (BT.601, 16 to 235) or `hd` "
        "(BT.709, 16 to 235).",
        default="full",
    )
    crop: Annotated[list[int] | None, Many(WHOLE, commas=True)] = key(
        "Part of the image: left, top, width, height.", default_words="the whole image"
    )
    rotation: Annotated[int | None, number_choice(0, 90, 180, 270)] = key(
        "Rotation of the image, clockwise, in degrees.", default=0
    )
    flip: Annotated[str | None, choice(tuple(FLIPS))] = key(
        "Reflection after the rotation: `x` reverses the rows, `y` the columns.", default="none"
    )
    resize: Annotated[str | None, choice(tuple(FILTERS))] = key("Filter.", default="bilinear")
    fit: Annotated[str | None, choice(tuple(FITS), {"center": "letterbox"})] = key(
        "How the image fills the input: `stretch`, or with its proportions in the middle (`letterbox`) or in the "
        "upper left corner (`corner`).",
        default="stretch",
    )
    fill: Annotated[list[int] | None, Many(WHOLE, commas=True)] = key(
        "Colour of the border, 0 to 255, one number or one for each channel.", default=[114]
    )
    order: Annotated[str | None, choice(tuple(CHANNELS))] = key(
        "Channels of the input.", default_words="`rgb`; `gray` for one channel, `rgba` for four"
    )
    mean: Reals = key(
        "Number that is subtracted from each byte, one or one for each channel of the input.", default=[0]
    )
    scale: Reals = key("Factor after that, one or one for each channel.", default=[1])
