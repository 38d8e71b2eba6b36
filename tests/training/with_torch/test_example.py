"""examples/chips: from samples to a C project in one command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_a_project_in_one_command(tmp_path: Path) -> None:
    """With fewer samples and epochs; `main.c` contains the known answer."""
    for name in ("chips", "keywords"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    script = tmp_path / "chips" / "train.py"
    text = script.read_text()
    assert '"scenes": 16' in text
    script.write_text(text.replace('"scenes": 16', '"scenes": 4'))
    samples = tmp_path / "chips" / "samples.py"
    samples.write_text(samples.read_text().replace("count: int = 2400", "count: int = 300"))
    done = subprocess.run(
        [sys.executable, str(script), "scenes", "--bits", "8", "-o", str(tmp_path / "out")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 layers equal the simulator's" in done.stdout
    (project,) = [line.split(": ")[1] for line in done.stdout.splitlines() if line.startswith("project: ")]
    assert (Path(project) / "main.c").is_file()
    assert "check_output" in (Path(project) / "main.c").read_text()
