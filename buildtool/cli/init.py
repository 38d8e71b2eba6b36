"""`lathe init`: writes a deployment file for models."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from buildtool.cli.build import build_or_reuse
from buildtool.cli.command import command
from buildtool.cli.options import AbisOption, OpPathOption, TrustOption, words
from buildtool.cli.output import Output, write_file
from buildtool.cli.watching import Asking
from buildtool.errors import ConfigError, Problem
from buildtool.settings import Options, Overrides
from buildtool.wording import did_you_mean, quoted


def shapes_by_name(words: list[str] | None) -> dict[str, str]:
    """`name=1,3,224,224` by name."""
    return _by_name(words, "--input-shape", "SHAPE", "1,3,224,224")


def _by_name(words: list[str] | None, option: str, kind: str, example: str) -> dict[str, str]:
    """`name=value` by name. A name may hold '=' itself; a value never does."""
    found: dict[str, str] = {}
    for word in words or ():
        name, equals, value = word.rpartition("=")
        if not equals or not name:
            raise ConfigError(
                f"{option} cannot be '{word}'",
                rule=f"{option} NAME={kind}",
                remedy=f"put the name of the input before it: {option} NAME={value or example}",
            )
        found[name] = value
    return found


ModelsArgument: TypeAlias = Annotated[
    list[Path],
    typer.Argument(metavar="MODEL...", help="Model files or folders of any supported framework.", show_default=False),
]
FileOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Output file; `-` for stdout. [default: <model>.yml]"),
]
ShapesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--input-shape", metavar="NAME=SHAPE", help="Shape of an input with open sizes; 1..8: bounds of a size."
    ),
]
RangesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--input-range", metavar="NAME=LOW,HIGH", help="Smallest and largest value of an input."),
]
DataTypeOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--data-type",
        metavar="fp32_fp32|fp16_fp32|bf16_fp32|fp16_fp16",
        help="Types that weights are stored in and computed with.",
    ),
]


def init(
    models: ModelsArgument,
    output: FileOption = None,
    library_name: Annotated[
        str | None, typer.Option("--library-name", metavar="NAME", help="[default: the name of the first model]")
    ] = None,
    target_abis: AbisOption = None,
    input_shape: ShapesOption = None,
    input_range: RangesOption = None,
    data_type: DataTypeOption = "fp16_fp32",
    op_paths: OpPathOption = None,
    trust_model_code: TrustOption = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    build: Annotated[bool, typer.Option("--build", help="Go on to build the library.")] = False,
    *,
    out: Output,
) -> None:
    """Write a deployment file for models: their inputs, shapes, formats and checksums."""
    from buildtool.drafts import deployment as draft

    to_stdout = output is not None and str(output) == "-"
    if build and to_stdout:
        raise ConfigError("--build needs a file to build from", remedy="leave out `--output -`, or --build")
    file = output or models[0].resolve().with_suffix(".yml")
    if not force and not to_stdout and file.exists():
        raise ConfigError(f"{file} already exists", remedy="choose another file with --output, or give --force")
    abis = _canonical(words(target_abis))
    notes: list[Problem] = []
    text = draft.write(
        models,
        relative_to=Path.cwd() if to_stdout else file.parent,
        library_name=library_name,
        target_abis=abis or ["host"],
        shapes=shapes_by_name(input_shape),
        ranges=_by_name(input_range, "--input-range", "LOW,HIGH", "0,1"),
        data_type=data_type,
        trust_model_code=trust_model_code,
        op_paths=tuple(op_paths or ()),
        ask=_ask if sys.stdin.isatty() and sys.stderr.isatty() and not out.json else None,
        note=notes.append,
    )
    if not out.json:
        for note in notes:
            out.note(note)
    document = {"text": text, "notes": [note.as_json() for note in notes]}
    if to_stdout:
        out.document(document, text)
        return
    write_file(file, text)
    shown = shlex.quote(str(_short(file)))
    if not (build and out.json):
        out.document({"file": str(file), **document}, f"wrote {shown}", *([] if build else [_next(text, shown)]))
    if build:
        go_on = Asking(file, Overrides(), Options(trust_model_code=trust_model_code))
        build_or_reuse(go_on, None, out)


def _canonical(abis: Sequence[str]) -> list[str]:
    """The names of the ABIs, each once. ConfigError for a word that names none."""
    from buildtool.config import abis as known

    unknown = [word for word in abis if word not in known.spellings()]
    if unknown:
        raise ConfigError(
            f"--target-abis cannot be {quoted(unknown[0])}",
            rule=f"allowed: {known.known_targets()}",
            remedy=did_you_mean(unknown[0], known.spellings()) or "`lathe doctor` shows which can be built here",
        )
    return list(dict.fromkeys(map(known.canonical_abi, abis)))


def _next(text: str, file: str) -> str:
    """The command that follows: chips need the ranges of all tensors first."""
    return f"next: lathe quantize {file} --inputs SAMPLES" if "_range_file:" in text else f"next: lathe build {file}"


def _ask(question: str, usual: str) -> str:
    """The answer of a person at a terminal; the question goes to stderr."""
    sys.stderr.write(f"{question}{f' [{usual}]' if usual else ''}: ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip()
    if not answer and not usual:
        raise ConfigError(f"no answer to: {question}", remedy="give the shape with --input-shape NAME=SHAPE")
    return answer or usual


def _short(file: Path) -> Path:
    """Relative to the current folder, where it is inside."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file


def register(app: typer.Typer) -> None:
    command(app, "init")(init)
