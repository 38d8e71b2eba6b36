"""The command `lathe`: collects the commands and turns every failure into one clear message and an exit code."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from buildtool.cli.inner_tensors import with_values
from buildtool.cli.output import ClosedPipe, complain, report_error
from buildtool.cli.usage import usage_error
from buildtool.errors import BuildError, InternalError, LatheError, Where

# Graphs are millions of objects that stay: Python's usual thresholds visit them so often that it takes two fifths of
# the time of large models.
_COLLECTIONS = (200_000, 20, 100)

# In the order in which a user meets them, each with how its help begins: `lathe --help` loads none of them.
COMMANDS = {
    "init": "Write a deployment file for models: their inputs, shapes, formats and checksums.",
    "check": "Check a deployment file and the models that it names: all problems at once.",
    "schema": "Print the JSON Schema of deployment files, or of network descriptions.",
    "convert": "Convert the models of a deployment file; writes <library>/model and compiles nothing.",
    "build": "Build the library of a deployment file, with its headers, models and reports.",
    "run": "Run the models of a library: on this machine, in an emulator, or on a device. Builds what is missing.",
    "validate": "Compare a library with its source models, for every ABI, shared and static. Builds missing libraries.",
    "bench": "Measure the models of a library: time, spread, every node, and how near it comes to the machine's peak.",
    "tune": "Measure every kernel for each layer on the device, and build with the fastest.",
    "debug": "Start a model under gdb where it runs, and stop as soon as its library is loaded.",
    "tensor": "Convert images and audio to a .npy for a model, or a .npy to an image. Without -o, describe them.",
    "inspect": "Say what a file is and what is inside it: a deployment, a model, a built library.",
    "quantize": "Measure the tensor ranges of a model on samples, and write them for quantize_range_file.",
    "quantize-stat": "Convert the log of lathe run --quantize-stat to a range file.",
    "train": "Train networks for the MAX78000, MAX78002 and K210.",
    "encrypt": "Encrypt model files, each into `<file>.enc`.",
    "sign": "Sign libraries and models, each in `<file>.sig`.",
    "verify": "Verify the signatures of libraries and models.",
    "package": "Build the firmware of a deployment file, and pack it for the flash memory of a board.",
    "merge-opencl": "Merge files that `lathe tune` made: tuned parameters of GPUs, or their compiled programs.",
    "devices": "List the devices that models can run on, and their properties. Does not reserve devices.",
    "test": "Build Lathe's native tests for an ABI, and run them on a device: does everything work on this processor?",
    "cache": "Show what is kept between builds, or make room. Builds that run at the same time are safe.",
    "where": "Print the folder of a part of Lathe: `cmake` is what find_package(Lathe) wants as Lathe_DIR.",
    "demo": "List the demonstrations, or run one: each builds a library from a model and shows what it does.",
    "completion": "Print a script that lets a shell complete commands and options: bash, zsh or fish.",
    "doctor": "Check what each target needs. Exit code 6 if a target cannot be built.",
    "dev": "Commands for extending Lathe.",
}

INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141

# typer exports no base class of its usage errors, and where it lives differs between versions.
_UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]


def _dashes(token: str) -> str:
    return token.replace("_", "-")


def _version(value: bool) -> None:
    if value:
        from buildtool import version

        sys.stdout.write(f"lathe {version()}\n")
        raise typer.Exit


def application(arguments: Sequence[str]) -> typer.Typer:
    """With the command that the arguments name; without one, with all of them as `--help` lists them. Options take
    dashes and underscores alike.
    """
    app = typer.Typer(
        name="lathe",
        help="Turns models into native libraries that hold exactly what the models need.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"token_normalize_func": _dashes, "help_option_names": ["--help", "-h"]},
    )

    @app.callback()
    def lathe(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
        ] = False,
    ) -> None:
        pass

    named = next((word for word in map(_dashes, arguments) if word in COMMANDS), None)
    if named:
        importlib.import_module(f"buildtool.cli.{named.replace('-', '_')}").register(app)
    else:
        for name, summary in COMMANDS.items():
            app.command(name, short_help=summary)(_listed)
    return app


def _listed() -> None:
    """Stands for a command in a list of all."""


def main() -> NoReturn:
    """The console script."""
    _open_standard_streams()
    signal.signal(signal.SIGTERM, _terminate)
    gc.set_threshold(*_COLLECTIONS)
    sys.exit(run(sys.argv[1:]))


def _open_standard_streams() -> None:
    """Whoever starts this program may have closed them, as `>&-` does: a model's file would then be opened in the place
    of the terminal, and be printed into.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code. Whatever goes wrong becomes one message, never a traceback."""
    as_json = "--json" in arguments
    try:
        arguments = with_values(arguments)
        code = application(arguments)(args=arguments or ["--help"], prog_name="lathe", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except InternalError as error:
        return _fail(_reported(error), as_json)
    except LatheError as error:
        return _fail(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    except ClosedPipe:
        # Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except _UsageProblem as problem:
        return _fail(usage_error(problem), as_json)
    except OSError as problem:
        return _fail(_environment_error(problem), as_json)
    except MemoryError:
        return _fail(
            BuildError("memory is exhausted", remedy="close other programs, or build fewer models at once"), as_json
        )
    except Exception as problem:
        return _fail(_reported(_internal_error(problem)), as_json)


def _fail(error: LatheError, as_json: bool) -> int:
    if os.environ.get("LATHE_DEBUG"):
        import traceback

        traceback.print_exception(error)
    report_error(error, as_json)
    return error.exit_code


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:
    """SIGTERM takes the way of an exception, so that half-written output is cleaned up."""
    raise SystemExit(TERMINATED)


def _environment_error(problem: OSError) -> LatheError:
    """What the operating system refused, in the words of the operating system."""
    from buildtool.builders import disks

    remedies = {
        errno.ENOSPC: disks.ROOM,
        errno.EDQUOT: disks.ROOM,
        errno.EROFS: "choose a writable folder with --output",
        errno.EACCES: "check the permissions of the file and of its folder",
        errno.ENOTDIR: "a file is in the place of a folder: choose another folder, or move the file",
        errno.EMFILE: "raise the limit of open files (ulimit -n)",
    }
    what = problem.strerror or str(problem)
    file = os.fsdecode(problem.filename) if isinstance(problem.filename, str | bytes) else ""
    if disks.is_full(problem) and file:
        told = disks.full(problem, Path(file))
        told.__cause__ = problem
        return told
    error = BuildError(what[:1].lower() + what[1:], where=Where(file=file), remedy=remedies.get(problem.errno or 0, ""))
    error.__cause__ = problem
    return error


def _internal_error(problem: Exception) -> InternalError:
    error = InternalError(f"{type(problem).__name__}: {problem}")
    error.__cause__ = problem
    return error


def _reported(error: InternalError) -> InternalError:
    """The same error, once its report is written, with the report's name."""
    import tempfile
    import traceback

    text = f"{' '.join(sys.argv)}\nPython {sys.version}\n{''.join(traceback.format_exception(error))}"
    try:
        report = Path(tempfile.gettempdir()) / f"lathe-report-{os.getpid()}.txt"  # there may be no such folder
        report.write_text(text, encoding="utf-8")
        remedy = f"this is a defect of Lathe: please report it with the file {report}"
    except OSError:
        remedy = "this is a defect of Lathe: please report it with what LATHE_DEBUG=1 shows"
    told = InternalError(
        [replace(one, remedy=f"{one.remedy}; {remedy}" if one.remedy else remedy) for one in error.problems]
    )
    told.__cause__ = error
    return told
