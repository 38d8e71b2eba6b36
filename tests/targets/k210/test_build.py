"""`lathe build` for the K210: files, reports and errors, and the same bytes from each way to run a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool.builders.toolchain import cmake_program, ninja_program
from buildtool.errors import ConfigError, LatheError, Problem, ToolchainError, UnsupportedError
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.evaluate import evaluate
from buildtool.reports import build as report_of
from buildtool.reports import footprint
from buildtool.reports.table import Table
from buildtool.settings import Silent
from buildtool.targets.k210 import target
from buildtool.targets.k210.format.kmodel import read
from buildtool.targets.k210.generation.quantise import Bytes
from buildtool.targets.k210.simulation.simulator import Simulator
from buildtool.workflow import commands
from buildtool.workflow.tuning import tune
from tests.native_builds import build as native
from tests.native_builds import command
from tests.reports.test_graph_page import CHROMIUM, browse
from tests.targets.k210.building import (
    as_file,
    by_simulator,
    described,
    mnist,
    nearness,
    on_host,
    on_riscv,
    ranges,
    told,
)
from tests.targets.k210.generating import Net
from tests.targets.k210.test_generate import CACHE, cifar, digits, residual
from tests.targets.kpu.builds import ROOM
from tests.zoo.networks import cached

MADE = {"digits": digits, "mnist": mnist, "cifar": cifar, "residual": residual}
NAMES = (*MADE, "mobilenet")


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models, and a library of all of them in `build/nets`."""
    folder = tmp_path_factory.mktemp("k210")
    files = {name: as_file(make(), folder / f"{name}.onnx") for name, make in MADE.items()}
    small = folder / "mobilenet.onnx"
    small.write_bytes(cached("mobilenet_v1", CACHE, size=32, width=0.25).read_bytes())
    buildtool.build(described({**files, "mobilenet": small}, folder), options=buildtool.Options(folder / "build"))
    return folder


@pytest.fixture(scope="module")
def library(nets: Path) -> Path:
    return nets / "build" / "nets"


@pytest.fixture(scope="module")
def runner() -> Path:
    """Runs kmodels on this machine."""
    return native("lathe_kpu_run", variant="asan", source=ROOM) / "lathe_kpu_run"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_simulator_interpreter_and_image_give_the_same_bytes(
    nets: Path, library: Path, runner: Path, name: str, tmp_path: Path
) -> None:
    kmodel, elf = (library / "lib" / "k210" / f"{name}{suffix}" for suffix in (".kmodel", ".elf"))
    (report,) = json.loads((library / "report" / "build.json").read_text())["firmware"]
    (details,) = (model["details"] for model in report["models"] if model["name"] == name)
    into = details["input"]
    picture = np.random.default_rng(7).uniform(-1, 1, (1, *into["shape"])).astype(np.float32)
    data = np.clip(np.rint(picture / into["scale"]) + into["zero_point"], 0, 255).astype(np.uint8)
    file = tmp_path / "in"
    file.write_bytes(data.tobytes())
    wanted = by_simulator(kmodel, file)
    assert on_host(runner, kmodel, file, tmp_path) == wanted
    said, found = on_riscv(elf, tmp_path, file)
    assert found == wanted
    assert [line.startswith(start) for line, start in zip(said.splitlines(), told(wanted), strict=True)] == [True]
    given = picture if name == "mobilenet" else picture.transpose(0, 2, 3, 1)
    assert nearness(nets / f"{name}.onnx", given, wanted) > 0.98
    said, _ = on_riscv(elf, tmp_path)  # with the input that it holds
    own = by_simulator(kmodel, library / "lib" / "k210" / "sdk" / f"{name}.sample")
    assert said.startswith(told(own)[0])


@pytest.mark.slow
def test_reports_tell_what_became_of_the_models(library: Path) -> None:
    build = json.loads((library / "report" / "build.json").read_text())
    (firmware,) = build["firmware"]
    for model in firmware["models"]:
        figures = {figure["key"]: figure["value"] for figure in model["figures"]}
        kmodel = (library / "lib" / "k210" / f"{model['name']}.kmodel").read_bytes()
        assert figures["kmodel_bytes"] == len(kmodel) == firmware["files"][f"lib/k210/{model['name']}.kmodel"]
        assert 0.9 < figures["kpu_share"] <= 1
        assert 0 < figures["kpu_ram_bytes"] <= 2**21
        assert figures["activation_error"] == max(layer["activation_error"] for layer in model["details"]["layers"])
        assert figures["main_memory_bytes"] < firmware["images"][f"lib/k210/{model['name']}.elf"] < 6 << 20
    assert "riscv64-unknown-elf-gcc" in firmware["compiler"]
    assert [model["operators"]["k210_conv"] for model in build["models"]] == [2, 3, 5, 7, 26]
    headers = {path.name: path.read_text() for path in (library / "include").rglob("*.h")}
    assert "#define LATHE_MNIST_INPUT_BYTES 784" in headers["mnist.h"]
    assert "lathe_kpu_run" in headers["lathe_kpu.h"]


def test_people_see_the_same_figures(library: Path) -> None:
    document = json.loads((library / "report" / "build.json").read_text())
    shown = report_of.parts({**document, "archive": "", "folder": "build/nets", "seconds": 1.0})
    text = "\n".join(part.plain() if isinstance(part, Table) else part for part in shown)
    (head,) = (line for line in text.splitlines() if line.startswith("k210"))
    for words in ("MACs on the KPU", "activations off by at most", "kmodel", "KPU RAM", "main memory"):
        assert words in head
    assert "mobilenet.elf" in text
    assert "kendryte.c" not in text  # sources are there to be found, not to be listed
    inspected = footprint.parts(footprint.of_build(library), verbose=False)
    assert head in [line for part in inspected if isinstance(part, Table) for line in part.plain().splitlines()]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_the_figures(library: Path, tmp_path: Path) -> None:
    page = Path(shutil.copy(library / "report" / "index.html", tmp_path))
    body = browse(page, "--dump-dom").partition('id="data"')[0]
    assert "Firmware for k210" in body
    assert "Layers of residual on k210" in body
    assert "Not done yet" not in body


@pytest.mark.slow
def test_a_second_build_is_the_same(nets: Path, library: Path, tmp_path: Path) -> None:
    """In another folder, byte by byte; reports name the sources of Lathe, too, which may change meanwhile."""
    options = buildtool.Options(tmp_path / "again", archive=False)
    buildtool.build(nets / "nets.yml", options=options)
    for path in sorted(library.rglob("*")):
        if path.is_file() and path.name != "nets.tar.gz" and path.parent.name != "report":
            assert (tmp_path / "again" / "nets" / path.relative_to(library)).read_bytes() == path.read_bytes(), path


def test_converting_needs_no_compiler(nets: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    made = buildtool.convert(nets / "nets.yml", options=buildtool.Options(tmp_path / "build", archive=False))
    assert [firmware.compiler for firmware in made.firmware] == [""]
    assert (made.folder / "lib" / "k210" / "cifar.kmodel").is_file()
    assert not list(made.folder.rglob("*.elf"))
    with pytest.raises(ToolchainError) as caught:
        buildtool.build(nets / "nets.yml", options=buildtool.Options(tmp_path / "build"))
    assert "'riscv64-unknown-elf-gcc' is missing" in str(caught.value)
    assert "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf" in str(caught.value)


def test_a_dry_run_tells_the_commands(nets: Path, tmp_path: Path) -> None:
    lines = commands(nets / "nets.yml", options=buildtool.Options(tmp_path / "build"))
    assert sum(line.endswith(".bin") for line in lines) == len(NAMES)
    assert sum("software.c" in line for line in lines) == 1  # what images have in common is compiled once
    assert not (tmp_path / "build").exists()


@pytest.mark.slow
def test_models_larger_than_the_chip_are_noted_and_linked(
    nets: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(target, "_MEMORY_BYTES", 100_000)
    notes: list[Problem] = []

    class Listening(Silent):
        def note(self, problem: Problem) -> None:
            notes.append(problem)

    file = described({"mnist": nets / "mnist.onnx"}, tmp_path)
    made = buildtool.build(file, options=buildtool.Options(tmp_path / "build", archive=False), progress=Listening())
    (note,) = notes
    assert "the kmodel and its main memory take" in note.what
    assert "the chip has 100000" in note.rule
    folder = made.folder / "lib" / "k210"
    said, _ = on_riscv(folder / "mnist.elf", tmp_path)
    assert said.startswith(told(by_simulator(folder / "mnist.kmodel", folder / "sdk" / "mnist.sample"))[0])


def test_missing_ranges_are_one_error(nets: Path, tmp_path: Path) -> None:
    file = described({"digits": nets / "digits.onnx"}, tmp_path, known=False)
    with pytest.raises(UnsupportedError) as caught:
        buildtool.build(file, options=buildtool.Options(tmp_path / "build"))
    assert len(caught.value.problems) == 1
    assert "lathe quantize DEPLOYMENT --inputs SAMPLES" in str(caught.value)
    assert not (tmp_path / "build").exists()


def test_an_obfuscated_model_names_nothing(nets: Path, tmp_path: Path) -> None:
    file = described({"digits": nets / "digits.onnx"}, tmp_path)
    file.write_text(file.read_text() + "    obfuscate: 1\n")
    made = buildtool.convert(file, options=buildtool.Options(tmp_path / "build", archive=False))
    assert [layer["name"] for layer in made.firmware[0].models[0]["details"]["layers"]] == ["0", "1"]
    names = [node.name for node in import_model("onnx", ImportRequest("digits", nets / "digits.onnx")).graph.nodes]
    for path in (made.folder / "lib", made.folder / "model", made.folder / "report"):
        for item in path.rglob("*"):
            assert not item.is_file() or not any(name.encode() in item.read_bytes() for name in names), item


def test_weights_that_stay_large_are_refused(nets: Path, tmp_path: Path) -> None:
    file = described({"digits": nets / "digits.onnx"}, tmp_path, known=False)
    file.write_text(file.read_text() + "    quantize_large_weights: 1\n")
    with pytest.raises(UnsupportedError, match="k210 computes with integers"):
        buildtool.convert(file, options=buildtool.Options(tmp_path / "build"))


def test_tuning_needs_a_library(nets: Path, tmp_path: Path) -> None:
    with pytest.raises(LatheError) as caught:
        tune(nets / "nets.yml", options=buildtool.Options(tmp_path / "build"))
    assert not (tmp_path / "build").exists()
    assert caught.value.problems[0].remedy


def test_the_simulator_validates(nets: Path, tmp_path: Path) -> None:
    options = buildtool.Options(tmp_path / "build")
    report = buildtool.validate(nets / "nets.yml", options=options)
    assert report.passed
    assert {result["model"] for result in report.results} == set(NAMES)
    assert all(0.98 < result["cosine"] < 1 for result in report.results)
    assert not (tmp_path / "build").exists()
    net = Net(3)  # with a picture as its result
    file = described(
        {"picture": as_file(net.finish(net.layer(net.input(1, 9, 12, 3), 5)), tmp_path / "p.onnx")}, tmp_path
    )
    assert buildtool.validate(file, options=options).passed
    (run,) = buildtool.run(file, options=options).runs
    assert run["outputs"][0]["shape"] == [1, 9, 12, 5]
    assert sum(layer["cycles"] for layer in run["estimate"]["layers"]) == run["estimate"]["cycles"]


def test_layers_that_do_not_fit_are_reported_with_the_rule(tmp_path: Path) -> None:
    net = Net(1)
    x = net.layer(net.input(1, 16, 16, 114), 8, pads=(2, 2, 2, 2), dilations=(2, 2))
    graph = net.finish(net.layer(net.layer(x, 22), 8, 7))
    file = described({"odd": as_file(graph, tmp_path / "odd.onnx")}, tmp_path)
    with pytest.raises(UnsupportedError) as caught:
        buildtool.build(file, options=buildtool.Options(tmp_path / "build"))
    assert str(caught.value) == (Path(__file__).parent / "no_place.txt").read_text().rstrip("\n")


def test_the_cpu_takes_what_the_kpu_cannot_do_where_it_is_asked_to(tmp_path: Path) -> None:
    net = Net(2)
    graph = net.finish(net.layer(net.layer(net.input(1, 8, 8, 3), 22), 5, 7))
    file = described({"odd": as_file(graph, tmp_path / "odd.onnx")}, tmp_path)
    options = buildtool.Options(tmp_path / "build")
    with pytest.raises(UnsupportedError, match="run it on the CPU: `--fallback cpu`"):
        buildtool.convert(file, options=options)
    made = buildtool.convert(file, buildtool.Overrides(fallback="cpu"), options)
    (figures,) = ({figure["key"]: figure["value"] for figure in model["figures"]} for model in made.firmware[0].models)
    assert 0 < figures["kpu_share"] < 1
    with pytest.raises(ConfigError, match="--fallback cannot be 'gpu'"):
        buildtool.convert(file, buildtool.Overrides(fallback="gpu"), options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet"])
def test_the_project_for_the_sdk_compiles(library: Path, name: str, tmp_path: Path) -> None:
    """With a folder that stands in for the SDK: nothing of this was run."""
    sdk, source = Path(__file__).parent / "sdk_stand_in", library / "lib" / "k210" / "sdk"
    configure: list[str | Path] = [
        cmake_program(),
        "-G",
        "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={ninja_program()}",
        "-S",
        source,
    ]
    command([*configure, "-B", tmp_path, f"-DKENDRYTE_SDK_PATH={sdk}", f"-DLATHE_MODEL={name}"])
    command([ninja_program(), "-C", tmp_path])
    symbols = command(["riscv64-unknown-elf-nm", tmp_path / "nets_k210"])
    assert " lathe_kpu_hardware_device" in symbols
    assert " sysctl_pll_set_freq" in symbols
    kmodel = (library / "lib" / "k210" / f"{name}.kmodel").read_bytes()
    assert kmodel in (tmp_path / "nets_k210.bin").read_bytes()
    commands_of = command([ninja_program(), "-C", tmp_path, "-t", "commands"])
    floats = next(line for line in commands_of.splitlines() if line.endswith("float_layers.c"))
    assert floats.index("-ffast-math") < floats.index("-fno-fast-math")


def test_the_project_for_the_sdk_says_what_it_needs(library: Path, tmp_path: Path) -> None:
    configure: list[str | Path] = [cmake_program(), "-S", library / "lib" / "k210" / "sdk", "-B", tmp_path]
    with pytest.raises(AssertionError, match="KENDRYTE_SDK_PATH does not name the standalone SDK"):
        command([*configure, f"-DKENDRYTE_SDK_PATH={tmp_path}"])
    with pytest.raises(AssertionError, match="There is no model 'other'; LATHE_MODEL is one of"):
        sdk = Path(__file__).parent / "sdk_stand_in"
        command([*configure, f"-DKENDRYTE_SDK_PATH={sdk}", "-DLATHE_MODEL=other"])


@pytest.mark.slow
def test_trained_digits_are_read_as_well_as_in_single_precision(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[3] / "examples" / "digits"
    known = np.load(example / "test.npz")
    pictures, labels = (known["pictures"] / 16).astype(np.float32), known["labels"]
    (tmp_path / "digits.onnx").write_bytes((example / "digits.onnx").read_bytes())
    text = described({"digits": tmp_path / "digits.onnx"}, tmp_path, known=False).read_text()
    (tmp_path / "nets.yml").write_text(f"{text}    quantize: 1\n    quantize_range_file: digits.ranges\n")
    graph = import_model("onnx", ImportRequest("digits", tmp_path / "digits.onnx")).graph
    name = graph.inputs[0].name
    samples = [{name: one[None]} for one in pictures[:20]]
    (tmp_path / "digits.ranges").write_text(ranges(tmp_path / "digits.onnx", given=samples))
    built = buildtool.convert(tmp_path / "nets.yml", options=buildtool.Options(tmp_path / "build", archive=False))
    into = built.firmware[0].models[0]["details"]["input"]
    simulator = Simulator(read((built.folder / "lib" / "k210" / "digits.kmodel").read_bytes()))
    stored = Bytes(into["scale"], into["zero_point"]).stored(pictures)
    found = [np.frombuffer(simulator.run(one.tobytes())[0], "<f4").argmax() for one in stored]
    wanted = [evaluate(graph, {name: one[None]})[graph.outputs[0].name].argmax() for one in pictures]
    right = [float((np.array(each) == labels).mean()) for each in (found, wanted)]
    assert right[0] > right[1] - 0.006, right
