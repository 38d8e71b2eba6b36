"""`lathe build` of models for the MAX78000: the firmware computes what the model does, and the plan can be taken on."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.errors import Problem, UnsupportedError
from buildtool.ir.evaluate import evaluate
from buildtool.settings import SILENT, Silent
from tests.targets.k210.building import as_file, described, ranges
from tests.targets.max7800x.graphs import GRAPHS
from tests.targets.max7800x.test_digits import DIGITS, digits, test_set
from tests.targets.max7800x.test_lower import deep
from tests.targets.max7800x.test_target import on_board


class Listener(Silent):
    """Keeps what users should know."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, problem: Problem) -> None:
        self.notes.append(problem.what)


RULES = """      - input_tensors: [image]
        input_shapes: ["1,1,8,8"]
        input_data_formats: [NCHW]
        input_ranges: ["0.0,1.0"]
        output_tensors: [probabilities]
        output_shapes: ["1,10"]
        output_data_formats: [NONE]
"""


def deployment(folder: Path, *, known: bool = True, cnn: str = "{}") -> Path:
    """Of the digits, with the 100th picture of the test set as the sample."""
    picture = test_set()[0][100]
    picture.tofile(folder / "picture.bin")
    (folder / "digits.ranges").write_text(ranges(DIGITS / "digits.onnx"))
    quantised = "    quantize: 1\n    quantize_range_file: digits.ranges\n" if known else ""
    (folder / "nets.yml").write_text(
        "library_name: nets\ntarget_abis: [max78000]\nmodels:\n  digits:\n    platform: onnx\n    runtime: cnn\n"
        f"    model_file_path: {DIGITS / 'digits.onnx'}\n    subgraphs:\n{RULES}"
        f"        validation_inputs_data: [picture.bin]\n{quantised}    cnn: {cnn}\n"
    )
    return folder / "nets.yml"


def converted(file: Path) -> Path:
    """The sources of the program, not compiled."""
    buildtool.workflow.convert(file, options=buildtool.Options(file.parent / "build"), progress=SILENT)
    return file.parent / "build" / "nets" / "lib" / "max78000" / "digits"


@pytest.mark.slow
def test_firmware_gives_the_probabilities_of_the_model(tmp_path: Path) -> None:
    buildtool.build(deployment(tmp_path), options=buildtool.Options(tmp_path / "build"))
    done = on_board(tmp_path / "build" / "nets" / "lib" / "max78000" / "digits_emulated.elf")
    assert "*** PASS ***" in done.stdout, done.stdout + done.stderr
    found = [float(text) for text in re.findall(r"class \d+: ([\d.]+)%", done.stdout)]
    graph = digits()
    (wanted,) = evaluate(graph, {"image": test_set()[0][100]}).values()
    assert np.abs(np.array(found) / 100 - wanted.reshape(-1)).max() < 0.02


def test_the_plan_can_be_built_from_its_description(tmp_path: Path) -> None:
    first = converted(deployment(tmp_path))
    second = tmp_path / "again"
    second.mkdir()
    sample = np.load(DIGITS / "pictures.npy")[0]
    np.save(second / "sample.npy", np.floor(sample * 127 + 0.5).astype(np.int64))
    (second / "nets.yml").write_text(
        "library_name: nets\ntarget_abis: [max78000]\nmodels:\n  digits:\n    platform: ai8x\n    runtime: cnn\n"
        f"    model_file_path: {first / 'plan' / 'network.yaml'}\n"
        f"    weight_file_path: {first / 'plan' / 'weights.pth.tar'}\n"
        "    validation_inputs_data: sample.npy\n    cnn: {avg_pool_rounding: 1}\n"
    )
    again = converted(second / "nets.yml")
    assert (again / "weights.h").read_text() == (first / "weights.h").read_text()
    writes = [re.findall(r"CNN_WRITE\(.*", (one / "cnn.c").read_text()) for one in (first, again)]
    assert writes[0] == writes[1]


def test_tensors_are_told(tmp_path: Path) -> None:
    folder = converted(deployment(tmp_path))
    program = tmp_path / "use.c"
    program.write_text(
        '#include <stdio.h>\n#include "tensors.h"\nint main(void) {\n'
        "  for (int row = 0; row < 2; row++) for (int column = 0; column < 3; column++)\n"
        '    printf("%d ", CNN_INPUT_INDEX(0, row, column));\n'
        '  printf("%d %d %d\\n", cnn_input_byte(0.5f), cnn_input_byte(-9.0f), cnn_input_byte(9.0f));\n  return 0;\n}\n'
    )
    made = tmp_path / "use"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"-I{folder}", program, "-o", made], check=True)
    said = subprocess.run([made], capture_output=True, text=True, check=True).stdout
    assert said == "0 1 2 8 9 10 64 -128 127\n"
    report = json.loads((tmp_path / "build" / "nets" / "report" / "build.json").read_text())
    (model,) = report["firmware"][0]["models"]
    assert model["details"]["tensors"]["outputs"][0]["after"] == "softmax"


def test_models_without_ranges_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the value range of 'image'"):
        converted(deployment(tmp_path, known=False))


def test_weights_of_fewer_bits_are_asked_for(tmp_path: Path) -> None:
    folder = converted(deployment(tmp_path, cnn="{weight_bits: 4}"))
    text = (folder / "plan" / "network.yaml").read_text()
    assert re.findall(r"quantization: (\d)", text) == ["4", "4", "4"]


def test_layers_that_lose_bits_are_told(tmp_path: Path) -> None:
    """Fourteen layers of 64 channels: more than the kernel memory holds in 8 bits."""
    file = described({"net": as_file(deep(14), tmp_path / "net.onnx")}, tmp_path)
    file.write_text(file.read_text().replace("runtime: kpu", "runtime: cnn").replace("k210", "max78000"))
    listener = Listener()
    buildtool.workflow.convert(file, options=buildtool.Options(tmp_path / "build"), progress=listener)
    told = "to fit the kernel memory, these weights have fewer than 8 bits: .* has 4"
    assert any(re.search(told, note) for note in listener.notes), listener.notes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["residual", "upwards", "words", "large"])
def test_firmware_of_other_models(name: str, tmp_path: Path) -> None:
    """Images check their results against the simulator's, for a random sample."""
    file = described({"net": as_file(GRAPHS[name](), tmp_path / "net.onnx")}, tmp_path)
    file.write_text(file.read_text().replace("runtime: kpu", "runtime: cnn").replace("k210", "max78000"))
    buildtool.build(file, options=buildtool.Options(tmp_path / "build"))
    done = on_board(tmp_path / "build" / "nets" / "lib" / "max78000" / "net_emulated.elf")
    assert "*** PASS ***" in done.stdout, done.stdout + done.stderr
