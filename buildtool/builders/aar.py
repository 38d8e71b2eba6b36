"""An Android archive (AAR): the native library for CMake through Prefab, the Java classes, and the models as assets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from buildtool.builders.java import JavaParts, zipped
from buildtool.codegen import java
from buildtool.codegen.java import ANDROID_ABIS
from buildtool.errors import ConfigError, ToolchainError
from buildtool.targets.protocol import TargetProgram

Contents = Mapping[str, "bytes | Path"]  # as in package.assemble


def android_abis(abis: Collection[str]) -> tuple[str, ...]:
    """Those of them that Android has. ConfigError where there is none."""
    found = tuple(abi for abi in abis if abi in ANDROID_ABIS)
    if not found:
        raise ConfigError(
            f"an Android archive would be empty: the library is built for {', '.join(abis)}",
            rule=f"it contains libraries for: {', '.join(ANDROID_ABIS)}",
            remedy="name one in target_abis or with --abi, for example --abi arm64-v8a",
        )
    return found


def archive(contents: Contents, parts: JavaParts, program: TargetProgram) -> bytes:
    """The archive, made of what a build holds."""
    library = parts.library
    abis = android_abis(parts.bindings)
    levels = {abi: (_level(parts, abi), parts.bindings[abi].ndk) for abi in abis}
    files: dict[str, bytes | Path] = {
        "AndroidManifest.xml": java.manifest(library, max(level for level, _ in levels.values())),
        "R.txt": b"",  # there are no resources, and that is how it is said
        "classes.jar": parts.jar,
        "proguard.txt": java.keep_rules(library),
        **java.prefab(library, levels),
    }
    module, models = f"prefab/modules/{library.name}", _models(program)
    for path, data in contents.items():
        if path.startswith("include/"):
            files[f"{module}/{path}"] = data
        elif path in models:
            files[f"assets/{library.name}/{PurePosixPath(path).name}"] = data
    for abi in abis:
        # A file under both folders would be there twice in an app that uses both, which the build of the app refuses.
        files[f"{module}/libs/android.{abi}/lib{library.stem}.so"] = contents[f"lib/{abi}/lib{library.stem}.so"]
        files[f"jni/{abi}/lib{library.stem}_jni.so"] = parts.bindings[abi].library
    return zipped(files)


def _models(program: TargetProgram) -> set[str]:
    """The model files that the library does not hold itself.

    They are the portable ones, the same for all ABIs: stores split an app's libraries by ABI, but not its assets.
    """
    source = program.library
    kinds = [kind for kind, inside in (("pb", source.graph_in_library), ("data", source.data_in_library)) if not inside]
    return {f"model/{model.source.name}.{kind}" for model in program.models for kind in kinds}


def _level(parts: JavaParts, abi: str) -> int:
    """The least API level of an ABI. ToolchainError where its compiler knows none."""
    level = parts.bindings[abi].level
    if not level:
        raise ToolchainError(
            f"the toolchain for {abi} is not for Android",
            rule="its compiler does not define __ANDROID_API__, the lowest Android API level that the library runs on",
            remedy="use that of an NDK, or give the ABI another name",
        )
    return level
