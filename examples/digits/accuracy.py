"""How often the network is right, over all 360 pictures that it was not trained on: what accuracy.yml runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from buildtool.validation.scores import in_top, part

HERE = Path(__file__).resolve().parent


class Digits:
    thresholds = {"top1": 0.98}  # noqa: RUF012 (a script of a user, short)

    def __init__(self) -> None:
        with np.load(HERE / "test.npz") as data:
            self.pictures, self.labels = data["pictures"], data["labels"]

    def __len__(self) -> int:
        return len(self.labels)

    def preprocess(self, sample: int) -> dict[str, Any]:
        return {"image": self.pictures[sample].astype(np.float32)[None] / 16}

    def postprocess(self, sample: int, outputs: dict[str, Any]) -> dict[str, bool]:
        scores, label = outputs["probabilities"], int(self.labels[sample])
        return {"top1": in_top(scores, label), "top5": in_top(scores, label, 5)}

    def metrics(self, records: list[dict[str, bool]]) -> dict[str, float]:
        return {name: part([record[name] for record in records]) for name in ("top1", "top5")}
