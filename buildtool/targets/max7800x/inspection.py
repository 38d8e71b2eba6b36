"""What descriptions of networks for the MAX78000 and MAX78002 say, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, Problem, UnsupportedError, Where
from buildtool.extensions.sheets import Sheet
from buildtool.targets.max7800x import description, report, settings
from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.devices import DEVICES, MAX78000, MAX78002
from buildtool.targets.max7800x.firmware import program
from buildtool.targets.protocol import DescribedModel

PLATFORM = "ai8x"


def of_file(file: Path) -> dict[str, Any]:
    """A file alone, for the smaller of the chips that it is possible on."""
    model = DescribedModel(file.stem, PLATFORM, file)
    try:
        found, _ = document(model, MAX78000.name)
    except ConfigError:
        found, _ = document(model, MAX78002.name)
    return found


def document(model: DescribedModel, abi: str) -> tuple[dict[str, Any], list[Problem]]:
    """What a model is on a chip. Without weights it is what the file alone says."""
    if abi not in DEVICES:
        raise UnsupportedError(
            f"descriptions are not for '{abi}'", where=model.where, rule=f"they are for {' and '.join(DEVICES)}"
        )
    device, chosen = DEVICES[abi], settings.of(model.settings, model.where)
    if model.weights is None:
        running, notes = description.outline(model.file, device=device, options=chosen.description)
        layers = [_outlined(layer) for layer in running]
        known = {"name": model.name, "device": abi, "layers": layers}
        remedy = "pass its checkpoint to check and print channels and sizes"
        where = Where(file=str(model.file))
        return {"path": str(model.file), **known}, [*notes, Problem("the weights are missing", where, remedy=remedy)]
    described = settings.described(model, chosen, device)
    placed = program.place(described.network, chosen.program)
    return {"path": str(model.file), **report.document(placed)}, list(described.notes)


def _outlined(layer: Chosen) -> dict[str, Any]:
    """A layer as far as it is known without weights."""
    section, pool = layer.section, layer.pool
    return {
        "layer": layer.index,
        "name": section.get("name", ""),
        "operation": layer.operation,
        "eltwise": layer.eltwise,
        "sources": [report.SOURCES.get(source, source) for source in layer.sources or ()],
        "processors": section.get("processors"),
        "output_processors": section.get("output_processors"),
        "in_offset": section.get("in_offset"),
        "out_offset": section.get("out_offset", 0),
        "pool": None if pool is None else report.pool_words(pool),
        "kernel": f"{layer.kernel_size[0]}x{layer.kernel_size[1]}" if layer.has_kernel else None,
        "pad": layer.pad[0] if layer.has_kernel else None,
        "bits": section.get("quantization"),
        "activation": section.get("activate"),
        "output_width": section.get("output_width", 8),
    }


def parts(document: Mapping[str, Any]) -> list[str | Sheet]:
    """The document for people."""
    layers = document["layers"]
    text = f"{document['name']} for {document['device']}: {len(layers)} layers"
    if "macs" in document:
        about = "at most " if document["rough"] else ""
        text += f", {document['macs']:,} multiply-accumulates in {about}{document['cycles']:,} cycles, estimated\n"
        text += f"kernel memory {document['kernel_bytes']:,} bytes, {100 * document['kernel_share']:.1f} %; "
        text += f"biases {document['bias_bytes']:,} bytes, {100 * document['bias_share']:.1f} %"
    numbers = frozenset({"layer", "bits", "shift", "cycles"})
    known = "out" in layers[0]
    names = ["layer", "operation", "from", *(["in", "out", "bits", "shift"] if known else []), "from where", "to where"]
    table = Sheet([*names, *(["cycles"] if known else [])], right=numbers)
    for layer in layers:
        figures = (layer["in"], layer["out"], layer["bits"], layer["output_shift"]) if known else ()
        table.add(
            f"{layer['layer']} {layer['name']}".strip(),
            _work(layer),
            ", ".join(map(str, layer["sources"])),
            *figures,
            _place(layer["in_offset"], layer["processors"]),
            _place(layer["out_offset"], layer["output_processors"]),
            *((f"{layer['cycles']:,}",) if known else ()),
        )
    return [text, table]


def _work(layer: Mapping[str, Any]) -> str:
    """What a layer does, in the order in which it does it."""
    steps = [layer["pool"], layer["eltwise"]]
    if layer["kernel"] is not None:
        steps.append(f"{layer['operation']} {layer['kernel']}" + (f" pad {layer['pad']}" if layer["pad"] else ""))
    steps += [layer["activation"], "32 bits" if layer["output_width"] == 32 else None]
    return ", ".join(step for step in steps if step) or "passthrough"


def _place(offset: int | None, mask: int | None) -> str:
    """An offset and processors, as descriptions write them."""
    words = [f"{offset:#06x}" if offset is not None else "", f"{mask:016x}" if mask is not None else ""]
    return " ".join(word for word in words if word)
