"""Every command of the pages runs in a test, or a reason says why not; all words of `lathe` are ones that it knows."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from buildtool import resources
from buildtool.cli.main import COMMANDS, application

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md")
BLOCK = re.compile(r"^ *```(?:sh|bash|console)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(lathe [^`\n]+)`")

#: The test that runs all commands of a page, or those that are not below.
RUN_BY = {
    "docs/how-to/android-java.md": "tests/packaging/test_android_app.py",
    "docs/how-to/bench.md": "tests/benchmark/test_bench.py",
    "docs/how-to/browser.md": "tests/wasm/test_page.py",
    "docs/how-to/camera.md": "tests/vision/test_camera_page.py",
    "docs/how-to/cmake.md": "tests/packaging/test_cmake_app.py",
    "docs/how-to/hexagon.md": "tests/targets/hexagon/test_networks.py",
    "docs/how-to/later-models.md": "tests/examples/test_later_models.py",
    "docs/how-to/k210.md": "tests/targets/k210/test_page.py",
    "docs/how-to/microcontrollers.md": "tests/targets/micro/test_page.py",
    "docs/how-to/quantisation.md": "tests/cli/test_quantize.py",
    "docs/how-to/reports.md": "tests/reports/test_reports_page.py",
    "docs/how-to/validation.md": "tests/cli/test_validation_page.py",
    "docs/reference/commands.md": "tests/cli/test_commands_page.py",
    "examples/bazel-app/README.md": "tests/packaging/bazel.py",
    "examples/cmake-app/README.md": "tests/packaging/test_cmake_app.py",
    "examples/mace-app/README.md": "tests/examples/test_mace_app.py",
    "examples/paddle-app/README.md": "tests/examples/test_paddle_app.py",
    "examples/max7800x/README.md": "tests/examples/test_max7800x.py",
    "docs/how-to/target-packages.md": "tests/targets/test_target_packages.py",
    "examples/target-package/README.md": "tests/targets/test_target_packages.py",
    "examples/android-aar/README.md": "tests/packaging/test_android_app.py",
    "docs/how-to/bazel.md": "tests/packaging/test_bazel_app.py",
}
#: Pages whose commands run here, in a folder of their own each, which holds the example.
HERE = (
    "README.md",
    "docs/index.md",
    "docs/tutorials/getting-started.md",
    "docs/how-to/half-precision.md",
    "docs/how-to/mace.md",
    "docs/how-to/from-miai.md",
    "docs/how-to/from-paddle-lite.md",
)
#: Commands that no test runs as they stand on the page, and why.
ELSEWHERE = {
    "make setup": "it installs packages of the system; the tests run in what it has made",
    "make demo": "tests/examples/test_digits.py runs its program",
    "make quick": "it runs the tests",
    "make test": "it runs the tests",
    "make format": "it changes the sources; tests/lint checks that nothing is left to change",
    "make tidy": "minutes of clang-tidy; tests/lint/test_run_clang_tidy.py runs its program on less",
    "make fuzz": "tests/fuzz runs its program for seconds",
    "make fuzz-native": "tests/fuzz runs its program for seconds",
    "lathe dev new-op squareplus": "tests/examples/test_contributing.py runs it in a copy of the tree",
    "lathe doctor": "its exit code is that of the machine; tests/cli/test_doctor.py runs it",
    "export ANDROID_NDK_HOME=": "a path of the reader's",
    "lathe build --ndk-check": "tests/builders/test_android.py makes the same check",
}
#: Pages of the ELSEWHERE kind: what builds for Android needs an NDK.
NDK = "docs/how-to/android.md"


def pages() -> dict[str, list[str]]:
    """The commands of each page, one a line; lines that go on are joined, comments are cut off."""
    found: dict[str, list[str]] = {}
    for file in sorted({file for pattern in PAGES for file in ROOT.glob(pattern)}):
        if "build" in file.relative_to(ROOT).parts:
            continue
        blocks = BLOCK.findall(file.read_text(encoding="utf-8"))
        lines = [line for block in blocks for line in re.sub(r"\\\n *", " ", block).splitlines()]
        if lines := [kept for line in lines if (kept := re.sub(r"(^| +)#.*", "", line).strip())]:
            found[str(file.relative_to(ROOT))] = lines
    return found


def sentences() -> Iterator[tuple[str, str]]:
    """What the pages call a command of `lathe`, in blocks and in sentences."""
    for page, lines in pages().items():
        yield from ((page, line) for line in lines if re.match(r"(\w+=\S+ )?lathe ", line))
    for file in sorted({file for pattern in PAGES for file in ROOT.glob(pattern)}):
        for line in INLINE.findall(file.read_text(encoding="utf-8")):
            yield str(file.relative_to(ROOT)), line


@functools.cache
def options(verb: str) -> frozenset[str]:
    """Those of a command of `lathe`."""
    group = typer.main.get_command(application([verb]))
    command = group.commands[verb]  # type: ignore[attr-defined]
    groups = [command, *getattr(command, "commands", {}).values()]
    known = {
        word for one in groups for parameter in one.params for word in (*parameter.opts, *parameter.secondary_opts)
    }
    return frozenset({*known, "--help", "-h"})


def unknown(line: str) -> list[str]:
    """The words of a command of `lathe` that it does not know."""
    words = shlex.split(re.sub(r"^\w+=\S+ ", "", line.replace("\\|", "|")).partition(" > ")[0])[1:]
    verb = words[0].replace("_", "-")
    if verb in ("COMMAND", "VERB") or verb.startswith("-"):
        return [word for word in words if word.startswith("-") and word not in ("--help", "--version")]
    if verb not in COMMANDS:
        return [verb]
    given = [word.partition("=")[0].replace("_", "-") for word in words[1:] if re.match(r"--?[A-Za-z]", word)]
    short = {word for word in given if re.fullmatch(r"-v+", word)}
    return [word for word in given if word not in options(verb) and word not in short]


def test_all_words_of_lathe_are_known() -> None:
    found = list(sentences())
    assert len(found) > 250
    assert {(page, line): words for page, line in found if (words := unknown(line))} == {}


def test_a_word_that_lathe_does_not_know_is_found() -> None:
    assert unknown("lathe biuld x.yml") == ["biuld"]
    assert unknown("lathe build x.yml --target-abi host") == ["--target-abi"]
    assert unknown("lathe run x.yml --round 3 -vv > log") == []


def test_every_command_runs_in_a_test_or_has_a_reason() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py")}
    for page, test in RUN_BY.items():
        assert page in pages(), page
        example = Path(page).parent.name if page.startswith("examples/") else ""
        assert Path(page).name in texts[ROOT / test] or example in texts[ROOT / test] or page in _OF_THEIR_EXAMPLES, (
            page
        )
    left = {}
    for page, lines in pages().items():
        if page in RUN_BY or page in HERE or page == NDK:
            continue
        if page.startswith("docs/tutorials/") and any(Path(page).name in text for text in texts.values()):
            continue
        left[page] = [line for line in lines if not any(line.startswith(word) for word in ELSEWHERE)]
    assert {page: lines for page, lines in left.items() if lines} == {}
    shown = [line for lines in pages().values() for line in lines]
    assert [word for word in ELSEWHERE if not any(line.startswith(word) for line in shown)] == []


#: These show the commands of an example, which their test runs.
_OF_THEIR_EXAMPLES = ("docs/how-to/target-packages.md", "docs/how-to/bazel.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", HERE)
def test_the_commands_of_a_page_run_in_order(page: str, tmp_path: Path) -> None:
    app = next((name for name in ("mace", "paddle") if name in page), "")
    example = ROOT / "examples" / f"{app}-app" if app else DIGITS
    for file in (DIGITS / "digits.onnx", *example.glob("*.cc"), *example.glob("app.py"), *example.glob("deploy.yml")):
        shutil.copy(file, tmp_path)
    deployment = (tmp_path / "deploy.yml").read_text().replace("../digits/", "")
    (tmp_path / "deploy.yml").write_text(re.sub(r"(?m)^target_abis:.*", "target_abis: [host]", deployment))
    shutil.copy(DIGITS / "digits.onnx", tmp_path / "model.onnx")
    lines = [line for line in pages()[page] if not any(line.startswith(word) for word in ELSEWHERE)]
    assert lines
    shell("\n".join(lines), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("lathe build digits.yml --toolchain aarch64.cmake --abi my-board", marks=pytest.mark.arm),
        "LATHE_COMPILER_LAUNCHER=ccache lathe build digits.yml",
    ],
)
def test_other_commands_of_the_page_of_cmake(line: str, tmp_path: Path) -> None:
    """Those that are not of the example of that page."""
    assert line in pages()["docs/how-to/cmake.md"]
    shutil.copy(DIGITS / "digits.onnx", tmp_path)
    text = (DIGITS / "deploy.yml").read_text()
    (tmp_path / "digits.yml").write_text(re.sub(r"(?m)^target_abis:.*", "target_abis: [host]", text))
    shutil.copy(resources.toolchains_dir() / "aarch64-linux-gnu.cmake", tmp_path / "aarch64.cmake")
    launcher = tmp_path / "bin" / "ccache"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/sh\nexec "$@"\n')
    launcher.chmod(0o755)
    shell(line, tmp_path, launcher.parent)
    assert list(tmp_path.glob("build/digits/lib/*/libdigits.so"))


def shell(script: str, folder: Path, *programs: Path) -> str:
    """As a reader runs it, with the objects that other tests have compiled. A failure shows all. Its output."""
    search = ":".join(map(str, [*programs, Path(sys.executable).parent, "/usr/local/bin", "/usr/bin", "/bin"]))
    variables = {"PATH": search, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-ec", script],
        cwd=folder,
        env={**variables, "LATHE_CACHE_DIR": str(resources.cache_dir())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout
