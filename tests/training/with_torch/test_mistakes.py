"""Networks that a chip cannot have: shapes, operations and limits, each answered with what, where, rule and remedy."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import torch

from buildtool.targets.max7800x.devices import DEVICES
from buildtool.training import ai8x, data, distilling, evaluating, fitting, models
from buildtool.training.data import Data
from buildtool.training.fitting import Settings
from tests.training import golden

FILE = """import torch
from torch import nn
from torch.nn import functional as F
import ai8x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {run}

def net(**kwargs):
    return Net()

models = [{{"name": "net", "min_input": 1, "dim": 2}}]
"""
CHIP = "max78000"
CONV = "self.a = ai8x.FusedConv2dReLU(1, 8, 3, padding=1)"
RUN, SHAPE = "return self.a(x)", (1, 8, 8)
POOL = "self.a = ai8x.FusedMaxPoolConv2d(1, 8, 1, pool_size=17, pool_stride=16)"
TWO = f"{CONV}; self.b = ai8x.FusedConv2dReLU(8, 8, 3, padding=1)"


def network(made: str, run: str, shape: tuple[int, ...], abi: str, folder: Path) -> object:
    (folder / "model.py").write_text(FILE.format(made=made, run=run))
    samples = np.zeros((10, *shape), np.int64)
    known = Data("zeros", samples, np.zeros(10, np.int64), samples, np.zeros(10, np.int64))
    name, found = models.made(folder / "model.py", None, known)
    models.quantise(found, dict.fromkeys(models.layers_of(found), 8))
    return evaluating.chip_network(name, found.eval(), DEVICES[abi], shape, folder)


NETWORKS: dict[str, tuple[str, str, tuple[int, ...], str]] = {
    "fully connected without flattening": ("self.a = ai8x.Linear(64, 4)", "return self.a(x)", (1, 8, 8), CHIP),
    "wide with an activation": ("self.a = ai8x.FusedConv2dAbs(1, 8, 1, wide=True)", RUN, SHAPE, CHIP),
    "batchnorm": ("self.a = ai8x.FusedConv2dReLU(1, 8, 3, batchnorm='Yes')", "return self.a(x)", (1, 8, 8), CHIP),
    "no such layer": ("self.a = ai8x.FusedConv2dRelu(1, 8, 3)", "return self.a(x)", (1, 8, 8), CHIP),
    "a layer of the first prototype": ("self.a = ai8x.SoftwareLinear(64, 4)", CONV, (1, 8, 8), CHIP),
    "bits in a layer": ("self.a = ai8x.Conv2d(1, 8, 3, weight_bits=4)", "return self.a(x)", (1, 8, 8), CHIP),
    "a function of torch": (CONV, "return F.relu(self.a(x))", (1, 8, 8), CHIP),
    "an operator of Python": (TWO, "y = self.a(x); return y + self.b(y)", (1, 8, 8), CHIP),
    "a layer of torch": ("self.a = nn.Conv2d(1, 8, 3)", "return self.a(x)", (1, 8, 8), CHIP),
    "reshaped": (TWO, "return self.b(self.a(x).view(x.size(0), 4, 16, 8).view(x.size(0), 8, 8, 8))", (1, 8, 8), CHIP),
    "flattened before a kernel of 3x3": (
        f"{CONV}; self.b = ai8x.Conv2d(512, 4, 3, padding=1)",
        "return self.b(self.a(x).view(x.size(0), -1, 1, 1))",
        (1, 8, 8),
        CHIP,
    ),
    "concatenated along rows": (
        TWO, "y = self.a(x); return self.b(torch.cat((y, self.b(y)), 2))", (1, 8, 8), CHIP,
    ),
    "one operand": (f"{CONV}; self.add = ai8x.Add()", "return self.add(self.a(x))", (1, 8, 8), CHIP),
    "an operand that is concatenated": (
        f"{TWO}; self.add = ai8x.Add()",
        "y = self.a(x); z = torch.cat((y, self.b(y)), 1); return self.add(z, z)",
        (1, 8, 8),
        CHIP,
    ),
    "an if": (CONV, "return self.a(x) if x.sum() > 0 else x", (1, 8, 8), CHIP),
    "sizes that do not fit": ("self.a = ai8x.Conv2d(3, 8, 3)", "return self.a(x)", (1, 8, 8), CHIP),
    "a kernel of 5x5": ("self.a = ai8x.Conv2d(1, 8, 5, padding=2)", "return self.a(x)", (1, 8, 8), CHIP),
    "a stride of 2": ("self.a = ai8x.Conv2d(1, 8, 3, stride=2, padding=1)", "return self.a(x)", (1, 8, 8), CHIP),
    "a padding of 3": ("self.a = ai8x.Conv2d(1, 8, 3, padding=3)", "return self.a(x)", (1, 8, 8), CHIP),
    "a dilation": ("self.a = ai8x.Conv2d(1, 8, 3, dilation=2)", "return self.a(x)", (1, 8, 8), CHIP),
    "a kernel of 10": ("self.a = ai8x.Conv1d(1, 8, 10)", "return self.a(x)", (1, 32), CHIP),
    "too many channels": ("self.a = ai8x.Conv2d(1, 2000, 1)", "return self.a(x)", (1, 8, 8), CHIP),
    "a large pool": (POOL, "return self.a(x)", (1, 32, 32), CHIP),
    "too many weights": (
        "self.a = ai8x.Conv2d(64, 1024, 3); self.b = ai8x.Conv2d(1024, 1024, 3)",
        "return self.b(self.a(x))",
        (64, 8, 8),
        CHIP,
    ),
    "a large image": (CONV, "return self.a(x)", (1, 1100, 1100), CHIP),
    "too many layers": (
        f"{CONV}; self.more = nn.Sequential(*[ai8x.Conv2d(8, 8, 1) for _ in range(40)])",
        "return self.more(self.a(x))",
        (1, 8, 8),
        CHIP,
    ),
    "too many fully connected inputs": (
        "self.a = ai8x.Linear(1024 * 1024, 4)",
        "return self.a(x.view(x.size(0), -1))",
        (1, 1024, 1024),
        CHIP,
    ),
}  # fmt: skip


def teacher(folder: Path) -> object:
    """One that knows fewer digits."""
    digits = data.read("digits")
    file = folder / "model.py"
    text = FILE.format(
        made="self.a = ai8x.Linear(64, n, wide=True)", run="return self.a(x.view(x.size(0), -1))"
    ).replace("def __init__(self)", "def __init__(self, n)")
    file.write_text(text.replace("def net(**kwargs):\n    return Net()", "def net(n=10, **kwargs):\n    return Net(n)"))
    few = fitting.fit(file, None, digits, Settings(epochs=1, arguments={"n": 11}), folder / "few")
    learned = distilling.Distillation("net", few.checkpoint)
    return fitting.fit(file, None, digits, Settings(epochs=1, distillation=learned), folder)


def outputs(run: str, entry: str, priors: str, folder: Path) -> object:
    """A network with whatever outputs, and samples with boxes."""
    made = f"self.a = ai8x.Conv2d(1, 8, 1); {priors or 'pass'}"
    text = FILE.format(made=made, run=run).replace('"dim": 2', f'"dim": 2{entry}')
    (folder / "model.py").write_text(text)
    samples, boxes = (
        np.zeros((10, 1, 8, 8), np.int64),
        np.tile(np.array([[[0, 0.1, 0.1, 0.5, 0.5]]], np.float32), (10, 1, 1)),
    )
    known = Data("boxes", samples, boxes, samples, boxes)
    return fitting.fit(folder / "model.py", None, known, Settings(epochs=1), folder)


BOTH = "y = self.a(x).permute(0, 2, 3, 1); return y.reshape(x.size(0), -1, 4), y.reshape(x.size(0), -1, 2)"
PRIORS = "self.priors_cxcy = torch.zeros(128, 4)"
OUTPUTS = {
    "two outputs": ("return self.a(x), x", ', "task": "boxes", "anchors": [1, 1]', ""),
    "no priors": ("return self.a(x)", "", ""),
    "priors of 3": (BOTH, "", "self.priors_cxcy = torch.zeros(128, 3)"),
    "scores of as many priors": (BOTH, "", PRIORS),
    "one output for priors": ("return self.a(x)", "", PRIORS),
    "anchors for priors": (BOTH, ', "task": "priors", "anchors": [1, 1]', PRIORS),
}


def device(folder: Path) -> None:
    del folder
    ai8x.set_device(84, simulate=False, round_avg=False)


CASES: golden.Cases = {
    **{name: functools.partial(network, *case) for name, case in NETWORKS.items()},
    **{name: functools.partial(outputs, *case) for name, case in OUTPUTS.items()},
    "a teacher of other answers": teacher,
    "the first prototype": device,
}


def test_all_are_answered(tmp_path: Path) -> None:
    assert len(CASES) >= 25
    torch.manual_seed(0)
    golden.compare(Path(__file__).with_name("mistakes.txt"), golden.answers(CASES, tmp_path))
