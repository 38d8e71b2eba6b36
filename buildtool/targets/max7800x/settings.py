"""The settings of a deployment in the words of the parts that they are for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtool.errors import ConfigError, Where
from buildtool.targets.max7800x import description
from buildtool.targets.max7800x.devices import Device
from buildtool.targets.max7800x.options import Options
from buildtool.targets.protocol import DescribedModel


@dataclass(frozen=True)
class Settings:
    """What a user says of a model."""

    program: Options
    description: description.Options
    bias: Path | None = None


def of(words: Mapping[str, Any], where: Where) -> Settings:
    """The settings that the section `cnn` of a model holds. ConfigError where they contradict each other."""

    def on(word: str, default: bool = False) -> bool:
        return bool(words.get(word, default))

    fast = on("fast_fifo")
    if fast and not on("riscv"):
        raise ConfigError("`fast_fifo` needs `riscv`", where=where, rule="only that core can feed the fast FIFO")
    program = Options(
        processor="riscv" if on("riscv") else "arm",
        compact_weights=on("compact_weights", True),
        softmax=on("softmax"),
        known_answer=not on("no_kat"),
        unload=not on("no_unload"),
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
    return Settings(program, reading, words.get("bias_input"))


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


def described(model: DescribedModel, chosen: Settings, device: Device) -> description.Described:
    """What the description of a model says, with its weights and its sample where it has them."""
    return description.read(
        model.file,
        device=device,
        weights=model.weights,
        bias=chosen.bias,
        sample=model.inputs[0] if model.inputs else None,
        options=chosen.description,
    )
