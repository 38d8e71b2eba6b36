"""The demos of the MAX7800x: the script builds all of them, and QEMU runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "max7800x"
IMAGES = {
    "digits_max7800x/lib/max78000/digits_emulated.elf": "class 3: 100.0%",
    "digits_max7800x/lib/max78002/digits_emulated.elf": "class 3: 100.0%",
    "described/lib/max78000/network_emulated.elf": "",
}


@pytest.mark.slow
def test_all_demos(tmp_path: Path) -> None:
    environment = {**os.environ, "LATHE": str(Path(sys.executable).parent / "lathe")}
    subprocess.run(["sh", EXAMPLE / "generate.sh", tmp_path], env=environment, cwd=tmp_path, check=True)
    for image, answer in IMAGES.items():
        board: list[str | Path] = [
            "qemu-system-arm",
            "-M",
            "mps2-an386",
            "-nographic",
            "-semihosting",
            "-kernel",
            tmp_path / image,
        ]
        told = subprocess.run(board, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
        assert "*** PASS ***" in told.stdout and answer in told.stdout
