"""Networks on emulated microcontrollers: `make bench-micro`, or `python -m tests.bench.micro`.

    make bench-micro MODELS=../shared/data/mlperf-tiny
    make bench-micro MODELS=models ABIS=cortex-m4 TFLM=engines

MODELS: a folder with TFLite models of 8-bit integers. TFLM: a folder with the sources of tflite-micro and what it needs
(tests/bench/micro/tflm.py), which then runs the same models on the same boards. Instructions are counted in qemu; they
are not cycles. `code_bytes` is everything in flash but weights: of tflite-micro the whole program without the model,
of Lathe the whole program without the constants of layers. `ram_bytes` contains no stack. `equal`: the outputs are
those of LiteRT's reference kernels. `layers` compares single layers with CMSIS-NN; `budgets` are the same networks in
the least RAM, their layers in bands of rows. Writes build/bench-micro.json.
"""

from __future__ import annotations

import argparse
import functools
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from buildtool.errors import UnsupportedError
from buildtool.targets.micro import budget
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.processors import PROCESSORS
from tests.bench import words
from tests.bench.micro import lathe, layers, tflm
from tests.targets.micro.quantised_models import network

ROOT = Path(__file__).resolve().parents[3]
_ABIS = ("cortex-m4", "cortex-m7", "cortex-m55", "rv32imac")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, action="append", default=[])
    parser.add_argument("--abis", type=lambda text: words.listed(tuple(PROCESSORS), text), default=list(_ABIS))
    parser.add_argument("--tflm", type=Path)
    parser.add_argument("--work", type=Path, help="keeps what is compiled for later sittings")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench-micro.json")
    options = parser.parse_args()
    folders = options.models or [ROOT.parent / "shared" / "data" / "mlperf-tiny"]
    files = [file for folder in folders for file in sorted(folder.glob("*.tflite"))]
    small = [abi for abi in ("cortex-m4", "cortex-m55") if abi in options.abis]
    peers = [abi for abi in layers.MACHINES if abi in (*options.abis, "cortex-m3")]
    with tempfile.TemporaryDirectory(prefix="bench-micro-") as folder:
        place = options.work or Path(folder)
        parts = {
            "results": _networks(files, options.abis, options.tflm, place),
            "budgets": _budgets(files, small, place),
            "layers": _layers(peers, place),
        }
        _write(options.out, parts)
    print(f"wrote {options.out}")
    return 0


def _write(out: Path, parts: Mapping[str, Iterator[dict[str, Any]]]) -> None:
    """After each result, so that a sitting that is interrupted keeps what it has."""
    out.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in parts}
    for name, results in parts.items():
        for result in results:
            found[name].append(result)
            out.write_text(json.dumps(found, indent=1) + "\n")


def _networks(files: list[Path], abis: list[str], engines: Path | None, place: Path) -> Iterator[dict[str, Any]]:
    for file in files:
        found = _of_bytes(file)
        if found is None:
            continue
        inputs = lathe.inputs_of(found)
        data, expected = b"".join(each.tobytes() for each in inputs.values()), lathe.expected(found, inputs)
        for abi in abis:
            processor = PROCESSORS[abi]
            runs: dict[str, lathe.Figures | tflm.Figures] = {
                "lathe": lathe.run(found, processor, place / abi, data),
            }
            if engines is not None:
                runs["tflm"] = tflm.run(file, found, processor, engines, place / abi, data)
            for engine, figures in runs.items():
                result = {
                    "network": file.stem,
                    "machine": abi,
                    "engine": engine,
                    "instructions": figures.instructions,
                    "code_bytes": figures.code,
                    "weight_bytes": figures.weights,
                    "ram_bytes": figures.ram,
                    "stack_bytes": figures.stack,
                    "equal": figures.output == expected,
                }
                print("  ".join(f"{key} {value}" for key, value in result.items()), flush=True)
                yield result


@functools.cache
def _of_bytes(file: Path) -> Network | None:
    """The network of a model of bytes. tflite-micro's program and the drawn inputs are for these."""
    try:
        found = network(file, file.stem)
    except UnsupportedError as error:
        print(f"{file.name}: left out: {str(error).splitlines()[0]}")
        return None
    if any(each.dtype != "int8" for each in (*found.inputs, *found.outputs)):
        print(f"{file.name}: left out: its inputs or outputs are no bytes")
        return None
    return found


def _budgets(files: list[Path], abis: list[str], place: Path) -> Iterator[dict[str, Any]]:
    for file in files:
        whole = _of_bytes(file)
        if whole is None:
            continue
        inputs = lathe.inputs_of(whole)
        data, expected = b"".join(each.tobytes() for each in inputs.values()), lathe.expected(whole, inputs)
        for abi in abis:
            processor = PROCESSORS[abi]
            offer = min(budget.search(whole, processor.sets[0], 1).offers, key=lambda each: each.plan.size)
            if not offer.stretches:
                continue
            figures = lathe.run(offer.network, processor, place / abi, data, offer.plan)
            result = {
                "network": file.stem,
                "machine": abi,
                "arena_limit": offer.plan.size,
                "instructions": figures.instructions,
                "code_bytes": figures.code,
                "ram_bytes": figures.ram,
                "stack_bytes": figures.stack,
                "equal": figures.output == expected,
            }
            print("budget  ", "  ".join(f"{key} {value}" for key, value in result.items()), flush=True)
            yield result


def _layers(abis: list[str], place: Path) -> Iterator[dict[str, Any]]:
    for name, found in layers.networks().items():
        inputs = lathe.inputs_of(found)
        data, expected = b"".join(each.tobytes() for each in inputs.values()), lathe.expected(found, inputs)
        for abi in abis:
            figures = lathe.run(found, PROCESSORS[abi], place / abi, data)
            peer = layers.CMSIS_NN[name][layers.MACHINES.index(abi)]
            share = round(figures.instructions / peer, 3)
            result = {
                "layer": name,
                "machine": abi,
                "instructions": figures.instructions,
                "cmsis_nn": peer,
                "share": share,
                "equal": figures.output == expected,
            }
            print("  ".join(f"{key} {value}" for key, value in result.items()), flush=True)
            yield result


if __name__ == "__main__":
    raise SystemExit(main())
