"""`lathe run` and `lathe validate`: what they tell, what they take, and how they fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from buildtool.cli.main import run as command
from tests.cli.conftest import EXAMPLE, Lathe, Result

ARM = ("aarch64-linux-gnu", "arm-linux-gnueabihf")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built for the host once for all tests of this file."""
    folder = tmp_path_factory.mktemp("digits")
    for name in ("deploy.yml", "digits.onnx", "pictures.npy"):
        shutil.copy(EXAMPLE / name, folder / name)
    assert command(["build", str(folder / "deploy.yml"), "-o", str(folder / "build"), "--abi", "host", "-q"]) == 0
    return folder


def on(project: Path) -> list[object]:
    return [project / "deploy.yml", "--output", project / "build", "--abi", "host"]


@pytest.mark.slow
def test_run_tells_outputs_and_time(lathe: Lathe, project: Path) -> None:
    stamp = (project / "build/digits/report/build.json").stat().st_mtime_ns
    (result,) = lathe("run", *on(project), "--round", 5, "--num-threads", 1, "--json").document["runs"]
    assert (result["model"], result["abi"], result["rounds"]) == ("digits", "host", 5)
    (output,) = result["outputs"]
    assert output["shape"] == [1, 10]
    assert 0 <= output["least"] <= output["largest"] <= 1
    assert 0 < result["milliseconds"] < 1000
    assert (project / "build/digits/report/build.json").stat().st_mtime_ns == stamp, "it was up to date"
    assert "probabilities" in lathe("run", *on(project)).stdout


def test_run_takes_and_writes_arrays(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    picture = np.load(project / "pictures.npy")[:1].astype(np.float32)
    np.save(tmp_path / "image.npy", picture)
    (tmp_path / "image.raw").write_bytes(picture.tobytes())
    written = []
    for number, source in enumerate((["--input-dir", tmp_path], ["--input", f"image={tmp_path / 'image.raw'}"])):
        folder = tmp_path / f"out{number}"
        result = lathe("run", *on(project), *source, "--output-dir", folder, "--json")  # type: ignore[misc]
        written.append(np.load(result.document["runs"][0]["outputs"][0]["file"]))
    np.testing.assert_array_equal(*written)
    assert written[0].sum() == pytest.approx(1, abs=1e-5)


def test_random_inputs_are_the_same_each_time_and_change_with_the_seed(lathe: Lathe, project: Path) -> None:
    largest = [
        lathe("run", *on(project), "--seed", seed, "--json").document["runs"][0]["outputs"][0]["largest"]
        for seed in (1, 1, 2)
    ]
    assert largest[0] == largest[1] != largest[2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--input", "imgae=x.npy"], 8, "no input 'imgae'"),
        (["--input", "image=none.npy"], 8, "does not exist"),
        (["--input-dir", "none"], 2, "no input files in none"),
        (["--model", "other"], 2, "its models: digits"),
        (["--cpu", "cortex-a53", "--abi", "k210"], 2, "no target runs 'cpu' on 'k210'"),
        (["--cpu", "cortex-a53", "--abi", "hexagon"], 4, "hexagon"),
    ],
)
def test_wrong_runs(lathe: Lathe, project: Path, arguments: list[str], code: int, message: str) -> None:
    result = lathe("run", *on(project), *arguments)
    assert (result.code, message in result.stderr) == (code, True), result.stderr


def test_an_input_of_the_wrong_shape(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", np.zeros((1, 1, 8, 9), np.float32))
    result = lathe("run", *on(project), "--input-dir", tmp_path)
    assert result.code == 8
    assert "[1, 1, 8, 9] does not fit 'image'" in result.stderr


@pytest.mark.parametrize("reference", ["onnxruntime", "numpy"])
def test_validate_compares_every_kind(lathe: Lathe, project: Path, reference: str) -> None:
    result = lathe("validate", *on(project), "--reference", reference, "--json")
    assert result.code == 0
    results = result.document["results"]
    assert [(item["abi"], item["kind"], item["format"]) for item in results] == [
        ("host", "shared", "file"),
        ("host", "static", "file"),
    ]
    for item in results:
        assert item["passed"] is True
        assert item["cosine"] >= 0.9999
        assert item["reference"] == reference
        assert item["max_abs"] < 1e-5
    assert "all 2 passed" in lathe("validate", *on(project)).stdout


def test_run_with_validate_is_validate(lathe: Lathe, project: Path) -> None:
    assert lathe("run", *on(project), "--validate", "--json").document["passed"] is True


@pytest.mark.slow
def test_an_output_below_its_threshold_is_exit_code_9(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    """The recorded output is not what the model gives."""
    deployment = (project / "deploy.yml").read_text()
    np.save(project / "in.npy", np.zeros((1, 1, 8, 8), np.float32))
    np.save(project / "out.npy", np.eye(1, 10, 3, dtype=np.float32))
    keys = "        validation_inputs_data: [in.npy]\n        validation_outputs_data: [out.npy]\n    runtime:"
    (project / "recorded.yml").write_text(deployment.replace("    runtime:", keys))
    result = lathe("validate", project / "recorded.yml", "--output", tmp_path, "--abi", "host", "--json")
    assert result.code == 9
    document = result.document
    assert document["passed"] is False
    assert {item["reference"] for item in document["results"]} == {"file"}
    shown = lathe("validate", project / "recorded.yml", "--output", tmp_path, "--abi", "host")
    assert "0 of 2 passed" in shown.stdout


def test_a_damaged_model_file_is_a_failed_result_and_a_run_error(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "build", tmp_path / "build")
    model = tmp_path / "build/digits/model/host/digits.pb"
    model.write_bytes(model.read_bytes()[:-20])
    arguments = [project / "deploy.yml", "--output", tmp_path / "build", "--abi", "host"]
    assert lathe("run", *arguments).code == 8
    result = lathe("validate", *arguments, "--json")
    assert result.code == 9
    assert all(item["problem"] and item["cosine"] == 0 for item in result.document["results"])


@pytest.mark.slow
@pytest.mark.arm
def test_all_abis_kinds_and_formats(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    """What the example promises: three ABIs, shared and static, as files and as code."""
    result = lathe("validate", project / "deploy.yml", "-o", tmp_path, "--all-variants", "--json")
    assert result.code == 0, result.stdout
    results = result.document["results"]
    assert {(item["abi"], item["kind"], item["format"]) for item in results} == {
        (abi, kind, form) for abi in ("host", *ARM) for kind in ("shared", "static") for form in ("file", "code")
    }
    assert min(item["cosine"] for item in results) >= 0.9999
    run = lathe("run", project / "deploy.yml", "-o", tmp_path, "--abi", "aarch64-linux-gnu", "--cpu", "cortex-a53")
    assert "cortex-a53" in run.stdout


@pytest.mark.slow
def test_tables_fit_a_terminal(lathe: Lathe, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all commands that this build is enough for; what names files may be as long as they are."""
    monkeypatch.setenv("COLUMNS", "80")
    library = project / "build/digits/lib/host/libdigits.so"
    commands: list[list[object]] = [
        ["build", *on(project), "-v"], ["run", *on(project), "--memory"], ["validate", *on(project), "--layers"],
        ["bench", *on(project), "--round", 2, "--warmup", 1, "--peak", "50,10"], ["inspect", library],
        ["validate", *on(project)], ["inspect", project / "deploy.yml"], ["inspect", project / "digits.onnx"],
        ["inspect", project / "build/digits"], ["inspect", project / "build/digits/model/host/digits.pb"],
        ["inspect", "ops"], ["inspect", "passes"], ["inspect", "ops", project / "digits.onnx"],
        ["inspect", "ops", "--all"], ["cache"], ["devices"], ["tensor", project / "pictures.npy"],
        ["doctor", "--abi", "host"], ["doctor", "--device", "local"],
    ]  # fmt: skip
    for arguments in commands:
        result = lathe(*arguments)
        assert result.code == 0, (arguments, result.stderr)
        long = [line for line in result.stdout.splitlines() if len(line) > 80 and "/" not in line]
        assert not long, (arguments, long)


@pytest.mark.slow
def test_check_tensors_are_compared(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    def checked(name: str, shape: str, *command: object) -> Result:
        keys = f"        check_tensors: [{name}]\n        check_shapes: ['{shape}']\n    runtime:"
        (project / "checked.yml").write_text((project / "deploy.yml").read_text().replace("    runtime:", keys))
        return lathe(*command, project / "checked.yml", "--abi", "host")

    shared = ("validate", "--kind", "shared", "--output", project / "build", "--json")
    result = checked("relu_2_out", "1,8,8,8", *shared)
    assert result.code == 0, result.stderr
    inner, output = sorted(result.document["results"], key=lambda item: item["output"] == "probabilities")
    assert (inner["output"], inner["shape"], inner["reference"]) == ("relu_2_out", [1, 8, 8, 8], "onnxruntime")
    assert inner["cosine"] > 0.9999 and output["passed"]
    wrong = checked("relu_2_out", "1,8,8,3", *shared)
    assert wrong.code == 9 and "check_shapes declares [1, 8, 8, 3]" in wrong.stdout
    merged = checked("convolution_0_out", "1,8,8,8", *shared)
    assert merged.code == 0 and "computes it inside another node" in merged.stderr
    missing = checked("relu_2_outt", "1,8,8,8", "check")
    assert missing.code == 2 and "did you mean 'relu_2_out'?" in missing.stderr


def test_the_program_is_started_anew(lathe: Lathe, project: Path) -> None:
    result = lathe("run", *on(project), "--restart_round", 3, "--memory")
    assert (result.code, result.stdout.count("probabilities")) == (0, 3)
    lines = result.stdout.partition("process_peak\n")[2].splitlines()
    assert len(lines) == 3
    document = lathe("run", *on(project), "--json").document["runs"][0]
    assert tuple(lines[0].split()[3:7]) == tuple(
        f"{document['memory'][name]:,}" for name in ("arena", "scratch", "weights_allocated", "weights_mapped")
    )
    assert document["process_peak"] > document["memory"]["arena"]


def test_words_of_mace_are_taken(lathe: Lathe, project: Path) -> None:
    words = ["--gpu_perf_hint", 3, "--gpu_out_of_range_check", "--report_dir=x", "--vlog_level", 2]
    result = lathe("run", *on(project), *words)
    assert result.code == 0
    assert "note: --report-dir has no effect" in result.stderr
    assert result.stderr.count("has no effect") == 1
    assert "lathe_run: node 0 " in result.stderr
    assert not lathe("run", *on(project)).stderr


def test_cores_are_chosen_or_it_says_why_not(lathe: Lathe, project: Path) -> None:
    result = lathe("run", *on(project), "--cpu_affinity_policy", 1, "--json")
    affinity = result.document["runs"][0]["affinity"]
    assert affinity["policy"] == 1 and affinity["cores"]
    chosen = affinity["wanted"] and set(affinity["cores"]) <= set(affinity["wanted"])
    assert chosen or "all were used" in result.stderr or "all allowed ones" in result.stderr
    assert lathe("run", *on(project), "--cpu_affinity_policy", 5).code == 2
