"""The settings of a deployment in the words of the parts that they are for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, Where
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.network import Layer, Network
from buildtool.targets.max7800x.options import Options
from buildtool.targets.protocol import DescribedModel


@dataclass(frozen=True)
class Settings:
    """What a user says of a model."""

    program: Options
    description: description.Options
    bias: Path | None = None
    hints: tuple[str, ...] = ()  # of every layer


def of(words: Mapping[str, Any], where: Where) -> Settings:
    """The settings that the section `cnn` of a model holds. ConfigError where they contradict each other."""

    def on(word: str, default: bool = False) -> bool:
        return bool(words.get(word, default))

    fast = on("fast_fifo")
    riscv = any(on(word) for word in ("riscv", "riscv_flash", "riscv_cache", "riscv_debug", "riscv_exclusive"))
    if fast and not riscv:
        raise ConfigError("`fast_fifo` needs `riscv`", where=where, rule="only that core can feed the fast FIFO")
    program = Options(
        processor="riscv" if riscv else "arm",
        compact_weights=on("compact_weights", True),
        softmax=on("softmax"),
        known_answer=not on("no_kat"),
        unload=on("unload", True) and not on("no_unload"),
        debug_wait=words.get("debugwait", 2),
        timer=None if on("no_timer") else words.get("timer", 0),
        boost=_boost(words.get("boost"), where),
        power_down=on("powerdown"),
        deep_sleep=on("deepsleep"),
        sleep=not on("no_wfi"),
        pll=None if "pll" not in words else on("pll"),
        pipeline=None if "pipeline" not in words else on("pipeline"),
        clock_divider=words.get("clock_divider"),
        write_zeros=on("write_zero_registers"),
        clear_memories=on("zero_sram"),
        clear_tram=on("init_tram"),
        overlap_data=on("overlap_data"),
        single_bit_xor=on("simple1b"),
        memory_images=on("memory_images"),
        stream_start=words.get("override_start"),
        stream_delta1=words.get("override_delta1"),
        stream_delta2=words.get("override_delta2"),
        stream_rollover=words.get("override_rollover"),
        **_measuring(words),
        **_loading(words),
    )
    reading = description.Options(
        fifo=on("fifo") or fast,
        fast_fifo=fast,
        average_rounds=on("avg_pool_rounding"),
        drops_channels=on("reshape_inputs"),
        streams_freely=on("allow_streaming"),
        start_layer=words.get("start_layer", 0),
        no_bias=_layers(words.get("no_bias", ()), where),
        skipped_layers=words.get("skip_yaml_layers", 0),
        stop_after=words.get("stop_after"),
        skipped_weights=words.get("skip_checkpoint_layers", 0),
        streaming_layers=tuple(words.get("streaming_layers", ())),
        ignore_streaming=on("ignore_streaming"),
        ignore_activation=on("ignore_activation"),
        input_offset=words.get("input_offset"),
        output_width=words.get("output_width"),
    )
    hints = tuple(hint for hint, word in (("calcx4", "calcx4"), ("readahead", "read_ahead")) if on(word))
    return Settings(program, reading, words.get("bias_input"), hints)


def _measuring(words: Mapping[str, Any]) -> dict[str, Any]:
    """What is done beside one inference, and how registers are written."""
    flags = {
        "clear_unused": "zero_unused",
        "one_shot": "one_shot",
        "energy": "energy",
        "forever": "forever",
        "stop_start": "stop_start",
        "verify_writes": "verify_writes",
        "verify_kernels": "verify_kernels",
        "verify_snoop": "debug_snoop",
    }
    return {
        **{option: bool(words.get(word, False)) for option, word in flags.items()},
        "repeat_layers": words.get("repeat_layers", 1),
        "most_verified": words.get("max_verify_length"),
    }


def _loading(words: Mapping[str, Any]) -> dict[str, Any]:
    """Clocks and memories, and how the input comes."""
    flags = {
        "max_speed": ("max_speed", False),
        "fixed_input": ("fixed_input", False),
        "fifo_go": ("fifo_go", False),
        "riscv_flash": ("riscv_flash", True),
        "riscv_cache": ("riscv_cache", True),
        "riscv_debug": ("riscv_debug", False),
        "riscv_exclusive": ("riscv_exclusive", False),
    }
    return {
        **{option: bool(words.get(word, default)) for option, (word, default) in flags.items()},
        "switch_delay": words.get("switch_delay"),
        "memory_waits": words.get("ready_sel", 0),
        "fifo_waits": words.get("ready_sel_fifo", 0),
        "always_on_waits": words.get("ready_sel_aon", 0),
        "fifo_wait": not words.get("no_fifo_wait", False),
        "slow_load": words.get("slow_load", 0),
        "input_step": words.get("synthesize_input"),
        "input_words": words.get("synthesize_words", 8),
    }


def _layers(words: Sequence[str], where: Where) -> tuple[int, ...] | None:
    """The numbers of layers; None stands for all."""
    if "all" in words:
        return None
    wrong = [word for word in words if not (word.isascii() and word.isdecimal() and len(word) < 6)]
    if wrong:
        raise ConfigError(f"`no_bias` cannot be '{wrong[0]}'", where=where, rule="numbers of layers, or all")
    return tuple(int(word) for word in words)


def _boost(word: str | None, where: Where) -> tuple[int, int] | None:
    if word is None:
        return None
    found = re.fullmatch(r"([0-3])\.([0-9]|[12][0-9]|3[01])", word)
    if not found:
        raise ConfigError(
            f"`boost` cannot be '{word}'", where=where, rule="a port from 0 to 3 and a pin from 0 to 31, such as 2.5"
        )
    return int(found.group(1)), int(found.group(2))


def with_hints(network: Network, hints: Sequence[str]) -> Network:
    """The network with hints for all layers. Layers without kernels have none to take four of."""

    def hinted(layer: Layer) -> Layer:
        given = {hint: True for hint in hints if hint != "calcx4" or layer.kernel is not None}
        return replace(layer, hints={**layer.hints, **given})

    return replace(network, layers=tuple(hinted(layer) for layer in network.layers)) if hints else network


def described(model: DescribedModel, chosen: Settings, device: Device) -> description.Described:
    """What the description of a model says, with its weights and its sample where it has them."""
    found = description.read(
        model.file,
        device=device,
        weights=model.weights,
        bias=chosen.bias,
        sample=model.inputs[0] if model.inputs else None,
        options=chosen.description,
    )
    return replace(found, network=with_hints(found.network, chosen.hints))
