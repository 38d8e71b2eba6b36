"""Programs that want more than to be read: what a stranger could put into a file, without PyTorch.

Files that PyTorch would obey while it reads them are refused before it is started. What TorchScript does when it is
executed is acted out by a process with all of Python at hand, in the place of the one that imports PyTorch.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from buildtool import jail
from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers.pytorch import exporting, import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.jail import Limits, NoJailError
from tests.jail.available import needs_jail

Members = dict[str, bytes]


class Call:
    """Pickles as a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def packed(members: Members, folder: str = "model", method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}"), data, method)  # of no time
    return stream.getvalue()


def honest() -> Members:
    """The members of a program as torch.export.save writes them."""
    symbol = "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Float('0.5', precision=53))"
    return {
        "archive_format": b"pt2",
        "models/model.json": json.dumps({"size": {"as_expr": {"expr_str": symbol}}}).encode(),
        "data/weights/weight_0": bytes(16),
        "data/weights/model_weights_config.json": json.dumps({"config": {"w": {"use_pickle": False}}}).encode(),
        "data/constants/model_constants_config.json": b"{}",
        "data/sample_inputs/model.pt": packed({"data.pkl": _TENSOR, "data/0": bytes(4)}, "archive"),
    }


_TENSOR = (
    b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"
    b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQK\x00))\x89ccollections\nOrderedDict\n)RtR."
)


def call(mark: Path, protocol: int = 2) -> bytes:
    return pickle.dumps(Call(os.system, f"touch {mark}"), protocol)


def saved(data: bytes) -> bytes:
    """As torch.save writes a pickle."""
    return packed({"data.pkl": data}, "archive")


def evaluated(text: str) -> bytes:
    return json.dumps({"graph": [{"expr_str": text}]}).encode()


#: What is changed in an honest program, and what is said of it.
HOSTILE: dict[str, tuple[Callable[[Path], Members], str]] = {
    "example inputs call a function": (
        lambda mark: {"data/sample_inputs/model.pt": saved(call(mark))},
        r"data/sample_inputs/model.pt: it names posix\.system",
    ),
    "so in a later protocol": (
        lambda mark: {"data/sample_inputs/model.pt": saved(pickle.dumps([Call(eval, f"open({str(mark)!r}, 'w')")], 4))},
        r"it names builtins\.eval",
    ),
    "a name is composed": (
        lambda _: {"data/sample_inputs/model.pt": saved(b"\x80\x04\x8c\x05posix\x8c\x06systemq\x00\x93.")},
        r"it names posix\.system",
    ),
    "a second pickle follows": (
        lambda mark: {"data/sample_inputs/model.pt": saved(b"\x80\x02N." + call(mark))},
        "something follows",
    ),
    "pickles without an archive": (
        lambda mark: {"data/sample_inputs/model.pt": pickle.dumps(0x1950A86A20F9469CFC6C, 2) + call(mark)},
        "not an archive as written by torch.save",
    ),
    "an archive in an archive": (
        lambda mark: {"data/sample_inputs/model.pt": packed({"data.pkl": b"N.", "x.pt": saved(call(mark))})},
        "a file of torch.save in one",
    ),
    "TorchScript as example inputs": (
        lambda _: {"data/sample_inputs/model.pt": packed({"constants.pkl": b"N.", "data.pkl": b"N."})},
        "it is a TorchScript program",
    ),
    "weights that are to be unpickled": (
        lambda mark: {
            "data/weights/weight_0": saved(call(mark)),
            "data/weights/model_weights_config.json": b'{"config": {"w": {"use_pickle": true}}}',
        },
        "a tensor of a custom class to be unpickled",
    ),
    "a constant of a class": (lambda mark: {"data/constants/opaque_obj_0": call(mark)}, "pickled object of a class"),
    "a pickle called JSON": (lambda mark: {"serialized_state_dict.json": call(mark, 0)}, "it is not JSON"),
    "a size that is code": (
        lambda mark: {"models/model.json": evaluated(f"__import__('os').system('touch {mark}')")},
        "is not arithmetic on symbols",
    ),
    "a size that spells code": (
        lambda _: {"models/model.json": evaluated("exec(chr(112) + chr(97))")},
        "is not arithmetic on symbols",
    ),
    "a size within a text": (
        lambda _: {"models/model.json": evaluated("Max('exec(1)', 2)")},
        "is not arithmetic on symbols",
    ),
    "compiled code": (lambda _: {"data/aotinductor/model/model.so": b"\x7fELF"}, "it is compiled code"),
    "a way out of the archive": (lambda _: {"../../.profile": b"touch"}, "is a path outside of it"),
    "names that differ in case": (
        lambda mark: {"data/Sample_inputs/model.pt": saved(call(mark))},
        "two members",
    ),
    "a text without an end": (lambda _: {"models/model.json": b"[" * 200_000}, "it is not JSON"),
}


def imported(folder: Path, members: Members, monkeypatch: pytest.MonkeyPatch, name: str = "model.pt2") -> None:
    """PyTorch is there, and must not be started."""
    file = folder / name
    file.write_bytes(packed(members))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    import_model(ImportRequest("model", file, inputs=(TensorRequest("x", (1, 3)),)))


@pytest.mark.parametrize("kind", HOSTILE)
def test_files_that_hold_code_do_not_reach_pytorch(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed, said = HOSTILE[kind]
    mark = tmp_path / "mark"
    monkeypatch.setattr(jail, "run", lambda *_, **__: pytest.fail("PyTorch is started"))
    with pytest.raises(ModelFileError, match=said) as caught:
        imported(tmp_path, {**honest(), **changed(mark)}, monkeypatch)
    assert len(caught.value.problems) == 1 and "--trust-model-code" in caught.value.problems[0].remedy
    assert not mark.exists()


def test_an_honest_program_reaches_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def run(*given: Any, **_: Any) -> jail.Ended:
        started.append(given)
        return jail.Ended(1, "enough")

    monkeypatch.setattr(jail, "run", run)
    with pytest.raises(ModelFileError, match="enough"):
        imported(tmp_path, honest(), monkeypatch)
    assert len(started) == 1


def test_limits_grow_with_the_program_and_not_with_what_it_unpacks_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Limits] = []

    def run(*_: Any, limits: Limits, **__: Any) -> jail.Ended:
        given.append(limits)
        return jail.Ended(1, "enough")

    monkeypatch.setattr(jail, "run", run)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    large = {**honest(), "models/model.json": json.dumps("x" * (8 << 20)).encode()}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        (tmp_path / "model.pt2").write_bytes(packed(large, method=method))
        with pytest.raises(ModelFileError, match="enough"):
            import_model(ImportRequest("model", tmp_path / "model.pt2"))
    assert given[0].processor_seconds == 60 + 8 * 30 and given[0].memory > (2 << 30) + (32 << 20)
    assert given[1].processor_seconds == 60 and given[1].memory < (2 << 30) + (1 << 20)


def test_a_member_that_unpacks_to_much_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.pt2"
    file.write_bytes(packed({**honest(), "data/weights/weight_1": bytes(128 << 20)}, method=zipfile.ZIP_DEFLATED))
    assert file.stat().st_size < 1 << 20
    with pytest.raises(ModelFileError, match="its members unpack to"):
        import_model(ImportRequest("model", file))


def test_a_script_that_names_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    members = {"constants.pkl": b"N.", "data.pkl": call(mark), "code/__torch__.py": b""}
    with pytest.raises(ModelFileError, match=r"data\.pkl: it names posix\.system"):
        imported(tmp_path, members, monkeypatch, "model.pt")


#: What the code of a script may try, and what is said of it.
SCRIPTS = {
    "writes a file": ("open({mark!r}, 'w').write('here')", "PermissionError"),
    "writes over itself": ("open(order['file'], 'w')", "PermissionError"),
    "reads a secret": ("open({secret!r}).read()", "PermissionError"),
    "runs a command": ("import subprocess; subprocess.check_call(['touch', {mark!r}])", "PermissionError"),
    "calls home": ("import socket; socket.create_connection(('127.0.0.1', 9))", "PermissionError"),
    "loops without an end": ("while True: pass", "more than 2 seconds of processor time"),
    "takes 3 GiB": ("held = bytearray(3 << 30)", "more than 1024 MiB of memory"),
    "makes processes": ("import os\nwhile True: os.fork()", "PermissionError"),
    "fills the disk": ("open(order['target'], 'wb').write(bytes(1 << 26))", "File too large"),
    "writes to the terminal": ("raise ValueError('\\x1b]0;title\\x07')", r"\?\]0;title\?"),
    "answers with another file": ("import os; os.symlink({secret!r}, order['target'])", "PermissionError"),
    "says that there is no jail": ("sys.exit('no Landlock')", "cannot write this program as ONNX: no Landlock"),
}


@needs_jail
@pytest.mark.parametrize("kind", SCRIPTS)
def test_effects_of_scripts_stay_in_the_jail(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = SCRIPTS[kind]
    mark, secret = tmp_path / "mark", tmp_path / "secret"
    secret.write_text("secret")
    process = tmp_path / "process" / "process.py"
    process.parent.mkdir()
    process.write_text(
        "import json, sys, zipfile\norder = json.loads(sys.argv[1])\n"
        "exec(zipfile.ZipFile(order['file']).read('model/code/__torch__.py'))\n"
    )
    monkeypatch.setattr(exporting, "_SCRIPT", process)
    limits = Limits(processor_seconds=2, seconds=60, memory=1 << 30, written=1 << 20)
    monkeypatch.setattr(jail, "DEFAULT_LIMITS", limits)
    written = code.format(mark=str(mark), secret=str(secret)).encode()
    members = {"constants.pkl": b"N.", "data.pkl": b"N.", "code/__torch__.py": written}
    with pytest.raises(ModelFileError, match=said):
        imported(tmp_path, members, monkeypatch, "model.pt")
    assert not mark.exists() and (tmp_path / "model.pt").read_bytes() == packed(members)


def test_without_a_jail_there_is_no_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> jail.Ended:
        raise NoJailError("the kernel has no Landlock, or it is switched off")

    monkeypatch.setattr(jail, "run", none)
    with pytest.raises(UnsupportedError, match="there is none here: the kernel has no Landlock") as caught:
        imported(tmp_path, honest(), monkeypatch)
    assert "--trust-model-code" in caught.value.problems[0].remedy


def test_trusted_code_has_all_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, process = tmp_path / "mark", tmp_path / "process.py"
    process.write_text(f"open({str(mark)!r}, 'w')")
    monkeypatch.setattr(exporting, "_SCRIPT", process)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    file = tmp_path / "model.pt2"
    file.write_bytes(packed({**honest(), "data/aotinductor/model/model.so": b""}))
    with pytest.raises(ModelFileError, match="cannot write this program as ONNX"):
        import_model(ImportRequest("model", file, trust_model_code=True))
    assert mark.exists()
