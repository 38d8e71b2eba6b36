"""The engines behind one face: import the library, load a model, run it. Runs in the worker, so it imports lazily.

Every engine is asked for the arithmetic of its model (fp32, or int8 where that says so), the given number of threads
and nothing else. Inputs are given by name; pictures are NCHW, except for LiteRT, whose models take NHWC.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Feeds = dict[str, Array]
Run = Callable[[], list[Array]]  # the outputs in the order of the model
Load = Callable[[Path, int, Feeds], Run]


def _onnxruntime() -> Load:
    onnxruntime = importlib.import_module("onnxruntime")
    onnxruntime.set_default_logger_severity(3)

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return lambda: list(session.run(None, feeds))

    return load


def _ncnn(half: bool = False) -> Load:
    ncnn = importlib.import_module("ncnn")

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        net = ncnn.Net()
        net.opt.use_vulkan_compute = False
        net.opt.num_threads = threads
        net.opt.lightmode = True
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage", "bf16_packed"):
            if hasattr(net.opt, f"use_{option}"):
                setattr(net.opt, f"use_{option}", half and option.startswith("fp16"))
        net.load_param(str(model))
        net.load_model(str(model.with_suffix(".bin")))
        results = net.output_names()
        # A batch of one is no dimension of its matrices; indices have 32 bits.
        matrices = [
            np.ascontiguousarray(x[0], np.float32 if x.dtype == np.float32 else np.int32) for x in feeds.values()
        ]
        sources = list(zip(net.input_names(), matrices, strict=True))

        def run() -> list[Array]:
            extractor = net.create_extractor()
            for name, matrix in sources:
                extractor.input(name, ncnn.Mat(matrix))
            return [np.array(extractor.extract(name)[1]) for name in results]

        return run

    return load


def _litert() -> Load:
    interpreters = importlib.import_module("ai_edge_litert.interpreter")

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        interpreter = interpreters.Interpreter(model_path=str(model), num_threads=threads)
        interpreter.allocate_tensors()
        source, result = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
        (data,) = feeds.values()
        channels_last = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
        scale, zero = interpreter.get_input_details()[0]["quantization"]
        if interpreter.get_input_details()[0]["dtype"] == np.int8:  # it need not do this in its time
            channels_last = np.clip(np.rint(channels_last / scale) + zero, -128, 127).astype(np.int8)
        scale, zero = interpreter.get_output_details()[0]["quantization"] or (1.0, 0)

        def run() -> list[Array]:
            interpreter.set_tensor(source, channels_last)
            interpreter.invoke()
            found = np.asarray(interpreter.get_tensor(result))
            return [found if found.dtype == np.float32 else (found.astype(np.float32) - zero) * scale]

        return run

    return load


def _openvino() -> Load:
    openvino = importlib.import_module("openvino")

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "ENABLE_CPU_PINNING": False,
        }
        request = core.compile_model(core.read_model(str(model)), "CPU", settings).create_infer_request()

        count = len(request.model_outputs)

        def run() -> list[Array]:
            request.infer(feeds)
            return [np.array(request.get_output_tensor(index).data) for index in range(count)]

        return run

    return load


def _lathe() -> Load:
    in_process = importlib.import_module("buildtool.devices.in_process")
    importlib.import_module("buildtool.lathe_runtime")

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        loaded = in_process.load_library(model, threads=threads)
        return lambda: list(loaded.run(feeds).values())

    return load


def _mnn(precision: str = "high") -> Load:
    mnn = importlib.import_module("MNN")
    kinds = {"float32": mnn.Halide_Type_Float, "int32": mnn.Halide_Type_Int}

    def load(model: Path, threads: int, feeds: Feeds) -> Run:
        names: list[str] = json.loads(model.with_suffix(".json").read_text())
        interpreter = mnn.Interpreter(str(model))
        session = interpreter.createSession({"backend": "CPU", "numThread": threads, "precision": precision})
        given = []
        for name, data in feeds.items():
            target = interpreter.getSessionInput(session, name)
            narrow = data.astype(np.int32) if data.dtype == np.int64 else data
            interpreter.resizeTensor(target, narrow.shape)
            layout = mnn.Tensor_DimensionType_Caffe
            given.append((target, mnn.Tensor(narrow.shape, kinds[narrow.dtype.name], narrow, layout)))
        interpreter.resizeSession(session)
        results = [interpreter.getSessionOutput(session, name) for name in names]

        def run() -> list[Array]:
            for target, tensor in given:
                target.copyFrom(tensor)
            interpreter.runSession(session)
            return [_fetched(mnn, result) for result in results]

        return run

    return load


def _fetched(mnn: Any, result: Any) -> Array:
    """A copy in the usual order: its own may be blocked by channels."""
    shape = result.getShape()
    kind = result.getDataType()
    dtype = np.float32 if kind == mnn.Halide_Type_Float else np.int32
    copy = mnn.Tensor(shape, kind, np.zeros(shape, dtype), mnn.Tensor_DimensionType_Caffe)
    result.copyToHostTensor(copy)
    return np.array(copy.getNumpyData()).reshape(shape)


#: Name -> imports the engine's library and gives the function that loads a model.
ENGINES: dict[str, Callable[[], Load]] = {
    "lathe": _lathe,
    "lathe_fp32": _lathe,
    "onnxruntime": _onnxruntime,
    "ncnn": _ncnn,
    "litert": _litert,
    "openvino": _openvino,
    "mnn": _mnn,
    # In half precision, where the processor has it (tests/bench/arm).
    "ncnn_fp16": functools.partial(_ncnn, half=True),
    "mnn_fp16": functools.partial(_mnn, precision="low"),
}
