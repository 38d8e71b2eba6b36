"""The keys of a deployment file, level by level, with what each accepts, means and defaults to.

Here a key that the file does not give is None; the defaults are carried beside the descriptions, because a subgraph
inherits from its model before any default applies. The JSON schema and the reference page are made from these classes.
The targets that are installed add keys of their own: `sections` has the classes with them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, create_model

from buildtool.config import fields
from buildtool.config.abis import unloaded
from buildtool.config.deployment import CHIP_THRESHOLD, ShapeConfig
from buildtool.extensions.targets import words as target_words
from buildtool.runtimes import DATA_TYPES
from buildtool.sections.readers import FOLDER, Choice, Many, choice, number_choice
from buildtool.sections.section import Flag, Ignored, Path, Paths, Section, Text, Texts, Whole, dead_key, key
from buildtool.wording import listed

PLATFORMS = Choice(
    ("tensorflow", "caffe", "onnx", "keras", "pytorch", "megengine", "paddle", "tflite"),
    more=lambda: target_words().described,
    excuse=unloaded,
)
RUNTIMES = Choice(
    ("cpu", "gpu", "dsp", "cpu+gpu", "hta", "apu", "htp"),
    {"hexagon": "dsp", "cpu_gpu": "cpu+gpu"},
    more=lambda: target_words().runtimes,
    excuse=unloaded,
)
LARGE_WEIGHTS = choice(("0", "int8", "int16", "int4"), {"1": "int8"})
PRECISIONS = choice(DATA_TYPES, {"fp32": "fp32_fp32"})
ELEMENT_TYPES = choice(
    (
        *("float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8"),
        *("uint64", "uint32", "uint16", "uint8", "bool"),
    )
)
FORMATS = choice(("NHWC", "NCHW", "NONE", "OIHW"))
BACKENDS = choice(("tensorflow", "caffe2", "pytorch", "kaldi"))
SCHEMES = choice(("", "int8", "mace_apu_16bit_per_tensor", "mace_htp_u16a_s8w"))
FORMS = choice(("file", "code"))

Checksum = Annotated[str | None, fields.CHECKSUM]
Shapes = Annotated[list[ShapeConfig] | None, Many(fields.SHAPE)]
ElementTypes = Annotated[list[str] | None, Many(ELEMENT_TYPES)]
Formats = Annotated[list[str] | None, Many(FORMATS)]
Form = Annotated[str | None, FORMS]
Similarity = Annotated[float | None, fields.SIMILARITY]


class MicroSection(Section):
    """Settings of a model for microcontrollers."""

    backend: Annotated[str | None, choice(("cmsis", "xtensa", "portable"))] = key(
        "Which kernels to use: CMSIS-NN for Cortex-M, those for Xtensa DSPs, or portable C.", default="portable"
    )


class ThresholdSection(Section):
    """The cosine similarity that outputs must reach, by runtime. The names may be in capitals; `hexagon` is `dsp`."""

    cpu: Similarity = key("On the CPU.", default=0.999)
    gpu: Similarity = key("On the GPU.", default=0.995)
    dsp: Similarity = key("On the Hexagon DSP.", default=0.98)
    hta: Similarity = key("On the Hexagon tensor accelerator.", default=0.98)
    apu: Similarity = key("On the MediaTek APU.", default=0.98)
    htp: Similarity = key("On the Hexagon tensor processor.", default=0.98)


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
        "The type of each output's elements; one value serves all.", default_words="that of the model"
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
    winograd: Annotated[int | None, number_choice(0, 2, 4)] = key(
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
    op_paths: Annotated[list[str] | None, Many(FOLDER)] = key("Folders with operators of your own.")
    messages: Flag = key(
        "Whether the library holds the texts of its messages. Without them it is smaller and tells codes only.",
        default=1,
    )
    mace_compat: Annotated[str | None, choice(("0", "1", "headers"))] = key(
        "Whether headers with MACE's C++ interface come along. With 1 the library's files are called `libmace`, too.",
        default="0",
    )
    models: dict[str, ModelSection] = Field(description="The models of the library, by name.", min_length=1)


@dataclass(frozen=True)
class Sections:
    """The classes with the keys of all targets that are installed."""

    deployment: type[DeploymentSection]
    model: type[ModelSection]
    subgraph: type[SubgraphSection]  # with the keys that a model has, too
    thresholds: type[ThresholdSection]


@functools.cache
def sections() -> Sections:
    """Made when the first file is read."""
    known = target_words()
    similarities: dict[str, Any] = {
        runtime: (Similarity, key(f"On the {listed(known.abis[abi] or abi for abi in abis)}.", default=CHIP_THRESHOLD))
        for runtime, abis in known.chips.items()
    }
    thresholds = create_model(
        "ThresholdSection", __base__=ThresholdSection, __doc__=ThresholdSection.__doc__, **similarities
    )
    keys: dict[str, Any] = {
        name: (section | None, key((section.__doc__ or "").partition("\n")[0]))
        for name, section in known.sections.items()
    }
    field = GraphSection.model_fields["validation_threshold"]
    words = "see below"
    keys["validation_threshold"] = (thresholds | None, key(field.description or "", default_words=words))
    subgraph = create_model("SubgraphSection", __base__=SubgraphSection, __doc__=SubgraphSection.__doc__, **keys)
    described = ModelSection.model_fields["subgraphs"].description
    keys["subgraphs"] = (list[subgraph] | None, Field(default=None, description=described))  # type: ignore[valid-type]
    model = create_model("ModelSection", __base__=ModelSection, __doc__=ModelSection.__doc__, **keys)
    models = Field(description=DeploymentSection.model_fields["models"].description, min_length=1)
    deployment = create_model(
        "DeploymentSection",
        __base__=DeploymentSection,
        __doc__=DeploymentSection.__doc__,
        models=(dict[str, model], models),  # type: ignore[valid-type]
    )
    return Sections(deployment, model, subgraph, thresholds)
