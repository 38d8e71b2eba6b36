"""Damaged and misplaced files: a model or one clear error each, quickly, and nothing else."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import InternalError, LatheError, ModelFileError, UnsupportedError
from buildtool.importers.frameworks import companions
from buildtool.importers.paddle import import_model
from buildtool.importers.request import ImportRequest
from buildtool.passes.pipeline import optimise
from buildtool.schemas import paddle_program_pb2 as pb
from tests.importers.paddle.harness import archive, check
from tests.importers.paddle.lite_writer import write
from tests.importers.paddle.plain import declare, program_of, stream
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.programs import random

MOST_SECONDS = 5.0
_KINDS = 200  # of damaged files


def seeds() -> dict[str, tuple[bytes, bytes]]:
    """Healthy models of all forms with their parameters, by the names of their files."""
    files = archive()
    names = [
        "conv2d-groups",
        "batch_norm",
        "yolo_box",
        "multiclass_nms3",
        "rnn-LSTM-1",
        "reshape2-tensor",
        "lookup_table_v2",
    ]
    found = {}
    for name in names:
        weights = files.get(f"{name}/model.pdiparams", b"")
        for ending in (".pdmodel", ".json"):
            found[f"{name}{ending}"] = (files[f"{name}/model{ending}"], weights)
    found["at_most_four.json"] = (archive("control_flow.zip")["at_most_four/model.json"], b"")
    for name in ("two_blocks", "array_in_loop"):
        found[f"{name}.pdmodel"] = (archive("blocks.zip")[f"{name}/model.pdmodel"], b"")
    case = next(case for case in CASES if case.name == "conv2d-groups")
    (filters,) = case.tensors()["Filter"]
    program = pb.Program.FromString(files["conv2d-groups/model.pdmodel"])
    for form in (0, 1, 2):
        found[f"lite{form}.nb"] = (write(program, {"Filter_0": filters}, form), b"")
    return found


def _attempt(folder: Path, name: str, model: bytes, weights: bytes) -> bool:
    """Whether there was an error. Any other than a typed one ends the test."""
    file = folder / name
    file.write_bytes(model)
    file.with_suffix(".pdiparams").write_bytes(weights)
    started = time.process_time()
    try:
        with np.errstate(all="ignore"):  # weights may be anything
            optimise(import_model(ImportRequest("hostile", file)).graph)
    except LatheError as problem:
        assert not isinstance(problem, InternalError), problem
        return True
    finally:
        assert time.process_time() - started < MOST_SECONDS
    return False


def test_seeds_are_healthy(tmp_path: Path) -> None:
    for name, (model, weights) in seeds().items():
        assert not _attempt(tmp_path, name, model, weights), name


def test_truncated(tmp_path: Path) -> None:
    for name, (model, weights) in seeds().items():
        for part in (0, 1, 7, len(model) // 3, len(model) - 5):
            assert _attempt(tmp_path, name, model[:part], weights), (name, part)
        if weights:
            assert _attempt(tmp_path, name, model, weights[:-3])
            assert _attempt(tmp_path, name, model, weights + b"\0")


def test_flipped_bits(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    for name, content in seeds().items():
        for _ in range(_KINDS // 10):
            damaged = [bytearray(part) for part in content]
            which = damaged[int(generator.integers(2))] or damaged[0]
            for position in generator.choice(len(which), size=2):
                which[position] ^= 1 << int(generator.integers(8))
            _attempt(tmp_path, name, bytes(damaged[0]), bytes(damaged[1]))


@pytest.mark.parametrize("number", [0xFFFFFFFF, 0x7FFFFFFF, 1 << 20])
def test_extreme_words(number: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    for name, content in seeds().items():
        for which, part in enumerate(content):
            for position in generator.integers(0, max(len(part) - 4, 1), 6 if part else 0):
                changed = part[:position] + struct.pack("<I", number) + part[position + 4 :]
                _attempt(tmp_path, name, *((changed, content[1]) if which == 0 else (content[0], changed)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.blocks[0].ops.add(type=b"relu"), "no outputs"),
        (lambda one: one.blocks[0].ops[1].inputs[0].arguments.append(b"nowhere"), "nothing defines 'nowhere'"),
        (lambda one: one.blocks[0].vars.add(name=b"X_0"), "there twice"),
        (
            lambda one: one.blocks[0].ops[1].attrs.add(name=b"a").CopyFrom(pb.Attribute(name=b"beta", type=1, f=9)),
            "twice",
        ),
        (lambda one: one.blocks[0].ops.pop(), "no outputs"),
        (lambda one: one.ClearField("blocks"), "no operators"),
    ],
)
def test_broken_promises(change: Callable[[pb.Program], object], message: str, tmp_path: Path) -> None:
    program = program_of("swish", {"X": random(2, 3)}, {}, {"beta": 1.0}, ("Out",))
    change(program)
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(ModelFileError, match=message):
        import_model(ImportRequest("broken", tmp_path / "model.pdmodel"))


def test_unsupported_operators_are_listed_at_once(tmp_path: Path) -> None:
    program = program_of("var_conv_2d", {"X": random(2, 3)}, {}, {}, ("Out",))
    program.blocks[0].ops.insert(2, program_of("search_grnn", {"Out_out": random(2)}, {}, {}, ("Z",)).blocks[0].ops[1])
    program.blocks[0].ops[2].inputs[0].arguments[0] = b"Out_out_0"
    program.blocks[0].ops[3].inputs[0].arguments[0] = b"Z_out_0"
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(UnsupportedError, match=r"search_grnn .*, var_conv_2d .* are not supported"):
        import_model(ImportRequest("unsupported", tmp_path / "model.pdmodel"))


def test_an_attribute_may_be_there_twice_if_it_says_the_same(tmp_path: Path) -> None:
    """As Paddle 3 writes it."""
    program = program_of("swish", {"X": random(2, 3)}, {}, {"beta": 1.0}, ("Out",))
    attributes = program.blocks[0].ops[1].attrs
    attributes.add().CopyFrom(next(item for item in attributes if item.name == b"beta"))
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    assert import_model(ImportRequest("twice", tmp_path / "model.pdmodel")).graph.nodes


# -- where parameters are ----------------------------------------------------------------------------------------------
def _with_weights(folder: Path, name: str) -> Path:
    """x + y, where y is a parameter; the program alone."""
    program = program_of("elementwise_add", {"X": random(2, 3)}, {"Y": "float32"}, {"axis": -1}, ("Out",))
    for variable in program.blocks[0].vars:
        if variable.name == b"Y_0":
            variable.type.lod_tensor.tensor.data_type = 5
            variable.type.lod_tensor.tensor.dims.extend((2, 3))
    (folder / name).write_bytes(program.SerializeToString())
    return folder / name


@pytest.mark.parametrize(
    ("model", "weights"),
    [("__model__", "Y_0"), ("__model__", "__params__"), ("model", "params"), ("net.pdmodel", "net.pdiparams")],
)
def test_parameters_beside_the_program(model: str, weights: str, tmp_path: Path) -> None:
    x, y = random(2, 3), random(2, 3, seed=1)
    file = _with_weights(tmp_path, model)
    (tmp_path / weights).write_bytes(stream(y))
    check(file, {"X_0": x}, [x + y])
    assert companions("paddle", file, None) == (tmp_path / weights,)


def test_parameters_that_are_named(tmp_path: Path) -> None:
    file, folder = _with_weights(tmp_path, "model.pdmodel"), tmp_path / "weights"
    with pytest.raises(ModelFileError, match="the 1 parameters of the model are not beside it"):
        import_model(ImportRequest("lost", file))
    folder.mkdir()
    (folder / "Y_0").write_bytes(stream(random(2, 3)))
    import_model(ImportRequest("folder", file, folder))
    import_model(ImportRequest("file", file, folder / "Y_0"))
    (folder / "Y_0").write_bytes(stream(random(3, 2)))
    with pytest.raises(ModelFileError, match=r"\[3, 2\] in the file of parameters, but \[2, 3\]"):
        import_model(ImportRequest("other", file, folder))


def test_parameters_stay_in_their_folder(tmp_path: Path) -> None:
    program = program_of("relu", {"X": random(2, 3)}, {}, {}, ("Out",))
    program.blocks[0].vars.add(name=b"../secret", persistable=True).type.type = 7
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    with pytest.raises(ModelFileError, match="cannot be the name of a file"):
        import_model(ImportRequest("escaping", tmp_path / "model.pdmodel", tmp_path))


def test_weights_in_bytes(tmp_path: Path) -> None:
    """What Paddle's tools for quantisation export: bytes, and one scale for each channel."""
    x, w, scales = random(2, 3), np.arange(-6, 6, dtype=np.int8).reshape(3, 4), random(4, low=1)
    program = program_of("dequantize_linear", {"X": w, "Scale": scales}, {}, {"bit_length": 8, "quant_axis": 1}, ("Y",))
    product = program_of("matmul_v2", {"A": x}, {}, {}, ("Out",)).blocks[0]
    product.ops[1].inputs[0].parameter = b"X"
    product.ops[1].inputs.add(parameter=b"Y", arguments=[b"Y_out_0"])
    del program.blocks[0].ops[:2], program.blocks[0].ops[-1]
    program.blocks[0].ops.extend(product.ops)
    program.blocks[0].vars.extend(item for item in product.vars if item.name == b"A_0")
    declare(program, {"X_0": w, "Scale_0": scales})
    (tmp_path / "model.pdmodel").write_bytes(program.SerializeToString())
    (tmp_path / "model.pdiparams").write_bytes(stream(scales) + stream(w))
    check(tmp_path / "model.pdmodel", {"A_0": x}, [x @ (w * scales / 127)])
