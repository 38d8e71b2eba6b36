"""`lathe tune` on a GPU: what it finds is shipped, inside of libraries of code too, and merged with that of others."""

from __future__ import annotations

import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from buildtool.builders import opencl_files
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.cli.conftest import EXAMPLE, Lathe


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example for a GPU, as code."""
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    for name in ("digits.onnx", "pictures.npy"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    told = yaml.safe_load((EXAMPLE / "deploy.yml").read_text(encoding="utf-8"))
    told.update(model_graph_format="code", model_data_format="code", target_abis=["host"])
    for model in told["models"].values():
        model["runtime"] = "gpu"
    file = tmp_path / "deploy.yml"
    file.write_text(yaml.safe_dump(told), encoding="utf-8")
    return file


@pytest.mark.slow
@pytest.mark.opencl
def test_tune_a_gpu_and_what_follows(lathe: Lathe, deployment: Path, tmp_path: Path) -> None:
    where = [deployment, "--output", tmp_path / "build"]
    (first,) = lathe("tune", *where, "--round", 2, "--tune-budget", 0.001, "--json").document["gpus"]
    assert first["tuned"] == 1 and not first["complete"], "the time is over after the first kernel"
    (told,) = lathe("tune", *where, "--round", 2, "--tune-budget", 200, "--json").document["gpus"]
    assert told["complete"] and told["tuned"] > 3 and told["kernels_tuned_ns"] <= told["kernels_usual_ns"]
    assert told["usual_ms"] > 0 and told["tuned_ms"] > 0
    folder = tmp_path / "build/digits"
    tuned, programs = Path(told["file"]), next(folder.glob("opencl/digits_compiled_opencl_kernel.host.*.bin"))
    assert tuned.parent == folder / "opencl" and tuned.name.startswith("digits_tuned_opencl_parameter.host.")
    with tarfile.open(folder / "digits.tar.gz") as archive:
        assert {f"digits/opencl/{file.name}" for file in (tuned, programs)} <= set(archive.getnames())
    engine = Library(folder / "lib/host/libdigits.so").engine(device=DeviceOptions(kind=DeviceKind.GPU))
    assert engine.device_data(2) == tuned.read_bytes(), "what was found is inside of the library"
    assert engine.device_info.programs_built == 0
    assert lathe("validate", *where).code == 0
    stamp = (folder / "report/build.json").stat().st_mtime_ns
    assert lathe("run", *where).code == 0
    assert (folder / "report/build.json").stat().st_mtime_ns == stamp, "it was up to date"


def _file(path: Path, content: opencl_files.Content, identity: int, entries: dict[int, bytes]) -> Path:
    path.write_bytes(opencl_files.Section(content, identity, entries).pack())
    return path


def _tuned(best: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in (8, 4, 1, 100, best))


def test_merging(lathe: Lathe, tmp_path: Path) -> None:
    tuning, programs = opencl_files.Content.TUNING, opencl_files.Content.PROGRAMS
    one = _file(tmp_path / "one.bin", tuning, 1, {7: _tuned(50), 8: _tuned(60)})
    two = _file(tmp_path / "two.bin", tuning, 1, {8: _tuned(40), 9: _tuned(70)})
    other = _file(tmp_path / "other.bin", tuning, 2, {7: _tuned(10)})
    whole = tmp_path / "whole.bin"
    told = lathe("merge-opencl", one, two, other, "-o", whole, "--json").document
    assert told == {"written": str(whole), "content": "tuned parameters", "devices": 2, "entries": 4}
    first, second = opencl_files.read(whole)
    assert first.gain() == (300, 160) and second.gain() == (100, 10)
    assert first.entries == {7: _tuned(50), 8: _tuned(40), 9: _tuned(70)}, "the faster one of two stays"
    assert replace(second, entries=dict(second.entries)) == opencl_files.read(other)[0]
    assert lathe("merge-opencl", whole, one, "-o", tmp_path / "again.bin").code == 0
    assert (tmp_path / "again.bin").read_bytes() == whole.read_bytes(), "files that were merged can be merged"

    compiled = _file(tmp_path / "compiled.bin", programs, 1, {3: b"program"})
    refused = lathe("merge-opencl", one, compiled, "-o", tmp_path / "none.bin")
    assert refused.code == 7 and "compiled.bin" in refused.stderr and "contains compiled programs" in refused.stderr
    data = one.read_bytes()
    damaged = bytes([*data[:-1], data[-1] ^ 1])
    for name, contents, said in (
        ("cut.bin", data[:-1], "truncated or damaged"),
        ("damaged.bin", damaged, "an entry is invalid"),
        ("text.bin", b"anything", "neither compiled OpenCL programs"),
        ("newer.bin", data[:8] + b"\2" + data[9:], "version 2"),
    ):
        (tmp_path / name).write_bytes(contents)
        refused = lathe("merge-opencl", one, tmp_path / name, "-o", tmp_path / "none.bin")
        assert refused.code == 7 and name in refused.stderr and said in refused.stderr
    assert not (tmp_path / "none.bin").exists()
