"""What Java gets of a library: `lathe build --java` and `--aar`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from buildtool.builders import aar, java, library, package
from buildtool.builders.built import BuiltLibrary
from buildtool.builders.objects import ObjectCache
from buildtool.codegen.java import JavaLibrary
from buildtool.config import Deployment
from buildtool.requests import deployments
from buildtool.settings import Options
from buildtool.targets.protocol import TargetProgram


def is_wanted(options: Options) -> bool:
    return options.java or options.aar


def check(abis: Collection[str], options: Options) -> None:
    """Whether there is what it takes; told before the long work."""
    if is_wanted(options):
        java.find_jdk()
    if options.aar:
        aar.android_abis(abis)


def files(
    deployment: Deployment,
    programs: Sequence[TargetProgram],
    built: Sequence[BuiltLibrary],
    contents: package.Contents,
    options: Options,
    cache: ObjectCache,
) -> dict[str, bytes | Path]:
    """The files to add to a build's `contents`. In a dry run, where nothing is built, none of them is of use."""
    programs = [program for program in programs if program.object_format == "elf"]
    source = programs[0].library
    own = JavaLibrary(source.name, source.identifier, source.stem, deployment.paddle_compat != "0")
    folder = library.work_folder(cache, deployments.owner_of(deployment, options), source.name)
    abis = [program.abi for program in programs]
    static = {item.abi: item.static for item in built if item.archive} or {
        abi: folder / abi / f"lib{own.stem}.a" for abi in abis
    }
    level = deployment.android_api_level
    found = library.toolchains(tuple(abis), dict(deployment.toolchains), level)
    tools = dict(zip(abis, found, strict=True))
    work = folder.with_name(f"{folder.name}-java")
    parts = java.build(own, static, tools, cache, work, deployment.glibc_floor)
    made = parts.files()
    if options.aar and built:
        made[f"{source.name}.aar"] = aar.archive(contents, parts, programs[0])
    return made
