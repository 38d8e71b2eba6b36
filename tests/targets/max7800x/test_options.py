"""What a program may do beside one inference: compiled for both cores, and run on the model of the chips."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ConfigError, LatheError, UnsupportedError, Where
from buildtool.targets.max7800x import settings
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device
from buildtool.targets.max7800x.firmware import addresses, program, regions, sources
from buildtool.targets.max7800x.network import Layer, Network
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.planning import planner
from tests.targets.max7800x import machine
from tests.targets.max7800x.test_sources import (
    classifier,
    compile_all,
    kernel,
    layer,
    made,
    picture,
    run,
    sample,
    sums,
    write,
)

DEVICES = pytest.mark.parametrize("device", [MAX78000, MAX78002], ids=lambda device: device.name)
SNOOP = tuple(range(32))
CHOICES: Mapping[str, dict[str, object]] = {
    "energy": {"energy": True, "softmax": True},
    "energy with the FIFO": {"energy": True},
    "forever": {"forever": True, "boost": (2, 5)},
    "stop_start": {"stop_start": True},
    "one_shot": {"one_shot": True},
    "repeat_layers": {"repeat_layers": 3, "write_zeros": True},
    "clear_unused": {"clear_unused": True},
    "verify": {"verify_writes": True, "verify_kernels": True, "clear_memories": True},
    "verify words": {"verify_writes": True, "verify_kernels": True, "compact_weights": False},
    "most_verified": {"most_verified": 2},
    "waits": {"memory_waits": 2, "fifo_waits": 1, "always_on_waits": 3, "switch_delay": 25, "power_down": True},
    "waits of the FIFO": {"fifo_waits": 1, "slow_load": 5, "fifo_wait": False, "verify_writes": True},
    "fifo_go": {"fifo_go": True},
    "fixed_input": {"fixed_input": True},
    "fixed_input of the FIFO": {"fixed_input": True},
    "input_step of the FIFO": {"input_step": 0x112233, "input_words": 8},
    "max_speed": {"max_speed": True},
    "divided": {"clock_divider": 8},
}
NEWER = ("one_shot", "fifo_go", "max_speed")
ENDLESS = """
#include <stdio.h>
#include <stdlib.h>
static int completed;
void count(void) {
  if (++completed < 6) return;
  printf("%d inferences\\n", completed);
  exit(0);
}
"""


def network_for(choice: str, device: Device) -> Network:
    if choice in ("forever", "repeat_layers"):
        return lasting(device)
    fifo = "FIFO" in choice or choice == "fifo_go"
    return classifier(device, fifo=fifo)


def lasting(device: Device) -> Network:
    """Layers that leave the input as it was: each writes to a memory of its own."""
    rng = np.random.default_rng(5)
    places = [(0xF, 0xF0), (0xF0, 0xF00), (0xF00, 0xF000)]
    layers = tuple(
        layer(
            at, 4, (6, 5), (4, 6, 5), kernel=kernel(rng, 4, 4, 3, 3), output_shift=-4,
            processors=before, output_processors=behind, in_offset=0, out_offset=0,
        )
        for at, (before, behind) in enumerate(places)
    )  # fmt: skip
    return Network("lasting", device, layers, 4, (6, 5))


@pytest.mark.slow
@DEVICES
@pytest.mark.parametrize("choice", CHOICES)
def test_it_passes_on_the_model_and_compiles_without_warnings(choice: str, device: Device, tmp_path: Path) -> None:
    network = network_for(choice, device)
    if device is MAX78000 and choice in NEWER:
        with pytest.raises(ConfigError):
            made(network, **CHOICES[choice])
        return
    folder = write(tmp_path / "arm", sources.emit(made(network, **CHOICES[choice])))
    compile_all("arm", folder)
    if device is MAX78002:
        other = sources.emit(made(network, processor="riscv", **CHOICES[choice]))
        compile_all("riscv", write(tmp_path / "both", other) / "riscv")
    if choice == "forever":
        hooked = (
            (folder / "cnn.h")
            .read_text()
            .replace("#define CNN_COMPLETE\n", "void count(void);\n#define CNN_COMPLETE count()\n")
        )
        (folder / "cnn.h").write_text(hooked)
        (folder / "count.c").write_text(ENDLESS)
        assert "6 inferences" in run(folder, device)
    else:
        assert "*** PASS ***" in run(folder, device)


def test_energy_is_measured_in_four_phases(tmp_path: Path) -> None:
    folder = write(tmp_path, sources.emit(made(classifier(), energy=True)))
    counting = '#include <stdio.h>\n#define CNN_START printf("on\\n")\n#define CNN_COMPLETE printf("off\\n")\n'
    counting += '#define SYS_START printf("idle\\n")\n#define SYS_COMPLETE printf("off\\n")\n'
    header = (folder / "cnn.h").read_text()
    (folder / "cnn.h").write_text(header.replace("#include <stdint.h>\n", f"#include <stdint.h>\n{counting}", 1))
    printed = run(folder, MAX78000)
    assert re.findall(r"^(?:on|off|idle)$", printed, re.MULTILINE) == ["idle", "off", *["on", "off"] * 3]
    assert "100 inferences" in printed and "Time of inference" not in printed
    assert "LED_On(1)" in header
    assert b"MXC_GPIO_PIN_7" in sources.emit(made(classifier(MAX78002), energy=True))["cnn.h"]


def test_one_shot_stops_behind_each_layer(tmp_path: Path) -> None:
    network = lasting(MAX78002)
    found = made(network, one_shot=True, repeat_layers=2)
    printed = run(write(tmp_path, sources.emit(found)), MAX78002)
    assert re.findall(r"^Layer (\d+): 1 us$", printed, re.MULTILINE) == [str(number) for number in range(6)]
    with pytest.raises(ConfigError, match="needs all of its input in data memory"):
        made(classifier(MAX78002, fifo=True), one_shot=True)


def test_a_halted_network_goes_on_where_it_was(tmp_path: Path) -> None:
    """Begun anew it would read what its second layer wrote over the input."""
    network = planner.place(planner.unplaced(classifier()))
    halted = sources.emit(made(network, stop_start=True))
    assert halted["main.c"].index(b"cnn_stop();\n  cnn_continue();") > 0
    spoilt = halted["main.c"].replace(b"  cnn_continue();\n", b"")
    printed = run(write(tmp_path, {**halted, "main.c": spoilt}), MAX78000, success=False)
    assert "never comes" in printed


@DEVICES
def test_layers_are_repeated_with_their_registers(device: Device) -> None:
    network = lasting(device)
    once, thrice = made(network), made(network, repeat_layers=3)
    step = addresses.of(device).register(0, "rows", 3) - addresses.of(device).register(0, "rows", 0)
    repeated = [
        (address + again * step, value)
        for again in range(3)
        for group in once.configuration
        for address, value, _ in group.settings
    ]
    assert list(thrice.register_writes["cnn_configure"]) == repeated
    assert thrice.expected == once.expected


def test_repetitions_that_do_not_fit_or_overwrite_the_input_are_errors() -> None:
    network = lasting(MAX78000)
    with pytest.raises(UnsupportedError, match="3 layers 11 times are 33"):
        made(network, repeat_layers=11)
    last = replace(network.layers[-1], output_processors=0xF)
    spoilt = replace(network, layers=(*network.layers[:-1], last))
    assert regions.spoils_input(program.place(spoilt)) == "2 'layer 2'"
    with pytest.raises(UnsupportedError, match="writes over the input"):
        made(spoilt, repeat_layers=2)
    assert b"load_input(); /* layers write over it */" in sources.emit(made(spoilt, forever=True))["main.c"]
    with pytest.raises(ConfigError, match="with `next_sequence`"):
        linked = replace(network.layers[0], next_layer=1)
        made(replace(network, layers=(linked, *network.layers[1:]), device=MAX78002), repeat_layers=2)


SPOILT = {
    "a register": ("cnn.c", rb"(0x51100[0-9a-f]{3}, 0x)(\d)", "verify_writes", "a register"),
    "a kernel": ("weights.h", rb"(KERNELS \{ \\\n  0x\w+, 0x\w+, 0x)(\w)", "verify_kernels", "a kernel"),
}


@pytest.mark.parametrize("what", ["verify_writes", "verify_kernels"])
@DEVICES
def test_differences_when_reading_back_are_reported_with_their_address(
    what: str, device: Device, tmp_path: Path
) -> None:
    """Between writing and reading something changes: here a macro that writes something else."""
    found = made(classifier(device), **{what: True})
    writes = found.register_writes["cnn_configure"]
    place = writes[3][0] if what == "verify_writes" else found.kernels[1][0]
    files = sources.emit(found)
    bent = f"""
#include "mxc.h"
#undef CNN_WRITE
#define CNN_WRITE(address, value) lathe_chip_write((address), (value) ^ ((address) == 0x{place:08x} ? 1u : 0u))
"""
    files["cnn.h"] = files["cnn.h"].replace(b'#include "mxc.h"\n', bent.encode(), 1)
    printed = run(write(tmp_path, files), device, success=False)
    word = place + 3 * (place % addresses.of(device).kernel_step) + 4 * 0
    told = int(re.findall(r"0x([0-9a-f]{8}) does not hold what was written", printed)[0], 16)
    assert told == place if what == "verify_writes" else word <= told < word + 16
    assert "*** FAIL: a register" in printed or "*** FAIL: a kernel" in printed


@DEVICES
def test_registers_that_nobody_uses_are_cleared(device: Device) -> None:
    found = made(classifier(device), clear_unused=True, write_zeros=True)
    places = addresses.of(device)
    cleared = {start + 4 * at for start, count in found.cleared for at in range(count)}
    used = {address for address, _ in found.register_writes["cnn_configure"]}
    assert not cleared & used
    everything = {
        places.register(quadrant, name, number)
        for quadrant in found.placed.quadrants
        for name in places.registers
        for number in range(device.layers)
        if places.has_register(name, number)
    }
    layers = {address for address in used if address != places.frame_size_register(0)}
    assert cleared | layers >= everything - {
        places.register(quadrant, "rollover", number) for quadrant in found.placed.quadrants for number in range(3)
    }


def test_as_many_words_are_compared_as_are_wanted() -> None:
    network = picture()
    everything = [word for block in made(network).expected for word in block.words]
    some = [word for block in made(network, most_verified=20).expected for word in block.words]
    assert some == everything[:20]


@pytest.mark.parametrize(
    "network", [classifier(), picture(), sums(), classifier(fifo=True)], ids=lambda network: network.name
)
def test_a_fixed_input_is_what_the_simulator_computes(network: Network, tmp_path: Path) -> None:
    found = made(network, fixed_input=True)
    for block in found.inputs:
        for at, word in enumerate(block.words):
            fixed = (0x55555555, 0xAAAAAAAA)[at % 2]
            assert all((word >> 8 * lane & 0xFF) in (0, fixed & 0xFF) for lane in range(4))
    assert found.sample.shape == sample(network).shape and not (found.sample == 0).any()
    files = sources.emit(found)
    assert b"SAMPLE_INPUT" not in files["sampledata.h"] + files["main.c"]
    assert "*** PASS ***" in run(write(tmp_path, files), MAX78000)


@pytest.mark.parametrize("words", [1, 7, 8, 1000])
def test_a_synthesised_input_needs_few_words(words: int, tmp_path: Path) -> None:
    network = classifier(fifo=True)
    found = made(network, input_step=0xF0F1F2, input_words=words)
    files = sources.emit(found)
    stored = re.findall(rb"0x[0-9a-f]{8}", files["sampledata.h"])
    assert len(stored) == min(words, 64)
    assert found.sample.reshape(3, -1)[:, :words].tolist() == sample(network).reshape(3, -1)[:, :words].tolist()
    first = int(stored[0], 16)
    if words < 64:
        assert found.inputs[0].words[words] == first + 0xF0F1F2 & 0xFFFFFF
    assert "*** PASS ***" in run(write(tmp_path, files), MAX78000)


def test_the_pll_loads_at_a_quarter_unless_speed_is_wanted() -> None:
    network = classifier(MAX78002)
    balanced, fast = (sources.emit(made(network, max_speed=wanted))["main.c"].decode() for wanted in (False, True))
    assert re.findall(r"cnn_enable\(.*DIV(\d+)\)", balanced + fast) == ["4", "1"]
    assert re.findall(r"cnn_clock\(.*DIV(\d+)\)", balanced + fast) == ["1", "4"]
    assert balanced.index("  load_input();\n  run();") > 0 and "clock_of" not in fast
    assert b"MXC_Delay(MSEC(10))" in sources.emit(made(network))["cnn.c"]
    assert b"MXC_Delay" not in sources.emit(made(network, switch_delay=0))["cnn.c"]


def test_programs_wait_for_a_debugger_unless_told_not_to() -> None:
    main = sources.emit(made(classifier()))["main.c"].decode()
    assert main.index("MXC_Delay(SEC(2));") < main.index("cnn_enable(")
    assert b"SEC(5)" in sources.emit(made(classifier(), debug_wait=5))["main.c"]
    assert b"MXC_Delay" not in sources.emit(made(classifier(), debug_wait=0))["main.c"]
    riscv = sources.emit(made(classifier(), processor="riscv"))
    assert b"MXC_Delay(SEC(2));" in riscv["main.c"] and b"MXC_Delay" not in riscv["riscv/main.c"]


@pytest.mark.parametrize(("pipeline", "waits"), [(True, 0), (False, 3)])
def test_a_running_pipeline_has_no_wait_states(pipeline: bool, waits: int) -> None:
    writes = made(classifier(MAX78002), memory_waits=3, pipeline=pipeline).register_writes
    assert {value >> 1 & 3 for address, value in writes["cnn_start"] if address & 0xFFFFFF == 0} == {waits}
    assert {value >> 1 & 3 for address, value in writes["cnn_init"] if address & 0xFFFFFF == 0 and value} == {3}


def test_the_riscv_core_with_and_without_flash_and_cache(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", sources.emit(made(classifier(), processor="riscv")))
    chosen = Options(processor="riscv", riscv_flash=False, riscv_cache=False, riscv_debug=True, riscv_exclusive=True)
    other = write(tmp_path / "other", sources.emit(program.make(classifier(), sample(classifier()), chosen)))
    for folder, where in ((plain, "r"), (other, "d")):
        compile_all("arm", folder)
        compile_all("riscv", folder / "riscv")
        names: list[str | Path] = ["riscv64-unknown-elf-nm", folder / "riscv/cnn.o", folder / "riscv/main.o"]
        symbols = subprocess.run(names, capture_output=True, text=True, check=True).stdout
        assert {
            letter.lower() for letter in re.findall(r" (\w) (?:kernels|input_\d+|bias_\d)$", symbols, re.MULTILINE)
        } == {where}
    switched = (other / "riscv/main.c").read_text()
    assert "Debug_Init();" in switched and "MXC_ICC_Enable" not in switched
    assert "urvctrl |= 1" in (other / "main.c").read_text()
    assert "MXC_ICC_Enable" in (plain / "riscv/main.c").read_text()


def test_snooping_is_compared_with_the_description(tmp_path: Path) -> None:
    """The model does not snoop: what is compared is only compiled."""
    network = replace(classifier(MAX78002), snoop=SNOOP)
    found = made(network, verify_snoop=True)
    places = addresses.of(MAX78002)
    assert places.snoop is not None
    base = places.snoop + found.placed.quadrants[-1] * places.quadrant
    compared = [(block.address, block.words[0]) for block in found.counted]
    assert compared == [
        (base + 4 * at, value) for at, value in zip((8, 9, 10, 11, 20, 21, 22, 23), SNOOP[24:], strict=True)
    ]
    compile_all("arm", write(tmp_path, sources.emit(found)))
    with pytest.raises(ConfigError, match="nothing snoops"):
        made(classifier(MAX78002), verify_snoop=True)


WRONG: Mapping[str, tuple[dict[str, object], str]] = {
    "two loops": ({"energy": True, "forever": True}, "exclude each other"),
    "no FIFO": ({"slow_load": 1}, "requires the FIFO"),
    "no FIFO to synthesise for": ({"input_step": 1}, "requires the FIFO"),
    "two inputs": ({"input_step": 1, "fixed_input": True}, "fixed, and synthesised"),
    "nothing compared": ({"most_verified": 0}, "no word of the output"),
    "never": ({"repeat_layers": 0}, "is below 1"),
    "no words": ({"input_step": 1, "input_words": 0}, "of no words"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_options_that_cannot_be(wrong: str) -> None:
    given, words = WRONG[wrong]
    with pytest.raises(LatheError, match=words):
        made(classifier(fifo=wrong in ("two inputs", "no words")), **given)


def test_reading_ahead_in_all_layers_changes_no_result(tmp_path: Path) -> None:
    network = settings.with_hints(classifier(MAX78002), ("readahead",))
    found = made(network)
    ahead = [value >> 17 & 1 for group in found.configuration for _, value, name in group.settings if name == "control"]
    assert ahead and all(ahead)
    assert "*** PASS ***" in run(write(tmp_path, sources.emit(found)), MAX78002)
    with pytest.raises(UnsupportedError, match="the MAX78000 has no 'readahead'"):
        made(settings.with_hints(classifier(), ("readahead",)))


def dense(channels: tuple[int, ...], bits: int, size: int = 3, hint: str = "calcx4") -> Network:
    """Convolutions one behind the other, with hints for all of them."""
    rng = np.random.default_rng(7)
    side = (6, 5)
    layers = tuple(
        layer(
            at, before, side, (behind, *side), output_shift=-5,
            kernel=kernel(rng, behind, before, size, size, bits=bits, pad=(size // 2, size // 2)),
        )
        for at, (before, behind) in enumerate(itertools.pairwise(channels))
    )  # fmt: skip
    placed = planner.place(Network("dense", MAX78002, layers, channels[0], side))
    return settings.with_hints(placed, (hint,))


@pytest.mark.parametrize(
    ("channels", "bits"), [((3, 8, 12, 16), 8), ((12, 72, 52, 8), 8), ((3, 8, 132), 8), ((100, 32, 8), 4)]
)
def test_four_outputs_at_a_time_are_the_same_outputs(channels: tuple[int, ...], bits: int) -> None:
    wrong, outcome = machine.differences(made(dense(channels, bits)))
    assert not wrong and not outcome.complaints


def test_several_passes_are_read_ahead_together() -> None:
    found = made(dense((130, 300, 8), 4, hint="readahead"))
    passes = {value >> 31 for group in found.configuration for _, value, name in group.settings if name == "post"}
    assert passes == {1}
    wrong, outcome = machine.differences(found)
    assert not wrong and not outcome.complaints


@pytest.mark.parametrize(("bits", "size"), [(2, 3), (8, 1)], ids=["half a byte in a part", "kernels of 1x1"])
def test_four_outputs_of_kernels_whose_place_nobody_knows_are_told(bits: int, size: int) -> None:
    _, outcome = machine.differences(made(dense((16, 8), bits, size)))
    assert "calcx4 is modelled for kernels of 3x3" in outcome.complaints[0]


def test_settings_are_named_as_the_switches() -> None:
    words = {
        "one_shot": 1, "zero_unused": 1, "repeat_layers": 2, "max_verify_length": 5, "debug_snoop": 1, "ready_sel": 1,
        "ready_sel_fifo": 2, "ready_sel_aon": 3, "no_fifo_wait": 1, "synthesize_input": 9, "synthesize_words": 4,
        "riscv_cache": 0, "riscv_debug": 1, "calcx4": 1, "read_ahead": 1, "slow_load": 6, "switch_delay": 7,
    }  # fmt: skip
    found = settings.of(words, Where())
    chosen = found.program
    assert chosen.one_shot and chosen.clear_unused and chosen.verify_snoop and chosen.processor == "riscv"
    assert (chosen.repeat_layers, chosen.most_verified, chosen.input_step, chosen.input_words) == (2, 5, 9, 4)
    assert (chosen.memory_waits, chosen.fifo_waits, chosen.always_on_waits) == (1, 2, 3)
    assert not chosen.fifo_wait and not chosen.riscv_cache and chosen.riscv_flash
    assert (chosen.slow_load, chosen.switch_delay) == (6, 7)
    assert settings.of({"riscv_flash": 1}, Where()).program.processor == "riscv"
    assert [settings.of(each, Where()).program.unload for each in ({}, {"unload": 0}, {"no_unload": 1})] == [1, 0, 0]
    assert [settings.of(each, Where()).program.debug_wait for each in ({}, {"debugwait": 0})] == [2, 0]
    network = settings.with_hints(classifier(MAX78002), found.hints)
    assert [dict(one.hints) for one in network.layers] == [{"calcx4": True, "readahead": True}] * 3
    bare = replace(network, layers=(Layer(**{**vars(network.layers[0]), "kernel": None, "hints": {}}),))
    assert dict(settings.with_hints(bare, found.hints).layers[0].hints) == {"readahead": True}
