"""Reads deployments with what the command line adds, and says where their build goes."""

from __future__ import annotations

import dataclasses
import itertools
import shlex
from pathlib import Path

from buildtool import config
from buildtool.builders.toolchain_file import examine
from buildtool.config import Deployment, ModelConfig
from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.importers.frameworks import platform_of
from buildtool.reports import descriptions
from buildtool.settings import NOTHING, SILENT, Options, Overrides, Progress
from buildtool.targets.protocol import FirmwareTarget, LibraryTarget, Target
from buildtool.targets.registry import no_library, not_loaded, one_target


def refuse_models(file: Path) -> None:
    """ConfigError where a model or another file that is not text is given instead of a deployment file."""
    # YAML includes JSON, which Paddle uses for models, too.
    if file.suffix.lower() in (".yml", ".yaml", ".json") or not file.exists():
        return
    platform, kind = platform_of(file), descriptions.suffixes().get(file.suffix.lower(), "")
    if platform:
        what, remedy = f"a model ({platform})", f"write a deployment file with: lathe init {shlex.quote(str(file))}"
    elif kind:
        what, remedy = f"a {kind}", f"to see its contents: lathe inspect {shlex.quote(str(file))}"
    else:
        return
    raise ConfigError(f"this is {what}, and not a deployment file", where=Where(file=str(file)), remedy=remedy)


def load_deployment(file: Path | str, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Deployment:
    """The deployment with what the command line says. UnsupportedError where it needs what is not built yet."""
    refuse_models(Path(file))
    own = overrides.toolchain is not None
    if overrides.fallback not in ("", "cpu"):
        raise ConfigError(
            f"--fallback cannot be '{overrides.fallback}'",
            rule="layers that the accelerator does not support run on the cpu",
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
    for note in (*not_loaded(), *loaded.notes):
        progress.note(note)
    return with_own_parts(loaded.deployment, overrides)


def with_own_parts(deployment: Deployment, overrides: Overrides) -> Deployment:
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
            f"'{', '.join(names)}' cannot be the name of the target of a toolchain file",
            rule="--toolchain builds for one target, whose name becomes that of a folder",
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
            "this folder contains other files than a build, and a build would replace it",
            where=Where(file=str(folder)),
            remedy="choose another folder with --output",
        )
    return folder


def owner_of(deployment: Deployment, options: Options) -> str:
    """To whom the folder of the cache belongs in which a library is linked."""
    return str(output_folder(deployment, options).absolute())


def selected(deployment: Deployment, name: str | None) -> tuple[ModelConfig, ...]:
    """The models of this name, or all. ConfigError where there is none."""
    found = tuple(model for model in deployment.models if name in (None, model.name, model.identifier))
    if not found:
        names = ", ".join(model.name for model in deployment.models)
        raise ConfigError(f"the library has no model '{name}'", where=deployment.where, rule=f"its models: {names}")
    return found
