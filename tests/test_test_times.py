"""`make test-times`: which tests used how much processor time, from pytest's report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.native_builds import ROOT

_TESTS = """
import subprocess, sys

def test_that_computes():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.4: pass"], check=True)

def test_that_sleeps():
    import time
    time.sleep(0.4)
"""


def test_processor_seconds_are_those_of_the_programs_that_a_test_starts(tmp_path: Path) -> None:
    (tmp_path / "tests" / "ops").mkdir(parents=True)
    (tmp_path / "tests" / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (tmp_path / "tests" / "ops" / "test_two.py").write_text(_TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    report = tmp_path / "report.xml"
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "tests"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    script = [sys.executable, str(ROOT / "scripts" / "test_times.py"), str(report)]
    lines = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
    capability = next(line.split() for line in lines if line.startswith("ops "))
    assert capability[1] == "2"
    slowest = [line.split() for line in lines if line.endswith(("test_that_computes", "test_that_sleeps"))][1:]
    assert [line[2].rpartition("::")[2] for line in slowest] == ["test_that_computes", "test_that_sleeps"]
    assert float(slowest[0][1]) >= 0.4
    assert float(slowest[1][0]) >= 0.4 > float(slowest[1][1])


def test_a_missing_report_is_asked_for(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "test_times.py"), str(tmp_path / "report.xml")]
    done = subprocess.run(script, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "run `make test` first" in done.stderr
