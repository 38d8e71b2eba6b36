"""`lathe init`, `check` and `build` on one model, in this process, with nothing edited between them."""

from __future__ import annotations

import contextlib
import io
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from buildtool.cli.main import run
from buildtool.config import load_deployment
from tests.first_hour.models import Model

#: How a model fared. `refused`: one message with a reason, from `init` or `check`. All that follows is a defect.
BUILT, CHECKED, REFUSED, FAILED = "built", "checked", "refused", "failed"
_REASONS = {2, 3, 4}  # of the deployment, of the model, not supported


@dataclass(frozen=True)
class Outcome:
    """What happened to a model for a target: the last command that ran, its exit code and its message."""

    framework: str
    kind: str
    name: str
    target: str
    result: str
    step: str = ""
    code: int = 0
    message: str = ""
    answered: bool = False  # whether `init` asked for a size and was given one

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def attempt(model: Model, target: str, folder: Path, build: bool = True, ranges: bool = False) -> Outcome:
    """`build`: go on to the library; without it `check` is the last step. `ranges`: measure them on a drawn sample."""
    file = folder / "deployment.yml"
    written, steps = _written(model, target, file)
    known = (model.framework, model.kind, model.name, target)
    step, (code, message) = "init", written
    if code == 0:
        step, (code, message) = "check", lathe("check", file)
        if "lathe quantize" in message and ranges:  # the command that `init` has printed
            step, (code, message) = "quantize", lathe("quantize", file, "--inputs", _sample(file), "--fresh")
            if code == 0:
                step, (code, message) = "check", lathe("check", file)
        if code == 0 and build:
            library = folder / "library"
            step, (code, message) = "build", lathe("build", file, "-o", library, "--no-archive", "--no-self-check")
            shutil.rmtree(library, ignore_errors=True)
    for written_file in (file, file.with_suffix(".npz"), *folder.glob("*.ranges")):
        written_file.unlink(missing_ok=True)
    if code == 0:
        return Outcome(*known, BUILT if build else CHECKED, step, answered=steps > 1)
    refused = code in _REASONS and step != "build" and "error:" in message and "Traceback" not in message
    return Outcome(*known, REFUSED if refused else FAILED, step, code, message, steps > 1)


def _written(model: Model, target: str, file: Path) -> tuple[tuple[int, str], int]:
    """What `init` said, and how often it ran: again with shapes where it asked for them."""
    command = ("init", model.path, "-o", file, "--force", "--target-abis", target)
    code, message = lathe(*command)
    if code != 2 or "--input-shape" not in message or not model.shapes:
        return (code, message), 1
    return lathe(*command, *(word for shape in model.shapes for word in ("--input-shape", shape))), 2


def _sample(file: Path) -> Path:
    """Random data for the inputs of a deployment: whether a network fits a chip does not depend on the values."""
    (model,) = load_deployment(file).deployment.models
    drawn = {}
    for tensor in model.subgraphs[0].inputs:
        sizes = [size if isinstance(size, int) else size[1] for size in tensor.shape]
        drawn[tensor.name] = np.random.default_rng(1).uniform(*tensor.value_range, sizes).astype(tensor.data_type)
    sample = file.with_suffix(".npz")
    np.savez(sample, allow_pickle=False, **drawn)
    return sample


def lathe(*arguments: object) -> tuple[int, str]:
    """The exit code of a command line, and what it wrote to stderr."""
    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
        code = run([str(argument) for argument in arguments])
    return code, stderr.getvalue().strip()
