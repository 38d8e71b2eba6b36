"""The accuracy of the digits network over its whole test set: the same number however it is measured."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import buildtool
from buildtool.settings import Labour
from buildtool.workflow import measure_accuracy

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
RIGHT = {"top1": 357 / 360, "top5": 1.0}
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""
MACE = """
import numpy as np


class AccuracyValidator(object):
    def __init__(self, **kwargs):
        with np.load({data!r}) as data:
            self.pictures, self.labels = data["pictures"], data["labels"]
        self.right = 0

    def sample_size(self):
        return len(self.labels)

    def batch_size(self):
        return 1

    def preprocess(self, start, end, **kwargs):
        return {{"image": (self.pictures[start:end] / 16).tolist()}}

    def postprocess(self, start, end, output_map, **kwargs):
        self.right += int((output_map["probabilities"].argmax(1) == self.labels[start:end]).sum())

    def result(self):
        print("==========")
        print("Top 1 accuracy: %f" % (self.right * 1.0 / self.sample_size()))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("digits")
    for name in ("accuracy.yml", "accuracy.py", "digits.onnx", "test.npz"):
        shutil.copy(EXAMPLE / name, folder / name)
    buildtool.build(folder / "accuracy.yml", options=buildtool.Options(folder / "build"))
    return folder


def measured(folder: Path, *arguments: str) -> dict[str, Any]:
    """A command of its own, as users start it."""
    done = started(folder, *arguments)
    stdout, stderr = done.communicate(timeout=300)
    assert done.returncode == 0, stderr
    (result,) = json.loads(stdout)["results"]
    return dict(result)


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", "from buildtool.cli.main import main; main()", "validate", "--accuracy", "--json"]
    return subprocess.Popen(
        [*words, "accuracy.yml", *arguments],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.slow
def test_one_worker_gives_what_the_training_said(project: Path) -> None:
    report = measure_accuracy(project / "accuracy.yml", options=buildtool.Options(project / "build"))
    (result,) = report.results
    assert result["metrics"] == pytest.approx(RIGHT)
    assert (result["samples"], result["resumed"], result["passed"]) == (360, 0, True)
    assert json.loads(report.file.read_text())["results"][0]["metrics"] == result["metrics"]


@pytest.mark.slow
def test_killed_half_way_and_resumed_by_two_workers_it_is_the_same_number(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    script = tmp_path / "accuracy.py"
    slow = "        import time\n\n        time.sleep(0.02)\n        return {"
    here = "HERE = Path(__file__).resolve().parent"
    script.write_text(script.read_text().replace(here, f"HERE = Path({str(tmp_path)!r})"))
    script.write_text(script.read_text().replace('        return {"image"', f'{slow}"image"'))
    journal = tmp_path / "build/digits/report/accuracy/host/digits.accuracy.jsonl"
    process = started(tmp_path)
    limit = time.monotonic() + 120
    while not (journal.is_file() and journal.read_bytes().count(b"\n") > 100):
        assert time.monotonic() < limit and process.poll() is None, "it never got half-way"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    with journal.open("ab") as stream:
        stream.write(b'199\t{"top1": tr')  # what was being written in that moment
    result = measured(tmp_path, "--workers", "2")
    assert result["metrics"] == pytest.approx(RIGHT)
    assert 100 <= result["resumed"] < 360
    assert not journal.exists()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("distributed", reason="Dask is not installed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, "cluster.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.communicate("")


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_number(project: Path, cluster: str) -> None:
    result = measured(project, "--scheduler", cluster)
    assert result["metrics"] == pytest.approx(RIGHT)
    assert (result["scheduler"], result["workers"]) == (cluster, 2)


@pytest.mark.slow
def test_a_script_of_mace_measures_the_same(project: Path) -> None:
    (project / "mace.py").write_text(MACE.format(data=str(project / "test.npz")))
    text = (project / "accuracy.yml").read_text().replace("accuracy.py", "mace.py")
    (project / "mace.yml").write_text(text)
    (result,) = measure_accuracy(project / "mace.yml", options=buildtool.Options(project / "mace")).results
    assert result["metrics"] == {"Top 1 accuracy": pytest.approx(RIGHT["top1"], abs=1e-6)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def preprocess", "def prepare", "0 classes of this script"),
        ('"image":', '"imgae":', "no input 'imgae'"),
        ("[None] / 16", "[0, 0] / 16", r"shape \[8\] does not fit 'image'"),
        ("scores, label =", "scores, label = 1 / 0,", r"accuracy\.py:\d+: error: ZeroDivisionError"),
        ("class Digits:", "class Digits(", r"accuracy\.py:\d+: error: SyntaxError"),
        ('{"top1": in_top(scores, label)', '{"top1": object()', "object cannot be written as JSON"),
    ],
)
def test_scripts_that_are_wrong(project: Path, old: str, new: str, message: str) -> None:
    script = project / "accuracy.py"
    right = script.read_text()
    assert right.count(old) >= 1
    script.write_text(right.replace(old, new, 1))
    try:
        with pytest.raises(buildtool.errors.LatheError, match=message):
            measure_accuracy(project / "accuracy.yml", options=buildtool.Options(project / "build"))
    finally:
        script.write_text(right)


def test_no_cluster_at_an_address_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("buildtool.running.clusters._SECONDS", 0.5)
    with pytest.raises(buildtool.errors.DeviceError, match="no Dask scheduler answers at tcp://127"):
        measure_accuracy(
            project / "accuracy.yml",
            options=buildtool.Options(project / "build"),
            labour=Labour(scheduler="tcp://127.0.0.1:9"),
        )


def test_pictures_of_the_example_are_the_first_of_the_test_set() -> None:
    with np.load(EXAMPLE / "test.npz") as data:
        assert data["pictures"].shape == (360, 1, 8, 8)
        np.testing.assert_array_equal(data["pictures"][:20] / 16, np.load(EXAMPLE / "pictures.npy"))
        np.testing.assert_array_equal(data["labels"][:20], np.load(EXAMPLE / "labels.npy"))
