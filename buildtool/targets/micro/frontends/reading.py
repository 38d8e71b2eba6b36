"""The front end that the deployment file describes, for the input of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.errors import UnsupportedError, Where
from buildtool.targets.micro.frontends.audio import Audio
from buildtool.targets.micro.frontends.image import Picture
from buildtool.targets.micro.network import Tensor

_AUDIO = ("rate", "window", "step", "bins", "low", "high")
_KEYS = {"log_mel": _AUDIO, "mfcc": (*_AUDIO, "coefficients"), "image": ("width", "height")}
_OPTIONAL = {"log_mel": ("logarithm",), "mfcc": ("logarithm",), "image": ("crop", "resize", "mean", "deviation")}


def frontend(settings: Mapping[str, Any], tensor: Tensor, model: str) -> Audio | Picture:
    """UnsupportedError with what is missing, too many, or does not fit the input."""
    where, kind = Where(model=model), str(settings.get("kind", ""))
    if not kind:
        raise UnsupportedError(
            "the front end has no kind", where=where, rule="`kind` is one of " + ", ".join(_KEYS), remedy="add `kind`"
        )
    missing = [key for key in _KEYS[kind] if key not in settings]
    unused = [key for key in settings if key not in (*_KEYS[kind], *_OPTIONAL[kind], "kind")]
    if missing or unused:
        what = f"needs {', '.join(missing)}" if missing else f"does not read {', '.join(unused)}"
        raise UnsupportedError(f"the front end '{kind}' {what}", where=where, remedy=f"it reads {_listed(kind)}")
    if tensor.dtype != "int8":
        raise UnsupportedError(
            f"the front end '{kind}' makes int8, but '{tensor.name}' is {tensor.dtype}",
            where=where,
            remedy="quantise the inputs of the model, too (TFLite: inference_input_type = tf.int8)",
        )
    try:
        return _image(settings, tensor) if kind == "image" else _audio(settings, tensor)
    except ValueError as problem:
        raise UnsupportedError(f"the front end '{kind}' cannot be made: {problem}", where=where) from problem


def _listed(kind: str) -> str:
    return ", ".join((*_KEYS[kind], *_OPTIONAL[kind]))


def _audio(settings: Mapping[str, Any], tensor: Tensor) -> Audio:
    numbers = {key: settings[key] for key in _KEYS[str(settings["kind"])]}
    width = int(numbers.get("coefficients", numbers["bins"]))
    if width < 1 or tensor.elements % width:
        raise ValueError(f"the input has {tensor.elements} elements, which are no rows of {width}")
    numbers |= {"logarithm": settings.get("logarithm", "ln"), "frames": tensor.elements // width}
    return Audio(scale=tensor.scale, zero=tensor.zero, **numbers)


def _image(settings: Mapping[str, Any], tensor: Tensor) -> Picture:
    if len(tensor.shape) != 4 or tensor.shape[0] != 1:
        raise ValueError(f"the input {list(tensor.shape)} is not an image [1, height, width, channels]")
    _, height, width, channels = tensor.shape
    return Picture(
        *(settings["width"], settings["height"], channels, width, height),
        crop=tuple(settings.get("crop", ())),
        resize=settings.get("resize", "bilinear"),
        mean=_reals(settings.get("mean", ("0",))),
        deviation=_reals(settings.get("deviation", ("1",))),
        scale=tensor.scale,
        zero=tensor.zero,
    )


def _reals(words: Any) -> tuple[float, ...]:
    return tuple(float(word) for word in words)
