"""Reads deployments with what the command line adds, and says where their build goes."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import shlex
from pathlib import Path

from buildtool import config, resources
from buildtool.builders import library
from buildtool.builders.package import write_file
from buildtool.builders.toolchain import Toolchain
from buildtool.builders.toolchain_file import examine
from buildtool.config import Deployment, ModelConfig
from buildtool.drafts import deployment as draft
from buildtool.errors import ConfigError, Problem, ToolchainError, UnsupportedError, Where
from buildtool.importers.frameworks import platform_of
from buildtool.importers.recognition import Content, folder, recognise
from buildtool.reports import descriptions
from buildtool.settings import NOTHING, SILENT, Options, Overrides, Progress
from buildtool.targets.protocol import FirmwareTarget, LibraryTarget, Target
from buildtool.targets.registry import no_library, not_loaded, one_target
from buildtool.wording import did_you_mean

_TEXTS = (".yml", ".yaml", ".json")


def refuse_models(file: Path) -> None:
    """ConfigError where a model or another file that is not text is given instead of a deployment file."""
    ending, platform = file.suffix.lower(), _platform(file)
    kind = "" if ending in _TEXTS else descriptions.suffixes().get(ending, "")  # which loads all targets
    if platform:
        what, remedy = f"a model ({platform})", f"write a deployment file with: lathe init {shlex.quote(str(file))}"
    elif kind and file.exists():
        what, remedy = f"a {kind}", f"to see its contents: lathe inspect {shlex.quote(str(file))}"
    elif (content := _other(file)) is not None:
        what, remedy = content.what, content.remedy
    else:
        return
    raise ConfigError(f"this is {what}, and not a deployment file", where=Where(file=str(file)), remedy=remedy)


def _other(file: Path) -> Content | None:
    """What a file or folder is that is neither a model nor text: an archive, a page, a checkpoint."""
    if file.is_dir():
        return folder(file)
    found = recognise(file) if file.is_file() else None
    return found if found is not None and not found.platform else None


def _platform(file: Path) -> str:
    """What imports a file that is given as a deployment file; empty where it is none of a model."""
    if file.suffix.lower() in (".yml", ".yaml") or not file.exists():
        return ""
    # JSON is YAML, too, and Paddle writes models so.
    known = recognise(file) if file.suffix.lower() == ".json" else True
    return platform_of(file) if known else ""


def deployment_file(file: Path, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Path:
    """The file itself; for a model, a deployment file in the cache as `lathe init` would write it, with a note."""
    platform = _platform(file)
    if not platform:
        refuse_models(file)
        return file
    beside = [path for path in (file.with_suffix(".yml"), file.with_suffix(".yaml")) if path.is_file()]
    if beside:
        raise ConfigError(
            f"this is a model ({platform}), and {beside[0].name} beside it may describe it",
            where=Where(file=str(file)),
            remedy=f"give {shlex.quote(str(beside[0]))} instead, or write another one: lathe init",
        )
    abis = ("host",) if overrides.toolchains else overrides.target_abis or ("host",)
    key = hashlib.sha256(repr((file.absolute(), abis)).encode()).hexdigest()[:16]
    target = resources.cache_dir() / "drafts" / key / f"{file.resolve().stem}.yml"
    text = draft.write(
        [file], relative_to=target.parent, target_abis=abis, op_paths=overrides.op_paths, note=progress.note
    )
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        write_file(target, text.encode())
    what = f"this is a model ({platform}); it is used as `lathe init` would describe it"
    remedy = f"to change anything: lathe init {shlex.quote(str(file))}"
    progress.note(Problem(what, Where(file=str(file)), remedy=remedy))
    return target


def load_written(file: Path | str, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Deployment:
    """`load_deployment` for commands whose results belong to a deployment file: ConfigError for a model."""
    refuse_models(Path(file))
    return load_deployment(file, overrides, progress)


def load_deployment(file: Path | str, overrides: Overrides = NOTHING, progress: Progress = SILENT) -> Deployment:
    """The deployment with what the command line says. UnsupportedError where it needs what is not built yet."""
    file = deployment_file(Path(file), overrides, progress)
    own = bool(overrides.toolchains)
    if overrides.fallback not in ("", "cpu"):
        raise ConfigError(
            f"--fallback cannot be '{overrides.fallback}'",
            rule="layers that the accelerator does not support run on the cpu",
        )
    loaded = config.load_deployment(
        file,
        library_name=overrides.library_name,
        target_abis=("host",) if own else overrides.target_abis or None,
        model_graph_format=overrides.model_graph_format,
        model_data_format=overrides.model_data_format,
        messages=None if overrides.messages is None else int(overrides.messages),
        mace_compat=overrides.mace_compat,
        paddle_compat=overrides.paddle_compat,
        all_ops=None if overrides.all_ops is None else int(overrides.all_ops),
        runtime=overrides.runtime,
        beside=config.Beside(overrides.weights, overrides.sample, overrides.cnn),
    )
    unbuilt = config.unbuilt(loaded.deployment)
    if unbuilt:
        raise UnsupportedError(unbuilt)
    for note in (*not_loaded(), *loaded.notes):
        progress.note(note)
    return with_own_parts(loaded.deployment, overrides)


def with_own_parts(deployment: Deployment, overrides: Overrides) -> Deployment:
    """The deployment with the toolchain files and the operators that the command line adds."""
    if overrides.op_paths:
        paths = (*deployment.op_paths, *(path.absolute() for path in overrides.op_paths))
        deployment = dataclasses.replace(deployment, op_paths=tuple(dict.fromkeys(paths)))
    if overrides.fallback:
        deployment = dataclasses.replace(deployment, fallback=overrides.fallback)
    files = overrides.toolchains
    if not files:
        return deployment
    names = overrides.target_abis or tuple(file.stem for file in files)
    if len(set(names)) != len(files) or not all(config.is_file_name(name) for name in names):
        word, example = ("a toolchain file", "my-board") if len(files) == 1 else ("toolchain files", "one,another")
        raise ConfigError(
            f"'{', '.join(names)}' cannot be the name of the target of {word}",
            rule="each --toolchain builds for one target, whose name becomes that of a folder",
            remedy=f"give each a name with --abi, for example --abi {example}",
        )
    toolchains = tuple((name, file.absolute()) for name, file in zip(names, files, strict=True))
    return dataclasses.replace(deployment, target_abis=names, abi_marks=(), toolchains=toolchains)


def target_of(deployment: Deployment) -> Target:
    """The one target of a deployment; it knows what the deployment's own toolchains build for."""
    own = dict(deployment.toolchains)
    runtimes = [model.runtime for model in deployment.models]
    pairs = itertools.product(runtimes, ("host" if abi in own else abi for abi in deployment.target_abis))
    as_firmware = not own and any(model.micro_backend for model in deployment.models)
    target = one_target(pairs, deployment.where_of("target_abis"), as_firmware)
    _refuse_images(deployment, target)
    if not own or isinstance(target, FirmwareTarget):
        return target
    return target.knowing({abi: (file, examine(file, abi).macros) for abi, file in own.items()})


def _refuse_images(deployment: Deployment, target: Target) -> None:
    """UnsupportedError where a library for WebAssembly or macOS should hold image functions."""
    if isinstance(target, FirmwareTarget) or not deployment.vision.functions:
        return
    known = target.capabilities.abis
    other = [abi for abi in deployment.target_abis if abi in known and known[abi].object_format != "elf"]
    if not other:
        return
    images = [
        each for model in deployment.models for graph in model.subgraphs for each in graph.images if each.frame is None
    ]
    raise UnsupportedError(
        f"image functions are not built for {other[0]}",
        where=images[0].where if images else deployment.where_of("vision"),
        rule="libraries for Linux and Android contain them, those for WebAssembly and macOS do not",
        remedy=f"{'give `preprocess` a `frame`' if images else 'remove `vision`'}, or leave {other[0]} out of "
        "`target_abis`",
    )


def toolchains_of(deployment: Deployment) -> list[Toolchain]:
    """The toolchain of each ABI. ToolchainError with all that is missing, and the place that names the ABI."""
    found: list[Toolchain] = []
    missing: list[Problem] = []
    for abi in deployment.target_abis:
        try:
            found += library.toolchains((abi,), dict(deployment.toolchains), deployment.android_api_level)
        except ToolchainError as error:
            place = deployment.where_of_abi(abi)
            missing += [
                dataclasses.replace(problem, where=problem.where if str(problem.where) else place)
                for problem in error.problems
            ]
    if missing:
        raise ToolchainError(_by_text(missing))
    return found


def _by_text(problems: list[Problem]) -> list[Problem]:
    """Each text once, at its first place: one NDK serves several ABIs."""
    return list({(problem.what, problem.remedy): problem for problem in reversed(problems)}.values())[::-1]


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
        raise ConfigError(
            f"the library has no model '{name}'",
            where=deployment.where,
            rule=f"its models: {names}",
            remedy=did_you_mean(str(name), [model.name for model in deployment.models]) or "name one of its models",
        )
    return found
