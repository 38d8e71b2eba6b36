"""Times an epoch beside the manufacturer's ai8x-training: the same model files, samples and steps.

    python -m tests.training.with_torch.compare_speed TOOL_FOLDER [--rounds N]

TOOL_FOLDER is a checkout of ai8x-training. Both sides train with Adam, batches of 32, random samples and one thread, in
turns; the smallest processor time of an epoch counts. The tool's own loop, which does more than steps, is not timed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from buildtool.training import ai8x, models

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
_BATCH = 32
#: file below EXAMPLES or `models` of the tool, architecture, shape of a sample, number of samples
NETWORKS = (
    ("digits/chip_model.py", "digits", (1, 8, 8), 1438),
    ("chips/models.py", "words", (24, 60), 512),
    ("chips/models.py", "scenes", (3, 16, 16), 512),
    ("ai85net.py", "ai85net5", (1, 28, 28), 256),
    ("ai85net-kws20-v3.py", "ai85kws20netv3", (128, 128), 128),
    ("ai85net-res-simplenet.py", "ai85ressimplenet", (3, 32, 32), 128),
    ("ai85net-nas-cifar.py", "ai85nascifarnet", (3, 32, 32), 128),
)


def made(file: Path, arch: str, shape: tuple[int, ...], layers: Any) -> nn.Module:
    """A network of a model file with these layers."""
    sys.modules["ai8x"] = layers
    sys.modules.pop("ai8x_blocks", None)
    specification = importlib.util.spec_from_file_location("timed_model", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.__dict__["ai8x"] = layers  # examples import those of Lathe
    torch.manual_seed(0)
    network: nn.Module = getattr(module, arch)(num_classes=10, num_channels=shape[0], dimensions=shape[1:], bias=True)
    return network


def epoch(network: nn.Module, optimiser: torch.optim.Optimizer, samples: torch.Tensor, labels: torch.Tensor) -> float:
    """Its seconds."""
    begin = time.process_time()
    for start in range(0, len(labels) - _BATCH + 1, _BATCH):
        answers = network(samples[start : start + _BATCH]).reshape(_BATCH, -1)
        loss = nn.functional.cross_entropy(answers, labels[start : start + _BATCH])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.process_time() - begin


def times(theirs: Any, file: Path, arch: str, shape: tuple[int, ...], count: int, rounds: int, *,
          quantised: bool) -> tuple[float, float]:  # fmt: skip
    """Seconds of an epoch: here, and there."""
    samples, labels = torch.randint(-128, 128, (count, *shape)) / 128, torch.randint(0, 10, (count,))
    here, there = made(file, arch, shape, ai8x), made(file, arch, shape, theirs)
    if quantised:
        models.quantise(here, dict.fromkeys(models.layers_of(here), 8))
        theirs.fuse_bn_layers(there)
        theirs.initiate_qat(there, {"weight_bits": 8})
    sides = [
        (network.train(), torch.optim.Adam([one for one in network.parameters() if one.requires_grad], 1e-3))
        for network in (here, there)
    ]
    found = [[epoch(*side, samples, labels) for side in sides] for _ in range(rounds + 1)][1:]
    first, second = (min(row[side] for row in found) for side in range(2))
    return first, second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", type=Path, help="a checkout of ai8x-training")
    parser.add_argument("--rounds", type=int, default=6)
    chosen = parser.parse_args()
    sys.path.insert(0, str(chosen.tool.resolve()))
    theirs: Any = importlib.import_module("ai8x")
    theirs.set_device(85, simulate=False, round_avg=False, verbose=False)
    torch.set_num_threads(1)
    print(f"{'':18}{'floats':>24}{'quantised':>24}")
    print(f"{'network':18}" + f"{'here':>8}{'there':>8}{'ratio':>8}" * 2)
    for name, arch, shape, count in NETWORKS:
        file = EXAMPLES / name if "/" in name else chosen.tool / "models" / name
        print(f"{arch:18}", end="", flush=True)
        for quantised in (False, True):
            here, there = times(theirs, file, arch, shape, count, chosen.rounds, quantised=quantised)
            print(f"{here:8.3f}{there:8.3f}{here / there:8.3f}", end="", flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
