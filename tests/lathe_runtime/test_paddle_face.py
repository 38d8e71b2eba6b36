"""Programs for Paddle-Lite's Python interface run unmodified, and what they may get wrong is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool import lathe_runtime
from buildtool.lathe_runtime import paddle
from tests.examples.test_paddle_app import thousand

ROOT = Path(__file__).resolve().parents[2]
#: The documentation of Paddle-Lite, whose programs are tried as they stand there, where it is.
SEED = os.environ.get("LATHE_PADDLE_LITE_DOCS", "")

PROGRAM = """\
from __future__ import print_function
import sys
from MODULE import *

config = CONFIG()
config.set_model_from_file(sys.argv[1]) if CONFIG is MobileConfig else config.set_model_dir(sys.argv[1])
config.set_threads(2)
config.set_power_mode(PowerMode.LITE_POWER_NO_BIND)
predictor = create_paddle_predictor(config)
input_tensor = predictor.get_input(0)
input_tensor.resize([1, 3, 224, 224])
input_tensor.set_float_data([1.] * 3 * 224 * 224)
predictor.run()
output_tensor = predictor.get_output(0)
print(output_tensor.target(), output_tensor.shape())
print(" ".join(value.hex() for value in output_tensor.float_data()[:10]))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paddle")
    return buildtool.build(thousand(folder), options=buildtool.Options(folder / "build", archive=False)).folder


def expected_for(built: Path, image: np.ndarray) -> np.ndarray:
    library = built / "lib" / "host" / "libpaddle_light_api_shared.so"
    return buildtool.load(library, model="thousand").run({"image": image})["probabilities"][0]


def run(*words: str | Path, code: int = 0, **variables: str) -> str:
    command = [sys.executable, "-m", "buildtool.lathe_runtime.paddle", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "config"), [("paddlelite.lite", "MobileConfig"), ("lite_core", "CxxConfig"), ("lite", "MobileConfig")]
)
def test_a_program_runs_unmodified(built: Path, module: str, config: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("MODULE", module).replace("CONFIG", config))
    model = built / "model" / "host"
    first, second = run(program, model if config == "CxxConfig" else model / "thousand.pb").splitlines()
    assert first == "TargetType.Host [1, 1000]"
    expected = expected_for(built, np.ones((1, 3, 224, 224), np.float32))[:10]
    assert [float.fromhex(word) for word in second.split()] == [float(value) for value in expected]


@pytest.mark.slow
@pytest.mark.skipif(not SEED, reason="LATHE_PADDLE_LITE_DOCS names no documentation of Paddle-Lite")
def test_the_programs_of_its_documentation_run_unmodified(built: Path, tmp_path: Path) -> None:
    """They take `args` from the reader, which is put in front of them."""
    page = Path(SEED).read_text(encoding="utf-8")
    found = re.findall(
        r"^from __future__ import print_function\nfrom lite_core import \*\n.*?output_tensor\.float_data.*?\n",
        page,
        re.M | re.S,
    )
    assert len(found) >= 2
    expected = expected_for(built, np.ones((1, 3, 224, 224), np.float32))[:10]
    folder = built / "model" / "host"
    for number, text in enumerate(found):
        program = tmp_path / f"program{number}.py"
        arguments = f"class args: model_dir = {str(folder)!r}; model_file = param_file = ''\n"
        program.write_text(text.replace("from lite_core", arguments + "from lite_core", 1))
        said = run(program)
        assert said.startswith("[1, 1000]")
        values = np.array(eval(said.splitlines()[1]))
        np.testing.assert_array_equal(values.astype(np.float32), expected)


@pytest.mark.slow
def test_tensors_have_the_types_and_shapes_of_the_program(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATHE_LIBRARY", str(built / "lib" / "host" / "libpaddle_light_api_shared.so"))
    config = paddle.MobileConfig()
    config.set_model_from_buffer((built / "model" / "host" / "thousand.whole.pb").read_bytes())
    predictor = paddle.create_paddle_predictor(config)
    assert predictor.get_input_names() == ["image"]
    assert predictor.get_output_names() == ["probabilities"]
    tensor, result = predictor.get_input(0), predictor.get_output_by_name("probabilities")
    assert not tensor.is_initialized()
    assert (tensor.shape(), result.shape(), result.precision()) == (
        [1, 3, 224, 224],
        [1, 1000],
        paddle.PrecisionType.FP32,
    )
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="'image' has no data"):
        predictor.run()
    image = np.random.default_rng(3).integers(0, 3, (1, 3, 224, 224), np.uint8)
    tensor.from_numpy(image)  # converted
    predictor.run()
    np.testing.assert_array_equal(result.numpy()[0], expected_for(built, image.astype(np.float32)))
    logits = predictor.get_tensor("logits").numpy().ravel()
    np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), result.numpy()[0], rtol=1e-5)
    tensor.set_uint8_data(image.ravel())
    assert predictor.try_shrink_memory()
    predictor.run()
    assert result.float_data() == expected_for(built, image.astype(np.float32)).tolist()
    with pytest.raises(lathe_runtime.LatheRuntimeError, match=r"has the shape .* 3 elements came"):
        tensor.set_float_data([1, 2, 3])
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="'probabilities' is no input"):
        result.set_float_data([1])
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="no input 1; the model has 1"):
        predictor.get_input(1)
    tensor.resize([1, 3, 5, 224])
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="fill it after resize"):
        predictor.run()


def test_foreign_models_name_the_conversion(tmp_path: Path) -> None:
    old = tmp_path / "old.nb"
    old.write_bytes(b"\x02\x00v2.12" + bytes(11) + b"\x10" + bytes(7) + b"x" * 50)
    program = tmp_path / "__model__"
    program.write_bytes(b"\x0a\x08\x08\x00\x10\x00\x1a\x02\x0a\x00")
    config = paddle.MobileConfig()
    config.set_model_from_file(str(old))
    with pytest.raises(lathe_runtime.LatheRuntimeError, match=r"opt \(\.nb\)[\s\S]*lathe init MODEL"):
        paddle.create_paddle_predictor(config)
    full = paddle.CxxConfig()
    full.set_model_dir(str(tmp_path))
    with pytest.raises(lathe_runtime.LatheRuntimeError, match=r"__model__: this is a program of Paddle"):
        paddle.create_paddle_predictor(full)
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="names no model"):
        paddle.create_paddle_predictor(paddle.MobileConfig())
    (tmp_path / "a.pb").write_bytes(b"\x08\x01")
    config.set_model_from_file(str(tmp_path / "a.pb"))
    with pytest.raises(lathe_runtime.LatheRuntimeError, match="no library is known: pass --library"):
        paddle.create_paddle_predictor(config)
    assert "python -m lathe_runtime.paddle" in run(code=2)


@pytest.mark.slow
def test_the_app_of_the_example_reads_digits(tmp_path: Path) -> None:
    example = ROOT / "examples" / "paddle-app"
    overrides = buildtool.Overrides(("host",), paddle_compat="1")
    built = buildtool.build(
        example / "deploy.yml", overrides, buildtool.Options(tmp_path / "build", archive=False)
    ).folder
    library = built / "lib" / "host" / "libpaddle_light_api_shared.so"
    pictures = ROOT / "examples" / "digits" / "pictures.npy"
    said = run("--library", library, example / "app.py", built / "model" / "host" / "digits.pb", pictures)
    with buildtool.load(library, model="digits") as model:
        images = np.load(pictures)[:10].astype(np.float32).reshape(-1, 1, 8, 8, 1)
        expected = [model.run({"image": image})["probabilities"][0] for image in images]
    found = [(int(line.split()[0]), float(line.split()[1])) for line in said.splitlines()]
    assert found == [(int(row.argmax()), float(row.max())) for row in expected]
