"""What a generated library holds of native/vision, and what its registry says of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from buildtool.codegen.native_sources import NativeSources
from buildtool.ir.types import DType
from buildtool.vision import CHANNELS, FUNCTIONS, PIXELS, InputImage, Vision

#: Instruction sets that native/vision has rows for, beside `portable`, which all have.
VISION_ISAS = ("avx2", "neon", "neonv7", "portable")
_READERS = ("pixel", "semi", "planar", "yuyv")  # in the order of KnownParts
_FAMILY = {**dict.fromkeys(CHANNELS, "pixel"), "nv12": "semi", "nv21": "semi", "i420": "planar", "yuyv": "yuyv"}
_FILTERS = ("nearest", "bilinear", "area")
_WRITERS = {"f32": DType.F32, "f16": DType.F16, "s8": DType.S8, "u8": DType.U8}
_CHANNELS = 4  # of arrays by channel


@dataclass(frozen=True)
class VisionSources:
    """What one ABI of a library is made of."""

    vision: Vision
    isas: tuple[str, ...]  # of VISION_ISAS, the best first
    every_machine: bool  # whether all machines of the ABI run the best one
    types: frozenset[DType]  # of the inputs that images fill

    @property
    def _rows(self) -> tuple[str, str]:
        """The best set, and that of machines without it."""
        return self.isas[0], self.isas[0] if self.every_machine else "portable"

    def units(self, sources: NativeSources) -> list[str]:
        """All functions: the linker leaves out those that the registry does not name."""
        found = [path for path in sources.vision() if self.vision.images or not path.endswith("/session.cc")]
        return [*found, *(f"native/vision/rows__{isa}.cc" for isa in dict.fromkeys(self._rows))]

    def context(self) -> dict[str, Any]:
        """What the template of the registry reads."""
        held = self.vision.functions
        families = {_FAMILY[word] for image in self.vision.images for word in image.sources}
        filters = {image.filter for image in self.vision.images}
        best, other = self._rows
        return {
            "functions": [_function(name) if name in held else "nullptr" for name in FUNCTIONS],
            "images": [_image(image) for image in self.vision.images],
            "best": best,
            "other": other,
            "readers": [_held(f"{name}_reader", name in families) for name in _READERS],
            "filters": [_held(f"{name}_filter", number in filters) for number, name in enumerate(_FILTERS)],
            "writers": [_held(f"{name}_writer", dtype in self.types) for name, dtype in _WRITERS.items()],
            "padding": _held("padding", any(image.pads for image in self.vision.images)),
        }


def _function(name: str) -> str:
    return "lathe::vision::" + "".join(word.title() for word in name.split("_"))


def _held(name: str, held: bool) -> str:
    return f"&lathe::vision::{name}" if held else "nullptr"


def _image(image: InputImage) -> dict[str, Any]:
    def each(values: tuple[float, ...]) -> list[str]:
        return [f"{float(value)!r}f" for value in values] + ["0.0f"] * (_CHANNELS - len(values))

    return {
        "input": image.input,
        "crop": image.crop or (0, 0, 0, 0),
        "numbers": (image.filter, image.rotation, image.flip, image.fit),
        "fill": [*image.fill, *[0] * (_CHANNELS - len(image.fill))],
        "order": PIXELS[image.order],
        "mean": each(image.mean),
        "scale": each(image.scale),
    }
