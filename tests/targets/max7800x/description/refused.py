"""Invalid descriptions, each as a change to one that is valid.

The file refused.txt holds them. A case begins with `=== its name`; the lines up to `---` change the base:

    2 pad: 3          the key of layer 2
    2 -pad            without the key
    * arch: other     a key of the whole file
    | layers:         the file's text instead (all lines that begin like this)
    + snoop: 1        text behind the file
    copies 1 40       layer 1 so many times more
    weights 2 4x3x1x1 the shape of the third array of weights; `weights none`: no file
    largest 2 300     the largest value in it
    sample 3x9x9      the shape of the sample; `sample none`: no file
    device max78000   instead of max78002
    options fifo=True instead of the defaults

What follows, up to the next case, is the whole error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.description import Described, Options
from buildtool.targets.max7800x.devices import DEVICES, MAX78002, Device

FILE = Path(__file__).parent / "refused.txt"

Keys = dict[str, str]


def _base() -> tuple[Keys, ...]:
    return (
        {
            "name": "first",
            "processors": "0x0000000000000007",
            "operation": "conv2d",
            "pad": "1",
            "activate": "ReLU",
            "out_offset": "0x2000",
        },
        {
            "processors": "0x00000000000000ff",
            "operation": "conv2d",
            "max_pool": "2",
            "pool_stride": "2",
            "activate": "ReLU",
            "out_offset": "0x0000",
        },
        {"processors": "0x000000000000ffff", "operation": "none", "out_offset": "0x2000"},
        {
            "processors": "0x000000000000ffff",
            "operation": "conv1d",
            "kernel_size": "3",
            "in_dim": "16",
            "out_offset": "0x0000",
        },
        {
            "processors": "0x000000000000000f",
            "operation": "linear",
            "flatten": "true",
            "output_width": "32",
            "out_offset": "0x1000",
        },
    )


@dataclass
class Description:
    """A description with its files, before it is written down."""

    general: Keys = field(default_factory=lambda: {"arch": "test", "dataset": "pictures"})
    layers: list[Keys] = field(default_factory=lambda: list(_base()))
    text: list[str] = field(default_factory=list)  # instead of all that
    behind: list[str] = field(default_factory=list)
    weights: list[tuple[int, ...]] | None = field(
        default_factory=lambda: [(8, 3, 3, 3), (16, 8, 3, 3), (4, 16, 3), (10, 64)]
    )
    largest: dict[int, int] = field(default_factory=dict)
    sample: tuple[int, ...] | None = (3, 8, 8)
    device: Device = MAX78002
    options: dict[str, Any] = field(default_factory=dict)

    def change(self, line: str) -> None:
        """Apply one line of a case."""
        word, _, rest = line.partition(" ")
        if word in ("*", *map(str, range(len(self.layers)))):
            keys = self.general if word == "*" else self.layers[int(word)]
            if rest.startswith("-"):
                del keys[rest[1:]]
            else:
                key, _, value = rest.partition(":")
                keys[key] = value.strip()
        elif word == "|":
            self.text.append(rest)
        elif word == "+":
            self.behind.append(rest)
        elif word == "device":
            self.device = DEVICES[rest]
        elif word == "options":
            self.options = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)}
        else:
            self._change_files(word, rest.split())

    def _change_files(self, word: str, words: list[str]) -> None:
        if word == "copies":
            at, count = map(int, words)
            self.layers[at:at] = [dict(self.layers[at]) for _ in range(count)]
        elif word == "largest":
            self.largest[int(words[0])] = int(words[1])
        elif word == "sample":
            self.sample = None if words == ["none"] else _shape(words[0])
        elif words == ["none"]:
            self.weights = None
        else:
            assert word == "weights" and self.weights is not None
            self.weights[int(words[0]) :] = [_shape(words[1]), *self.weights[int(words[0]) + 1 :]]

    def yaml(self) -> str:
        """The file."""
        if self.text:
            return "\n".join(self.text) + "\n"
        lines = [f"{key}: {value}" for key, value in self.general.items()]
        lines.append("layers:")
        for layer in self.layers:
            written = [f"{key}: {value}" for key, value in layer.items()]
            lines += [f"  - {written[0]}", *(f"    {line}" for line in written[1:])]
        return "\n".join([*lines, *self.behind]) + "\n"

    def read(self, folder: Path) -> Described:
        """Write everything into a folder, and read it from there."""
        file, weights, sample = folder / "network.yaml", folder / "weights.npy", folder / "sample.npy"
        file.write_text(self.yaml(), encoding="utf-8")
        if self.weights is not None:
            with weights.open("wb") as stream:
                for at, shape in enumerate(self.weights):
                    values = np.arange(np.prod(shape), dtype=np.int64).reshape(shape) % 7 - 3
                    values.flat[0] = self.largest.get(at, values.flat[0])
                    np.save(stream, values)
        if self.sample is not None:
            np.save(sample, np.zeros(self.sample, np.int64))
        return description.read(
            file,
            device=self.device,
            weights=None if self.weights is None else weights,
            sample=None if self.sample is None else sample,
            options=Options(**self.options),
        )


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("x"))


@dataclass(frozen=True)
class Case:
    """One of the file."""

    name: str
    changes: tuple[str, ...]
    error: str

    def described(self) -> Description:
        made = Description()
        for line in self.changes:
            made.change(line)
        return made

    def written(self) -> str:
        return "\n".join([f"=== {self.name}", *self.changes, "---", self.error]) + "\n"


def cases() -> tuple[Case, ...]:
    """All of the file."""
    blocks = re.split(r"^=== ", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for block in blocks:
        head, _, error = block.partition("\n---\n")
        name, *changes = head.split("\n")
        found.append(Case(name, tuple(changes), error.rstrip("\n")))
    return tuple(found)
