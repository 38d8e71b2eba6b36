"""`lathe check`: reads a deployment file and opens the models that it names, and reports all problems together."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from buildtool import config, resources
from buildtool.artifacts import build_records, fingerprints
from buildtool.config import Deployment, FileRef, ModelConfig
from buildtool.errors import LatheError, Problem, UnsupportedError
from buildtool.importers.frameworks import companions
from buildtool.reports import descriptions
from buildtool.requests import build_identity, deployments, library_sources, model_sources, quantised, runs
from buildtool.requests.library_sources import Algorithms
from buildtool.settings import DEFAULTS, NOTHING, SILENT, Noted, Options, Overrides, Progress
from buildtool.targets.protocol import FirmwareTarget, Target
from buildtool.targets.registry import not_loaded
from buildtool.workflow import building, firmware
from buildtool.workflow.preparing import PreparedModel, prepare


@dataclass(frozen=True)
class Checked:
    """A deployment without errors, and what its author should know."""

    deployment: Deployment
    notes: tuple[Problem, ...]
    descriptions: tuple[dict[str, Any], ...] = ()  # of the models that a target reads itself, one for each chip

    def as_json(self) -> dict[str, Any]:
        deployment = self.deployment
        return {
            "file": str(deployment.path),
            "library": deployment.library_name,
            "target_abis": list(deployment.target_abis),
            "models": [model.name for model in deployment.models],
            "problems": [],
            "notes": [note.as_json() for note in self.notes],
        }


def check(
    file: Path | str,
    *,
    files: bool = True,
    models: bool = True,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    progress: Progress = SILENT,
) -> Checked:
    """Read a deployment file; with `files`, the local files that it names, and with `models`, what is in them, up to
    the choice of kernels.

    Raises all problems at once; where it raises none, a build can begin.
    """
    began = time.time_ns()
    noted = Noted(progress, passes_on=False)
    written = deployments.deployment_file(Path(file), overrides, noted)
    beside = config.Beside(overrides.weights, overrides.sample, overrides.cnn)
    loaded = config.load_deployment(written, target_abis=overrides.target_abis or None, beside=beside)
    deployment = deployments.with_own_parts(loaded.deployment, overrides)
    checks = _Checks(deployment, options, progress)
    checks.run(files, models)
    notes = (*noted.notes, *not_loaded(), *loaded.notes, *dict.fromkeys(checks.notes))
    checked = Checked(deployment, notes, tuple(checks.descriptions))
    inputs = build_identity.files_read(deployment, options) if files and models else None
    if inputs is not None and not checks.descriptions:
        name = build_records.name_of("check", Path(file), overrides, options)
        build_records.write(name, began, inputs, checks.tools, checked.as_json(), notes)
    return checked


def _is_outline(model: ModelConfig) -> bool:
    """Whether a description is checked without its weights: it cannot be placed, and a note says so."""
    return descriptions.reader_of(model.platform) is not None and model.weight_file is None


class _Checks:
    """The checks of a deployment. What they find is kept, so that the checks that follow still run."""

    def __init__(self, deployment: Deployment, options: Options, progress: Progress) -> None:
        self._deployment = deployment
        self._options = options
        self._progress = Noted(progress, passes_on=False)
        self._errors: list[LatheError] = []
        self._prepared: dict[str, PreparedModel] = {}
        self._files: list[Path] = []
        self.tools: list[Path] = []
        self.descriptions: list[dict[str, Any]] = []  # of the models that a target reads itself

    @property
    def notes(self) -> list[Problem]:
        return self._progress.notes

    def run(self, files: bool, models: bool) -> None:
        """All checks. Raises all problems, each once, as the class of error with the lowest exit code."""
        target: Target | None = None
        if unbuilt := config.unbuilt(self._deployment):
            self._errors.append(UnsupportedError(unbuilt))
        else:
            with self._collect():
                target = deployments.target_of(self._deployment)
        for model in self._deployment.models if files else ():
            resolved = self._resolve(model, models)
            if models and resolved is not None:
                self._progress.stage(f"import {model.name}")
                self._open(model, resolved, target)
        if target is not None and files and models and not self._errors:
            self._begin(target)
        if self._errors:
            first = min(self._errors, key=lambda error: error.exit_code)
            raise type(first)(list(dict.fromkeys(one for error in self._errors for one in error.problems)))

    @contextlib.contextmanager
    def _collect(self) -> Iterator[None]:
        try:
            yield
        except LatheError as error:
            self._errors.append(error)

    def _resolve(self, model: ModelConfig, models: bool) -> dict[FileRef, Path] | None:
        """The verified files of a model; None where one is not there that a build reads.

        Files from the network are fetched only where they are opened.
        """
        read = model.files_to_build()
        resolved: dict[FileRef, Path] = {}
        for reference in model.files():
            if not reference.is_url or (models and reference in read):
                with self._collect():
                    resolved[reference] = config.resolve_model_file(
                        reference, allow_unverified=self._options.allow_unverified
                    )
        return resolved if resolved.keys() >= set(read) else None

    def _open(self, model: ModelConfig, resolved: dict[FileRef, Path], target: Target | None) -> None:
        """Read a model as a build would."""
        if descriptions.reader_of(model.platform) is not None:
            with self._collect():
                described = library_sources.described(model, self._options.allow_unverified)
                documents, notes = descriptions.documents([described], self._deployment.target_abis)
                self.descriptions += documents
                self.notes.extend(notes)
        elif config.is_built("platform", model.platform):
            files = self._read(model, resolved)
            self._files += files
            with self._collect():
                self._once([build_identity.facts(model)], files, lambda: self._prepare(model, target))

    def _prepare(self, model: ModelConfig, target: Target | None) -> None:
        if target is not None and not isinstance(target, FirmwareTarget):
            alone = replace(self._deployment, models=(model,))
            (self._prepared[model.name],) = prepare(alone, self._options, self._progress)
            runs.refuse_unknown_tensors(model, self._prepared[model.name].imported.graph)
        else:  # its target says how it is stored, and prepares it when it is placed
            model_sources.imported(self._deployment, model, self._options)
            quantised.ranges(model, self._options.allow_unverified)

    def _begin(self, target: Target) -> None:
        """All that a build does before it compiles."""
        deployment, options, progress = self._deployment, self._options, self._progress
        facts = [build_identity.facts(deployment), deployment.target_abis]
        with self._collect():
            if isinstance(target, FirmwareTarget):
                firmware.refuse(deployment, target, options)
                if any(map(_is_outline, deployment.models)):
                    return
                self._once(facts, self._files, lambda: firmware.lower(deployment, target, options, progress))
                return
            found = deployments.toolchains_of(deployment)
            self._once(facts, self._files, self._lower)
            self.tools += [path for toolchain in found for path in toolchain.parts()]

    def _lower(self) -> None:
        models = [
            self._prepared.get(model.name)
            or prepare(replace(self._deployment, models=(model,)), self._options, self._progress)[0]
            for model in self._deployment.models
        ]
        building.lower(self._deployment, models, Algorithms(), self._progress)

    def _read(self, model: ModelConfig, resolved: dict[FileRef, Path]) -> list[Path]:
        """The files that a model consists of, but for those whose checksums the deployment names: these are facts."""
        files = [resolved[reference] for reference in model.files_to_build() if not reference.sha256]
        weights = resolved[model.weight_file] if model.weight_file else None
        return [*files, *companions(model.platform, resolved[model.model_file], weights)]

    def _once(self, facts: list[Any], files: list[Path], action: Callable[[], object]) -> None:
        """Run a check, unless it has passed before on the same facts and files; places in files do not count.

        Failures and notes are not kept: they name lines, which change.
        """
        known = ["check", self._options.trust_model_code, *facts]
        key = fingerprints.fingerprint(known, files, self._deployment.op_paths)
        passed = resources.cache_dir() / "checked" / key
        with contextlib.suppress(OSError):  # a cache that cannot be used makes the check slower, not wrong
            if passed.is_file():
                passed.touch()
                return
        before = len(self.notes)
        action()
        with contextlib.suppress(OSError):
            if len(self.notes) == before:
                passed.parent.mkdir(parents=True, exist_ok=True)
                passed.touch()
