"""`lathe check`: reads a deployment file and opens the models that it names, and reports all problems together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtool import config
from buildtool.artifacts import fingerprints
from buildtool.config import Deployment, FileRef, ModelConfig
from buildtool.errors import LatheError, Problem, UnsupportedError
from buildtool.importers.frameworks import companions
from buildtool.reports import descriptions
from buildtool.requests import build_identity, deployments, library_sources, model_sources, quantised
from buildtool.settings import DEFAULTS, NOTHING, SILENT, Options, Overrides, Progress
from buildtool.targets.registry import not_loaded


@dataclass(frozen=True)
class Checked:
    """A deployment without errors, and what its author should know."""

    deployment: Deployment
    notes: tuple[Problem, ...]
    descriptions: tuple[dict[str, Any], ...] = ()  # of the models that a target reads itself, one for each chip


@dataclass
class _Findings:
    """What the checks of all models have found so far."""

    errors: list[LatheError] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    descriptions: list[dict[str, Any]] = field(default_factory=list)

    @contextlib.contextmanager
    def collect(self) -> Iterator[None]:
        """Keep an error for the end, so that the checks that follow still run."""
        try:
            yield
        except LatheError as error:
            self.errors.append(error)

    def raise_all(self) -> None:
        """All problems, each once, as the class of error with the lowest exit code."""
        if self.errors:
            first = min(self.errors, key=lambda error: error.exit_code)
            raise type(first)(list(dict.fromkeys(one for error in self.errors for one in error.problems)))


def check(
    file: Path | str,
    *,
    files: bool = True,
    models: bool = True,
    overrides: Overrides = NOTHING,
    options: Options = DEFAULTS,
    progress: Progress = SILENT,
) -> Checked:
    """Read a deployment file; with `files`, the local files that it names, and with `models`, what is in them.

    Raises all problems at once; where it raises none, a build can begin.
    """
    deployments.refuse_models(Path(file))
    beside = config.Beside(overrides.weights, overrides.sample, overrides.cnn)
    loaded = config.load_deployment(Path(file), target_abis=overrides.target_abis or None, beside=beside)
    deployment = deployments.with_own_parts(loaded.deployment, overrides)
    found = _Findings()
    unbuilt = config.unbuilt(deployment)
    if unbuilt:
        found.errors.append(UnsupportedError(unbuilt))
    else:
        with found.collect():
            deployments.target_of(deployment)
    for model in deployment.models if files else ():
        resolved = _resolve(model, models, options, found)
        if models and resolved is not None:
            progress.stage(f"import {model.name}")
            _open(deployment, model, resolved, options, found)
    found.raise_all()
    notes = (*not_loaded(), *loaded.notes, *dict.fromkeys(found.notes))
    return Checked(deployment, notes, tuple(found.descriptions))


def _resolve(model: ModelConfig, models: bool, options: Options, found: _Findings) -> dict[FileRef, Path] | None:
    """The verified files of a model; None where one is not there that a build reads.

    Files from the network are fetched only where they are opened.
    """
    read = model.files_to_build()
    resolved: dict[FileRef, Path] = {}
    for reference in model.files():
        if not reference.is_url or (models and reference in read):
            with found.collect():
                resolved[reference] = config.resolve_model_file(reference, allow_unverified=options.allow_unverified)
    return resolved if resolved.keys() >= set(read) else None


def _open(
    deployment: Deployment, model: ModelConfig, resolved: dict[FileRef, Path], options: Options, found: _Findings
) -> None:
    """Read a model as a build would."""
    if descriptions.reader_of(model.platform) is not None:
        with found.collect():
            described = library_sources.described(model, options.allow_unverified)
            documents, notes = descriptions.documents([described], deployment.target_abis)
            found.descriptions += documents
            found.notes += notes
    elif config.is_built("platform", model.platform):
        with found.collect():
            _once(_key(deployment, model, resolved, options), lambda: _import(deployment, model, options))


def _import(deployment: Deployment, model: ModelConfig, options: Options) -> None:
    model_sources.imported(deployment, model, options)
    quantised.ranges(model, options.allow_unverified)


def _key(deployment: Deployment, model: ModelConfig, resolved: dict[FileRef, Path], options: Options) -> str:
    """What decides whether a model can be imported; places in files do not."""
    facts = ["check", build_identity.facts(model), options.trust_model_code]
    # The facts hold the checksums that the deployment names, and these are verified.
    files = [resolved[reference] for reference in model.files_to_build() if not reference.sha256]
    weights = resolved[model.weight_file] if model.weight_file else None
    beside = companions(model.platform, resolved[model.model_file], weights)
    return fingerprints.fingerprint(facts, [*files, *beside], deployment.op_paths)


def _once(key: str, action: Callable[[], None]) -> None:
    """Run a check, unless it has passed before. Failures are not kept: they name lines, which change."""
    passed = config.default_cache_dir() / "checked" / key
    with contextlib.suppress(OSError):  # a cache that cannot be used makes the check slower, not wrong
        if passed.is_file():
            passed.touch()
            return
    action()
    with contextlib.suppress(OSError):
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()
