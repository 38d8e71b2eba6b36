"""What `lathe quantize --bias-correction` and `--rounding adaptive` changed: as data, and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class CorrectionsReport:
    """The file of changed weights, and what it is good for."""

    file: Path | None  # None: nothing helped, and nothing was written
    layers: int
    refused: tuple[str, ...]  # those that keep their own weights, as the outputs are nearer with them
    apart: tuple[str, ...]  # those that are too large for their weights to be rounded together
    samples: int
    judged: int  # samples that the outputs were compared on
    before: float  # decibels at the outputs
    after: float
    bias: bool
    rounding: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "file": None if self.file is None else str(self.file),
            "layers": self.layers,
            "kept_as_they_were": list(self.refused),
            "too_large_to_round_together": list(self.apart),
            "samples": self.samples,
            "judged_on": self.judged,
            "output_db_before": round(self.before, 2),
            "output_db": round(self.after, 2),
            "bias_correction": self.bias,
            "adaptive_rounding": self.rounding,
        }


def words(found: Mapping[str, Any]) -> str:
    what = " and ".join(
        word for word, done in (("biases", found["bias_correction"]), ("roundings", found["adaptive_rounding"])) if done
    )
    refused = len(found["kept_as_they_were"])
    if found["file"] is None:
        return (
            f"{what} of none of {refused} layers are changed: on {found['judged_on']} samples the outputs are not "
            f"nearer to those in single precision with them ({found['output_db_before']:.1f} dB without)"
        )
    apart = found["too_large_to_round_together"]
    more = f"{refused} layers keep their own, which is better on these samples\n" if refused else ""
    left = f"rounded to nearest, because the layer is too large: {', '.join(apart)}\n" if apart else ""
    return (
        f"{what} of {found['layers']} layers in {found['file']}: {found['output_db']:.1f} dB at the outputs, "
        f"{found['output_db_before']:.1f} dB without, on {found['judged_on']} samples\n"
        f"{more}{left}"
        "Add to the model in the deployment file, if it is not there:\n"
        f"    quantize_weights_file: {Path(found['file']).name}"
    )
