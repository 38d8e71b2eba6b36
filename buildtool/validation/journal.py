"""What was measured so far, on disk: a run that was killed goes on where it stood."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

from buildtool.errors import RunError, Where


class Journal:
    """The records of one measurement, a line each, under a line that says what is measured. A context: it is locked.

    Records of another library, script or number of samples are dropped.
    """

    def __init__(self, file: Path, key: str, *, fresh: bool = False) -> None:
        self.file = file
        self._key = key
        self._fresh = fresh
        self._stream: IO[bytes] | None = None
        self._records: dict[int, str] = {}

    @property
    def records(self) -> Mapping[int, str]:
        """By the number of the unit."""
        return self._records

    def __enter__(self) -> Journal:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self.file.open("a+b")
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            self._stream.close()
            what = "another run is measuring this accuracy"
            raise RunError(
                what, where=Where(file=str(self.file)), remedy="wait for it, or choose another --output"
            ) from problem
        whole = self._read(self._stream)
        self._stream.truncate(whole)
        if not whole:
            self._stream.write(json.dumps({"key": self._key}).encode() + b"\n")
            self._stream.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, records: Mapping[int, str]) -> None:
        """Keep these, whatever happens next."""
        assert self._stream is not None
        lines = [f"{unit}\t{record}\n" for unit, record in records.items()]
        self._stream.write("".join(lines).encode())
        self._stream.flush()
        self._records.update(records)

    def finish(self) -> None:
        """Nothing is left to go on with."""
        self.file.unlink(missing_ok=True)

    def _read(self, stream: IO[bytes]) -> int:
        """The records that are whole; how many bytes of the file are."""
        stream.seek(0)
        first = stream.readline()
        if self._fresh or first != json.dumps({"key": self._key}).encode() + b"\n":
            return 0
        whole = len(first)
        for line in stream:
            unit, tab, record = line.partition(b"\t")
            if not tab or not line.endswith(b"\n") or not unit.isdigit():
                break
            try:
                json.loads(record)
            except ValueError:
                break
            self._records[int(unit)] = record.decode().rstrip("\n")
            whole += len(line)
        return whole
