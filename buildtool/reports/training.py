"""What training and searches led to, as pages for a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from buildtool.reports import html_page


def of_fit(run: Mapping[str, Any]) -> bytes:
    """A run of training: `Fitted.as_json()`."""
    measure, epochs, best = run["measure"], run["epochs"], run["best"]
    tiles = [("epochs", str(len(epochs)), f"{run['resumed']} of them by an earlier run" if run["resumed"] else "")]
    if best is not None:
        what = f"{best['accuracy']:.2%}"
        tiles.insert(0, (f"best {measure}", what, f"epoch {best['number'] + 1}, {_kind(best)}; of held-out samples"))
    if epochs:
        tiles.append(("last loss", f"{epochs[-1]['loss']:.4f}", f"{epochs[0]['loss']:.4f} in the first epoch"))
    begin = next((epoch["number"] + 1 for epoch in epochs if epoch["quantised"]), None)
    text = "" if begin is None else f"From epoch {begin} on, the network computes with the integers of the chip."
    curves = [
        _curve(f"{measure.capitalize()} of the held-out samples", text, epochs, "accuracy", share=True),
        _curve("Loss of the training samples", "", epochs, "loss", share=False),
    ]
    columns = [("epoch", True), ("loss", True), (measure, True), ("weights", False)]
    rows = [
        [
            _cell(epoch["number"] + 1, str(epoch["number"] + 1)),
            _cell(epoch["loss"], f"{epoch['loss']:.4f}"),
            _cell(epoch["accuracy"], f"{epoch['accuracy']:.2%}"),
            _cell(_kind(epoch)),
        ]
        for epoch in epochs
    ]
    return _page(f"Training of {run['arch']}", tiles, [], curves, ("Epochs", columns, rows))


def _kind(epoch: Mapping[str, Any]) -> str:
    return "quantised" if epoch["quantised"] else "floats"


def _curve(title: str, text: str, epochs: Sequence[Mapping[str, Any]], key: str, *, share: bool) -> dict[str, Any]:
    """A point for each epoch; those of quantised networks have another colour."""
    points = [[epoch["number"] + 1, epoch[key], _kind(epoch)] for epoch in epochs]
    return {"title": title, "text": text, "x": "epoch", "share": share, "line": True, "points": points}


def of_search(arch: str, found: Mapping[str, Any]) -> bytes:
    """A search: its trials, the best one first, and what did not fit."""
    measure = found["measure"]
    ranked = sorted(found["trials"], key=lambda trial: (-trial["accuracy"], trial["weight_bytes"]))
    rows = [
        [
            _cell(trial["accuracy"], f"{trial['accuracy']:.2%}"),
            _cell(", ".join(f"{name} {value}" for name, value in trial["arguments"].items())),
            _cell(_bits(trial["bits"])),
            _cell(trial["weight_bytes"], f"{trial['weight_bytes']:,}"),
            _cell(trial["cycles"], f"{trial['cycles']:,}"),
        ]
        for trial in ranked
    ]
    tiles = [("networks trained", str(len(ranked)), "")]
    if ranked:
        first = ranked[0]
        what = "of samples that were held out for the search"
        tiles.insert(0, (f"best {measure}", f"{first['accuracy']:.2%}", what))
        tiles.append(("its weights", f"{first['weight_bytes']:,} B", _bits(first["bits"])))
        tiles.append(("its cycles", f"{first['cycles']:,}", "estimated"))
    points = [[trial["weight_bytes"], trial["accuracy"], _bits(trial["bits"])] for trial in ranked]
    curves = [
        {
            "title": f"{measure[0].upper()}{measure[1:]} and size",
            "text": "A point is a network that was trained.",
            "x": "bytes of weights",
            "share": True,
            "line": False,
            "points": points,
        }
    ]
    notes = [f"{count} did not fit: {reason}" for reason, count in found["refused"].items()]
    columns = [(measure, True), ("arguments", False), ("bits", False), ("weight bytes", True), ("cycles", True)]
    return _page(f"Search for {arch}", tiles, notes, curves if points else [], ("Networks", columns, rows))


def _bits(bits: Mapping[str, int]) -> str:
    """`8 bits` where all layers have as many, otherwise each layer with its own."""
    kinds = set(bits.values())
    return f"all {kinds.pop()} bits" if len(kinds) == 1 else ", ".join(f"{layer} {n}" for layer, n in bits.items())


def of_bits(arch: str, found: Mapping[str, Any]) -> bytes:
    """Bits of layers: what each loses by itself, and what was chosen."""
    columns = list(next(iter(found["sensitivity"].values())))
    rows = [
        [
            _cell(layer),
            _cell(found["bits"][layer], str(found["bits"][layer])),
            *(_cell(losses[bits], f"{losses[bits]:+.4f}") for bits in columns),
        ]
        for layer, losses in found["sensitivity"].items()
    ]
    tiles = [
        (found["measure"], f"{found['accuracy']:.2%}", "of the held-out samples, without training"),
        ("weights and biases", f"{found['weight_bytes']:,} B", ""),
        ("cycles", f"{found['cycles']:,}", "estimated"),
    ]
    head = [("layer", False), ("chosen", True), *((f"loss with {bits} bits", True) for bits in columns)]
    return _page(f"Bits of {arch}", tiles, [], [], ("Layers", head, rows))


def _cell(value: Any, text: str | None = None) -> list[Any]:
    """What the table sorts by, and what it shows."""
    return [value, str(value) if text is None else text]


def _page(
    title: str,
    tiles: Sequence[tuple[str, str, str]],
    notes: Sequence[str],
    curves: Sequence[Mapping[str, Any]],
    table: tuple[str, Sequence[tuple[str, bool]], Sequence[Sequence[Any]]],
) -> bytes:
    name, columns, rows = table
    data = {
        "tiles": tiles,
        "notes": notes,
        "curves": curves,
        "table": {"title": name, "columns": columns, "rows": rows},
    }
    return html_page.render("training_page", title, data)
