"""Programs for Paddle-Lite's C++ interface, built as its users build theirs, give what the native interface gives."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from tests.examples.paddle_programs import GFLAGS, programs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
APP = EXAMPLES / "paddle-app" / "app.cc"
COMPILERS = {"host": "c++", "aarch64-linux-gnu": "aarch64-linux-gnu-g++"}
EMULATORS = {"host": [], "aarch64-linux-gnu": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}
STRICT = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
#: The documentation of Paddle-Lite, whose programs are tried as they stand there, where it is.
SEED = os.environ.get("LATHE_PADDLE_LITE_DOCS", "")


def call(command: Sequence[str | Path], expected: int = 0, **environment: str) -> str:
    """What a program says on stdout; its exit code is as expected."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize("form", ["file", "code"])
def test_the_app_gives_what_the_native_interface_gives(form: str, tmp_path: Path) -> None:
    """One build for all ABIs: it takes longer than the runs."""
    pictures = np.load(EXAMPLES / "digits" / "pictures.npy")[:10].astype(np.float32)
    pictures.tofile(tmp_path / "in.raw")
    overrides = buildtool.Overrides(
        tuple(COMPILERS), model_graph_format=form, model_data_format=form, paddle_compat="1"
    )
    report = buildtool.build(
        EXAMPLES / "paddle-app" / "deploy.yml", overrides, buildtool.Options(tmp_path / "build", archive=False)
    )
    native = buildtool.load(report.file_of("host", "shared"), model="digits")
    expected = [native.run({"image": picture.reshape(1, 8, 8, 1)})["probabilities"][0] for picture in pictures]
    for abi in COMPILERS:
        check_app(tmp_path, form, abi, expected)


def check_app(folder: Path, form: str, abi: str, expected: Sequence[np.ndarray[Any, Any]]) -> None:
    built = folder / "build" / "digits"
    libraries = built / "lib" / abi
    assert sorted(file.name for file in libraries.iterdir()) == [
        "libpaddle_light_api_shared.a",
        "libpaddle_light_api_shared.so",
    ]
    app = folder / f"app-{abi}"
    command: list[str | Path] = [COMPILERS[abi], *STRICT, f"-I{built / 'include'}", APP, "-o", app]
    started: list[str | Path] = [*EMULATORS[abi]]
    models = ["digits"]
    if form == "code":
        call([*command, libraries / "libpaddle_light_api_shared.a", "-lpthread"])
    else:
        call([*command, f"-L{libraries}", "-lpaddle_light_api_shared"])
        started += ["-E", f"LD_LIBRARY_PATH={libraries}"] if started else ["env", f"LD_LIBRARY_PATH={libraries}"]
        models = [str(built / "model" / name) for name in (f"{abi}/digits.pb", "digits.pb", f"{abi}/digits.whole.pb")]
    for model in models:
        said = call([*started, app, model, folder / "in.raw", "10", "2", "0"]).splitlines()
        assert said[0] == "image -> probabilities"
        found = [(int(line.split()[0]), float.fromhex(line.split()[1])) for line in said[1:]]
        if abi == "host":
            assert found == [(int(row.argmax()), float(row.max())) for row in expected]
        else:  # other kernels
            assert [number for number, _ in found] == [int(row.argmax()) for row in expected]
            np.testing.assert_allclose([value for _, value in found], [row.max() for row in expected], rtol=1e-5)
    (folder / "old.nb").write_bytes(b"\x02\x00v2.12" + bytes(11) + b"\x10" + bytes(7) + b"x" * 50)
    refused: list[str | Path] = [*started, app, folder / "old.nb", folder / "in.raw", "1"]
    failed = subprocess.run(refused, capture_output=True, text=True, check=False)
    assert failed.returncode != 0
    assert "old.nb: this is a model of Paddle-Lite's opt (.nb)" in failed.stderr
    assert "lathe init MODEL" in failed.stderr


def thousand(folder: Path) -> Path:
    """A network from [1, 3, 224, 224] to 1000 probabilities, and its deployment."""
    random = np.random.default_rng(25)
    weights = numpy_helper.from_array(random.standard_normal((3, 1000)).astype(np.float32), "w")
    x = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])
    y = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 1000])
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"]),
    ]
    graph = helper.make_graph(nodes, "thousand", [x], [y], [weights])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9), folder / "thousand.onnx"
    )
    file = folder / "thousand.yml"
    file.write_text(
        "paddle_compat: 1\nmodels:\n"
        "  thousand: {platform: onnx, model_file_path: thousand.onnx, data_type: fp32_fp32,\n"
        "    input_tensors: image, input_shapes: '1,3,224,224', input_data_formats: NCHW,\n"
        "    output_tensors: probabilities, output_shapes: '1,1000'}\n"
    )
    return file


def test_programs_are_put_together_from_pages() -> None:
    """What the next test does with a page of Paddle-Lite, here with a page of our own."""
    page = 'Text\n\n#include <vector>\n#include "paddle_api.h"\n\nint main() {\n  return 0;\n}\n\n\nMore text {\n'
    assert programs(page) == ['#include <vector>\n#include "paddle_api.h"\n\nint main() {\n  return 0;\n}\n']


@pytest.mark.slow
@pytest.mark.skipif(not SEED, reason="LATHE_PADDLE_LITE_DOCS names no documentation of Paddle-Lite")
def test_the_programs_of_its_documentation_run_unmodified(tmp_path: Path) -> None:
    built = buildtool.build(thousand(tmp_path), options=buildtool.Options(tmp_path / "build", archive=False)).folder
    ones = np.ones((1, 3, 224, 224), np.float32)
    library = built / "lib" / "host" / "libpaddle_light_api_shared.so"
    expected = buildtool.load(library, model="thousand").run({"image": ones})["probabilities"][0]
    (tmp_path / "gflags").mkdir()
    (tmp_path / "gflags" / "gflags.h").write_text(GFLAGS)
    model = tmp_path / "model_dir"
    model.mkdir()
    (model / "model").write_bytes((built / "model" / "host" / "thousand.pb").read_bytes())
    (model / "params").write_bytes((built / "model" / "host" / "thousand.data").read_bytes())
    found = programs(Path(SEED).read_text(encoding="utf-8"))
    assert len(found) >= 2
    for number, text in enumerate(found):
        source, app = tmp_path / f"program{number}.cc", tmp_path / f"program{number}"
        source.write_text(text)
        includes = [f"-I{built / 'include'}", f"-I{tmp_path}"]
        call(["c++", "-std=c++11", *includes, source, library, f"-Wl,-rpath,{library.parent}", "-o", app])
        said = call([app, f"--model_dir={model}/" if "gflags" in text else built / "model" / "host"])
        numbers = [float(value) for value in re.findall(r"Output\[\d+\]: (\S+)", said)]
        np.testing.assert_allclose(numbers, expected[::100], rtol=1e-3, atol=1e-6)
