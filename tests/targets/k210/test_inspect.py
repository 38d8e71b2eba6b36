"""`lathe inspect FILE.kmodel`: layers, registers, memories, and an estimate of cycles."""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path

import pytest

from buildtool.cli.main import run
from buildtool.reports import descriptions
from buildtool.targets.k210 import inspection
from buildtool.targets.k210.format import cpu_layers
from buildtool.targets.k210.format.arguments import ConvShape
from buildtool.targets.k210.format.kmodel import Kmodel, Output, write
from buildtool.targets.k210.format.kpu_layers import RemovePadding, Upload
from buildtool.targets.k210.generation import estimate
from tests.targets.k210.samples import Drawn, models, on_bytes, one_convolution, planes_between_memories

MODELS = dict(models())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.kmodel"
    path.write_bytes(write(planes_between_memories()))
    return path


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith(("conv", "pool"))])
def test_every_layer_can_be_shown(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.kmodel"
    path.write_bytes(write(MODELS[name]))
    document = descriptions.inspect("kmodel", path)
    assert [layer["name"] for layer in document["layers"]] == [layer.TYPE.name for layer in MODELS[name].layers]
    assert all(layer["cycles"] > 0 for layer in document["layers"])
    json.dumps(document, allow_nan=False)
    text = "\n".join(
        part if isinstance(part, str) else part.plain() for part in descriptions.parts(document, verbose=True)
    )
    assert all(layer["name"] in text for layer in document["layers"])


def test_the_document(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["version"], document["weight_bits"]) == ("kmodel", 3, 8)
    assert document["bytes"] == file.stat().st_size
    assert document["input_bytes"] == 3 * 20 * 36
    assert document["outputs"][1] == {"address": 1440, "size": 900}
    first, second, _, upload, last = document["layers"]
    assert first["registers"]["in_w"] == 36 and first["registers"]["pool"] == 1
    assert struct.pack("<12Q", *(int(word, 16) for word in first["words"])) in file.read_bytes()
    assert first["macs"] == 20 * 36 * 3 * 8 * 9
    assert second["macs"] == 10 * 18 * 8 * 9, "depthwise"
    assert upload["fields"] == {"flags": 0, "in": 0, "kpu_out": 3000, "w": 18, "h": 10, "c": 8}
    assert last["fields"]["main_out"] == 2344
    assert document["macs"] == sum(layer["macs"] for layer in document["layers"]) == document["macs_on_kpu"]
    assert document["kpu_ram_end"] == 64 * (20000 + 10 * 4)


def test_memory_maps(file: Path) -> None:
    document = inspection.document(file)
    main = [tuple(item.values()) for item in document["main_memory_map"]]
    assert main == [(0, 1440, 1, 3), (1440, 2340, 2, None), (2344, 2524, 4, None)]
    ram = {item["written_by"]: (item["start"], item["end"], item["last_read_by"]) for item in document["kpu_ram_map"]}
    assert ram[-1] == (0, 60, 0)
    assert ram[0] == (20000, 20040, 1)
    assert ram[1] == (500, 540, 2)
    assert ram[2] == (20000, 20030, None)
    assert ram[3] == (3000, 3040, 4)


def test_inspect_prints_layers_and_estimates(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "kmodel", str(file)]) == 0
    text = capsys.readouterr().out
    assert "kmodel version 3: 5 layers" in text
    assert "depthwise 3x3 8x10x18 -> 8x10x18, unit 20000 -> 500, main memory 0" in text
    assert "pad_value=7 load_times=1 para_size=216" in text
    assert estimate.RULE in text
    assert "an output" in text and "the input" in text
    assert "batch norm" not in text.replace("batch norms", "")
    assert run(["inspect", str(file), "-v"]) == 0
    assert "layer 4: activation" in capsys.readouterr().out


def test_estimates_follow_their_rule() -> None:
    layer = one_convolution(Drawn(ConvShape((64, 8, 8), 64)), 0).layers[0]
    assert estimate.cycles(layer) == 8 * 8 * 64 * 64 // 64 + 8 * 8 * 64 // 8
    few_pixels = one_convolution(Drawn(ConvShape((64, 4, 4), 64, 3), main_out=None), 0)
    weights = dataclasses.replace(few_pixels.layers[0], flags=0)
    assert estimate.cycles(weights) == max(4 * 4 * 64 * 64 // 64, (64 * 64 * 9 + 64 * 8 + 144) // 8)
    assert estimate.cycles(cpu_layers.FullyConnected(1, 0, 0, 100, 10, 0, b"", b"")) == 3 * 1000 + 4 * 10
    assert estimate.cycles(cpu_layers.Softmax(1, 0, 0, 10)) == 4 * 20 + 100 * 10
    assert estimate.cycles(cpu_layers.QAdd(1, 0, 0, 0, 9, *[0] * 9)) == 4 * 27
    assert estimate.cycles(cpu_layers.QMaxPool(1, 0, 0, 8, 8, 2, 4, 4, 2, 2, 2, 2, 2, 0, 0)) == 4 * 32 * 4
    assert estimate.cycles(Upload(0, 0, 0, 5, 4, 3)) == 4 * 60
    assert estimate.cycles(RemovePadding(0, 0, 0, 7)) == 4 * 7


@pytest.mark.parametrize(
    ("model", "note"),
    [
        (
            one_convolution(Drawn(ConvShape((3, 8, 8), 3, 3, depthwise=True, pool=5)), 0),
            "computes depthwise with pool 5 incorrectly",
        ),
        (one_convolution(Drawn(ConvShape((3, 7, 10), 30), dst=32716), 0), "exceed the KPU's RAM"),
        (MODELS["q_add_other_shifts_below_zero"], "it writes 3 bytes more"),
        (MODELS["avg_pool_act1"], "omits the activation"),
        (MODELS["q_flatten"], "Maix-EMC's does"),
    ],
)
def test_notes(model: Kmodel, note: str, tmp_path: Path) -> None:
    path = tmp_path / "net.kmodel"
    path.write_bytes(write(model))
    document = descriptions.inspect("kmodel", path)
    assert note in str(descriptions.parts(document)[-1])
    assert not any(layer["notes"] for layer in document["layers"][:-1])


def test_numbers_that_json_does_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.kmodel"
    path.write_bytes(write(on_bytes([cpu_layers.Dequantize(1, 0, 256, 9, float("nan"), float("inf"))], 256, 36)))
    assert run(["inspect", str(path), "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)["layers"][1]["fields"]
    assert (fields["scale"], fields["bias"]) == ("nan", "inf")
    assert run(["inspect", str(path)]) == 0


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (None, 2, "cannot be read"),
        (b"\x05\0\0\0" + bytes(40), 4, "version 5, which nncase 1.x writes"),
        (b"LDMK\x05\0\0\0" + bytes(40), 4, "version 5"),
        (write(Kmodel(1, 304, (Output(0, 300),), one_convolution(Drawn(ConvShape((3, 5, 6), 10)), 0).layers))[:200], 3,
         "layer 0, type 10240 (K210_CONV), body at offset 44"),
    ],
)  # fmt: skip
def test_wrong_files(
    data: bytes | None, code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.kmodel"
    if data is not None:
        path.write_bytes(data)
    assert run(["inspect", str(path)]) == code
    assert message in capsys.readouterr().err
    assert run(["inspect", "kmodel", str(path)]) == code
