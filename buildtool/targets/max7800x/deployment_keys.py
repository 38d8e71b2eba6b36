"""The keys of a deployment file that are of this target alone."""

from __future__ import annotations

from typing import Annotated

from buildtool.sections import readers
from buildtool.sections.section import Flag, Numbers, Path, Section, Text, Texts, Whole, key

Waits = Annotated[int | None, readers.number_choice(0, 1, 2, 3)]


class CnnSection(Section):
    """Settings of the program for a MAX78000 or MAX78002, named as the switches of ai8xize that they stand for."""

    bias_input: Path = key("Biases of tests, where the weights are an array (.npy).")
    fifo: Flag = key("The input comes through the FIFO while the network runs.", default=0)
    fast_fifo: Flag = key("It comes through the fast FIFO, which needs `riscv`.", default=0)
    allow_streaming: Flag = key("The first layer may stream without a FIFO.", default=0)
    reshape_inputs: Flag = key("Layers may take fewer channels than come in.", default=0)
    avg_pool_rounding: Flag = key("Average pools round, as the model was trained to.", default=0)
    weight_bits: Annotated[int | None, readers.number_choice(8, 4, 2, 1)] = key(
        "Bits of the weights of a graph, at most; layers get fewer where the kernel memory is too small.", default=8
    )
    start_layer: Whole = key("The layer that runs first (MAX78002).", default=0)
    stop_after: Whole = key("The layer that runs last.", default_words="the last")
    skip_yaml_layers: Whole = key("So many layers of the description are passed over.", default=0)
    no_bias: Texts = key("The numbers of layers whose biases are left out, or `all`.", unsaid="all")
    skip_checkpoint_layers: Whole = key("So many layers of the checkpoint are passed over.", default=0)
    ignore_streaming: Flag = key("No layer streams, whatever the description says.", default=0)
    streaming_layers: Numbers = key("Layers that stream beside those that say so.")
    ignore_activation: Flag = key("No layer has an activation, whatever the description says.", default=0)
    input_offset: Whole = key("Where the input begins in the data memory.", default_words="as the first layer says")
    output_width: Annotated[int | None, readers.number_choice(8, 32)] = key(
        "Bits of the results of the last layer.", default_words="as the last layer says"
    )
    overlap_data: Flag = key("Layers may write over what they read.", default=0)
    riscv: Flag = key("The RISC-V core runs the network.", default=0)
    softmax: Flag = key("The program turns its results into probabilities.", default=0)
    timer: Whole = key("The timer that measures inferences.", default=0)
    no_timer: Flag = key("Nothing is measured.", default=0)
    boost: Text = key("Port and pin that are high while the accelerator works, such as `2.5`.")
    pll: Flag = key("The accelerator is clocked by the PLL (MAX78002).", default=1)
    pipeline: Flag = key("The accelerator works as a pipeline (MAX78002).", default=1)
    clock_divider: Whole = key("Of the accelerator's clock.", default_words="the fastest that works")
    compact_weights: Flag = key("Kernels are stored in the program as bytes in a row.", default=1)
    no_kat: Flag = key("The program does not check its output for the sample.", default=0)
    no_unload: Flag = key("The program does not read its output.", default=0)
    no_wfi: Flag = key("The program asks for the end instead of sleeping until it comes.", default=0)
    deepsleep: Flag = key("The ARM core sleeps while the RISC-V core works.", default=0)
    powerdown: Flag = key("Kernel memories that are not used get no power.", default=0)
    zero_sram: Flag = key("Memories are cleared and tested before use.", default=0)
    init_tram: Flag = key("The memory of rows (TRAM) is cleared before use.", default=0)
    zero_unused: Flag = key("Registers of layers that there are not are cleared.", default=0)
    override_start: Whole = key("Of streaming layers: the start, instead of the computed one.")
    override_delta1: Whole = key("Of streaming layers: the first step.")
    override_delta2: Whole = key("Of streaming layers: the second step.")
    override_rollover: Whole = key("Of streaming layers: the length of the ring.")
    write_zero_registers: Flag = key("Registers whose value is zero are written, too.", default=0)
    simple1b: Flag = key("Weights of one bit are multiplied by exclusive or.", default=0)
    max_speed: Flag = key("Kernels and input are loaded at the PLL's full speed, too (MAX78002).", default=0)
    switch_delay: Whole = key(
        "Milliseconds between switching power on and using it.", default_words="`10` on the MAX78002, else `0`"
    )
    ready_sel: Waits = key("Wait states of the memories.", default=0)
    ready_sel_fifo: Waits = key("Wait states of the FIFOs.", default=0)
    ready_sel_aon: Waits = key("Wait states of what is always on.", default=0)
    energy: Flag = key("The program repeats every phase so often that its energy can be measured.", default=0)
    verify_writes: Flag = key("Registers are read back.", default=0)
    verify_kernels: Flag = key("Kernels are read back: `cnn_verify_weights`.", default=0)
    max_verify_length: Whole = key("So many words of the output are compared.", default_words="all")
    forever: Flag = key("After the first inference others follow without end.", default=0)
    stop_start: Flag = key("The first inference is halted and goes on.", default=0)
    one_shot: Flag = key("The accelerator stops behind each layer, and is timed (MAX78002).", default=0)
    repeat_layers: Whole = key("How often an inference runs through all layers.", default=1)
    calcx4: Flag = key("All layers with kernels compute four outputs at a time (MAX78002).", default=0)
    read_ahead: Flag = key("All layers read ahead (MAX78002).", default=0)
    fixed_input: Flag = key("The input is 0x55 and 0xaa in turns, and takes no room.", default=0)
    synthesize_input: Whole = key(
        "Only the first words of the sample are stored; this is added to them for each run that follows. Needs `fifo`."
    )
    synthesize_words: Whole = key("How many words of each FIFO are stored for `synthesize_input`.", default=8)
    no_fifo_wait: Flag = key("The program does not wait for room in the FIFO.", default=0)
    fifo_go: Flag = key("Layers begin before the first word is in the FIFO (MAX78002).", default=0)
    slow_load: Whole = key("Instructions that do nothing behind each word for the FIFO.", default=0)
    riscv_flash: Flag = key("The RISC-V core reads kernels and input from flash; `0`: from its memory.", default=1)
    riscv_cache: Flag = key("The cache of the RISC-V core is on.", default=1)
    riscv_debug: Flag = key("The RISC-V core can be debugged: its JTAG pins are on. Implies `riscv`.", default=0)
    riscv_exclusive: Flag = key("The RISC-V core's memory is its own. Implies `riscv`.", default=0)
    debug_snoop: Flag = key("What the snoop registers hold is compared with the description.", default=0)
    memory_images: Flag = key("Registers and memories are written as text, for simulations of the chip.", default=0)
