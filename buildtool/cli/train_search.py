"""`lathe train search`: the widths, depths and bits of a network within the limits of a chip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from buildtool.cli.output import Output
from buildtool.cli.train_options import AbiOption, ModelArgument, NetworkOptions, TimeOptions
from buildtool.errors import ConfigError


@dataclass(frozen=True)
class SearchOptions:
    """What is looked for, and where it is computed."""

    how: Annotated[str, typer.Option("--how", metavar="evolution|random", help="How candidates are chosen.")] = (
        "evolution"
    )
    trials: Annotated[int, typer.Option("--trials", min=1, help="Number of networks to train.")] = 24
    population: Annotated[int, typer.Option("--population", min=2, help="Networks of one generation.")] = 8
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Epochs of each network, half of them quantised.")] = 8
    weight_bits: Annotated[
        str, typer.Option("--weight-bits", metavar="8,4,2,1", help="Bits that a layer may have.")
    ] = "8,4,2"
    weight_memory: Annotated[
        int | None, typer.Option("--weight-memory", min=1, metavar="BYTES", help="Limit of weights and biases.")
    ] = None
    cycles: Annotated[int | None, typer.Option("--cycles", min=1, help="Limit of the estimated cycles.")] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint", metavar="FILE", help="Search bits for this trained network of floats, without training."
        ),
    ] = None
    start_epoch: Annotated[
        int, typer.Option("--start-epoch", min=0, help="With --checkpoint: `start_epoch` of the policy.")
    ] = 10
    workers: Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")] = 1
    scheduler: Annotated[str, typer.Option("--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler.")] = ""
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the results.")] = Path(
        "searched"
    )
    resume: Annotated[bool, typer.Option("--resume", help="Continue the search in --output.")] = False


def search(
    model: ModelArgument,
    abi: AbiOption = "max78000",
    *,
    network: NetworkOptions,
    time: TimeOptions,
    ways: SearchOptions,
    out: Output,
) -> None:
    """Look for arguments and bits of a network that fit a chip; with --checkpoint, for bits alone."""
    from buildtool.workflow import training

    if ways.scheduler and ways.workers != 1:
        raise ConfigError("--scheduler and --workers contradict each other", remedy="leave out one of them")
    if ways.checkpoint is not None:
        found = training.search_bits(
            model,
            network.arch,
            network.data,
            ways.checkpoint,
            weight_bits=ways.weight_bits,
            weight_memory=ways.weight_memory,
            abi=abi,
            start_epoch=ways.start_epoch,
            folder=ways.output,
        )
        out.document(found, _bits_text(model, found))
        return
    wanted = training.SearchSettings(
        ways.how, ways.trials, ways.population, ways.weight_bits, ways.weight_memory, ways.cycles, abi, ways.workers,
        ways.scheduler,
    )  # fmt: skip
    settings = training.FitSettings(ways.epochs, time.batch, time.rate, time.seed, time.threads)
    with out.progress() as progress:
        found = training.search(
            model,
            network.arch,
            network.data,
            settings,
            wanted,
            ways.output,
            resume=ways.resume,
            told=progress.step,
        )
    out.document(found, _text(model, found))


def _text(model: Path, found: dict[str, Any]) -> str:
    best, refused = found["best"], sum(found["refused"].values())
    chosen = ", ".join(f"{name} {value}" for name, value in best["arguments"].items()) or "no arguments"
    bits = ", ".join(f"{layer} {count}" for layer, count in best["bits"].items())
    sets = "".join(f" --set {name}={value}" for name, value in best["arguments"].items())
    return (
        f"{found['arch']}: {len(found['trials'])} networks trained, {found['resumed']} of them in an earlier search, "
        f"{refused} did not fit\n"
        f"best: {found['measure']} {best['accuracy']:.2%} of the samples of the search, {chosen}; bits: {bits}\n"
        f"{best['weight_bytes']} bytes of weights and biases, {best['cycles']} cycles, estimated\n"
        f"wrote {found['policy']}\n"
        f"next: lathe train fit {model} --arch {found['arch']}{sets} --qat-policy {found['policy']}"
    )


def _bits_text(model: Path, found: dict[str, Any]) -> str:
    bits = ", ".join(f"{layer} {count}" for layer, count in found["bits"].items())
    return (
        f"{found['arch']}: {bits}; shift quantile {found['shift_quantile']}\n"
        f"{found['weight_bytes']} bytes of weights and biases, {found['cycles']} cycles, estimated\n"
        f"without training: {found['measure']} {found['accuracy']:.2%} of the held-out samples\n"
        f"wrote {found['policy']}\n"
        f"next: lathe train fit {model} --arch {found['arch']} --qat-policy {found['policy']}"
    )
