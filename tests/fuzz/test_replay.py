"""The inputs of fuzz/corpus, each of which reaches something of its own in a reader, break no promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.__main__ import READERS, TARGETS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_kept_inputs_break_no_promise() -> None:
    command = [sys.executable, "-m", "tests.fuzz.replay"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    found = re.match(r"(\d+) inputs, 0 findings", done.stdout)
    assert found is not None
    assert int(found.group(1)) > 200


def test_every_target_has_a_small_corpus() -> None:
    corpora = {file.stem: file.stat().st_size for file in (ROOT / "fuzz" / "corpus").glob("*.zip")}
    assert sorted(corpora) == sorted(TARGETS)
    assert max(corpora.values()) < 40_000
    assert set(READERS) < set(TARGETS)
