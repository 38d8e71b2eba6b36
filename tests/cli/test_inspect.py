"""`lathe inspect`: it finds out what a thing is and says what is inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLE, Lathe


def test_an_onnx_model(lathe: Lathe) -> None:
    document = lathe("inspect", EXAMPLE / "digits.onnx", "--json").document
    assert document["kind"] == "onnx"
    assert document["operators"]["Conv"] == 2
    assert document["inputs"] == [{"name": "image", "dtype": "float", "shape": [1, 1, 8, 8]}]
    assert document["unsupported"] == []
    assert "Gemm" in lathe("inspect", EXAMPLE / "digits.onnx").stdout


def test_a_deployment(lathe: Lathe, digits: Path) -> None:
    document = lathe("inspect", digits, "--json").document
    assert document["kind"] == "deployment"
    assert document["models"][0]["platform"] == "onnx"
    assert "library digits" in lathe("inspect", "deployment", digits).stdout


def test_a_converted_model_with_its_plan(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    assert lathe("convert", digits, "-o", tmp_path / "out", "--abi", "host").code == 0
    folder = tmp_path / "out" / "digits" / "model"
    portable = lathe("inspect", folder / "digits.pb", "--json").document
    assert (portable["kind"], portable["abi"], portable["kernels"]) == ("model", None, [])
    assert portable["operators"]["conv2d"] == 2
    assert portable["macs"] > 10_000
    planned = lathe("inspect", "model", folder / "host" / "digits.pb", "--json").document
    assert planned["abi"] == "host"
    assert planned["arena_size"] > 0
    assert all(node["kernel"] in planned["kernels"] for node in planned["body"])
    assert "conv2d_f32" in lathe("inspect", folder / "host" / "digits.pb", "-v").stdout
    (folder / "digits.data").unlink()
    assert "weights are missing" in lathe("inspect", folder / "digits.pb").stderr


def test_operators_and_passes(lathe: Lathe) -> None:
    operators = {item["name"]: item for item in lathe("inspect", "ops", "--json").document["items"]}
    assert "strides" in operators["conv2d"]["attributes"]
    assert all(name.startswith("conv2d_") for name in operators["conv2d"]["kernels"])
    passes = lathe("inspect", "passes", "--json").document["items"]
    assert all(item["summary"] for item in passes)
    assert lathe("inspect", "passes").code == 0


@pytest.mark.parametrize(
    ("name", "data", "code", "message"),
    [
        ("none.onnx", None, 2, "No such file"),
        ("text.txt", b"hello", 2, "no file that Lathe knows"),
        ("bad.onnx", b"\x08\x01garbage", 3, "no ONNX model"),
        ("bad.pb", b"\xff\xff\xff", 3, ""),
        ("bad.so", b"\x7fELF but no more", 7, "no library"),
    ],
)
def test_wrong_things(lathe: Lathe, tmp_path: Path, name: str, data: bytes | None, code: int, message: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
        (tmp_path / "bad.data").write_bytes(b"")
    result = lathe("inspect", tmp_path / name)
    assert (result.code, message in result.stderr) == (code, True), result.stderr


def test_wrong_kinds(lathe: Lathe, digits: Path) -> None:
    assert "no kind of file" in lathe("inspect", "modle", digits).stderr
    assert "needs a file" in lathe("inspect", "library").stderr
    assert lathe("inspect", "library", digits.with_name("none.so")).code == 2


def test_support_by_abi(lathe: Lathe, tmp_path: Path) -> None:
    document = lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--abi", "host,aarch64-linux-gnu", "--json").document
    assert document["abis"] == ["host", "aarch64-linux-gnu"]
    assert "Gemm" in lathe("inspect", "ops", EXAMPLE / "digits.onnx").stdout
    assert len(lathe("inspect", "ops", "--all", "--json").document["items"]) > 150
    assert lathe("inspect", "ops", tmp_path / "none.onnx").code == 3
    assert lathe("inspect", "passes", "--all").code == 2
    assert lathe("inspect", "ops", EXAMPLE / "digits.onnx", "--all").code == 2
