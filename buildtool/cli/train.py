"""`lathe train`: networks for the MAX78000, MAX78002 and K210, from training to files for `lathe build`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.cli.train_options import AbiOption, ModelArgument, NetworkOptions, TeacherOptions, TimeOptions
from buildtool.cli.train_search import search
from buildtool.errors import ConfigError

_BITS = (16, 8, 4, 2, 1)

CheckpointArgument: TypeAlias = Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="Checkpoint of training.")]
CheckpointOption: TypeAlias = Annotated[
    Path, typer.Option("--checkpoint", metavar="FILE", help="Checkpoint of training.")
]
BitsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--bits", metavar="16|8|4|2|1", help="Quantise float weights to so many bits, without training."),
]
OutputOption: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write. [default: beside it]")
]


@dataclass(frozen=True)
class FitOptions:
    """How training goes."""

    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Number of epochs.")] = 40
    qat_policy: Annotated[
        Path | None, typer.Option("--qat-policy", metavar="FILE", help="Policy of quantisation-aware training (YAML).")
    ] = None
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder of the checkpoints.")] = Path(
        "trained"
    )
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --output.")] = False
    arguments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Argument of the function that makes the network."),
    ] = None
    augment: Annotated[
        str,
        typer.Option(
            "--augment", metavar="WORDS", help="Change the samples at random: flip, shift=N, noise=N, gain=SHARE."
        ),
    ] = ""
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also write curves for TensorBoard.")] = False


def fit(
    model: ModelArgument,
    *,
    network: NetworkOptions,
    time: TimeOptions,
    teacher: TeacherOptions,
    ways: FitOptions,
    out: Output,
) -> None:
    """Train a network, from the epoch of a policy on with the integers of the chip."""
    from buildtool.workflow import training

    with out.progress() as progress:
        fitted = training.fit(
            model,
            network.arch,
            network.data,
            training.FitSettings(ways.epochs, time.batch, time.rate, time.seed, time.threads),
            ways.output,
            policy=ways.qat_policy,
            resume=ways.resume,
            told=progress.step,
            teacher=_teacher(teacher),
            arguments=ways.arguments or (),
            augment=ways.augment,
            tensorboard=ways.tensorboard,
        )
    best, measure = fitted["best"], fitted["measure"]
    kind = "quantised" if best["quantised"] else "floats"
    text = (
        f"{fitted['arch']}: {len(fitted['epochs'])} epochs, {fitted['resumed']} of them in an earlier run\n"
        f"best: epoch {best['number'] + 1}, {measure} {best['accuracy']:.2%} of the held-out samples, {kind}\n"
        f"wrote {best['checkpoint']}"
    )
    out.document(fitted, text)


def samples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with a folder for each class.")],
    size: Annotated[
        str, typer.Option("--size", metavar="AxB", help="Height x width of pictures; channels x length of sounds.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write (.npz).")] = Path(
        "samples.npz"
    ),
    grey: Annotated[bool, typer.Option("--grey", help="Pictures of one channel.")] = False,
    rate: Annotated[
        int | None, typer.Option("--rate", min=1, metavar="HZ", help="Samples per second that sounds must have.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Make samples for --data of pictures (PNG, JPEG, BMP) or sounds (WAV)."""
    from buildtool.workflow import training

    found = training.samples_of(folder, size, output, grey=grey, rate=rate)
    classes = found["classes"]
    width = max(len(one["name"]) for one in classes)
    text = f"{found['shape'][0]} samples of {'x'.join(map(str, found['shape'][1:]))}, {len(classes)} classes\n"
    text += "".join(f"{label:5}  {one['name']:{width}}  {one['samples']:6}\n" for label, one in enumerate(classes))
    out.document(found, f"{text}wrote {found['file']}")


def _teacher(options: TeacherOptions) -> Any:
    from buildtool.workflow import training

    if options.kd_teacher is None and options.kd_resume is None:
        return None
    if options.kd_teacher is None or options.kd_resume is None:
        raise ConfigError("distillation needs both: --kd-teacher and --kd-resume")
    return training.Teacher(
        options.kd_teacher,
        options.kd_resume,
        options.kd_temp,
        options.kd_distill_wt,
        options.kd_student_wt,
        options.kd_model,
    )


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
    top_words = f", top {found['top']}" if found["confusion"] else ""
    text = (
        f"{found['arch']}: {found['measure']} {found['accuracy']:.2%}, {found['samples']} held-out samples{top_words}\n"
    )
    size = f"; {found['weight_bytes']} bytes with biases" if found["weight_bytes"] else ""
    text += f"weights: {_bits_text(found['weight_bits'])}{size}\n"
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
    """Write what `lathe build` takes: a network description with all places, its checkpoint and a sample; for the K210
    a deployment file, the network as ONNX, its ranges and a sample."""
    from buildtool.workflow import training

    _check_bits(bits)
    files = training.export(model, network.arch, network.data, checkpoint, output, bits=bits, abi=abi)
    text = "\n".join(f"wrote {file}" for file in files)
    description, weights, sample, *_ = files
    options = "" if abi == "k210" else f" --checkpoint-file {weights} --sample-input {sample} --abi {abi}"
    options += " --cnn fifo" if training.streams(description) else ""
    text += f"\nnext: lathe build {description}{options}"
    out.document({"files": [str(file) for file in files], "abi": abi}, text)


def _converted(checkpoint: Path, output: Path | None, out: Output, word: str) -> None:
    from buildtool.cli.quantize_checkpoint import SchemeOptions, quantize_checkpoint

    options = SchemeOptions(
        scheme="max7800x", fuse_batch_norm=True, clip_method="none" if word == "fused" else "QUANTILE"
    )
    quantize_checkpoint(checkpoint, output, options, out)


def _check_bits(bits: int | None) -> None:
    if bits is not None and bits not in _BITS:
        raise ConfigError(f"--bits cannot be {bits}", rule="8, 4, 2 or 1; for the K210 16 or 8")


def _bits_text(bits: list[int]) -> str:
    return "floats" if not any(bits) else f"{', '.join(map(str, bits))} bits, layer by layer"


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Train networks for the MAX78000, MAX78002 and K210.", rich_markup_mode=None, no_args_is_help=True
    )
    commands: dict[str, Any] = {
        "samples": samples,
        "fit": fit,
        "evaluate": evaluate,
        "fold": fold,
        "quantize": quantize,
        "export": export,
        "search": search,
    }
    for name, function in commands.items():
        command(group, name)(function)
    app.add_typer(group, name="train")
