"""Mistakes with keys of images, sound, chips and browsers, each with what its message has to say."""

from __future__ import annotations

from tests.cli.beginners_files import both
from tests.cli.beginners_mistakes import Change, Mistake, text

_END = "    data_type: fp32_fp32\n"
_ALL = "[host, aarch64-linux-gnu, arm-linux-gnueabihf]"


def more(*lines: str) -> Change:
    """Lines at the end of the model."""
    return text(_END, _END + "".join(f"    {line}\n" for line in lines))


def on(abi: str, *lines: str) -> Change:
    """The model for another target, with more lines."""
    return both(text(_ALL, f"[{abi}]"), more(*lines))


def images(*lines: str) -> Change:
    return more("preprocess:", *(f"  {line}" for line in lines))


def sound(*words: str) -> Change:
    kept = {"kind": "mfcc", "rate": "16000", "window": "480", "step": "320", "bins": "40", "low": "20", "high": "4000"}
    given = {**kept, "coefficients": "10", **dict(word.split("=") for word in words)}
    inner = ", ".join(f"{key}: {value}" for key, value in given.items())
    return on("cortex-m4", "micro:", f"  frontend: {{{inner}}}")


KEYS = (
    Mistake(
        "a misspelt pixel format",
        images("source: nv12x"),
        "'source' cannot be 'nv12x'",
        "deploy.yml:23:15",
        "allowed: rgb, bgr",
        "did you mean 'nv12'",
    ),
    Mistake(
        "an image turned by 45 degrees",
        images("source: nv21", "rotation: 45"),
        "'rotation' cannot be '45'",
        "deploy.yml:24:17",
        "allowed: 0, 90, 180 or 270",
        "",
    ),
    Mistake(
        "two means for one channel",
        images("source: gray", "mean: [1, 2]"),
        "'mean' holds 2 numbers for 1 channel",
        "deploy.yml:24:13",
        "",
        "give one, or one for each channel",
    ),
    Mistake(
        "a scale of 0",
        images("source: gray", "scale: 0"),
        "'scale' is 0",
        "deploy.yml:24:14",
        "every image would be the same",
        "",
    ),
    Mistake(
        "a misspelt key of images",
        images("source: gray", "rotate: 90"),
        "unknown key 'rotate'",
        "deploy.yml:24:7",
        "",
        "did you mean 'rotation'",
    ),
    Mistake(
        "images without their format",
        images("fit: letterbox"),
        "lacks the key 'source'",
        "deploy.yml:23:7",
        "",
        "write the format of the images",
    ),
    Mistake(
        "images in a browser",
        both(text(_ALL, "[wasm32]"), images("source: gray")),
        "image functions are not built for wasm32",
        "deploy.yml:23:7",
        "WebAssembly and macOS do not",
        "give `preprocess` a `frame`",
    ),
    Mistake(
        "image functions in a browser",
        both(text(_ALL, "[host, wasm32]"), text("model_graph", "vision: [resize]\nmodel_graph")),
        "image functions are not built for wasm32",
        "deploy.yml:4:",
        "WebAssembly and macOS do not",
        "leave wasm32 out of `target_abis`",
    ),
    Mistake(
        "images on a microcontroller",
        both(text(_ALL, "[cortex-m4]"), images("source: gray")),
        "'preprocess' is for libraries",
        "deploy.yml:23:7",
        "cortex-m4 gets firmware",
        "remove it",
    ),
    Mistake(
        "a misspelt image function",
        text("model_graph", "vision: [resise]\nmodel_graph"),
        "'vision' cannot be 'resise'",
        "deploy.yml:4:10",
        "allowed: all, convert, resize",
        "did you mean 'resize'",
    ),
    Mistake(
        "a DSP in a browser",
        both(text(_ALL, "[wasm32]"), text("runtime: cpu", "runtime: dsp")),
        "no target runs 'dsp' on 'wasm32'",
        "deploy.yml:3:14",
        "runtime cpu is for wasm32",
        "change `runtime` or `target_abis`",
    ),
    Mistake(
        "a GPU on a microcontroller",
        both(text(_ALL, "[cortex-m4]"), text("runtime: cpu", "runtime: gpu")),
        "no target runs 'gpu' on 'cortex-m4'",
        "deploy.yml:3:14",
        "runtime cpu is for cortex-m4",
        "change `runtime` or `target_abis`",
    ),
    Mistake(
        "a misspelt power of the DSP",
        text("model_graph", "hexagon_power: turbo_plus\nmodel_graph"),
        "'hexagon_power' cannot be 'turbo_plus'",
        "deploy.yml:4:16",
        "allowed: default, release",
        "did you mean 'turbo'",
    ),
    Mistake(
        "a key of the file in a model",
        more("hexagon_power: burst"),
        "unknown key 'hexagon_power'",
        "deploy.yml:22:5",
        "",
        "belongs to the top level of the file",
    ),
    Mistake(
        "a browser and a microcontroller",
        text(_ALL, "[wasm32, cortex-m4]"),
        "the library mixes kinds of targets",
        "deploy.yml:3:14",
        "wasm32 and cortex-m4 are built in different ways",
        "write one deployment file per kind",
    ),
    Mistake(
        "too little memory on a microcontroller",
        on("cortex-m4", "micro:", "  arena_limit: 64"),
        "more than 64",
        "model 'digits'",
        "the stack is not part of it",
        "the smallest possible limit is 2576",
    ),
    Mistake(
        "a memory in words",
        on("cortex-m4", "micro:", "  arena_limit: 16 KB"),
        "'arena_limit' cannot be '16 KB'",
        "deploy.yml:23:20",
        "allowed: an integer",
        "",
    ),
    Mistake(
        "a misspelt kind of sound",
        sound("kind=mffc"),
        "'kind' cannot be 'mffc'",
        "deploy.yml:23:24",
        "allowed: log_mel, mfcc or image",
        "did you mean 'mfcc'",
    ),
    Mistake(
        "sound for a model of real numbers",
        sound(),
        "the front end 'mfcc' makes int8",
        "model 'digits'",
        "'image' is float32",
        "quantise the inputs of the model",
    ),
)
