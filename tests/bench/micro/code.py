"""Measures the bytes of kernels and what kernels of their own save: `python -m tests.bench.micro.code`.

Writes code.json, by processor: bytes of each kernel; of a layer with a kernel of its own, beside its constants, the
mean of some layers, and the instructions that it saves by product and by element of the output, counted in qemu for
one processor of each instruction set; bytes of a call with its structure; bytes of generated loops by the length of
their text.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.targets.micro import costs as estimates
from buildtool.targets.micro import flash, report
from buildtool.targets.micro.emitting import calls, emulated, files, model
from buildtool.targets.micro.network import Layer, Network
from buildtool.targets.micro.planning import plan
from buildtool.targets.micro.processors import PROCESSORS, Processor
from tests.bench.micro import costs, lathe, programs
from tests.targets.micro import float_models, quantised_models

_COUNTED = {"dsp": "cortex-m4", "mve": "cortex-m55", "arm": "cortex-m3", "riscv": "rv32imac"}
_LAYERS = 6  # of each kernel whose bytes are measured
_COUNTED_LAYERS = 24  # whose instructions are counted


def _text(objects: Sequence[Path], processor: Processor) -> int:
    """Bytes of code and constants."""
    words = [f"{processor.prefix}size", *map(str, objects)]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return sum(int(line.split()[0]) for line in lines)


def _compiled(sources: dict[str, bytes], wanted: Sequence[str], processor: Processor, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sources.items():
        (folder / name).write_bytes(content)
    for old in folder.glob("*.o"):
        old.unlink()
    flags = [*emulated.OPTIMISATION, "-w", f"-I{folder}"]
    return programs.compile_all([(folder / name, flags) for name in wanted], processor, folder)


def _single(layer: Layer) -> Network:
    return Network("m", layer.inputs, (layer.output,), (layer,))


def _own(layer: Layer, processor: Processor, place: Path) -> int:
    """Bytes of the code of a layer with a kernel of its own."""
    network, kernel_set = _single(layer), processor.sets[0]
    sources = files.kernels([network], processor)
    own = model.own_sources(network, plan(network, kernel_set, 0), kernel_set, {layer})
    sources |= {name: text.encode() for name, text in own.items()}
    objects = _compiled(sources, [name for name in own if name.endswith(".c")], processor, place)
    return _text(objects, processor) - report.constant_bytes(layer, kernel_set)


def _saved(layer: Layer, processor: Processor, place: Path) -> int:
    network = _single(layer)
    inputs = lathe.inputs_of(network)
    data = b"".join(each.tobytes() for each in inputs.values())
    shared = lathe.run(network, processor, place, data)
    own = lathe.run(network, processor, place, data, own={layer})
    assert shared.output == own.output == lathe.expected(network, inputs)
    return shared.instructions - own.instructions


def _fitted(layers: Sequence[Layer], saved: Sequence[int]) -> list[float]:
    """Instructions by product and by element of the output; neither is below zero."""
    features = np.array([(layer.macs, layer.output.elements) for layer in layers], np.float64)
    wanted = np.array(saved, np.float64)
    weight = 1 / np.sqrt(features[:, :1])
    best = [0.0, 0.0]
    for used in ((0, 1), (1,), (0,)):
        found, *_ = np.linalg.lstsq(features[:, used] * weight, wanted * weight[:, 0], rcond=None)
        if found.min() >= 0:
            best = [float(f"{dict(zip(used, found, strict=True)).get(at, 0.0):.3g}") for at in (0, 1)]
            break
    return best


def _savings(processor: Processor, place: Path) -> dict[str, list[float]]:
    """By the kind of a layer."""
    counted: dict[str, list[tuple[Layer, int]]] = {}
    for kernel in flash.OWN:
        for layer in _layers(kernel, processor.sets[0], _COUNTED_LAYERS):
            counted.setdefault(flash.kind(layer), []).append((layer, _saved(layer, processor, place)))
    return {kind: _fitted(*zip(*pairs, strict=True)) for kind, pairs in counted.items()}


def _family(processor: Processor) -> str:
    return processor.sets[0] if processor.sets[0] != "portable" else "arm" if processor.is_arm else "riscv"


def _table(processor: Processor, saved: dict[str, list[float]], place: Path) -> dict[str, Any]:
    kernel_set = processor.sets[0]
    named = sorted({calls.kernel_of(layer, kernel_set) for layer in costs.drawn()} | set(calls.FILES.values()))
    kernels = {}
    whole = files.of_names(named, processor)
    for name in named:
        kernels[name] = _text(_compiled(whole, [f"lathe_{name}.c"], processor, place / "kernels"), processor)
    own = {
        kernel: [_own(layer, processor, place / "own") for layer in layers]
        for kernel in flash.OWN
        if (layers := _layers(kernel, kernel_set))
    }
    network = float_models.network_of(float_models.images(3), place)
    memory = plan(network, kernel_set, 0)
    sources = files.kernels([network], processor)
    sources |= {
        "m.h": model.header(network, memory).encode(),
        "m.c": model.source(network, memory, kernel_set).encode(),
    }
    size = _text(_compiled(sources, ["m.c"], processor, place / "loops"), processor)
    size -= sum(report.constant_bytes(layer, kernel_set) for layer in network.layers)
    length = sum(len(layer.function.text) for layer in network.layers if hasattr(layer, "function"))
    layered = quantised_models.network_of(quantised_models.images(3), place)
    memory = plan(layered, kernel_set, 0)
    sources = files.kernels([layered], processor)
    sources["m.h"] = model.header(layered, memory).encode()
    sources["m.c"] = model.source(layered, memory, kernel_set).encode()
    around = _text(_compiled(sources, ["m.c"], processor, place / "calls"), processor)
    around -= sum(report.constant_bytes(layer, kernel_set) for layer in layered.layers)
    return {
        "kernels": kernels,
        "own": {kernel: round(float(np.mean(sizes))) for kernel, sizes in own.items()},
        "saved": saved,
        "call": round(around / len(layered.layers)),
        "loops": round(size / length, 3),
    }


def _layers(kernel: str, kernel_set: str, most: int = _LAYERS) -> list[Layer]:
    found = [layer for layer in costs.drawn() if calls.kernel_of(layer, kernel_set) == kernel]
    found = [layer for layer in found if layer.output.elements > 512]
    return found[:: max(1, len(found) // most)][:most]


def main() -> int:
    tables: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="code-") as name:
        place = Path(name)
        saved = {}
        for family, machine in _COUNTED.items():
            processor = PROCESSORS[machine]
            saved[family] = _savings(processor, place)
            print(family, saved[family], flush=True)
        for processor in PROCESSORS.values():
            if processor.board is not None:
                tables[processor.name] = _table(processor, saved[_family(processor)], place)
                print(processor.name, json.dumps(tables[processor.name]), flush=True)
    lines = [f' "{name}": {json.dumps(table)}' for name, table in tables.items()]
    Path(estimates.__file__).with_name("code.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
