"""The C of a front end: tables, and a function that makes the input of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from buildtool import resources
from buildtool.targets.micro.definitions.loops import C_TYPES
from buildtool.targets.micro.emitting.rows import rows
from buildtool.targets.micro.frontends.audio import Audio
from buildtool.targets.micro.frontends.image import Picture


def sources(frontend: Audio | Picture, name: str, target: str) -> dict[str, bytes]:
    """By file name. `name`: of the functions' model; `target`: the header that declares its input."""
    kind = "audio" if isinstance(frontend, Audio) else "image"
    folder = resources.native_dir() / "micro" / "frontend"
    found = {f"lathe_{kind}.c": (folder / f"{kind}.c").read_bytes(), f"{kind}.h": (folder / f"{kind}.h").read_bytes()}
    lines = _audio(frontend, name) if isinstance(frontend, Audio) else _image(frontend, name)
    heads = [f'#include "{name}_frontend.h"', "", f'#include "{kind}.h"', f'#include "{target}"', ""]
    about = f"/* The front end of the model {name}. Generated: do not edit. */"
    found[f"{name}_frontend.c"] = "\n".join([about, *heads, *lines, ""]).encode()
    found[f"{name}_frontend.h"] = _header(frontend, name).encode()
    return found


def _header(frontend: Audio | Picture, name: str) -> str:
    guard, word = f"{name.upper()}_FRONTEND_H_", name.upper()
    lines = [f"/* The front end of the model {name}, for applications. Generated: do not edit. */", f"#ifndef {guard}"]
    lines += [f"#define {guard}", "", "#include <stdint.h>", ""]
    if isinstance(frontend, Audio):
        lines += [f"#define {word}_FRAME_SAMPLES {frontend.window}", f"#define {word}_STEP_SAMPLES {frontend.step}"]
        lines += [f"#define {word}_FRAMES {frontend.frames}", f"#define {word}_FRAME_WIDTH {frontend.width}"]
        lines += [f"#define {word}_SAMPLES {frontend.samples}"]
        functions = [
            "/* One frame of samples to one row of features. */",
            f"void {name}_frame(const int16_t* samples, int8_t* row);",
            f"/* {frontend.samples} samples to the whole input of the model. */",
            f"void {name}_listen(const int16_t* samples);",
        ]
    else:
        about = f"{frontend.height} rows of {frontend.width} pixels of {frontend.channels} bytes"
        functions = [f"/* {about} to the input of the model. */", f"void {name}_look(const uint8_t* image);"]
    around = ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""], ["", "#ifdef __cplusplus", "}", "#endif"]
    return "\n".join([*lines, "", *around[0], *functions, *around[1], "", f"#endif /* {guard} */", ""])


def _audio(about: Audio, name: str) -> Iterator[str]:
    first, count, weights = about.bands
    tables: dict[str, NDArray[Any]] = {
        "shape": about.shape,
        "turns": about.turns,
        "reversed_bits": about.reversed,
        "first": first,
    }
    tables |= {"count": count, "weights": weights}
    if about.coefficients:
        tables["cosines"] = about.cosines
    for word, array in tables.items():
        yield from _array(word, array)
    cosines = "cosines" if about.coefficients else "0"
    numbers = f"{about.window}, {about.size}, {about.bins}, {about.coefficients}"
    pointers = f"shape, turns, reversed_bits, first, count, weights, {cosines}"
    rest = f"{about.offset}, INT64_C({about.factor}), {about.zero}"
    yield f"static const lm_audio about = {{{numbers}, {pointers}, {rest}}};"
    yield f"static int32_t work[{2 * about.size + about.bins}];"
    yield ""
    yield f"void {name}_frame(const int16_t* samples, int8_t* row) {{ lm_audio_frame(samples, row, work, &about); }}"
    yield ""
    yield f"void {name}_listen(const int16_t* samples) {{"
    yield f"  for (int i = 0; i < {about.frames}; ++i) {{"
    yield f"    {name}_frame(samples + i * {about.step}, (int8_t*){name}_input + i * {about.width});"
    yield "  }"
    yield "}"


def _image(about: Picture, name: str) -> Iterator[str]:
    tables: dict[str, NDArray[Any]] = {"rows": about.rows, "columns": about.columns, "last": about.last}
    for word, array in {**tables, "table": about.table}.items():
        yield from _array(word, array)
    numbers = f"{about.width}, {about.channels}, {about.out_height}, {about.out_width}"
    yield f"static const lm_picture about = {{{numbers}, rows, columns, last, table}};"
    yield ""
    yield f"void {name}_look(const uint8_t* image) {{ lm_picture_input(image, (int8_t*){name}_input, &about); }}"


def _array(name: str, array: NDArray[Any]) -> Iterator[str]:
    yield f"static const {C_TYPES[array.dtype.name]} {name}[{array.size}] = {{"
    yield from rows(map(str, array.ravel().tolist()))
    yield "};"
