"""From a described network and a few inputs to a kmodel: between which numbers tensors lie, and the files."""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.ir.types import QuantType
from buildtool.passes.pipeline import optimise
from buildtool.quant.estimators import ESTIMATORS, Settings
from buildtool.quant.observed import Observed
from buildtool.quant.ranges import stored_as
from buildtool.targets.k210.generation import on_kpu
from buildtool.targets.k210.generation.generate import Generated, generate
from buildtool.targets.k210.generation.rules import shape_of
from buildtool.targets.k210.layers.model import Model
from buildtool.targets.k210.layers.refining import refine
from buildtool.targets.k210.simulation.simulator import simulate

#: How ranges are found, by what Maix-EMC calls it and by what Lathe does.
QUANTISERS: Mapping[str, tuple[str, Settings]] = {
    "minmax": ("min-max", Settings()),
    "minmax98": ("percentile", Settings(percentile=1.0)),  # on each side
    "meanminmax": ("moving-average", Settings(momentum=1.0)),  # with which all samples count alike
    "kld": ("kl", Settings()),
    **{name: (name, Settings()) for name in ESTIMATORS},
}
_PER_LINE = 16
_READABLE = 0o644
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Packed:
    """A kmodel, and what has to be known to use it."""

    made: Generated
    shapes: tuple[tuple[int, ...], ...]  # of the outputs, as the network has them

    @property
    def data(self) -> bytes:
        return self.made.data

    def save(self, file: Path | str) -> None:
        """The kmodel."""
        _write(Path(file), self.data)

    def save_header(self, file: Path | str, name: str = "kmodel") -> None:
        """The kmodel as an array of C."""
        _write(Path(file), c_array(self.data, name).encode())

    def given(self, sample: Array) -> bytes:
        """An input as the kmodel takes it: channels, rows, columns of bytes, or floats."""
        shape = self.made.input.shape
        batched = (1, *shape[1:], shape[0]) if self.made.input.channels_last else shape
        return self.made.input.given(np.asarray(sample, np.float32).reshape(batched))

    def run(self, sample: Array) -> dict[str, Array]:
        """The outputs by the names of their layers, as the chip computes them; pictures channels last."""
        found = {}
        results = simulate(self.made.model, self.given(sample))
        for port, raw, shape in zip(self.made.outputs, results, self.shapes, strict=True):
            array = np.frombuffer(raw, "<f4").reshape(port.shape)
            found[port.name] = (array.transpose(1, 2, 0) if port.channels_last else array).reshape(shape)
        return found


def pack(
    model: Model,
    samples: Iterable[Array],
    *,
    quantiser: str = "minmax",
    weight_bits: int = 8,
    input_range: tuple[float, float] | None = None,
    refined: bool = True,
) -> Packed:
    """The kmodel of a model. Samples are inputs without a batch: pictures channels last, or lists.

    `input_range`: between which numbers the input lies where samples need not show it; with (0, 1) a byte of a picture
    is what goes in. `refined`: weights of 8 bits are rounded together, and biases take up what that loses on average,
    which takes one more run over the samples. ConfigError where an argument is wrong, UnsupportedError lists the layers
    that have no place.
    """
    kind, settings = _quantiser(quantiser)
    if weight_bits not in (8, 16):
        raise ConfigError(f"weights of {weight_bits} bits", rule="the KPU has weights of 8 and of 16 bits")
    graph = model.graph()
    optimise(graph, quantised=True)
    kept: list[Array] = []
    graph.ranges.update(_ranges(graph, samples, Observed(kind, settings), input_range, kept if refined else None))
    stored = on_kpu.Settings(weight_bits)
    if refined and not stored.wide:
        refine(graph, kept, stored)
    return Packed(generate(graph, stored), tuple(shape_of(value) for value in graph.outputs))


def save_kmodel(
    model: Model,
    file: Path | str,
    samples: Iterable[Array],
    *,
    quantiser: str = "minmax",
    weight_bits: int = 8,
    input_range: tuple[float, float] | None = None,
    refined: bool = True,
    header: Path | str | None = None,
) -> Packed:
    """`pack`, and the file; with `header` also the kmodel as an array of C. Nothing is written where anything fails."""
    packed = pack(
        model, samples, quantiser=quantiser, weight_bits=weight_bits, input_range=input_range, refined=refined
    )
    packed.save(file)
    if header is not None:
        packed.save_header(header, re.sub(r"\W", "_", f"{Path(file).stem}_kmodel", flags=re.ASCII))
    return packed


def c_array(data: bytes, name: str) -> str:
    """A header that defines the bytes, aligned as the KPU reads them. ConfigError where C has no such name."""
    if not _IDENTIFIER.fullmatch(name):
        name = f"_{name}" if _IDENTIFIER.fullmatch(f"_{name}") else name
    if not _IDENTIFIER.fullmatch(name):
        raise ConfigError(f"an array called '{name}'", rule="C identifiers consist of letters, digits and underscores")
    guard = f"{name.upper()}_H_"
    lines = [data[start : start + _PER_LINE] for start in range(0, len(data), _PER_LINE)]
    rows = "".join(f"  {', '.join(f'0x{byte:02x}' for byte in line)},\n" for line in lines)
    return (
        f"/* A kmodel of {len(data)} bytes, made by Lathe. Include it in one file. */\n"
        f"#ifndef {guard}\n#define {guard}\n\n"
        f"enum {{ {name}_size = {len(data)} }};\n"
        f"static const unsigned char {name}[{len(data)}] __attribute__((aligned(256))) = {{\n{rows}}};\n\n"
        f"#endif /* {guard} */\n"
    )


def _quantiser(name: str) -> tuple[str, Settings]:
    if name not in QUANTISERS:
        near = difflib.get_close_matches(str(name), QUANTISERS, n=1)
        raise ConfigError(
            f"there is no quantiser '{name}'",
            rule=f"known: {', '.join(QUANTISERS)}",
            remedy=f"did you mean '{near[0]}'?" if near else "use one of these",
        )
    return QUANTISERS[name]


def _ranges(
    graph: Graph,
    samples: Iterable[Array],
    observed: Observed,
    input_range: tuple[float, float] | None,
    kept: list[Array] | None,
) -> dict[str, QuantType]:
    """How each tensor is stored. The input keeps all of its numbers: what is cut off there is lost to all layers."""
    (value,) = graph.inputs
    shape = shape_of(value)
    low, high = input_range or (np.inf, -np.inf)
    count = 0
    for count, sample in enumerate(samples, 1):
        array = np.asarray(sample, np.float32)
        where = Where(model=graph.name, value=value.name)
        if array.shape not in (shape, shape[1:]):
            raise ConfigError(
                f"sample {count} has the shape {list(array.shape)}",
                where=where,
                rule=f"the input has {list(shape[1:])}",
                remedy="pass inputs one by one, or as one array whose first dimension is the batch",
            )
        if not np.isfinite(array).all():
            raise ConfigError(f"sample {count} contains NaN or infinity", where=where)
        if input_range is None:
            low, high = min(low, float(array.min())), max(high, float(array.max()))
        if kept is not None:
            kept.append(array.reshape(shape))
        for name, result in evaluate(graph, {value.name: array.reshape(shape)}, keep=True).items():
            if name != value.name and result.dtype == np.float32:
                try:
                    observed.update(name, result)
                except ValueError as problem:
                    raise ConfigError(
                        f"sample {count} makes '{name}': {problem}", where=where, remedy="check the weights and samples"
                    ) from problem
    if not count:
        raise ConfigError("there are no samples", rule="ranges are measured from the values of the network for samples")
    found = {**observed.ranges(), value.name: (low, high)}
    try:
        return {name: stored_as(*ends) for name, ends in found.items()}
    except ValueError as problem:
        raise ConfigError(f"a range is invalid: {problem}", where=Where(model=graph.name)) from problem


def _write(file: Path, data: bytes) -> None:
    """Aside, then renamed: a file is whole or not there."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as stream:
            aside = Path(stream.name)
            try:
                stream.write(data)
                stream.flush()
                aside.chmod(_READABLE)
                aside.replace(file)
            except BaseException:
                aside.unlink()
                raise
    except OSError as problem:
        raise ConfigError(f"it cannot be written: {problem.strerror}", where=Where(file=str(file))) from problem
