"""The keys of a deployment file, level by level, with what each accepts, means and defaults to.

Here a key that the file does not give is None; the defaults are carried beside the descriptions, because a subgraph
inherits from its model before any default applies. The JSON schema and the reference page are made from these classes.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from buildtool.config import fields
from buildtool.config.deployment import ShapeConfig
from buildtool.config.fields import Many, choice

PLATFORMS = choice(("tensorflow", "caffe", "onnx", "keras", "pytorch", "megengine", "paddle", "tflite", "ai8x"))
RUNTIMES = choice(
    ("cpu", "gpu", "dsp", "cpu+gpu", "hta", "apu", "htp", "kpu", "cnn"), {"hexagon": "dsp", "cpu_gpu": "cpu+gpu"}
)
LARGE_WEIGHTS = choice(("0", "int8", "int16", "int4"), {"1": "int8"})
PRECISIONS = choice(("fp16_fp32", "fp32_fp32", "bf16_fp32", "fp16_fp16", "uint8"), {"fp32": "fp32_fp32"})
ELEMENT_TYPES = choice(("float32", "int32", "float16", "int16", "int8", "uint8", "bfloat16"))
FORMATS = choice(("NHWC", "NCHW", "NONE", "OIHW"))
BACKENDS = choice(("tensorflow", "caffe2", "pytorch", "kaldi"))
SCHEMES = choice(("", "int8", "mace_apu_16bit_per_tensor", "mace_htp_u16a_s8w"))
FORMS = choice(("file", "code"))

Text = Annotated[str | None, fields.TEXT]
Texts = Annotated[list[str] | None, Many(fields.TEXT)]
Path = Annotated[str | None, fields.PATH]
Paths = Annotated[list[str] | None, Many(fields.PATH)]
Checksum = Annotated[str | None, fields.CHECKSUM]
Flag = Annotated[int | None, fields.FLAG]
Whole = Annotated[int | None, fields.WHOLE]
Waits = Annotated[int | None, fields.number_choice(0, 1, 2, 3)]
Numbers = Annotated[list[int] | None, Many(fields.WHOLE)]
Shapes = Annotated[list[ShapeConfig] | None, Many(fields.SHAPE)]
ElementTypes = Annotated[list[str] | None, Many(ELEMENT_TYPES)]
Formats = Annotated[list[str] | None, Many(FORMATS)]
Form = Annotated[str | None, FORMS]
Similarity = Annotated[float | None, fields.SIMILARITY]
Ignored = Annotated[Any, fields.ANYTHING]


def key(description: str, *, default: Any = None, default_words: str = "", required: bool = False) -> Any:
    """A key that may be absent. `default` applies where it is; `default_words` describe one that is no plain value."""
    extra: dict[str, Any] = {} if default is None else {"default": default}
    if default_words:
        extra["x-default"] = default_words
    if required:
        extra["x-required"] = True
    return Field(default=None, description=description, json_schema_extra=extra)


def dead_key(description: str) -> Any:
    """A key that old files hold and nothing reads any more; it gives a note."""
    return Field(default=None, description=description, json_schema_extra={"deprecated": True})


class Section(BaseModel):
    """A mapping that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MicroSection(Section):
    """Settings of a model for microcontrollers."""

    backend: Annotated[str | None, choice(("cmsis", "xtensa", "portable"))] = key(
        "Which kernels to use: CMSIS-NN for Cortex-M, those for Xtensa DSPs, or portable C.", default="portable"
    )


class CnnSection(Section):
    """Settings of the program for a MAX78000 or MAX78002, named as the switches of ai8xize that they stand for."""

    bias_input: Path = key("Biases of tests, where the weights are an array (.npy).")
    fifo: Flag = key("The input comes through the FIFO while the network runs.", default=0)
    fast_fifo: Flag = key("It comes through the fast FIFO, which needs `riscv`.", default=0)
    allow_streaming: Flag = key("The first layer may stream without a FIFO.", default=0)
    reshape_inputs: Flag = key("Layers may take fewer channels than come in.", default=0)
    avg_pool_rounding: Flag = key("Average pools round, as the model was trained to.", default=0)
    weight_bits: Annotated[int | None, fields.number_choice(8, 4, 2, 1)] = key(
        "Bits of the weights of a graph, at most; layers get fewer where the kernel memory is too small.", default=8
    )
    start_layer: Whole = key("The layer that runs first (MAX78002).", default=0)
    stop_after: Whole = key("The layer that runs last.", default_words="the last")
    skip_yaml_layers: Whole = key("So many layers of the description are passed over.", default=0)
    no_bias: Texts = key("The numbers of layers whose biases are left out, or `all`.")
    skip_checkpoint_layers: Whole = key("So many layers of the checkpoint are passed over.", default=0)
    ignore_streaming: Flag = key("No layer streams, whatever the description says.", default=0)
    streaming_layers: Numbers = key("Layers that stream beside those that say so.")
    ignore_activation: Flag = key("No layer has an activation, whatever the description says.", default=0)
    input_offset: Whole = key("Where the input begins in the data memory.", default_words="as the first layer says")
    output_width: Annotated[int | None, fields.number_choice(8, 32)] = key(
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


class ThresholdSection(Section):
    """The cosine similarity that outputs must reach, by runtime. The names may be in capitals; `hexagon` is `dsp`."""

    cpu: Similarity = key("On the CPU.", default=0.999)
    gpu: Similarity = key("On the GPU.", default=0.995)
    dsp: Similarity = key("On the Hexagon DSP.", default=0.98)
    hta: Similarity = key("On the Hexagon tensor accelerator.", default=0.98)
    apu: Similarity = key("On the MediaTek APU.", default=0.98)
    htp: Similarity = key("On the Hexagon tensor processor.", default=0.98)
    cnn: Similarity = key("On a MAX78000 or MAX78002.", default=0.98)
    kpu: Similarity = key("On a K210.", default=0.98)


class GraphSection(Section):
    """The keys of a model and of its subgraphs. A subgraph's value wins over its model's."""

    platform: Annotated[str | None, PLATFORMS] = key("The framework that the model comes from.", required=True)
    model_file_path: Path = key("The model file. A relative path starts at the deployment file.", required=True)
    model_sha256_checksum: Checksum = key(
        "What the model file must hash to; `sha256sum FILE` prints it. Required for an address."
    )
    weight_file_path: Path = key("The file with the weights, where the framework keeps them apart (Caffe needs it).")
    weight_sha256_checksum: Checksum = key("What the weight file must hash to.")
    runtime: Annotated[str | None, RUNTIMES] = key("What the model runs on.", default="cpu")
    data_type: Annotated[str | None, PRECISIONS] = key(
        "How numbers are stored and computed with: `fp16_fp32` stores half precision and computes in single, "
        "`bf16_fp32` stores the upper halves of single precision, `fp16_fp16` computes in half, too.",
        default="fp16_fp32",
    )
    input_tensors: Texts = key("The names of the inputs in the model.", required=True)
    input_shapes: Shapes = key("The shape of each input, in the order of `input_data_formats`.", required=True)
    input_data_types: ElementTypes = key(
        "The type of each input's elements; one value serves all.", default=["float32"]
    )
    input_data_formats: Formats = key(
        "The order of each input's dimensions; one value serves all.",
        default_words="`NHWC` for four dimensions, else `NONE`",
    )
    input_ranges: Annotated[list[tuple[float, float]] | None, Many(fields.RANGE)] = key(
        "The range of the random numbers that each input gets where no data is given.",
        default_words="`-1.0,1.0`; of 8 and 16 bits all that there are",
    )
    input_aliases: Texts = key("The names of the inputs in the library.", default_words="`input_tensors`")
    output_tensors: Texts = key("The names of the outputs in the model.", required=True)
    output_shapes: Shapes = key("The shape of each output, in the order of `output_data_formats`.", required=True)
    output_data_types: ElementTypes = key(
        "The type of each output's elements; one value serves all.", default=["float32"]
    )
    output_data_formats: Formats = key(
        "The order of each output's dimensions; one value serves all.",
        default_words="`NHWC` for four dimensions, else `NONE`",
    )
    output_aliases: Texts = key("The names of the outputs in the library.", default_words="`output_tensors`")
    check_tensors: Texts = key("Inner tensors to check; not compared: `lathe validate --layers` compares all tensors.")
    check_shapes: Shapes = key("The shape of each tensor to check.")
    validation_inputs_data: Paths = key("Data for each input to validate with: `.npy`, or raw numbers.")
    validation_outputs_data: Paths = key("What each output should be; without it, the reference framework is asked.")
    input_files: Paths = key("Another name of `validation_inputs_data`.")
    validation_threshold: ThresholdSection | None = key(
        "The cosine similarity that outputs must reach, by runtime.", default_words="see below"
    )
    accuracy_validation_script: Paths = key("A Python script that measures the accuracy of the library.")
    backend: Annotated[str | None, BACKENDS] = key(
        "The framework that computes the reference.", default_words="the one at hand"
    )
    winograd: Annotated[int | None, fields.number_choice(0, 2, 4)] = key(
        "The largest tile of Winograd convolutions; 0 turns them off. They are fast, and have larger filters.",
        default_words="the cost model decides for each convolution",
    )
    quantize: Flag = key("Whether to compute with 8-bit integers.", default=0)
    quantize_large_weights: Annotated[str | None, LARGE_WEIGHTS] = key(
        "Whether to store large weights as integers of 8 (`1`), 16 or 4 bits with scales, and to compute with their "
        "products in single precision; not together with `quantize`.",
        default=0,
    )
    quantize_operators: Texts = key(
        "The operators and layers that `quantize` stores in 8 bits: names of them, `usual` (convolutions and "
        "products with weights) or `all`; with what moves numbers between them.",
        default=["all"],
    )
    quantize_keep_float: Texts = key("Layers and operators that stay in single precision, by name.")
    quantize_range_file: Path = key("The ranges of the tensors, as `quantize_stat` measured them.")
    quantize_weights_file: Path = key(
        "Weights and biases that lose less in 8 bits, as `lathe quantize` with `--bias-correction` or "
        "`--rounding adaptive` wrote them."
    )
    quantize_equalize: Flag = key(
        "Whether to share out large and small numbers among layers first, channel by channel, so that `quantize` and "
        "`quantize_large_weights` lose less; ranges have to be those of `lathe quantize` with this key.",
        default=0,
    )
    quantize_schema: Annotated[str | None, SCHEMES] = key(
        "How to quantise; empty for the target's own way.", default=""
    )
    change_concat_ranges: Flag = key("Whether the inputs of a concatenation get one common range.", default=0)
    limit_opencl_kernel_time: Flag = key("Whether to split long GPU kernels, to keep the screen responsive.", default=0)
    opencl_queue_window_size: Whole = key("The most commands in the GPU's queue; 0 for no limit.", default=0)
    cl_mem_type: Annotated[str | None, choice(("image", "buffer"))] = key("What GPU tensors live in.", default="image")
    obfuscate: Flag = key(
        "Whether to replace the names of operators and tensors in the model file; `debug/` keeps what each stood for.",
        default=0,
    )
    graph_optimize_options: Texts = key("The optimisation passes to run, by name.", default_words="all")
    order: Whole = key("The place of the subgraph among those of its model.", default=0)
    micro: MicroSection | None = key("Settings of a model for microcontrollers.")
    cnn: CnnSection | None = key("Settings of a model for a MAX78000 or MAX78002.")
    nnlib_graph_mode: Ignored = dead_key("Nothing reads this key.")
    dsp_mode: Ignored = dead_key("Nothing reads this key.")
    docker_image_tag: Ignored = dead_key("Nothing reads this key.")
    dockerfile_path: Ignored = dead_key("Nothing reads this key.")
    dockerfile_sha256_checksum: Ignored = dead_key("Nothing reads this key.")


class SubgraphSection(GraphSection):
    """An entry of `subgraphs`: the keys of a model again, for one part of it."""


class ModelSection(GraphSection):
    """A model of the library; its name is the key."""

    subgraphs: list[SubgraphSection] | None = Field(
        default=None,
        description="The model's inputs and outputs: a list of subgraphs, or a mapping from names to subgraphs. "
        "Its keys may also stand in the model itself.",
    )


class DeploymentSection(Section):
    """The top level of a deployment file."""

    library_name: Text = key("The name of the library and of its output folder.", default_words="the file's own name")
    target_abis: Annotated[list[str] | None, Many(fields.ABI, commas=True)] = key(
        "What to build for.", default=["host"]
    )
    target_socs: Texts = key("The chips of the devices to run on: names, `all` or `random`.")
    model_graph_format: Form = key("Whether the graph is a file beside the library or code inside it.", default="file")
    model_data_format: Form = key(
        "Whether the weights are a file beside the library or inside it. Not `code` with a graph in a file.",
        default="file",
    )
    build_type: Annotated[str | None, choice(("proto", "code"))] = key(
        "The old name of `model_graph_format`; `proto` is `file`."
    )
    embed_model_data: Flag = key("The old name of `model_data_format`; 1 is `code`.")
    glibc_floor: Annotated[str | None, fields.GLIBC] = key(
        "The oldest glibc that a library for Linux may need.", default="2.17"
    )
    android_api_level: Annotated[int | None, fields.ANDROID_API] = key(
        "The oldest Android that a library for it has to run on, as the number of its API.", default=21
    )
    op_paths: Annotated[list[str] | None, Many(fields.FOLDER)] = key("Folders with operators of your own.")
    messages: Flag = key(
        "Whether the library holds the texts of its messages. Without them it is smaller and tells codes only.",
        default=1,
    )
    mace_compat: Annotated[str | None, choice(("0", "1", "headers"))] = key(
        "Whether headers with MACE's C++ interface come along. With 1 the library's files are called `libmace`, too.",
        default="0",
    )
    models: dict[str, ModelSection] = Field(description="The models of the library, by name.", min_length=1)


def default_of(section: type[Section], name: str) -> Any:
    """The default of a key, None where it has no plain one."""
    extra = section.model_fields[name].json_schema_extra
    return extra.get("default") if isinstance(extra, dict) else None


def is_dead(section: type[Section], name: str) -> bool:
    """Whether nothing reads the key any more."""
    extra = section.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("deprecated"))
