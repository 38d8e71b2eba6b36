"""What is no image, or does not fit, is a code and a message, and nothing is written."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders import elf
from tests.bench.vision import worker
from tests.native_builds import build

RGB, GRAY, NV21, YUYV = 1, 5, 7, 9


class Image(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("pixels", ctypes.c_uint32),
        ("yuv", ctypes.c_uint32),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("data", ctypes.c_void_p * 3),
        ("strides", ctypes.c_size_t * 3),
    )


class Error(ctypes.Structure):
    _fields_ = (("code", ctypes.c_int32), ("message", ctypes.c_char * 508))


_IMAGES = (ctypes.POINTER(Image), ctypes.POINTER(Image))
_FUNCTIONS = ("convert", "resize", "rotate", "flip")


class Table(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("convert", ctypes.CFUNCTYPE(ctypes.c_int32, *_IMAGES, ctypes.POINTER(Error))),
        *(
            (name, ctypes.CFUNCTYPE(ctypes.c_int32, *_IMAGES, ctypes.c_uint32, ctypes.POINTER(Error)))
            for name in _FUNCTIONS[1:]
        ),
    )


@pytest.fixture(scope="module")
def file() -> Path:
    return build("vision", variant="vision", options=["-DLATHE_BUILD_TESTS=ON"]) / "liblathe_vision.so"


@pytest.fixture(scope="module")
def table(file: Path) -> Table:
    library = ctypes.CDLL(str(file))
    library.lathe_vision_functions.restype = ctypes.POINTER(Table)
    return library.lathe_vision_functions().contents  # type: ignore[no-any-return]


MEMORY = (ctypes.c_uint8 * 4096)()


def image(pixels: int, width: int, height: int, at: int = 0, stride: int = 0) -> Image:
    made = Image(ctypes.sizeof(Image), pixels, 0, width, height)
    made.data[0] = ctypes.addressof(MEMORY) + at
    made.strides[0] = stride
    return made


CASES = {
    "no pixels": ("convert", image(RGB, 0, 4), image(RGB, 0, 4), [], "an image of 0x4 pixels"),
    "too many": ("convert", image(RGB, 40000, 1), image(RGB, 40000, 1), [], "1x1 to 32768x32768"),
    "no format": ("convert", image(12, 4, 4), image(RGB, 4, 4, 2048), [], "12 is no format of pixels"),
    "short rows": (
        "convert",
        image(RGB, 4, 4, 0, 11),
        image(RGB, 4, 4, 2048),
        [],
        "rows of plane 0 are 12 bytes, and 11",
    ),
    "sizes": ("convert", image(RGB, 4, 4), image(RGB, 5, 4, 2048), [], "4x4 and 5x4"),
    "overlap": ("resize", image(RGB, 8, 8), image(RGB, 4, 4, 100), [1], "source and target overlap"),
    "larger in place": ("convert", image(GRAY, 8, 8), image(RGB, 8, 8), [], "source and target overlap"),
    "filter": ("resize", image(RGB, 8, 8), image(RGB, 4, 4, 2048), [3], "3 is no filter"),
    "formats": ("resize", image(RGB, 8, 8), image(GRAY, 4, 4, 2048), [1], "formats 1 and 5"),
    "yuyv": ("resize", image(YUYV, 8, 8), image(YUYV, 4, 4, 2048), [1], "convert the image to I420"),
    "degrees": ("rotate", image(RGB, 4, 8), image(RGB, 8, 4, 2048), [45], "by 45 degrees"),
    "turned size": ("rotate", image(NV21, 4, 8), image(NV21, 4, 8, 2048), [90], "has 8x4, not 4x8"),
    "axes": ("flip", image(RGB, 4, 8), image(RGB, 4, 8, 2048), [4], "4 are no axes"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_refused(table: Table, name: str) -> None:
    function, source, target, extra, message = CASES[name]
    before = bytes(MEMORY)
    error = Error()
    code = getattr(table, function)(ctypes.byref(source), ctypes.byref(target), *extra, ctypes.byref(error))
    assert code != 0
    assert error.code == code
    assert message in error.message.decode()
    assert bytes(MEMORY) == before


def test_pixels_that_do_not_grow_may_be_converted_in_place(table: Table) -> None:
    ctypes.memmove(MEMORY, bytes(range(240)), 240)
    error = Error()
    rgba, bgr = image(3, 10, 6), image(2, 10, 6, 0, 40)
    rgba.strides[0] = 40
    assert table.convert(ctypes.byref(rgba), ctypes.byref(bgr), ctypes.byref(error)) == 0, error.message
    assert bytes(MEMORY)[40:46] == bytes([42, 41, 40, 46, 45, 44])


def test_the_library_exports_one_function_and_needs_the_system_only(file: Path) -> None:
    found = elf.inspect_library(file)
    assert found.exported == ("lathe_vision_functions",)
    assert all(name.startswith(("libc.so", "libm.so", "ld-linux")) for name in found.needed)
    assert tuple(map(int, found.glibc.split("."))) <= (2, 17)  # the usual floor


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "known"), [(2, True), (17, True), (34, True), (36, True), (5, False), (16, False), (49, False)]
)
def test_a_rounding_needs_borders(file: Path, fit: int, known: bool) -> None:
    pixels = np.zeros((5, 7, 3), np.uint8)
    source, view = worker.image(RGB, pixels, 7, 5), worker.View(ctypes.sizeof(worker.View))
    view.filter, view.fit = 1, fit
    elements = worker.Elements(ctypes.sizeof(worker.Elements), worker.F32, RGB, 0)
    made = np.zeros((8, 8, 3), np.float32)
    call = worker.Lathe(str(file)).to_tensor
    arguments = [ctypes.byref(each) for each in (source, view, elements)]
    assert (call(*arguments, 8, 8, made.ctypes.data, made.nbytes, None, None) == 0) == known
