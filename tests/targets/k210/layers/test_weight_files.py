"""Weights from TensorLayer's files, and from files that somebody has damaged or made with bad intentions."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, ModelFileError
from buildtool.targets.k210 import layers as tl
from tests.targets.k210.layers.nets import branched, drawn, pictures, save, write_hdf5, write_list, write_names


def loaded(file: Path, **arguments: bool) -> tuple[str, tl.Model]:
    made = branched()
    return made.load_weights(file, **arguments), made


def same(one: tl.Model, other: tl.Model) -> bool:
    (picture,) = pictures(1)
    found, wanted = one.run(picture), other.run(picture)
    return all(np.array_equal(found[name], wanted[name]) for name in wanted)


@pytest.fixture
def known() -> tl.Model:
    made = branched()
    made.set_weights(drawn(made.slots))
    return made


def test_a_list(known: tl.Model, tmp_path: Path) -> None:
    arrays = drawn(known.slots)
    statistics = [array.reshape(1, 1, 1, -1) if slot.layer == "norm" else array
                  for slot, array in zip(known.slots, arrays, strict=True)]  # fmt: skip
    write_list(tmp_path / "net.npz", statistics)
    how, made = loaded(tmp_path / "net.npz")
    assert how == "order" and same(made, known)


@pytest.mark.parametrize("protocol", range(6))
def test_lists_of_all_protocols(known: tl.Model, protocol: int, tmp_path: Path) -> None:
    whole = np.empty(len(known.slots), object)
    whole[:] = [array.astype(">f4") if index % 2 else np.asfortranarray(array)
                for index, array in enumerate(drawn(known.slots))]  # fmt: skip
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": whole.shape, "fortran_order": False, "descr": "|O"})
    pickle.dump(whole, stream, protocol)
    with zipfile.ZipFile(tmp_path / "net.npz", "w") as archive:
        archive.writestr("params.npy", stream.getvalue())
    how, made = loaded(tmp_path / "net.npz")
    assert how == "order" and same(made, known)


def test_a_list_of_one_shape_is_stacked(tmp_path: Path) -> None:
    x = tl.Input((4, 4, 2))
    made = tl.Model(x, tl.Conv2d(2, (1, 1), bias=False)(tl.Conv2d(2, (1, 1), bias=False)(x)))
    arrays = drawn(made.slots)
    np.savez(tmp_path / "net.npz", params=arrays)
    assert made.load_weights(tmp_path / "net.npz") == "order"
    assert made.run(pictures(1, (4, 4, 2)))["conv2d_1"].any()


def test_names(known: tl.Model, tmp_path: Path) -> None:
    arrays = drawn(known.slots)
    write_names(tmp_path / "net.npz", known.slots[::-1], arrays[::-1])
    how, made = loaded(tmp_path / "net.npz")
    assert how == "names" and same(made, known)
    older = {"filters": "W_conv2d", "biases": "b_conv2d", "weights": "W", "moving_var": "moving_variance"}
    save(tmp_path / "old.npz", {f"{slot.layer}/{older.get(slot.role, slot.role)}:0": array
                                      for slot, array in zip(known.slots, arrays, strict=True)})  # fmt: skip
    how, made = loaded(tmp_path / "old.npz")
    assert how == "names" and same(made, known)


def test_hdf5(known: tl.Model, tmp_path: Path) -> None:
    write_hdf5(tmp_path / "net.h5", known.layers, known.slots, drawn(known.slots))
    how, made = loaded(tmp_path / "net.h5")
    assert how == "names" and same(made, known)


def test_names_of_another_network_are_taken_in_order(known: tl.Model, tmp_path: Path) -> None:
    save(tmp_path / "net.npz", {f"model/{i}:0": array for i, array in enumerate(drawn(known.slots))})
    how, made = loaded(tmp_path / "net.npz")
    assert how == "order" and same(made, known)


def test_lists_of_keras_have_gamma_first(known: tl.Model, tmp_path: Path) -> None:
    arrays = drawn(known.slots)
    roles = [slot.role for slot in known.slots]
    for index in [i for i, role in enumerate(roles) if role == "beta"]:
        arrays[index], arrays[index + 1] = arrays[index + 1], arrays[index]
    write_list(tmp_path / "net.npz", arrays)
    assert same(loaded(tmp_path / "net.npz", keras_order=True)[1], known)
    assert not same(loaded(tmp_path / "net.npz")[1], known)
    other = branched()
    other.set_weights(arrays, keras_order=True)
    assert same(other, known)


# -- what is wrong -----------------------------------------------------------------------------------------------------
def test_everything_that_does_not_fit_is_told(known: tl.Model, tmp_path: Path) -> None:
    arrays = drawn(known.slots)
    write_list(tmp_path / "short.npz", arrays[:-1])
    with pytest.raises(ModelFileError, match=r"there are 18 arrays\n.*the model has 19: conv/filters \[3, 3, 3, 8\]"):
        loaded(tmp_path / "short.npz")
    wrong = [array.T if array.ndim == 4 and array.shape != array.T.shape else array for array in arrays]
    wrong[1] = wrong[1] * np.inf
    write_list(tmp_path / "wrong.npz", wrong)
    with pytest.raises(ModelFileError) as problem:
        loaded(tmp_path / "wrong.npz")
    assert len(problem.value.problems) == sum(array.ndim == 4 for array in arrays) + 1
    write_names(tmp_path / "names.npz", known.slots[2:], arrays[2:])
    with pytest.raises(ModelFileError) as problem:
        loaded(tmp_path / "names.npz")
    assert [one.where.value for one in problem.value.problems] == ["conv/filters", "norm/beta"]
    named = {f"{slot.name.replace('probabilities', 'probabilties')}:0": array
             for slot, array in zip(known.slots, arrays, strict=True)}  # fmt: skip
    save(tmp_path / "near.npz", named)
    with pytest.raises(ModelFileError, match="did you mean 'probabilties/weights'"):
        loaded(tmp_path / "near.npz")


class Hostile:
    """What a pickle asks to be run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch hostile",)


def test_a_pickle_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for parts in ([Hostile(), np.zeros(3)], [np.array([Hostile()], object)], ["text"], [np.array(["text"])]):
        whole = np.empty(len(parts), object)
        whole[:] = parts
        np.savez("net.npz", params=whole)
        with pytest.raises(ModelFileError, match=r"the \.npz cannot be read"):
            loaded(Path("net.npz"))
    assert [path.name for path in tmp_path.iterdir()] == ["net.npz"]


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        loaded(tmp_path / "none.npz")
    (tmp_path / "text").write_text("weights")
    with pytest.raises(ModelFileError, match="not a weight file"):
        loaded(tmp_path / "text")


@pytest.mark.slow
def test_damaged_files_end_in_an_error(known: tl.Model, tmp_path: Path) -> None:
    arrays = [array[:1].reshape(-1)[:2] for array in drawn(known.slots)]  # short, so that changes hit what says most
    write_list(tmp_path / "list.npz", arrays)
    write_names(tmp_path / "names.npz", known.slots, arrays)
    write_hdf5(tmp_path / "net.h5", known.layers, known.slots, arrays)
    rng = np.random.default_rng(4)
    seen = set()
    for name in ("list.npz", "names.npz", "net.h5"):
        data = (tmp_path / name).read_bytes()
        for _ in range(150):
            changed = bytearray(data)
            for place in rng.integers(0, len(data), 3):
                changed[place] ^= 1 << int(rng.integers(0, 8))
            del changed[int(rng.integers(100, 4 * len(data))) :]
            (tmp_path / "damaged").write_bytes(changed)
            with pytest.raises(LatheError) as problem:
                loaded(tmp_path / "damaged")
            seen.add(type(problem.value))
    assert seen == {ModelFileError}
