"""Builds the Java side of a library: classes in a jar, and per ABI the library with what ties it to them."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtool import resources
from buildtool.builders import android, elf, parallel
from buildtool.builders.disks import writing_to
from buildtool.builders.library import DEFAULT_GLIBC_FLOOR
from buildtool.builders.objects import ObjectCache, configure_and_build, locked
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import Toolchain
from buildtool.codegen import java
from buildtool.codegen.java import JavaLibrary
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import ToolchainError

_ENTRY = "JNI_OnLoad"
_CMAKE_FILES = ("LatheFlags.cmake", "LatheIsa.cmake")
_JAR_MANIFEST = b"Manifest-Version: 1.0\r\n\r\n"
# Class files that Android and every Java since 8 take; no names of variables, no paths.
_JAVAC_OPTIONS = ("--release", "8", "-Xlint:-options", "-g:source,lines", "-encoding", "UTF-8")


@dataclass(frozen=True)
class Jdk:
    """A development kit for Java."""

    javac: Path
    include: tuple[Path, ...]  # the folders of jni.h, which compilers for Android bring along themselves


@dataclass(frozen=True)
class Binding:
    """lib<stem>_jni.so of one ABI."""

    library: bytes
    level: int  # the least API level; 0 where the ABI's toolchain is not for Android
    ndk: int  # the major version; 0 where no NDK is behind the toolchain


@dataclass(frozen=True)
class JavaParts:
    """What Java needs beside the native library."""

    library: JavaLibrary
    jar: bytes
    bindings: Mapping[str, Binding]  # by ABI

    def files(self) -> dict[str, bytes | Path]:
        """Where they go in the output of a build."""
        stem = self.library.stem
        found: dict[str, bytes | Path] = {f"java/{self.library.name}.jar": self.jar}
        found.update((f"lib/{abi}/lib{stem}_jni.so", item.library) for abi, item in self.bindings.items())
        return found


def find_jdk() -> Jdk:
    """The kit that JAVA_HOME names, else that of the javac on the PATH. ToolchainError where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=str(Path(home) / "bin") if home else None)
    if found is None:
        place = f"JAVA_HOME is {home}, and has no bin/javac" if home else "no javac is on the PATH"
        raise ToolchainError(
            "the Java compiler is missing",
            rule=place,
            remedy="install a JDK, 9 or later: apt-get install default-jdk-headless; or set JAVA_HOME to its folder",
        )
    include = Path(found).resolve().parent.parent / "include"
    if not (include / "jni.h").is_file():
        raise ToolchainError(
            f"there is no jni.h in {include}",
            rule="the JNI binding is compiled with the headers of the JDK that javac belongs to",
            remedy="install a complete JDK: apt-get install default-jdk-headless; or set JAVA_HOME to its folder",
        )
    return Jdk(Path(found), (include, *sorted(path.parent for path in include.glob("*/jni_md.h"))))


def build(
    library: JavaLibrary,
    static: Mapping[str, Path],
    toolchains: Mapping[str, Toolchain],
    cache: ObjectCache,
    folder: Path,
    glibc_floor: str = DEFAULT_GLIBC_FLOOR,
) -> JavaParts:
    """Compile classes and bindings in a folder of the cache. `static`: the library, by ABI."""
    jdk = find_jdk()
    works = [
        _Work(library, abi, static[abi], toolchains[abi], jdk, cache.processes, folder, glibc_floor) for abi in static
    ]
    cache.use()
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            _sources().write(folder / "binding")
            jar = _jar(library, jdk, folder / "classes", cache.processes)
            bindings = parallel.each(_Work.binding, works, cache.processes)
    return JavaParts(library, jar, dict(zip(static, bindings, strict=True)))


def _sources() -> SourceTree:
    """The CMake project of the binding, which is the same for all libraries."""
    native = resources.native_dir() / "java"
    files = {path.name: path.read_bytes() for path in sorted(native.iterdir()) if path.is_file()}
    files.update((f"cmake/{name}", (resources.cmake_dir() / name).read_bytes()) for name in _CMAKE_FILES)
    files["include/lathe/c_api.h"] = (resources.include_dir() / "lathe" / "c_api.h").read_bytes()
    return SourceTree("binding", files)


def _jar(library: JavaLibrary, jdk: Jdk, folder: Path, processes: Processes) -> bytes:
    """The compiled classes; nothing in a dry run."""
    tree = SourceTree("classes", java.sources(library))
    tree.write(folder / "source")
    made = folder / "made"
    shutil.rmtree(made, ignore_errors=True)
    sources = [folder / "source" / name for name in tree]
    command: list[str | Path] = [jdk.javac, *_JAVAC_OPTIONS, "-d", made, *sources]
    processes.run(command, doing="compiling the Java classes", error=ToolchainError)
    classes = {path.relative_to(made).as_posix(): path.read_bytes() for path in made.rglob("*.class")}
    return zipped({"META-INF/MANIFEST.MF": _JAR_MANIFEST, **classes})


def zipped(files: Mapping[str, bytes | Path]) -> bytes:
    """A zip file that has the same bytes for the same files: in sorted order, and without times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            item = files[name]
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the mode counts
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, item if isinstance(item, bytes) else item.read_bytes())
    return buffer.getvalue()


@dataclass(frozen=True)
class _Work:
    """The binding of one ABI."""

    java: JavaLibrary
    abi: str
    static: Path
    toolchain: Toolchain
    jdk: Jdk
    processes: Processes
    folder: Path
    glibc_floor: str

    def binding(self) -> Binding:
        binary, stem = self.folder / self.abi, self.java.stem
        native = binary / f"lib{stem}.a"
        if not self.processes.dry_run:
            binary.mkdir(exist_ok=True)
            shutil.copyfile(self.static, native)
        arguments = [
            f"-DLATHE_STEM={stem}",
            f"-DLATHE_LIBRARY={native}",
            f"-DLATHE_API=lathe_api_{self.java.identifier}",
            f"-DLATHE_JAVA_PACKAGE={self.java.folder}",
            f"-DLATHE_JNI_INCLUDE={';'.join(map(str, self.jdk.include))}",
        ]
        doing = f"linking the JNI binding of {self.java.name} for {self.abi}"
        configure_and_build(self.processes, self.folder / "binding", binary, self.toolchain, arguments, doing)
        if self.processes.dry_run:
            return Binding(b"", 0, 0)
        made = binary / f"lib{stem}_jni.so"
        self._check(made)
        lines = (binary / "facts.txt").read_text().splitlines()
        facts = {key: int(value or 0) for key, _, value in (line.partition("=") for line in lines)}
        return Binding(made.read_bytes(), facts["level"], facts["ndk"])

    def _check(self, made: Path) -> None:
        """BuildError with every promise that the binding breaks: they are those of the library."""
        is_android = self.toolchain.is_android
        elf.check_library(made, _ENTRY, self.glibc_floor, android.LIBRARIES if is_android else ())
        if is_android:
            android.check_library(made)
