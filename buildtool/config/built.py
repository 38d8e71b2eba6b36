"""What a deployment file may say already although Lathe does not build it yet.

Such a value is right, so that files can be written and checked ahead: loading gives a note, building an error. A later
capability extends the one table here.
"""

from __future__ import annotations

from buildtool.config.deployment import Deployment, ModelConfig
from buildtool.errors import Problem, Where
from buildtool.wording import listed, quoted

# Every value that can be built, by key. A key that is not here can be built with all of its values.
BUILT: dict[str, frozenset[str]] = {
    "target_abis": frozenset(
        {
            "host",
            "aarch64-linux-gnu",
            "arm-linux-gnueabihf",
            "arm64-v8a",
            "armeabi-v7a",
            "x86_64",
            "k210",
            "max78000",
            "max78002",
        }
    ),
    "platform": frozenset({"ai8x", "caffe", "keras", "onnx", "paddle", "pytorch", "tensorflow", "tflite"}),
    "runtime": frozenset({"cpu", "gpu", "cpu+gpu", "kpu", "cnn"}),
    "data_type": frozenset({"fp32_fp32", "fp16_fp32", "bf16_fp32", "fp16_fp16"}),  # `fp32` is read as fp32_fp32
    "micro": frozenset({""}),
}


def unbuilt(deployment: Deployment) -> tuple[Problem, ...]:
    """One problem for each value that is known but cannot be built yet."""
    found = [_problem("target_abis", abi, deployment.where_of_abi(abi)) for abi in deployment.target_abis]
    for model in deployment.models:
        found += [_problem(key, value, model.where_of(key)) for key, value in _values(model).items()]
    return tuple(problem for problem in found if problem is not None)


def _values(model: ModelConfig) -> dict[str, str]:
    return {
        "platform": model.platform,
        "runtime": model.runtime.value,
        "data_type": model.data_type,
        "micro": model.micro_backend,
    }


def _problem(key: str, value: str, where: Where) -> Problem | None:
    built = BUILT[key]
    if value in built:
        return None
    possible = sorted(word for word in built if word)
    remedy = f"for now use {listed(possible)}" if possible else f"remove {quoted(key)}"
    return Problem(f"{quoted(key)} {quoted(value)} is known but not built yet", where, remedy=remedy)
