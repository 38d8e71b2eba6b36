"""The C sources of a program: the network as functions, its weights, a sample and what comes out of it, and a project.

Programs are C99 and use of the manufacturer's SDK these names, no others:

- mxc.h: MXC_ICC_Enable, MXC_ICC0, MXC_ICC1; MXC_SYS_Clock_Select, MXC_SYS_CLOCK_IPO, SystemCoreClockUpdate;
  MXC_SYS_ClockEnable, MXC_SYS_ClockDisable, MXC_SYS_PERIPH_CLOCK_CNN, _SMPHR, _CPU1; MXC_GCR->pclkdiv, ->ipll_ctrl with
  MXC_F_GCR_PCLKDIV_CNNCLKDIV, _CNNCLKSEL, MXC_S_GCR_PCLKDIV_CNNCLKSEL_PCLK, _IPLL, MXC_S_GCR_PCLKDIV_CNNCLKDIV_DIV1 to
  _DIV16, MXC_F_GCR_IPLL_CTRL_EN, _RDY; MXC_NVIC_SetVector, CNN_IRQn, RISCV_IRQn; MXC_LP_EnterSleepMode,
  MXC_LP_EnterLowPowerMode, MXC_PWRSEQ->lppwen, MXC_F_PWRSEQ_LPPWEN_CPU1; __disable_irq, __enable_irq; MXC_TMR0 to 3,
  MXC_TMR_SW_Start, MXC_TMR_SW_Stop; mxc_gpio_regs_t, mxc_gpio_cfg_t (port, mask, pad, func), MXC_GPIO_PAD_NONE,
  MXC_GPIO_FUNC_OUT, MXC_GPIO_Config, MXC_GPIO_OutSet, MXC_GPIO_OutClr, MXC_GPIO0 to 3, MXC_GPIO_PIN_0 to 31;
  MXC_Delay, SEC, MSEC; on the RISC-V core NVIC_EnableIRQ, NVIC_EnableEVENT, NVIC_ClearPendingIRQ,
  NVIC_ClearPendingEVENT, Debug_Init.
- led.h: LED_On, LED_Off.
- gcfr_regs.h: MXC_GCFR->reg0 to reg3. fcr_regs.h: MXC_FCR->urvbootaddr, ->urvctrl. sema_regs.h: MXC_SEMA->irq0,
  MXC_F_SEMA_IRQ0_EN, MXC_F_SEMA_IRQ0_CM4_IRQ.

The accelerator itself is reached through CNN_WRITE, CNN_WRITE_BYTE and CNN_READ alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from buildtool import version
from buildtool.codegen import max7800x as codegen
from buildtool.targets.max7800x.devices import MAX78000, QUADRANTS
from buildtool.targets.max7800x.firmware import addresses, made_inputs, regions
from buildtool.targets.max7800x.firmware.addresses import BYTES_PER_COLUMN, WORD
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.firmware.registers_control import DONE, ENABLE, STREAMS, TESTS, first_of
from buildtool.targets.max7800x.options import Options

_MEASURED_TIMES = 100  # a phase is done so often that a power monitor has enough of it
_POWER_BITS = 30  # behind the point, in the table of softmax


def emit(program: Program) -> dict[str, bytes]:
    """Every file of the project, by its path. What runs on the RISC-V core is a project in the folder `riscv`."""
    values = _values(program)
    files = {
        "main.c": codegen.render("main.c", **values),
        "log.txt": codegen.render("log.txt", **values),
        "cnn.c": codegen.render("cnn.c", **values),
        "cnn.h": codegen.render("cnn.h", **values),
        "weights.h": codegen.render("weights.h", macros=_weight_macros(program), **values),
        "sampledata.h": codegen.render("sampledata.h", macros=_input_macros(program), **values),
    }
    if values["known_answer"]:
        files["sampleoutput.h"] = codegen.render(
            "sampleoutput.h", macros=[codegen.macro("SAMPLE_OUTPUT", output_array(program))], **values
        )
    if values["softmax"]:
        powers = [f"{round(2 ** (_POWER_BITS + step / 32))}U" for step in range(33)]
        files["softmax.c"] = codegen.render("softmax.c", powers=powers, **values)
    if not values["riscv"]:
        return files | _project(values, sorted(name for name in files if name.endswith(".c")))
    files |= _project(values, sorted(name for name in files if name.endswith(".c")), on_riscv=True)
    inner = {f"riscv/{name}": content for name, content in files.items()}
    outer = _project(values, ["main.c"], loads_riscv=True)
    return inner | outer | {"main.c": codegen.render("main_arm.c", **values)}


def _softmax_shift(options: Options, last: HardwareLayer) -> int:
    if options.softmax_shift is not None:
        return options.softmax_shift
    return 8 - last.weight_bits if last.convolves else 0


def _project(
    values: dict[str, Any], sources: list[str], on_riscv: bool = False, loads_riscv: bool = False
) -> dict[str, bytes]:
    """What the SDK has to be told."""
    told = values | {
        "project": re.sub(r"\W", "_", values["name"], flags=re.ASCII) or "network",
        "sources": sources,
        "on_riscv": on_riscv,
        "loads_riscv": loads_riscv,
    }
    files = {name: codegen.render(name, **told) for name in ("Makefile", "project.mk")}
    if not on_riscv:
        files[f"{told['project']}.launch"] = codegen.render("project.launch", **told)
    return files


def _values(program: Program) -> dict[str, Any]:
    network, device = program.network, program.network.device
    output_bits = 32 if all(output.width == 32 for output in program.unload) else 8
    sizes = [output.channels * output.pixels * output.width // 8 for output in program.unload]
    used = sum(1 << quadrant for quadrant in program.placed.quadrants)
    places = addresses.of(device)
    return {
        **_chosen(program),
        "version": version(),
        "name": network.name,
        "part": device.part,
        "fifo": network.fifo,
        "power_pins": device is not MAX78000,
        "outputs": sum(output.channels * output.pixels for output in program.unload),
        "output_bits": output_bits,
        "output_words": sum(-(-size // WORD) for size in sizes),
        "layer_lines": [_described(hardware) for hardware in program.placed.layers],
        "resource_lines": list(_resources(program)),
        "controls": [places.control_register(quadrant) for quadrant in program.placed.quadrants],
        "controls_first": program.placed.quadrants[0],
        "done_bits": _done_bits(program),
        "working": used,
        "idle": ~used & (1 << QUADRANTS) - 1,
        "init": list(_init_blocks(program)),
        "kernels": bool(program.kernels),
        "kernel_step": places.kernel_step,
        "biases": [
            {"quadrant": (address - places.biases) // places.quadrant, "address": address}
            for address, _ in program.biases
        ],
        "configuration": [
            {
                "title": group.title,
                "settings": [
                    {"address": address, "value": value, "name": name.replace("_", " ")}
                    for address, value, name in group.settings
                ],
            }
            for group in program.configuration
        ],
        "cleared": program.cleared,
        "starting": program.start[:-1],
        "go": program.start[-1],
        "runs": list(_runs(program)),
        "inputs": list(_input_values(program)),
        "steps": _steps(program),
        "first_number": first_of(program.placed).number,
        "input_spoilt": not network.fifo and regions.spoils_input(program.placed) is not None,
    }


def _chosen(program: Program) -> dict[str, Any]:
    """What the options say."""
    options, device = program.options, program.network.device
    last = next(hardware for hardware in program.placed.layers if hardware.last)
    riscv = options.processor == "riscv"
    verified = ["cnn_init or cnn_configure"] * options.verify_writes + ["cnn_verify_weights"] * options.verify_kernels
    return {
        "riscv": riscv,
        "constant": "" if riscv and not options.riscv_flash else "const ",
        "riscv_cache": options.riscv_cache,
        "riscv_debug": options.riscv_debug,
        "riscv_exclusive": options.riscv_exclusive,
        "softmax": options.softmax,
        "softmax_shift": _softmax_shift(options, last),
        "known_answer": options.known_answer,
        "unload": options.unload,
        "debug_wait": options.debug_wait,
        "timer": options.measures,
        "boost": options.boost,
        "sleep": options.sleep,
        "deep_sleep": options.deep_sleep,
        "pll": options.has_pll(device),
        "clock_source": "IPLL" if options.has_pll(device) else "PCLK",
        "clock_divider": options.divider(device),
        "loading_divider": options.loading_divider(device),
        "power_up_delay": options.power_up_delay(device),
        "compact": options.compact_weights,
        "verify_writes": options.verify_writes,
        "verify_kernels": options.verify_kernels,
        "verifies": " or ".join(verified),
        "energy": options.energy,
        "times": _MEASURED_TIMES,
        "forever": options.forever,
        "stop_start": options.stop_start,
        "one_shot": options.one_shot,
        "fixed_input": options.fixed_input,
        "fixed_words": made_inputs.FIXED,
        "input_step": options.input_step,
        "input_words": options.input_words,
        "fifo_wait": options.fifo_wait,
        "slow_load": options.slow_load,
    }


def _done_bits(program: Program) -> int:
    """Of the control registers, what the interrupt clears. Where each layer stops they stay enabled."""
    if program.options.one_shot:
        return DONE
    streams = any(hardware.layer.streaming for hardware in program.placed.layers)
    return DONE | ENABLE | (STREAMS if streams else 0)


def _steps(program: Program) -> int:
    """How many layers run, one after the other."""
    layers = program.placed.layers
    return (len(layers) + sum(hardware.clears_averages for hardware in layers)) * program.options.repeat_layers


def _init_blocks(program: Program) -> Iterator[dict[str, Any]]:
    """Steps of one kind that follow each other."""
    kinds = zip(program.init, _verified(program), strict=True)
    for (kind, verified), steps in itertools.groupby(kinds, lambda pair: (pair[0][0], pair[1])):
        yield {"kind": kind, "verified": verified, "steps": [(address, value) for (_, address, value), _ in steps]}


def _verified(program: Program) -> list[bool]:
    """Of each step of the beginning, whether it is read back: not what is written again, and not tests of memories."""
    places = addresses.of(program.network.device)
    tests = {places.control_register(quadrant, TESTS) for quadrant in range(QUADRANTS)}
    last = {address: at for at, (kind, address, _) in enumerate(program.init) if kind == "write"}
    return [
        program.options.verify_writes and kind == "write" and last[address] == at and address not in tests
        for at, (kind, address, _) in enumerate(program.init)
    ]


def _runs(program: Program) -> Iterator[dict[str, int]]:
    place = 0
    for output in program.unload:
        for run in output.runs:
            lanes = sum(1 << lane for lane in run.lanes)
            first_lane = run.lanes[0] * WORD if output.width == 32 else 0
            yield {
                "address": run.address - first_lane,
                "step": run.step,
                "columns": output.size[1],
                "pixels": run.count,
                "channel": run.channel,
                "lanes": lanes,
                "bits": output.width,
                "place": place,
            }
        place += -(-output.channels * output.pixels * output.width // 8 // WORD) * WORD


def _input_values(program: Program) -> Iterator[dict[str, int | None]]:
    masks = made_inputs.masks(program.placed, program.sample)
    for block, mask in zip(program.inputs, masks, strict=True):
        values: dict[str, int | None] = {"name": block.name, "count": len(block.words), "mask": mask}
        if block.fifo is None:
            values["address"] = block.address
        elif program.network.fast_fifo:
            values |= {"status": addresses.FAST_FIFO_STATUS, "full": 2, "data": addresses.FAST_FIFO_DATA}
        else:
            data = addresses.FIFO_DATA + block.fifo * WORD
            values |= {"status": addresses.FIFO_STATUS, "full": 1 << block.fifo, "data": data}
        yield values


def kernel_array(program: Program) -> list[int]:
    """All kernels: of each piece its address, how many words or columns it has, and these; a zero at the end."""
    words: list[int] = []
    for address, data in program.kernels:
        pieces = list(_kernel_words(program.options.compact_weights, data))
        count = len(pieces) if program.options.compact_weights else len(data) // BYTES_PER_COLUMN
        words += [address, count, *pieces]
    return [*words, 0]


def output_array(program: Program) -> list[int]:
    """What is expected: of each piece its address, the bits that count, how many words, these; a zero at the end."""
    words: list[int] = []
    for block in (*program.expected, *program.counted):
        words += [block.address, block.mask, len(block.words), *block.words]
    return [*words, 0]


def _weight_macros(program: Program) -> list[str]:
    macros = []
    if program.kernels:
        macros.append(codegen.macro("KERNELS", kernel_array(program)))
    places = addresses.of(program.network.device)
    for address, held in program.biases:
        quadrant = (address - places.biases) // places.quadrant
        macros.append(codegen.macro(f"BIAS_{quadrant}", list(held), digits=2))
    return macros


def _kernel_words(compact: bool, data: bytes) -> Iterator[int]:
    """Bytes in a row, or of each column the first byte and two words; the first byte is the highest."""
    if compact:
        padded = data + bytes(-len(data) % WORD)
        yield from (int.from_bytes(padded[at : at + WORD], "big") for at in range(0, len(padded), WORD))
        return
    for at in range(0, len(data), BYTES_PER_COLUMN):
        yield data[at]
        yield int.from_bytes(data[at + 1 : at + 5], "big")
        yield int.from_bytes(data[at + 5 : at + 9], "big")


def _input_macros(program: Program) -> list[str]:
    options = program.options
    if options.fixed_input:
        return []
    stored = None if options.input_step is None else options.input_words
    return [codegen.macro(f"SAMPLE_INPUT_{block.name}", block.words[:stored]) for block in program.inputs]


def _described(hardware: HardwareLayer) -> str:
    """A layer in a line."""
    layer = hardware.layer
    operands = f"{layer.operands} x " if layer.operands > 1 else ""
    parts = [f"{operands}{layer.in_channels} x {_times(layer.in_size)}{' streaming' if layer.streaming else ''}"]
    if layer.pool is not None and hardware.pools:
        parts.append(f"{layer.pool.kind} pool {_times(layer.pool.size)} step {_times(layer.pool.stride)}")
    if layer.operands > 1:
        parts.append(f"{layer.eltwise}")
    if layer.kernel is not None:
        what = f"{layer.operation} of {_times(layer.kernel.size)}, {hardware.weight_bits} bits"
        parts.append(f"flattened, {what}" if layer.flatten else what)
    if layer.activation:
        parts.append(layer.activation)
    result = f"{layer.out_channels} x {_times(layer.out_size)} of {layer.output_width} bits"
    return f"Layer {hardware.title}: {', '.join(parts)} -> {result}"


def _times(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _resources(program: Program) -> Iterator[str]:
    device = program.network.device
    kernels = sum(len(data) for _, data in program.kernels)
    biases = sum(len(held) for _, held in program.biases)
    rest = device.kernel_columns * 60 + device.first_kernel_columns * 4
    yield f"Kernels: {kernels} of {rest * BYTES_PER_COLUMN} bytes"
    yield f"Biases: {biases} of {device.bias_bytes * QUADRANTS} bytes"
    if device is not MAX78000 and not program.options.has_pipeline(device):
        yield "The pipeline is off"
