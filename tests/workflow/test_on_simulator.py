"""`lathe run` and `lathe validate` for chips that are simulated."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from buildtool import workflow
from buildtool.quant import range_files
from buildtool.reports.html_page import data_of
from buildtool.settings import Options, RunSettings
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.lowering import lower
from buildtool.targets.max7800x.simulation import compare, intermediates, simulate
from buildtool.targets.max7800x.simulation.simulate import run
from tests.cli.conftest import Lathe, lathe
from tests.targets.k210.building import between
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer
from tests.targets.max7800x.test_digits import DIGITS, digits

__all__ = ["lathe"]  # a fixture


def described(folder: Path, name: str, **more: str) -> Path:
    known = KnownAnswer(name)
    assert known.weights is not None
    files = {
        "model_file_path": known.description,
        "weight_file_path": known.weights,
        "validation_inputs_data": known.sample_file,
    }
    lines = [f"    {key}: {value}" for key, value in {**files, **more}.items()]
    file = folder / "nets.yml"
    head = ["library_name: nets", "target_abis: [max78000]", "models:", f"  {name}:", "    platform: ai8x"]
    file.write_text("\n".join([*head, "    runtime: cnn", *lines]) + "\n")
    return file


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The digits of the example, for the MAX78000."""
    shutil.copy(DIGITS / "digits.onnx", tmp_path)
    known = digits()
    found = {value: known.range_of(value) for value in known.values()}
    ranges = {
        name: between(known) for value, known in found.items() if known for name in (value.name, *value.source_names)
    }
    (tmp_path / "digits.ranges").write_text(range_files.text(ranges))
    text = (DIGITS / "deploy.yml").read_text()
    text = re.sub(r"target_abis: .*", "target_abis: [max78000]", text)
    text = re.sub(r"    model_sha256_checksum: .*\n", "", text)
    text = re.sub(r"validation_threshold: .*", "validation_threshold: {CNN: 0.98}", text)
    text = re.sub(
        r"    runtime: cpu\n.*", "    runtime: cnn\n    quantize_range_file: digits.ranges\n", text, flags=re.DOTALL
    )
    file = tmp_path / "deploy.yml"
    file.write_text(text)
    return file


def test_a_graph_gives_what_its_simulator_gives(graph: Path, tmp_path: Path) -> None:
    picture = np.load(DIGITS / "pictures.npy")[:1]
    np.save(tmp_path / "image.npy", picture)
    settings = RunSettings(inputs={"image": tmp_path / "image.npy"}, output_folder=tmp_path / "out")
    report = workflow.run(graph, options=Options(tmp_path / "build"), settings=settings)
    (run,) = report.runs
    assert (run["abi"], run["device"], run["kind"]) == ("max78000", "simulator", "firmware")
    found = np.load(tmp_path / "out/max78000/digits/probabilities.npy")
    lowered = lower.lower(digits(), MAX78000)
    (port,) = lowered.outputs
    trace = simulate.run(lowered.network, lowered.input.stored(picture))
    assert np.array_equal(found, port.real(trace.result))
    assert np.isclose(found.sum(), 1, atol=1e-5)


def test_a_graph_is_compared_with_its_source(graph: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", np.load(DIGITS / "pictures.npy")[:1])
    settings = RunSettings(inputs={"image": tmp_path / "image.npy"})
    report = workflow.validate(graph, options=Options(tmp_path / "build"), settings=settings)
    (result,) = report.results
    assert report.passed
    assert 0.98 < result["cosine"] < 1
    assert (result["output"], result["device"]) == ("probabilities", "simulator")


def test_results_lie_beside_the_build_that_they_are_about(graph: Path, tmp_path: Path) -> None:
    options = Options(tmp_path / "build")
    page, report = (tmp_path / "build/digits/report" / name for name in ("index.html", "validation.json"))
    workflow.validate(graph, options=options)
    assert not report.parent.exists()  # there is no build
    workflow.convert(graph, options=options)
    before = page.read_bytes()
    found = workflow.validate(graph, options=options)
    assert json.loads(report.read_text())["results"] == list(found.results)
    measured = workflow.bench(graph, options=options)
    shown = data_of(page.read_bytes())
    assert shown["validation"]["results"] == list(found.results)
    assert shown["benchmark"]["estimates"][0]["estimate"]["cycles"] == measured.estimates[0]["estimate"]["cycles"]
    page.write_bytes(before)
    report.unlink()
    graph.write_text(graph.read_text().replace("CNN: 0.98", "CNN: 0.97"))  # no longer what was built
    workflow.validate(graph, options=options)
    assert not report.exists() and page.read_bytes() == before


@known_answers.exist
def test_a_description_is_compared_with_files(tmp_path: Path, lathe: Lathe) -> None:
    known = KnownAnswer("t_fire_cifar10")
    right = run(known.network, known.sample).result
    wrong = right.copy()
    wrong[3, 0, 0] += 1
    np.save(tmp_path / "right.npy", right)
    np.save(tmp_path / "wrong.npy", wrong)
    file = described(tmp_path, known.name, validation_outputs_data=str(tmp_path / "right.npy"))
    assert lathe("validate", file, "--output", tmp_path / "build").code == 0
    file = described(tmp_path, known.name, validation_outputs_data=str(tmp_path / "wrong.npy"))
    result = lathe("validate", file, "--output", tmp_path / "build", "--json")
    assert result.code == 9
    (found,) = result.document["results"]
    assert found["problem"] == f"channel 3, row 0, column 0: {right[3, 0, 0]} instead of {wrong[3, 0, 0]}"


@known_answers.exist
def test_a_description_runs_on_its_sample_or_another(tmp_path: Path, lathe: Lathe) -> None:
    known = KnownAnswer("mnist_extrasmall")
    file = described(tmp_path, known.name)
    other = np.roll(known.sample, 3, axis=2)
    np.save(tmp_path / "other.npy", other)
    for words, sample in (((), known.sample), (("--input", f"input={tmp_path / 'other.npy'}"), other)):
        result = lathe("run", file, *words, "--output", tmp_path / "build", "--output-dir", tmp_path / "out", "--json")
        assert result.code == 0, result.stderr
        (output,) = result.document["runs"][0]["outputs"]
        assert output["name"] == "layer3"
        assert np.array_equal(np.load(output["file"]), run(known.network, sample).result)
    told = lathe("run", file, "--output", tmp_path / "build", "--dump", tmp_path / "layers").stdout
    dumped = intermediates.read(tmp_path / "layers" / "max78000" / known.name)
    assert sorted(dumped) == [0, 1, 2, 3]
    assert compare.with_outputs(run(known.network, known.sample), dumped).same
    assert "12,194 cycles, 243.9 us at 50 MHz" in told
    result = lathe("run", file, "--input", f"image={tmp_path / 'other.npy'}", "--output", tmp_path / "build")
    assert result.code != 0
    assert "it is called 'input'" in result.stderr
    refused = lathe("validate", file, "--output", tmp_path / "build")
    assert refused.code == 2
    assert "validation_outputs_data" in refused.stderr
