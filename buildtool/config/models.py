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
from buildtool.config.preprocess_keys import PreprocessSection
from buildtool.extensions.targets import words as target_words
from buildtool.runtimes import DATA_TYPES, HEXAGON_POWERS, HEXAGON_VERSIONS, INSTRUCTION_SETS
from buildtool.sections.readers import FOLDER, Choice, Many, choice, number_choice
from buildtool.sections.section import Flag, Ignored, Numbers, Path, Paths, Section, Text, Texts, Whole, dead_key, key
from buildtool.vision import FUNCTIONS
from buildtool.wording import listed

PLATFORMS = Choice(
    ("tensorflow", "caffe", "onnx", "keras", "pytorch", "megengine", "paddle", "tflite"),
    more=lambda: target_words().described,
    excuse=unloaded,
)
RUNTIMES = Choice(
    ("cpu", "gpu", "dsp", "cpu+gpu", "cpu+dsp", "hta", "apu", "htp"),
    {"hexagon": "dsp", "cpu_gpu": "cpu+gpu", "cpu_dsp": "cpu+dsp"},
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
Reals = Annotated[list[float] | None, Many(fields.REAL)]


class FrontendSection(Section):
    """What makes the input of a model for microcontrollers, as C beside it. Audio: 16-bit samples; images: bytes."""

    kind: Annotated[str | None, choice(("log_mel", "mfcc", "image"))] = key("What it makes.", required=True)
    rate: Whole = key("Audio: samples per second.")
    window: Whole = key("Audio: samples of a frame, 8 to 1024.")
    step: Whole = key("Audio: samples from one frame to the next.")
    bins: Whole = key("Audio: mel bands.")
    low: Whole = key("Audio: the lower end of the bands, in Hz.")
    high: Whole = key("Audio: the upper end of the bands, in Hz.")
    coefficients: Whole = key("`mfcc`: how many coefficients of a frame are kept.")
    logarithm: Annotated[str | None, choice(("ln", "log10", "db"))] = key("Audio: of energies.", default="ln")
    width: Whole = key("Images: pixels of a row.")
    height: Whole = key("Images: rows.")
    crop: Numbers = key("Images: the part that is used: left, top, width, height.", default_words="everything")
    resize: Annotated[str | None, choice(("bilinear", "nearest"))] = key("Images: how.", default="bilinear")
    mean: Reals = key("Images: what is subtracted from bytes, one number or one per channel.", default_words="0")
    deviation: Reals = key("Images: what they are divided by then.", default_words="1")


class MicroSection(Section):
    """Settings of a model for microcontrollers."""

    backend: Annotated[str | None, choice(("cmsis", "xtensa", "portable", "reference"))] = key(
        "MACE's word for the kernels. Accepted and ignored: the target decides which kernels of Lathe are used.",
        default="portable",
    )
    arena_limit: Whole = key("Maximum number of bytes of RAM for tensors and work buffers.", default_words="unlimited")
    flash_limit: Whole = key(
        "Maximum number of bytes of flash for constants, kernels and the code that calls them, as linked. What is "
        "left is used for layers with code of their own.",
        default_words="shared kernels only",
    )
    frontend: FrontendSection | None = key("What makes the first input of the model: keys below.")


class ThresholdSection(Section):
    """Minimum cosine similarity of the outputs, by runtime. The names may be in capitals; `hexagon` is `dsp`."""

    cpu: Similarity = key("On the CPU.", default=0.999)
    gpu: Similarity = key("On the GPU.", default=0.995)
    dsp: Similarity = key("On the Hexagon DSP.", default=0.98)
    hta: Similarity = key("On the Hexagon tensor accelerator.", default=0.98)
    apu: Similarity = key("On the MediaTek APU.", default=0.98)
    htp: Similarity = key("On the Hexagon tensor processor.", default=0.98)


class GraphSection(Section):
    """The keys of a model and of its subgraphs. A subgraph's value wins over its model's."""

    platform: Annotated[str | None, PLATFORMS] = key("Framework of the model file.", required=True)
    model_file_path: Path = key(
        "Model file. A relative path starts at the folder of the deployment file.", required=True
    )
    model_sha256_checksum: Checksum = key(
        "SHA-256 checksum of the model file; `sha256sum FILE` prints it. Required for an address."
    )
    weight_file_path: Path = key("File with the weights, if the framework stores them separately (required for Caffe).")
    weight_sha256_checksum: Checksum = key("SHA-256 checksum of the weight file.")
    runtime: Annotated[str | None, RUNTIMES] = key("Processor that runs the model.", default="cpu")
    data_type: Annotated[str | None, PRECISIONS] = key(
        "Precision of storage and computation: `fp16_fp32` stores half precision and computes in single precision, "
        "`bf16_fp32` stores bfloat16 and computes in single precision, `fp16_fp16` stores and computes in half "
        "precision.",
        default="fp16_fp32",
    )
    input_tensors: Texts = key("Names of the inputs in the model.", required=True)
    input_shapes: Shapes = key("Shape of each input, in the order of `input_data_formats`.", required=True)
    input_data_types: ElementTypes = key("Element type of each input, or one for all.", default=["float32"])
    input_data_formats: Formats = key(
        "Order of the dimensions of each input, or one for all.",
        default_words="`NHWC` for four dimensions, otherwise `NONE`",
    )
    input_ranges: Annotated[list[tuple[float, float]] | None, Many(fields.RANGE)] = key(
        "Range of the random values of each input, used where no data is given.",
        default_words="`-1.0,1.0`; the full range of the type for 8 and 16 bits",
    )
    input_aliases: Texts = key("Names of the inputs in the library.", default_words="`input_tensors`")
    output_tensors: Texts = key("Names of the outputs in the model.", required=True)
    output_shapes: Shapes = key("Shape of each output, in the order of `output_data_formats`.", required=True)
    output_data_types: ElementTypes = key(
        "Element type of each output, or one for all.", default_words="the model's type"
    )
    output_data_formats: Formats = key(
        "Order of the dimensions of each output, or one for all.",
        default_words="`NHWC` for four dimensions, otherwise `NONE`",
    )
    output_aliases: Texts = key("Names of the outputs in the library.", default_words="`output_tensors`")
    check_tensors: Texts = key("Inner tensors that `lathe validate` compares besides the outputs.")
    check_shapes: Shapes = key("Shape of each tensor to check.")
    validation_inputs_data: Paths = key("Validation data for each input: `.npy` or raw elements.")
    validation_outputs_data: Paths = key(
        "Expected data of each output; without it, the reference framework computes them."
    )
    input_files: Paths = key("Other name of `validation_inputs_data`.")
    validation_threshold: ThresholdSection | None = key(
        "Minimum cosine similarity of the outputs, by runtime.", default_words="see below"
    )
    accuracy_validation_script: Paths = key("Python script that measures the accuracy of the library.")
    backend: Annotated[str | None, BACKENDS] = key(
        "Framework that computes the reference.", default_words="the installed one"
    )
    winograd: Annotated[int | None, number_choice(0, 2, 4)] = key(
        "Largest tile of Winograd convolutions; 0 disables them. They are faster, and their filters are larger.",
        default_words="chosen per convolution by the cost model",
    )
    quantize: Flag = key("Compute with 8-bit integers.", default=0)
    quantize_large_weights: Annotated[str | None, LARGE_WEIGHTS] = key(
        "Store large weights as integers of 8 (`1`), 16 or 4 bits with scales, and compute in single precision; "
        "excludes `quantize`.",
        default=0,
    )
    quantize_operators: Texts = key(
        "Operators and layers that `quantize` stores in 8 bits: their names, `usual` (convolutions and matrix products "
        "with weights) or `all`. Operators between them that only move data are included.",
        default=["all"],
    )
    quantize_keep_float: Texts = key("Names of layers and operators that stay in single precision.")
    quantize_range_file: Path = key("File with the value ranges of the tensors, from `lathe quantize`.")
    quantize_weights_file: Path = key(
        "File with adjusted weights and biases, from `lathe quantize` with `--bias-correction` or "
        "`--rounding adaptive`."
    )
    quantize_equalize: Flag = key(
        "Equalise value ranges across layers, per channel, before quantisation, so that `quantize` and "
        "`quantize_large_weights` lose less accuracy. The ranges must come from `lathe quantize` with this key set.",
        default=0,
    )
    quantize_schema: Annotated[str | None, SCHEMES] = key(
        "Quantisation schema; empty for the target's default.", default=""
    )
    change_concat_ranges: Flag = key("Use one common range for all inputs of a concatenation.", default=0)
    limit_opencl_kernel_time: Flag = key("Split long GPU kernels, to keep the screen responsive.", default=0)
    opencl_queue_window_size: Whole = key("Maximum number of commands in the GPU queue; 0 for no limit.", default=0)
    cl_mem_type: Annotated[str | None, choice(("image", "buffer"))] = key(
        "Memory type of GPU tensors.", default="image"
    )
    obfuscate: Flag = key(
        "Replace the names of operators and tensors in the model file; `debug/` maps the new names to the old ones.",
        default=0,
    )
    graph_optimize_options: Texts = key("Names of the optimisation passes to run.", default_words="all")
    order: Whole = key("Index of the subgraph in its model.", default=0)
    micro: MicroSection | None = key("Settings of a model for microcontrollers.")
    preprocess: list[PreprocessSection] | None = Field(
        default=None, description="How images fill inputs: a mapping, or a list with one for each such input."
    )
    nnlib_graph_mode: Ignored = dead_key("No effect.")
    dsp_mode: Ignored = dead_key("No effect.")
    docker_image_tag: Ignored = dead_key("No effect.")
    dockerfile_path: Ignored = dead_key("No effect.")
    dockerfile_sha256_checksum: Ignored = dead_key("No effect.")


class SubgraphSection(GraphSection):
    """An entry of `subgraphs`: the keys of a model again, for one part of it."""


class ModelSection(GraphSection):
    """A model of the library; its name is the key."""

    subgraphs: list[SubgraphSection] | None = Field(
        default=None,
        description="Inputs and outputs of the model: a list of subgraphs, or a mapping from names to subgraphs. "
        "The keys of a single subgraph may be written in the model itself.",
    )


class DeploymentSection(Section):
    """The top level of a deployment file."""

    library_name: Text = key("Name of the library and of its output folder.", default_words="the name of the file")
    target_abis: Annotated[list[str] | None, Many(fields.ABI, commas=True)] = key(
        "ABIs and chips to build for.", default=["host"]
    )
    target_socs: Texts = key("Chips of the devices to run on: names, `all` or `random`.")
    model_graph_format: Form = key(
        "Store the graph in a file next to the library (`file`) or in the library (`code`).", default="file"
    )
    model_data_format: Form = key(
        "Store the weights in a file next to the library (`file`) or in the library (`code`). `code` requires "
        "`model_graph_format: code`.",
        default="file",
    )
    build_type: Annotated[str | None, choice(("proto", "code"))] = key(
        "Old name of `model_graph_format`; `proto` is `file`."
    )
    embed_model_data: Flag = key("Old name of `model_data_format`; 1 is `code`.")
    glibc_floor: Annotated[str | None, fields.GLIBC] = key(
        "Oldest version of glibc that a library for Linux must run with.", default="2.17"
    )
    android_api_level: Annotated[int | None, fields.ANDROID_API] = key(
        "Lowest Android API level that the library must run on.", default=21
    )
    isa: Annotated[list[str] | None, Many(choice(INSTRUCTION_SETS), commas=True)] = key(
        "Optional instruction sets that the library has kernels for. Kernels that every machine of an ABI runs always "
        "remain.",
        default_words="all of the ABI",
    )
    hexagon_versions: Annotated[list[str] | None, Many(choice(HEXAGON_VERSIONS), commas=True)] = key(
        "Versions of the Hexagon DSP to build a program for, if a model has `runtime: dsp` or `cpu+dsp`. A DSP also "
        "runs programs for earlier versions.",
        default=["v66"],
    )
    hexagon_unsigned: Flag = key(
        "Run the program on the DSP without a signature (SM8150 and later). With 0, it must be signed.", default=1
    )
    hexagon_power: Annotated[str | None, choice(HEXAGON_POWERS)] = key(
        "How fast the DSP should be, from `turbo` to `svs2`. By default, its system decides; `release` takes back what "
        "was asked for before.",
        default="default",
    )
    op_paths: Annotated[list[str] | None, Many(FOLDER)] = key("Folders with your own operators.")
    messages: Flag = key(
        "Include message texts in the library. Without them it is smaller and reports codes only.",
        default=1,
    )
    vision: Annotated[list[str] | None, Many(choice(("all", *FUNCTIONS)), commas=True)] = key(
        "Functions of `lathe/vision.h` that the library holds, or `all`. Those for `preprocess` need no entry.",
        default_words="none",
    )
    mace_compat: Annotated[str | None, choice(("0", "1", "headers"))] = key(
        "Add headers with MACE's C++ interface. With 1, the library files are also named `libmace`.",
        default="0",
    )
    core_binding: Flag = key(
        "Let engines bind their threads to cores: power modes, lists of cores, and the kinds of cores of the machine. "
        "It adds about 4 KB. `paddle_compat` implies it.",
        default=0,
    )
    all_ops: Flag = key(
        "Put the kernels of all operators for the CPU into the library, so that it also runs models that are made "
        "later. It then has 1 to 2 MB.",
        default=0,
    )
    paddle_compat: Annotated[str | None, choice(("0", "1", "headers"))] = key(
        "Add headers with Paddle-Lite's C++ interface, and models in one file. With 1, the library files are also "
        "named `libpaddle_light_api_shared`.",
        default="0",
    )
    models: dict[str, ModelSection] = Field(description="Models of the library, by name.", min_length=1)


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
        runtime: (
            Similarity,
            key(f"On the {listed(known.abis[abi] or abi for abi in abis)}.", default=CHIP_THRESHOLD),
        )
        for runtime, abis in known.chips.items()
        if runtime not in ThresholdSection.model_fields
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
