"""`lathe inspect THING`: says what a file is and what is inside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.options import words
from buildtool.cli.output import VERBOSE, Output
from buildtool.errors import ConfigError
from buildtool.wording import did_you_mean


def inspect(
    thing: Annotated[
        str, typer.Argument(metavar="THING", help="A file; `ops` or `passes`; or the kind of the file that follows.")
    ],
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="The file, after its kind: library, build, model, onnx, source, deployment, description, kmodel.",
        ),
    ] = None,
    op_paths: Annotated[
        list[Path] | None, typer.Option("--op-path", metavar="FOLDER", help="Folder with your own operators.")
    ] = None,
    target_abis: Annotated[
        list[str] | None,
        typer.Option("--target-abis", "--abi", metavar="ABI[,ABI]", help="With `ops MODEL`: only these ABIs."),
    ] = None,
    platform: Annotated[
        str, typer.Option("--platform", metavar="FRAMEWORK", help="With `ops MODEL`: its framework, if not recognised.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="With `ops`: list the operators of all frameworks.")
    ] = False,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FOLDER", help="With a build: the build to compare it with.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="With --compare: also write an HTML page.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Say what a file is and what is inside it: a deployment, a model, a built library.

    Models may be of any framework, converted, or kmodels of the Kendryte K210. The folder of a build and descriptions
    of networks for the MAX78000 or MAX78002 are known, too.

    `lathe inspect NEW --compare OLD` compares two builds. `lathe inspect ops` lists the operators and their kernels,
    `ops --all` those that can be imported, `passes` the optimisations; `lathe inspect ops MODEL` tells which operators
    of a model of any framework, or of the models of a deployment file, each ABI runs.
    """
    from buildtool.reports import inspection

    if thing == "ops" and (everything or path is not None):
        _support(path, platform, everything, words(target_abis), tuple(op_paths or ()), out)
        return
    if everything or target_abis or platform:
        option = "--all" if everything else "--abi" if target_abis else "--platform"
        raise ConfigError(
            f"{option} goes with `lathe inspect ops`", remedy=f"leave it out, or: lathe inspect ops {thing}"
        )
    kind, file = _named(thing, path)
    if compare is not None or page is not None:
        _compare(kind, file, compare, page, out)
        return
    known = file if kind == "deployment" else None
    document = _deployment(known) if known is not None else inspection.inspect(kind, file, tuple(op_paths or ()))
    out.document(document, *inspection.parts(document, verbose=out.verbosity >= VERBOSE))


def _compare(kind: str, file: Path | None, before: Path | None, page: Path | None, out: Output) -> None:
    from buildtool.reports import build_comparison
    from buildtool.workflow.comparing import compare

    if before is None or kind != "build" or file is None:
        raise ConfigError(
            "--page goes with --compare" if before is None else "--compare goes with the folder of a build",
            remedy="compare two builds: lathe inspect build/NEW --compare build/OLD --page differences.html",
        )
    document = compare(before, file)
    shown = build_comparison.parts(document)
    if page is not None:
        build_comparison.write_page(page, document)
        shown.append(f"wrote {page}")
    out.document(document, *shown)


def _support(
    file: Path | None, platform: str, everything: bool, abis: Sequence[str], op_paths: Sequence[Path], out: Output
) -> None:
    from buildtool.config.abis import spellings
    from buildtool.importers.frameworks import platforms
    from buildtool.reports import support

    if platform and platform not in platforms():
        raise ConfigError(
            f"--platform cannot be '{platform}'",
            rule=f"allowed: {', '.join(platforms())}",
            remedy=f"name the target with --abi {platform}; a platform is the framework of a model"
            if platform in spellings()
            else did_you_mean(platform, platforms()) or "`lathe inspect ops --all` lists what each of them knows",
        )
    if everything and (file is not None or abis):
        raise ConfigError(
            "--all lists all operators, not those of one model", remedy="remove the model and --abi, or remove --all"
        )
    if file is None:
        document = support.all_operators()
    elif file.suffix.lower() in (".yml", ".yaml"):
        if platform:
            raise ConfigError("--platform goes with a model", remedy="leave it out: the deployment file names it")
        document = _support_of_deployment(file, abis, op_paths)
    else:
        document = support.of_model(file, abis, op_paths, platform=platform)
    out.document(document, *support.parts(document))


def _support_of_deployment(file: Path, abis: Sequence[str], op_paths: Sequence[Path]) -> dict[str, Any]:
    """For the ABIs of the deployment, where none are named."""
    from buildtool.ops.registry import registry
    from buildtool.reports import support
    from buildtool.requests import deployments, frames, model_sources
    from buildtool.settings import Overrides

    found = deployments.load_deployment(file, Overrides(target_abis=tuple(abis)))
    folders = (*found.op_paths, *op_paths)
    operators = registry(folders)
    models = [
        (
            model.platform,
            model_sources.import_request(frames.without(model), *model_sources.model_files(model), operators),
        )
        for model in found.models
    ]
    return support.of_deployment(file, models, found.target_abis, folders)


def _deployment(file: Path) -> dict[str, Any]:
    from buildtool.config import described_platform, load_deployment
    from buildtool.reports import descriptions

    reader = descriptions.reader_of(described_platform(file))
    if reader is not None:
        return descriptions.inspect(reader.description_kind, file)
    found = load_deployment(file).deployment
    return {
        "kind": "deployment",
        "path": str(file),
        "library": found.library_name,
        "target_abis": list(found.target_abis),
        "model_graph_format": found.model_graph_format,
        "model_data_format": found.model_data_format,
        "models": [
            {
                "name": model.name,
                "platform": model.platform,
                "file": model.model_file.location,
                "runtime": str(model.runtime),
                "data_type": model.data_type,
            }
            for model in found.models
        ],
    }


def _named(thing: str, path: Path | None) -> tuple[str, Path | None]:
    """The kind and the file. A word of ours wins over a file of that name: `./ops` names the file."""
    from buildtool.reports import inspection

    if path is not None:
        if thing not in inspection.kinds():
            raise ConfigError(f"'{thing}' is not a kind of file", rule=f"the kinds: {', '.join(inspection.kinds())}")
        return thing, path
    if thing in inspection.LISTS or (thing in inspection.kinds() and not Path(thing).exists()):
        return thing, None
    return inspection.kind_of(Path(thing)), Path(thing)


def register(app: typer.Typer) -> None:
    command(app, "inspect")(inspect)
