"""The part of lathe/vision.h that fills inputs from images, for `native`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_int32, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np

#: Formats of images by name, in the order of lathe/vision.h, which counts from 1; and bytes of a pixel, or of two.
PIXELS = {"rgb": 6, "bgr": 6, "rgba": 8, "bgra": 8, "gray": 2, "nv12": 3, "nv21": 3, "i420": 3, "yuyv": 4}
YUV = ("full", "video", "hd")


class Image(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("pixels", c_uint32),
        ("yuv", c_uint32),
        ("width", c_int32),
        ("height", c_int32),
        ("data", c_void_p * 3),
        ("strides", c_size_t * 3),
    ]


_SetImage = CFUNCTYPE(c_int32, c_void_p, c_size_t, POINTER(Image), POINTER(c_int32), c_void_p, c_void_p)


class Vision(Structure):
    """lathe_vision_api."""

    _fields_ = [
        ("struct_size", c_uint32),
        *((name, c_void_p) for name in ("convert", "resize", "rotate", "flip", "warp", "crop", "to_tensor")),
        *((name, c_void_p) for name in ("boxes_back", "points_back", "run_image")),
        ("set_image", _SetImage),
    ]


def bytes_of(pixels: str, width: int, height: int) -> int:
    """Of an image without gaps."""
    half_width, half_height = (width + 1) // 2, (height + 1) // 2
    if pixels in ("nv12", "nv21", "i420"):
        return width * height + 2 * half_width * half_height
    return half_width * 4 * height if pixels == "yuyv" else width * height * PIXELS[pixels] // 2


def describe(pixels: str, image: np.ndarray[Any, Any], size: tuple[int, int], yuv: str) -> Image:
    """`image`: bytes without gaps, which have to stay; `size`: width and height."""
    about = Image(ctypes.sizeof(Image), list(PIXELS).index(pixels) + 1, YUV.index(yuv), *size)
    about.data[0] = image.__array_interface__["data"][0]
    return about


def part_of(part: Sequence[int] | None) -> Any:
    return None if part is None else (c_int32 * 4)(*part)
