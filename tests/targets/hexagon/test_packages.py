"""Networks of packages, quantised by `lathe quantize`, on the DSP from end to end: the bytes of the CPU."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from buildtool import workflow
from buildtool.drafts import deployment
from buildtool.ir.operator import Array
from buildtool.settings import CalibrationSettings, DeviceSpec, Options, RunSettings
from tests.importers.tflite import networks as tflite
from tests.ocr.networks import NETWORKS as OCR
from tests.ocr.networks import Network
from tests.ocr.pictures import page
from tests.wheels import WheelNotAvailableError

_DETECTOR = "face_detection_short_range"
_SIZES = {"det": (96, 160), "rec": (48, 96), "cls": (48, 101)}


@dataclass(frozen=True)
class Case:
    """A network of a package, the name of its input, the sizes that it leaves open, and a picture."""

    name: str
    file: Callable[[], Path]
    input: str
    shapes: Mapping[str, str]
    picture: Callable[[], Array]

    def __str__(self) -> str:
        return self.name

    def write(self, folder: Path, runtime: str, *more: str) -> Path:
        """The deployment file, with more keys of the model."""
        folder.mkdir(exist_ok=True)
        text = deployment.write(
            [self.file()], relative_to=folder, library_name=self.name, shapes=self.shapes, data_type="fp32_fp32"
        )
        file = folder / "net.yml"
        lines = [text.replace("runtime: cpu", f"runtime: {runtime}").rstrip(), *(f"    {line}" for line in more)]
        file.write_text("\n".join(lines) + "\n")
        return file


def _ocr(network: Network, height: int, width: int) -> Case:
    shapes = {"x": f"1,3,{height},{width}"}
    return Case(network.name, network.path, "x", shapes, lambda: page(height, width))


def _face() -> Array:
    return np.random.default_rng(5).uniform(-1, 1, (1, 128, 128, 3)).astype(np.float32)


_CASES = (
    *(_ocr(network, *_SIZES[network.name]) for network in OCR),
    Case(_DETECTOR, lambda: tflite.files()[_DETECTOR], "input", {}, _face),
)


def _outputs(case: Case, file: Path, picture: Path) -> tuple[list[Array], dict[str, str], Path]:
    """What a network gives, what ran it, and the folder of the build. Programs for the DSP run on the emulated one."""
    folder = file.parent
    built = workflow.build(file, options=Options(output=folder / "build"))
    settings = RunSettings(
        devices=(DeviceSpec("dsp-sim"),) if built.dsp_programs else (),
        inputs={case.input: picture},
        output_folder=folder / "outputs",
        threads=1,
    )
    (run,) = workflow.run(file, options=Options(output=folder / "build"), settings=settings).as_json()["runs"]
    return [np.load(output["file"]) for output in run["outputs"]], run.get("gpu", {}), folder / "build" / case.name


def _on_dsp(built: Path) -> int:
    """Nodes that the DSP runs."""
    report = json.loads((built / "report" / "build.json").read_text())
    nodes = report["models"][0]["plans"][0]["placement"]["nodes"]
    return sum(node["side"] != "cpu" for node in nodes)


@pytest.mark.sweep
@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_network_of_a_package(case: Case, tmp_path: Path) -> None:
    try:
        case.file()
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    picture, ranges = tmp_path / "picture.npy", tmp_path / "ranges"
    np.save(picture, case.picture())
    calibration = CalibrationSettings(picture, output=ranges)
    real = case.write(tmp_path / "real", "cpu")
    workflow.quantize(real, calibration, options=Options(tmp_path / "real" / "build"))
    keys = ("quantize: 1", f"quantize_range_file: {ranges}")
    wanted, _, _ = _outputs(case, case.write(tmp_path / "cpu", "cpu", *keys), picture)
    assert all(len(np.unique(array)) > 1 for array in wanted)
    for runtime in ("dsp", "cpu+dsp"):
        folder = tmp_path / runtime.replace("+", "_")
        found, told, built = _outputs(case, case.write(folder, runtime, *keys), picture)
        if runtime == "dsp" or _on_dsp(built) > 0:  # the cut may leave all of a small network to the CPU
            assert (told["kind"], told["reason"]) == ("dsp", "")
            assert _on_dsp(built) > 10
        for array, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array, other)
