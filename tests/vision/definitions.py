"""What the functions of lathe/vision.h compute, in NumPy: the oracle of native/vision."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RGB, BGR, RGBA, BGRA, GRAY, NV12, NV21, I420, YUYV = range(1, 10)
FULL, VIDEO, HD = range(3)
NEAREST, BILINEAR, AREA = range(3)
FLIP_X, FLIP_Y = 1, 2
STRETCH, LETTERBOX, CORNER, PAD, PAD_CORNER = range(5)
DOWN, UP = 16, 32  # added to all but the first
F32, F16, S8, U8 = 1, 2, 5, 6
CHANNELS = {RGB: 3, BGR: 3, RGBA: 4, BGRA: 4, GRAY: 1}
YUV_FORMATS = (NV12, NV21, I420, YUYV)
# What red, green and blue weigh in brightness.
_WEIGHTS = {FULL: (0.299, 0.587, 0.114), VIDEO: (0.299, 0.587, 0.114), HD: (0.2126, 0.7152, 0.0722)}


def plane_shapes(pixels: int, width: int, height: int) -> list[tuple[int, int, int]]:
    """Of each plane of a format: rows, elements of a row, bytes of an element."""
    half_width, half_height = (width + 1) // 2, (height + 1) // 2
    if pixels in (NV12, NV21):
        return [(height, width, 1), (half_height, half_width, 2)]
    if pixels == I420:
        return [(height, width, 1), (half_height, half_width, 1), (half_height, half_width, 1)]
    if pixels == YUYV:
        return [(height, half_width, 4)]
    return [(height, width, CHANNELS[pixels])]


def yuv_planes(pixels: int, planes: list[Array], width: int) -> tuple[Array, Array, Array]:
    """Y, U and V, each as large as it is stored."""
    if pixels == YUYV:
        pairs = planes[0]
        return pairs[:, :, ::2].reshape(len(pairs), -1)[:, :width], pairs[:, :, 1], pairs[:, :, 3]
    if pixels == I420:
        return planes[0][:, :, 0], planes[1][:, :, 0], planes[2][:, :, 0]
    u, v = (0, 1) if pixels == NV12 else (1, 0)
    return planes[0][:, :, 0], planes[1][:, :, u], planes[1][:, :, v]


def rgb_of_yuv(y: Array, u: Array, v: Array, meaning: int) -> Array:
    """Red, green and blue, as the standards define them."""
    red, green, blue = _WEIGHTS[meaning]
    scale, chroma, offset = (1.0, 1.0, 0) if meaning == FULL else (255 / 219, 255 / 224, 16)
    bright = np.maximum(y.astype(float) - offset, 0) * scale
    cb, cr = (u.astype(float) - 128) * chroma, (v.astype(float) - 128) * chroma
    r = bright + 2 * (1 - red) * cr
    b = bright + 2 * (1 - blue) * cb
    g = bright - 2 * (1 - red) * red / green * cr - 2 * (1 - blue) * blue / green * cb
    return np.clip(np.stack([r, g, b], -1), 0, 255)


def fixed_rgb_of_yuv(y: Array, u: Array, v: Array, meaning: int) -> Array:
    """The same in whole numbers, as Paddle-Lite has it (FULL): shifts towards minus infinity."""
    y_offset, y_gain, r_v, g_u, g_v, b_u = {
        FULL: (0, 128, 358, 44, 91, 454),
        VIDEO: (16, 149, 409, 50, 104, 517),
        HD: (16, 149, 459, 27, 68, 541),
    }[meaning]
    y, u, v = (np.rint(x).astype(np.int64) for x in (y, u, v))
    bright = (np.maximum(y - y_offset, 0) * y_gain + 64) >> 7
    u, v = u - 128, v - 128
    made = [bright + ((v * r_v) >> 8), bright - ((u * g_u + v * g_v) >> 7), bright + ((u * b_u) >> 8)]
    return np.clip(np.stack(made, -1), 0, 255)


def yuv_of_rgb(rgb: Array, meaning: int) -> tuple[Array, Array, Array]:
    """Y, U and V for each pixel."""
    red, green, blue = _WEIGHTS[meaning]
    scale, chroma, offset = (1.0, 1.0, 0) if meaning == FULL else (219 / 255, 224 / 255, 16)
    r, g, b = (rgb[..., i].astype(float) for i in range(3))
    bright = red * r + green * g + blue * b
    u = 128 + (b - bright) / (2 * (1 - blue)) * chroma
    v = 128 + (r - bright) / (2 * (1 - red)) * chroma
    return offset + bright * scale, np.clip(u, 0, 255), np.clip(v, 0, 255)


def gray_of_rgb(rgb: Array) -> Array:
    """38 red, 75 green, 15 blue of 128: Paddle-Lite's brightness."""
    r, g, b = (np.rint(rgb[..., i]).astype(np.int64) for i in range(3))
    return (38 * r + 75 * g + 15 * b) >> 7


def doubled(chroma: Array, width: int, height: int, rows: int = 2) -> Array:
    """Each element for 2 x `rows` pixels."""
    return chroma.repeat(rows, 0).repeat(2, 1)[:height, :width]


def rgba(pixels: int, planes: list[Array], width: int, height: int, meaning: int) -> Array:
    """The image as red, green, blue, alpha."""
    if pixels in YUV_FORMATS:
        y, u, v = yuv_planes(pixels, planes, width)
        rows = 1 if pixels == YUYV else 2
        rgb = fixed_rgb_of_yuv(y, doubled(u, width, height, rows), doubled(v, width, height, rows), meaning)
    else:
        x = planes[0]
        if pixels == GRAY:
            rgb = np.repeat(x, 3, -1)
        else:
            rgb = x[:, :, :3] if pixels in (RGB, RGBA) else x[:, :, 2::-1]
        if pixels in (RGBA, BGRA):
            return np.concatenate([rgb, x[:, :, 3:]], -1)
    return np.concatenate([rgb, np.full((height, width, 1), 255)], -1)


def ordered(image: Array, pixels: int) -> Array:
    """RGBA as a format of whole pixels."""
    if pixels == GRAY:
        return gray_of_rgb(image)[..., None]
    rgb = image[..., :3] if pixels in (RGB, RGBA) else image[..., 2::-1]
    return np.concatenate([rgb, image[..., 3:]], -1) if pixels in (RGBA, BGRA) else rgb


def means(chroma: Array, rows: int) -> Array:
    """The mean of 2 x `rows` pixels; the last row and column go on."""
    height, width = chroma.shape
    wide = np.pad(chroma, ((0, height % rows), (0, width % 2)), "edge")
    return wide.reshape(wide.shape[0] // rows, rows, wide.shape[1] // 2, 2).mean((1, 3))


def convert(
    pixels: int, planes: list[Array], width: int, height: int, meaning: int, to: int, to_meaning: int
) -> list[Array]:
    """The planes of another format."""
    if to not in YUV_FORMATS:
        if pixels in YUV_FORMATS and to == GRAY:
            y = yuv_planes(pixels, planes, width)[0].astype(np.int64)
            return [(y if meaning == FULL else np.clip((np.maximum(y - 16, 0) * 149 + 64) >> 7, 0, 255))[..., None]]
        if pixels == GRAY and to == GRAY:
            return [planes[0]]
        return [ordered(rgba(pixels, planes, width, height, meaning), to)]
    rows = 1 if to == YUYV else 2
    if pixels in YUV_FORMATS:
        y, u, v = (x.astype(float) for x in yuv_planes(pixels, planes, width))
        if pixels == YUYV and to != YUYV:
            u, v = (np.pad(x, ((0, height % 2), (0, 0)), "edge").reshape(-1, 2, x.shape[1]).mean(1) for x in (u, v))
        if pixels != YUYV and to == YUYV:
            u, v = (x.repeat(2, 0)[:height] for x in (u, v))
    else:
        rgb = rgba(pixels, planes, width, height, FULL)[..., :3]
        y = yuv_of_rgb(rgb, to_meaning)[0]
        mean = np.stack([np.floor(means(rgb[..., i].astype(float), rows) + 0.5) for i in range(3)], -1)
        _, u, v = yuv_of_rgb(mean, to_meaning)
    if to == I420:
        return [y[..., None], u[..., None], v[..., None]]
    if to in (NV12, NV21):
        return [y[..., None], np.stack([u, v] if to == NV12 else [v, u], -1)]
    wide = np.pad(y, ((0, 0), (0, width % 2)), "edge")
    return [np.stack([wide[:, ::2], u, wide[:, 1::2], v], -1)]


@dataclass(frozen=True)
class Axis:
    """One side of a resize: `size` pixels from `origin` on become `out`; a plane has an element for `share` of them.

    Only `inner` of these pixels, the first and the last, are the image's; by default, all are.
    """

    origin: int
    size: int
    out: int
    share: int = 1
    inner: tuple[int, int] | None = None

    @property
    def pixels(self) -> tuple[int, int]:
        return self.inner or (self.origin, self.origin + self.size - 1)

    @property
    def low(self) -> int:
        return self.pixels[0] // self.share

    @property
    def high(self) -> int:
        return self.pixels[1] // self.share

    def coverage(self, filter_: int) -> Array:
        """How much of each pixel of the result is the image's, and not the border's."""
        first, last = self.pixels
        start = self.origin + np.arange(self.out) * self.size / self.out
        if filter_ == AREA:
            end = start + self.size / self.out
            covered = np.minimum(end, last + 1) - np.maximum(start, first)
            return np.maximum(covered, 0) * self.out / self.size
        doubled = (2 * np.arange(self.out) + 1) * self.size + 2 * self.origin * self.out
        if filter_ == NEAREST:
            nearest = doubled // (2 * self.out)
            return ((nearest >= first) & (nearest <= last)).astype(float)
        before = (doubled - self.out) // (2 * self.out)
        weight = (doubled - self.out) / (2 * self.out) - before
        taps = [np.clip(pixel, self.origin, self.origin + self.size - 1) for pixel in (before, before + 1)]
        inside = [((pixel >= first) & (pixel <= last)).astype(float) for pixel in taps]
        return inside[0] * (1 - weight) + inside[1] * weight

    def matrix(self, filter_: int, elements: int) -> Array:
        """`out` rows of weights of the elements of a plane."""
        made = np.zeros((self.out, elements))
        for i in range(self.out):
            centre = (self.origin + (i + 0.5) * self.size / self.out) / self.share
            if filter_ == NEAREST:
                numerator = (2 * i + 1) * self.size + 2 * self.origin * self.out
                made[i, np.clip(numerator // (2 * self.out * self.share), self.low, self.high)] = 1
            elif filter_ == BILINEAR:
                position = np.clip(centre - 0.5, self.low, self.high)
                left = int(position)
                made[i, left] += 1 - (position - left)
                made[i, min(left + 1, self.high)] += position - left
            else:
                start = (self.origin * self.out + i * self.size) / (self.out * self.share)
                end = min(start + self.size / self.out / self.share, self.high + 1)
                for k in range(self.low, self.high + 1):
                    made[i, k] = max(0.0, min(end, k + 1) - max(start, k))
                made[i, self.low] += not made[i].any()  # nothing of the image: any will do
                made[i] /= made[i].sum()
        return made


def exactly(plane: Array, x: Axis, y: Axis, filter_: int) -> Array:
    """The same as bytes: bilinear weights have 15 bits, and what is resized in one direction has 7 bits of fraction.

    Where planes of Y, U and V become colours, a step in one of them would be several in the result.
    """
    if filter_ != BILINEAR:
        return np.floor(resampled(plane, x, y, filter_) + 0.5 + 1 / 4096)

    def taps(axis: Axis) -> tuple[Array, Array, Array]:
        whole = 2 * axis.out * axis.share
        position = (2 * np.arange(axis.out) + 1) * axis.size + 2 * axis.origin * axis.out - whole // 2
        first = position // whole
        weight = (position - first * whole) * 32768 // whole
        weight = np.where(first < axis.low, 0, np.where(first >= axis.high, 32767, weight))
        first = np.clip(first, axis.low, max(axis.low, axis.high - 1))
        return first, np.minimum(first + 1, axis.high), weight

    left, right, weight = taps(x)
    base = plane.astype(np.int64) << 7
    made = base[:, left] + (((base[:, right] - base[:, left]) * weight[None, :, None] + 16384) >> 15)
    top, bottom, weight = taps(y)
    made = made[top] + (((made[bottom] - made[top]) * weight[:, None, None] + 16384) >> 15)
    return (made + 64) >> 7


def resampled(plane: Array, x: Axis, y: Axis, filter_: int) -> Array:
    """A plane (rows, elements, bytes), resized."""
    across = np.einsum("xk,ykc->yxc", x.matrix(filter_, plane.shape[1]), plane.astype(float))
    return np.einsum("yk,kxc->yxc", y.matrix(filter_, plane.shape[0]), across)


def resize(planes: list[Array], targets: list[Array], filter_: int) -> list[Array]:
    """Each plane by itself."""
    return [
        resampled(a, Axis(0, a.shape[1], b.shape[1]), Axis(0, a.shape[0], b.shape[0]), filter_)
        for a, b in zip(planes, targets, strict=True)
    ]


def turned(image: Array, rotation: int, flip: int) -> Array:
    """Rotated clockwise, then flipped."""
    image = np.rot90(image, -rotation // 90)
    image = image[::-1] if flip & FLIP_X else image
    return image[:, ::-1] if flip & FLIP_Y else image


def warp(image: Array, width: int, height: int, matrix: Array, filter_: int, fill: Array) -> Array:
    """Pixels of the target at their positions in the image; outside of it is `fill`."""
    rows, columns, channels = image.shape
    grid_y, grid_x = np.mgrid[0:height, 0:width].astype(float)
    x = matrix[0] * grid_x + matrix[1] * grid_y + matrix[2]
    y = matrix[3] * grid_x + matrix[4] * grid_y + matrix[5]
    x, y = (np.floor(p * 1024 + 0.5) / 1024 for p in (x, y))  # positions have ten bits of fraction

    def at(px: Array, py: Array) -> Array:
        inside = (px >= 0) & (py >= 0) & (px < columns) & (py < rows)
        got = image[np.clip(py, 0, rows - 1).astype(int), np.clip(px, 0, columns - 1).astype(int)]
        return np.where(inside[..., None], got, fill[:channels]).astype(float)

    if filter_ == NEAREST:
        return at(np.floor(x + 0.5), np.floor(y + 0.5))
    left, top = np.floor(x), np.floor(y)
    wx, wy = (x - left)[..., None], (y - top)[..., None]
    above = at(left, top) * (1 - wx) + at(left + 1, top) * wx
    below = at(left, top + 1) * (1 - wx) + at(left + 1, top + 1) * wx
    return above * (1 - wy) + below * wy


@dataclass(frozen=True)
class View:
    left: int
    top: int
    width: int
    height: int
    filter: int
    rotation: int
    flip: int
    fit: int
    fill: tuple[int, int, int, int]


def content(view: View, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width, height of what the image fills of a tensor."""
    if view.fit & 15 in (STRETCH, PAD, PAD_CORNER):
        return 0, 0, width, height
    across, down = (view.height, view.width) if view.rotation % 180 else (view.width, view.height)
    scale = min(width / across, height / down)
    exact = np.array([across, down]) * scale
    rounded = np.floor(exact) if view.fit & DOWN else np.ceil(exact - 1e-9) if view.fit & UP else np.floor(exact + 0.5)
    made = [min(most, max(1, int(side))) for side, most in zip(rounded, (width, height), strict=True)]
    if view.fit & 15 == CORNER:
        return 0, 0, made[0], made[1]
    return (width - made[0]) // 2, (height - made[1]) // 2, made[0], made[1]


def padded(view: View, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width, height of the part of an image with the borders that it gets before it is resized."""
    if view.fit & 15 not in (PAD, PAD_CORNER):
        return view.left, view.top, view.width, view.height
    across, down = (view.height, view.width) if view.rotation % 180 else (view.width, view.height)

    def side(exact: Fraction) -> int:
        if view.fit & DOWN:
            return math.floor(exact)
        return math.ceil(exact) if view.fit & UP else math.floor(exact + Fraction(1, 2))

    wide = Fraction(across, down) >= Fraction(width, height)
    whole = (across, side(Fraction(across * height, width))) if wide else (side(Fraction(down * width, height)), down)
    left, top = (0, 0) if view.fit & 15 == PAD_CORNER else ((whole[0] - across) // 2, (whole[1] - down) // 2)
    canvas = np.zeros((whole[1], whole[0]), bool)
    canvas[top : top + down, left : left + across] = True
    canvas = canvas[::-1] if view.flip & FLIP_X else canvas
    canvas = np.rot90(canvas[:, ::-1] if view.flip & FLIP_Y else canvas, view.rotation // 90)
    return view.left - int(canvas.any(0).argmax()), view.top - int(canvas.any(1).argmax()), *canvas.shape[::-1]


def resized(
    pixels: int,
    planes: list[Array],
    size: tuple[int, int],
    meaning: int,
    view: View,
    whole: tuple[int, int, int, int],
    out: tuple[int, int],
    order: int,
) -> Array:
    """The part of an image with its borders, resized to `out` (width, height)."""
    inner_x, inner_y = (view.left, view.left + view.width - 1), (view.top, view.top + view.height - 1)
    x, y = Axis(whole[0], whole[2], out[0], 1, inner_x), Axis(whole[1], whole[3], out[1], 1, inner_y)
    made = colours(pixels, planes, size, meaning, view, (x, y), order)
    share = (y.coverage(view.filter)[:, None] * x.coverage(view.filter))[..., None]
    if (share == 1).all():
        return made
    return np.where(share == 1, made, np.rint(np.rint(made) * share + (1 - share) * view.fill[: CHANNELS[order]]))


def colours(
    pixels: int,
    planes: list[Array],
    size: tuple[int, int],
    meaning: int,
    view: View,
    sides: tuple[Axis, Axis],
    order: int,
) -> Array:
    """The same without the borders: edges go on. Planes of Y, U and V are resized each, and become colours then."""
    out = sides[0].out, sides[1].out

    def axes(share_x: int, share_y: int) -> tuple[Axis, Axis]:
        return replace(sides[0], share=share_x), replace(sides[1], share=share_y)

    same = all(side.out == side.size for side in sides)
    if pixels not in YUV_FORMATS:
        image = resampled(planes[0], *axes(1, 1), view.filter)
        if pixels == order:
            return image
        return ordered(rgba(pixels, [np.rint(image)], *out, meaning), order)
    y, u, v = (plane[..., None] for plane in yuv_planes(pixels, planes, size[0]))
    share_y = 1 if pixels == YUYV else 2
    bright = exactly(y, *axes(1, 1), view.filter)[..., 0]
    if order == GRAY:
        return np.clip(bright if meaning == FULL else np.maximum(bright - 16, 0) * 149 / 128, 0, 255)[..., None]
    if same:
        rows, columns = (np.clip(np.arange(side.origin, side.origin + side.size), *side.pixels) for side in sides[::-1])
        cb, cr = (doubled(plane[..., 0], *size, share_y)[np.ix_(rows, columns)] for plane in (u, v))
    else:
        cb, cr = (exactly(plane, *axes(2, share_y), view.filter)[..., 0] for plane in (u, v))
    rgb = fixed_rgb_of_yuv(bright, cb, cr, meaning)
    return ordered(np.concatenate([rgb, np.full((*rgb.shape[:2], 1), 255)], -1), order)


def tensor_bytes(
    pixels: int,
    planes: list[Array],
    size: tuple[int, int],
    meaning: int,
    view: View,
    width: int,
    height: int,
    order: int,
) -> Array:
    """The pixels of a tensor before mean and scale."""
    left, top, across, down = content(view, width, height)
    out = (down, across) if view.rotation % 180 else (across, down)
    part = padded(view, width, height)
    made = turned(resized(pixels, planes, size, meaning, view, part, out, order), view.rotation, view.flip)
    whole = np.empty((height, width, CHANNELS[order]))
    whole[:] = view.fill[: CHANNELS[order]]
    whole[top : top + down, left : left + across] = made
    return whole
