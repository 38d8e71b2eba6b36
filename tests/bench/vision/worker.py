"""Times image functions of Lathe, OpenCV and libyuv: worker.py LIBRARY LIBYUV FUNCTIONS ROUNDS, JSON on stdout."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

RGB, BGR, RGBA, GRAY, NV21, I420 = 1, 2, 3, 5, 7, 8
F32 = 1
WIDTH, HEIGHT = 1920, 1080
MEAN, SCALE = np.array([123.675, 116.28, 103.53]), 1 / np.array([58.395, 57.12, 57.375])


class Image(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("struct_size", "pixels", "yuv")),
        *((name, ctypes.c_int32) for name in ("width", "height")),
        ("data", ctypes.c_void_p * 3),
        ("strides", ctypes.c_size_t * 3),
    ]


class Elements(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("struct_size", "dtype", "order", "planes")),
        ("mean", ctypes.c_float * 4),
        ("scale", ctypes.c_float * 4),
        ("quantum", ctypes.c_float),
        ("zero_point", ctypes.c_int32),
    ]


class View(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        *((name, ctypes.c_int32) for name in ("left", "top", "width", "height")),
        *((name, ctypes.c_uint32) for name in ("filter", "rotation", "flip", "fit")),
        ("fill", ctypes.c_uint8 * 4),
    ]


NAMES = ("convert", "resize", "rotate", "flip", "warp", "crop", "to_tensor")
Run = Callable[[], Any]


class Table(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), *((name, ctypes.c_void_p) for name in NAMES)]


def image(pixels: int, array: np.ndarray[Any, Any], width: int, height: int) -> Image:
    made = Image(ctypes.sizeof(Image), pixels, 0, width, height)
    made.data[0] = array.ctypes.data
    return made


class Lathe:
    """The functions of lathe/vision.h; each call is one without arguments."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        library.lathe_vision_functions.restype = ctypes.POINTER(Table)
        table = library.lathe_vision_functions().contents
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.c_void_p)
        number = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.c_uint32, ctypes.c_void_p)
        self.convert = kind(table.convert)
        self.numbered = {name: number(getattr(table, name)) for name in ("resize", "rotate", "flip")}
        words = (ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)
        self.warp = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *words)(table.warp)
        sizes = (ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)
        self.to_tensor = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3, *sizes)(table.to_tensor)


def checked(function: Any, *arguments: Any) -> Run:
    kept = [ctypes.byref(each) if isinstance(each, ctypes.Structure) else each for each in arguments]
    assert function(*kept, None) == 0

    def run(keep: Any = arguments) -> None:
        function(*kept, None)

    return run


def called(yuv: Any, function: str, *arguments: Any) -> Run | None:
    """A call of libyuv, where there is one."""
    if yuv is None:
        return None
    plain = [ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray) else each for each in arguments]
    call = getattr(yuv, function)

    def run(keep: Any = arguments) -> None:
        call(*plain)

    return run


def cases(lathe: Lathe, yuv: Any) -> dict[tuple[str, str], dict[str, Run | None]]:
    """By function and size: what each engine runs."""
    found: dict[tuple[str, str], dict[str, Run | None]] = {}
    random = np.random.default_rng(0)
    nv21 = random.integers(0, 256, (HEIGHT * 3 // 2, WIDTH), np.uint8)
    rgb = random.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    rgba = random.integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)
    gray = random.integers(0, 256, (HEIGHT, WIDTH), np.uint8)
    to3, to1, to4 = np.empty_like(rgb), np.empty_like(gray), np.empty_like(rgba)
    i420 = np.empty_like(nv21)
    full = f"{WIDTH}x{HEIGHT}"

    def lathe_convert(a: int, x: Any, b: int, y: Any) -> Run:
        return checked(lathe.convert, image(a, x, WIDTH, HEIGHT), image(b, y, WIDTH, HEIGHT))

    def c(function: str, *arguments: Any) -> Run | None:
        return called(yuv, function, *arguments)

    vu = nv21[HEIGHT:]
    # libyuv says RAW for R, G, B in memory, and RGB24 for B, G, R.
    found["nv21_to_rgb", full] = {
        "lathe": lathe_convert(NV21, nv21, RGB, to3),
        "opencv": lambda: cv2.cvtColor(nv21, cv2.COLOR_YUV2RGB_NV21, to3),
        "libyuv": c("NV21ToRAW", nv21, WIDTH, vu, WIDTH, to3, WIDTH * 3, WIDTH, HEIGHT),
    }
    found["rgb_to_bgr", full] = {
        "lathe": lathe_convert(RGB, rgb, BGR, to3),
        "opencv": lambda: cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR, to3),
        "libyuv": c("RAWToRGB24", rgb, WIDTH * 3, to3, WIDTH * 3, WIDTH, HEIGHT),
    }
    found["rgba_to_rgb", full] = {
        "lathe": lathe_convert(RGBA, rgba, RGB, to3),
        "opencv": lambda: cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB, to3),
        "libyuv": c("ARGBToRGB24", rgba, WIDTH * 4, to3, WIDTH * 3, WIDTH, HEIGHT),
    }
    found["rgb_to_rgba", full] = {
        "lathe": lathe_convert(RGB, rgb, RGBA, to4),
        "opencv": lambda: cv2.cvtColor(rgb, cv2.COLOR_RGB2RGBA, to4),
        "libyuv": c("RGB24ToARGB", rgb, WIDTH * 3, to4, WIDTH * 4, WIDTH, HEIGHT),
    }
    found["rgb_to_gray", full] = {
        "lathe": lathe_convert(RGB, rgb, GRAY, to1),
        "opencv": lambda: cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY, to1),
        "libyuv": c("RAWToJ400", rgb, WIDTH * 3, to1, WIDTH, WIDTH, HEIGHT),
    }
    half = WIDTH // 2
    u = i420.reshape(-1)[HEIGHT * WIDTH :]
    v = u[half * HEIGHT // 2 :]
    found["rgb_to_i420", full] = {
        "lathe": lathe_convert(RGB, rgb, I420, i420),
        "opencv": lambda: cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420, i420),
        "libyuv": c("RAWToI420", rgb, WIDTH * 3, i420, WIDTH, u, half, v, half, WIDTH, HEIGHT),
    }

    moves(found, lathe, yuv, rgb, gray)
    tensors(found, lathe, rgb, nv21, full)
    return found


def moves(found: Any, lathe: Lathe, yuv: Any, rgb: Any, gray: Any) -> None:
    """Resize, rotate, flip, warp."""
    full, to3, to1 = f"{WIDTH}x{HEIGHT}", np.empty_like(rgb), np.empty_like(gray)
    turned, turned1 = np.empty((WIDTH, HEIGHT, 3), np.uint8), np.empty((WIDTH, HEIGHT), np.uint8)

    def c(function: str, *arguments: Any) -> Run | None:
        return called(yuv, function, *arguments)

    def resized(name: str, number: int, how: str, size: tuple[int, int]) -> None:
        width, height = size
        out = np.empty((height, width, 3), np.uint8)
        source, target = image(RGB, rgb, WIDTH, HEIGHT), image(RGB, out, width, height)
        found[name, f"{full} to {width}x{height}"] = {
            "lathe": checked(lathe.numbered["resize"], source, target, number),
            "opencv": lambda: cv2.resize(rgb, size, out, interpolation=getattr(cv2, how)),
        }

    for size in ((224, 224), (640, 360), (1280, 720)):
        resized("resize_nearest", 0, "INTER_NEAREST", size)
        resized("resize_bilinear", 1, "INTER_LINEAR", size)
        resized("resize_area", 2, "INTER_AREA", size)

    source = image(RGB, rgb, WIDTH, HEIGHT)
    found["rotate_90_rgb", full] = {
        "lathe": checked(lathe.numbered["rotate"], source, image(RGB, turned, HEIGHT, WIDTH), 90),
        "opencv": lambda: cv2.rotate(rgb, cv2.ROTATE_90_CLOCKWISE, turned),
    }
    plane = image(GRAY, gray, WIDTH, HEIGHT)
    found["rotate_90_gray", full] = {
        "lathe": checked(lathe.numbered["rotate"], plane, image(GRAY, turned1, HEIGHT, WIDTH), 90),
        "opencv": lambda: cv2.rotate(gray, cv2.ROTATE_90_CLOCKWISE, turned1),
        "libyuv": c("RotatePlane", gray, WIDTH, turned1, HEIGHT, WIDTH, HEIGHT, 90),
    }
    found["flip_columns_rgb", full] = {
        "lathe": checked(lathe.numbered["flip"], source, image(RGB, to3, WIDTH, HEIGHT), 2),
        "opencv": lambda: cv2.flip(rgb, 1, to3),
        "libyuv": c("RGB24Mirror", rgb, WIDTH * 3, to3, WIDTH * 3, WIDTH, HEIGHT),
    }
    found["flip_columns_gray", full] = {
        "lathe": checked(lathe.numbered["flip"], plane, image(GRAY, to1, WIDTH, HEIGHT), 2),
        "opencv": lambda: cv2.flip(gray, 1, to1),
        "libyuv": c("MirrorPlane", gray, WIDTH, to1, WIDTH, WIDTH, HEIGHT),
    }
    matrix = np.array([[0.9, -0.3, 200], [0.3, 0.9, -100]], np.float32)
    out = np.empty((480, 640, 3), np.uint8)
    fill = np.zeros(4, np.uint8)
    place = [ctypes.c_void_p(each.ctypes.data) for each in (matrix, fill)]
    found["warp_bilinear", f"{full} to 640x480"] = {
        "lathe": checked(lathe.warp, source, image(RGB, out, 640, 480), place[0], 1, place[1]),
        "opencv": lambda: cv2.warpAffine(rgb, matrix, (640, 480), out, cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP),
    }


def tensors(found: Any, lathe: Lathe, rgb: Any, nv21: Any, full: str) -> None:
    """From images to normalised tensors: for OpenCV, the usual chain of calls."""

    def elements(planes: int) -> Elements:
        made = Elements(ctypes.sizeof(Elements), F32, RGB, planes)
        for channel in range(3):
            made.mean[channel], made.scale[channel] = float(MEAN[channel]), float(SCALE[channel])
        return made

    def view(filter_: int, fit: int) -> View:
        return View(ctypes.sizeof(View), 0, 0, 0, 0, filter_, 0, 0, fit)

    def tensor(source: Image, how: View, planes: int, side: int) -> Run:
        out = np.empty(3 * side * side, np.float32)
        data = ctypes.c_void_p(out.ctypes.data)
        run = checked(lathe.to_tensor, source, how, elements(planes), side, side, data, out.nbytes, None)

        def filled(keep: Any = out) -> None:
            run()

        return filled

    mean, scale = MEAN.astype(np.float32), SCALE.astype(np.float32)
    small, real = np.empty((224, 224, 3), np.uint8), np.empty((224, 224, 3), np.float32)
    whole = np.empty((HEIGHT, WIDTH, 3), np.uint8)

    def normalise() -> None:
        np.subtract(small, mean, out=real)
        np.multiply(real, scale, out=real)

    def nhwc() -> None:
        cv2.resize(rgb, (224, 224), small, interpolation=cv2.INTER_LINEAR)
        normalise()

    def fused() -> None:
        cv2.cvtColor(nv21, cv2.COLOR_YUV2RGB_NV21, whole)
        cv2.resize(whole, (224, 224), small, interpolation=cv2.INTER_LINEAR)
        normalise()

    def boxed() -> Any:
        cv2.cvtColor(nv21, cv2.COLOR_YUV2RGB_NV21, whole)
        made = cv2.resize(whole, (640, 360), interpolation=cv2.INTER_LINEAR)
        made = cv2.copyMakeBorder(made, 140, 140, 0, 0, cv2.BORDER_CONSTANT, value=(114, 114, 114))
        return cv2.dnn.blobFromImage(made, float(SCALE[0]), mean=MEAN.tolist())

    colour, camera = image(RGB, rgb, WIDTH, HEIGHT), image(NV21, nv21, WIDTH, HEIGHT)
    found["rgb_to_tensor", f"{full} to 224x224"] = {"lathe": tensor(colour, view(1, 0), 0, 224), "opencv": nhwc}
    found["nv21_to_tensor", f"{full} to 224x224"] = {"lathe": tensor(camera, view(1, 0), 0, 224), "opencv": fused}
    found["nv21_letterbox_planes", f"{full} to 640x640"] = {
        "lathe": tensor(camera, view(1, 1), 1, 640),
        "opencv": boxed,
    }


def main() -> int:
    library, yuv, functions, rounds = sys.argv[1:5]
    if cv2 is not None:
        cv2.setNumThreads(1)
    other = None if yuv == "-" else ctypes.CDLL(yuv)
    results = []
    for (function, size), engines in cases(Lathe(library), other).items():
        if functions != "-" and function not in functions.split(","):
            continue
        runs = {name: run for name, run in engines.items() if run is not None and (name != "opencv" or cv2 is not None)}
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(int(rounds)):
            for name, run in runs.items():
                start = time.thread_time()
                run()
                best[name] = min(best[name], time.thread_time() - start)
        results += [
            {"function": function, "size": size, "engine": name, "time_ms": round(seconds * 1000, 4)}
            for name, seconds in best.items()
        ]
    versions = {"opencv": getattr(cv2, "__version__", ""), "numpy": np.__version__}
    json.dump({"results": results, "versions": versions, "rounds": int(rounds)}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
