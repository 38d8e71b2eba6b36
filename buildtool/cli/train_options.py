"""Options that several commands of `lathe train` have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ModelArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Python file with the network, as of ai8x-training.")
]
AbiOption: TypeAlias = Annotated[str, typer.Option("--abi", metavar="CHIP", help="max78000, max78002 or k210.")]


@dataclass(frozen=True)
class NetworkOptions:
    """Which network of the file, and what it is given."""

    arch: Annotated[
        str | None, typer.Option("--arch", metavar="NAME", help="Architecture, if the file has several.")
    ] = None
    data: Annotated[
        str,
        typer.Option(
            "--data", metavar="NAME|FILE", help="`digits`, or an .npz with `samples` and `labels`, or `boxes`."
        ),
    ] = "digits"


@dataclass(frozen=True)
class TimeOptions:
    """How an epoch goes."""

    batch: Annotated[int, typer.Option("--batch", min=1, help="Samples of a step.")] = 32
    rate: Annotated[float, typer.Option("--rate", min=0.0, help="Learning rate at the start.")] = 3e-3
    seed: Annotated[int, typer.Option("--seed", min=0, help="Equal seeds give equal bits.")] = 0
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of torch.")] = 1


@dataclass(frozen=True)
class TeacherOptions:
    """Whom a network learns from, with the names and defaults of ai8x-training."""

    kd_teacher: Annotated[
        str | None, typer.Option("--kd-teacher", metavar="NAME", help="Architecture of a teacher: distillation.")
    ] = None
    kd_resume: Annotated[
        Path | None, typer.Option("--kd-resume", metavar="FILE", help="Checkpoint of the teacher.")
    ] = None
    kd_model: Annotated[
        Path | None, typer.Option("--kd-model", metavar="MODEL", help="Model file of the teacher, if it is another.")
    ] = None
    kd_temp: Annotated[float, typer.Option("--kd-temp", min=0.01, help="Temperature of the probabilities.")] = 1.0
    kd_distill_wt: Annotated[
        float, typer.Option("--kd-distill-wt", min=0.0, help="Weight of what the teacher says.")
    ] = 0.5
    kd_student_wt: Annotated[float, typer.Option("--kd-student-wt", min=0.0, help="Weight of the labels.")] = 0.5
