"""The projects around the sources: built where their tool is at hand, else checked for what its schema asks for."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from buildtool.targets.micro.emitting import files, model
from buildtool.targets.micro.emitting.projects import project
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS
from tests.targets.micro.quantised_models import network_of
from tests.targets.micro.test_page import keywords

_CHECK = "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"
#: What the build systems define before they read the file of a module or component.
_ZEPHYR = """cmake_minimum_required(VERSION 3.16)
project(application C)
set(ZEPHYR_BASE /zephyr)
macro(zephyr_library_named name)
    set(current ${name})
    add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
    target_sources(${current} PRIVATE ${ARGN})
endmacro()
function(zephyr_include_directories)
    foreach(folder ${ARGN})
        get_filename_component(folder ${folder} ABSOLUTE)
        set_property(GLOBAL APPEND PROPERTY INCLUDED ${folder})
    endforeach()
endfunction()
add_subdirectory(words)
get_property(included GLOBAL PROPERTY INCLUDED)
file(WRITE ${CMAKE_BINARY_DIR}/included "${included}")
"""
_ESP_IDF = """cmake_minimum_required(VERSION 3.16)
project(application C)
set(ESP_PLATFORM 1)
function(idf_component_register)
    cmake_parse_arguments(given "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
    if(given_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "unknown: ${given_UNPARSED_ARGUMENTS}")
    endif()
    add_library(words STATIC ${given_SRCS})
    target_include_directories(words PUBLIC ${given_INCLUDE_DIRS})
endfunction()
add_subdirectory(words)
"""


def _written(abi: str, folder: Path) -> Path:
    """The project of a small model, in `folder`/words."""
    processor = PROCESSORS[abi]
    network = network_of(keywords(), folder)
    memory = plan(network, processor.sets[0])
    sources = files.kernels([network], processor)
    sources["m.h"] = model.header(network, memory).encode()
    sources["m.c"] = model.source(network, memory, processor.sets[0]).encode()
    made: Mapping[str, bytes] = {f"src/{name}": data for name, data in sources.items()}
    for name, data in {**made, **project("words", sources, processor)}.items():
        (folder / "words" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "words" / name).write_bytes(data)
    return folder / "words"


def _cmake(folder: Path, text: str, *options: str) -> None:
    (folder / "CMakeLists.txt").write_text(text)
    for command in (["cmake", "-S", ".", "-B", "out", "-G", "Ninja", _CHECK, *options], ["cmake", "--build", "out"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_cmake_builds_a_module_of_zephyr(tmp_path: Path) -> None:
    _written("xtensa-generic", tmp_path)
    _cmake(tmp_path, _ZEPHYR, "-DCONFIG_WORDS=y")
    assert len(list(tmp_path.glob("out/**/libwords.a"))) == 1
    assert (tmp_path / "out" / "included").read_text() == str(tmp_path / "words" / "src")


def test_a_module_of_zephyr_that_is_not_chosen_adds_nothing(tmp_path: Path) -> None:
    _written("xtensa-generic", tmp_path)
    _cmake(tmp_path, _ZEPHYR)
    assert not list(tmp_path.glob("out/**/*.a"))


def test_cmake_builds_a_component_of_esp_idf(tmp_path: Path) -> None:
    _written("xtensa-generic", tmp_path)
    _cmake(tmp_path, _ESP_IDF)
    assert len(list(tmp_path.glob("out/**/libwords.a"))) == 1


@pytest.mark.parametrize("abi", ["cortex-m0", "cortex-m4f", "cortex-m55", "rv32imac", "xtensa-generic"])
def test_descriptions_say_what_their_readers_ask_for(abi: str, tmp_path: Path) -> None:
    place = _written(abi, tmp_path)
    units = {str(path.relative_to(place)) for path in place.glob("src/*.c")}
    _check_zephyr(place)
    _check_esp_idf(place)
    _check_platformio(place)
    _check_arduino(place)
    _check_pack(place, units)


def _check_zephyr(place: Path) -> None:
    """`build: cmake` is a folder, `build: kconfig` a file; the option of the CMake file is one of Kconfig."""
    module = yaml.safe_load((place / "zephyr" / "module.yml").read_text())
    assert set(module) <= {"name", "build", "tests", "samples", "boards", "blobs"} and module["name"] == "words"
    assert set(module["build"]) == {"cmake", "kconfig"}
    assert (place / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    lines = (place / module["build"]["kconfig"]).read_text().splitlines()
    assert lines[0] == "config WORDS"
    assert all(re.match(r'\t(bool "[^"]+"|default y)$', line) for line in lines[1:])


def _check_esp_idf(place: Path) -> None:
    about = yaml.safe_load((place / "idf_component.yml").read_text())
    assert set(about) <= {"version", "description", "url", "license", "targets", "dependencies", "files"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", about["version"])


def _check_platformio(place: Path) -> None:
    about = json.loads((place / "library.json").read_text())
    assert re.fullmatch(r"[^:;/,@<>]{1,100}", about["name"]) and re.fullmatch(r"\d+\.\d+\.\d+", about["version"])
    assert len(about["description"]) <= 255
    assert (place / about["build"]["srcDir"]).is_dir() and (place / about["build"]["includeDir"]).is_dir()


def _check_arduino(place: Path) -> None:
    about = dict(line.split("=", 1) for line in (place / "library.properties").read_text().splitlines())
    required = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert set(about) == required | {"includes"}
    assert re.fullmatch(r"[A-Za-z0-9][\w .\-]{0,62}", about["name"])
    kinds = "Display|Communication|Signal Input/Output|Sensors|Device Control|Timing|Data Storage|Data Processing|Other"
    assert about["category"] in kinds.split("|")
    assert all((place / "src" / header).is_file() for header in about["includes"].split(","))


def _check_pack(place: Path, units: set[str]) -> None:
    """The order of elements, the attributes, and names of cores that the schema has."""
    root = ElementTree.fromstring((place / "Lathe.words.pdsc").read_bytes())
    assert [each.tag for each in root][:4] == ["vendor", "name", "description", "url"]
    assert root.attrib["schemaVersion"].count(".") == 2
    conditions = {each.attrib["id"]: each for each in root.iter("condition")}
    (component,) = root.iter("component")
    assert {"Cclass", "Cgroup", "Cversion", "condition"} == set(component.attrib)
    assert component.attrib["condition"] in conditions
    cores = [each.attrib["Dcore"] for each in root.iter("require") if "Dcore" in each.attrib]
    assert set(cores) <= {f"Cortex-M{which}" for which in (0, 3, 4, 7, 33, 55, 85)}
    assert {release.attrib["version"] for release in root.iter("release")} == {component.attrib["Cversion"]}
    listed = {each.attrib["name"]: each.attrib["category"] for each in root.iter("file")}
    assert {name for name, kind in listed.items() if kind == "source"} == units
    assert all((place / name).exists() for name in listed)
