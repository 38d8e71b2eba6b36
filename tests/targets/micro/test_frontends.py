"""Front ends: the C computes what its twin in NumPy computes, and the twin what the formulas say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from buildtool.ir.operator import Array
from buildtool.targets.micro.frontends import Audio, Picture, sources
from tests.targets.micro import boards

_FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-std=gnu99", "-O1", "-I.")
_SOUNDS = {
    "log mel": Audio(16000, 480, 320, 40, 20, 4000, 9, scale=0.1, zero=83),
    "mfcc": Audio(16000, 480, 320, 40, 20, 4000, 9, 10, scale=0.6, zero=83),
    "decibels": Audio(8000, 256, 100, 13, 0, 4000, 5, logarithm="db", scale=0.5, zero=127),
    "a long window": Audio(44100, 1024, 512, 64, 40, 20000, 3, 64, "log10", 0.05, -5),
    "a short window": Audio(8000, 9, 4, 2, 0, 4000, 4, scale=0.2, zero=100),
}
_PICTURES = {
    "smaller": Picture(37, 23, 3, 16, 12, mean=(127.5,), deviation=(127.5,), scale=1 / 128),
    "larger": Picture(7, 5, 1, 20, 31, scale=1.0, zero=-128),
    "a part": Picture(
        40, 30, 3, 9, 11, (3, 5, 30, 20), mean=(120.0, 115.5, 99.0), deviation=(58.0, 57.0, 57.5), scale=0.02
    ),
    "nearest": Picture(17, 13, 2, 5, 29, (1, 0, 16, 13), "nearest", zero=-128),
    "a point": Picture(3, 3, 1, 1, 1, (2, 2, 1, 1), zero=-128),
}


def _sound(about: Audio, seed: int) -> Array:
    """Noise, a tone, silence, and the loudest samples there are."""
    random = np.random.default_rng(seed)
    found = random.normal(0, 3000, about.samples)
    quarter = about.samples // 4
    found[quarter : 2 * quarter] = 12000 * np.sin(np.arange(quarter) * 0.3)
    found[2 * quarter : 3 * quarter] = 0
    found[3 * quarter :] = np.where(random.random(about.samples - 3 * quarter) < 0.5, -32768, 32767)
    return np.clip(found, -32768, 32767).astype(np.int16)


def _picture(about: Picture, seed: int) -> Array:
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (about.height, about.width, about.channels)).astype(np.uint8)


def _files(about: Audio | Picture) -> dict[str, bytes]:
    """With a harness for emulated boards, and for this machine."""
    size = (
        about.frames * about.width
        if isinstance(about, Audio)
        else about.table.shape[0] * about.out_width * about.out_height
    )
    kind, call = ("int16_t", "m_listen") if isinstance(about, Audio) else ("uint8_t", "m_look")
    given = about.samples if isinstance(about, Audio) else about.width * about.height * about.channels
    found = sources(about, "m", "m.h")
    found["m.h"] = f"#include <stdint.h>\nstatic int8_t made[{size}];\nstatic int8_t* const m_input = made;\n".encode()
    found["m_frontend.c"] += b"int8_t* const result = made;\n"
    found["harness.c"] = (
        f'#include "harness.h"\n#include "m_frontend.h"\nextern int8_t* const result;\nstatic {kind} given[{given}];\n'
        "static lm_harness_border in[1], out[1];\nconst int lm_harness_inputs = 1, lm_harness_outputs = 1;\n"
        "const lm_harness_border *const lm_harness_input = in, *const lm_harness_output = out;\n"
        "void lm_harness_prepare(void) {\n  in[0].data = given;\n  in[0].size = sizeof given;\n"
        f"  out[0].data = result;\n  out[0].size = {size};\n}}\nvoid lm_harness_invoke(void) {{ {call}(given); }}\n"
    ).encode()
    return found


def _twin(about: Audio | Picture, seed: int) -> tuple[Array, Array]:
    if isinstance(about, Audio):
        return (given := _sound(about, seed)), about.features(given)
    return (picture := _picture(about, seed)), about.features(picture)


@pytest.mark.parametrize("name", [*_SOUNDS, *_PICTURES])
def test_the_twin_is_equal_to_the_bit(name: str, tmp_path: Path) -> None:
    about = _SOUNDS.get(name) or _PICTURES[name]
    for file, data in _files(about).items():
        (tmp_path / file).write_bytes(data)
    units = [path.name for path in tmp_path.glob("*.c")]
    main = str(Path(__file__).with_name("host_main.c"))
    include = f"-I{boards.EMULATOR}"
    warnings = [each for each in boards.WARNINGS if "missing" not in each and "redundant" not in each]
    subprocess.run(["gcc", *warnings, *_FLAGS, include, *units, main, "-o", "host"], cwd=tmp_path, check=True)
    for seed in range(4):
        given, expected = _twin(about, seed)
        done = subprocess.run(["./host"], cwd=tmp_path, input=given.tobytes(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout == expected.tobytes()
        assert expected.size == 1 or np.ptp(expected.astype(int)) > 10


@pytest.mark.arm
@pytest.mark.parametrize("abi", ["cortex-m0", "cortex-m4", "cortex-m55", "rv32imac", "rv64gc"])
@pytest.mark.parametrize("name", ["mfcc", "a part"])
def test_boards_compute_the_same_bits(name: str, abi: str, tmp_path: Path) -> None:
    about = _SOUNDS.get(name) or _PICTURES[name]
    given, expected = _twin(about, 5)
    made, _ = boards.execute(_files(about), abi, tmp_path, {"input.bin": given.tobytes()}, strict=False)
    assert made[4:] == expected.tobytes()


@pytest.mark.parametrize("name", _SOUNDS)
def test_features_are_those_of_the_formulas(name: str) -> None:
    """In double precision: a step away at most where there is some energy."""
    about = _SOUNDS[name]
    samples = np.random.default_rng(7).normal(0, 4000, about.samples).clip(-32768, 32767).astype(np.int16)
    rows = samples[np.arange(about.frames)[:, None] * about.step + np.arange(about.window)] / 32768
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(about.window) / about.window)
    power = np.abs(np.fft.rfft(rows * window, about.size)) ** 2
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (about.low, about.high))
    edges = 700 * (10 ** (np.linspace(low, high, about.bins + 2) / 2595) - 1)
    at = np.arange(about.size // 2 + 1) * about.rate / about.size
    bands = np.stack([np.interp(at, edges[k : k + 3], [0, 1, 0]) for k in range(about.bins)])
    real = np.log(power @ bands.T) * {"ln": 1, "log10": np.log10(np.e), "db": 10 * np.log10(np.e)}[about.logarithm]
    if about.coefficients:
        k = np.arange(about.coefficients)[:, None]
        turn = np.sqrt(2 / about.bins) * np.cos(np.pi * k * (2 * np.arange(about.bins) + 1) / (2 * about.bins))
        turn[0] /= np.sqrt(2)
        real = real @ turn.T
    expected = np.clip(np.rint(real / about.scale) + about.zero, -128, 127)
    assert np.abs(about.features(samples) - expected).max() <= 1


def test_images_are_those_of_the_formulas() -> None:
    about = _PICTURES["a part"]
    image = _picture(about, 8)
    left, top, width, height = about.part
    part = image[top : top + height, left : left + width].astype(np.float64)

    def along(x: Array, axis: int, made: int) -> Array:
        size = x.shape[axis]
        at = np.clip((np.arange(made) + 0.5) * size / made - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        weight = (at - low).reshape([-1 if each == axis else 1 for each in range(3)])
        return np.take(x, low, axis) * (1 - weight) + np.take(x, np.minimum(low + 1, size - 1), axis) * weight

    resized = along(along(part, 1, about.out_width), 0, about.out_height)
    expected = (resized - about.mean) / about.deviation / about.scale + about.zero
    step = 1.5 / min(about.deviation) / about.scale  # of a byte, and half of it for rounding
    assert np.abs(about.features(image) - np.clip(expected, -128, 127)).max() <= step


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"window": 2000}, "a frame has 8 to 1024 samples"),
        ({"step": 0}, "are positive"),
        ({"high": 9000}, "they fit 0 to 8000"),
        ({"coefficients": 50}, "there are at most as many"),
        ({"logarithm": "log3"}, "it is one of ln"),
        ({"scale": 1e-6}, "too small"),
        ({"bins": 400}, "has no frequency"),
    ],
)
def test_sounds_that_cannot_be(change: dict[str, object], words: str) -> None:
    usual: dict[str, object] = {
        "rate": 16000,
        "window": 480,
        "step": 320,
        "bins": 40,
        "low": 20,
        "high": 4000,
        "frames": 9,
    }
    with pytest.raises(ValueError, match=words):
        Audio(**{**usual, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"crop": (0, 0, 11, 8)}, "is not within the image"),
        ({"crop": (1, 2)}, "four numbers"),
        ({"resize": "cubic"}, "bilinear, nearest"),
        ({"mean": (1.0, 2.0)}, "2 numbers for 3 channels"),
        ({"deviation": (0.0,)}, "are positive"),
        ({"width": 0}, "1 to 65535"),
    ],
)
def test_images_that_cannot_be(change: dict[str, object], words: str) -> None:
    usual: dict[str, object] = {"width": 10, "height": 8, "channels": 3, "out_width": 4, "out_height": 4}
    with pytest.raises(ValueError, match=words):
        Picture(**{**usual, **change})  # type: ignore[arg-type]
