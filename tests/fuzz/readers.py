"""Fuzzes the readers of files that are smaller than a model: one target for each, in READERS.

Run one by `make fuzz FUZZ_TARGET=ranges`, or `python -m tests.fuzz ranges --seconds 600`.
"""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool import pickles
    from buildtool.artifacts import tuning_store
    from buildtool.builders import encryption, opencl_files
    from buildtool.errors import BuildError, Where
    from buildtool.importers.pytorch import contents
    from buildtool.importers.pytorch.files import kind_of
    from buildtool.quant import mace_log, range_files, weight_files
    from buildtool.quant.estimators import Settings
    from buildtool.quant.observed import Observed
    from buildtool.targets.k210.format import kmodel
    from buildtool.targets.k210.layers import saved_models
    from buildtool.targets.max7800x.checkpoints import checkpoint
    from buildtool.targets.max7800x.description import reading
    from buildtool.targets.max7800x.devices import MAX78002
    from buildtool.validation.journal import Journal

import io
import json
import pickle
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.fuzz import byte_mutations, text_mutations, zip_mutations
from tests.fuzz.harness import Mutator
from tests.importers.pytorch.test_hostile import _TENSOR, honest, packed
from tests.targets.k210.samples import samples

_KEY = bytes(range(32))
_MOST_SEED = 16384  # bytes


@dataclass(frozen=True)
class Reader:
    """A target: what reads a file, what it begins with, and what changes that."""

    read: Callable[[Path], object]
    seeds: Callable[[], Mapping[str, bytes]]
    mutator: Mutator | None
    suffix: str = ".bin"


def main(name: str) -> None:
    """The target of this name."""
    reader = READERS[name]
    if "--write-seeds" in sys.argv:
        folder = Path("build/fuzz/seeds") / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, data in reader.seeds().items():
            if len(data) <= _MOST_SEED:
                (folder / seed).write_bytes(data)
        return
    folder = harness.FOLDER / "file"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"fuzzed{reader.suffix}"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        reader.read(file)

    harness.fuzz(target, reader.mutator)


# -- what reads ------------------------------------------------------------------------------------------------------
def _tuning(file: Path) -> object:
    folder = file.parent / "tuned"
    tuning_store.path(folder).parent.mkdir(parents=True, exist_ok=True)
    tuning_store.path(folder).write_bytes(file.read_bytes())
    found = tuning_store.read(folder, "0")
    return (found.text(), found.times(), found.identity)


def _stores(file: Path) -> object:
    try:
        sections = opencl_files.read(file)
    except BuildError:
        return None
    assert opencl_files.parse(b"".join(section.pack() for section in sections)) == sections
    return [section.gain() for section in sections]


def _encrypted(file: Path) -> object:
    data = file.read_bytes()
    plain = encryption.decrypt(data, _KEY, "fuzzed")
    assert encryption.encrypt(plain, _KEY) == data, "a file was accepted that nobody wrote"
    return plain


def _journal(file: Path) -> object:
    with Journal(file, "0" * 64) as journal:
        return dict(journal.records)


def _calibration(file: Path) -> object:
    observed = Observed("min-max", Settings())
    try:
        observed.load(file.read_bytes())
    except Exception as problem:  # as its caller does, who then begins anew
        if isinstance(problem, MemoryError | RecursionError):
            raise
        return None
    return observed.saved()


def _program(file: Path) -> object:
    where = Where(file=str(file))
    return kind_of(file, where), contents.verify(file, where)


def _pickle(file: Path) -> object:
    try:
        return pickles.follow(io.BytesIO(file.read_bytes()))
    except pickles.RefusedError:
        return None


def _described(file: Path) -> object:
    return reading.read(file, device=MAX78002)


def _weights(file: Path) -> object:
    return checkpoint.read(file)


# -- what they begin with --------------------------------------------------------------------------------------------
def _npz(**arrays: np.ndarray) -> bytes:  # type: ignore[type-arg]
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def _seen() -> bytes:
    observed = Observed("min-max", Settings())
    for turn in range(2):
        observed.update("x", np.arange(8, dtype=np.float32) - turn)
        observed.update("y", np.ones((2, 3), np.float32))
    return observed.saved()


def _tuned() -> bytes:
    nodes = {"conv": {"winograd4": 5, "direct": 7}}
    measured = {"model": "m", "abi": "host", "device": "x", "threads": 1, "rounds": 3, "nodes": nodes}
    return json.dumps({"fingerprint": "0", "measured": [measured], "gpu": []}).encode()


def _sections() -> dict[str, bytes]:
    kinds = list(opencl_files.Content)
    made = [opencl_files.Section(kind, number, {1: b"abc", 9: bytes(20)}) for number, kind in enumerate(kinds)]
    return {"one": made[0].pack(), "other": made[-1].pack(), "both": made[0].pack() + made[0].pack()}


def _programs() -> dict[str, bytes]:
    script = {"constants.pkl": _TENSOR, "code/__torch__.py": b"class M(Module):\n  pass\n", "version": b"3\n"}
    return {
        "exported": packed(honest()),
        "packed": packed(honest(), method=zipfile.ZIP_DEFLATED),
        "script": packed(script),
    }


def _pickled() -> dict[str, bytes]:
    value = {"a": [1, 2.5, "text", b"bytes", None, True, (1, (2,))], "b": {3: {4, 5}}, "c": 2**70}
    made = {f"protocol-{number}": pickle.dumps(value, number) for number in range(pickle.HIGHEST_PROTOCOL + 1)}
    return {**made, "tensor": _TENSOR}


def _descriptions() -> dict[str, bytes]:
    found = sorted(Path("examples").rglob("*.yaml"))
    return {f"{file.parent.name}-{file.name}": file.read_bytes() for file in found if b"layers:" in file.read_bytes()}


def _checkpoints() -> dict[str, bytes]:
    state = b"\x80\x02}X\x0a\x00\x00\x00state_dict}X\x12\x00\x00\x00conv1.op.weight_00" + _TENSOR[2:-1] + b"ss."
    stream = io.BytesIO()
    np.save(stream, np.arange(18, dtype=np.int64).reshape(2, 9))
    archive = packed({"data.pkl": state, "data/0": bytes(4), "byteorder": b"little"}, "archive")
    return {"newest": archive, "arrays": stream.getvalue(), "legacy": pickle.dumps(0x1950A86A20F9469CFC6C, 2)}


def _kmodels() -> dict[str, bytes]:
    return {name: data for name, data, _, _ in samples()}


def _changes() -> dict[str, bytes]:
    arrays = {"layers": np.array(["a"]), "sources": np.array(["s"]), "0/weights": np.ones(3, np.float32)}
    return {"one": _npz(**arrays, **{"0/bias": np.zeros(2, np.float32)})}


_LOG = mace_log.line("x", -1, 2) + "\n" + mace_log.line("y", 0, 1e3) + "\nother\n"
_RANGES = "x@@-1,2\ny@@0,1000\nz@@-0.5,1e-3\n"
_KEYS = (
    "arch",
    "dataset",
    "layers",
    "layer_name_prefix",
    "out_offset",
    "processors",
    "operation",
    "kernel_size",
    "pad",
)
_MORE = ("max_pool", "pool_stride", "in_sequences", "activate", "ReLU", "data_format", "HWC", "output_width", "eltwise")

#: The targets by their names.
READERS: dict[str, Reader] = {
    "ranges": Reader(
        range_files.read, lambda: {"ranges": _RANGES.encode()}, text_mutations.Mutator(["@@", ",", "nan"])
    ),
    "mace_log": Reader(mace_log.read, lambda: {"log": _LOG.encode()}, text_mutations.Mutator(["@@", ",", "inf"])),
    "adjusted_weights": Reader(weight_files.read, _changes, zip_mutations.mutate, ".npz"),
    "tuning": Reader(_tuning, lambda: {"tuning": _tuned()}, text_mutations.Mutator(["{", "}", "[", "]", ":", "null"])),
    "opencl_store": Reader(_stores, _sections, byte_mutations.mutate),
    "kmodel_file": Reader(lambda file: kmodel.read(file.read_bytes()), _kmodels, byte_mutations.mutate),
    "k210_saved_model": Reader(saved_models.load, lambda: {"none": b"\x89HDF\r\n\x1a\n"}, byte_mutations.mutate, ".h5"),
    "max7800x_description": Reader(
        _described, _descriptions, text_mutations.Mutator([*_KEYS, *_MORE, "0x", "-", ":", "[", "]"]), ".yaml"
    ),
    "max7800x_checkpoint": Reader(_weights, _checkpoints, zip_mutations.mutate, ".pth.tar"),
    "encrypted_file": Reader(
        _encrypted, lambda: {"sealed": encryption.encrypt(b"contents" * 9, _KEY)}, byte_mutations.mutate
    ),
    "pytorch_archive": Reader(_program, _programs, zip_mutations.mutate, ".pt2"),
    "pickle": Reader(_pickle, _pickled, byte_mutations.mutate),
    "calibration_journal": Reader(_calibration, lambda: {"seen": _seen()}, zip_mutations.mutate),
    "accuracy_journal": Reader(
        _journal,
        lambda: {"two": json.dumps({"key": "0" * 64}).encode() + b"\n0\t1.5\n1\tx\n"},
        text_mutations.Mutator(["\t", "{", "}"]),
    ),
}

if __name__ == "__main__":
    main(sys.argv.pop(1))
