"""What a deployment file says of the images that fill an input: `preprocess` of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from buildtool.config.context import View
from buildtool.config.deployment import ImageConfig, TensorConfig
from buildtool.config.preprocess_keys import PreprocessSection
from buildtool.sections.section import default_of
from buildtool.vision import CHANNELS, FILTERS, FITS, FLIPS, ROUNDINGS, InputImage, frame_shape
from buildtool.wording import counted, listed, quoted

_TYPES = ("float32", "float16", "int8", "uint8")
_ORDERS = {1: "gray", 3: "rgb", 4: "rgba"}
_RANK = 4
MAX_SIDE = 32768


def with_frames(inputs: Sequence[TensorConfig], images: Sequence[ImageConfig]) -> tuple[TensorConfig, ...]:
    """The inputs as applications see them: frames take the places of those that they fill."""
    frames = {image.tensor.alias: image for image in images if image.tensor is not None}
    return tuple(_framed(tensor, frames[tensor.alias]) if tensor.alias in frames else tensor for tensor in inputs)


def _framed(tensor: TensorConfig, image: ImageConfig) -> TensorConfig:
    width, height = image.frame or (0, 0)
    shape = frame_shape(image.image.sources[0], width, height)
    return replace(tensor, shape=shape, data_type="uint8", data_format="NONE", value_range=(0.0, 255.0))


def resolve_preprocess(view: View, inputs: Sequence[TensorConfig]) -> tuple[ImageConfig, ...]:
    """The images of a subgraph's inputs. What is wrong goes to the view's context."""
    found: dict[str, ImageConfig] = {}
    if view.is_broken("preprocess") or not inputs:
        return ()
    for index, section in enumerate(view.find("preprocess").value or []):
        made = _Entry(view, index, section, inputs).resolved()
        if made is None:
            continue
        name = made.image.input
        if name in found:
            what = f"the input {quoted(name)} has two entries in 'preprocess'"
            view.context.refuse(what, made.where, remedy="keep one of them")
        found[name] = made
    return tuple(found.values())


class _Entry:
    """One entry of the list."""

    def __init__(self, view: View, index: int, section: PreprocessSection, inputs: Sequence[TensorConfig]) -> None:
        self.view, self.index, self.section, self.inputs = view, index, section, inputs
        self.path = (*view.find("preprocess").path, index)
        self.failed = any(path[: len(self.path)] == self.path for path in view.context.broken)

    def resolved(self) -> ImageConfig | None:
        section = self.section
        where = self.view.context.where(self.path)
        if section.source is None and (*self.path, "source") not in self.view.context.broken:
            self._refuse("an entry of 'preprocess' lacks the key 'source'", "", remedy="write the format of the images")
        tensor = self._input()
        if tensor is None:
            return None
        channels = self._channels(tensor)
        order = section.order or _ORDERS.get(channels, "")
        if not self.failed and (not order or CHANNELS[order] != channels):
            rule = "1 channel is gray, 3 channels are rgb or bgr, 4 are rgba or bgra"
            what = f"the input {quoted(tensor.alias)} has {counted(channels, 'channel')}"
            self._refuse(f"{what}, and 'order' is {quoted(order)}" if order else what, "order", rule)
        if tensor.data_type not in _TYPES:
            what = f"images do not fill inputs of the type {tensor.data_type}"
            self._refuse(what, "", rule=f"allowed: {listed(_TYPES)}")
        mean, scale, fill = (self._each(name, channels) for name in ("mean", "scale", "fill"))
        if any(value > 255 for value in fill):
            self._refuse("'fill' has a number above 255", "fill")
        if any(value == 0 for value in scale):
            self._refuse("'scale' is 0: every image would be the same", "scale")
        if section.rounding not in (None, "nearest") and self._value("fit") == "stretch":
            self._refuse("'rounding' has no effect with 'fit: stretch'", "rounding", remedy="write 'fit: letterbox'")
        crop = self._crop()
        frame = self._frame(tensor, order, crop)
        if self.failed:
            return None
        image = InputImage(
            input=tensor.alias,
            sources=tuple(dict.fromkeys(section.source or ())),
            crop=crop,
            rotation=self._value("rotation"),
            flip=FLIPS[self._value("flip")],
            filter=FILTERS[self._value("resize")],
            fit=FITS[self._value("fit")] | ROUNDINGS[self._value("rounding")],
            fill=tuple(int(value) for value in fill),
            order=order,
            mean=mean,
            scale=scale,
        )
        return ImageConfig(image, where, frame, tensor if frame else None)

    def _value(self, name: str) -> Any:
        value = getattr(self.section, name)
        return default_of(PreprocessSection, name) if value is None else value

    def _refuse(self, what: str, name: str, rule: str = "", remedy: str = "") -> None:
        self.failed = True
        given = bool(name) and getattr(self.section, name) is not None
        where = self.view.context.where((*self.path, name) if given else self.path)
        self.view.context.refuse(what, where, rule=rule, remedy=remedy)

    def _input(self) -> TensorConfig | None:
        name = self.section.input
        if name is None:
            return self.inputs[0]
        for tensor in self.inputs:
            if name in (tensor.alias, tensor.name):
                return tensor
        known = listed([tensor.alias for tensor in self.inputs])
        self._refuse(f"there is no input {quoted(name)}", "input", rule=f"inputs of the model: {known}")
        return None

    def _channels(self, tensor: TensorConfig) -> int:
        shape = tensor.shape
        if len(shape) != _RANK or tensor.data_format not in ("NHWC", "NCHW") or shape[0] != 1:
            what = f"an image does not fill the input {quoted(tensor.alias)}"
            self._refuse(what, "", rule="the input has four dimensions in the order NHWC or NCHW, and N is 1")
            return 3
        channels = shape[1 if tensor.data_format == "NCHW" else -1]
        if not isinstance(channels, int):
            self._refuse(f"the number of channels of {quoted(tensor.alias)} is not fixed", "")
            return 3
        return channels

    def _each(self, name: str, channels: int) -> tuple[float, ...]:
        """A number for each channel, from one for all or one for each."""
        values = self._value(name)
        if len(values) == 1:
            return tuple(values) * channels
        if len(values) != channels:
            what = f"{quoted(name)} holds {counted(len(values), 'number')} for {counted(channels, 'channel')}"
            self._refuse(what, name, remedy="give one, or one for each channel")
            return (1.0,) * channels
        return tuple(values)

    def _crop(self) -> tuple[int, int, int, int] | None:
        crop = self.section.crop
        if crop is None:
            return None
        if len(crop) != _RANK or 0 in crop[2:] or max(crop) > 32768:
            self._refuse("'crop' is no part of an image", "crop", rule="left, top, width, height; at most 32768 pixels")
            return None
        return crop[0], crop[1], crop[2], crop[3]

    def _frame(
        self, tensor: TensorConfig, order: str, crop: tuple[int, int, int, int] | None
    ) -> tuple[int, int] | None:
        """The size of all frames, for a conversion that is part of the model."""
        frame, sources = self.section.frame, self.section.source or []
        if frame is None or self.failed:
            return None
        if len(frame) != 2 or not all(1 <= side <= MAX_SIDE for side in frame):
            self._refuse("'frame' is not a width and a height", "frame", rule=f"width, height; 1 to {MAX_SIDE} pixels")
            return None
        width, height = frame
        if tensor.data_type != "float32" or tensor.is_bounded:
            what = f"the input {quoted(tensor.alias)} is not a float32 of a fixed size"
            self._refuse(what, "frame", rule="'frame' fills such inputs", remedy="remove 'frame' and use run_image")
        if len(set(sources)) != 1:
            self._refuse("'frame' is for one format, and 'source' has several", "source")
        elif sources[0] not in CHANNELS and (width % 2 or (sources[0] != "yuyv" and height % 2)):
            self._refuse(f"a frame of {sources[0]} has even sides", "frame")
        elif order in ("rgba", "bgra") and CHANNELS.get(sources[0]) != CHANNELS[order]:
            self._refuse(f"a frame of {sources[0]} has no alpha for 'order: {order}'", "source")
        if crop is not None and (crop[0] + crop[2] > width or crop[1] + crop[3] > height):
            self._refuse("'crop' goes beyond the frame", "crop")
        return width, height
