"""Measures what libraries come to: tailored by `lathe build` and by Bazel, beside the library with all operators.

python -m tests.size.table                            # writes docs/reference/sizes.md anew
python -m tests.size.table --print --abis host --without-bazel
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import buildtool
from buildtool.builders.toolchain import cmake_program, ninja_program, probe
from buildtool.drafts import deployment
from tests.ocr.networks import NETWORKS as READERS
from tests.ocr.networks import PACKAGE
from tests.packaging.bazel import APP, bazel_in
from tests.size.measure import ROOT
from tests.zoo.networks import cached

PAGE = ROOT / "docs" / "reference" / "sizes.md"
CONFIGS = {"host": (), "aarch64-linux-gnu": ("--config=aarch64",), "arm-linux-gnueabihf": ("--config=armhf",)}
_OCR = "ocr"
_RULE = """
lathe_library(
    name = "{name}_library",
    deployment = "{name}.yml",
    library_name = "{name}",
    models = {files},
)
"""
_HEAD = """\
# Library sizes

A library contains the runtime and the kernels that its models need. The table lists the
bytes of the stripped shared library and of the static archive, for models in files and `fp32_fp32`, and of the
library with all operators. The archive contains one object with its symbol and relocation
tables; a program that links it grows by about the size of the shared library.
`python -m tests.size.table` repeats the measurement and writes this page.

"""
_TAIL = """
The mobilenets are those of `tests/zoo`, for images of 224 x 224; `{ocr}` are the three networks of
{package} (detection, recognition, classification) in one library, with variable sizes. Entries without
figures for Bazel were measured with `lathe build` only.

The two builds pass objects to the linker in a different order, which changes the padding by a few bytes. If the
writable segment then crosses a page boundary, one shared library is up to 4 KB larger than the other, with
the same contents.

Compilers: {compilers}.
"""


@dataclass(frozen=True)
class Files:
    """Bytes of the two libraries that a build makes."""

    shared: int
    static: int


def deployments(folder: Path) -> dict[str, list[str]]:
    """Deployment files `<name>.yml` with their models beside them; the names of these, by name."""
    sources = {"digits": [ROOT / "examples" / "digits" / "digits.onnx"]}
    sources |= {name: [cached(name, ROOT / "build" / "test-zoo")] for name in ("mobilenet_v1", "mobilenet_v2")}
    sources[_OCR] = [network.path() for network in READERS]
    shapes = {network.file: ",".join(map(_bound, network.bounds)) for network in READERS}
    for name, files in sources.items():
        models = {}
        for number, file in enumerate(files):
            copy = shutil.copy(file, folder / file.name)
            given = {"x": shapes[file.name]} if file.name in shapes else None
            draft = deployment.write([Path(copy)], relative_to=folder, shapes=given, data_type="fp32_fp32")
            (entry,) = yaml.safe_load(draft)["models"].values()
            models[f"net{number}"] = entry
        whole: dict[str, Any] = {"library_name": name, "target_abis": ["host"], "model_graph_format": "file"}
        whole |= {"model_data_format": "file", "models": models}
        (folder / f"{name}.yml").write_text(yaml.safe_dump(whole, sort_keys=False))
    return {name: [file.name for file in files] for name, files in sources.items()}


def _bound(size: int | tuple[int, int]) -> str:
    return str(size) if isinstance(size, int) else f"{size[0]}..{size[1]}"


def by_lathe(folder: Path, names: Sequence[str], abis: Sequence[str]) -> Iterator[tuple[tuple[str, str], Files]]:
    """What `lathe build` makes, by name and ABI."""
    options = buildtool.Options(folder / "out", archive=False)
    for name in names:
        built = buildtool.build(folder / f"{name}.yml", buildtool.Overrides(tuple(abis)), options)
        for abi in abis:
            yield (name, abi), _files(built.folder / "lib" / abi, name)


def by_bazel(
    folder: Path, models: Mapping[str, Sequence[str]], abis: Sequence[str]
) -> Iterator[tuple[tuple[str, str], Files]]:
    """What `lathe_library` makes of the same files, by name and ABI."""
    app = folder / "app"
    app.mkdir()
    for file in (APP / ".bazelrc", APP / "WORKSPACE", *folder.glob("*.yml"), *folder.glob("*.onnx")):
        shutil.copy(file, app / file.name)
    rules = [_RULE.format(name=name, files=files) for name, files in models.items()]
    load = 'load("@lathe//bazel:defs.bzl", "lathe_library")\n'
    (app / "BUILD.bazel").write_text(load + "".join(rules))
    with bazel_in(app, folder / "bazel", ROOT, Path(sys.executable)) as bazel:
        for abi in abis:
            bazel.run("build", "--jobs=2", *CONFIGS[abi], "//...")
            for name in models:
                yield (name, abi), _files(bazel.output(f"{name}_library.lathe"), name)


def _files(folder: Path, name: str) -> Files:
    return Files((folder / f"lib{name}.so").stat().st_size, (folder / f"lib{name}.a").stat().st_size)


def with_all_operators(abi: str) -> int:
    """Bytes of the stripped shared library that the script of the ABI builds."""
    folder = ROOT / "build" / "native-full" / abi
    path = os.pathsep.join([str(cmake_program().parent), str(ninja_program().parent), os.environ["PATH"]])
    subprocess.run(
        ["sh", ROOT / "cmake" / f"build-{abi}.sh"],
        env={**os.environ, "BUILD_DIR": str(folder), "PATH": path, "JOBS": "2"},
        check=True,
    )
    return (folder / "install" / "lib" / "liblathe_full.so").stat().st_size


def page(
    names: Sequence[str],
    cmake: Mapping[tuple[str, str], Files],
    bazel: Mapping[tuple[str, str], Files],
    full: Mapping[str, int],
) -> str:
    """The page of the documentation."""
    lines = ["| library | ABI | `.so` | `.a` | `.so`, Bazel | `.a`, Bazel | of the `.so` with all operators |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|")
    for name in names:
        for abi, whole in full.items():
            own, other = cmake[name, abi], bazel.get((name, abi))
            sizes = [own.shared, own.static, *([other.shared, other.static] if other else ["", ""])]
            cells = [f"{size:,}" if isinstance(size, int) else size for size in sizes]
            lines.append(f"| {name} | {abi} | {' | '.join(cells)} | {own.shared / whole:.1%} |")
    lines += [f"| all operators | {abi} | {whole:,} | | | | |" for abi, whole in full.items()]
    compilers = "; ".join(f"{abi}: {probe(abi).version}" for abi in full)
    return _HEAD + "\n".join(lines) + "\n" + _TAIL.format(ocr=_OCR, package=PACKAGE, compilers=compilers)


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--abis", default=",".join(CONFIGS))
    parser.add_argument("--without-bazel", action="store_true")
    parser.add_argument("--print", action="store_true", help="do not write the page")
    options = parser.parse_args()
    abis = options.abis.split(",")
    full = {abi: with_all_operators(abi) for abi in abis}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = deployments(folder)
        cmake = dict(by_lathe(folder, list(models), abis))
        known = [abi for abi in abis if abi in CONFIGS and not options.without_bazel]
        bazel = dict(by_bazel(folder, models, known)) if known else {}
    text = page(list(models), cmake, bazel, full)
    if options.print:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
