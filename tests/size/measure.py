"""Builds the libraries whose bytes have budgets, and keeps the table of what they came to.

    python -m tests.size.measure          # measure anew; the budgets stay as they are

`budgets.yml` holds, per network and ABI: the budget of the stripped library in KB (of 1024 bytes), what was measured
when, and the parts of that, so that a library that is too large can be compared with the last one that was not. `empty`
is a library without kernels and models: there the budget is of the runtime alone, without what the file format needs.
`mobilenet_v1-gpu` is what the library grows by where the model has `runtime: gpu` instead of `cpu`. Data begins at a
page of its own, so that a few bytes may be 4096 more or less. The image is small: for larger ones the CPU gets kernels
for layers that are run as one, which would hide what is added.
"""

from __future__ import annotations

import datetime
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import buildtool
from buildtool.builders import library
from buildtool.builders.built import SizeReport
from buildtool.builders.objects import ObjectCache
from buildtool.builders.toolchain import probe
from buildtool.drafts import deployment
from buildtool.targets.cpu import TARGET
from buildtool.targets.protocol import LibrarySource
from tests.zoo.networks import cached

KB = 1024
EMPTY = "empty"
GPU = "-gpu"
TABLE = Path(__file__).with_name("budgets.yml")
ROOT = Path(__file__).resolve().parents[2]
_ZOO = ROOT / "build" / "test-zoo"


@dataclass(frozen=True)
class Measured:
    """Bytes of one library, in all and by part."""

    total: int
    parts: dict[str, int]


def measure(network: str, abi: str, folder: Path) -> Measured:
    """Build in `folder` and measure."""
    if network == EMPTY:
        sizes = _empty(abi).as_json()
        return Measured(sizes["core"], _by_name(sizes, "core"))
    if network.endswith(GPU):
        name = network.removesuffix(GPU)
        cpu, gpu = (_built(name, abi, folder / runtime, 64, "fp16_fp32", runtime) for runtime in ("cpu", "gpu"))
        grown = {part: gpu.parts.get(part, 0) - cpu.parts.get(part, 0) for part in {**gpu.parts, **cpu.parts}}
        return Measured(gpu.total - cpu.total, {part: size for part, size in grown.items() if size != 0})
    return _built(network, abi, folder, 224, "fp32_fp32", "cpu")


def _built(network: str, abi: str, folder: Path, edge: int, data_type: str, runtime: str) -> Measured:
    source = ROOT / "examples" / "digits" / "deploy.yml"
    if network != "digits":
        folder.mkdir(exist_ok=True)
        source = folder / f"{network}.yml"
        model = cached(network, _ZOO, edge, 1.0)
        text = deployment.write(
            [model], relative_to=folder, library_name=network, target_abis=[abi], data_type=data_type
        )
        source.write_text(text.replace("runtime: cpu", f"runtime: {runtime}"))
    built = buildtool.build(source, buildtool.Overrides((abi,)), buildtool.Options(folder / "build"))
    (found,) = built.libraries
    return Measured(found.bytes_stripped, _by_name(found.sizes))


def _empty(abi: str) -> SizeReport:
    program = TARGET.lower(LibrarySource(EMPTY, EMPTY, ()), abi)
    built = library.build(program, TARGET.emit([program]), cache=ObjectCache(), owner="the runtime alone")
    assert built is not None
    return built.sizes


def _by_name(sizes: dict[str, Any], group: str = "") -> dict[str, int]:
    return {part["name"]: part["bytes"] for part in sizes["parts"] if group in ("", part["group"])}


def read() -> dict[str, dict[str, dict[str, Any]]]:
    """The table: by network, by ABI: `budget`, `measured`, `date`, `compiler`, `parts`."""
    table: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(TABLE.read_text())
    return table


def main() -> None:
    """Measure everything anew."""
    table = read()
    with tempfile.TemporaryDirectory() as folder:
        for network, abis in table.items():
            for abi, row in abis.items():
                found = measure(network, abi, Path(folder))
                row |= {
                    "measured": found.total,
                    "date": datetime.datetime.now(tz=datetime.timezone.utc).date(),
                    "compiler": probe(abi).version,
                    "parts": found.parts,
                }
    head = "# Budgets in KB of 1024 bytes; the rest is measured, in bytes: python -m tests.size.measure\n"
    TABLE.write_text(head + yaml.safe_dump(table, sort_keys=False))


if __name__ == "__main__":
    main()
