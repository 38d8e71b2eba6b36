"""Reads deployments, and says what they ask of each stage in the words of that stage."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from buildtool import config
from buildtool.builders.toolchain_file import examine
from buildtool.codegen.container_writer import Stored
from buildtool.config import Deployment, FileRef, LoadedDeployment, ModelConfig, SubgraphConfig, TensorConfig
from buildtool.errors import ConfigError, LatheError, Problem, UnsupportedError, Where
from buildtool.importers.frameworks import companions, import_model
from buildtool.importers.request import ImportedModel, ImportRequest, TensorRequest
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType, QuantType
from buildtool.ops.registry import registry
from buildtool.plan.algorithms import Times
from buildtool.quant import choice, range_files, weight_files
from buildtool.quant.choice import Choice
from buildtool.quant.ranges import stored_as
from buildtool.reports import depfile, stages, trust, tuning
from buildtool.reports.depfile import FilesRead
from buildtool.reports.tuning import Tuning
from buildtool.settings import NOTHING, SILENT, Options, Overrides, Progress, RunSettings
from buildtool.targets.protocol import (
    DescribedModel,
    DeviceData,
    DeviceSettings,
    FirmwareTarget,
    LibrarySource,
    LibraryTarget,
    ModelSource,
    Target,
)
from buildtool.targets.registry import no_library, one_target
from buildtool.validation.inputs import TensorSpec
from buildtool.validation.metrics import Array
from buildtool.validation.subject import Interpreter, Subject, choose_reference, inputs_for

_SCREEN_MICROSECONDS = 1000
_HALVES = {"fp16_fp32": DType.F16, "fp16_fp16": DType.F16, "bf16_fp32": DType.BF16}
_DTYPES = {
    "float32": DType.F32,
    "float16": DType.F16,
    "bfloat16": DType.BF16,
    "int32": DType.S32,
    "int16": DType.S16,
    "int8": DType.S8,
    "uint8": DType.U8,
}


def check(file: Path | str, *, files: bool = True, overrides: Overrides = NOTHING) -> LoadedDeployment:
    """Read a deployment file; with `files`, the local files that it names, too. Raises all problems at once."""
    beside = config.Beside(overrides.weights, overrides.sample, overrides.cnn)
    loaded = config.load_deployment(Path(file), target_abis=overrides.target_abis or None, beside=beside)
    errors: list[LatheError] = []
    for reference in loaded.deployment.files() if files else ():
        try:
            if not reference.is_url:
                config.resolve_model_file(reference)
        except LatheError as error:
            errors.append(error)
    if errors:
        raise type(errors[0])([problem for error in errors for problem in error.problems])
    return loaded


def load_deployment(file: Path | str, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Deployment:
    """The deployment with what the command line says. UnsupportedError where it needs what is not built yet."""
    own = overrides.toolchain is not None
    if overrides.fallback not in ("", "cpu"):
        raise ConfigError(
            f"--fallback cannot be '{overrides.fallback}'", rule="layers that an accelerator cannot do go to the cpu"
        )
    loaded = config.load_deployment(
        Path(file),
        library_name=overrides.library_name,
        target_abis=("host",) if own else overrides.target_abis or None,
        model_graph_format=overrides.model_graph_format,
        model_data_format=overrides.model_data_format,
        messages=None if overrides.messages is None else int(overrides.messages),
        mace_compat=overrides.mace_compat,
        beside=config.Beside(overrides.weights, overrides.sample, overrides.cnn),
    )
    unbuilt = config.unbuilt(loaded.deployment)
    if unbuilt:
        raise UnsupportedError(unbuilt)
    for note in loaded.notes:
        progress.note(note)
    return _with_own_parts(loaded.deployment, overrides)


def _with_own_parts(deployment: Deployment, overrides: Overrides) -> Deployment:
    """The deployment with the toolchain file and the operators that the command line adds."""
    if overrides.op_paths:
        paths = (*deployment.op_paths, *(path.absolute() for path in overrides.op_paths))
        deployment = dataclasses.replace(deployment, op_paths=tuple(dict.fromkeys(paths)))
    if overrides.fallback:
        deployment = dataclasses.replace(deployment, fallback=overrides.fallback)
    if overrides.toolchain is None:
        return deployment
    names = overrides.target_abis or (overrides.toolchain.stem,)
    if len(names) > 1 or not config.is_file_name(names[0]):
        raise ConfigError(
            f"'{', '.join(names)}' cannot be the name of what a toolchain file builds for",
            rule="--toolchain builds for one target, whose name is that of a folder",
            remedy="give it a name with --abi, for example --abi my-board",
        )
    toolchain = ((names[0], overrides.toolchain.absolute()),)
    return dataclasses.replace(deployment, target_abis=names, abi_marks=(), toolchains=toolchain)


def target_of(deployment: Deployment) -> Target:
    """The one target of a deployment; it knows what the deployment's own toolchains build for."""
    own = dict(deployment.toolchains)
    runtimes = [model.runtime for model in deployment.models]
    pairs = itertools.product(runtimes, ("host" if abi in own else abi for abi in deployment.target_abis))
    target = one_target(pairs, deployment.where_of("target_abis"))
    if not own or isinstance(target, FirmwareTarget):
        return target
    return target.knowing({abi: (file, examine(file, abi).macros) for abi, file in own.items()})


def library_target_of(deployment: Deployment) -> LibraryTarget:
    """The same for what only libraries can do. UnsupportedError where the deployment is one of firmware."""
    target = target_of(deployment)
    if isinstance(target, FirmwareTarget):
        raise no_library(target, deployment.where_of("target_abis"))
    return target


def output_folder(deployment: Deployment, options: Options) -> Path:
    """Where the build goes. ConfigError where that would take the place of something that no build made."""
    folder = options.output / deployment.library_name
    ours = (folder / "report" / "build.json").is_file() and not deployment.path.is_relative_to(folder.absolute())
    if folder.is_dir() and not ours and any(not path.is_dir() for path in folder.rglob("*")):
        raise ConfigError(
            "this folder holds other things than a build, and a build would take its place",
            where=Where(file=str(folder)),
            remedy="choose another folder with --output",
        )
    return folder


def owner_of(deployment: Deployment, options: Options) -> str:
    """To whom the folder of the cache belongs in which a library is linked."""
    return str(output_folder(deployment, options).absolute())


def inputs_of(deployment: Deployment, options: Options, read: FilesRead) -> list[Path]:
    """The files and folders that a build was made from, of which `read` has seen all that it read."""
    files = [file for model in deployment.models for file in all_files(model, options.allow_unverified)]
    files += [deployment.path, *(file for _, file in deployment.toolchains)]
    folders = [*(file.parent for file in files), *deployment.op_paths]
    files += [*read.below(folders, but=options.output), *depfile.folders_of_operators(deployment.op_paths)]
    return [*files, *depfile.files_of_lathe()]


def subgraph(model: ModelConfig) -> SubgraphConfig:
    """The one subgraph of a model. UnsupportedError where there are several."""
    if len(model.subgraphs) > 1:
        raise UnsupportedError(
            f"the model '{model.name}' has {len(model.subgraphs)} subgraphs; this version builds one",
            where=model.subgraphs[1].where,
            remedy="make a model of each subgraph",
        )
    return model.subgraphs[0]


def model_files(model: ModelConfig, allow_unverified: bool = False) -> tuple[Path, Path | None]:
    """The verified files of a model: the model itself, and its weights where they are apart."""
    fetch = functools.partial(config.resolve_model_file, allow_unverified=allow_unverified)
    return fetch(model.model_file), fetch(model.weight_file) if model.weight_file else None


def all_files(model: ModelConfig, allow_unverified: bool = False) -> tuple[Path, ...]:
    """Those files, what belongs to them without being named, and the ranges: the model itself is the first."""
    file, weights = model_files(model, allow_unverified)
    beside = [found for found in (model.quantize.range_file, model.quantize.weights_file) if found]
    narrowing = [fetched(found, allow_unverified) for found in beside]
    return (file, *([weights] if weights else []), *companions(model.platform, file, weights), *narrowing)


def fetched(file: FileRef, allow_unverified: bool = False) -> Path:
    """A verified file that a deployment names."""
    return config.resolve_model_file(file, allow_unverified=allow_unverified)


def recorded(model: ModelConfig, allow_unverified: bool = False) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The files of inputs and outputs that the deployment names for validation."""
    graph, fetch = subgraph(model), functools.partial(config.resolve_model_file, allow_unverified=allow_unverified)
    return tuple(map(fetch, graph.validation_inputs_data)), tuple(map(fetch, graph.validation_outputs_data))


def imported(deployment: Deployment, model: ModelConfig, options: Options) -> tuple[Path, ImportedModel]:
    """The verified file of a model, and its graph under the names that users see."""
    file, weights = model_files(model, options.allow_unverified)
    found = import_model(model.platform, import_request(model, file, weights, registry(deployment.op_paths)))
    name_borders(found.graph, model)
    return file, found


def run_of(model: ModelConfig, options: Options, settings: RunSettings) -> tuple[Mapping[str, Array], list[str]]:
    """The inputs of a run by name, and the names of its outputs."""
    inputs, outputs = specs(model)
    data, _ = recorded(model, options.allow_unverified)
    return inputs_for(inputs, settings.inputs, data, settings.seed), [output.name for output in outputs]


def subject(
    deployment: Deployment, model: ModelConfig, options: Options, settings: RunSettings, progress: Progress
) -> Subject:
    """The model with its inputs and what the reference makes of them."""
    progress.stage(f"reference of {model.name}")
    for note in not_compared(model):
        progress.note(note)
    source, found = imported(deployment, model, options)
    inputs, outputs = specs(model, found.source_formats)
    recorded_inputs, recorded_outputs = recorded(model, options.allow_unverified)
    data = inputs_for(inputs, settings.inputs, recorded_inputs, settings.seed)
    files = () if settings.inputs else recorded_outputs  # they belong to the recorded inputs
    elsewhere = None
    if settings.reference_python is not None:
        _, weights = model_files(model, options.allow_unverified)
        elsewhere = Interpreter(settings.reference_python, weights, settings.timeout)
    reference = choose_reference(
        settings.reference, model.platform, source, found.graph, inputs, outputs, files, elsewhere
    )
    channels = {output.name: 1 for output in outputs if output.data_format == "NCHW"}
    return Subject(model.identifier, data, reference.run(data), reference.name, threshold(model), channels)


def import_request(
    model: ModelConfig, file: Path, weights: Path | None, operators: Mapping[str, type[Operator]]
) -> ImportRequest:
    """Which part of which file to import."""
    graph = subgraph(model)
    return ImportRequest(
        name=model.identifier,
        model_file=file,
        weight_file=weights,
        inputs=tuple(_tensor_request(tensor) for tensor in graph.inputs),
        outputs=tuple(_tensor_request(tensor) for tensor in graph.outputs),
        operators=operators,
    )


def _tensor_request(tensor: TensorConfig) -> TensorRequest:
    return TensorRequest(
        name=tensor.name,
        shape=tensor.shape,
        data_format=tensor.data_format,
        dtype=_DTYPES[tensor.data_type],
        where=tensor.shape_where,
    )


def name_borders(graph: Graph, model: ModelConfig) -> None:
    """Give the graph's inputs and outputs the names that users see; the names of the source stay known."""
    borders = subgraph(model)
    pairs = [*zip(graph.inputs, borders.inputs, strict=True), *zip(graph.outputs, borders.outputs, strict=True)]
    wanted = {tensor.alias for _, tensor in pairs if tensor.alias != tensor.name}
    for value in graph.values():
        if value.name in wanted:
            value.name = graph.fresh_name(value.name)
    for value, tensor in pairs:
        if tensor.alias != tensor.name:
            value.name = tensor.alias


def ranges(model: ModelConfig, allow_unverified: bool = False) -> dict[str, QuantType]:
    """How tensors are stored, as the model's range file says."""
    file = model.quantize.range_file
    if file is None:
        return {}
    found = range_files.read(fetched(file, allow_unverified))
    return {name: stored_as(low, high) for name, (low, high) in found.items()}


def change_weights(model: ModelConfig, graph: Graph, allow_unverified: bool = False) -> None:
    """Give an optimised graph the weights that the deployment names for few bits."""
    if model.quantize.weights_file is not None:
        file = fetched(model.quantize.weights_file, allow_unverified)
        weight_files.apply(graph, weight_files.read(file), file, choice.real(graph, choice_of(model)))


def choice_of(model: ModelConfig) -> Choice:
    """Which nodes are stored in a few bits, as far as the deployment says so."""
    return Choice(model.quantize.operators, model.quantize.keep_float)


def check_choice(model: ModelConfig, graph: Graph, operators: Collection[str]) -> None:
    """ConfigError where the deployment names layers or operators that there are not."""
    problems = [
        Problem(
            f"'{word}' in '{key}' is no operator and no layer of the model",
            model.where_of(key),
            rule="`lathe inspect ops` lists operators; layers are what the passes leave, and `lathe quantize "
            "--sensitivity` lists them",
            remedy=f"did you mean '{near}'?" if near else "",
        )
        for key, word, near in choice.unknown(graph, choice_of(model), operators)
    ]
    if problems:
        raise ConfigError(problems)


def source_names(model: ModelConfig) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the inputs and outputs of a model are called in its source."""
    borders = subgraph(model)
    return tuple(tensor.name for tensor in borders.inputs), tuple(tensor.name for tensor in borders.outputs)


def library_source(
    deployment: Deployment,
    models: Mapping[str, tuple[ImportedModel, Graph]],
    algorithms: Algorithms,
    allow_unverified: bool = False,
) -> LibrarySource:
    """What the targets make a library from; `models`: what was imported and what the passes made of it, by name.

    Models that are not among them are for the target to read.
    """
    return LibrarySource(
        name=deployment.library_name,
        identifier=deployment.library_identifier,
        models=tuple(
            ModelSource(
                name=model.identifier,
                graph=models[model.name][1],
                stored=Stored(_HALVES.get(model.data_type), model.quantize.large_weights),
                half_arithmetic=model.data_type == "fp16_fp16" and not _has_device(model),
                quantised=model.quantize.enabled,
                choice=choice_of(model),
                winograd=model.winograd,
                measured=algorithms.measured.get(model.identifier, {}),
                everywhere=algorithms.everywhere,
                passes=tuple(model.graph_optimize_options) or None,
                obscured=model.obfuscate,
                input_formats=models[model.name][0].input_formats,
                output_formats=models[model.name][0].output_formats,
                settings=dict(model.cnn),
                device=device_settings(model),
            )
            for model in deployment.models
            if model.name in models
        ),
        graph_in_library=deployment.model_graph_format == "code",
        data_in_library=deployment.model_data_format == "code",
        op_paths=deployment.op_paths,
        messages=deployment.messages,
        mace_headers=deployment.mace_compat != "0",
        file_name="mace" if deployment.mace_compat == "1" else "",
        described=tuple(described(model, allow_unverified) for model in deployment.models if model.name not in models),
        fallback=deployment.fallback,
        device_data=algorithms.device_data if deployment.model_graph_format == "code" else {},
    )


def device_settings(model: ModelConfig) -> DeviceSettings:
    """What the deployment says of the GPU. A kernel of a millisecond is what screens can wait for."""
    limit = _SCREEN_MICROSECONDS if model.opencl.limit_kernel_time else 0
    arithmetic = "f16" if model.data_type == "fp16_fp16" else "f32"
    return DeviceSettings(model.runtime, model.opencl.mem_type, arithmetic, model.opencl.queue_window_size, limit)


def _has_device(model: ModelConfig) -> bool:
    """Whether precision is a matter of the GPU: the CPU beside it computes in single precision."""
    return model.runtime in ("gpu", "cpu+gpu")


def described(model: ModelConfig, allow_unverified: bool = False) -> DescribedModel:
    """A model that a target reads itself."""
    file, weights = model_files(model, allow_unverified)
    inputs, outputs = recorded(model, allow_unverified)
    settings = dict(model.cnn)
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


def specs(
    model: ModelConfig, source_formats: Mapping[str, str] | None = None
) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Inputs and outputs for runs, at the upper bounds of sizes that may vary."""
    borders, known = subgraph(model), source_formats or {}
    return (
        tuple(_spec(tensor, known.get(tensor.name, "")) for tensor in borders.inputs),
        tuple(_spec(tensor, known.get(tensor.name, "")) for tensor in borders.outputs),
    )


def _spec(tensor: TensorConfig, source_format: str) -> TensorSpec:
    return TensorSpec(
        name=tensor.alias,
        shape=tuple(size if isinstance(size, int) else size[1] for size in tensor.shape),
        dtype=_DTYPES[tensor.data_type],
        data_format=tensor.data_format if len(tensor.shape) == 4 else "NONE",
        value_range=tensor.value_range,
        source_name=tensor.name,
        source_format=source_format,
        least=tuple(size if isinstance(size, int) else size[0] for size in tensor.shape) if tensor.is_bounded else (),
    )


def selected(deployment: Deployment, name: str | None) -> tuple[ModelConfig, ...]:
    """The models of this name, or all. ConfigError where there is none."""
    found = tuple(model for model in deployment.models if name in (None, model.name, model.identifier))
    if not found:
        names = ", ".join(model.name for model in deployment.models)
        raise ConfigError(f"the library has no model '{name}'", where=deployment.where, rule=f"its models: {names}")
    return found


def not_compared(model: ModelConfig) -> tuple[Problem, ...]:
    """What the deployment wants validated that a comparison of outputs does not look at."""
    graph = subgraph(model)
    wishes = (
        ("check_tensors", graph.check_tensors, "lathe validate --layers compares all tensors"),
        ("accuracy_validation_script", graph.accuracy_validation_script, "lathe validate --accuracy runs it"),
    )
    return tuple(
        Problem(f"'{key}' is not looked at: only the outputs are compared", model.where_of(key), remedy=remedy)
        for key, wish, remedy in wishes
        if wish
    )


def threshold(model: ModelConfig) -> float:
    """The cosine similarity that the model's outputs must reach on its runtime."""
    value: float = getattr(subgraph(model).validation_threshold, model.runtime.partition("+")[0])
    return value


def known_tuning(deployment: Deployment, options: Options) -> Tuning:
    """What was measured of these very things in the folder where the build goes; its identity is that of the build."""
    files = [file for model in deployment.models for file in all_files(model, options.allow_unverified)]
    fingerprint = stages.fingerprint(facts(deployment), files, deployment.op_paths)
    return tuning.read(output_folder(deployment, options), fingerprint)


def origin(deployment: Deployment, options: Options, fingerprint: str) -> trust.Origin:
    """Where a library of this deployment comes from."""
    models = [all_files(model, options.allow_unverified) for model in deployment.models]
    inputs = trust.inputs_of(deployment.path, models, deployment.op_paths)
    return trust.Origin(deployment.library_name, stages.version(), fingerprint, tuple(inputs))


# Places say nothing about what is built. ABIs are compared one by one, so that a build for more of them serves fewer.
_NOT_FACTS = frozenset({"marks", "abi_marks", "target_abis", "toolchains"})


def facts(item: Any) -> Any:
    """A deployment as plain data without places: what is built depends on it, and it is the same in every folder."""
    if isinstance(item, FileRef):
        return item.sha256
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = [field.name for field in dataclasses.fields(item) if field.name not in _NOT_FACTS]
        values = {name: getattr(item, name) for name in fields}
        return {name: facts(value) for name, value in values.items() if not isinstance(value, Where | Path)}
    if isinstance(item, tuple | list):
        return [facts(part) for part in item if not isinstance(part, Where | Path)]
    return item
