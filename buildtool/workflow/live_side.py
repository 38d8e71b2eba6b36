"""What a report needs to run its models in the page: `lathe build --report-live`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from buildtool.artifacts import model_files, output_tree
from buildtool.builders import library
from buildtool.builders.built import BuiltLibrary
from buildtool.config import Deployment
from buildtool.errors import UnsupportedError
from buildtool.requests import runs
from buildtool.settings import Options
from buildtool.targets.protocol import TargetProgram

ABI = "wasm32-simd"

Build = Callable[[Deployment, Options], tuple[Sequence[TargetProgram], Sequence[BuiltLibrary]]]


def check(deployment: Deployment, options: Options) -> None:
    """Whether there is what it takes; told before the long work."""
    if not options.live:
        return
    for model in deployment.models:
        if model.runtime.uses_gpu or model.runtime.uses_dsp:
            raise UnsupportedError(
                f"--report-live: the model '{model.name}' is for the runtime '{model.runtime}'",
                where=model.where_of("runtime"),
                rule="a page runs models for the CPU, as WebAssembly",
                remedy="leave out --report-live, or build with --runtime cpu",
            )
    library.of_abi(ABI)


def data(deployment: Deployment, options: Options, build: Build) -> dict[str, Any]:
    """The module, its script and the models, as JSON; nothing where nobody asked. `build` makes a library."""
    if not options.live:
        return {}
    own = replace(
        deployment, target_abis=(ABI,), model_graph_format="file", model_data_format="file", core_binding=False
    )
    (program,), (built,) = build(own, replace(options, output=options.output / ABI))
    script = output_tree.for_javascript([program], [built])[f"lib/{ABI}/{program.library.stem}.mjs"]
    assert isinstance(script, bytes)
    models = {}
    for model, config in zip(program.models, deployment.models, strict=True):
        planned = model_files.planned(model)
        inputs, _ = runs.specs(config)
        models[model.source.name] = {
            "graph": _text(planned.model),
            "data": _text(planned.data),
            "ranges": {tensor.name: list(tensor.value_range) for tensor in inputs},
        }
    return {
        "script": script.decode() + "\nglobalThis.loadLathe = load;\n",
        "wasm": _text(built.shared.read_bytes()),
        "models": models,
    }


def _text(contents: bytes) -> str:
    return base64.b64encode(contents).decode("ascii")
