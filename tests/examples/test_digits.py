"""The digits example does what its README says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "digits"


def test_shipped_network_reads_the_shipped_pictures() -> None:
    session = onnxruntime.InferenceSession(EXAMPLE / "digits.onnx", providers=["CPUExecutionProvider"])
    answers = [session.run(None, {"image": picture[None]})[0] for picture in np.load(EXAMPLE / "pictures.npy")]
    assert all(answer.shape == (1, 10) for answer in answers)
    right = np.concatenate(answers).argmax(1) == np.load(EXAMPLE / "labels.npy")
    assert right.mean() >= 0.95


def test_batch_normalisation_is_left_to_lathe() -> None:
    nodes = onnx.load(EXAMPLE / "digits.onnx").graph.node
    assert [node.op_type for node in nodes].count("BatchNormalization") == 2


@pytest.mark.slow
def test_training_gives_a_good_network(tmp_path: Path) -> None:
    for name in ("train.py", "layers.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    match = re.search(r"([\d.]+)%", done.stdout)
    assert match is not None
    assert float(match.group(1)) > 96
    assert (tmp_path / "digits.onnx").stat().st_size < 200_000
    assert np.array_equal(np.load(tmp_path / "labels.npy"), np.load(EXAMPLE / "labels.npy"))
