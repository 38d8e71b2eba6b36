"""`lathe build` for the MAX78000: projects and images of descriptions and of graphs, which run in an emulator."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import buildtool
from buildtool import workflow
from buildtool.errors import ConfigError, LatheError, ModelFileError
from buildtool.settings import SILENT, Overrides
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware import emulated, program, sources
from buildtool.targets.max7800x.firmware.program import Program
from tests.targets.max7800x import known_answers
from tests.targets.max7800x.description.refused import Description
from tests.targets.max7800x.known_answers import KnownAnswer

BOARD = ("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting-config", "enable=on,target=native")


def deployment(folder: Path, models: dict[str, Path], *, weights: str, sample: str = "", cnn: str = "{}") -> Path:
    """A deployment file of descriptions."""
    lines = ["library_name: nets", "target_abis: [max78000]", "models:"]
    for name, file in models.items():
        lines += [
            f"  {name}:",
            "    platform: ai8x",
            "    runtime: cnn",
            f"    model_file_path: {file}",
            f"    weight_file_path: {file.parent / weights}",
            *([f"    validation_inputs_data: {file.parent / sample}"] if sample else []),
            f"    cnn: {cnn}",
        ]
    path = folder / "nets.yml"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A folder with a description and its files."""
    Description(device=MAX78000).read(tmp_path)
    return tmp_path


def on_board(elf: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["timeout", "100", *BOARD, "-kernel", str(elf)], capture_output=True, text=True, check=False)


@pytest.mark.slow
@known_answers.exist
@pytest.mark.parametrize("name", ["mnist_extrasmall", "t_fire_cifar10", "t_fifostream_cifar_hwc"])
def test_an_image_gives_the_known_answer(name: str, tmp_path: Path) -> None:
    known = KnownAnswer(name)
    file = deployment(
        tmp_path,
        {"net": known.description},
        weights="checkpoint.pth.tar",
        sample="sample.npy",
        cnn="{fifo: 1}" if "fifo" in name else "{}",
    )
    buildtool.build(file, options=buildtool.Options(tmp_path / "build"))
    done = on_board(tmp_path / "build/nets/lib/max78000/net_emulated.elf")
    assert "*** PASS ***" in done.stdout and done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_wrong_answer_fails(tmp_path: Path) -> None:
    """The image compares with what the simulator computed: a word of it that is another is noticed."""
    found = Description(device=MAX78000).read(tmp_path)
    assert found.sample is not None
    right = program.make(found.network, found.sample)
    first, *rest = right.expected
    changed = replace(first, words=(first.words[0] ^ 1, *first.words[1:]))
    assert "*** PASS ***" in on_board(image(right, tmp_path / "right")).stdout
    done = on_board(image(replace(right, expected=(changed, *rest)), tmp_path / "wrong"))
    assert "*** FAIL" in done.stdout and done.returncode != 0


def image(made: Program, tree: Path) -> Path:
    """The image of a program."""
    project = sources.emit(made)
    for path, data in {**emulated.files(), **{f"net/{name}": data for name, data in project.items()}}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(data)
    (wanted,) = emulated.images("net", "net", project, MAX78000)
    linked = ["arm-none-eabi-gcc", *wanted.compile_flags, *wanted.sources, *wanted.link_flags, "-o", "net.elf"]
    subprocess.run(linked, cwd=tree, check=True)
    return tree / "net.elf"


def test_reports_tell_of_layers_and_memory(described: Path) -> None:
    file = deployment(described, {"net": described / "network.yaml"}, weights="weights.npy", sample="sample.npy")
    made = workflow.convert(file, options=buildtool.Options(described / "build"), progress=SILENT)
    (firmware,) = json.loads(json.dumps(made.as_json()))["firmware"]
    (model,) = firmware["models"]
    assert [layer["out"] for layer in model["details"]["layers"]] == ["8x8x8", "16x4x4", "16x4x4", "4x16x1", "10x1x1"]
    assert (described / "build/nets/lib/max78000/net/cnn.c").is_file()


def test_maps_and_memories_lie_beside_the_program(described: Path) -> None:
    models = {"net": described / "network.yaml"}
    file = deployment(described, models, weights="weights.npy", sample="sample.npy", cnn="{memory_images: 1}")
    workflow.convert(file, options=buildtool.Options(described / "build"), progress=SILENT)
    folder = described / "build/nets/lib/max78000/net"
    assert "first column" in (folder / "maps/kernels.txt").read_text()
    assert (folder / "maps/data.txt").read_text().count("Layer ") == 5
    assert (folder / "maps/data.svg").read_text().startswith("<svg")
    assert (folder / "memories/registers.txt").read_text().startswith("# cnn_init\n")
    assert list((folder / "memories/kernels").glob("processor_*.mem"))


def test_all_models_are_told_of_at_once(described: Path) -> None:
    for name in ("one", "two"):
        folder = described / name
        folder.mkdir()
        Description(device=MAX78000).read(folder)
        file = folder / "network.yaml"
        file.write_text(file.read_text().replace("pool_stride: 2", "pool_stride: 20"))
    models = {name: described / name / "network.yaml" for name in ("one", "two")}
    with pytest.raises(ConfigError) as caught:
        buildtool.build(deployment(described, models, weights="weights.npy", sample="sample.npy"))
    assert [Path(problem.where.file).parent.name for problem in caught.value.problems] == ["one", "two"]
    assert all(problem.where.line == 13 for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("cnn", "words"),
    [
        ("{fast_fifo: 1}", "`fast_fifo` needs `riscv`"),
        ("{boost: x}", "`boost` cannot be 'x'"),
        ("{fifoo: 1}", "fifoo"),
    ],
)
def test_settings_that_cannot_be(described: Path, cnn: str, words: str) -> None:
    file = deployment(described, {"net": described / "network.yaml"}, weights="weights.npy", cnn=cnn)
    with pytest.raises(LatheError, match=words):
        buildtool.build(file)


def test_a_damaged_checkpoint_names_the_file(described: Path) -> None:
    (described / "weights.npy").write_bytes(b"PK\x03\x04 and no more")
    file = deployment(described, {"net": described / "network.yaml"}, weights="weights.npy", sample="sample.npy")
    with pytest.raises(ModelFileError, match=r"weights\.npy"):
        buildtool.build(file)


def test_a_description_stands_for_a_deployment(described: Path) -> None:
    """The same as with a deployment file; the options of the command line are the keys of one."""
    beside = Overrides(
        weights=described / "weights.npy",
        sample=described / "sample.npy",
        cnn=("softmax", "no-bias=0,1"),
        target_abis=("max78002",),
        library_name="net",
    )
    options = buildtool.Options(described / "build")
    made = workflow.convert(described / "network.yaml", beside, options)
    library = described / "build/net/lib/max78002/network"
    assert made.library == "net" and "softmax_q17p14_q15" in (library / "main.c").read_text()


def test_files_beside_a_description_are_not_for_deployments(described: Path) -> None:
    file = deployment(described, {"net": described / "network.yaml"}, weights="weights.npy")
    with pytest.raises(ConfigError, match="--cnn cannot be combined with a deployment file"):
        workflow.convert(file, Overrides(cnn=("softmax",)))


def test_an_unknown_setting_on_the_command_line(described: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"option --cnn: error: unknown key 'softmaxx'\n  fix:  did you mean 'softmax'"
    ):
        workflow.convert(described / "network.yaml", Overrides(cnn=("softmaxx",)))


def test_settings_without_a_value(described: Path) -> None:
    """What is on or off is on; of biases all are left out; the rest needs a value."""
    folder = described / "with-dashes"
    folder.mkdir()
    (folder / "bias.npy").write_bytes(b"no array")
    words = ("softmax", "no-bias", f"bias-input={folder}/bias.npy")
    with pytest.raises(ModelFileError, match=r"with-dashes/bias\.npy"):
        workflow.convert(described / "network.yaml", Overrides(weights=described / "weights.npy", cnn=words))
    with pytest.raises(ConfigError, match="'stop_after' is empty"):
        workflow.convert(described / "network.yaml", Overrides(cnn=("stop-after",)))
