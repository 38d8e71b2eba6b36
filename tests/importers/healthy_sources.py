"""What the readers of all frameworks make of the healthy models of the tests: a node or more for every operator."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from onnx import ModelProto

from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers import caffe, keras, onnx, paddle, tensorflow, tflite
from buildtool.importers.model import SourceModel
from buildtool.importers.registry import Registry
from buildtool.importers.request import ImportRequest, TensorRequest
from tests.fuzz import onnx_seeds
from tests.importers.caffe.more_cases import CASES as CAFFE
from tests.importers.hostile_nodes import Source
from tests.importers.keras import harness as keras_files
from tests.importers.onnx import (
    test_composed_handlers,
    test_elementwise_handlers,
    test_logic_handlers,
    test_moving_handlers,
    test_newer_handlers,
    test_quantised_handlers,
    test_sampling_handlers,
    test_selecting_handlers,
    test_spatial_handlers,
)
from tests.importers.onnx.harness import Case
from tests.importers.paddle import harness as paddle_files
from tests.importers.paddle.plain import program_of
from tests.importers.paddle.test_older_operators import OLDER
from tests.importers.paddle.test_sequences import CASES as SEQUENCES
from tests.importers.tensorflow import harness as tensorflow_files
from tests.importers.tflite.cases import CASES as TFLITE
from tests.importers.tflite.detection_cases import DETECTION
from tests.importers.tflite.quantised_cases import QUANTISED
from tests.importers.tflite.signal_cases import SIGNALS
from tests.oracles.paddle.cases import CASES as PADDLE

_ONNX_TESTS = (
    test_composed_handlers,
    test_elementwise_handlers,
    test_logic_handlers,
    test_moving_handlers,
    test_newer_handlers,
    test_quantised_handlers,
    test_sampling_handlers,
    test_selecting_handlers,
    test_spatial_handlers,
)
#: Of TensorFlow, with operators that have no case of their own.
_NETWORKS = ("frozen_recurrent", "plain_recurrent", "loops_v1", "saved_lists", "saved_module")
FRAMEWORKS: dict[str, ModuleType] = {
    "onnx": onnx,
    "tensorflow": tensorflow,
    "keras": keras,
    "caffe": caffe,
    "paddle": paddle,
    "tflite": tflite,
}


def sources(framework: str, folder: Path, every: bool = False) -> Iterator[Source]:
    """The healthy models of a framework, as its handlers get them; the files of each lie there until the next one.

    `every`: with the cases of the onnx package, which take half a minute.
    """
    requests = _onnx_cases if every and framework == "onnx" else REQUESTS[framework]
    for request in requests(folder):
        found = _read(FRAMEWORKS[framework], request)
        if found is not None:
            yield found


def _read(package: ModuleType, request: ImportRequest) -> Source | None:
    """What the handlers would get; None where the reader takes no such model (one with sequences)."""
    found: list[Source] = []

    def keep(model: SourceModel, registry: Registry, asked: ImportRequest) -> None:
        found.append(Source(request.name, model, registry, asked))

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(UnsupportedError, ModelFileError):
        patch.setattr(package, "assemble", keep)
        package.import_model(request)
    return found[0] if found else None


def _onnx(folder: Path) -> Iterator[ImportRequest]:
    models = (case.model() for module in _ONNX_TESTS for case in _cases_of(module))
    yield from _of_onnx(itertools.chain(models, onnx_seeds.made()), folder)


def _onnx_cases(folder: Path) -> Iterator[ImportRequest]:
    yield from _of_onnx(onnx_seeds.models(), folder)


def _of_onnx(models: Iterable[ModelProto], folder: Path) -> Iterator[ImportRequest]:
    file = folder / "model.onnx"
    for number, model in enumerate(models):
        file.write_bytes(model.SerializeToString())
        yield ImportRequest(f"{number} {model.graph.node[0].op_type}", file)


def _cases_of(module: ModuleType) -> Iterator[Case]:
    """Those that the tests of a module run with."""
    for test in vars(module).values():
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize" and mark.args[0] == "case":
                yield from (case for case in mark.args[1] if isinstance(case, Case))


def _tensorflow(folder: Path) -> Iterator[ImportRequest]:
    file = folder / "model.pb"
    for case in tensorflow_files.cases():
        file.write_bytes(case.graph)
        outputs = tuple(TensorRequest(name, data_format="MODEL") for name in case.outputs)
        yield ImportRequest(case.name, file, outputs=outputs)
    for name in (
        "frozen_recurrent",
        "plain_recurrent",
        "loops_v1",
        "saved_lists",
        "saved_module",
        "spectra",
        "cosines",
    ):
        yield ImportRequest(name, tensorflow_files.network(name, folder)[0])


def _keras(folder: Path) -> Iterator[ImportRequest]:
    for name in keras_files.models():
        file = folder / f"model{Path(name).suffix}"
        file.write_bytes(keras_files.archive()[name])
        yield ImportRequest(name, file)


def _caffe(folder: Path) -> Iterator[ImportRequest]:
    text, weights = folder / "net.prototxt", folder / "net.caffemodel"
    for case in CAFFE:
        text.write_text(case.prototxt(), encoding="utf-8")
        weights.write_bytes(case.caffemodel())
        yield ImportRequest(case.name, text, weights if case.weights else None)


def _paddle(folder: Path) -> Iterator[ImportRequest]:
    for case in PADDLE:
        yield ImportRequest(case.name, paddle_files.written(case, ".pdmodel", folder))
    file = folder / "older" / "model.pdmodel"
    file.parent.mkdir(exist_ok=True)
    others: list[Any] = [*OLDER, *SEQUENCES]
    for other in others:
        program = program_of(other.op, other.inputs, {}, other.attributes, tuple(other.expected))
        file.write_bytes(program.SerializeToString())
        yield ImportRequest(str(other), file)
    for archive in ("blocks.zip", "control_flow.zip"):
        for entry, data in paddle_files.archive(archive).items():
            if entry.endswith(".pdmodel"):
                file.write_bytes(data)
                yield ImportRequest(entry, file)


def _tflite(folder: Path) -> Iterator[ImportRequest]:
    file = folder / "model.tflite"
    for number, case in enumerate((*TFLITE, *QUANTISED, *SIGNALS, *DETECTION)):
        file.write_bytes(case.file())
        yield ImportRequest(f"{number} {case.op}", file)


REQUESTS: dict[str, Callable[[Path], Iterator[ImportRequest]]] = {
    "onnx": _onnx,
    "tensorflow": _tensorflow,
    "keras": _keras,
    "caffe": _caffe,
    "paddle": _paddle,
    "tflite": _tflite,
}
