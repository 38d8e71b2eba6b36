"""Words for images that several packages share: functions and numbers of native/include/lathe/vision.h."""

from __future__ import annotations

from dataclasses import dataclass

_FORMATS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420", "yuyv")
#: LATHE_RGB, ...
PIXELS = {name: code for code, name in enumerate(_FORMATS, 1)}
#: Channels of the formats whose pixels share nothing.
CHANNELS = {"rgb": 3, "bgr": 3, "rgba": 4, "bgra": 4, "gray": 1}
#: LATHE_NEAREST, ...
FILTERS = {"nearest": 0, "bilinear": 1, "area": 2}
#: LATHE_FLIP_NONE, ...
FLIPS = {"none": 0, "x": 1, "y": 2, "xy": 3}
#: LATHE_STRETCH, ...
FITS = {"stretch": 0, "letterbox": 1, "corner": 2, "pad": 3, "pad_corner": 4}
#: LATHE_LETTERBOX_DOWN, ..., which are added to these.
ROUNDINGS = {"nearest": 0, "down": 16, "up": 32}

#: The members of lathe_vision_api, in their order.
FUNCTIONS = (
    "convert",
    "resize",
    "rotate",
    "flip",
    "warp",
    "crop",
    "to_tensor",
    "boxes_back",
    "points_back",
    "run_image",
    "set_image",
    "softmax",
    "top_k",
    "nms",
    "yolo",
    "ssd",
    "keypoints",
    "ctc_greedy",
    "ctc_beam",
    "mask_to_alpha",
)
#: Those that need inputs with `preprocess`.
OF_INPUTS = ("run_image", "set_image")


@dataclass(frozen=True)
class InputImage:
    """How images fill an input of a library's models: `preprocess` of a deployment file."""

    input: str  # the name that applications see
    sources: tuple[str, ...]  # words of PIXELS
    crop: tuple[int, int, int, int] | None  # left, top, width, height
    rotation: int
    flip: int
    filter: int
    fit: int
    fill: tuple[int, ...]  # these by channel of the input
    order: str  # a word of CHANNELS
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @property
    def place(self) -> int:
        """A number of FITS, without the rounding."""
        return self.fit & 15

    @property
    def pads(self) -> bool:
        """Whether the image gets borders before it is resized."""
        return self.place in (FITS["pad"], FITS["pad_corner"])


@dataclass(frozen=True)
class Vision:
    """What a library does with images."""

    functions: tuple[str, ...] = ()  # of FUNCTIONS
    images: tuple[InputImage, ...] = ()  # no two of one input


def frame_shape(source: str, width: int, height: int) -> tuple[int, ...]:
    """How an application passes frames of a format to an input that takes them (`frame`)."""
    if source in CHANNELS:
        return (1, height, width, CHANNELS[source])
    return (1, height, width, 2) if source == "yuyv" else (1, height * 3 // 2, width)
