"""What happens inside of a network: `validate --layers`, `run --dump` and `run --trap-nan`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.builders import package
from buildtool.codegen import container
from buildtool.config import Deployment, ModelConfig
from buildtool.devices.choose import devices_for
from buildtool.devices.runner import HOST_COPY, RunResult, notes_on_gpu
from buildtool.errors import Problem, RunError, Where
from buildtool.importers.request import ImportedModel
from buildtool.ir.flattened import flatten
from buildtool.ir.graph import Value
from buildtool.ops.device_region import DeviceRegion
from buildtool.ops.registry import registry
from buildtool.plan import manifest
from buildtool.reports import build_page
from buildtool.reports import layers as report
from buildtool.reports.documents import BuildReport
from buildtool.requests import build_identity, deployments, frames, model_sources, runs
from buildtool.requests.deployments import load_deployment
from buildtool.requests.library_sources import Algorithms
from buildtool.running.library_on_device import LibraryOnDevice
from buildtool.running.metrics import Array
from buildtool.running.model_under_test import Interpreter, quantises_as_it_runs
from buildtool.running.recorded_values import Names, Values, file_name
from buildtool.settings import DEFAULTS, EVERYTHING, NOTHING, SILENT, Options, Overrides, Progress, RunSettings
from buildtool.targets.protocol import PlannedModel
from buildtool.validation.layers import Layer, Network, Verdict, compare_layers, judge
from buildtool.validation.search import Search
from buildtool.validation.source_tensors import SourceModel
from buildtool.validation.trap import spring
from buildtool.workflow import on_simulator
from buildtool.workflow.building import lower, up_to_date
from buildtool.workflow.preparing import prepare

ALL = slice(None)


_AMPLIFIED = 0.9  # the cosine below which a tensor is another one, where last bits decide which step numbers take


@dataclass(frozen=True)
class Opened:
    """A model of a library on a device, with what its graph should be."""

    stand: LibraryOnDevice
    abi: str
    model: ModelConfig
    planned: PlannedModel
    imported: ImportedModel
    file: Path  # the source model
    inputs: Mapping[str, Array]
    outputs: Sequence[str]
    folder: Path  # for a while

    @property
    def name(self) -> str:
        return self.model.identifier

    @property
    def place(self) -> str:
        """A part of a path: which run this is."""
        return f"{self.abi}/{self.name}"

    def values(self, names: Sequence[str] = ()) -> tuple[RunResult, Values]:
        return self.stand.values(self.name, self.inputs, self.outputs, self.folder / "values.bin", names)

    def network(self, deployment: Deployment, result: RunResult | None) -> Network:
        """What the library should compute: with the weights as they should be stored, wherever they are now."""
        source = self.planned.source
        stored = container.write(source.graph, name=source.name, stored=source.stored, plan=self.planned.plan)
        graph, _ = container.read(stored.model, stored.data, registry(deployment.op_paths))
        flatten(graph, DeviceRegion.name)
        tolerances = {info.name: (info.rtol, info.atol) for info in manifest.load(deployment.op_paths)}
        nodes = [] if result is None else sorted(result.nodes, key=lambda node: node.kernel != HOST_COPY)
        ran = {(node.name, node.op): node.kernel for node in nodes}  # a kernel rather than the copy beside it
        return Network(graph, Names(self.planned.names), ran, tolerances)


def opened_models(
    deployment: Deployment, built: BuildReport, options: Options, settings: RunSettings, progress: Progress
) -> Iterator[Opened]:
    """Every model on every ABI and device, in the order of the deployment."""
    models = prepare(deployment, options, progress)
    tuned = build_identity.known_tuning(deployment, options)
    _, programs = lower(deployment, models, Algorithms(tuned.times()), progress)
    chosen = {model.identifier for model in deployments.selected(deployment, settings.model)}
    for program in programs:
        for device in devices_for(program.abi, settings.on_chips(deployment.target_socs)):
            with LibraryOnDevice(built, program.abi, "shared", settings, device) as stand:
                for model, planned in zip(models, program.models, strict=True):
                    if model.config.identifier not in chosen:
                        continue
                    inputs, outputs = runs.run_of(model.config, options, settings)
                    with tempfile.TemporaryDirectory(prefix="lathe-values-") as folder:
                        yield Opened(
                            stand, program.abi, model.config, planned, model.imported, model.file, inputs, outputs,
                            Path(folder),
                        )  # fmt: skip


def validate_layers(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    *,
    which: slice = ALL,
    search: bool = False,
) -> report.LayersReport:
    """Compare what every node computed (`which`: of these nodes, by their number), and name the first that diverges.

    `search` finds that one by halving instead.
    """
    deployment = load_deployment(file, overrides, progress)
    built = up_to_date(deployment, options, progress)
    found: list[dict[str, Any]] = []
    for opened in opened_models(deployment, built, options, settings, progress):
        progress.stage(f"layers of {opened.name} on {opened.abi}, {opened.stand.device.name}")
        entry = {"model": opened.name, "abi": opened.abi, "device": opened.stand.device.name}
        searched = _searched(deployment, opened, options, settings) if search else None
        if searched is None:
            searched = _compared(deployment, opened, options, settings, which)
        found.append({**entry, **searched})
        for note in notes_on_gpu(searched.get("gpu", {}), f"{opened.stand.device.name} ({opened.abi})"):
            progress.note(note)
    result = report.LayersReport(built.library, built.folder, tuple(found))
    for path, contents in result.files().items():
        package.write_file(path, contents)
    build_page.refresh(built.folder)
    return result


def _compared(
    deployment: Deployment, opened: Opened, options: Options, settings: RunSettings, which: slice
) -> dict[str, Any]:
    """Every layer."""
    plain = opened.stand.run(opened.name, opened.inputs, opened.outputs)
    kept, values = opened.values()
    network = opened.network(deployment, kept)
    source, who = source_tensors(opened, options, settings, network, list(network.graph.values()))
    wanted = set(range(len(network.graph.nodes))[which])
    everything = compare_layers(network, opened.inputs, values, source, who)
    layers = [layer for layer in everything if layer.index in wanted]
    threshold = runs.threshold(opened.model)
    if quantises_as_it_runs(network.graph):
        threshold = min(threshold, _AMPLIFIED)
    verdict = judge(layers, threshold, kept.outputs, plain.outputs)
    return _entry(who, verdict, layers, kept)


def _entry(who: str, verdict: Verdict, layers: Sequence[Layer], ran: RunResult) -> dict[str, Any]:
    first = verdict.as_json()
    entry = {"reference": who, "passed": first is None, "first": first, "layers": [layer.as_json() for layer in layers]}
    return {**entry, **({"gpu": dict(ran.gpu)} if ran.gpu else {})}


def _searched(deployment: Deployment, opened: Opened, options: Options, settings: RunSettings) -> dict[str, Any] | None:
    """The first divergence by halving; None where it cannot be found like that."""
    kept, _ = opened.values(opened.outputs)
    network = opened.network(deployment, kept)
    whose: list[str] = ["numpy"]

    def source(values: Sequence[Value]) -> Mapping[str, Array]:
        tensors, who = source_tensors(opened, options, settings, network, values)
        whose[0] = who if tensors else whose[0]
        return tensors

    search = Search(network, opened.inputs, lambda names: opened.values(names)[1], source)
    node = search.first()
    if node is not None and not search.guilty(node):
        return None
    facts = {"probes": search.probes, "most_held": search.most_held, "nodes": len(network.graph.nodes)}
    if node is None:
        return {**_entry(whose[0], Verdict(None), (), kept), "search": facts}
    name, kernel = network.names.of_node(node), network.kernel_of(node)
    known = (*network.names.of_value(node.outputs[0]), node.outputs[0].name)
    what = f"{node.op.name} of node '{name}' ({kernel}): its result for its operands is incorrect"
    index = network.graph.nodes.index(node)
    first = {"index": index, "node": name, "op": node.op.name, "value": known[0], "what": what}
    return {**_entry(whose[0], Verdict(None), (), kept), "passed": False, "first": first, "search": facts}


def source_tensors(
    opened: Opened, options: Options, settings: RunSettings, network: Network, values: Sequence[Value]
) -> tuple[dict[str, Array], str]:
    """What the source framework has in the places of these values."""
    inputs, _ = runs.specs(frames.without(opened.model), opened.imported.source_formats)
    elsewhere = None
    if settings.reference_python is not None:
        _, weights = model_sources.model_files(opened.model, options.allow_unverified)
        elsewhere = Interpreter(settings.reference_python, weights, settings.timeout, options.trust_model_code)
    model = SourceModel(settings.reference, opened.model.platform, opened.file, inputs, elsewhere)
    wanted = {
        name: value.type.dtype
        for value in values
        if value.constant is None and value not in network.graph.inputs
        for name in network.names.of_value(value)
    }
    return model.tensors(wanted, frames.converted(opened.model, opened.inputs))


def dump(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
    *,
    folder: Path,
) -> tuple[Path, ...]:
    """Write what every node computed as `<folder>/<abi>/<model>/<number>_<value>.npy`, and values.json that tells.

    Of a chip that is simulated: what every layer puts out, as text.
    """
    written: list[Path] = []
    deployment = load_deployment(file, overrides, progress)
    if target := on_simulator.simulated(deployment):
        return on_simulator.dump(deployment, target, options, settings, progress, folder)
    built = up_to_date(deployment, options, progress)
    for opened in opened_models(deployment, built, options, settings, progress):
        progress.stage(f"values of {opened.name} on {opened.abi}, {opened.stand.device.name}")
        result, values = opened.values()
        network = opened.network(deployment, result)
        place = folder / opened.place
        place.mkdir(parents=True, exist_ok=True)
        makers = {value.name: (node, value) for node in network.graph.nodes for value in node.outputs}
        index: list[dict[str, Any]] = []
        for number, (name, array) in enumerate(values.items()):
            np.save(place / file_name(number, name), array)
            node, value = makers.get(name, (None, None))
            index.append(
                {
                    "file": file_name(number, name),
                    "value": name,
                    "shape": list(array.shape),
                    "dtype": str(array.dtype),
                    "node": "" if node is None else network.names.of_node(node),
                    "op": "" if node is None else node.op.name,
                    "kernel": "" if node is None else network.kernel_of(node),
                    "source_names": [] if value is None else list(network.names.of_value(value)),
                }
            )
        package.write_file(place / "values.json", (json.dumps(index, indent=1) + "\n").encode())
        written.append(place)
    return tuple(written)


def trap(
    file: Path | str,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    settings: RunSettings = EVERYTHING,
    progress: Progress = SILENT,
) -> None:
    """RunError that names the first node of each model which makes NaN or infinite numbers of finite ones."""
    problems: list[Problem] = []
    deployment = load_deployment(file, overrides, progress)
    built = up_to_date(deployment, options, progress)
    for opened in opened_models(deployment, built, options, settings, progress):
        progress.stage(f"trap of {opened.name} on {opened.abi}, {opened.stand.device.name}")
        result, values = opened.values()
        network = opened.network(deployment, result)
        caught = spring(network.graph, network.names, opened.inputs, values)
        if caught is not None:
            where = Where(model=opened.name, node=caught.node, value=caught.value)
            remedy = "inspect its operands: lathe run --dump FOLDER"
            problems.append(Problem(str(caught), where, f"on {opened.abi}, {opened.stand.device.name}", remedy))
    if problems:
        raise RunError(problems)
