"""What training and searches led to, for a browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def of_fit(run: Mapping[str, Any]) -> str:
    """A run of training: `Fitted.as_json()`."""
    rows = [
        (epoch["number"] + 1, f"{epoch['loss']:.4f}", f"{epoch['accuracy']:.2%}", _kind(epoch))
        for epoch in run["epochs"]
    ]
    best = run["best"]
    told = (
        []
        if best is None
        else [f"Best: epoch {best['number'] + 1}, {run['measure']} {best['accuracy']:.2%} of the held-out samples."]
    )
    return _page(f"Training of {run['arch']}", told, ("epoch", "loss", run["measure"], "weights"), rows)


def _kind(epoch: Mapping[str, Any]) -> str:
    return "quantised" if epoch["quantised"] else "floats"


def of_search(arch: str, found: Mapping[str, Any]) -> str:
    """A search: its trials, the best one first, and what did not fit."""
    ranked = sorted(found["trials"], key=lambda trial: (-trial["accuracy"], trial["weight_bytes"]))
    rows = [
        (
            f"{trial['accuracy']:.2%}",
            ", ".join(f"{name} {value}" for name, value in trial["arguments"].items()),
            ", ".join(f"{layer} {bits}" for layer, bits in trial["bits"].items()),
            f"{trial['weight_bytes']:,}",
            f"{trial['cycles']:,}",
        )
        for trial in ranked
    ]
    told = [f"{len(ranked)} networks were trained; the accuracy is of samples that were held out for the search."]
    told += [f"{count} did not fit: {reason}" for reason, count in found["refused"].items()]
    return _page(f"Search for {arch}", told, ("accuracy", "arguments", "bits", "weight bytes", "cycles"), rows)


def of_bits(arch: str, found: Mapping[str, Any]) -> str:
    """Bits of layers: what each loses by itself, and what was chosen."""
    columns = list(next(iter(found["sensitivity"].values())))
    rows = [
        (layer, found["bits"][layer], *(f"{losses[bits]:+.4f}" for bits in columns))
        for layer, losses in found["sensitivity"].items()
    ]
    told = f"{found['weight_bytes']:,} bytes of weights and biases, {found['cycles']:,} cycles (estimated), "
    told += f"{found['accuracy']:.2%} of the held-out samples without training."
    return _page(f"Bits of {arch}", [told], ("layer", "chosen", *(f"loss with {bits} bits" for bits in columns)), rows)


def _page(title: str, told: Sequence[str], head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cells(tag: str, values: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values) + "</tr>\n"

    texts = "".join(f"<p>{escape(text)}</p>\n" for text in told)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{texts}<table>{cells('th', head)}"
        f"{''.join(cells('td', row) for row in rows)}</table></body></html>\n"
    )
