"""Checkpoints of PyTorch without torch: both formats, the names of layers, and files that are damaged or hostile."""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from buildtool.errors import ConfigError, LatheError, ModelFileError
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.checkpoints import checkpoint, torch_archive, torch_writer
from buildtool.targets.max7800x.devices import MAX78000, MAX78002
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.known_answers import KnownAnswer

Arrays = Mapping[str, NDArray[Any]]


def newest(state: Arrays, **more: Any) -> bytes:
    """What torch.save writes today."""
    return torch_writer.packed({"epoch": 1, "arch": "net", "state_dict": dict(state), **more})


def oldest(state: Arrays) -> bytes:
    """What torch.save wrote before version 1.6: pickles one behind the other, then the numbers."""

    def text(word: str) -> bytes:
        return b"X" + struct.pack("<I", len(word)) + word.encode()

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)

    def numbers(values: tuple[int, ...]) -> bytes:
        return b"(" + b"".join(map(number, values)) + b"t"

    body = b"\x80\x02}(" + text("state_dict") + b"ccollections\nOrderedDict\n)R("
    for key, (name, array) in enumerate(state.items()):
        storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(key)) + text("cpu")
        strides = tuple(stride // array.itemsize for stride in array.strides)
        tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(array.size) + b"NtQ" + number(0)
        tensor += numbers(array.shape) + numbers(strides) + b"\x89NtR"
        body += text(name) + tensor
    body += b"uu."
    stored = b"".join(struct.pack("<q", array.size) + array.astype("<f4").tobytes() for array in state.values())
    keys = pickle.dumps([str(key) for key in range(len(state))], 2)
    head = [pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    return b"".join([*head, body, keys, stored])


def some_state() -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(5)
    return {
        "conv1.output_shift": np.array([-2.0]),
        "conv1.weight_bits": np.array([4.0]),
        "conv1.op.weight": rng.integers(-8, 8, (4, 3, 3, 3)).astype(np.float32),
        "conv1.op.bias": np.array([8.0, -8.0, 7.0, 1000.0], np.float32),
        "conv2.conv2d.weight": rng.integers(-128, 128, (2, 4, 1, 1)).astype(np.float32),
        "fc.weight": np.zeros((5, 2), np.float32),
    }


@pytest.mark.parametrize("write", [newest, oldest])
def test_names_of_either_age_are_bound(tmp_path: Path, write: Any) -> None:
    """Layers are called `conv1.op.weight`, `conv1.conv2d.weight` or `fc.weight`; what belongs to them is beside."""
    state = some_state()
    file = tmp_path / "net.pth.tar"
    file.write_bytes(write(state))
    first, second, third = checkpoint.read(file).parameters
    assert (first.name, first.bits, first.output_shift) == ("conv1.op.weight", 4, -2)
    np.testing.assert_array_equal(first.weights, state["conv1.op.weight"])
    assert first.bias is not None and first.bias.tolist() == [1, -1, 0, 125]  # floor of an eighth
    assert (second.name, second.bits, second.output_shift, second.bias) == ("conv2.conv2d.weight", None, 0, None)
    assert third.bits == 1  # all zeros


@known_answers.exist
def test_known_checkpoints_are_read_as_they_are(tmp_path: Path) -> None:
    """The old and the new format, written by torch itself."""
    for name, count in (("mnist", 5), ("t_fire_cifar10", 4), ("t_cifar10_bias_q4", 5)):
        weights = KnownAnswer(name).weights
        assert weights is not None
        found = checkpoint.read(weights)
        assert len(found.parameters) == count and found.arch


def test_weights_that_a_pickle_shares_are_read_once_and_sliced(tmp_path: Path) -> None:
    file = tmp_path / "net.pth"
    base = np.arange(24, dtype=np.float32)
    file.write_bytes(torch_writer.packed({"state_dict": {"a.weight": base.reshape(4, 6)}, "more": [1, None, "x", {}]}))
    tree = torch_archive.read(file)
    np.testing.assert_array_equal(tree["state_dict"]["a.weight"], base.reshape(4, 6))
    assert tree["more"] == [1, None, "x", {}]


class Harmful:
    """Asks whoever unpickles it to run a command."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.system, (f"touch {self.mark}",)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_nothing_in_a_file_is_executed(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "executed"
    file = tmp_path / "net.pth.tar"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"state_dict": {"x.weight": Harmful(mark)}}, protocol))
    with pytest.raises(ModelFileError):
        checkpoint.read(file)
    assert not mark.exists()


@pytest.mark.parametrize("write", [newest, oldest])
def test_damage_is_an_error_and_never_a_crash(tmp_path: Path, write: Any) -> None:
    """Cut off anywhere, and with any byte changed: a ModelFileError, or weights."""
    data = write(some_state())
    file = tmp_path / "net.pth.tar"
    rng = np.random.default_rng(7)
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            changed[int(rng.integers(0, min(len(data), 1500)))] = int(rng.integers(0, 256))
        end = int(rng.integers(0, len(data))) if rng.integers(0, 4) == 0 else len(data)
        file.write_bytes(bytes(changed[:end]))
        try:
            checkpoint.read(file)
        except ModelFileError as error:
            assert error.problems[0].where.file == str(file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"conv1.op.weight": np.full((4, 3, 3, 3), 0.5, np.float32)}, "the checkpoint is not quantised"),
        ({"conv1.op.weight": np.full((4, 3, 3, 3), 200.0, np.float32)}, "range from 200 to 200"),
        ({"conv1.op.weight": np.full((4, 3, 3, 3), np.nan, np.float32)}, "not integers"),
        ({"conv1.bn.weight": np.ones(4, np.float32)}, "batch normalisation is not part of the weights"),
        ({"conv1.op.weight": np.ones(4, np.float32)}, "weights have 1 dimensions"),
        ({"conv1.op.weight": np.ones((0, 3), np.float32)}, "there are no weights"),
    ],
)
def test_arrays_that_cannot_be_weights_are_errors(tmp_path: Path, change: Arrays, words: str) -> None:
    file = tmp_path / "net.pth.tar"
    file.write_bytes(newest({**some_state(), **change}))
    with pytest.raises(ModelFileError, match=words) as caught:
        checkpoint.read(file)
    assert caught.value.problems[0].where.value == next(iter(change))


def test_entries_that_no_layer_reads_may_be_invalid(tmp_path: Path) -> None:
    """Only the first layer is described; the second is not quantised, and has a batch normalisation."""
    state = {
        "conv1.op.weight": np.ones((4, 3, 3, 3), np.float32),
        "conv2.op.weight": np.full((4, 4, 3, 3), 0.5, np.float32),
        "conv2.bn.weight": np.ones(4, np.float32),
        "conv3.op.weight": np.ones((2, 4, 3, 3), np.float32),
    }
    file = tmp_path / "net.pth.tar"
    file.write_bytes(newest(state))
    found = checkpoint.read(file, needed=range(1)).parameters
    assert [one.name for one in found] == [name for name in state if "bn" not in name]
    assert found[0].weights.shape == (4, 3, 3, 3)
    for needed in (range(2), range(1, 2)):
        with pytest.raises(ModelFileError) as caught:
            checkpoint.read(file, needed=needed)
        assert [problem.where.value for problem in caught.value.problems] == ["conv2.op.weight", "conv2.bn.weight"]
    assert checkpoint.read(file, needed=range(2, 3)).parameters[2].weights.shape == (2, 4, 3, 3)


@pytest.mark.parametrize(
    ("tree", "words"),
    [({"epoch": 1}, "no `state_dict`"), ([1, 2], "no `state_dict`"), ({"state_dict": {}}, "contains no weights")],
)
def test_files_that_are_no_checkpoint_are_errors(tmp_path: Path, tree: Any, words: str) -> None:
    file = tmp_path / "net.pth.tar"
    file.write_bytes(torch_writer.packed(tree))
    with pytest.raises(ModelFileError, match=words):
        checkpoint.read(file)


NETWORK = """\
arch: {arch}
dataset: pictures
layers:
  - {{processors: 0x7, op: {operation}, out_offset: 0x2000, in_dim: [6, 6]{first}}}
  - {{processors: 0xf, op: conv2d, kernel_size: 1x1, pad: 0}}
"""


def read(folder: Path, state: Arrays, *, device: Any = MAX78000, **words: str) -> Any:
    file, weights = folder / "network.yaml", folder / "net.pth.tar"
    file.write_text(NETWORK.format(**{"arch": "net", "first": "", "operation": "conv2d", **words}))
    weights.write_bytes(newest(state))
    return description.read(file, device=device, weights=weights).network


def test_weights_become_kernels(tmp_path: Path) -> None:
    """Bits and shifts come from the checkpoint, and from the description where it says so."""
    first, second = read(tmp_path, some_state()).layers
    assert (first.kernel.bits, first.output_shift, second.kernel.bits) == (4, -2, 8)
    assert first.kernel.bias.tolist() == [1, -1, 0, 125]
    written = read(tmp_path, some_state(), first=", quantization: 8, output_shift: 3").layers[0]
    assert (written.kernel.bits, written.output_shift) == (8, 3)


def test_binary_weights_are_noticed_on_the_chip_that_has_them(tmp_path: Path) -> None:
    state = {**some_state(), "conv1.op.weight": np.where(np.arange(108) % 3, 1.0, -1.0).reshape(4, 3, 3, 3)}
    assert read(tmp_path, state, device=MAX78002).layers[0].kernel.bits == -1
    assert read(tmp_path, state).layers[0].kernel.bits == 4


def test_weights_that_need_more_bits_than_are_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in 2 bits: -2 to 1"):
        read(tmp_path, some_state(), first=", quantization: 2")


def test_a_checkpoint_of_another_network(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`arch` is 'other', and the checkpoint is for 'net'"):
        read(tmp_path, some_state(), arch="other")


def test_transposed_convolutions_are_turned(tmp_path: Path) -> None:
    """PyTorch holds them by input first, and applies them the other way round."""
    held = np.arange(3 * 4 * 9, dtype=np.float32).reshape(3, 4, 3, 3) - 50
    state = {**some_state(), "conv1.op.weight": held, "conv1.weight_bits": np.array([8.0])}
    layers = read(tmp_path, state, operation="convtranspose2d").layers
    np.testing.assert_array_equal(layers[0].kernel.weights, held[:, :, ::-1, ::-1].swapaxes(0, 1))


def test_random_bytes_are_never_a_description(tmp_path: Path) -> None:
    """Any change to a description is an error that says where, or a network."""
    text = NETWORK.format(arch="net", operation="conv2d", first=", max_pool: 2, pool_stride: [2, 2]").encode()
    file, weights = tmp_path / "network.yaml", tmp_path / "net.pth.tar"
    weights.write_bytes(newest(some_state()))
    rng = np.random.default_rng(3)
    alphabet = np.frombuffer(b"0123456789abcdefxX_.-:,[]{}#&*!|>'\"%@\n\t \x00\xff", np.uint8)
    for _ in range(250):
        changed = bytearray(text)
        for _ in range(int(rng.integers(1, 5))):
            changed[int(rng.integers(0, len(text)))] = int(rng.choice(alphabet))
        file.write_bytes(bytes(changed))
        try:
            description.read(file, device=MAX78002, weights=weights)
        except LatheError as error:
            assert all(problem.where.file for problem in error.problems)
