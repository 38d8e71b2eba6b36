"""What is inside a kmodel: every layer with its registers, where everything lies and how long, and what it may take."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtool.errors import ModelFileError, Where
from buildtool.extensions.sheets import Sheet
from buildtool.targets.k210.format import cpu_layers, kmodel, layout
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer, LayerType
from buildtool.targets.k210.generation import estimate

Span = tuple[int, int]  # start, end
_DEFAULTS = {"load_para": 1, "load_coor": 1, "load_act": 1, "burst": 15}
_SHAPE = {"in_channels", "in_h", "in_w", "out_channels", "out_h", "out_w", "src", "dst", "kernel", "pool", "depthwise"}


# -- the document ----------------------------------------------------------------------------------------------------
def document(file: Path) -> dict[str, Any]:
    """Everything as data. LatheError where the file is no kmodel of version 3, or a damaged one."""
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise ModelFileError(f"the file cannot be read: {problem.strerror}", where=Where(file=str(file))) from problem
    model = kmodel.read(data, str(file))
    layers = [_layer(number, layer, model) for number, layer in enumerate(model.layers)]
    on_kpu = [isinstance(layer, Conv) for layer in model.layers]
    macs, cycles = ([item[key] for item in layers] for key in ("macs", "cycles"))
    ram = [span for layer in model.layers for span in (*_ram_reads(layer), *_ram_writes(layer))]
    return {
        "path": str(file),
        "version": kmodel.VERSION,
        "flags": model.flags,
        "weight_bits": 16 if model.wide_weights else 8,
        "bytes": len(data),
        "main_memory": model.main_memory,
        "kpu_ram_end": max((end for _, end in ram), default=0) * layout.UNIT,
        "input_bytes": model.input_bytes,
        "outputs": [dataclasses.asdict(output) for output in model.outputs],
        "macs": sum(macs),
        "macs_on_kpu": sum(count for count, kpu in zip(macs, on_kpu, strict=True) if kpu),
        "cycles": sum(cycles),
        "cycles_on_kpu": sum(count for count, kpu in zip(cycles, on_kpu, strict=True) if kpu),
        "cycles_rule": estimate.RULE,
        "layers": layers,
        "main_memory_map": _memory_map(model, [(_main_reads(layer), _main_writes(layer)) for layer in model.layers]),
        "kpu_ram_map": _memory_map(model, [(_ram_reads(layer), _ram_writes(layer)) for layer in model.layers]),
    }


def _layer(number: int, layer: Layer, model: kmodel.Kmodel) -> dict[str, Any]:
    offset, size = model.places[number]
    result: dict[str, Any] = {
        "number": number,
        "type": int(layer.TYPE),
        "name": layer.TYPE.name,
        "offset": offset,
        "bytes": size,
        "fields": {
            item.name.rstrip("_"): _finite(value)
            for item in dataclasses.fields(layer)
            if not isinstance(value := getattr(layer, item.name), bytes | tuple) and not dataclasses.is_dataclass(value)
        },
        "macs": estimate.macs(layer),
        "cycles": estimate.cycles(layer),
        "notes": list(_notes(layer)),
    }
    if isinstance(layer, Conv):
        result["registers"] = dataclasses.asdict(layer.argument)
        result["words"] = [f"{word:016x}" for word in layer.argument.words()]
        result["batch_norm"] = [dataclasses.astuple(norm) for norm in layer.batch_norm]
        result["activation"] = [dataclasses.astuple(segment) for segment in layer.activation.segments]
        result["weight_bytes"] = len(layer.weights)
    elif isinstance(layer, cpu_layers.Concat):
        result["fields"]["inputs"] = [list(part) for part in layer.inputs]
    elif isinstance(layer, cpu_layers.ChannelwiseDequant):
        result["fields"]["params"] = [[_finite(value) for value in pair] for pair in layer.params]
    return result


def _finite(value: float) -> float | str:
    """JSON knows neither infinity nor NaN."""
    return value if math.isfinite(value) else str(value)


def _notes(layer: Layer) -> Iterator[str]:
    """What works here and may surprise on a board."""
    if isinstance(layer, Conv):
        if layer.argument.depthwise and layer.argument.pool == 5:
            yield (
                "the chip computes depthwise with pool 5 incorrectly: move the decimation into the next 1x1 convolution"
            )
        if any(end > layout.RAM_UNITS for _, end in _ram_writes(layer)):
            yield "its last rows exceed the KPU's RAM; main memory contains them"
    elif isinstance(layer, cpu_layers.QAdd) and layer.count % 8:
        yield f"the chip's software adds in blocks of 8: it writes {-layer.count % 8} bytes more"
    elif isinstance(layer, cpu_layers.AvgPool) and layer.act:
        yield "the chip's own software omits the activation of a mean"
    elif layer.TYPE is LayerType.Q_TF_FLATTEN:
        yield "the chip's own software does not run this layer; Maix-EMC's does"


# -- memories --------------------------------------------------------------------------------------------------------
def _main_reads(layer: Layer) -> list[Span]:
    return [(part.start, part.start + part.bytes) for part in layer.reads()]


def _main_writes(layer: Layer) -> list[Span]:
    return [(part.start, part.start + part.bytes) for part in layer.writes()]


def _ram_reads(layer: Layer) -> list[Span]:
    if not isinstance(layer, Conv):
        return []
    argument = layer.argument
    return [(argument.src, argument.src + layout.units(argument.in_w, argument.in_h, argument.in_channels))]


def _ram_writes(layer: Layer) -> list[Span]:
    if isinstance(layer, Conv):
        argument = layer.argument
        return [(argument.dst, argument.dst + layout.units(argument.out_w, argument.out_h, argument.out_channels))]
    if isinstance(layer, Upload):
        return [(layer.kpu_out, layer.kpu_out + layout.units(layer.w, layer.h, layer.c))]
    if isinstance(layer, AddPadding):
        return [(layer.kpu_out, layer.kpu_out + layout.units(4, 4, layer.channels))]
    return []


def _memory_map(model: kmodel.Kmodel, touched: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> list[dict[str, Any]]:
    """What is written where, by which layer (-1: the caller), and which layer reads it last; None: none does."""
    events = []
    if touched and touched[0][0]:
        events.append((-1, touched[0][0][0]))
    events += [(number, span) for number, (_, writes) in enumerate(touched) for span in writes]
    return [
        {"start": span[0], "end": span[1], "written_by": number, "last_read_by": _last_reader(span, number, touched)}
        for number, span in events
    ]


def _last_reader(span: Span, writer: int, touched: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> int | None:
    """Until other bytes are written over all of it, or a part of it."""
    last = None
    for number in range(writer + 1, len(touched)):
        reads, writes = touched[number]
        if any(_overlap(span, other) for other in reads):
            last = number
        if any(_overlap(span, other) for other in writes):
            break
    return last


def _overlap(one: Span, two: Span) -> bool:
    return one[0] < two[1] and two[0] < one[1]


# -- for people ------------------------------------------------------------------------------------------------------
def parts(document: Mapping[str, Any], verbose: bool = False) -> list[str | Sheet]:
    """Sheets. `verbose` adds the words, batch norms and activations of convolutions."""
    text = (
        f"kmodel version {document['version']}: {len(document['layers'])} layers, {document['bytes']:,} bytes, "
        f"weights of {document['weight_bits']} bits; main memory {document['main_memory']:,} bytes, "
        f"KPU RAM used up to {document['kpu_ram_end']:,} bytes; input {document['input_bytes']:,} bytes\n"
        f"{document['macs']:,} multiply-accumulates, {_share(document['macs_on_kpu'], document['macs'])} on the KPU; "
        f"about {document['cycles']:,} cycles, {_share(document['cycles_on_kpu'], document['cycles'])} on the KPU\n"
        f"cycles are estimated: {document['cycles_rule']}"
    )
    outputs = Sheet(["output", "address", "bytes"], right=frozenset({"address", "bytes"}))
    for number, output in enumerate(document["outputs"]):
        outputs.add(number, output["address"], output["size"])
    layers = Sheet(
        ["layer", "type", "offset", "bytes", "what it does", "macs", "cycles"],
        right=frozenset({"layer", "offset", "bytes", "macs", "cycles"}),
    )
    for layer in document["layers"]:
        layers.add(
            layer["number"], layer["name"], layer["offset"], layer["bytes"], _summary(layer), f"{layer['macs']:,}",
            f"{layer['cycles']:,}",
        )  # fmt: skip
    notes = [
        f"layer {layer['number']} ({layer['name']}): {note}" for layer in document["layers"] for note in layer["notes"]
    ]
    kept = [(output["address"], output["address"] + output["size"]) for output in document["outputs"]]
    result: list[str | Sheet] = [text, outputs, layers, _show_registers(document["layers"])]
    result.append(_show_map("main memory", "byte", document["main_memory_map"], kept))
    result.append(_show_map("KPU RAM", "unit of 64", document["kpu_ram_map"], ()))
    if verbose:
        result += [table for layer in document["layers"] if "words" in layer for table in _show_tables(layer)]
    return [*result, *notes]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _summary(layer: Mapping[str, Any]) -> str:
    if "registers" not in layer:
        fields = {key: value for key, value in layer["fields"].items() if key not in ("flags", "inputs", "params")}
        return " ".join(
            f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}" for key, value in fields.items()
        )
    argument = layer["registers"]
    kind = "depthwise " if argument["depthwise"] else ""
    kernel = "3x3" if argument["kernel"] else "1x1"
    pool = f" pool {argument['pool']}" if argument["pool"] else ""
    shapes = "{in_channels}x{in_h}x{in_w} -> {out_channels}x{out_h}x{out_w}".format(**argument)
    main = f", main memory {layer['fields']['main_out']}" if layer["fields"]["flags"] & 1 else ""
    return f"{kind}{kernel}{pool} {shapes}, unit {argument['src']} -> {argument['dst']}{main}"


def _show_registers(layers: Sequence[Mapping[str, Any]]) -> Sheet:
    table = Sheet(["layer", "other registers"], right=frozenset({"layer"}), title="registers")
    for layer in layers:
        if "registers" in layer:
            items = layer["registers"].items()
            shown = (f"{key}={value}" for key, value in items if key not in _SHAPE and value != _DEFAULTS.get(key, 0))
            table.add(layer["number"], " ".join(shown))
    return table


def _show_map(title: str, unit: str, spans: Sequence[Mapping[str, Any]], kept: Sequence[Span]) -> Sheet:
    columns = [f"first {unit}", "end", "written by", "last read by"]
    table = Sheet(columns, right=frozenset(columns), title=title)
    for span in spans:
        writer = "the input" if span["written_by"] == -1 else span["written_by"]
        is_output = any(_overlap((span["start"], span["end"]), output) for output in kept)
        table.add(span["start"], span["end"], writer, "an output" if is_output else span["last_read_by"])
    return table


def _show_tables(layer: Mapping[str, Any]) -> Iterator[Sheet]:
    words = Sheet(["word", "value"], title=f"layer {layer['number']}: argument")
    for number, word in enumerate(layer["words"]):
        words.add(number, word)
    norms = Sheet(["channel", "mul", "add", "shift"], title=f"layer {layer['number']}: batch norm")
    for channel, norm in enumerate(layer["batch_norm"]):
        norms.add(channel, *norm)
    segments = Sheet(["segment", "start", "mul", "shift", "bias"], title=f"layer {layer['number']}: activation")
    for number, segment in enumerate(layer["activation"]):
        segments.add(number, *segment)
    yield from (words, norms, segments)
