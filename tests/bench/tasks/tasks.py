"""The tasks: a network, samples, and what counts as right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx

from tests.bench.tasks import pictures
from tests.ocr.networks import files

ROOT = Path(__file__).resolve().parents[3]
MANY = 200
CALIBRATION = 64
Array = npt.NDArray[Any]


class Task(Protocol):
    """One input, one output; `answers` are compared with the truth and with those in single precision."""

    @property
    def name(self) -> str: ...
    @property
    def what(self) -> str: ...
    def model(self) -> Path: ...
    @property
    def input(self) -> tuple[str, tuple[int, ...]]: ...
    @property
    def output(self) -> tuple[str, tuple[int, ...]]: ...
    def samples(self) -> Array: ...
    def calibration(self) -> Array: ...
    def answers(self, outputs: Array) -> list[str]: ...
    def truth(self) -> list[str]: ...


@dataclass(frozen=True)
class Words:
    """Text recognition."""

    name: str = "words"
    what: str = "words read (PP-OCRv4 recognition, 48 x 320)"
    input: tuple[str, tuple[int, ...]] = ("x", (1, 3, 48, 320))
    output: tuple[str, tuple[int, ...]] = ("softmax_11.tmp_0", (1, 40, 6625))

    def model(self) -> Path:
        return files()["ch_PP-OCRv4_rec_infer.onnx"]

    def samples(self) -> Array:
        return np.stack([pictures.picture(word, 320, at) for at, word in enumerate(self.truth())])

    def calibration(self) -> Array:
        others = pictures.words()[MANY : MANY + CALIBRATION]
        return np.stack([pictures.picture(word, 320, 1000 + at) for at, word in enumerate(others)])

    def answers(self, outputs: Array) -> list[str]:
        characters = {entry.key: entry.value for entry in onnx.load(self.model()).metadata_props}["character"]
        return [pictures.read(scores, characters.replace("\n", "")).strip() for scores in outputs[:, 0]]

    def truth(self) -> list[str]:
        return list(pictures.words()[:MANY])


@dataclass(frozen=True)
class Directions:
    """Whether writing stands on its head."""

    name: str = "directions"
    what: str = "directions of words (PP-OCR mobile v2.0 classification, 48 x 192)"
    input: tuple[str, tuple[int, ...]] = ("x", (1, 3, 48, 192))
    output: tuple[str, tuple[int, ...]] = ("save_infer_model/scale_0.tmp_1", (1, 2))

    def model(self) -> Path:
        return files()["ch_ppocr_mobile_v2.0_cls_infer.onnx"]

    def samples(self) -> Array:
        return self._pictures(pictures.words()[:MANY], 0)

    def calibration(self) -> Array:
        return self._pictures(pictures.words()[MANY : MANY + CALIBRATION], 1000)

    def _pictures(self, words: Sequence[str], seed: int) -> Array:
        return np.stack([pictures.picture(word, 192, seed + at, turned=at % 2 == 1) for at, word in enumerate(words)])

    def answers(self, outputs: Array) -> list[str]:
        return [("upright", "turned")[int(scores.argmax())] for scores in outputs[:, 0]]

    def truth(self) -> list[str]:
        return [("upright", "turned")[at % 2] for at in range(MANY)]


@dataclass(frozen=True)
class Digits:
    """Handwritten digits."""

    name: str = "digits"
    what: str = "digits (examples/digits)"
    input: tuple[str, tuple[int, ...]] = ("image", (1, 1, 8, 8))
    output: tuple[str, tuple[int, ...]] = ("probabilities", (1, 10))

    def model(self) -> Path:
        return ROOT / "examples/digits/digits.onnx"

    def samples(self) -> Array:
        with np.load(ROOT / "examples/digits/test.npz") as data:
            return np.asarray(data["pictures"].astype(np.float32) / 16)

    def calibration(self) -> Array:
        return np.asarray(np.load(ROOT / "examples/digits/pictures.npy"))

    def answers(self, outputs: Array) -> list[str]:
        return [str(int(scores.argmax())) for scores in outputs[:, 0]]

    def truth(self) -> list[str]:
        with np.load(ROOT / "examples/digits/test.npz") as data:
            return [str(int(label)) for label in data["labels"]]


TASKS: tuple[Task, ...] = (Digits(), Directions(), Words())
