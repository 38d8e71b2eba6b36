"""`lathe quantize`, `lathe run --quantize-stat` and `lathe quantize-stat`, and docs/how-to/quantisation.md."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import buildtool
from buildtool.ir.evaluate import bind_symbols, evaluate_node
from buildtool.quant import range_files
from buildtool.quant.estimators import ESTIMATORS
from buildtool.requests.deployments import load_deployment
from buildtool.workflow import prepare
from tests.cli.conftest import EXAMPLE, Lathe, Result
from tests.importers.onnx.harness import model_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "quantisation.md"
SCRIPT = """
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


def samples():
    for number, picture in enumerate(np.load(HERE / "pictures.npy")):
        if number == 5 and (HERE / "stop").exists():
            raise RuntimeError("enough for today")
        yield picture
"""
Quantize = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("accuracy.yml", "accuracy.py", "digits.onnx", "test.npz", "pictures.npy"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _expected(project: Path) -> dict[str, tuple[float, float]]:
    """The ranges that NumPy's references of the operators give on the pictures."""

    (model,) = prepare(load_deployment(project / "accuracy.yml"))
    graph = model.graph
    seen: dict[str, Any] = {}
    for picture in np.load(project / "pictures.npy"):
        values = {graph.inputs[0]: picture[None]}
        symbols = bind_symbols(graph, {"image": picture[None].shape})
        for node in graph.nodes:
            values.update(evaluate_node(node, values, symbols, graph))
        for value, array in values.items():
            for name in value.source_names:
                seen.setdefault(name, []).extend([array.min(), array.max()])
    return {name: (min(ends), max(ends)) for name, ends in seen.items()}


@pytest.mark.slow
def test_ranges_are_those_of_the_reference(lathe: Lathe, project: Path) -> None:
    told = lathe("quantize", "accuracy.yml", "--inputs", "pictures.npy", "--json").document
    assert told["file"] == str(project / "digits.ranges")
    assert (told["samples"], told["resumed"], told["estimator"]) == (20, 0, "min-max")
    ranges, expected = range_files.read(project / "digits.ranges"), _expected(project)
    assert {name: list(ends) for name, ends in ranges.items()} == {
        name: pytest.approx(ends, rel=1e-6) for name, ends in told["ranges"].items()
    }
    assert {"image", "relu_2_out", "relu_6_out", "probabilities"} <= set(ranges)
    for name, ends in ranges.items():
        assert ends == pytest.approx(expected[name], rel=1e-4, abs=1e-6)
    assert not (project / "build/calibration/digits/report/quantisation").exists() or not any(
        (project / "build/calibration/digits/report/quantisation").iterdir()
    )


@pytest.mark.slow
def test_a_run_that_was_ended_goes_on_where_it_stood(lathe: Lathe, project: Path) -> None:
    (project / "make.py").write_text(SCRIPT)
    common = ("quantize", "accuracy.yml", "--inputs", "make.py", "--json", "--estimator")
    for kind in ESTIMATORS:
        lathe(*common, kind, "-o", "whole.ranges")
        (project / "stop").touch()
        stopped = lathe(*common, kind, "-o", "parts.ranges")
        assert stopped.code == 2 and "enough for today" in stopped.stdout
        assert not (project / "parts.ranges").exists()
        (project / "stop").unlink()
        told = lathe(*common, kind, "-o", "parts.ranges").document
        assert (told["samples"], told["resumed"]) == (20, 5)
        assert (project / "parts.ranges").read_text() == (project / "whole.ranges").read_text()
        (project / "parts.ranges").unlink()
    (project / "stop").touch()
    lathe(*common, "kl")
    (project / "stop").unlink()
    assert lathe(*common, "kl", "--fresh").document["resumed"] == 0
    (project / "stop").touch()
    lathe(*common, "kl")
    (project / "stop").unlink()
    assert lathe(*common, "mse").document["resumed"] == 0, "that journal is of something else"


@pytest.mark.slow
def test_several_workers_find_the_same(lathe: Lathe, project: Path) -> None:
    words = [sys.executable, "-c", "from buildtool.cli.main import main; main()", "quantize", "accuracy.yml", "--json"]
    (project / "images").mkdir()
    with np.load(project / "test.npz") as data:
        np.save(project / "images/a.npy", data["pictures"][:97] / 16)
        np.savez(project / "images/b.npz", image=data["pictures"][97:] / 16)
    for kind in ("kl", "moving-average"):
        given = ["--inputs", "images", "--estimator", kind, "--workers", "2", "-o", "two.ranges"]
        done = subprocess.run([*words, *given], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["samples"] == 360
        lathe("quantize", "accuracy.yml", "--inputs", "images", "--estimator", kind, "-o", "one.ranges")
        two, one = (range_files.read(project / f"{name}.ranges") for name in ("two", "one"))
        assert list(two) == list(one)
        for name, ends in two.items():
            assert ends == pytest.approx(one[name], rel=1e-6)


@pytest.mark.slow
def test_the_log_of_mace_becomes_ranges(lathe: Lathe, project: Path) -> None:
    (project / "in").mkdir()
    for number, picture in enumerate(np.load("pictures.npy")):
        picture.tofile(project / f"in/image_{number:02}.dat")
    log = lathe("run", "--config", "accuracy.yml", "--quantize_stat", "--input_dir", "in").stdout
    assert len(re.findall("^Tensor range @@image@@0,1$", log, re.MULTILINE)) == 20
    (project / "range_log").write_text("I net.cc:178] " + log.replace("\n", "\nI net.cc:178] "))
    stat = ("quantize_stat", "--log_file", "range_log")
    (project / "overall_range").write_text(lathe(*stat).stdout)
    whole, expected = range_files.read(project / "overall_range"), _expected(project)
    for name, ends in whole.items():
        assert ends == pytest.approx(expected[name], rel=1e-4, abs=1e-6)
    lathe(*stat, "--percentile", 20, "-o", "narrow")
    narrow = range_files.read(project / "narrow")
    assert narrow["relu_2_out"][1] < whole["relu_2_out"][1]
    told = lathe(*stat, "--enhance", "--enhance_ratio", 1, "--json").document
    assert (told["samples"], told["estimator"]) == (20, "enhance")
    assert told["ranges"]["relu_2_out"][1] <= whole["relu_2_out"][1]
    one = lathe("run", "--config", "accuracy.yml", "--quantize_stat").stdout
    assert one.count("@@image@@") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["quantize"], "no deployment file"),
        (["quantize", "accuracy.yml"], "--inputs is missing"),
        (["quantize", "accuracy.yml", "--inputs", "nothing"], "no such file or folder"),
        (
            ["quantize", "accuracy.yml", "--inputs", "pictures.npy", "--estimator", "mean"],
            "allowed: min-max, percentile",
        ),
        (["quantize", "accuracy.yml", "--inputs", "pictures.npy", "--percentile", "50"], "from 0 to less than 50"),
        (["quantize", "accuracy.yml", "--inputs", "pictures.npy", "--enhance-ratio", "0"], "more than 0"),
        (["quantize", "accuracy.yml", "--inputs", "x", "--fresh", "--resume"], "contradict each other"),
        (["quantize-stat"], "--log-file is missing"),
        (["run", "accuracy.yml", "--quantize_stat", "--validate"], "prints only a log"),
    ],
)
def test_wrong_words_are_one_message(lathe: Lathe, project: Path, words: list[str], message: str) -> None:
    result = lathe(*words)
    assert result.code == 2
    assert message in result.stderr


def test_samples_that_are_not_finite_are_named(lathe: Lathe, project: Path) -> None:
    pictures = np.load("pictures.npy")
    pictures[3, 0, 2, 2] = np.nan
    np.save("bad.npy", pictures)
    result = lathe("quantize", "accuracy.yml", "--inputs", "bad.npy")
    assert result.code == 8
    assert "value 'image'" in result.stderr and "bad.npy[3]" in result.stderr and "--trap-nan" in result.stderr


@pytest.mark.slow
def test_the_commands_of_the_page(lathe: Lathe, project: Path) -> None:
    text = PAGE.read_text()
    (keys,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    deployment = Path("accuracy.yml").read_text().rstrip() + "\n"
    Path("int8.yml").write_text(deployment + "".join(f"    {line}\n" for line in keys.splitlines()))
    (script,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    Path("make.py").write_text(script)
    (project / "tensors").mkdir()
    for number, picture in enumerate(np.load("pictures.npy")):
        picture.tofile(project / f"tensors/image_{number}.dat")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) == 10
    for line in lines:
        command, _, target = line.partition(" > ")
        told = lathe(*shlex.split(command.replace("--workers 2", "--workers 1"))[1:])
        assert told.code == 0, f"{line}\n{told.stderr}"
        if target:
            Path(target).write_text(told.stdout)
        if "--accuracy" in line:
            assert float(re.findall(r"top1 +(\S+)", told.stdout)[0]) >= 0.98
    (table,) = re.findall(r"^\| estimator \| range .*?\n\n", text, re.DOTALL | re.MULTILINE)
    assert re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE) == list(ESTIMATORS)


def _sensitive(lathe: Lathe, *words: object) -> dict[str, Any]:
    given = ("quantize", "accuracy.yml", "--inputs", "pictures.npy", "--sensitivity", "--json")
    found: dict[str, Any] = lathe(*given, *words).document["sensitivity"]
    return found


@pytest.mark.slow
def test_the_harm_of_each_layer_and_the_mix_that_keeps_to_a_budget(lathe: Lathe, project: Path) -> None:
    found = _sensitive(lathe)
    layers = {layer["name"]: layer for layer in found["layers"]}
    assert set(layers) == {"relu_2_out", "relu_6_out", "fullyconnected_8_out", "probabilities"}
    alone = [layer["alone_db"] for layer in found["layers"]]
    assert alone == sorted(alone) and found["proposed"] == []
    assert found["output_db"] <= min(alone) + 3, "all of the noise is more than any part of it"
    for layer in layers.values():
        assert layer["clipped"] == 0 and sum(layer["histogram"]["counts"]) > 0
    # The result of the last layer is that of the network.
    assert layers["probabilities"]["here_db"] == pytest.approx(found["output_db"], abs=0.01)

    wanted = round((found["output_db"] + max(alone)) / 2, 2)
    mix = _sensitive(lathe, "--budget", wanted)
    assert mix["output_db_proposed"] >= wanted > mix["output_db"] == found["output_db"]
    assert 0 < len(mix["proposed"]) < len(layers)
    page = Path(mix["page"]).read_text()
    assert '"relu_6_out"' in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")

    kept = json.dumps(mix["keep_float"])
    keys = f"    quantize: 1\n    quantize_range_file: digits.ranges\n    quantize_keep_float: {kept}\n"
    Path("mix.yml").write_text(Path("accuracy.yml").read_text().rstrip() + "\n" + keys)
    again = lathe(
        "quantize", "mix.yml", "--inputs", "pictures.npy", "--sensitivity", "--budget", wanted, "--json"
    ).document["sensitivity"]
    assert again["output_db"] == mix["output_db_proposed"] and again["proposed"] == []
    assert set(layers) - {layer["name"] for layer in again["layers"]} == set(mix["proposed"])


@pytest.mark.slow
def test_the_measured_results_are_those_of_the_library(lathe: Lathe, project: Path) -> None:
    found = _sensitive(lathe, "--samples", 4, "--budget", "accuracy=0")
    accuracy = found["accuracy"]
    assert accuracy["proposed"] >= accuracy["float"] >= 0.98
    text = Path("accuracy.yml").read_text().rstrip()
    Path("int8.yml").write_text(f"{text}\n    quantize: 1\n    quantize_range_file: digits.ranges\n")
    pictures = np.load("pictures.npy")[:4]
    outputs = []
    for deployment in ("accuracy.yml", "int8.yml"):
        with buildtool.load(deployment) as model:
            outputs.append(np.stack([model.run({"image": one[None]})["probabilities"] for one in pictures]))
    error = np.square(outputs[0] - outputs[1]).sum()
    assert found["output_db"] == pytest.approx(10 * np.log10(np.square(outputs[0]).sum() / error), abs=0.05)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "30"], "--budget goes with --sensitivity"),
        (["--sensitivity", "--budget", "speed=3"], "--budget cannot be 'speed=3'"),
        (["--sensitivity", "--budget", "-1"], "not less than 0"),
        (["--sensitivity", "--budget", "accuracy="], "accuracy=POINTS"),
    ],
)
def test_a_wrong_budget_is_one_message(lathe: Lathe, project: Path, words: list[str], message: str) -> None:
    result = lathe("quantize", "accuracy.yml", "--inputs", "pictures.npy", *words)
    assert result.code == 2
    assert message in result.stderr


@pytest.mark.slow
def test_changed_weights_are_in_the_library_that_names_their_file(lathe: Lathe, project: Path) -> None:
    with np.load("test.npz") as data:
        pictures = (data["pictures"][:160] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    np.save("many.npy", pictures)
    words = ("--bias-correction", "--rounding", "adaptive", "--sensitivity", "--json")
    told = lathe("quantize", "accuracy.yml", "--inputs", "many.npy", *words).document
    found = told["corrections"]
    assert found["file"] == str(project / "digits.weights.npz")
    assert found["layers"] + len(found["kept_as_they_were"]) == 3
    assert found["layers"] and (found["samples"], found["judged_on"]) == (48, 16)
    assert found["output_db"] > found["output_db_before"], "on pictures that it was not made with"

    keys = "    quantize: 1\n    quantize_range_file: digits.ranges\n"
    text = Path("accuracy.yml").read_text().rstrip() + "\n"
    Path("int8.yml").write_text(text + keys + "    quantize_weights_file: digits.weights.npz\n")
    outputs = []
    for deployment in ("accuracy.yml", "int8.yml"):
        with buildtool.load(deployment) as model:
            outputs.append(np.stack([model.run({"image": one[None]})["probabilities"] for one in pictures[:64]]))
    for part, decibels in ((slice(48, 64), found["output_db"]), (slice(0, 8), told["sensitivity"]["output_db"])):
        error = np.square(outputs[0][part] - outputs[1][part]).sum()
        assert decibels == pytest.approx(10 * np.log10(np.square(outputs[0][part]).sum() / error), abs=0.05)
    again = lathe("quantize", "int8.yml", "--inputs", "many.npy", *words).document["corrections"]
    assert again == found, "what the deployment names is written anew from the model's own weights"


def test_there_are_two_ways_to_round(lathe: Lathe, project: Path) -> None:
    result = lathe("quantize", "accuracy.yml", "--inputs", "pictures.npy", "--rounding", "up")
    assert result.code == 2 and "allowed: nearest, adaptive" in result.stderr


def _quantised_model(file: Path) -> None:
    parameters: dict[str, Any] = {"scale": np.array(0.1, np.float32), "zero": np.array(3, np.uint8)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    file.write_bytes(model_of(nodes, {"x": np.zeros((2, 3), np.float32)}, ["y"], parameters).SerializeToString())


@pytest.mark.slow
def test_a_quantised_model_without_the_key_is_said_to_be_computed_in_float(
    lathe: Lathe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _quantised_model(tmp_path / "qdq.onnx")
    assert lathe("init", "qdq.onnx").code == 0
    text = Path("qdq.yml").read_text()
    assert "    quantize: 1\n" in text
    assert "computed in float" not in lathe("check", "qdq.yml").stderr
    Path("qdq.yml").write_text(text.replace("    quantize: 1\n", ""))
    for command in ("check", "build"):
        result = lathe(command, "qdq.yml")
        assert result.code == 0
        assert "this model is quantised; it will be computed in float" in result.stderr
        assert "write quantize: 1" in result.stderr


def test_few_bits_without_any_range_are_refused(lathe: Lathe, project: Path) -> None:
    text = Path("accuracy.yml").read_text().rstrip() + "\n    quantize: 1\n"
    Path("int8.yml").write_text(text)
    for command in ("check", "build"):
        result = lathe(command, "int8.yml")
        assert result.code == 2
        assert "no tensor of the model has a range" in result.stderr
        assert "lathe quantize" in result.stderr
