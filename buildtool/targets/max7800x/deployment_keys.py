"""The keys of a deployment file that are of this target alone."""

from __future__ import annotations

from typing import Annotated

from buildtool.sections import readers
from buildtool.sections.section import Flag, Numbers, Path, Section, Text, Texts, Whole, key

Waits = Annotated[int | None, readers.number_choice(0, 1, 2, 3)]


class CnnSection(Section):
    """Settings of the program for a MAX78000 or MAX78002, named as the switches of ai8xize that they stand for."""

    bias_input: Path = key("Biases for tests, if the weights are an array (.npy).")
    fifo: Flag = key("Load the input through the FIFO while the network runs.", default=0)
    fast_fifo: Flag = key("Load the input through the fast FIFO. Requires `riscv`.", default=0)
    allow_streaming: Flag = key("Allow the first layer to stream without a FIFO.", default=0)
    reshape_inputs: Flag = key("Allow layers to read fewer channels than their input has.", default=0)
    avg_pool_rounding: Flag = key("Round average pools, as in training.", default=0)
    weight_bits: Annotated[int | None, readers.number_choice(8, 4, 2, 1)] = key(
        "Maximum number of bits of the weights of a graph. Layers get fewer if the kernel memory is too small.",
        default=8,
    )
    start_layer: Whole = key("First layer to run (MAX78002).", default=0)
    stop_after: Whole = key("Last layer to run.", default_words="the last")
    skip_yaml_layers: Whole = key("Number of layers of the description to skip.", default=0)
    no_bias: Texts = key("Layer numbers whose biases are omitted, or `all`.", unsaid="all")
    skip_checkpoint_layers: Whole = key("Number of layers of the checkpoint to skip.", default=0)
    ignore_streaming: Flag = key("Disable streaming in all layers, overriding the description.", default=0)
    streaming_layers: Numbers = key("Additional layers to stream.")
    ignore_activation: Flag = key("Disable the activations of all layers, overriding the description.", default=0)
    input_offset: Whole = key("Offset of the input in the data memory.", default_words="from the first layer")
    output_width: Annotated[int | None, readers.number_choice(8, 32)] = key(
        "Bits of the output of the last layer.", default_words="from the last layer"
    )
    overlap_data: Flag = key("Allow layers to overwrite their input.", default=0)
    riscv: Flag = key("Run the network from the RISC-V core.", default=0)
    softmax: Flag = key("Compute softmax of the results in the program.", default=0)
    timer: Whole = key("Timer that measures inferences.", default=0)
    no_timer: Flag = key("Do not measure inferences.", default=0)
    boost: Text = key("Port and pin to set high while the accelerator works, such as `2.5`.")
    pll: Flag = key("Use the PLL as clock of the accelerator (MAX78002).", default=1)
    pipeline: Flag = key("Enable the pipeline of the accelerator (MAX78002).", default=1)
    clock_divider: Whole = key("Divider of the accelerator clock.", default_words="the fastest valid one")
    compact_weights: Flag = key("Store kernels in the program as contiguous bytes.", default=1)
    no_kat: Flag = key("Do not compare the output for the sample.", default=0)
    unload: Flag = key("Read the output in the program: `cnn_unload`.", default=1)
    no_unload: Flag = key("Do not read the output.", default=0)
    debugwait: Whole = key("Seconds to wait for a debugger before the program starts; `0`: none.", default=2)
    no_wfi: Flag = key("Poll for the end of an inference instead of sleeping.", default=0)
    deepsleep: Flag = key("Let the ARM core sleep while the RISC-V core works.", default=0)
    powerdown: Flag = key("Power off unused kernel memories.", default=0)
    zero_sram: Flag = key("Clear and test memories before use.", default=0)
    init_tram: Flag = key("Clear the row memory (TRAM) before use.", default=0)
    zero_unused: Flag = key("Clear the registers of unused layers.", default=0)
    override_start: Whole = key("Start of streaming layers, overriding the computed value.")
    override_delta1: Whole = key("First step of streaming layers, overriding the computed value.")
    override_delta2: Whole = key("Second step of streaming layers, overriding the computed value.")
    override_rollover: Whole = key("Ring length of streaming layers, overriding the computed value.")
    write_zero_registers: Flag = key("Also write registers whose value is zero.", default=0)
    simple1b: Flag = key("Multiply 1-bit weights by exclusive or.", default=0)
    max_speed: Flag = key("Also load kernels and input at the full PLL speed (MAX78002).", default=0)
    switch_delay: Whole = key("Delay after power-on, in milliseconds.", default_words="`10` on the MAX78002, else `0`")
    ready_sel: Waits = key("Wait states of the memories.", default=0)
    ready_sel_fifo: Waits = key("Wait states of the FIFOs.", default=0)
    ready_sel_aon: Waits = key("Wait states of the always-on domain.", default=0)
    energy: Flag = key("Repeat every phase so that its energy can be measured.", default=0)
    verify_writes: Flag = key("Read registers back and compare them.", default=0)
    verify_kernels: Flag = key("Read kernels back and compare them: `cnn_verify_weights`.", default=0)
    max_verify_length: Whole = key("Number of output words to compare.", default_words="all")
    forever: Flag = key("Repeat inferences forever after the first one.", default=0)
    stop_start: Flag = key("Halt and resume the first inference.", default=0)
    one_shot: Flag = key("Stop after each layer and measure its time (MAX78002).", default=0)
    repeat_layers: Whole = key("Number of times that an inference runs all layers.", default=1)
    calcx4: Flag = key("Compute four outputs at a time in all layers with kernels (MAX78002).", default=0)
    read_ahead: Flag = key("Read ahead in all layers (MAX78002).", default=0)
    fixed_input: Flag = key("Use alternating 0x55 and 0xaa as input, which is not stored.", default=0)
    synthesize_input: Whole = key(
        "Store only the first words of the sample, and add this value to them for each following run. Requires `fifo`."
    )
    synthesize_words: Whole = key("Number of words to store per FIFO for `synthesize_input`.", default=8)
    no_fifo_wait: Flag = key("Do not wait for free space in the FIFO.", default=0)
    fifo_go: Flag = key("Start layers before the first word is in the FIFO (MAX78002).", default=0)
    slow_load: Whole = key("Number of no-op instructions after each word for the FIFO.", default=0)
    riscv_flash: Flag = key("Let the RISC-V core read kernels and input from flash; `0`: from its memory.", default=1)
    riscv_cache: Flag = key("Enable the cache of the RISC-V core.", default=1)
    riscv_debug: Flag = key("Enable the JTAG pins of the RISC-V core for debugging. Implies `riscv`.", default=0)
    riscv_exclusive: Flag = key("Reserve the memory of the RISC-V core for it. Implies `riscv`.", default=0)
    debug_snoop: Flag = key("Compare the snoop registers with the description.", default=0)
    memory_images: Flag = key("Write registers and memories as text, for simulations of the chip.", default=0)
