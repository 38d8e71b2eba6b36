"""The example app is built by Bazel with Lathe from an installed wheel, where there is no source tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from buildtool.builders import hexagon
from buildtool.builders.objects import ObjectCache
from buildtool.runtime import DeviceKind, DeviceOptions, Library
from tests.cli.conftest import EXAMPLE
from tests.native_builds import QEMU, RISCV, riscv_emulator
from tests.packaging.bazel import Action, Bazel, CacheServer, bazel_app, cache_server
from tests.packaging.conftest import Environment
from tests.targets.hexagon.shifted import DEPLOYMENT, write_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bazel") is None, reason="needs Bazel (Debian: bazel-bootstrap)"),
]

LIBRARY = "reader_networks.lathe/libreader.so"
CONFIGS = {"aarch64": "aarch64-linux-gnu", "armhf": "arm-linux-gnueabihf", "riscv64": "riscv64-linux-gnu"}


@pytest.fixture(scope="module")
def cache() -> Iterator[CacheServer]:
    with cache_server() as server:
        yield server


@pytest.fixture(scope="module")
def bazel(environment: Environment, cache: CacheServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bazel]:
    """The app, built once; what it took is in the cache."""
    folder = tmp_path_factory.mktemp("bazel")
    with bazel_app(environment, folder, f"--remote_cache={cache.address}") as app:
        app.run("test", "--jobs=2", *app.options, "//...")
        yield app


def inspected(environment: Environment, library: Path) -> dict[str, Any]:
    done = environment.run("lathe", "inspect", "library", str(library), "--json", folder=library.parent)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def built_by_cmake(environment: Environment, app: Path, folder: Path, abi: str) -> Path:
    """The library of the app's deployment as `lathe build` makes it."""
    shutil.copytree(app / "my_ops", folder / "my_ops")
    for name, place in {"deploy.yml": ".", "digits.onnx": ".", "brighten.onnx": "models"}.items():
        (folder / place).mkdir(exist_ok=True)
        shutil.copy(app / name, folder / place)
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CC", "CXX")}
    settings["LATHE_CACHE_DIR"] = str(folder.parent / "lathe-cache")
    environment.run("lathe", "build", "deploy.yml", "--target-abis", abi, "-q", folder=folder, env=settings)
    return folder / "build" / "reader" / "lib" / abi / "libreader.so"


def assert_equal_libraries(by_bazel: dict[str, Any], by_cmake: dict[str, Any]) -> None:
    """As far as the order of objects lets them be."""
    for fact in ("library", "machine", "kernels", "exported", "needed", "glibc"):
        assert by_bazel[fact] == by_cmake[fact], fact
    assert by_bazel["bytes_stripped"] == pytest.approx(by_cmake["bytes_stripped"], rel=0.02)


def mnemonics(actions: list[Action]) -> Counter[str]:
    return Counter(action.mnemonic for action in actions)


def check_that_the_program_reads_digits(bazel: Bazel) -> None:
    pictures, labels = np.load(EXAMPLE / "pictures.npy"), np.load(EXAMPLE / "labels.npy")
    for picture, label in zip(pictures[:5], labels, strict=False):
        pixels = " ".join(str(pixel * 16) for pixel in picture.ravel())
        answer = subprocess.run([bazel.output("read_digit")], input=pixels, capture_output=True, text=True, check=True)
        assert int(answer.stdout) == label


def check_against_the_other_way_to_build(bazel: Bazel, environment: Environment, folder: Path) -> None:
    by_cmake = inspected(environment, built_by_cmake(environment, bazel.app, folder, "host"))
    by_bazel = inspected(environment, bazel.output(LIBRARY))
    assert_equal_libraries(by_bazel, by_cmake)
    assert "brighten_f32_plain__portable" in by_bazel["kernels"]


def check_what_is_executed_again(bazel: Bazel) -> None:
    assert bazel.actions("test", "//...") == []

    file = bazel.app / "digits.onnx"
    model = onnx.load(file)
    weights = model.graph.initializer[0]
    changed = numpy_helper.to_array(weights) * np.float32(1.001)
    weights.CopyFrom(numpy_helper.from_array(changed, weights.name))
    before = file.read_bytes()
    onnx.save(model, file)
    executed = mnemonics(bazel.actions("test", "//..."))
    tests = executed.pop("TestRunner")  # and what Bazel notes about a test
    assert tests >= 1
    assert executed == {
        "LatheConvert": 1,
        "LatheAssemble": 1,
        "LatheTailor": 1,
        "LatheArchive": 1,
        "LatheLink": 1,
        "LatheCheck": 1,
        "CppLink": 2,  # the program and the test
    }
    file.write_bytes(before)
    assert [action.mnemonic for action in bazel.actions("test", "//...") if not action.cached] == []


def check_that_another_checkout_takes_everything_from_the_cache(
    bazel: Bazel, environment: Environment, cache: CacheServer, folder: Path
) -> None:
    """In another folder and with another server: no action depends on where it runs."""
    with bazel_app(environment, folder, f"--remote_cache={cache.address}") as other:
        actions = other.actions("test", "//...")
        assert [action.mnemonic for action in actions if not action.cached] == []
        assert mnemonics(actions)["CppCompile"] > 30
        assert mnemonics(actions)["LatheConvert"] == 1
        assert other.output(LIBRARY).read_bytes() == bazel.output(LIBRARY).read_bytes()


def test_the_app_of_the_example(
    bazel: Bazel, environment: Environment, cache: CacheServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One test, so that the workers of pytest-xdist do not each build the app."""
    check_that_the_program_reads_digits(bazel)
    check_against_the_other_way_to_build(bazel, environment, tmp_path_factory.mktemp("cmake"))
    check_what_is_executed_again(bazel)
    check_that_another_checkout_takes_everything_from_the_cache(
        bazel, environment, cache, tmp_path_factory.mktemp("other")
    )


@pytest.mark.sweep
@pytest.mark.arm
@pytest.mark.parametrize("config", CONFIGS)
def test_for_other_machines(bazel: Bazel, environment: Environment, tmp_path: Path, config: str) -> None:
    abi = CONFIGS[config]
    bazel.run("test", "--jobs=2", *bazel.options, f"--config={config}", "//...")
    by_bazel = inspected(environment, bazel.output(LIBRARY))
    by_cmake = inspected(environment, built_by_cmake(environment, bazel.app, tmp_path, abi))
    assert_equal_libraries(by_bazel, by_cmake)
    pixels = " ".join(str(pixel * 16) for pixel in np.load(EXAMPLE / "pictures.npy")[0].ravel())
    emulator = riscv_emulator(vlen=128) if abi == RISCV else [*QEMU[abi], "-cpu", "max"]
    command = [*emulator, str(bazel.output("read_digit"))]
    answer = subprocess.run(command, input=pixels, capture_output=True, text=True, check=True)
    assert int(answer.stdout) == np.load(EXAMPLE / "labels.npy")[0]


@pytest.mark.sweep
def test_without_a_cache_the_bytes_are_the_same(bazel: Bazel, environment: Environment, tmp_path: Path) -> None:
    """Everything is executed once more, elsewhere: hashes of Python are seeded anew, and paths are others."""
    bazel.run("build", *bazel.options, ":reader_networks")  # the last one may have been for another platform
    with bazel_app(environment, tmp_path / "another" / "folder") as other:
        other.run("build", "--jobs=2", "-c", "opt", ":reader_networks")
        for name in (LIBRARY, LIBRARY.replace(".so", ".a")):
            assert b"another/folder" not in other.output(name).read_bytes()
            # Neither the mode of the compilation nor the flags of the toolchain reach the library.
            assert other.output(name).read_bytes() == bazel.output(name).read_bytes()


@pytest.mark.sweep
def test_models_in_files_are_where_the_program_runs(bazel: Bazel) -> None:
    """And a library without messages has another runtime."""
    build = bazel.app / "BUILD.bazel"
    before = build.read_text()
    try:
        build.write_text(
            before.replace(
                'library_name = "reader",',
                'library_name = "reader",\n    messages = False,\n    model_data_format = "file",\n'
                '    model_graph_format = "file",',
            )
        )
        bazel.run("build", "--jobs=2", *bazel.options, ":read_digit")
        runfiles = bazel.output("read_digit.runfiles/bazel_app/reader_networks.lathe/models")
        assert sorted(path.name for path in runfiles.iterdir()) == [
            "brighten.data",
            "brighten.pb",
            "digits.data",
            "digits.pb",
        ]
        assert b"has no attribute" not in bazel.output(LIBRARY).read_bytes()
    finally:
        build.write_text(before)


@pytest.mark.sweep
def test_one_more_kernel_compiles_no_other(bazel: Bazel) -> None:
    file = bazel.app / "deploy.yml"
    before = file.read_text()
    try:
        file.write_text(before.partition("  brighten:\n")[0])
        bazel.run("build", "--jobs=2", ":reader_networks")
    finally:
        file.write_text(before)
    executed = mnemonics(bazel.actions("build", "--remote_cache=", ":reader_networks"))
    # The registry, and the kernel where its object is not there any more from before.
    assert executed.pop("CppCompile") in (1, 2)
    kinds = ("LatheConvert", "LatheAssemble", "LatheTailor", "LatheArchive", "LatheLink", "LatheCheck")
    assert executed == dict.fromkeys(kinds, 1)


@pytest.mark.sweep
def test_programs_for_the_dsp(bazel: Bazel) -> None:
    """An output group, which nothing compiles that does not ask for it; the library runs on what is in it."""
    build, folder = bazel.app / "BUILD.bazel", "shifted.lathe"
    before = build.read_text()
    write_model(bazel.app / "shifted.onnx")
    (bazel.app / "shifted.yml").write_text(DEPLOYMENT)
    rule = 'lathe_library(name = "shifted", deployment = "shifted.yml", models = ["shifted.onnx"])'
    try:
        build.write_text(f"{before}\n{rule}\n")
        groups = "--output_groups=shared,models"
        assert "LatheDsp" not in mnemonics(bazel.actions("build", groups, ":shifted"))
        bazel.run("build", "--jobs=2", *bazel.options, f"{groups},dsp", ":shifted", ":reader_networks")
    finally:
        build.write_text(before)
    assert list(bazel.output("reader_networks.lathe/dsp_programs").iterdir()) == []
    program = bazel.output(f"{folder}/dsp_programs/hexagon-v68/libshifted_skel.so")
    hexagon.check_program(program, "shifted_skel_handle_invoke")
    library = Library(bazel.output(f"{folder}/libshifted.so"), "shifted")
    (file,) = bazel.output(f"{folder}/models").glob("*.pb")
    data = file.with_suffix(".data").read_bytes()
    given = {"x": np.random.default_rng(5).uniform(-6, 6, (1, 6, 6, 8)).astype(np.float32)}

    def run(kind: DeviceKind) -> np.ndarray[Any, Any]:
        engine = library.engine(model=file.read_bytes(), data=data, threads=1, device=DeviceOptions(kind=kind))
        return engine.run(given)["y"]

    with mock.patch.dict(os.environ, hexagon.simulator(ObjectCache()).environment(program.parent)):
        np.testing.assert_array_equal(run(DeviceKind.DSP), run(DeviceKind.CPU))


@pytest.mark.sweep
def test_a_library_that_breaks_a_promise_is_no_result(bazel: Bazel) -> None:
    file = bazel.app / "deploy.yml"
    before = file.read_text()
    try:
        file.write_text(f"glibc_floor: '2.1'\n{before}")
        said = bazel.run("build", *bazel.options, ":reader_networks", fails=True)
        assert "rule: glibc_floor is 2.1" in said
        assert "Traceback" not in said
    finally:
        file.write_text(before)


@pytest.mark.sweep
def test_a_mistake_is_told_by_lathe(bazel: Bazel) -> None:
    file = bazel.app / "deploy.yml"
    before = file.read_text()
    try:
        file.write_text(before.replace("model_graph_format", "model_grph_format"))
        said = bazel.run("build", *bazel.options, ":reader_networks", fails=True)
        assert "deploy.yml:4:1: error: unknown key 'model_grph_format'" in said
        assert "Traceback" not in said
    finally:
        file.write_text(before)
