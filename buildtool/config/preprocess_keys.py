"""The keys of `preprocess`, which says how images fill an input."""

from __future__ import annotations

import math
from typing import Annotated, Any

from buildtool.sections.readers import WHOLE, Many, Plain, choice, number_choice, read_text, wrong
from buildtool.sections.section import Section, Text, key
from buildtool.vision import CHANNELS, FILTERS, FITS, FLIPS, PIXELS, ROUNDINGS
from buildtool.wording import quoted


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
    source: Annotated[list[str] | None, Many(choice(tuple(PIXELS)), commas=True)] = key(
        "Formats of the images. The library holds what these need: one of `nv12` and `nv21` brings the other, and one "
        "of `rgb`, `bgr`, `rgba`, `bgra`, `gray` brings all of these.",
        required=True,
    )
    frame: Annotated[list[int] | None, Many(WHOLE, commas=True)] = key(
        "Width and height of all frames. The conversion becomes part of the model, and the input takes frames as "
        "`uint8`: for GPUs, browsers and macOS. Without it, the library has `run_image`, for images of any size.",
        default_words="images of any size",
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
        "upper left corner (`corner`). These resize and put a border around; `pad` and `pad_corner` put the border "
        "around the image and then resize both.",
        default="stretch",
    )
    rounding: Annotated[str | None, choice(tuple(ROUNDINGS))] = key(
        "How the size of an image in a letterbox or corner, or with its border, becomes an integer. YOLOX rounds "
        "`down`, PaddleOCR `up`.",
        default="nearest",
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
