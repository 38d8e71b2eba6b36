"""Writes what the fuzzer of kmodels begins with: `python -m tests.fuzz.kmodel --write-seeds`.

The target itself is native: tests/fuzz/native/kmodel_fuzzer.c.
"""

from __future__ import annotations

from pathlib import Path

from tests.targets.k210.samples import samples

FOLDER = Path("build/fuzz/seeds/kmodel")
MOST_BYTES = 16384  # of one input


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, model, _, _ in samples():
        if len(model) <= MOST_BYTES:
            (FOLDER / name).write_bytes(model)


if __name__ == "__main__":
    main()
