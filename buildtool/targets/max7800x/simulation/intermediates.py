"""What every layer puts out, as text that people read and that `compare` reads back.

A file for each layer: its shape in the first line, then for each channel its rows. Lines with # are for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from buildtool.errors import RunError, Where
from buildtool.targets.max7800x.network import INPUT, Layer
from buildtool.targets.max7800x.simulation import simulate
from buildtool.targets.max7800x.simulation.arithmetic import Values
from buildtool.targets.max7800x.simulation.simulate import Trace

_FILE = re.compile(r"layer-(\d+)(-.*)?\.txt")
_INPUT = "input.txt"
MAX_VALUES = 1 << 26


def texts(trace: Trace) -> dict[str, bytes]:
    """By name of the file: the sample, the outputs of all layers that ran, and what pools leave before a kernel."""
    files = {_INPUT: _text("what the network is given", trace.sample)}
    held = {layer.index: outputs for layer, outputs in zip(trace.network.layers, trace.outputs, strict=True)}
    held[INPUT] = trace.sample
    for at in trace.order:
        layer = trace.network.layers[at]
        if layer.pool is not None and layer.kernel is not None:
            pooled = simulate.before_kernel(trace.network, layer, [held[source] for source in layer.sources])
            title = (
                f"layer {layer.index} '{layer.name}': what its {layer.pool.kind} pool leaves for the {layer.operation}"
            )
            files[f"pooled-{layer.index:03}.txt"] = _text(title, pooled)
        files[file_name(layer)] = _text(_title(layer), trace.outputs[at])
    return files


def file_name(layer: Layer) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", layer.name).strip("-")
    return f"layer-{layer.index:03}{'-' + name if name and name != str(layer.index) else ''}.txt"


def read(folder: Path) -> dict[int, Values]:
    """The outputs in a folder by the numbers of their layers. RunError where files are damaged or none is there."""
    try:
        files = {int(match[1]): path for path in sorted(folder.iterdir()) if (match := _FILE.fullmatch(path.name))}
    except OSError as error:
        raise RunError(f"cannot read the folder: {error.strerror}", where=Where(file=str(folder))) from None
    if not files:
        remedy = "give a folder that `lathe run --dump` wrote"
        raise RunError("this folder contains no layer outputs", where=Where(file=str(folder)), remedy=remedy)
    return {index: _values(path) for index, path in files.items()}


def read_words(file: Path) -> dict[int, int]:
    """Words of memory by address, as they were read from a chip: two hexadecimal numbers in each line."""
    where = Where(file=str(file))
    try:
        lines = [line.partition("#")[0].split() for line in file.read_text(errors="replace").splitlines()]
        words = {int(address, 16): int(word, 16) for address, word in filter(None, lines)}
    except OSError as error:
        raise RunError(f"cannot read the file: {error.strerror}", where=where) from None
    except ValueError as error:
        rule = "each line has an address and a word, both hexadecimal; # starts a comment"
        raise RunError(f"this is not a memory dump: {error}", where=where, rule=rule) from None
    if not words or any(address % 4 or not 0 <= word < 1 << 32 for address, word in words.items()):
        raise RunError("there are none, or some are invalid", where=where, rule="multiples of 4, and 32 bits")
    return words


def _title(layer: Layer) -> str:
    steps = [layer.pool.kind + " pool"] if layer.pool else []
    steps += [f"{layer.eltwise} of {layer.operands}"] if layer.eltwise else []
    steps += [layer.operation] if layer.operation != "none" or not steps else []
    steps += [layer.activation] if layer.activation else []
    return f"layer {layer.index} '{layer.name}': {', '.join(steps)}; {layer.output_width} bits"


def _text(title: str, values: Values) -> bytes:
    channels, rows, columns = values.shape
    lines = [f"{channels} {rows} {columns}", f"# {title}"]
    width = max((len(str(extreme)) for extreme in (values.min(), values.max())), default=1) if values.size else 1
    for channel, plane in enumerate(values):
        lines.append(f"# channel {channel}")
        lines += [" ".join(f"{value:{width}}" for value in row) for row in plane.tolist()]
    return ("\n".join(lines) + "\n").encode()


def _values(path: Path) -> Values:
    where = Where(file=str(path))
    try:
        lines = list(_numbers(path.read_text(errors="replace")))
        shape, numbers = lines[0], [number for line in lines[1:] for number in line]
    except OSError as error:
        raise RunError(f"cannot read the file: {error.strerror}", where=where) from None
    except (IndexError, ValueError) as error:
        raise RunError(f"the file is damaged: {error}", where=where, rule="a shape, then integers") from None
    count = int(np.prod(shape, dtype=object)) if shape else 0
    if len(shape) != 3 or min(shape) < 1 or count > MAX_VALUES or count != len(numbers):
        what = f"{len(numbers)} numbers found, but the first line declares {' x '.join(map(str, shape)) or 'nothing'}"
        raise RunError(what, where=where, rule="channels, rows and columns in the first line")
    if any(abs(number) >= 1 << 31 for number in numbers):
        raise RunError("it contains numbers of more than 32 bits", where=where)
    return np.array(numbers, np.int64).reshape(shape)


def _numbers(text: str) -> Iterator[list[int]]:
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield [int(word) for word in line.split()]
