"""Model files of ai8x-training: they are loaded as they are, with `import ai8x` and `import ai8x_blocks`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from buildtool.builders.device_simulators import device_simulator
from buildtool.builders.objects import ObjectCache
from buildtool.errors import LatheError
from buildtool.targets.max7800x import TARGET
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware import program
from buildtool.training import ai8x, evaluating, layers, models
from buildtool.training.data import Data
from buildtool.workflow import training
from tests.targets.max7800x import machine

BLOCKS = """import ai8x
from torch import nn


class Twice(nn.Module):
    def __init__(self, channels, expansion, bias=False, **kwargs):
        super().__init__()
        self.conv1 = ai8x.FusedConv2dBNReLU(channels, channels * expansion, 1, padding=0, bias=bias, **kwargs)
        self.conv2 = ai8x.FusedConv2dBN(channels * expansion, channels, 1, bias=bias, **kwargs)
        self.resid = ai8x.Add() if expansion > 1 else ai8x.Empty()

    def forward(self, x):
        return self.resid(self.conv2(self.conv1(x)), x)
"""
MODEL = """from torch import nn

import ai8x
import ai8x_blocks


class AI85Test(nn.Module):
    def __init__(self, num_classes=10, num_channels=3, dimensions=(28, 28), planes=12, bias=False, **kwargs):
        super().__init__()
        assert planes + num_channels <= ai8x.dev.WEIGHT_INPUTS
        assert planes <= ai8x.dev.WEIGHT_DEPTH - 1
        self.conv1 = ai8x.FusedMaxPoolConv2dReLU(in_channels=num_channels, out_channels=planes, kernel_size=3,
                                                 pool_size=2, pool_stride=2, padding=1, bias=bias, eps=1e-3,
                                                 momentum=0.1, batchnorm='NoAffine', **kwargs)
        self.blocks = ai8x_blocks.Twice(planes, 2, bias=bias, **kwargs)
        self.mix = ai8x.BitwiseXor()
        self.conv2 = ai8x.FusedAvgPoolConv2dAbs(planes, planes, 3, pool_size=2, pool_stride=2, padding=1, **kwargs)
        self.fc = ai8x.Linear(planes * dimensions[0] // 4 * dimensions[1] // 4, num_classes, bias=True, wide=True,
                              **kwargs)

    def forward(self, x):
        x = self.conv1(x)
        x = self.mix(self.blocks(x), x)
        x = self.conv2(x)
        return self.fc(x.view(x.size(0), -1))


def ai85test(pretrained=False, **kwargs):
    assert not pretrained
    return AI85Test(**kwargs)


models = [{'name': 'ai85test', 'min_input': 1, 'dim': 2}]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "ai8x_blocks.py").write_text(BLOCKS)
    (tmp_path / "ai8x.py").write_text("raise ImportError('the layers of ai8x-training itself')\n")
    (tmp_path / "models" / "ai85net-test.py").write_text(MODEL)
    return tmp_path / "models" / "ai85net-test.py"


def test_a_model_file_is_loaded_as_it_is(checkout: Path, tmp_path: Path) -> None:
    samples = np.random.default_rng(0).integers(-128, 128, (10, 3, 16, 16))
    data = Data("random", samples, np.arange(10) % 4, samples, np.arange(10) % 4)
    name, network = models.made(checkout, None, data)
    found = models.layers_of(network)
    assert list(found) == ["conv1", "blocks.conv1", "blocks.conv2", "conv2", "fc"]
    norm = found["conv1"].bn
    assert norm is not None
    assert (norm.eps, norm.momentum, norm.affine) == (1e-3, 0.1, False)
    models.quantise(network, dict(zip(found, (8, 4, 2, 8, 4), strict=True)))
    on_chip = evaluating.chip_network(name, network.eval(), MAX78000, data.shape, tmp_path)
    library = device_simulator(TARGET.simulator, ObjectCache())
    assert evaluating.compare(network, on_chip, data, library) == 7


def test_the_device_is_asked_for_its_limits() -> None:
    for device, depth in ((87, 5120), (85, 768)):
        ai8x.set_device(device, simulate=False, round_avg=False)
        assert (ai8x.dev.device, ai8x.dev.WEIGHT_DEPTH, ai8x.dev.WEIGHT_INPUTS) == (device, depth, 256)
    assert issubclass(ai8x.LAYERS["BitwiseOr"], layers.Elementwise)  # type: ignore[arg-type]


OTHERS = """from torch import nn
from torch.nn import functional as F

import ai8x


class Others(nn.Module):
    def __init__(self, num_channels=8, dimensions=(32,), **kwargs):
        super().__init__()
        self.conv1 = ai8x.FusedConv1dReLU(num_channels, 12, 3, padding=1)
        self.conv2 = ai8x.FusedMaxPoolConv2dReLU(12, 6, 3, padding=1)
        self.last = ai8x.Conv2d(6 * dimensions[0] // 4, 4, 1)

    def forward(self, x, early=False):
        if x.shape[1] == 16:
            x = x[:, 0:8]
        x = self.conv1(x)
        if early:
            return x
        x = self.conv2(x.view(x.shape[0], x.shape[1], 4, -1))
        x = self.last(x.view(x.size(0), -1, 1, 1))
        return F.normalize(x, p=2, dim=1).squeeze()


def others(**kwargs):
    return Others(**kwargs)


models = [{'name': 'others', 'min_input': 1, 'dim': 1}]
"""


def test_what_model_files_of_others_do(tmp_path: Path) -> None:
    """Decisions by sizes and by defaults of arguments; one dimension taken for two; a convolution of 1x1 of all values;
    outputs that the program scales.
    """
    file = tmp_path / "others.py"
    file.write_text(OTHERS)
    samples = np.random.default_rng(1).integers(-128, 128, (10, 8, 32))
    data = Data("random", samples, np.arange(10) % 4, samples, np.arange(10) % 4)
    name, network = models.made(file, None, data)
    models.quantise(network, dict.fromkeys(models.layers_of(network), 8))
    on_chip = evaluating.chip_network(name, network.eval(), MAX78000, data.shape, tmp_path)
    assert [layer.operation for layer in on_chip.layers] == ["conv1d", "conv2d", "linear"]
    assert on_chip.layers[1].in_size == (4, 8)
    assert evaluating.compare(network, on_chip, data, device_simulator(TARGET.simulator, ObjectCache())) == 3
    differences, outcome = machine.differences(program.make(on_chip, data.samples[0]))
    assert not outcome.complaints
    assert not differences


LARGE = """from torch import nn

import ai8x


class Large(nn.Module):
    def __init__(self, num_channels=3, **kwargs):
        super().__init__()
        self.conv1 = ai8x.FusedConv2dReLU(num_channels, 4, 3, padding=1)
        self.conv2 = ai8x.FusedMaxPoolConv2dReLU(4, 4, 3, padding=1, pool_size=4, pool_stride=4)
        self.pool = ai8x.MaxPool2d(8, padding=0)
        self.fc = ai8x.Linear(4 * 3 * 5, 2)

    def forward(self, x):
        x = self.pool(self.conv2(self.conv1(x)))
        return self.fc(x.view(x.size(0), -1))


def large(**kwargs):
    return Large(**kwargs)


models = [{'name': 'large', 'min_input': 1, 'dim': 2}]
"""


def test_what_streams_is_built_as_export_says(tmp_path: Path) -> None:
    """120 x 160 pixels have no room in a data memory."""
    file = tmp_path / "large.py"
    file.write_text(LARGE)
    samples = np.random.default_rng(1).integers(-128, 128, (10, 3, 120, 160)).astype(np.int8)
    np.savez(tmp_path / "some.npz", samples=samples, labels=np.arange(10) % 2)
    data = str(tmp_path / "some.npz")
    fitted = training.fit(
        file, None, data, training.FitSettings(1, 8, 0.003, 0, 1), tmp_path, policy=None, resume=False, told=print
    )
    lathe = [sys.executable, "-c", "import sys; from buildtool.cli.main import main; sys.exit(main())"]
    weights = ("--checkpoint", fitted["best"]["checkpoint"], "--bits", "8", "--data", data)
    command = [*lathe, "train", "export", str(file), *weights, "-o", str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (following,) = [line for line in told.splitlines() if line.startswith("next: lathe ")]
    assert following.endswith(" --cnn fifo")
    command = [*lathe, *following.split()[2:], "--output", str(tmp_path / "build")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "build").rglob("main.c"))


def test_a_file_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "fails.py"
    file.write_text("import ai8x\nimport no_such_module\n")
    samples = np.zeros((10, 1, 8, 8), np.int64)
    data = Data("zeros", samples, np.arange(10) % 2, samples, np.arange(10) % 2)
    for ask in (models.task, models.made):
        with pytest.raises(LatheError, match="the file fails: ModuleNotFoundError: No module named 'no_such_module'"):
            ask(file, None, data)
    with pytest.raises(LatheError, match=r"fails.py:2"):
        models.space(file, None)
