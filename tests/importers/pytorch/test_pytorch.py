"""Programs of PyTorch: what becomes of them as ONNX, and what is said of files that are no programs.

The process that exports runs in the jail: what it needs lies beside its script.
"""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from buildtool.errors import LatheError, ModelFileError, UnsupportedError
from buildtool.importers.pytorch import exporting, import_model, supported_operators, torch_process
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.passes.pipeline import optimise
from tests.jail.available import why_none

EXPECTED = Path(__file__).resolve().parents[2] / "oracles" / "pytorch" / "expected"
PROGRAMS = sorted(file.stem for file in EXPECTED.glob("*.onnx"))


def archive(file: Path, *members: str) -> Path:
    with zipfile.ZipFile(file, "w") as written:
        for member in members:
            empty = {".json": b"{}", ".pkl": b"N."}
            written.writestr(f"model/{member}", empty.get(Path(member).suffix, b""))
    return file


def program(folder: Path) -> Path:
    return archive(folder / "model.pt2", "archive_format", "models/model.json")


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """The packages are there, and this is the process that exports."""
    if why_none():
        pytest.skip(f"no jail on this machine: {why_none()}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    process = folder / "process.py"
    process.write_text(f"import json, shutil, sys\norder = json.loads(sys.argv[1])\n{script}\n")
    monkeypatch.setattr(exporting, "_SCRIPT", process)


@pytest.mark.parametrize("name", PROGRAMS)
def test_exported_modules_are_imported_and_compute_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ONNX files were written by the process of the importer, with PyTorch; so were the expected results."""
    (tmp_path / "expected.onnx").write_bytes((EXPECTED / f"{name}.onnx").read_bytes())
    pretend(monkeypatch, tmp_path, f"shutil.copyfile({str(tmp_path / 'expected.onnx')!r}, order['target'])")
    with np.load(EXPECTED / f"{name.rpartition('_')[0]}.npz") as file:
        known = dict(file)
    inputs = {key: value for key, value in known.items() if not key.startswith("output_")}
    outputs = [value for key, value in known.items() if key.startswith("output_")]
    requests = tuple(TensorRequest(key, value.shape) for key, value in inputs.items())
    imported = import_model(ImportRequest("model", program(tmp_path), inputs=requests))
    assert imported.platform == "pytorch"
    optimise(imported.graph)
    results = evaluate(imported.graph, inputs)
    assert len(results) == len(outputs)
    for result, expected in zip(results.values() if isinstance(results, dict) else results, outputs, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_both_formats_of_programs_were_exported() -> None:
    both = ["pictures_exported", "pictures_script", "words_exported", "words_script"]
    assert sorted([*both, "rate_script", "scaled_script"]) == PROGRAMS


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (("data.pkl", "data/0", "version"), "holds weights or pickled"),
        (("weights.bin",), "not a program of PyTorch"),
        ((), "not a program of PyTorch"),
    ],
)
def test_archives_that_are_no_programs(members: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=said) as caught:
        import_model(ImportRequest("model", archive(tmp_path / "model.pt", *members)))
    assert "torch.export.save" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"), [(b"", "damaged"), (b"\x80\x02}q\x00.", "holds weights"), (b"PK\x03\x04 cut", "damaged")]
)
def test_files_that_are_no_archives(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(data)
    with pytest.raises(ModelFileError, match=said):
        import_model(ImportRequest("model", tmp_path / "model.pt"))


def test_truncated_archives(tmp_path: Path) -> None:
    whole = program(tmp_path).read_bytes()
    for length in range(0, len(whole), 3):
        (tmp_path / "cut.pt2").write_bytes(whole[:length])
        with pytest.raises(LatheError):
            import_model(ImportRequest("model", tmp_path / "cut.pt2"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        import_model(ImportRequest("model", tmp_path / "model.pt2"))


def test_without_pytorch_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(UnsupportedError, match="takes the package torch") as caught:
        import_model(ImportRequest("model", program(tmp_path)))
    assert "pip install torch" in str(caught.value)


def test_objections_of_pytorch_are_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, tmp_path, "sys.exit('noise\\nAssertionError: only 4D is supported')")
    with pytest.raises(ModelFileError, match="only 4D is supported"):
        import_model(ImportRequest("model", program(tmp_path)))
    pretend(monkeypatch, tmp_path, "import os; os.kill(os.getpid(), 11)")
    with pytest.raises(ModelFileError, match="signal 11"):
        import_model(ImportRequest("model", program(tmp_path)))


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("int", "int"),
        ("Optional[float]", "float"),
        ("bool", "bool"),
        ("Tensor", ""),
        ("List[int]", ""),
        ("Optional[Tensor]", ""),
    ],
)
def test_arguments_that_are_numbers(type_: str, kind: str) -> None:
    assert torch_process._kind_of_number(type_) == kind


@pytest.mark.parametrize(
    ("given", "expected"),
    [(["x", "y"], ["x", "y"]), (["x", "y", "unused"], ["x_orig", "y"]), (["x", None], ["x_orig", "y"])],
)
def test_inputs_keep_the_names_that_the_program_gives_them(
    given: list[str | None], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exporter calls an input of which an output is made at once `x_orig`."""
    inputs = [SimpleNamespace(name="x_orig"), SimpleNamespace(name="y")]
    exported = SimpleNamespace(model=SimpleNamespace(graph=SimpleNamespace(inputs=inputs)), save=lambda target: None)
    signature = SimpleNamespace(user_inputs=given, user_outputs=["output"])
    torch = SimpleNamespace(
        export=SimpleNamespace(load=lambda file: SimpleNamespace(graph_signature=signature)),
        onnx=SimpleNamespace(export=lambda *args, **options: exported),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    torch_process._from_program({"file": "model.pt2", "target": "model.onnx"})
    assert [value.name for value in inputs] == expected


def test_the_line_that_tells_what_happened() -> None:
    script = (
        "failed in the interpreter.\nTraceback of TorchScript, serialized code:\n  File 'a'\n\nError: got a float\n"
    )
    assert torch_process.told(script) == "Error: got a float"
    assert torch_process.told("\n only 4D is supported\nsee the manual") == "only 4D is supported"
    assert torch_process.told("") == ""


def test_objections_to_the_exported_file_name_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, tmp_path, "open(order['target'], 'w').write('no model')")
    with pytest.raises(LatheError) as caught:
        import_model(ImportRequest("model", program(tmp_path)))
    assert caught.value.problems[0].where.file == str(tmp_path / "model.pt2")


def test_scripts_need_shapes_and_get_them_channels_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = archive(tmp_path / "model.pt", "constants.pkl", "code/model.py", "data.pkl")
    pretend(monkeypatch, tmp_path, "sys.exit(str(order['inputs']))")
    with pytest.raises(ModelFileError, match="which shapes"):
        import_model(ImportRequest("model", script))
    with pytest.raises(ModelFileError, match="shape of the input 'x'"):
        import_model(ImportRequest("model", script, inputs=(TensorRequest("x"),)))
    shown = TensorRequest("x", ((1, 4), 8, 9, 3), "NHWC")
    with pytest.raises(ModelFileError, match=r"'shape': \[4, 3, 8, 9\], 'bounded': \[0\], 'dtype': 'float32'"):
        import_model(ImportRequest("model", script, inputs=(shown,)))


def test_a_weight_file_has_no_place(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no weight file"):
        import_model(ImportRequest("model", program(tmp_path), weight_file=tmp_path / "weights"))
    assert "Conv" in supported_operators()
