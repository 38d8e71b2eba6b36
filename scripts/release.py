"""Makes the archives of a release and tries them: `make release`.

The source archive is built in an isolated environment, and from it, not from the tree, the wheel, in which nothing is
compiled. It is installed in a clean environment of each Python, and builds the library of examples/digits there,
outside of the tree. The wheel for boards, lathe-runtime, is installed in another one and reads the digits with that
library. What passed lies in `dist/`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # run as a file
    sys.path.insert(0, str(ROOT))

from scripts import runtime_wheel  # noqa: E402

WORK = ROOT / "build" / "release"
DIST = ROOT / "dist"
#: Those of .github/workflows/test.yml; a test compares them.
PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13")
TOOLS = ("build>=1.2",)
#: Folders beside the package that a wheel carries in `buildtool/_resources`.
RESOURCES = ("native", "cmake", "bazel", "toolchains")
EXAMPLE = ROOT / "examples" / "digits"
EXAMPLE_FILES = ("deploy.yml", "digits.onnx", "pictures.npy", "labels.npy")
LEAST_CORRECT = 0.9

READ_DIGITS = """
import json, numpy, buildtool
pictures, labels = numpy.load("pictures.npy"), numpy.load("labels.npy")
with buildtool.load("build/digits/lib/host/libdigits.so", model="digits") as model:
    answers = [model.run({"image": picture[None]})["probabilities"].argmax() for picture in pictures]
print(json.dumps({"package": buildtool.__file__, "correct": float((numpy.array(answers) == labels).mean())}))
"""

READ_ON_BOARD = """
import importlib.util, json, numpy, lathe_runtime
pictures, labels = numpy.load("pictures.npy"), numpy.load("labels.npy")
model = lathe_runtime.load("libdigits.so", model="digits.pb")
answers = [model.run({"image": picture[None]})["probabilities"].argmax() for picture in pictures]
correct = float((numpy.array(answers) == labels).mean())
print(json.dumps({"correct": correct, "alone": importlib.util.find_spec("buildtool") is None}))
"""

PROBE = """
import json, sys
print(json.dumps({"program": sys.executable, "version": "%d.%d" % sys.version_info[:2]}))
"""


class ReleaseError(Exception):
    """A step failed; the message says what to do."""


@dataclass(frozen=True)
class Python:
    """An interpreter that the wheel is tried with."""

    program: Path
    version: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", nargs="+", default=PYTHONS, help="programs; default: those of PYTHONS that exist")
    parser.add_argument("--allow-changes", action="store_true", help="release a tree with changes, to try things out")
    options = parser.parse_args()
    try:
        if not options.allow_changes:
            refuse_changes()
        made = release(find_pythons(options.pythons, required=options.pythons is not PYTHONS))
    except ReleaseError as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  dist/{path.name}")
    return 0


def release(pythons: Sequence[Python]) -> list[Path]:
    """All archives, tried, in `dist/`, which holds nothing else then."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    tools = _environment(WORK / "tools", Path(sys.executable))
    _run([tools, "-m", "pip", "install", *_QUIET, *TOOLS], "installing the tools of releases")
    source = _built(WORK / "dist", [tools, "-m", "build", "--sdist", "--outdir", WORK / "dist", ROOT], "*.tar.gz")
    with tarfile.open(source) as archive:
        _report_missing(source, missing_from_source(archive.getnames(), tracked_files()))
    make_wheel: list[str | Path] = [
        tools,
        "-m",
        "pip",
        "wheel",
        *_QUIET,
        "--no-deps",
        "--wheel-dir",
        WORK / "wheel",
        source,
    ]
    wheel = _built(WORK / "wheel", make_wheel, "*-py3-none-any.whl")
    _report_missing(wheel, missing_from_wheel(zipfile.ZipFile(wheel).namelist(), tracked_files()))
    board = runtime_wheel.write(WORK / "wheel")
    if board.stat().st_size > runtime_wheel.MOST_BYTES:
        raise ReleaseError(f"{board.name} has {board.stat().st_size:,} bytes, more than {runtime_wheel.MOST_BYTES:,}")
    for python in pythons:
        print(f"release: Python {python.version}", flush=True)
        environment = _environment(WORK / python.version, python.program)
        _run([environment, "-m", "pip", "install", *_QUIET, wheel], f"installing {wheel.name}")
        small = _environment(WORK / f"{python.version}-runtime", python.program)
        _run([small, "-m", "pip", "install", *_QUIET, board], f"installing {board.name}")
        try_installed(environment, small)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    return [Path(shutil.copy2(path, DIST)) for path in (source, wheel, board)]


def try_installed(python: Path, board: Path | None = None) -> None:
    """`lathe --version`, and the library of the example, built and used in an empty folder; `board`: the Python that
    has lathe-runtime alone, which uses it as well."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in EXAMPLE_FILES:
            shutil.copy(EXAMPLE / file, folder)
        lathe = python.with_name("lathe")
        said = _run([lathe, "--version"], "asking for the version", folder).strip()
        if said != f"lathe {project_version()}":
            raise ReleaseError(f"`lathe --version` prints '{said}', pyproject.toml has {project_version()}")
        variables = {"LATHE_CACHE_DIR": str(WORK / "cache")}
        _run([lathe, "build", "deploy.yml", "--target-abis", "host", "--json"], "building digits", folder, **variables)
        told = json.loads(_run([python, "-c", READ_DIGITS], "reading digits", folder, **variables))
        if board is not None:
            try_on_board(board, folder)
    if ROOT / "buildtool" in Path(told["package"]).parents:
        raise ReleaseError(f"the clean environment uses the package of the tree, {told['package']}")
    if told["correct"] < LEAST_CORRECT:
        raise ReleaseError(
            f"{told['correct']:.0%} of the digits are read correctly, at least {LEAST_CORRECT:.0%} should"
        )


def try_on_board(board: Path, folder: Path) -> None:
    """The runtime reads the digits with what a board gets: a library and a model."""
    built = folder / "build" / "digits"
    for file in ("lib/host/libdigits.so", "model/host/digits.pb", "model/host/digits.data"):
        shutil.copy(built / file, folder)
    told = json.loads(_run([board, "-c", READ_ON_BOARD], "reading digits with lathe-runtime", folder))
    if not told["alone"] or told["correct"] < LEAST_CORRECT:
        raise ReleaseError(f"lathe-runtime reads {told['correct']:.0%} of the digits, alone: {told['alone']}")


# --- what has to be inside -------------------------------------------------------------------------------------------


def tracked_files() -> list[str]:
    listing = _run(["git", "ls-files", "-z"], "listing the files of the repository", ROOT)
    return [name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def missing_from_source(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """All tracked files belong into the source archive, but for what starts the tests of submissions."""
    there = {name.partition("/")[2] for name in names}
    return [name for name in tracked if name not in there and not name.startswith(".ci/")]


def missing_from_wheel(names: Iterable[str], tracked: Iterable[str]) -> list[str]:
    """The package and its resources, with what is generated from schemas."""
    there = set(names)
    wanted = []
    for name in tracked:
        top = name.partition("/")[0]
        if top == "buildtool":
            wanted.append(name)
            if name.endswith(".proto"):
                wanted.append(re.sub(r"\.proto$", "_pb2.py", name))
        elif top in RESOURCES:
            wanted.append(f"buildtool/_resources/{name}")
    return [name for name in wanted if name not in there]


def _report_missing(archive: Path, missing: Sequence[str]) -> None:
    if missing:
        listing = "\n".join(f"  {name}" for name in missing[:20])
        raise ReleaseError(f"{archive.name} lacks {len(missing)} files that the repository has:\n{listing}")


# --- what it is made with --------------------------------------------------------------------------------------------


def find_pythons(programs: Sequence[str], required: bool = False) -> list[Python]:
    """Those that run; others are named and left out, or an error where each is required."""
    found, problems = [], []
    for program in programs:
        try:
            done = subprocess.run([program, "-c", PROBE], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            problems.append(f"{program} cannot be run")
            continue
        told = json.loads(done.stdout)
        found.append(Python(Path(told["program"]), told["version"]))
    if problems and (required or not found):
        raise ReleaseError(f"{'; '.join(problems)}: install it, or name others with PYTHONS=")
    for problem in problems:
        print(f"release: {problem}: the wheel is not tried with it", file=sys.stderr)
    return found


def refuse_changes() -> None:
    changed = _run(["git", "status", "--porcelain"], "asking git for changes", ROOT).splitlines()
    if changed:
        raise ReleaseError(
            f"{len(changed)} files differ from the last commit, the first is '{changed[0][3:]}': "
            "commit or remove them, or say CHANGES=1 to try a release of them"
        )


def project_version() -> str:
    match = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise ReleaseError("pyproject.toml has no line 'version = \"...\"'")
    return match[1]


# --- helpers ---------------------------------------------------------------------------------------------------------

_QUIET = ("--quiet", "--disable-pip-version-check")


def _environment(folder: Path, python: Path) -> Path:
    _run([python, "-m", "venv", folder], f"making an environment with {python}")
    return folder / "bin" / "python"


def _built(folder: Path, command: Sequence[str | Path], pattern: str, **variables: str) -> Path:
    _run(command, f"running {' '.join(map(str, command[1:4]))}", **variables)
    (made,) = folder.glob(pattern)
    return made


def _run(command: Sequence[str | Path], doing: str, folder: Path = WORK, /, **variables: str) -> str:
    """The standard output of a command that sees neither the tree's packages nor the caller's Python settings."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        end = "\n".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-30:])
        raise ReleaseError(f"{doing} failed with {done.returncode}:\n{end}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
