"""Android: finds the NDK and the compiler in it, and checks what is special about libraries for Android."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from buildtool import resources
from buildtool.builders.toolchain import Toolchain
from buildtool.builders.toolchain_file import examine
from buildtool.errors import BuildError, Problem, ToolchainError, Where

# What the NDK calls the machines that it has libraries for.
TRIPLES = {
    "arm64-v8a": "aarch64-linux-android",
    "armeabi-v7a": "arm-linux-androideabi",
    "x86_64": "x86_64-linux-android",
}
ABIS = tuple(TRIPLES)
LEAST_NDK = 21
DEFAULT_API = 21  # Android 5: the first with 64 bits
PAGE = 16384  # bytes; of 64-bit machines since Android 15
LIBRARIES = ("libc.so", "libm.so", "libdl.so")
_VARIABLE = "ANDROID_NDK_HOME"
_REMEDY = f"install the Android NDK, r{LEAST_NDK} or later, and set {_VARIABLE} to its folder"
_REVISION = re.compile(r"^Pkg\.Revision\s*=\s*(\d+)(\S*)", re.MULTILINE)


@dataclass(frozen=True)
class Ndk:
    """An Android NDK."""

    folder: Path
    revision: str  # 26.1.10909125


def find_ndk() -> Ndk:
    """The NDK that ANDROID_NDK_HOME names. ToolchainError where it names none, or one that is too old."""
    name = os.environ.get(_VARIABLE, "")
    if not name:
        raise ToolchainError(
            "there is no Android NDK",
            rule=f"{_VARIABLE} names its folder. {', '.join(ABIS)} are ABIs of Android; `host` is this machine",
            remedy=_REMEDY,
        )
    folder = Path(name).expanduser().absolute()
    if not (folder / "build" / "cmake" / "android.toolchain.cmake").is_file():
        raise ToolchainError(
            f"{_VARIABLE} names a folder that is not an Android NDK",
            where=Where(file=str(folder)),
            rule="an NDK contains build/cmake/android.toolchain.cmake",
            remedy=_REMEDY,
        )
    properties = folder / "source.properties"
    found = _REVISION.search(properties.read_text(errors="replace")) if properties.is_file() else None
    if found is None or int(found[1]) < LEAST_NDK:
        version = f"r{found[1]}" if found else "of an unknown version"
        raise ToolchainError(
            f"this Android NDK is {version}",
            where=Where(file=str(properties)),
            rule=f"Lathe builds with NDK r{LEAST_NDK} and later",
            remedy=_REMEDY,
        )
    return Ndk(folder, found[1] + found[2])


def toolchain(abi: str, api: int = DEFAULT_API) -> Toolchain:
    """The NDK's toolchain of an ABI, for libraries that run on Android of this API level and later."""
    ndk = find_ndk()
    arguments = (f"-DANDROID_NDK_HOME={ndk.folder}", f"-DANDROID_PLATFORM=android-{api}")
    return examine(resources.toolchains_dir() / f"{abi}.cmake", abi, arguments)


def check_library(path: Path) -> None:
    """BuildError with every promise to Android that a shared library breaks."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        problems = [Problem(what, Where(file=path.name), rule) for what, rule in _broken(elf)]
    if problems:
        raise BuildError(problems)


def page_alignment(path: Path) -> int:
    """The least alignment of the parts of a shared library that are loaded into memory."""
    with path.open("rb") as stream:
        return _alignment(ELFFile(stream))


def _alignment(elf: ELFFile) -> int:
    return min(int(segment["p_align"]) for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD")


def _broken(elf: ELFFile) -> Iterator[tuple[str, str]]:
    if elf.elfclass == 64 and _alignment(elf) < PAGE:
        yield (
            f"the library is aligned to pages of {_alignment(elf)} bytes",
            f"64-bit Android loads libraries for pages of {PAGE} bytes",
        )
    dynamic = elf.get_section_by_name(".dynamic")
    tags = list(dynamic.iter_tags()) if isinstance(dynamic, DynamicSection) else []
    needed = [str(getattr(tag, "needed", "")) for tag in tags if tag["d_tag"] == "DT_NEEDED"]
    foreign = [name for name in needed if name not in LIBRARIES]
    if foreign:
        yield f"the library needs {', '.join(foreign)}", f"a library for Android needs {', '.join(LIBRARIES)} only"
    names = {str(tag["d_tag"]) for tag in tags}
    if "DT_TEXTREL" in names:
        yield "the library has text relocations", "Android does not load such libraries"
    if "DT_HASH" not in names:
        yield "the library has no DT_HASH symbol table", "Android before 6 requires it"
