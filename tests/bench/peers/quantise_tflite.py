"""Quantises a TFLite file as LiteRT's own tool does: `python quantise_tflite.py REAL OUT`. Runs beside the peers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from ai_edge_quantizer import quantizer, recipe  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    real, out = sys.argv[1:]
    rng = np.random.default_rng(7)
    tool = quantizer.Quantizer(real)
    tool.load_quantization_recipe(recipe.static_wi8_ai8())
    images = [{"input": rng.uniform(-1, 1, (1, 224, 224, 3)).astype(np.float32)} for _ in range(4)]
    ranges = tool.calibrate({None: images})
    Path(out).write_bytes(tool.quantize(ranges).quantized_model)


if __name__ == "__main__":
    main()
