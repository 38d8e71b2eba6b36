"""docs/gallery.md, written from build/gallery.json."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]

INTRODUCTION = """# Gallery

Architectures of torchvision, timm and transformers, and some that people write themselves, with random weights:
exported to ONNX by PyTorch, built for the host in single precision, and compared with PyTorch. Where an
architecture accepts several sizes, one library is built for all of them and compared at two. Detectors of torchvision
sort boxes by scores; random weights make many equal, and each runtime puts these into an order of its own, so that
they are compared with onnxruntime on the exported file. The cosine similarity
is the smallest of all outputs and sizes; *correct* means at least 0.9999. Times are medians with one thread at the
first size; Lathe and onnxruntime take turns in one process. The images are small, so that the run is short: times
in applications differ, and these are from two cores that ran other programs too.

`make gallery` repeats the measurement and writes this page and `build/gallery.json`. `tests/gallery` defines the
architectures; those that were not measured the last time are not in the tables.
"""


def page(results: Sequence[Result]) -> str:
    """The page."""
    counts = Counter(item["status"] for item in results)
    tried = [item for item in results if item["status"] != "not exported"]
    varying = [item for item in tried if item.get("sizes") == 2]
    right = [item for item in results if item["status"] == "right"]
    correct = sum(item["status"] == "right" for item in varying)
    summary = (
        f"Exported: {len(tried)}. Correct: {counts['right']}. With run-time sizes: {len(varying)}, {correct} correct."
    )
    timed = [item for item in right if "ms" in item]
    if timed:
        ratio = statistics.geometric_mean(item["ratio_to_onnxruntime"] for item in timed)
        summary += f" Geometric mean of the times relative to onnxruntime: {ratio:.2f}."
    lines = [INTRODUCTION, summary]
    for family in dict.fromkeys(item["family"] for item in tried):
        lines += [
            "",
            f"## {family[0].upper()}{family[1:]}",
            "",
            *_table([item for item in tried if item["family"] == family]),
        ]
    failed = [item for item in results if item["status"] == "not exported"]
    if failed:
        lines += [
            "",
            "## Not exported by PyTorch",
            "",
            *(f"- {item['model']}: {_plain(item['reason'])}" for item in failed),
        ]
    return "\n".join(lines) + "\n"


def _table(results: Sequence[Result]) -> list[str]:
    rows = [
        "| model | exporter | nodes | sizes | result | cosine | ms | relative to onnxruntime | library, KB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for item in results:
        start = f"| {item['model']} | {item['exporter']} | {item['nodes']} | {item['sizes']} "
        if "cosine" in item and "ms" not in item:
            result = "correct" if item["status"] == "right" else "incorrect"
            rows.append(f"{start}| {result} | {item['cosine']:.6f} | | | |")
        elif "cosine" in item:
            result = "correct" if item["status"] == "right" else "incorrect"
            ratio, size = f"{item['ratio_to_onnxruntime']:.2f}", f"{item['library_bytes'] / 1024:.0f}"
            rows.append(f"{start}| {result} | {item['cosine']:.6f} | {item['ms']:.2f} | {ratio} | {size} |")
        else:
            rows.append(f"{start}| {item['status']}: {_plain(item['reason'])} | | | | |")
    return rows


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").removeprefix("error: ")
