"""The zoo as onnxruntime quantises it: QDQ or QOperator, per channel, ranges of a few random images."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference

from tests.zoo.networks import cached

_SAMPLES = 4


class _Samples(quantization.CalibrationDataReader):
    def __init__(self, samples: Iterable[Mapping[str, Any]]) -> None:
        self._left: Iterator[Any] = iter(samples)

    def get_next(self) -> Any:
        return next(self._left, None)


def quantised(name: str, folder: Path, size: int = 224, width: float = 1.0, form: str = "QDQ") -> Path:
    """A network of the zoo; the file in `folder`, made on first need; `form`: QDQ or QOperator."""
    rng = np.random.default_rng(7)
    shape = (1, 3, size, size)
    images = [{"input": rng.uniform(-1, 1, shape).astype(np.float32)} for _ in range(_SAMPLES)]
    return quantised_file(cached(name, folder, size, width), images, form)


def quantised_file(real: Path, samples: Iterable[Mapping[str, Any]], form: str = "QDQ") -> Path:
    """The file beside `real`, made on first need. `samples`: what the ranges come from."""
    key = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:10]
    path = real.with_name(f"{real.stem}-{form}-{key}.onnx")
    if path.exists():
        return path
    aside = path.with_suffix(f".{os.getpid()}")
    shape_inference.quant_pre_process(real, aside, skip_symbolic_shape=True)
    quantization.quantize_static(
        aside,
        aside,
        _Samples(samples),
        quant_format=quantization.QuantFormat[form],
        per_channel=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
    )
    aside.replace(path)
    return path
