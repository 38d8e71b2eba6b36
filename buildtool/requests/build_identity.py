"""What identifies a build: its facts, without places, and what was measured of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from buildtool.artifacts import bill_of_materials, fingerprints, tuning_store
from buildtool.artifacts.tuning_store import Tuning
from buildtool.config import Deployment, FileRef
from buildtool.errors import Where
from buildtool.extensions.entry_points import of_others
from buildtool.requests.deployments import output_folder
from buildtool.requests.model_sources import all_files
from buildtool.settings import Options


def files_read(deployment: Deployment, options: Options) -> list[Path] | None:
    """Every file and folder that decides what a build makes. None where what decides is not in files."""
    references = [file for model in deployment.models for file in model.files()]
    if deployment.toolchains or any(file.is_url and not file.sha256 for file in references):
        return None
    found = [deployment.path, *(file for model in deployment.models for file in all_files(model))]
    found += [file.path for file in references if not file.is_url]
    folders = [*deployment.op_paths, *(path for one in of_others() if (path := one.sources()) is not None)]
    for folder in (*folders, *(file for file in found if file.is_dir())):
        found += [folder, *(path for path in folder.rglob("*") if "__pycache__" not in path.parts)]
    return found


def known_tuning(deployment: Deployment, options: Options) -> Tuning:
    """What was measured of these very things in the folder where the build goes; its identity is that of the build."""
    files = [file for model in deployment.models for file in all_files(model, options.allow_unverified)]
    others = of_others()
    known = [facts(deployment), *((one.package, one.version, one.name) for one in others)]
    sources = {path for one in others if (path := one.sources()) is not None}
    files += sorted(path for path in sources if path.is_file())
    folders = (*deployment.op_paths, *sorted(path for path in sources if path.is_dir()))
    fingerprint = fingerprints.fingerprint(known if others else facts(deployment), files, folders)
    return tuning_store.read(output_folder(deployment, options), fingerprint)


def origin(deployment: Deployment, options: Options, fingerprint: str) -> bill_of_materials.Origin:
    """Where a library of this deployment comes from."""
    models = [all_files(model, options.allow_unverified) for model in deployment.models]
    inputs = bill_of_materials.inputs_of(deployment.path, models, deployment.op_paths)
    return bill_of_materials.Origin(deployment.library_name, fingerprints.version(), fingerprint, tuple(inputs))


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
