"""The examples of docs/how-to/k210.md run as they stand: Python, and commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.quant import range_files
from buildtool.quant.ranges import between
from buildtool.targets.k210.format.kmodel import read, write
from tests.targets.k210.generating import prepared
from tests.targets.k210.samples import planes_between_memories
from tests.zoo.networks import cached

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "k210.md"
CACHE = PAGE.parents[2] / "build" / "test-zoo"


def example(number: int) -> str:
    """One of the two examples."""
    making, running = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return str((making, running)[number])


def test_the_example_that_makes_a_kmodel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = cached("mobilenet_v1", CACHE, size=32, width=0.25)
    Path("net.onnx").write_bytes(file.read_bytes())
    graph = prepared(import_model("onnx", ImportRequest("net", file)).graph)
    quants = {value: graph.range_of(value) for value in graph.values()}
    known = {
        name: between(quant) for value, quant in quants.items() if quant for name in (value.name, *value.source_names)
    }
    Path("net.ranges").write_text(range_files.text(known))
    exec(compile(example(0), str(PAGE), "exec"), {})
    shown = capsys.readouterr().out
    assert "% of the multiplications on the KPU" in shown
    assert "(3, 32, 32): byte = real / 0.00" in shown
    assert len(read(Path("net.kmodel").read_bytes()).layers) > 27


def test_the_example_that_runs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.kmodel").write_bytes(write(planes_between_memories()))
    names: dict[str, object] = {}
    exec(compile(example(1), str(PAGE), "exec"), names)
    assert [len(output) for output in names["outputs"]] == [1440, 900, 180]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_commands_that_build_and_run(tmp_path: Path) -> None:
    """All of `lathe build`, in order, and the programs in the emulator."""
    page = PAGE.read_text()
    deployment, detector = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    building, running = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    example = PAGE.parents[2] / "examples" / "digits"
    for name in ("digits.onnx", "pictures.npy"):
        (tmp_path / name).write_bytes((example / name).read_bytes())
    assert "anchors: [" in detector  # which tests of boxes build
    (tmp_path / "digits.yml").write_text(deployment)
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str) -> str:
        assert line.split()[0] in ("lathe", "qemu-system-riscv64")
        env = {**os.environ, "PATH": paths}
        done = subprocess.run(shlex.split(line), cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr  # semihosting writes to the latter

    said = [run(line) for line in building.splitlines()]
    assert "MACs on the KPU" in said[1]
    assert "passed" in said[2]
    assert "K210_CONV" in said[3]
    for file in ("lib/k210/digits.bin", "lib/k210/sdk/CMakeLists.txt", "include/digits/digits.h", "report/index.html"):
        assert (tmp_path / "build" / "digits" / file).is_file()
    (tmp_path / "input.bin").write_bytes(bytes(range(64)))
    own, given = (run(f"{line} -monitor none -serial none") for line in running.splitlines())
    assert own.startswith("output 0: 40 bytes")
    probabilities = np.frombuffer((tmp_path / "output0").read_bytes(), "<f4")
    assert probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert f"at {probabilities.argmax()}" in given
    assert "of 3 layers" in run("lathe quantize digits.yml --inputs pictures.npy --bias-correction")
    assert "0x300000" in run(re.findall(r"`(lathe package [^`]*\.yml)`", page)[0])
