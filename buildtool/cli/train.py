"""`lathe train`: networks for the MAX78000 and MAX78002, from training to files for `lathe build`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.errors import ConfigError

_BITS = (8, 4, 2, 1)

ModelArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Python file with the network, as of ai8x-training.")
]
CheckpointArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="Checkpoint of training.")]
CheckpointOption: TypeAlias = Annotated[
    Path, typer.Option("--checkpoint", metavar="FILE", help="Checkpoint of training.")
]
BitsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--bits", metavar="8|4|2|1", help="Quantise float weights to so many bits, without training."),
]
AbiOption: TypeAlias = Annotated[str, typer.Option("--abi", metavar="CHIP", help="max78000 or max78002.")]
OutputOption: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write. [default: beside it]")
]


@dataclass(frozen=True)
class NetworkOptions:
    """Which network of the file, and what it is given."""

    arch: Annotated[
        str | None, typer.Option("--arch", metavar="NAME", help="Architecture, if the file has several.")
    ] = None
    data: Annotated[
        str,
        typer.Option("--data", metavar="NAME|FILE", help="`digits`, or an .npz with `samples` and `labels`."),
    ] = "digits"


@dataclass(frozen=True)
class FitOptions:
    """How training goes."""

    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Number of epochs.")] = 40
    batch: Annotated[int, typer.Option("--batch", min=1, help="Samples of a step.")] = 32
    rate: Annotated[float, typer.Option("--rate", min=0.0, help="Learning rate at the start.")] = 3e-3
    seed: Annotated[int, typer.Option("--seed", min=0, help="Equal seeds give equal bits.")] = 0
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of torch.")] = 1
    qat_policy: Annotated[
        Path | None, typer.Option("--qat-policy", metavar="FILE", help="Policy of quantisation-aware training (YAML).")
    ] = None
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the checkpoints.")] = Path(
        "trained"
    )
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --output.")] = False


def fit(model: ModelArgument, *, network: NetworkOptions, ways: FitOptions, out: Output) -> None:
    """Train a network, from the epoch of a policy on with the integers of the chip."""
    from buildtool.workflow import training

    with out.progress() as progress:
        fitted = training.fit(
            model,
            network.arch,
            network.data,
            training.FitSettings(ways.epochs, ways.batch, ways.rate, ways.seed, ways.threads),
            ways.output,
            policy=ways.qat_policy,
            resume=ways.resume,
            told=progress.step,
        )
    best = fitted["best"]
    kind = "quantised" if best["quantised"] else "floats"
    text = (
        f"{fitted['arch']}: {len(fitted['epochs'])} epochs, {fitted['resumed']} of them in an earlier run\n"
        f"best: epoch {best['number'] + 1}, {best['accuracy']:.2%} of the held-out samples, {kind}\n"
        f"wrote {best['checkpoint']}"
    )
    out.document(fitted, text)


def evaluate(
    model: ModelArgument,
    checkpoint: CheckpointOption,
    bits: BitsOption = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Count a label among the N largest outputs as right.")] = 1,
    simulate: Annotated[
        bool,
        typer.Option("--simulate", help="Also compare every layer with the simulator, for all samples."),
    ] = False,
    abi: AbiOption = "max78000",
    *,
    network: NetworkOptions,
    out: Output,
) -> None:
    """Measure the accuracy over the held-out samples: with floats, or with the integers of the chip."""
    from buildtool.workflow import training

    _check_bits(bits)
    found = training.evaluate(
        model, network.arch, network.data, checkpoint, bits=bits, top=top, abi=abi if simulate else None
    )
    text = f"{found['arch']}: {found['accuracy']:.2%} of {found['samples']} held-out samples, top {found['top']}\n"
    text += f"weights: {_bits_text(found['weight_bits'])}\n"
    if found["layers_compared"]:
        text += f"simulator: all {found['layers_compared']} layers equal, for every sample\n"
    text += "\n".join(" ".join(f"{count:5}" for count in row) for row in found["confusion"])
    out.document(found, text)


def fold(checkpoint: CheckpointArgument, output: OutputOption = None, *, out: Output) -> None:
    """Take batch normalisation into the weights of a checkpoint."""
    _converted(checkpoint, output, out, "fused")


def quantize(checkpoint: CheckpointArgument, output: OutputOption = None, *, out: Output) -> None:
    """Turn the weights of a checkpoint into integers, with the bits that it was trained for."""
    _converted(checkpoint, output, out, "q")


def export(
    model: ModelArgument,
    checkpoint: CheckpointOption,
    bits: BitsOption = None,
    abi: AbiOption = "max78000",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the files.")] = Path(
        "exported"
    ),
    *,
    network: NetworkOptions,
    out: Output,
) -> None:
    """Write a network description with all places, its checkpoint and a sample: what `lathe build` takes."""
    from buildtool.workflow import training

    _check_bits(bits)
    files = training.export(model, network.arch, network.data, checkpoint, output, bits=bits, abi=abi)
    description, weights, sample = files
    text = "\n".join(f"wrote {file}" for file in files)
    text += f"\nnext: lathe build {description} --checkpoint-file {weights} --sample-input {sample} --abi {abi}"
    out.document({"files": [str(file) for file in files], "abi": abi}, text)


def _converted(checkpoint: Path, output: Path | None, out: Output, word: str) -> None:
    from buildtool.cli.quantize_checkpoint import SchemeOptions, quantize_checkpoint

    options = SchemeOptions(
        scheme="max7800x", fuse_batch_norm=True, clip_method="none" if word == "fused" else "QUANTILE"
    )
    quantize_checkpoint(checkpoint, output, options, out)


def _check_bits(bits: int | None) -> None:
    if bits is not None and bits not in _BITS:
        raise ConfigError(f"--bits cannot be {bits}", rule="8, 4, 2 or 1")


def _bits_text(bits: list[int]) -> str:
    return "floats" if not any(bits) else f"{', '.join(map(str, bits))} bits, layer by layer"


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Train networks for the MAX78000 and MAX78002.", rich_markup_mode=None, no_args_is_help=True
    )
    commands: dict[str, Any] = {
        "fit": fit,
        "evaluate": evaluate,
        "fold": fold,
        "quantize": quantize,
        "export": export,
    }
    for name, function in commands.items():
        command(group, name)(function)
    app.add_typer(group, name="train")
