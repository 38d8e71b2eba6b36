"""Arguments and options that several commands share, spelled once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

import typer

from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.settings import DeviceSpec, GpuSettings, Options, Overrides, RunSettings
from buildtool.wording import near_files

_ENDINGS = (".npy", ".raw", ".bin", ".png", ".jpg", ".jpeg", ".bmp", ".wav")

FileArgument: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The deployment file.", show_default=False)
]
ConfigOption: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The deployment file (MACE's spelling).")
]
OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FOLDER", help="Output folder; the result is in <library>/. [default: build]"
    ),
]
AbisOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--target-abis", "--abi", metavar="ABI[,ABI]", help="Build only these ABIs, not those of the file; repeatable."
    ),
]
LibraryOption: TypeAlias = Annotated[
    str | None, typer.Option("--library-name", metavar="NAME", help="Override the library name of the file.")
]
ModelOption: TypeAlias = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Run only this model.")]
UnverifiedOption: TypeAlias = Annotated[
    bool, typer.Option("--allow-unverified", help="Download files that have no checksum in the deployment file.")
]
TrustOption: TypeAlias = Annotated[
    bool,
    typer.Option("--trust-model-code", help="Run PyTorch programs outside the jail, with all your rights."),
]
ToolchainOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--toolchain",
        metavar="FILE",
        help="CMake toolchain file to build with; --abi then only names the result. Repeatable, with as many names.",
    ),
]
OpPathOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--op-path", metavar="FOLDER", help="Additional folder with your own operators; repeatable."),
]
GraphFormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--model-graph-format", metavar="file|code", help="Override the key of this name in the file."),
]
DataFormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--model-data-format", metavar="file|code", help="Override the key of this name in the file."),
]

FallbackOption: TypeAlias = Annotated[
    str,
    typer.Option("--fallback", metavar="cpu", help="Run layers that the accelerator does not support on the CPU."),
]

MessagesOption: TypeAlias = Annotated[
    bool, typer.Option("--no-messages", help="Omit message texts and report codes only; the library is smaller.")
]

RuntimeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--runtime",
        metavar="cpu|gpu|dsp|cpu+gpu|cpu+dsp",
        help="Runtime of every model instead of that of the file, in a folder of its own: build/variants/RUNTIME.",
    ),
]

MaceOption: TypeAlias = Annotated[
    bool, typer.Option("--mace-compat", help="Add the headers of MACE's C++ interface, and call the library libmace.")
]

PaddleOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--paddle-compat",
        help="Add the headers of Paddle-Lite's C++ interface, and call the library libpaddle_light_api_shared.",
    ),
]

AllOpsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--all-ops", help="Put the kernels of all operators into the library, for models that come later."),
]

DeviceOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        metavar="DEVICE",
        help="Device to run on: local, qemu, qemu:CPU, ssh://USER@HOST[:PORT], adb, adb:SERIAL, or a name from the"
        " device file; repeatable. Default: this machine, or an emulator.",
    ),
]
DeviceFileOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--device-yml", metavar="FILE", help="The device file. Without --device, all its devices are used."),
]
SocsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--target-socs", metavar="SOC[,SOC]", help="Use only devices with one of these chips; random: any one device."
    ),
]

CpuOption: TypeAlias = Annotated[
    str, typer.Option("--cpu", metavar="MODEL", help="Processor that the emulator models, such as cortex-a53.")
]
TimeoutOption: TypeAlias = Annotated[
    float, typer.Option("--timeout", min=1, metavar="SECONDS", help="Time limit of one run.")
]
ThreadsOption: TypeAlias = Annotated[
    int, typer.Option("--num-threads", min=-1, help="Number of threads; -1: one per core.")
]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random inputs.")]


def usual_output(runtime: str | None = None) -> Path:
    """The folder without --output. Every --runtime has its own, so that builds can be compared."""
    return Path("build", "variants", runtime) if runtime else Path("build")


@dataclass(frozen=True)
class DeploymentOptions:
    """Which deployment, where its build goes, and what counts instead of its own words. A parameter of this type, or of
    one that is derived from it, brings all these options.
    """

    topic: ClassVar[str] = "Deployment and build"

    file: FileArgument = None
    config: ConfigOption = None
    output: OutputOption = None
    target_abis: AbisOption = None
    library_name: LibraryOption = None
    allow_unverified: UnverifiedOption = False
    trust_model_code: TrustOption = False

    def source(self) -> Path:
        """The deployment file."""
        return deployment_file(self.file, self.config)

    def options(self) -> Options:
        """Where the build goes, to which the command adds its own."""
        return Options(
            output=self.output or usual_output(self.overrides().runtime),
            allow_unverified=self.allow_unverified,
            trust_model_code=self.trust_model_code,
        )

    def overrides(self) -> Overrides:
        """What the command line says instead of the deployment file."""
        return Overrides(target_abis=words(self.target_abis), library_name=self.library_name)


@dataclass(frozen=True)
class FormOptions(DeploymentOptions):
    """With the form of the library."""

    model_graph_format: GraphFormatOption = None
    model_data_format: DataFormatOption = None
    runtime: RuntimeOption = None
    no_messages: MessagesOption = False

    def overrides(self) -> Overrides:
        return replace(
            super().overrides(),
            model_graph_format=self.model_graph_format,
            model_data_format=self.model_data_format,
            runtime=self.runtime,
            messages=False if self.no_messages else None,
        )


@dataclass(frozen=True)
class LibraryOptions(FormOptions):
    """With what comes along with the library."""

    mace_compat: MaceOption = False
    paddle_compat: PaddleOption = False
    all_ops: AllOpsOption = False

    def overrides(self) -> Overrides:
        return replace(
            super().overrides(),
            mace_compat="1" if self.mace_compat else None,
            paddle_compat="1" if self.paddle_compat else None,
            all_ops=True if self.all_ops else None,
        )


@dataclass(frozen=True)
class BuildOptions(LibraryOptions):
    """With what compiles it."""

    toolchain: ToolchainOption = None

    def overrides(self) -> Overrides:
        return replace(super().overrides(), toolchains=tuple(self.toolchain or ()))


@dataclass(frozen=True)
class InputOptions:
    """What goes into the models."""

    topic: ClassVar[str] = "Inputs, outputs and repetitions"

    input_: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE", help="Data for an input: .npy, image, audio or raw numbers."),
    ] = None
    input_dir: Annotated[
        Path | None,
        typer.Option("--input-dir", metavar="FOLDER", help="Folder with data for the inputs: <name>.npy."),
    ] = None

    def files(self) -> dict[str, Path]:
        """The files by the names of their inputs."""
        return {**_files_in(self.input_dir), **_named_files(self.input_)}


@dataclass(frozen=True)
class StandOptions:
    """Options of all commands that run models on devices; a parameter of this type brings them all."""

    topic: ClassVar[str] = "Devices"

    device: DeviceOption = None
    device_yml: DeviceFileOption = None
    target_socs: SocsOption = None
    cpu: CpuOption = ""
    num_threads: ThreadsOption = -1
    seed: SeedOption = 0
    timeout: TimeoutOption = 600.0

    def settings(self, out: Output) -> RunSettings:
        """What they say, to which the command adds its own."""
        return RunSettings(
            threads=self.num_threads,
            seed=self.seed,
            cpu=self.cpu,
            timeout=self.timeout,
            devices=devices(self.device, self.device_yml, out),
            target_socs=words(self.target_socs),
        )


@dataclass(frozen=True)
class GpuOptions:
    """How a GPU runs what models with `runtime: gpu` or `cpu+gpu` give it."""

    topic: ClassVar[str] = "GPU"

    gpu_perf_hint: Annotated[
        int,
        typer.Option("--gpu-perf-hint", min=0, max=3, help="GPU performance: 0 default, 1 low, 2 normal, 3 high."),
    ] = 3
    gpu_priority_hint: Annotated[
        int,
        typer.Option("--gpu-priority-hint", min=0, max=3, help="GPU priority: 0 default, 1 low, 2 normal, 3 high."),
    ] = 3
    gpu_out_of_range_check: Annotated[
        bool,
        typer.Option("--gpu-out-of-range-check", help="Fail when a GPU kernel reads or writes outside a tensor; slow."),
    ] = False
    opencl_cache_reuse_policy: Annotated[
        int,
        typer.Option(
            "--opencl-cache-reuse-policy",
            min=0,
            max=1,
            help="1: reuse compiled GPU programs; 0: compile them again.",
        ),
    ] = 1

    def settings(self, settings: RunSettings) -> RunSettings:
        """The settings with them."""
        reuses = self.opencl_cache_reuse_policy == 1
        hints = GpuSettings(self.gpu_perf_hint, self.gpu_priority_hint, self.gpu_out_of_range_check, reuses)
        return replace(settings, gpu=hints)


def devices(device: list[str] | None, file: Path | None, out: Output) -> tuple[DeviceSpec, ...]:
    """The devices of the command line, for `RunSettings.devices`."""
    from buildtool.cli.device_words import chosen

    return chosen(words(device), file, out)


@dataclass(frozen=True)
class DescriptionOptions:
    """What stands beside a description of a network that is given instead of a deployment file."""

    topic: ClassVar[str] = "Network descriptions (MAX78000, MAX78002)"

    checkpoint_file: Annotated[
        Path | None,
        typer.Option("--checkpoint-file", metavar="FILE", help="Quantised checkpoint (with a network description)."),
    ] = None
    sample_input: Annotated[
        Path | None,
        typer.Option(
            "--sample-input",
            metavar="FILE",
            help="Sample input (.npy) of [channels, rows, columns] (with a network description).",
        ),
    ] = None
    cnn: Annotated[
        list[str] | None,
        typer.Option(
            "--cnn", metavar="KEY[=VALUE]", help="Key of the section `cnn` (with a network description); repeatable."
        ),
    ] = None

    def beside(self, replaced: Overrides) -> Overrides:
        """With them."""
        return replace(replaced, weights=self.checkpoint_file, sample=self.sample_input, cnn=tuple(self.cnn or ()))


def deployment_file(argument: Path | None, option: Path | None) -> Path:
    """The one deployment file of the command line, whichever way it was given."""
    if argument is not None and option is not None and argument != option:
        raise ConfigError(
            f"two deployment files are given: {argument} and --config {option}", remedy="give one of them"
        )
    file = argument or option
    if file is None:
        raise ConfigError(
            "no deployment file is given",
            rule="the command line names a deployment file or a model: FILE, or --config FILE",
            remedy="write one with: lathe init MODEL",
        )
    return file


def words(items: list[str] | None) -> tuple[str, ...]:
    """All words of a repeatable option that takes several with commas between them."""
    return tuple(word for item in items or () for word in item.replace(",", " ").split())


def _named_files(given: list[str] | None) -> dict[str, Path]:
    """`name=file` by name."""
    files: dict[str, Path] = {}
    for word in given or ():
        name, equals, file = word.partition("=")
        if not equals or not name or not file:
            raise ConfigError(
                f"--input cannot be '{word}'",
                rule="--input NAME=FILE",
                remedy=f"put the name of the input before it: --input NAME={file or word}",
            )
        files[name] = Path(file)
    return files


def _files_in(folder: Path | None) -> dict[str, Path]:
    """The files of a folder by the name of their tensor: .npy, raw numbers, images and audio."""
    if folder is None:
        return {}
    files: dict[str, Path] = {}
    for ending in _ENDINGS:  # the first one counts, where a name has several
        for file in sorted(folder.glob(f"*{ending}")):
            files.setdefault(file.stem, file)
    if not files:
        raise ConfigError(
            f"no input files in {folder}"
            if folder.is_dir()
            else f"no input files in {folder}: there is no such folder",
            rule=f"--input-dir holds <input> with {' '.join(_ENDINGS)}",
            remedy=near_files(folder) if not folder.exists() else "name the files after the inputs of the model",
        )
    return files
