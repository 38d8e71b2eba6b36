"""Runs the targets on the inputs of fuzz/corpus, without a fuzzer: `python -m tests.fuzz.replay`.

What atheris does for the targets is acted out here, so that `make test` needs no fuzzer. The exit status is 1 where an
input broke a promise; build/fuzz/replay has it then.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.__main__ import READERS

_ROOT = Path(__file__).resolve().parents[2]
_CORPUS = _ROOT / "fuzz" / "corpus"
_FOLDER = _ROOT / "build" / "fuzz" / "replay"


class _StandIn(types.ModuleType):
    """As much of atheris as the targets use."""

    def __init__(self) -> None:
        super().__init__("atheris")
        self.inputs: list[bytes] = []
        self._one: Callable[[bytes], None] | None = None

    def instrument_imports(self, **_: object) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def Setup(self, _: object, one: Callable[[bytes], None], **__: object) -> None:  # noqa: N802
        self._one = one

    def Fuzz(self) -> None:  # noqa: N802
        assert self._one is not None
        for data in self.inputs:
            self._one(data)


def main() -> int:
    os.chdir(_ROOT)
    shutil.rmtree(_FOLDER, ignore_errors=True)
    os.environ["LATHE_FUZZ_FOLDER"] = str(_FOLDER)
    stand_in = _StandIn()
    sys.modules["atheris"] = stand_in
    sys.argv = sys.argv[:1]
    count = 0
    for file in sorted(_CORPUS.glob("*.zip")):
        if file.stem.startswith("native_"):
            continue
        with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
            stand_in.inputs = [archive.read(name) for name in archive.namelist()]
        count += len(stand_in.inputs)
        if file.stem in READERS:
            importlib.import_module("tests.fuzz.readers").main(file.stem)
        else:
            importlib.import_module(f"tests.fuzz.{file.stem}").main()
    found = sorted((_FOLDER / "findings").glob("*.txt"))
    sys.stdout.write(f"{count} inputs, {len(found)} findings\n")
    for one in found:
        sys.stdout.write(one.read_text(encoding="utf-8", errors="replace")[-2000:])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
