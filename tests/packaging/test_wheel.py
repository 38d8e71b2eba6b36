"""The wheel holds all that Lathe needs and works where there is no source tree."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from scripts import release
from tests.packaging.conftest import ROOT, Environment

pytestmark = pytest.mark.slow


def test_resources_and_generated_code_are_inside(contents: list[str]) -> None:
    assert "buildtool/_resources/native/include/lathe/c_api.h" in contents
    assert "buildtool/py.typed" in contents
    for schema in (ROOT / "buildtool" / "schemas").glob("*.proto"):
        assert f"buildtool/schemas/{schema.stem}_pb2.py" in contents


def test_each_file_of_the_package_and_of_its_resources_is_inside(contents: list[str]) -> None:
    tracked = release.tracked_files()
    assert release.missing_from_wheel(contents, tracked) == []
    inside = set(contents)
    for name in ("native/ops/conv2d/op.yaml", "native/kernel/units.yaml", "native/kernel/check.cc"):
        assert f"buildtool/_resources/{name}" in inside
    for package in ("requests", "artifacts", "running", "running/workers", "codegen/templates"):
        assert any(name.startswith(f"buildtool/{package}/") for name in inside), package


def test_everything_is_there_once_and_nothing_else(contents: list[str]) -> None:
    assert max(Counter(contents).values()) == 1
    strangers = [name for name in contents if not name.startswith(("buildtool/", "lathe_build-"))]
    assert strangers == []
    assert [name for name in contents if "__pycache__" in name] == []


def test_installed_lathe_finds_its_resources(environment: Environment, tmp_path: Path) -> None:
    script = "from buildtool import resources; print(resources.native_dir(), resources.in_source_tree())"
    found = environment.run("python", "-c", script, folder=tmp_path).stdout.split()
    assert found == [str(environment.packages / "buildtool" / "_resources" / "native"), "False"]


def test_installed_lathe_has_the_demonstrations(environment: Environment, tmp_path: Path) -> None:
    listed = json.loads(environment.run("lathe", "demo", "--json", folder=tmp_path).stdout)["demonstrations"]
    assert [item["name"] for item in listed] == [
        *("digits", "faces", "keywords", "objects", "person", "photo", "sentence", "text")
    ]
    script = "import sys; sys.path.insert(0, sys.argv[1]); import demo; demo.write_model(demo.Path('model.onnx'))"
    folder = environment.packages / "buildtool" / "_resources" / "examples" / "sentence"
    environment.run("python", "-c", script, str(folder), folder=tmp_path)
    assert (tmp_path / "model.onnx").stat().st_size > 100_000


def test_installed_lathe_compiles_the_program_of_a_demonstration(environment: Environment, tmp_path: Path) -> None:
    """The way of `lathe demo objects`, without Pillow, which this environment does not have."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import demo, numpy\n"
        "folder = demo.work_folder('objects')\n"
        "demo.write_model(folder / 'objects.onnx')\n"
        "program = demo.built_program(demo.HERE / 'main.cc', demo.built_library(demo.HERE / 'deploy.yml', folder))\n"
        "image, boxes = demo.scene(numpy.random.default_rng(demo.SEED))\n"
        "(folder / 'input.ppm').write_bytes(b'P6 96 96 255\\n' + (image * 255).astype('uint8').tobytes())\n"
        "print(len(boxes), len(demo.answer(program, folder / 'input.ppm')))\n"
    )
    folder = environment.packages / "buildtool" / "_resources" / "examples" / "objects"
    found = environment.run("python", "-c", script, str(folder), folder=tmp_path).stdout.splitlines()[-1]
    assert found == "3 3"


def test_installed_schemas_work_with_the_installed_protobuf(environment: Environment, tmp_path: Path) -> None:
    script = "from buildtool.schemas import container_pb2 as schema; print(schema.Model(name='a').ByteSize())"
    assert environment.run("python", "-c", script, folder=tmp_path).stdout == "3\n"


def test_installed_simulators_are_compiled_on_first_use(environment: Environment, tmp_path: Path) -> None:
    script = (
        "import ctypes, pathlib\n"
        "from buildtool.builders.device_simulators import device_simulator\n"
        "from buildtool.targets.max7800x import TARGET\n"
        "from buildtool.builders.objects import ObjectCache\n"
        "library = device_simulator(TARGET.simulator, ObjectCache(pathlib.Path('cache').absolute()))\n"
        "print(hasattr(ctypes.CDLL(str(library)), 'lathe_max7800x_simulate'))\n"
    )
    assert environment.run("python", "-c", script, folder=tmp_path).stdout == "True\n"
