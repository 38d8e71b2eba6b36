"""Libraries for WebAssembly in Node: the ES module as applications use it, and the commands that run models."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.devices import node
from buildtool.errors import DeviceError
from buildtool.reports.documents import BuildReport
from buildtool.settings import BenchSettings, Options, Overrides, RunSettings
from buildtool.workflow import benchmarking, building, running
from tests.wasm.conftest import ABIS, DIGITS, deployment

USE = Path(__file__).with_name("use_module.mjs")


def used(module: Path, folder: Path) -> dict[str, Any]:
    """What use_module.mjs saw of the first test picture."""
    picture = folder / "picture.json"
    picture.write_text(json.dumps((np.load(DIGITS / "test.npz")["pictures"][0].ravel() / 16).tolist()))
    launcher = node.launcher(module.parent.name)
    done = subprocess.run([*launcher, USE, module, picture], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("abi", ABIS)
def test_a_module_as_applications_use_it(digits: BuildReport, abi: str, tmp_path: Path) -> None:
    seen = used(digits.folder / f"lib/{abi}/digits.mjs", tmp_path)
    assert (seen["name"], seen["models"], seen["inside"]) == ("digits", ["digits"], [])
    (image,), (probabilities,) = seen["inputs"], seen["outputs"]
    assert (image["type"], image["format"], image["shape"]) == ("float32", "NCHW", [1, 1, 8, 8])
    assert probabilities["shape"] == probabilities["maximum"] == [1, 10]
    assert seen["nodes"].count("conv2d") == 2
    assert sum(seen["probabilities"]) == pytest.approx(1, abs=1e-5)
    assert int(np.argmax(seen["probabilities"])) == np.load(DIGITS / "test.npz")["labels"][0]
    assert seen["memory"]["arena"] > 0
    messages = [text.partition(": ")[2] for text in seen["wrong"]]
    assert messages[0] == "the model has no tensor 'picture' there; it has: image"
    assert messages[1] == "the input 'image' has 64 elements, not 63"
    assert all(text.partition(": ")[0] in ("invalid_argument", "bad_model") for text in seen["wrong"]), seen["wrong"]
    assert messages[4] == "the library has no model 'letters'; it has: digits"


@pytest.mark.slow
def test_models_inside_the_module(tmp_path: Path) -> None:
    file = deployment(tmp_path, in_code=True, abis=("wasm32",))
    built = building.build(file, options=Options(output=tmp_path / "build"))
    assert not list((built.folder / "model").glob("wasm32/*.pb"))
    seen = used(built.folder / "lib/wasm32/digits.mjs", tmp_path)
    assert seen["inside"] == ["digits"]
    assert int(np.argmax(seen["probabilities"])) == np.load(DIGITS / "test.npz")["labels"][0]


def test_the_folder_is_an_npm_package(digits: BuildReport, tmp_path: Path) -> None:
    package = json.loads((digits.folder / "package.json").read_text())
    assert (package["name"], package["type"]) == ("digits", "module")
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "digits").symlink_to(digits.folder, target_is_directory=True)
    script = "import l from 'digits/wasm32-simd'; import s from 'digits/wasm32';"
    script += "const k = async (f) => (await f()).kernels; console.log(JSON.stringify([await k(l), await k(s)]))"
    (tmp_path / "app.mjs").write_text(script)
    done = subprocess.run(["node", tmp_path / "app.mjs"], capture_output=True, text=True, check=True)
    best, plain = json.loads(done.stdout)
    assert set(plain) == set(digits.library_for("wasm32").kernels)
    assert set(best) == set(digits.library_for("wasm32-simd").kernels)
    for entry in package["exports"].values():
        for name in entry.values():
            assert (digits.folder / name).is_file()
            assert any(name.removeprefix("./").startswith(folder) for folder in package["files"])


def test_run_validate_and_bench(digits: BuildReport) -> None:
    file, options = digits.folder.parent.parent / "deploy.yml", Options(output=digits.folder.parent)
    report = running.validate(file, options=options)
    assert [(item["abi"], item["kind"], item["passed"]) for item in report.results] == [
        ("wasm32", "shared", True),
        ("wasm32-simd", "shared", True),
        ("wasm32-relaxed-simd-threads", "shared", True),
    ]
    measured = benchmarking.bench(
        file, Overrides(target_abis=("wasm32-simd",)), options, RunSettings(rounds=5, warmup=1), BenchSettings()
    )
    (run,) = measured.measurements
    assert run["device"].startswith("node ")
    assert min(run["rounds_ms"]) > 0
    assert run["peak"] is None
    assert len(run["nodes"]) == digits.models[0].nodes


def test_a_device_without_node_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="'node' is missing") as missing:
        node.NodeDevice("wasm32")
    assert "apt-get install nodejs" in missing.value.problems[0].remedy
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v16.20.2\n")
    old.chmod(0o755)
    with pytest.raises(DeviceError, match=r"Node 16\.20\.2 is too old"):
        node.NodeDevice("wasm32")
