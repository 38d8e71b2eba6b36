"""Samples of what a network is fed: the files of a folder, or what a script makes, one after the other.

A script has a function `samples()` that yields the inputs by name, or the array of the only input.
"""

from __future__ import annotations

import itertools
import re
import sys
import traceback
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from buildtool import archives
from buildtool.errors import ConfigError, LatheError, RunError, Where
from buildtool.running.inputs import NPY_MAGIC, TensorSpec, check_names, fit, read_array, without_ones
from buildtool.running.metrics import Array
from buildtool.tensors.files import is_media, unreadable
from buildtool.wording import near_files

#: What samples are read from, by the end of its name, beside pictures and sounds.
ARRAYS = (".npy", ".npz", ".raw", ".bin", ".dat")
_FUNCTION = "samples"
_SHOWN = 10  # names of arrays
_RULE = f"the script has a function {_FUNCTION}() that yields arrays by the names of the inputs"


@dataclass(frozen=True)
class Stored:
    """A sample in files: one that holds all inputs, or one for each input in their order."""

    files: tuple[Path, ...]
    index: int = -1  # which of those in the file; -1: the file is one sample

    def __str__(self) -> str:
        return str(self.files[0]) + (f"[{self.index}]" if self.index >= 0 else "")


#: What a worker gets of a sample: where it is stored, or the arrays.
Sample = Stored | Mapping[str, Array]


class Samples(Protocol):
    """Where samples come from."""

    @property
    def identity(self) -> str:
        """The same as long as the samples are."""

    @property
    def count(self) -> int | None:
        """How many there are, where that is known."""

    def __iter__(self) -> Iterator[Sample]: ...


def find(path: Path, specs: Sequence[TensorSpec]) -> Samples:
    """The samples of a folder, a file or a script. ConfigError where there are none."""
    if path.suffix == ".py":
        return Script(path, specs)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in ARRAYS or is_media(file))
    else:
        files = [path] if path.is_file() else []
    found = tuple(itertools.chain.from_iterable(_in_files(group, specs) for group in _groups(files, specs)))
    if not found and not path.exists():
        raise ConfigError(
            "there is no such file or folder",
            where=Where(file=str(path)),
            rule="relative paths on the command line start at the current folder",
            remedy=near_files(path) or "correct the path",
        )
    if not found:
        endings = f"{' '.join(ARRAYS)}, images and audio"
        raise ConfigError(
            "no samples found",
            where=Where(file=str(path)),
            rule=f"files of samples: {endings}",
            remedy="name a folder that holds such files, for example images like those of the application",
        )
    return Folder(found)


@dataclass(frozen=True)
class Folder:
    """Samples that are stored."""

    stored: tuple[Stored, ...]

    @property
    def identity(self) -> str:
        files = dict.fromkeys(file for sample in self.stored for file in sample.files)
        facts = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        return f"{len(self.stored)} {facts}"

    @property
    def count(self) -> int:
        return len(self.stored)

    def __iter__(self) -> Iterator[Stored]:
        return iter(self.stored)


@dataclass(frozen=True)
class Script:
    """Samples that a script makes."""

    file: Path
    specs: Sequence[TensorSpec]

    @property
    def identity(self) -> str:
        return self.file.read_text(encoding="utf-8", errors="replace") if self.file.is_file() else ""

    @property
    def count(self) -> None:
        return None

    def __iter__(self) -> Iterator[Mapping[str, Array]]:
        made = iter(self._call(lambda: self._function()()))
        for number in itertools.count():
            item = self._call(lambda: next(made, None))
            if item is None:
                return
            yield self._inputs(item, number)

    def _function(self) -> Callable[[], Any]:
        module = ModuleType(f"lathe_samples_{self.file.stem}")
        module.__file__ = str(self.file)
        sys.modules[module.__name__] = module
        exec(compile(self.file.read_bytes(), str(self.file), "exec"), module.__dict__)
        function: Callable[[], Any] = getattr(module, _FUNCTION)
        return function

    def _inputs(self, item: Any, number: int) -> Mapping[str, Array]:
        where = Where(file=str(self.file))
        given = item if isinstance(item, Mapping) else {self.specs[0].name: item}
        missing = [spec.name for spec in self.specs if spec.name not in given]
        if missing:
            raise ConfigError(f"sample {number} has no data for the input '{missing[0]}'", where=where, rule=_RULE)
        check_names(given, self.specs)
        arrays = {
            spec.name: np.asarray(
                given[spec.name], None if isinstance(given[spec.name], np.ndarray) else spec.dtype.numpy
            )
            for spec in self.specs
        }
        return {spec.name: fit(arrays[spec.name], spec, where) for spec in self.specs}

    def _call(self, function: Callable[[], Any]) -> Any:
        """Code of the user: errors name its line."""
        try:
            return function()
        except Exception as problem:
            frames = traceback.extract_tb(problem.__traceback__)
            own = [frame.lineno or 0 for frame in frames if Path(frame.filename) == self.file]
            line = own[-1] if own else getattr(problem, "lineno", 0) or 0
            what = f"{type(problem).__name__}: {problem}"
            raise ConfigError(what, where=Where(file=str(self.file), line=line), rule=_RULE) from problem


class Reader:
    """Reads stored samples; the last .npz is kept, as many samples may follow from it."""

    def __init__(self, specs: Sequence[TensorSpec]) -> None:
        self._specs = specs
        self._archive: tuple[Path, dict[str, Array]] = (Path(), {})

    def inputs(self, sample: Sample) -> Mapping[str, Array]:
        """The inputs by name, in the types and shapes that the network takes."""
        if not isinstance(sample, Stored):
            return sample
        first = sample.files[0]
        if first.suffix.lower() == ".npz":
            arrays = self._of_archive(first)
            found = [arrays[name] for name in _members(first, self._specs)]
        elif sample.index < 0:
            return {spec.name: read_array(file, spec) for file, spec in zip(sample.files, self._specs, strict=True)}
        else:
            found = [np.load(file, mmap_mode="r", allow_pickle=False) for file in sample.files]
        where = Where(file=str(first))
        return {
            spec.name: fit(np.asarray(_part(array, sample.index, spec)), spec, where)
            for spec, array in zip(self._specs, found, strict=True)
        }

    def _of_archive(self, file: Path) -> dict[str, Array]:
        if self._archive[0] != file:
            with np.load(file, allow_pickle=False) as archive:
                self._archive = file, {name: archive[name] for name in _members(file, self._specs)}
        return self._archive[1]


def _groups(files: Sequence[Path], specs: Sequence[TensorSpec]) -> Iterator[tuple[Path, ...]]:
    """Files that belong together: `<first input><rest>`, `<second input><rest>` and so on, where there are several."""
    if len(specs) == 1:
        yield from ((file,) for file in files)
        return
    yield from ((file,) for file in files if file.suffix.lower() == ".npz")
    arrays = {file.name: file for file in files if file.suffix.lower() != ".npz"}
    starts = [_in_file_names(spec.name) for spec in specs]
    for name in arrays:
        owners = [start for start in starts if name.startswith(start)]
        if not owners or max(owners, key=len) != starts[0]:
            continue
        names = [start + name[len(starts[0]) :] for start in starts]
        missing = [other for other in names if other not in arrays]
        if missing:
            raise ConfigError(
                f"'{missing[0]}' is missing beside '{name}'",
                where=Where(file=str(arrays[name])),
                rule="files of several inputs start with the name of their input and have the same rest",
            )
        yield tuple(arrays[other] for other in names)


def _in_file_names(name: str) -> str:
    """As MACE writes names of tensors in those of files."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _in_files(files: tuple[Path, ...], specs: Sequence[TensorSpec]) -> Iterator[Stored]:
    """The samples of one file, or of those that belong together."""
    counts = set()
    for shape, spec in zip(_shapes(files, specs), specs, strict=True):
        count = -1 if shape is None else _count(shape, spec)
        if count == 0:
            what = f"an array of shape {list(shape or ())} does not contain samples of '{spec.name}'"
            rule = f"shape {list(spec.shape)} ({spec.data_format}), or many of them along the first dimension"
            remedy = "give the array this shape: array.reshape(...), or name the input that it belongs to"
            raise RunError(what, where=Where(file=str(files[0])), rule=rule, remedy=remedy)
        counts.add(count)
    if len(counts) > 1:
        what = f"the inputs have different numbers of samples: {', '.join(str(abs(count)) for count in counts)}"
        raise RunError(what, where=Where(file=str(files[0])))
    (count,) = counts
    yield from [Stored(files)] if count < 0 else (Stored(files, index) for index in range(count))


def _shapes(files: tuple[Path, ...], specs: Sequence[TensorSpec]) -> list[tuple[int, ...] | None]:
    """The shapes of the arrays of all inputs; None for what is one sample anyway."""
    try:
        if files[0].suffix.lower() != ".npz":
            return [_shape_of(file) for file in files]
        archives.verify_file(files[0])
        with zipfile.ZipFile(files[0]) as archive:
            shapes: list[tuple[int, ...] | None] = []
            for name in _members(files[0], specs):
                with archive.open(f"{name}.npy") as stream:
                    shapes.append(_header(stream))
            return shapes
    except (OSError, LatheError):
        raise
    except Exception as problem:  # NumPy lets through whatever a damaged file leads it into
        raise unreadable(problem, files[0]) from problem


def _shape_of(file: Path) -> tuple[int, ...] | None:
    if is_media(file):
        return None
    with file.open("rb") as stream:
        if stream.read(len(NPY_MAGIC)) != NPY_MAGIC:
            return None
        stream.seek(0)
        return _header(stream)


def _header(stream: Any) -> tuple[int, ...]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape: tuple[int, ...] = read(stream)[0]
    return shape


def _members(file: Path, specs: Sequence[TensorSpec]) -> list[str]:
    """The arrays of an .npz for all inputs: those of their names, or the only one for the only input."""
    with zipfile.ZipFile(file) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if len(specs) == 1 and len(names) == 1:
        return names
    missing = [spec.name for spec in specs if spec.name not in names]
    if missing:
        raise RunError(
            f"it has no array for the input '{missing[0]}'",
            where=Where(file=str(file)),
            rule=f"its arrays: {_shown(names)}",
            remedy="name the arrays as the inputs: numpy.savez(file, **inputs)",
        )
    return [spec.name for spec in specs]


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _count(shape: Sequence[int], spec: TensorSpec) -> int:
    """How many samples an array of this shape is: -1 for a single one, 0 where it is none."""
    whole = without_ones(spec.shape)
    flat = len(shape) == 1 and shape[0] == np.prod(spec.shape)
    if spec.admits(shape) or flat or without_ones(shape) == whole:
        return -1
    if without_ones(shape[1:]) == whole:
        return shape[0]
    batch = spec.shape[0] if spec.shape else 1
    splits = len(shape) == len(spec.shape) and shape[0] % max(batch, 1) == 0
    return shape[0] // batch if splits and without_ones(shape[1:]) == without_ones(spec.shape[1:]) else 0


def _part(array: Array, index: int, spec: TensorSpec) -> Array:
    """The sample of this number."""
    if index < 0:
        return array
    if without_ones(array.shape[1:]) == without_ones(spec.shape):
        return np.asarray(array[index])
    batch = spec.shape[0]
    return np.asarray(array[index * batch : (index + 1) * batch])
