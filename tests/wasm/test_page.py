"""The commands of docs/how-to/browser.md, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wasm.conftest import DIGITS, ROOT

PAGE = ROOT / "docs" / "how-to" / "browser.md"


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    shutil.copytree(DIGITS, tmp_path / "examples" / "digits")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    command = ["sh", "-e", "-c", block]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "all 1 passed" in done.stdout
    built = tmp_path / "examples" / "digits" / "build" / "digits"
    for abi in ("wasm32", "wasm32-simd"):
        assert (built / "lib" / abi / "digits.wasm").is_file()
