"""`lathe build` and `lathe convert`: what they write, and that nothing half-written stays behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from buildtool.ir import text
from buildtool.ops.registry import registry
from buildtool.plan.plan import Plan
from tests.cli.conftest import Lathe

SCRIPT = Path(sys.executable).with_name("lathe")


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def hidden(folder: Path) -> list[Path]:
    """What an interrupted build might have left."""
    return [path for path in folder.rglob("*") if path.name.startswith(".")] if folder.exists() else []


def test_convert_writes_models_and_nothing_else(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    result = lathe("convert", digits, "--output", tmp_path, "--json")
    folder = tmp_path / "digits"
    assert result.code == 0
    assert result.document["libraries"] == []
    assert (folder / "model" / "digits.pb").is_file()
    assert (folder / "model" / "aarch64-linux-gnu" / "digits.data").is_file()
    assert not (folder / "lib").exists()


def test_results_of_the_stages_can_be_read_back(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    result = lathe("convert", digits, "-o", tmp_path, "--abi", "host", "--emit=ir,plan", "--emit", "source", "--json")
    folder = tmp_path / "digits"
    assert sorted(result.document["emitted"])[0] == str(folder / "report" / "digits.host.plan.json")
    plan = Plan.from_json(json.loads((folder / "report" / "digits.host.plan.json").read_text()))
    assert plan.abi == "host"
    with np.load(folder / "report" / "digits.ir.npz") as arrays:
        graph = text.read((folder / "report" / "digits.ir").read_text(), dict(arrays), registry())
    assert len(graph.nodes) == len(plan.kernels)
    assert (folder / "source" / "CMakeLists.txt").is_file()


def test_the_graph_after_a_pass(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    ask = ("convert", digits, "-o", tmp_path, "--abi", "host", "--after")
    result = lathe(*ask, "fold_batch_norms", "--emit=ir")
    stem = tmp_path / "digits" / "report" / "digits.after_fold_batch_norms.ir"
    assert stem.read_text() in result.stdout
    with np.load(f"{stem}.npz") as arrays:
        graph = text.read(stem.read_text(), dict(arrays), registry())
    operators = [node.op.name for node in graph.nodes]
    assert "batch_norm" not in operators
    assert "relu" in operators  # a later pass makes it part of the convolution
    assert "did you mean 'fold_pads'" in lathe(*ask, "fold_padss", "--emit=ir").stderr
    assert "add --emit=ir" in lathe(*ask, "fold_pads").stderr
    chosen = digits.read_text().replace("    runtime: cpu", "    graph_optimize_options: [fold_pads]\n    runtime: cpu")
    digits.write_text(chosen)
    assert "does not run for the model" in lathe(*ask, "fuse_biases", "--emit=ir").stderr


def test_build_writes_the_layout_and_a_second_one_compiles_nothing(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    first = lathe("build", "--config", digits, "-o", tmp_path, "--target_abis", "host", "--json")
    assert first.code == 0
    folder = tmp_path / "digits"
    for name in ("include/lathe/c_api.h", "lib/host/libdigits.so", "lib/host/libdigits.a", "model/host/digits.pb"):
        assert (folder / name).is_file(), name
    (host,) = first.document["libraries"]
    assert host["bytes_stripped"] == (folder / "lib/host/libdigits.so").stat().st_size
    assert host["exported"] == ["lathe_api_digits"]
    with tarfile.open(folder / "digits.tar.gz") as archive:
        names = archive.getnames()
    assert "digits/lib/host/libdigits.so" in names
    before = snapshot(folder)
    second = lathe("build", digits, "-o", tmp_path, "--abi", "host", "--json")
    assert second.document["libraries"][0]["compiled"] == 0
    assert snapshot(folder) == before
    inspected = lathe("inspect", "library", folder / "lib/host/libdigits.so", "--json").document
    assert inspected["kernels"] == host["kernels"]
    assert inspected["bytes_stripped"] == host["bytes_stripped"]
    assert lathe("inspect", folder / "lib/host/libdigits.a").code == 0


def test_the_summary_is_for_people(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    result = lathe("build", digits, "-o", tmp_path, "--abi", "host", "--library-name", "other", "-v")
    assert re.search(r"^host +[\d,]+ +[\d,]+ +\d", result.stdout, re.MULTILINE)
    assert "conv2d_f32" in result.stdout
    assert (tmp_path / "other" / "lib" / "host" / "libother.so").is_file()


@pytest.mark.slow
def test_the_next_command_leads_to_the_same_build(
    lathe: Lathe, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    time.sleep(0.06)  # a build whose files have just been written is not remembered
    said = ["--abi", "host", "--runtime", "cpu", "--model-graph-format", "code", "--no-messages"]
    shown = lathe("build", digits, *said).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("next: ")]
    words = shlex.split(line)[2:]
    assert words[:2] == ["validate", str(digits)]
    assert "--output" not in words
    assert lathe("build", *words[1:], "--json").document["up_to_date"]


def test_dry_run_prints_commands_and_writes_nothing(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    result = lathe("build", digits, "-o", tmp_path / "out", "--abi", "host", "--dry-run")
    assert "ninja" in result.stdout
    assert not (tmp_path / "out").exists()
    assert all(isinstance(line, str) for line in lathe(
        "build", digits, "-o", tmp_path / "out", "--abi", "host", "--dry-run", "--json"
    ).document["commands"])  # fmt: skip


# -- bad input at every door -----------------------------------------------------------------------------------------
def test_a_missing_deployment(lathe: Lathe, tmp_path: Path) -> None:
    result = lathe("build", tmp_path / "none.yml")
    assert result.code == 2
    assert "none.yml" in result.stderr


def test_a_wrong_checksum_and_a_missing_model(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    model = digits.with_name("digits.onnx")
    model.write_bytes(model.read_bytes() + b"\0")
    assert "checksum" in lathe("build", digits, "-o", tmp_path / "out").stderr
    model.unlink()
    result = lathe("build", digits, "-o", tmp_path / "out", "--json")
    assert result.code == 3
    assert result.document["problems"][0]["where"]["line"] > 0
    assert not (tmp_path / "out").exists()


def without_checksum(digits: Path) -> None:
    digits.write_text(re.sub(r"\n *model_sha256_checksum.*", "", digits.read_text()))


def test_a_truncated_model(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    without_checksum(digits)
    model = digits.with_name("digits.onnx")
    whole = model.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        model.write_bytes(whole[:size])
        result = lathe("build", digits, "-o", tmp_path / "out")
        assert result.code in (3, 5), result.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_operator_is_named_with_its_nodes(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    without_checksum(digits)
    model = onnx.load(digits.with_name("digits.onnx"))
    for node, kind in zip(model.graph.node, ("Frobnicate", "Grok"), strict=False):
        node.op_type, node.domain, node.name = kind, "", f"my_{kind}"
    onnx.save(model, digits.with_name("digits.onnx"))
    result = lathe("build", digits, "-o", tmp_path / "out")
    assert result.code == 4
    assert "Frobnicate" in result.stderr
    assert "my_Grok" in result.stderr


def test_a_shape_that_does_not_fit(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    digits.write_text(digits.read_text().replace('"1,1,8,8"', '"1,1,8,9"'))
    result = lathe("build", digits, "-o", tmp_path / "out")
    assert result.code == 3
    assert "deploy.yml:" in result.stderr
    digits.write_text(digits.read_text().replace('"1,1,8,9"', '"1,8,8,1"'))
    assert "NHWC" in lathe("build", digits, "-o", tmp_path / "out").stderr


def test_a_graph_without_meaning(lathe: Lathe, tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"], name="sum")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("w", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])],
    )
    onnx.save(helper.make_model(graph), tmp_path / "m.onnx")
    result = lathe("init", tmp_path / "m.onnx")
    assert result.code in (3, 5)
    assert "sum" in result.stderr


def test_no_compiler(lathe: Lathe, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    result = lathe("build", digits, "-o", tmp_path / "out", "--abi", "host")
    assert result.code == 6
    assert "apt-get install g++" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_no_build_made_is_not_replaced(lathe: Lathe, digits: Path) -> None:
    before = snapshot(digits.parent)
    result = lathe("convert", digits, "-o", digits.parent.parent, "--library-name", digits.parent.name)
    assert result.code == 2
    assert "--output" in result.stderr
    assert snapshot(digits.parent) == before


def test_no_place_to_write(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = lathe("convert", digits, "-o", tmp_path / "file")
    assert result.code == 7
    assert result.stderr.count("error:") == 1


def test_a_full_disk_leaves_the_old_output(
    lathe: Lathe, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lathe("convert", digits, "-o", tmp_path, "--abi", "host").code == 0
    before = snapshot(tmp_path / "digits")

    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        result = lathe("convert", digits, "-o", tmp_path, "--abi", "host", "--emit", "ir")
    assert result.code == 7
    assert "free space on the disk" in result.stderr
    assert snapshot(tmp_path / "digits") == before
    assert hidden(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_build_leaves_nothing(digits: Path, tmp_path: Path, number: signal.Signals) -> None:
    environment = {**os.environ, "LATHE_CACHE_DIR": str(tmp_path / "cache")}
    command: list[str | Path] = [SCRIPT, "build", digits, "-o", tmp_path / "out", "--abi", "host"]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # Compiling takes seconds in an empty cache: the signal comes while the compiler runs.
    deadline = time.monotonic() + 60
    while not list((tmp_path / "cache").glob("compile/*/build/build.ninja")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 143), stderr
    assert "Traceback" not in stderr
    assert not (tmp_path / "out" / "digits").exists()
    assert hidden(tmp_path / "out") == []
    assert not list((tmp_path / "cache").glob("objects/*/.new-*"))
