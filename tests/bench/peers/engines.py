"""The engines behind one face: import the library, load a model, run it. Runs in the worker, so it imports lazily.

Every engine is asked for the arithmetic of its model (fp32, or int8 where that says so), the given number of threads
and nothing else; the input is NCHW, except for LiteRT, whose models take NHWC.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Run = Callable[[], Array]
Load = Callable[[Path, int, Array], Run]


def _onnxruntime() -> Load:
    onnxruntime = importlib.import_module("onnxruntime")
    onnxruntime.set_default_logger_severity(3)

    def load(model: Path, threads: int, data: Array) -> Run:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, {"input": data})[0]

    return load


def _ncnn() -> Load:
    ncnn = importlib.import_module("ncnn")

    def load(model: Path, threads: int, data: Array) -> Run:
        net = ncnn.Net()
        net.opt.use_vulkan_compute = False
        net.opt.num_threads = threads
        net.opt.lightmode = True
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage", "bf16_packed"):
            if hasattr(net.opt, f"use_{option}"):
                setattr(net.opt, f"use_{option}", False)
        net.load_param(str(model))
        net.load_model(str(model.with_suffix(".bin")))
        source, result = net.input_names()[0], net.output_names()[0]

        def run() -> Array:
            extractor = net.create_extractor()
            extractor.input(source, ncnn.Mat(data[0]))
            return np.array(extractor.extract(result)[1])

        return run

    return load


def _litert() -> Load:
    interpreters = importlib.import_module("ai_edge_litert.interpreter")

    def load(model: Path, threads: int, data: Array) -> Run:
        interpreter = interpreters.Interpreter(model_path=str(model), num_threads=threads)
        interpreter.allocate_tensors()
        source, result = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
        channels_last = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
        scale, zero = interpreter.get_input_details()[0]["quantization"]
        if interpreter.get_input_details()[0]["dtype"] == np.int8:  # it need not do this in its time
            channels_last = np.clip(np.rint(channels_last / scale) + zero, -128, 127).astype(np.int8)
        scale, zero = interpreter.get_output_details()[0]["quantization"] or (1.0, 0)

        def run() -> Array:
            interpreter.set_tensor(source, channels_last)
            interpreter.invoke()
            found = np.asarray(interpreter.get_tensor(result))
            return found if found.dtype == np.float32 else (found.astype(np.float32) - zero) * scale

        return run

    return load


def _openvino() -> Load:
    openvino = importlib.import_module("openvino")

    def load(model: Path, threads: int, data: Array) -> Run:
        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "ENABLE_CPU_PINNING": False,
        }
        request = core.compile_model(core.read_model(str(model)), "CPU", settings).create_infer_request()

        def run() -> Array:
            request.infer({0: data})
            return np.array(request.get_output_tensor(0).data)

        return run

    return load


def _lathe() -> Load:
    in_process = importlib.import_module("buildtool.devices.in_process")
    importlib.import_module("buildtool._runtime")

    def load(model: Path, threads: int, data: Array) -> Run:
        loaded = in_process.load_library(model, threads=threads)
        return lambda: loaded.run({"input": data})["output"]

    return load


#: Name -> imports the engine's library and gives the function that loads a model.
ENGINES: dict[str, Callable[[], Load]] = {
    "lathe": _lathe,
    "lathe_fp32": _lathe,
    "onnxruntime": _onnxruntime,
    "ncnn": _ncnn,
    "litert": _litert,
    "openvino": _openvino,
}
