"""The options of `lathe quantize` for checkpoints of PyTorch, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from buildtool.cli.output import Output
from buildtool.errors import ConfigError

_ENDINGS = (".pth.tar", ".pth", ".pt")
_NONE = "none"


@dataclass(frozen=True)
class SchemeOptions:
    """How weights become whole numbers; without --scheme none of them is used."""

    scheme: Annotated[
        str | None,
        typer.Option("--scheme", metavar="TARGET", help="Quantise FILE, a PyTorch checkpoint, for this target."),
    ] = None
    clip_method: Annotated[
        str,
        typer.Option(
            "--clip-method",
            metavar="QUANTILE|SCALE|MAX|AVGMAX|AVG|STDDEV|none",
            help="QUANTILE: shifts per layer; others: the methods of 2020; none: only fuse.",
        ),
    ] = "QUANTILE"
    scale: Annotated[float, typer.Option("--scale", help="Factor of SCALE.")] = 0.85
    stddev: Annotated[float, typer.Option("--stddev", help="Standard deviations of STDDEV.")] = 2.0
    network: Annotated[
        Path | None, typer.Option("--network", metavar="FILE", help="Network description with the bits of each layer.")
    ] = None
    fuse_batch_norm: Annotated[
        bool, typer.Option("--fuse-batch-norm", help="Fuse batch normalisation into the weights first.")
    ] = False
    fused_arch: Annotated[str, typer.Option("--fused-arch", metavar="NAME", help="Name of the fused architecture.")] = (
        ""
    )


def quantize_checkpoint(file: Path | None, output: Path | None, options: SchemeOptions, out: Output) -> None:
    """What `lathe quantize --scheme` does."""
    from buildtool.reports import checkpoints as report
    from buildtool.settings import CheckpointSettings
    from buildtool.workflow import checkpoints

    scheme = options.scheme or ""
    checkpoints.scheme_target(scheme)
    if file is None:
        raise ConfigError("the checkpoint is missing", remedy=f"lathe quantize net.pth.tar --scheme {scheme}")
    quantises = options.clip_method.lower() != _NONE
    if not (quantises or options.fuse_batch_norm):
        raise ConfigError(
            "nothing to do: no clipping and no fusing is selected",
            remedy="add --fuse-batch-norm, or give another --clip-method",
        )
    settings = CheckpointSettings(
        method=options.clip_method.upper() if quantises else CheckpointSettings.method,
        scale=options.scale,
        deviations=options.stddev,
        description=options.network,
        fuse_batch_norm=options.fuse_batch_norm,
        arch=options.fused_arch,
        quantises=quantises,
    )
    place = output or _beside(file, "q" if quantises else "fused")
    found = checkpoints.quantize_checkpoint(scheme, file, place, settings)
    document = found.as_json()
    out.document(document, *report.parts(document))


def _beside(file: Path, word: str) -> Path:
    """`net-q.pth.tar` for `net.pth.tar`."""
    ending = next((ending for ending in _ENDINGS if file.name.endswith(ending)), "")
    return file.with_name(f"{file.name.removesuffix(ending)}-{word}{ending or _ENDINGS[0]}")
