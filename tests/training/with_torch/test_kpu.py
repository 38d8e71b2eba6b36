"""Layers of the KPU in training: their bytes are those of the kmodel, and networks learn, continue and are built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import buildtool
from buildtool.errors import LatheError, ValidationError
from buildtool.targets.k210.format.kmodel import read
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.simulation.simulator import simulate
from buildtool.training import data, evaluating, kpu, models
from buildtool.training.kpu import comparing, exporting
from buildtool.workflow import convert, training
from tests.training.with_torch.kpu_networks import Branches, trained
from tests.training.with_torch.test_digits import same

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "digits"
MODEL = EXAMPLE / "kpu_model.py"


def assert_equal(seed: int, count: int) -> int:
    """Registers and bytes of every layer; how many layers, and that they tell something."""
    network, samples = trained(seed)
    made, layers = comparing.compare("net", network, samples[:count])
    parts: dict[str, list[Conv]] = {}
    for layer, tensor in zip(made.model.layers, made.tensors, strict=True):
        if isinstance(layer, Conv):
            parts.setdefault(tensor, []).append(layer)
    for module, own in zip(models.layers_of(network).values(), parts.values(), strict=True):
        registers = module.registers()
        assert b"".join(part.weights for part in own) == registers.weights
        assert [norm for part in own for norm in part.batch_norm] == list(registers.batch_norm)
        assert {part.activation for part in own} == {registers.fit.activation}
    return layers


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_equal_the_simulator(seed: int) -> None:
    assert assert_equal(seed, 3) >= 2


@pytest.mark.sweep
def test_many_random_networks_equal_the_simulator() -> None:
    assert sum(assert_equal(seed, 3) for seed in range(1000, 1150)) > 400


@pytest.mark.parametrize("seed", range(12))
def test_random_branches_equal_the_simulator(seed: int) -> None:
    """Sums, merged with a convolution or not, and concatenations: every byte."""
    network, samples = trained(seed, Branches)
    assert comparing.compare("net", network, samples[:3])[1] >= 2


@pytest.mark.sweep
def test_many_random_branches_equal_the_simulator() -> None:
    """Of some that were drawn, a sum is never above zero, which is said."""
    joined = 0
    for seed in range(1000, 1100):
        try:
            network, samples = trained(seed, Branches)
        except LatheError as error:
            assert "no results were seen" in str(error)
            continue
        comparing.compare("net", network, samples[:2])
        joined += sum(isinstance(module, kpu.Add | kpu.Concat) for module in network.modules())
    assert joined > 150


def test_a_residual_network_is_saved_and_loaded(tmp_path: Path) -> None:
    network, samples = trained(3, Branches)
    models.save(tmp_path / "net.pth.tar", network, "net", 0, {})
    again = Branches(np.random.default_rng(3))
    exporting.link(again)
    models.load(tmp_path / "net.pth.tar", again)
    first, second = (comparing.outputs_of(one, samples) for one in (network, again))
    assert list(first) == list(second)
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer that computes something else than it says is named."""
    network, samples = trained(0)
    layer = next(iter(models.layers_of(network).values()))
    found = layer._bytes
    monkeypatch.setattr(layer, "_bytes", lambda planes: found(planes).bitwise_xor(1))
    with pytest.raises(ValidationError, match=r"layer 'layers\.0' differs from the simulator for sample 0"):
        comparing.compare("net", network, samples[:1])


def test_bytes_vary() -> None:
    """What is compared is not one byte everywhere."""
    counts = []
    for seed in range(8):
        network, samples = trained(seed)
        outputs = comparing.outputs_of(network, samples)
        for layer in models.layers_of(network):
            counts.append(len(np.unique(outputs[layer])))
            assert 0 <= outputs[layer].min() <= outputs[layer].max() <= 255
    assert np.median(counts) > 40
    assert max(counts) > 150


def test_digits_from_training_to_a_kmodel(tmp_path: Path) -> None:
    settings = training.FitSettings(16, 32, 0.003, 0, 1)
    policy = tmp_path / "policy.yaml"
    policy.write_text("start_epoch: 12\nweight_bits: 8\n")
    fitted = training.fit(MODEL, None, "digits", settings, tmp_path, policy=policy, resume=False, told=lambda _: None)
    best = Path(fitted["best"]["checkpoint"])
    assert fitted["best"]["quantised"]
    assert fitted["best"]["accuracy"] >= 0.96
    found = training.evaluate(MODEL, None, "digits", best, bits=None, top=1, abi="k210")
    assert (found["layers_compared"], found["weight_bits"]) == (4, [8, 8, 8, 8])
    assert found["accuracy"] == fitted["best"]["accuracy"]
    files = training.export(MODEL, None, "digits", best, tmp_path / "exported", bits=None, abi="k210")
    built = convert(files[0], options=buildtool.Options(tmp_path / "build"))
    (file,) = (Path(built.folder) / "lib" / "k210").glob("*.kmodel")
    held = data.read("digits")
    name, network = evaluating.loaded(MODEL, None, held, best, None)
    made = exporting.generated(name, network, held.shape)
    assert file.read_bytes() == made.data
    answers = []
    for sample in held.test_samples:
        (floats,) = simulate(read(file.read_bytes()), (sample + 128).astype(np.uint8).tobytes())
        answers.append(int(np.frombuffer(floats, "<f4").argmax()))
    assert np.mean(answers == held.test_labels) == found["accuracy"]


def test_a_run_continues_with_the_same_bits(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("start_epoch: 2\nweight_bits: 8\n")

    class KilledError(Exception):
        pass

    def fit(folder: str, stop: int, *, resume: bool) -> Path:
        seen: list[str] = []

        def told(text: str) -> None:
            seen.append(text)
            if len(seen) == stop:
                raise KilledError

        settings = training.FitSettings(4, 32, 0.003, 7, 1)
        training.fit(MODEL, None, "digits", settings, tmp_path / folder, policy=policy, resume=resume, told=told)
        return tmp_path / folder / "digits.pth.tar"

    whole = fit("whole", 0, resume=False)
    with pytest.raises(KilledError):
        fit("killed", 3, resume=False)
    assert same(whole, fit("killed", 0, resume=True))
    history = json.loads((tmp_path / "killed" / "digits.json").read_text())
    assert history["resumed"] == 3


class Net(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.layers(values)


class Summed(Net):
    def forward(self, values: torch.Tensor) -> torch.Tensor:
        values = self.layers(values)
        return values + values


class Joining(nn.Module):
    """Two convolutions, and layers that read some of the samples (0), the convolutions (1, 2) and each other."""

    def __init__(self, *joined: Any) -> None:
        super().__init__()
        self.layers = nn.ModuleList([kpu.Conv2d(1, 4), kpu.Conv2d(1, 4)])
        self.joined, self.sources = nn.ModuleList(joined[::2]), joined[1::2]

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        made = [values, *(layer(values) for layer in self.layers)]
        for layer, sources in zip(self.joined, self.sources, strict=True):
            made.append(layer(*(made[place] for place in sources)))
        return made[-1]


MISTAKES = {
    "`kernel_size` cannot be 5": lambda: kpu.Conv2d(1, 4, 5),
    "`stride` cannot be 3": lambda: kpu.Conv2d(1, 4, stride=3),
    "`activation` cannot be 'leaky'": lambda: kpu.Conv2d(1, 4, activation="leaky"),
    "`pool` cannot be 'max3'": lambda: kpu.Conv2d(1, 4, pool="max3"),
    "a stride of 2 and a pool": lambda: kpu.Conv2d(1, 4, stride=2, pool="max"),
    "depthwise, a kernel of 3, a stride of 2": lambda: kpu.Conv2d(4, 4, depthwise=True, stride=2),
    "1025 channels to 4": lambda: kpu.Conv2d(1025, 4),
    "the K210 has no layer Softmax": lambda: exporting.link(Net(kpu.Conv2d(1, 4), nn.Softmax(1))),
    "the network calls 'add' outside of a layer": lambda: exporting.link(Summed(kpu.Conv2d(1, 4))),
    "a layer of the KPU reads floats": lambda: exporting.link(Net(kpu.GlobalAverage(), kpu.Conv2d(1, 4))),
    "a layer Add reads 2 results": lambda: exporting.link(Joining(kpu.Add(), (1, 1))),
    "a layer Concat reads 2 results": lambda: exporting.link(Joining(kpu.Concat(), (0, 1))),
    "a layer Concat reads 1 results": lambda: exporting.link(Joining(kpu.Concat(), (1,))),
    "two layers Add of the same results": lambda: exporting.link(Joining(kpu.Add(), (1, 2), kpu.Add(), (2, 1))),
    "two layers Concat of the same results": lambda: exporting.link(
        Joining(kpu.Concat(), (1, 2), kpu.Concat(), (1, 2))
    ),
    "a concatenation reads another": lambda: exporting.link(Joining(kpu.Concat(), (1, 2), kpu.Concat(), (3, 1))),
    "`activation` of a sum cannot be 'tanh'": lambda: kpu.Add("tanh"),
    "weights of 4 bits": lambda: kpu.Conv2d(1, 4).quantise(4),
    "no results were seen": lambda: kpu.Conv2d(1, 4).quantise(8),
    "the weights are floats": lambda: exporting.weight_bits(Net(kpu.Conv2d(1, 4))),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_answered(what: str) -> None:
    with pytest.raises(LatheError) as caught:
        MISTAKES[what]()
    assert what in caught.value.problems[0].what
    assert caught.value.problems[0].rule or caught.value.problems[0].remedy
