"""Damaged and hostile files: a model or one clear error each, quickly, and nothing else."""

from __future__ import annotations

import io
import json
import struct
import time
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from buildtool.errors import InternalError, LatheError, ModelFileError
from buildtool.importers.keras import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from tests.importers.keras import writer
from tests.importers.keras.harness import archive

MOST_SECONDS = 5.0


def healthy(end: str) -> bytes:
    """Small models with everything: models inside, shared layers, wrappers, several outputs."""
    return archive()[f"nested-keras2{end}" if end == ".h5" else f"nested-keras3{end}"]


def _attempt(file: Path, data: bytes) -> bool:
    """Whether there was an error. Any other than a typed one ends the test."""
    file.write_bytes(data)
    started = time.monotonic()
    try:
        optimise(import_model(ImportRequest("hostile", file)).graph)
    except LatheError as problem:
        assert not isinstance(problem, InternalError), problem
        assert all(one.where.file == str(file) for one in problem.problems), problem
        return True
    finally:
        assert time.monotonic() - started < MOST_SECONDS
    return False


@pytest.mark.parametrize("end", [".h5", ".keras"])
def test_the_healthy_models_are_healthy(end: str, tmp_path: Path) -> None:
    assert not _attempt(tmp_path / f"healthy{end}", healthy(end))


@pytest.mark.parametrize("end", [".h5", ".keras"])
def test_truncated_files(end: str, tmp_path: Path) -> None:
    whole = healthy(end)
    for size in range(0, len(whole) - 64, len(whole) // 40):
        assert _attempt(tmp_path / f"short{end}", whole[:size]), size


@pytest.mark.parametrize("end", [".h5", ".keras"])
def test_changed_bytes(end: str, tmp_path: Path) -> None:
    whole, dice = healthy(end), np.random.default_rng(3)
    used = np.flatnonzero(np.frombuffer(whole, np.uint8))  # files of HDF5 are mostly empty
    for _ in range(100):
        data = bytearray(whole)
        for position in dice.choice(used, size=dice.integers(1, 4)):
            data[position] = int(dice.choice([0, 1, 127, 128, 255, data[position] ^ 1]))
        _attempt(tmp_path / f"changed{end}", bytes(data))


# -- descriptions ------------------------------------------------------------------------------------------------------
_X = writer.given(3)
_R = writer.layer("ReLU", "r")
_TENSOR = {"class_name": "__keras_tensor__"}


@pytest.mark.parametrize(
    "description",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"class_name": 1}',
        '{"class_name": "Sequential"}',
        '{"class_name": "Sequential", "config": {"name": "m", "layers": []}}',
        '{"class_name": "Functional", "config": {"name": "m", "layers": [1]}}',
        '{"class_name": "MyModel", "config": {}}',
        writer.sequential(_X, writer.layer("Dense", "")),
        writer.sequential(_X, _R, _R),
        writer.sequential(writer.given(-3), _R),
        writer.sequential(writer.given(2**40), _R),
        writer.sequential(writer.layer("InputLayer", "x", batch_input_shape=3), _R),
        writer.sequential(writer.given(3, dtype="string"), _R),
        writer.sequential(_X, writer.layer("Reshape", "s", target_shape=[-1, -1])),
        writer.sequential(_X, writer.layer("Reshape", "s", target_shape=[0])),
        writer.sequential(_X, writer.layer("Permute", "s", dims=[1, 2])),
        writer.sequential(_X, writer.layer("RepeatVector", "s", n=2**40)),
        writer.sequential(_X, writer.layer("Softmax", "s", axis=7)),
        writer.sequential(_X, writer.layer("Softmax", "s", axis=[])),
        writer.sequential(_X, writer.layer("Activation", "s", activation=[1])),
        writer.sequential(_X, writer.layer("ELU", "s", alpha=float("nan"))),
        writer.sequential(_X, writer.layer("Rescaling", "s", scale="x")),
        writer.sequential(writer.given(3, 3, 1), writer.layer("MaxPooling2D", "s", pool_size=[0, 2])),
        writer.sequential(writer.given(3, 3, 1), writer.layer("MaxPooling2D", "s", pool_size=[9, 9])),
        writer.sequential(writer.given(3, 3, 1), writer.layer("ZeroPadding2D", "s", padding=2**30)),
        writer.sequential(writer.given(3, 3, 1), writer.layer("UpSampling2D", "s", size=[2**30, 2**30])),
        writer.sequential(writer.given(3, 3, 1), writer.layer("Resizing", "s", height=-1, width=2)),
        writer.sequential(
            writer.given(3, 3, 1), writer.layer("Resizing", "s", height=2**26, width=2, interpolation="bicubic")
        ),
        writer.sequential(writer.given(3, 3, 1), writer.layer("Cropping2D", "s", cropping=5)),
        writer.sequential(_X, writer.layer("Concatenate", "s", axis=4)),
        writer.sequential(_X, writer.layer("Dot", "s", axes=1)),
        writer.sequential(_X, writer.layer("TimeDistributed", "s")),
        writer.sequential(_X, writer.layer("TimeDistributed", "s", layer=_R)),
        writer.sequential(_X, writer.layer("QuantizeWrapperV2", "s", layer=[])),
        writer.sequential(_X, writer.layer("RNN", "s", cell={"class_name": "LSTMCell"})),
        writer.functional([(_X, []), (_R, [[["x", 0, 0, {}]]])], [["x", 0, 0]], [["r", 1, 0]]),
        writer.functional([(_X, []), (_R, [[["x", 0, -1, {}]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["x", 0, 2**40, {}]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["x", 0, 1, {}]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["z", 0, 0, {}]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["r", 0, 0, {}]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["x"]]])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [7])], [["x", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["x", 0, 0, {}]]])], [["r", 0, 0]], [["r", 0, 0]]),
        writer.functional([(_X, []), (_R, [[["x", 0, 0, {}]]])], [], []),
        writer.functional(
            [(_X, []), (_R, [{"args": [{"class_name": "__keras_tensor__"}]}])], [["x", 0, 0]], [["r", 0, 0]]
        ),
    ],
    ids=str,
)
def test_descriptions(description: Any, tmp_path: Path) -> None:
    text = description if isinstance(description, str) else json.dumps(description)
    assert _attempt(tmp_path / "model.h5", writer.h5(text))


def test_models_that_double_at_every_level(tmp_path: Path) -> None:
    """Two calls each of the next model would make 2^25 copies of the last one."""
    model: dict[str, Any] = writer.sequential(_X, _R, name="level0")
    for level in range(25):
        below = f"level{level}"
        model = writer.functional(
            [(_X, []), (model, [[["x", 0, 0, {}]], [[below, 1, 0, {}]]])], [["x", 0, 0]], [[below, 2, 0]]
        )
        model["config"]["name"] = f"level{level + 1}"
    assert _attempt(tmp_path / "doubling.h5", writer.h5(model))


def test_models_very_deep_inside(tmp_path: Path) -> None:
    model: dict[str, Any] = _R
    for _ in range(60):
        model = writer.sequential(_X, model)
    assert _attempt(tmp_path / "deep.h5", writer.h5(model))


# -- storage -----------------------------------------------------------------------------------------------------------
def _with_weights(make: Any) -> bytes:
    """A model with one dense layer whose kernel `make` puts into a group."""
    stream = io.BytesIO(
        writer.h5(writer.sequential(_X, writer.layer("Dense", "d", units=4)), {"d": writer.dense(3, 4)})
    )
    with h5py.File(stream, "r+") as file:
        group = file["model_weights/d/d"]
        del group["kernel:0"]
        make(group)
    return stream.getvalue()


def _external(group: Any) -> None:
    group.create_dataset("kernel:0", (3, 4), "f4", external=[("/etc/passwd", 0, 48)])


def _virtual(group: Any) -> None:
    layout = h5py.VirtualLayout((3, 4), "f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (3, 4))
    group.create_virtual_dataset("kernel:0", layout)


def _elsewhere(group: Any) -> None:
    group["kernel:0"] = h5py.ExternalLink("/etc/passwd", "/x")


def _soft(group: Any) -> None:
    group["kernel:0"] = h5py.SoftLink("/model_weights/d/d/bias:0")


def _texts(group: Any) -> None:
    group.create_dataset("kernel:0", data=np.array([b"a", b"b"], object), dtype=h5py.string_dtype())


def _references(group: Any) -> None:
    group.create_dataset("kernel:0", data=[group.ref], dtype=h5py.ref_dtype)


def _compound(group: Any) -> None:
    group.create_dataset("kernel:0", data=np.zeros(3, [("a", "f4"), ("b", "i4")]))


def _empty(group: Any) -> None:
    group.create_dataset("kernel:0", dtype="f4")


def _unwritten(group: Any) -> None:
    group.create_dataset("kernel:0", (2**20, 2**12), "f4")


def _bomb(group: Any) -> None:
    group.create_dataset("kernel:0", (2**20, 2**12), "f4", chunks=(2**10, 2**10), compression="gzip")


def _group(group: Any) -> None:
    group.create_group("kernel:0")


@pytest.mark.parametrize(
    "make",
    [_external, _virtual, _elsewhere, _soft, _texts, _references, _compound, _empty, _unwritten, _bomb, _group],
    ids=lambda make: make.__name__.strip("_"),
)
def test_storage(make: Any, tmp_path: Path) -> None:
    assert _attempt(tmp_path / "model.h5", _with_weights(make))


def test_packed_weights_are_read(tmp_path: Path) -> None:
    def packed(group: Any) -> None:
        group.create_dataset("kernel:0", data=np.ones((3, 4), np.float32), compression="gzip", shuffle=True)

    assert not _attempt(tmp_path / "model.h5", _with_weights(packed))


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"config.json": b"{}"},
        {"../config.json": b"{}"},
        {"/config.json": b"{}"},
        {"config.json": b"\xff", "metadata.json": b"{}", "model.weights.h5": b""},
        {"config.json": b"{}", "metadata.json": b"[", "model.weights.h5": b""},
        {"config.json": b"{}", "metadata.json": b"{}", "model.weights.h5": b"no"},
        {"config.json": b"{}", "metadata.json": b"{}", "model.weights.npz": b"no"},
    ],
    ids=str,
)
def test_archives(members: dict[str, bytes], tmp_path: Path) -> None:
    assert _attempt(tmp_path / "model.keras", writer.keras(members))


def test_an_archive_that_grows(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("config.json", bytes(2**20))
    data = stream.getvalue().replace((2**20).to_bytes(4, "little"), (2**31 - 2).to_bytes(4, "little"))
    file = tmp_path / "model.keras"
    file.write_bytes(data)
    with pytest.raises(ModelFileError, match="its members unpack to 2,147,483,646 bytes"):
        import_model(ImportRequest("hostile", file))


def test_a_text_that_says_to_be_long(tmp_path: Path) -> None:
    """The library makes room for as much as the attribute says before it looks for the text."""
    whole, file = healthy(".h5"), tmp_path / "long.h5"
    heap, refused = whole.index(b"GCOL"), 0
    for place in range(0, len(whole) - 12, 4):
        if struct.unpack_from("<Q", whole, place + 4)[0] == heap:
            file.write_bytes(whole[:place] + struct.pack("<I", 2**31) + whole[place + 4 :])
            try:
                import_model(ImportRequest("hostile", file))
            except LatheError as problem:
                refused += f"a text of {2**31} bytes" in str(problem)
    assert refused > 3  # the rest are numbers that are as large as the place of the heap


def test_a_file_of_holes_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "holes.h5"
    with file.open("wb") as stream:
        stream.write(b"\x89HDF\r\n\x1a\n")
        stream.truncate(2**30)
    with pytest.raises(ModelFileError, match="1,073,741,824 bytes, nearly all of which are holes"):
        import_model(ImportRequest("hostile", file))
