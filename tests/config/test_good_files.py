"""Every shape that deployment files in the wild have loads, and means what its author meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.config import Deployment, LoadedDeployment, Thresholds, load_deployment, unbuilt
from buildtool.errors import ConfigError
from buildtool.runtimes import Runtime

GOOD = Path(__file__).parent / "good"
SHA = "a1b2c3d4" * 8


def load(name: str) -> LoadedDeployment:
    return load_deployment(GOOD / f"{name}.yml", environment={"MODELS": "nets"})


def deployment_of(name: str) -> Deployment:
    return load(name).deployment


def thresholds(**given: float) -> Thresholds:
    usual = {"cpu": 0.999, "gpu": 0.995, **dict.fromkeys(("dsp", "hta", "apu", "htp", "kpu", "cnn"), 0.98)}
    return Thresholds(tuple({**usual, **given}.items()))


def write(folder: Path, text: str) -> Path:
    path = folder / "deploy.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(GOOD.glob("*.yml")), ids=lambda path: path.stem)
def test_good_file_loads_and_everything_has_a_place(path: Path) -> None:
    deployment = deployment_of(path.stem)
    for model in deployment.models:
        assert model.where.line and model.model_file.where.line
        for graph in model.subgraphs:
            assert graph.where.line
            for tensor in (*graph.inputs, *graph.outputs, *graph.check_tensors):
                assert tensor.where.line and tensor.where.column
                assert tensor.shape_where.line and tensor.format_where.line


def test_code_with_thresholds() -> None:
    deployment = deployment_of("code_with_thresholds")
    assert (deployment.model_graph_format, deployment.model_data_format) == ("code", "code")
    model = deployment.models[0]
    assert model.model_file.is_url and model.model_file.sha256 == SHA
    assert (model.runtime, model.winograd, model.data_type) == (Runtime.CPU_GPU, 4, "fp16_fp32")
    assert model.subgraphs[0].validation_threshold == thresholds(cpu=0.8, gpu=0.7)
    assert model.subgraphs[0].inputs[0].data_format == "NHWC"


def test_old_names_and_data_beside_code() -> None:
    deployment = deployment_of("code_graph_file_data")
    assert (deployment.model_graph_format, deployment.model_data_format) == ("code", "file")
    assert deployment.target_socs == ("msm8998",)
    model = deployment.models[0]
    assert (model.runtime, model.data_type) == (Runtime.CPU_GPU, "fp32_fp32")
    assert model.model_file.path == GOOD / "nets/mixed.pb"
    assert [ref.location for ref in model.subgraphs[0].validation_inputs_data] == [
        "https://models.example.com/entry.npy"
    ]


def test_scalars_stand_for_lists_and_numbers_for_shapes() -> None:
    deployment = deployment_of("scalar_tensors")
    graph = deployment.models[0].subgraphs[0]
    assert (graph.inputs[0].shape, graph.outputs[0].shape) == ((128,), (9,))
    assert graph.inputs[0].data_format == "NONE"
    assert deployment.target_abis == ("host",) and deployment.target_socs == ("all",)


def test_three_outputs_on_linux_arm() -> None:
    deployment = deployment_of("three_outputs")
    assert deployment.target_abis == ("aarch64-linux-gnu", "arm-linux-gnueabihf")
    outputs = deployment.models[0].subgraphs[0].outputs
    assert [(output.name, output.shape[-1], output.data_format) for output in outputs] == [
        ("small/BiasAdd:0", 255, "NHWC"),
        ("middle/BiasAdd:0", 255, "NHWC"),
        ("large/BiasAdd:0", 255, "NHWC"),
    ]


def test_dead_keys_are_notes() -> None:
    loaded = load("caffe_with_docker")
    dead = [note.what for note in loaded.notes if "no effect" in note.what]
    assert len(dead) == 4
    weights = loaded.deployment.models[0].weight_file
    assert weights is not None and weights.sha256 == SHA
    assert [out.data_format for out in loaded.deployment.models[0].subgraphs[0].outputs] == ["NONE", "NONE"]


def test_rank_three_with_outputs_data() -> None:
    graph = deployment_of("speech_rank_three").models[0].subgraphs[0]
    assert (graph.inputs[0].data_format, graph.outputs[0].data_format, graph.backend) == ("NONE", "NONE", "kaldi")
    assert graph.validation_outputs_data[0].location.endswith("out.npy")


def test_quantised_with_tensors_to_check() -> None:
    model = deployment_of("htp_with_checks").models[0]
    assert model.quantize.enabled and model.quantize.schema == "mace_htp_u16a_s8w"
    check = model.subgraphs[0].check_tensors[0]
    assert (check.name, check.shape, check.data_format) == ("Logits/BiasAdd:0", (1, 1, 1, 1001), "NHWC")


def test_model_without_subgraphs_is_its_own() -> None:
    model = deployment_of("dsp_uint8").models[0]
    assert (model.runtime, model.data_type) == (Runtime.DSP, "uint8")
    assert model.subgraphs[0].inputs[0].name == "input"
    assert model.subgraphs[0].validation_threshold == thresholds(dsp=0.9, cpu=0.5)


def test_range_file_and_ranges() -> None:
    model = deployment_of("range_file_by_address").models[0]
    assert model.quantize.range_file is not None and model.quantize.range_file.is_url
    assert model.subgraphs[0].inputs[0].value_range == (-5.0, 15.0)
    assert model.subgraphs[0].outputs[0].value_range == (-1.0, 1.0)


def test_micro_backend() -> None:
    assert deployment_of("keras_int8_host").models[0].micro_backend == "cmsis"


def test_four_models_by_merge_keys() -> None:
    loaded = load("four_models")
    models = loaded.deployment.models
    assert [model.identifier for model in models] == ["squeeze_v10", "second", "third", "new_"]
    assert [model.data_type for model in models] == ["fp32_fp32", "fp32_fp32", "fp16_fp32", "fp32_fp32"]
    assert models[1].model_file.path == GOOD / "second.onnx"
    renamed = [note.what for note in loaded.notes if "in code" in note.what]
    assert renamed == [
        "the model 'squeeze-v10' is called 'squeeze_v10' in code",
        "the model 'new' is called 'new_' in code",
    ]
    assert unbuilt(loaded.deployment) == ()


def test_named_subgraphs_inherit_and_override() -> None:
    deployment = deployment_of("named_subgraphs")
    assert deployment.library_name == "named_subgraphs"
    assert deployment.target_abis == ("host",)
    assert deployment.glibc_floor == "2.20"
    model = deployment.models[0]
    assert model.model_file.path == GOOD / "nets/dialogue.onnx"
    encoder, decoder = model.subgraphs
    assert (encoder.name, decoder.name) == ("encoder", "decoder")
    assert encoder.inputs[0].shape == (1, 3, (32, 960), (32, 960)) and encoder.inputs[0].is_bounded
    assert encoder.inputs[0].data_format == "NCHW"
    assert encoder.outputs[0].data_type == "float32" and decoder.outputs[0].data_type == "float16"
    assert [tensor.alias for tensor in decoder.inputs] == ["memory", "word"]
    assert [tensor.data_type for tensor in decoder.inputs] == ["float32", "int32"]
    assert encoder.validation_threshold == thresholds(cpu=0.99)
    assert decoder.validation_threshold == thresholds(cpu=0.99, gpu=0.9)


def test_what_is_not_built_yet_is_noted_and_listed() -> None:
    loaded = load("dsp_uint8")
    missing = unbuilt(loaded.deployment)
    assert {problem.what.split("'")[1] for problem in missing} == {"data_type"}
    assert set(missing) <= set(loaded.notes)
    assert all(problem.where.line for problem in missing)


MINIMAL = """\
models:
  m:
    platform: onnx
    model_file_path: m.onnx
    input_tensors: x
    input_shapes: 1,8,8,3
    output_tensors: y
    output_shapes: 1,10
"""


def test_defaults(tmp_path: Path) -> None:
    path = tmp_path / "my net.yml"
    path.write_text(MINIMAL, encoding="utf-8")
    deployment = load_deployment(path).deployment
    assert deployment.library_name == "my_net" and deployment.library_identifier == "my_net"
    assert deployment.target_abis == ("host",) and deployment.op_paths == ()
    assert (deployment.model_graph_format, deployment.model_data_format) == ("file", "file")
    assert deployment.glibc_floor == "2.17"
    model = deployment.models[0]
    assert (model.runtime, model.data_type, model.winograd, model.obfuscate) == (Runtime.CPU, "fp16_fp32", None, False)
    graph = model.subgraphs[0]
    assert graph.validation_threshold == thresholds()
    tensor = graph.inputs[0]
    assert (tensor.data_type, tensor.data_format, tensor.value_range) == ("float32", "NHWC", (-1.0, 1.0))
    assert list(model.files()) == [model.model_file]


@pytest.mark.parametrize(
    ("word", "low", "high"),
    [("float16", -1, 1), ("int32", -1, 1), ("int16", -32768, 32767), ("int8", -128, 127), ("uint8", 0, 255)],
)
def test_ranges_of_stored_numbers_are_whole(tmp_path: Path, word: str, low: float, high: float) -> None:
    path = tmp_path / "net.yml"
    declared = f"    input_data_types: {word}\n"
    for ranges, expected in (("", (low, high)), ("    input_ranges: 0,1\n", (0, 1))):
        path.write_text(MINIMAL + declared + ranges, encoding="utf-8")
        assert load_deployment(path).deployment.models[0].subgraphs[0].inputs[0].value_range == expected


@pytest.mark.parametrize(
    ("value", "word", "cosine"),
    [
        ("0", "", 0.999),
        ("1", "int8", 0.999),
        ("int8", "int8", 0.999),
        ("int16", "int16", 0.999),
        ("int4", "int4", 0.95),
    ],
)
def test_large_weights(value: str, word: str, cosine: float, tmp_path: Path) -> None:
    path = write(tmp_path, MINIMAL + f"    data_type: bf16_fp32\n    quantize_large_weights: {value}\n")
    deployment = load_deployment(path).deployment
    (model,) = deployment.models
    assert (model.data_type, model.quantize.large_weights) == ("bf16_fp32", word)
    assert model.subgraphs[0].validation_threshold.of("cpu") == cosine
    assert unbuilt(deployment) == ()
    path.write_text(path.read_text() + "    validation_threshold: {cpu: 0.5}\n", encoding="utf-8")
    assert load_deployment(path).deployment.models[0].subgraphs[0].validation_threshold.of("cpu") == 0.5


def test_relative_paths_start_at_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ops").mkdir()
    write(tmp_path, "op_paths: ops\n" + MINIMAL)
    monkeypatch.chdir(tmp_path.parent)
    deployment = load_deployment(Path(tmp_path.name) / "deploy.yml").deployment
    assert deployment.path == tmp_path / "deploy.yml"
    assert deployment.models[0].model_file.path == tmp_path / "m.onnx"
    assert deployment.op_paths == (tmp_path / "ops",)


def test_options_win_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "target_abis: [armhf]\nbuild_type: proto\nembed_model_data: 0\n" + MINIMAL)
    assert load_deployment(path).deployment.messages
    deployment = load_deployment(
        path,
        library_name="other",
        target_abis=["arm64,host"],
        model_graph_format="code",
        model_data_format="code",
        messages=0,
        mace_compat="1",
    ).deployment
    assert deployment.mace_compat == "1"
    assert not deployment.messages
    assert deployment.library_name == "other"
    assert deployment.target_abis == ("aarch64-linux-gnu", "host")
    assert deployment.model_graph_format == deployment.model_data_format == "code"


def test_wrong_option_points_to_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_deployment(write(tmp_path, MINIMAL), target_abis=["arm46"])
    assert "option --target_abis: error: 'target_abis' cannot be 'arm46'" in caught.value.render()


def test_targets_in_one_word_and_repeated(tmp_path: Path) -> None:
    loaded = load_deployment(write(tmp_path, "target_abis: arm64, armv8, host\n" + MINIMAL))
    assert loaded.deployment.target_abis == ("aarch64-linux-gnu", "host")
    assert any("more than once" in note.what for note in loaded.notes)


def test_format_that_says_nothing_is_a_note(tmp_path: Path) -> None:
    loaded = load_deployment(write(tmp_path, MINIMAL + "    output_data_formats: NCHW\n"))
    assert loaded.deployment.models[0].subgraphs[0].outputs[0].data_format == "NONE"
    note = next(note for note in loaded.notes if "does not apply" in note.what)
    assert note.where.line == 9


def test_one_format_serves_all_tensors(tmp_path: Path) -> None:
    text = MINIMAL.replace("input_tensors: x", "input_tensors: [x, z]").replace(
        "input_shapes: 1,8,8,3", "input_shapes: ['1,3,8,8', '4']"
    )
    loaded = load_deployment(write(tmp_path, text + "    input_data_formats: NCHW\n"))
    formats = [tensor.data_format for tensor in loaded.deployment.models[0].subgraphs[0].inputs]
    assert formats == ["NCHW", "NONE"]
    assert not any("does not apply" in note.what for note in loaded.notes)


def test_address_without_checksum_is_a_note(tmp_path: Path) -> None:
    loaded = load_deployment(write(tmp_path, MINIMAL.replace("m.onnx", "https://example.com/m.onnx")))
    assert [note.where.line for note in loaded.notes if "without a checksum" in note.what] == [4]


def test_words_stay_words(tmp_path: Path) -> None:
    text = "library_name: on\n" + MINIMAL.replace("input_tensors: x", "input_tensors: no")
    deployment = load_deployment(write(tmp_path, text)).deployment
    assert deployment.library_name == "on"
    assert deployment.models[0].subgraphs[0].inputs[0].name == "no"


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_deployment(tmp_path / "none.yml")
    with pytest.raises(ConfigError, match="cannot read the file"):
        load_deployment(tmp_path)
    with pytest.raises(ConfigError, match="cannot read the file"):
        load_deployment(Path("a\0b"))


def test_file_that_is_too_large(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="too large"):
        load_deployment(write(tmp_path, "#" * (1 << 20) + "\n"))


def test_the_runtime_of_the_command_line_holds_for_every_model(tmp_path: Path) -> None:
    path = write(tmp_path, _TWO_MODELS)
    models = load_deployment(path, runtime="gpu").deployment.models
    assert {str(model.runtime) for model in models} == {"gpu"}
    assert "option --runtime" in str(models[0].where_of("runtime"))
    with pytest.raises(ConfigError, match=r"option --runtime: error: 'runtime' cannot be 'cqu'"):
        load_deployment(path, runtime="cqu")


_TWO_MODELS = """models:
  first:
    platform: onnx
    model_file_path: net.onnx
    runtime: cpu
    subgraphs: [{input_tensors: x, input_shapes: 2, output_tensors: y, output_shapes: 2, runtime: cpu}]
  second:
    platform: onnx
    model_file_path: net.onnx
    device: cpu
    input_tensors: x
    input_shapes: 2
    output_tensors: y
    output_shapes: 2
"""
