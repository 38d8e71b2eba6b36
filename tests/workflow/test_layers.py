"""Errors that were planted into small relatives of the zoo are found where they were planted."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import buildtool
from buildtool import workflow
from buildtool.drafts import deployment
from buildtool.settings import RunSettings
from tests.validation.planting import EXPONENT, SIGN, Weight, off_by_one, weights
from tests.zoo.networks import NETWORKS, cached

pytestmark = pytest.mark.slow
CACHE = Path(__file__).resolve().parents[2] / "build" / "test-zoo"
LEAN = ("resnet18", "shufflenet_v2")


def project(folder: Path, names: tuple[str, ...], size: int = 64) -> tuple[Path, buildtool.Options, dict[str, str]]:
    """A library with these networks: the deployment, where it is built, and what they are called in it."""
    models = [cached(name, CACHE, size, 0.25) for name in names]
    text = deployment.write(models, relative_to=folder, library_name="zoo", target_abis=["host"], data_type="fp32_fp32")
    (folder / "zoo.yml").write_text(text)
    options = buildtool.Options(folder / "build", archive=False)
    built = buildtool.build(folder / "zoo.yml", options=options)
    return folder / "zoo.yml", options, dict(zip(names, (model.name for model in built.models), strict=True))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, buildtool.Options, dict[str, str]]:
    return project(tmp_path_factory.mktemp("zoo"), LEAN)


def layers(file: Path, options: buildtool.Options, model: str, search: bool = False) -> dict[str, Any]:
    settings = RunSettings(model=model, threads=1)
    (found,) = workflow.validate_layers(file, options=options, settings=settings, search=search).models
    return found


def heaviest(zoo: tuple[Path, buildtool.Options, dict[str, str]], name: str, part: float) -> Weight:
    """The largest weight of the node that stands at this part of the depth."""
    _, options, models = zoo
    nodes = list(weights(options.output / "zoo/model/host" / models[name]))
    return max(nodes[int(part * (len(nodes) - 1))][1], key=lambda weight: abs(weight.value))


@pytest.mark.parametrize("name", LEAN)
def test_layers_of_a_right_library_pass_and_are_those_of_the_source(
    zoo: tuple[Path, buildtool.Options, dict[str, str]], name: str
) -> None:
    file, options, models = zoo
    found = layers(file, options, models[name])
    assert found["first"] is None
    assert found["reference"] == "onnxruntime"
    compared = [layer for layer in found["layers"] if layer["source_cosine"] is not None]
    assert len(compared) > 20
    assert min(layer["source_cosine"] for layer in compared) > 0.99999, "a name belongs to another tensor"
    assert max(layer["max_rel"] for layer in found["layers"]) < 1e-4
    folder = options.output / "zoo/report/layers/host" / models[name]
    rows = list(csv.DictReader((folder / "log.csv").read_text().splitlines()))
    assert list(rows[0]) == ["output_name", "similarity", "sqnr", "pixel_accuracy"]
    assert len(rows) == len(found["layers"])
    assert rows[-1]["output_name"] == "output"
    assert (folder / "drift.svg").read_bytes().count(b"<circle") == 2 * len(rows) + 2


@pytest.mark.parametrize(
    ("name", "part", "search"), [("resnet18", 0.6, False), ("resnet18", 0.3, True), ("shufflenet_v2", 0.0, False)]
)
def test_a_flipped_weight_is_found_in_its_node(
    zoo: tuple[Path, buildtool.Options, dict[str, str]], name: str, part: float, search: bool
) -> None:
    file, options, models = zoo
    weight = heaviest(zoo, name, part)
    weight.flip(SIGN)
    try:
        found = layers(file, options, models[name], search)
    finally:
        weight.flip(SIGN)
    assert found["first"]["node"] == weight.node
    assert not found["passed"]
    assert ("search" in found) == search
    if search:
        assert len(found["search"]["probes"]) < found["search"]["nodes"] / 2
        assert found["search"]["most_held"] < 6
    failed = [layer["node"] for layer in found["layers"] if not layer["passed"]]
    assert failed == ([] if found["layers"] == [] else [weight.node]), "nodes behind it are innocent"


def test_a_kernel_off_by_one_is_found_in_the_first_node_that_runs_it(
    tmp_path: Path, zoo: tuple[Path, buildtool.Options, dict[str, str]]
) -> None:
    file, options, models = zoo
    right = layers(file, options, models["resnet18"])
    kernel = next(layer["kernel"] for layer in right["layers"] if layer["op"] == "max_pool2d")
    with pytest.MonkeyPatch.context() as patch:
        off_by_one(kernel, patch)
        planted = project(tmp_path, ("resnet18",))
    found = layers(planted[0], planted[1], planted[2]["resnet18"])
    assert (found["first"]["op"], found["first"]["node"]) == ("max_pool2d", "MaxPool_3")
    assert [layer["op"] for layer in found["layers"] if not layer["passed"]] == ["max_pool2d"]


def test_a_dump_can_be_fed_again(tmp_path: Path, zoo: tuple[Path, buildtool.Options, dict[str, str]]) -> None:
    file, options, models = zoo
    settings = RunSettings(model=models["resnet18"])
    (folder,) = workflow.dump(file, options=options, settings=settings, folder=tmp_path)
    index = json.loads((folder / "values.json").read_text())
    arrays = {entry["value"]: np.load(folder / entry["file"]) for entry in index}
    assert [list(arrays[entry["value"]].shape) for entry in index] == [entry["shape"] for entry in index]
    assert {"Conv_0", "MaxPool_3", "Gemm_50"} <= {entry["node"] for entry in index} | {"Gemm_50"}
    np.save(tmp_path / "again.npy", arrays["input"])
    fed = RunSettings(model=models["resnet18"], inputs={"input": tmp_path / "again.npy"}, output_folder=tmp_path / "o")
    workflow.run(file, options=options, settings=fed)
    again = np.load(tmp_path / "o/host" / models["resnet18"] / "output.npy")
    np.testing.assert_array_equal(again, arrays["output"])


def test_the_trap_names_the_node_that_makes_numbers_that_are_none(
    zoo: tuple[Path, buildtool.Options, dict[str, str]],
) -> None:
    file, options, models = zoo
    settings = RunSettings(model=models["resnet18"])
    workflow.trap(file, options=options, settings=settings)
    weight = heaviest(zoo, "resnet18", 0.5)
    bits = [bit for bit in range(23, 31) if not np.float32(weight.value).view(np.uint32) >> bit & 1]
    for bit in bits:
        weight.flip(bit)  # an exponent of ones: the weight is no number
    try:
        with pytest.raises(buildtool.errors.RunError, match=rf"node '{weight.node}'.*conv2d makes") as caught:
            workflow.trap(file, options=options, settings=settings)
    finally:
        for bit in bits:
            weight.flip(bit)
    assert caught.value.problems[0].where.value.startswith(("Relu", "BatchNorm", "Conv"))


@pytest.mark.sweep
@pytest.mark.parametrize("name", NETWORKS)
def test_flipped_weights_in_many_places(tmp_path: Path, name: str) -> None:
    """Random weights of random nodes, until ten were found. Those that change no value of the run are counted apart:
    behind a ReLU that gives zero everywhere a weight does not matter."""
    file, options, models = project(tmp_path, (name,))
    right = [layer["own"] for layer in layers(file, options, models[name])["layers"]]
    nodes = list(weights(options.output / "zoo/model/host" / models[name]))
    generator = np.random.default_rng(7)
    found = without_effect = small = 0
    while found < 10:
        assert found + without_effect + small < 60
        numbers = nodes[generator.integers(len(nodes))][1]
        weight = numbers[generator.integers(len(numbers))]
        bit = EXPONENT if generator.integers(2) else SIGN
        weight.flip(bit)
        result = layers(file, options, models[name])
        weight.flip(bit)
        if result["first"] is not None:
            found += 1
            assert result["first"]["node"] == weight.node
            assert [layer["node"] for layer in result["layers"] if not layer["passed"]] == [weight.node]
        elif [layer["own"] for layer in result["layers"]] == right:
            without_effect += 1
        else:
            small += 1
    print(f"{name}: {found} found in the right node, {without_effect} without effect, {small} too small")  # noqa: T201
    assert small <= 2


@pytest.mark.sweep
@pytest.mark.parametrize("name", NETWORKS)
def test_every_kernel_off_by_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "right").mkdir()
    file, options, models = project(tmp_path / "right", (name,))
    right = layers(file, options, models[name])["layers"]
    kernels = dict.fromkeys(layer["kernel"] for layer in right if "_f32_" in layer["kernel"])
    for kernel in kernels:
        expected = next(layer for layer in right if layer["kernel"] == kernel)
        folder = tmp_path / kernel
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            off_by_one(kernel, patch)
            file, options, models = project(folder, (name,))
        found = layers(file, options, models[name])["first"]
        assert (found["index"], found["node"]) == (expected["index"], expected["node"]), kernel
    print(f"{name}: {len(kernels)} kernels off by one, each found in its first node")  # noqa: T201
