"""What targets make a library from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from buildtool.artifacts.tuning_store import Tuning
from buildtool.codegen.container_writer import Stored
from buildtool.config import Deployment, ModelConfig
from buildtool.errors import ConfigError
from buildtool.importers.request import ImportedModel
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType
from buildtool.plan.algorithms import Times
from buildtool.requests.model_sources import model_files, recorded
from buildtool.requests.quantised import choice_of, real_numbers_for_dsp
from buildtool.targets.protocol import (
    DescribedModel,
    DeviceData,
    DeviceSettings,
    HexagonSettings,
    LibrarySource,
    ModelSource,
)

_SCREEN_MICROSECONDS = 1000


_HALVES = {"fp16_fp32": DType.F16, "fp16_fp16": DType.F16, "bf16_fp32": DType.BF16}


def library_source(
    deployment: Deployment,
    models: Mapping[str, tuple[ImportedModel, Graph]],
    algorithms: Algorithms,
    allow_unverified: bool = False,
) -> LibrarySource:
    """What the targets make a library from; `models`: what was imported and what the passes made of it, by name.

    Models that are not among them are for the target to read.
    """
    for model in deployment.models:
        if model.runtime.uses_dsp and not model.quantize.enabled:
            raise real_numbers_for_dsp(model)
    return LibrarySource(
        name=deployment.library_name,
        identifier=deployment.library_identifier,
        models=tuple(
            ModelSource(
                name=model.identifier,
                graph=models[model.name][1],
                stored=Stored(_HALVES.get(model.data_type), model.quantize.large_weights),
                half_arithmetic=model.data_type == "fp16_fp16" and not model.runtime.uses_gpu,
                quantised=model.quantize.enabled,
                choice=choice_of(model),
                winograd=model.winograd,
                measured=algorithms.measured.get(model.identifier, {}),
                everywhere=algorithms.everywhere,
                passes=tuple(model.graph_optimize_options) or None,
                obscured=model.obfuscate,
                input_formats=models[model.name][0].input_formats,
                output_formats=models[model.name][0].output_formats,
                settings=dict(model.settings) | _of_microcontrollers(model),
                device=device_settings(model),
            )
            for model in deployment.models
            if model.name in models
        ),
        graph_in_library=deployment.model_graph_format == "code",
        data_in_library=deployment.model_data_format == "code",
        op_paths=deployment.op_paths,
        messages=deployment.messages,
        isas=deployment.isas,
        core_binding=deployment.core_binding or deployment.paddle_compat != "0",
        all_ops=deployment.all_ops,
        vision=deployment.vision,
        interfaces=interfaces(deployment),
        file_name=file_name(deployment),
        described=tuple(described(model, allow_unverified) for model in deployment.models if model.name not in models),
        fallback=deployment.fallback,
        hexagon=HexagonSettings(**vars(deployment.hexagon)),
        device_data=algorithms.device_data if deployment.model_graph_format == "code" else {},
    )


def interfaces(deployment: Deployment) -> tuple[str, ...]:
    """The C++ interfaces of other engines that come along."""
    asked = {"mace": deployment.mace_compat, "paddle": deployment.paddle_compat}
    return tuple(name for name, value in asked.items() if value != "0")


def file_name(deployment: Deployment) -> str:
    """The name of the library's files that one of these interfaces asks for; empty: the library's own."""
    names = ["mace"] if deployment.mace_compat == "1" else []
    names += ["paddle_light_api_shared"] if deployment.paddle_compat == "1" else []
    if len(names) > 1:
        raise ConfigError(
            "mace_compat and paddle_compat cannot both be 1: a library has one name",
            where=deployment.where_of("paddle_compat"),
            remedy="set one of them to headers",
        )
    return names[0] if names else ""


def _of_microcontrollers(model: ModelConfig) -> dict[str, Any]:
    """What the mapping `micro` says."""
    if not model.micro_backend:
        return {}
    limits = {"arena_limit": model.micro_arena_limit, "flash_limit": model.micro_flash_limit}
    given = {key: limit for key, limit in limits.items() if limit is not None}
    frontend = {"frontend": dict(model.micro_frontend)} if model.micro_frontend else {}
    return {"backend": model.micro_backend, **given, **frontend}


def device_settings(model: ModelConfig) -> DeviceSettings:
    """What the deployment says of the GPU. A kernel of a millisecond is what screens can wait for."""
    limit = _SCREEN_MICROSECONDS if model.opencl.limit_kernel_time else 0
    arithmetic = "f16" if model.data_type == "fp16_fp16" else "f32"
    return DeviceSettings(
        runtime=model.runtime,
        memory=model.opencl.mem_type,
        arithmetic=arithmetic,
        opencl_queue_window_size=model.opencl.opencl_queue_window_size,
        kernel_microseconds=limit,
    )


def described(model: ModelConfig, allow_unverified: bool = False) -> DescribedModel:
    """A model that a target reads itself."""
    file, weights = model_files(model, allow_unverified)
    inputs, outputs = recorded(model, allow_unverified)
    settings = dict(model.settings)
    return DescribedModel(model.identifier, model.platform, file, weights, inputs, outputs, model.where, settings)


@dataclasses.dataclass(frozen=True)
class Algorithms:
    """What is known of the algorithms of nodes, beyond the estimates."""

    measured: Mapping[str, Mapping[str, Times]] = dataclasses.field(default_factory=dict)  # by model and ABI
    everywhere: str | None = None  # this one wherever it can be used: to measure it
    device_data: Mapping[str, DeviceData] = dataclasses.field(default_factory=dict)  # what GPUs have found out, by ABI


def algorithms_of(tuned: Tuning, everywhere: str | None = None) -> Algorithms:
    """What tuning found."""
    return Algorithms(tuned.times(), everywhere, tuned.device_data())
