"""Zip files of expected results that are the same whenever they are made."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

EXPECTED = Path(__file__).resolve().parent / "expected"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Archive(zipfile.ZipFile):
    """A zip file that is written. It is in its place when all of it is there."""

    def __init__(self, path: Path) -> None:
        self._path, self._aside = path, path.with_suffix(".part")
        super().__init__(self._aside, "w", zipfile.ZIP_DEFLATED, compresslevel=9)

    def __exit__(self, kind: type[BaseException] | None, *details: Any) -> None:
        super().__exit__(kind, *details)
        if kind is None:
            self._aside.replace(self._path)
        else:
            self._aside.unlink()

    def put(self, name: str, content: bytes) -> None:
        self.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED, 9)

    def put_array(self, name: str, array: Any) -> None:
        file = io.BytesIO()
        np.save(file, np.asarray(array))
        self.put(name, file.getvalue())
