"""The Java classes, run by this machine's Java: every way to use them, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import buildtool
from buildtool import workflow
from buildtool.builders import java
from buildtool.errors import ConfigError, ToolchainError
from tests.java.conftest import DIGITS, HERE, build_java, compile_java, run_java


@pytest.mark.slow
def test_java_outputs_equal_python_s_and_misuse_throws(tmp_path: Path) -> None:
    """Outputs have the bits that Python gets, and every misuse is an exception."""
    picture = np.load(DIGITS / "pictures.npy")[7].reshape(1, 1, 8, 8).astype(np.float32)
    picture.tofile(tmp_path / "picture.bin")
    trio = build_java(tmp_path, "trio")
    compile_java(HERE / "Checks.java", [trio], tmp_path)
    lines = run_java("Checks", [trio], tmp_path, trio.folder / "model" / "host", tmp_path / "picture.bin")
    with buildtool.load(trio.libraries / "libtrio.so", model="digits") as model:
        expected = model.run({"image": picture})["probabilities"]
    bits = " ".join(f"{word:08x}" for word in expected.view(np.uint32).ravel())
    answers = [line.removeprefix("digits ") for line in lines if line.startswith("digits ")]
    assert answers == [bits] * 14
    assert "info [image FLOAT32[1, 1, 8, 8]][probabilities FLOAT32[1, 10]]NCHW" in lines
    assert lines[-1] == "done"


@pytest.mark.slow
def test_two_libraries_in_one_program_with_models_inside(tmp_path: Path) -> None:
    builds = [build_java(tmp_path, "inside", "code", "code"), build_java(tmp_path, "halfway", "code")]
    compile_java(HERE / "Both.java", builds, tmp_path)
    names, same, length, several, refused = run_java(
        "Both", builds, tmp_path, builds[1].folder / "model" / "host" / "digits.data"
    )
    assert names == "[digits, twice, places] [digits, twice, places]"
    assert same == "true"
    assert int(length) == len(str([0.0] * 12))
    assert several == "library 'inside' holds 3 models: give a model file or the name of a model"
    assert refused == "BAD_MODEL"


def test_the_commands_are_told_and_an_archive_for_no_android_is_refused(tmp_path: Path) -> None:
    overrides = buildtool.Overrides(("host",))
    options = buildtool.Options(tmp_path, java=True)
    commands = workflow.commands(DIGITS / "deploy.yml", overrides, options)
    assert any("javac --release 8" in line for line in commands)
    assert any("-DLATHE_API=lathe_api_digits" in line for line in commands)
    assert not (tmp_path / "digits").exists()
    with pytest.raises(ConfigError, match=r"built for host[\s\S]*--abi arm64-v8a"):
        buildtool.build(DIGITS / "deploy.yml", overrides, buildtool.Options(tmp_path, aar=True))


def test_a_machine_without_java_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"JAVA_HOME is .*no bin/javac[\s\S]*default-jdk-headless"):
        java.find_jdk()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "javac").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "javac").chmod(0o755)
    with pytest.raises(ToolchainError, match=r"no jni\.h in .*include"):
        java.find_jdk()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "bin" / "none"))
    with pytest.raises(ToolchainError, match="no javac is on the PATH"):
        java.find_jdk()
