"""The commands on a model for a GPU: what they say of the GPU, and that they say it where the CPU takes its place."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from buildtool.cli.main import run as command
from tests.cli.conftest import EXAMPLE, Lathe

pytestmark = pytest.mark.opencl


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example for a GPU, with numbers of 16 bits there."""
    folder = tmp_path_factory.mktemp("gpu")
    shutil.copy(EXAMPLE / "digits.onnx", folder)
    text = (EXAMPLE / "deploy.yml").read_text().replace("runtime: cpu", "runtime: gpu")
    (folder / "deploy.yml").write_text(text.replace("fp32_fp32", "fp16_fp32"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("POCL_CACHE_DIR", str(folder))  # what PoCL keeps for itself
        assert command(["build", str(folder / "deploy.yml"), "-o", str(folder / "build"), "--abi", "host", "-q"]) == 0
        yield folder


def on(project: Path) -> list[object]:
    return [project / "deploy.yml", "--output", project / "build", "--abi", "host"]


def without_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATHE_OPENCL_LIBRARY", os.devnull)


@pytest.mark.slow
def test_run_tells_what_ran_and_hands_on_what_is_said_of_the_gpu(lathe: Lathe, project: Path) -> None:
    words = ["--gpu_perf_hint=1", "--gpu_priority_hint=0", "--gpu_out_of_range_check", "--opencl_cache_reuse_policy=0"]
    anew = lathe("run", *on(project), *words, "--json").document["runs"][0]["gpu"]
    assert (anew["kind"], anew["reason"]) == ("gpu", "")
    assert anew["name"] and anew["driver"] and anew["bytes"] > 0
    assert anew["programs_built"] > 0 == anew["programs_loaded"]
    again = lathe("run", *on(project), "--gpu_out_of_range_check", "--json").document["runs"][0]["gpu"]
    assert again["programs_loaded"] == anew["programs_built"]
    shown = lathe("run", *on(project))
    assert f"GPU {anew['name']}" in shown.stdout
    assert not shown.stderr
    assert lathe("run", *on(project), "--gpu_perf_hint", 4).code == 2


@pytest.mark.slow
def test_without_a_driver_the_cpu_runs_it_and_every_report_says_so(
    lathe: Lathe, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_driver(monkeypatch)
    result = lathe("run", *on(project), "--json")
    gpu = result.document["runs"][0]["gpu"]
    assert gpu["kind"] == "cpu" and "there is no OpenCL" in gpu["reason"]
    note = "note: a model for a device ran on the CPU of local (host)\n  rule: LATHE_OPENCL_LIBRARY"
    assert note in result.stderr
    validated = lathe("validate", *on(project), "--kind", "shared")
    assert (validated.code, validated.stderr.count(note)) == (0, 1)
    assert "ran on" in validated.stdout
    measured = lathe("bench", *on(project), "--round", 2, "--warmup", 0, "--peak", "10,10")
    assert note in measured.stderr
    assert "note: the CPU ran device regions: LATHE_OPENCL_LIBRARY" in measured.stdout


def test_validate_takes_the_threshold_of_gpus(lathe: Lathe, project: Path) -> None:
    result = lathe("validate", *on(project), "--kind", "shared", "--json")
    (found,) = result.document["results"]
    assert (found["threshold"], found["passed"], found["gpu"]["kind"]) == (0.995, True, "gpu")


@pytest.mark.slow
def test_layers_are_those_inside_of_what_the_gpu_runs(
    lathe: Lathe, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (model,) = lathe("validate", *on(project), "--layers", "--json").document["models"]
    assert model["passed"] and model["gpu"]["kind"] == "gpu"
    kernels = {layer["op"]: layer["kernel"] for layer in model["layers"]}
    assert "device_region" not in kernels
    assert kernels["conv2d"].startswith("conv2d")
    assert not any("__" in kernel for kernel in kernels.values())
    assert any(layer["own"]["max_abs"] > 0 for layer in model["layers"]), "16 bits are not 32"
    without_driver(monkeypatch)
    (slow,) = lathe("validate", *on(project), "--layers", "--json").document["models"]
    assert [layer["value"] for layer in slow["layers"]] == [layer["value"] for layer in model["layers"]]
    assert all("__" in layer["kernel"] for layer in slow["layers"])


def test_bench_measures_each_kernel(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    settings = ["--round", 3, "--warmup", 1, "--trace", tmp_path / "trace.json", "--json"]
    (measured,) = lathe("bench", *on(project), *settings).document["measurements"]
    assert measured["gpu"]["kind"] == "gpu"
    convolutions = [node for node in measured["nodes"] if node["op"] == "conv2d"]
    assert sum(node["macs"] for node in measured["nodes"]) == measured["macs"]["total"] > 0
    assert all(node["share_of_peak"] is None for node in convolutions), "the peak is that of the processor"
    assert any(node["gmacs"] > 0 and node["gb_s"] > 0 for node in convolutions)
    starts = [node["start_ms"] for node in measured["nodes"] if node["kernel"] != "copy"]
    assert starts == sorted(starts)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {event["args"]["name"] for event in events if event["name"] == "thread_name"} == {
        "thread 0: nodes",
        f"GPU: {measured['gpu']['name']}",
    }
    assert {event["tid"] for event in events if event.get("cat") == "conv2d"} == {1000}


def test_a_build_tells_where_nodes_run(lathe: Lathe, project: Path) -> None:
    shown = lathe("build", *on(project), "-v")
    assert "devices, times as estimated" in shown.stdout
    assert "digits on host: where nodes run" in shown.stdout
    (model,) = json.loads((project / "build/digits/report/build.json").read_text())["models"]
    placed = model["plans"][0]["placement"]
    assert placed["on_gpu"] == sum(node["side"] == "device" for node in placed["nodes"]) > 0
    assert placed["copy_count"] == len(placed["copies"]) > 0
    assert {"cost_ns", "greedy_cost_ns", "greedy_copies", "cpu_cost_ns", "least_ns"} <= set(placed)


@pytest.mark.slow
def test_an_accuracy_says_what_ran(lathe: Lathe, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("accuracy.py", "test.npz"):
        shutil.copy(EXAMPLE / name, project)
    text = (EXAMPLE / "accuracy.yml").read_text().replace("runtime: cpu", "runtime: gpu")
    (project / "accuracy.yml").write_text(text.replace("fp32_fp32", "fp16_fp32"))
    words = ["validate", project / "accuracy.yml", *on(project)[1:], "--accuracy", "--fresh", "--json"]
    (told,) = lathe(*words).document["results"]
    assert (told["passed"], told["gpu"]["kind"]) == (True, "gpu")
    without_driver(monkeypatch)
    result = lathe(*words)
    assert result.document["results"][0]["gpu"]["kind"] == "cpu"
    assert "note: a model for a device ran on the CPU" in result.stderr


@pytest.mark.slow
def test_both_runtimes_stay_built_beside_each_other(
    lathe: Lathe, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(project / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    time.sleep(0.06)  # a build whose files have just been written is not remembered
    words = ("deploy.yml", "--abi", "host", "--json")
    cpu = lathe("build", *words, "--runtime", "cpu").document
    shared = Path(cpu["folder"], "lib/host/libdigits.so")
    before = shared.read_bytes()
    gpu = lathe("build", *words, "--runtime", "gpu").document
    assert (Path(cpu["folder"]), Path(gpu["folder"])) == tuple(
        Path("build/variants", name, "digits") for name in ("cpu", "gpu")
    )
    assert shared.read_bytes() == before != Path(gpu["folder"], "lib/host/libdigits.so").read_bytes()
    assert lathe("build", *words, "--runtime", "cpu").document["up_to_date"]
    # One folder that the user names for both contains what was built last, whole.
    for runtime in ("gpu", "cpu"):
        lathe("build", *words, "--runtime", runtime, "-o", "one")
    assert Path("one/digits/lib/host/libdigits.so").read_bytes() == before
    compared = lathe("bench", *words, "--runtime", "gpu", "--against", cpu["folder"], "--pairs", 1, "--round", 1)
    assert compared.code == 0, compared.stderr
    assert "gpu" in lathe("run", *words, "--runtime", "gpu").document["runs"][0]
    assert "gpu" not in lathe("run", *words, "--runtime", "cpu").document["runs"][0]
