"""Commands in blocks that are not scripts (output beside them, alternatives, files of the reader's) run, too."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from buildtool.targets.k210.format.kmodel import write
from tests.examples.test_documented_commands import DIGITS, PAGES, ROOT, shell
from tests.targets.k210.samples import planes_between_memories

FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
DEMOS = ROOT / "examples" / "max7800x"

#: Lines that are run elsewhere, or are no commands as they stand: how they begin, and why.
ELSEWHERE = {
    "lathe train ": "it needs torch: tests/training/with_torch (make test-train)",
    "lathe build exported/": "the files of lathe train export: tests/training/with_torch",
    "lathe tune FILE [": "a line of usage",
    "lathe devices --device-yml devices.yml": "tests/examples/test_tutorials.py::test_a_board",
    "lathe validate deploy.yml --abi arm64 --device-yml": "tests/examples/test_tutorials.py::test_a_board",
    "lathe validate accuracy.yml --accuracy --scheduler ADDRESS": "tests/workflow/test_accuracy.py starts a scheduler",
}


def loose() -> dict[str, list[str]]:
    """The commands of `lathe` in blocks of any other language, by page."""
    found: dict[str, list[str]] = {}
    for file in sorted({file for pattern in PAGES for file in ROOT.glob(pattern)}):
        for language, block in FENCED.findall(file.read_text(encoding="utf-8")):
            if language in ("sh", "bash", "console"):
                continue
            lines = [re.sub(r" +#.*", "", line).strip() for line in block.splitlines()]
            kept = [line for line in lines if line.startswith(("lathe ", "qemu-system-"))]
            found.setdefault(str(file.relative_to(ROOT)), []).extend(kept)
    return {page: lines for page, lines in found.items() if lines}


def _described(folder: Path, name: str) -> None:
    """The described network of the demos under the names of a page."""
    described = DEMOS / "described"
    shutil.copy(described / "network.yaml", folder / f"{name}.yaml")
    shutil.copy(described / "weights.pth.tar", folder / f"{name}-q.pth.tar")
    shutil.copy(described / "sample.npy", folder)


def _graph(folder: Path, name: str, more: str = "") -> None:
    """The digits for the MAX78000."""
    for file in (DIGITS / "digits.onnx", DIGITS / "accuracy.py", DEMOS / "digits.ranges", DEMOS / "three.npy"):
        shutil.copy(file, folder)
    with np.load(DIGITS / "test.npz") as data:
        pictures, labels = data["pictures"][:40], data["labels"][:40]
    np.savez(folder / "test.npz", samples=pictures.astype(np.float32) / 16, pictures=pictures, labels=labels)
    text = (DEMOS / "digits.yml").read_text().replace("../digits/", "")
    text = re.sub(r"(?m)^target_abis:.*", "target_abis: [max78000]", text)
    (folder / f"{name}.yml").write_text(text.replace("    runtime: cnn\n", f"    runtime: cnn\n{more}"))


def _ai8x(folder: Path) -> None:
    _described(folder, "mnist")


def _max78000(folder: Path) -> None:
    _graph(folder, "net")
    with np.load(folder / "test.npz") as data:
        np.save(folder / "samples.npy", data["samples"])
    _described(folder, "net")


def _max7800x(folder: Path) -> None:
    _graph(folder, "digits", "    accuracy_validation_script: accuracy.py\n")
    _described(folder, "net")


def _k210(folder: Path) -> None:
    (folder / "net.kmodel").write_bytes(write(planes_between_memories()))
    np.save(folder / "picture.npy", np.arange(3 * 20 * 36).reshape(3, 20, 36).astype(np.uint8))


#: What a page's commands find in their folder.
FILES: dict[str, Callable[[Path], None]] = {
    "docs/how-to/from-ai8x.md": _ai8x,
    "docs/how-to/k210.md": _k210,
    "docs/how-to/max78000.md": _max78000,
    "docs/how-to/max7800x.md": _max7800x,
}


def _kept(lines: list[str]) -> list[str]:
    return [line for line in lines if not any(line.startswith(word) for word in ELSEWHERE)]


def test_every_command_runs_here_or_has_a_reason() -> None:
    found = loose()
    assert sum(map(len, found.values())) >= 20
    assert {page: kept for page, lines in found.items() if page not in FILES and (kept := _kept(lines))} == {}
    assert all(_kept(found[page]) for page in FILES)
    every = [line for lines in found.values() for line in lines]
    assert [word for word in ELSEWHERE if not any(line.startswith(word) for line in every)] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", FILES)
def test_the_commands_of_a_page_run_in_order(page: str, tmp_path: Path) -> None:
    FILES[page](tmp_path)
    said = shell("\n".join(_kept(loose()[page])), tmp_path)
    if page.endswith("from-ai8x.md"):
        assert "*** PASS ***" in said
