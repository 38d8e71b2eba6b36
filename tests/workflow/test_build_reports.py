"""What a build tells of itself: written, read back, and trusted only while everything is as it was."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import buildtool
from buildtool.reports.documents import read_build
from tests.cli.conftest import EXAMPLE

HOST = buildtool.Overrides(("host",))


@pytest.fixture
def deployment(tmp_path: Path) -> Path:
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    return tmp_path / "deploy.yml"


def test_a_report_reads_back(deployment: Path, tmp_path: Path) -> None:
    built = buildtool.build(deployment, HOST, buildtool.Options(tmp_path / "out"))
    found = read_build(built.folder)
    assert found is not None
    (library,) = built.libraries
    assert found == replace(
        built, seconds=0.0, emitted=(), libraries=(replace(library, compiled=0, reused=0, seconds=0.0),)
    )
    assert found.is_whole()
    (model,) = found.models
    assert model.nodes < model.source_nodes
    assert model.macs > 0
    assert model.plans[0]["arena_size"] >= model.plans[0]["lower_bound"] > 0


def test_a_report_that_is_damaged_or_foreign_is_none(tmp_path: Path) -> None:
    assert read_build(tmp_path) is None
    (tmp_path / "report").mkdir()
    for text in ("", "{", "[]", '{"library": 1}'):
        (tmp_path / "report" / "build.json").write_text(text)
        assert read_build(tmp_path) is None


def test_the_document_is_json(deployment: Path, tmp_path: Path) -> None:
    converted = buildtool.convert(deployment, HOST, buildtool.Options(tmp_path / "out"))
    assert json.loads(json.dumps(converted.as_json()))["models"][0]["name"] == "digits"


@pytest.mark.slow
def test_the_fingerprint_sees_what_matters_and_nothing_else(deployment: Path, tmp_path: Path) -> None:
    def fingerprint(**changes: Any) -> str:
        overrides = buildtool.Overrides(("host",), **changes)
        return buildtool.convert(deployment, overrides, buildtool.Options(tmp_path / "out")).fingerprint

    first = fingerprint()
    text = deployment.read_text()
    deployment.write_text("# a comment moves every line\n" + text)
    assert fingerprint() == first
    assert fingerprint(model_graph_format="code", model_data_format="code") != first
    assert fingerprint(messages=False) != first
    deployment.write_text(text.replace("fp32_fp32", "fp16_fp32"))
    assert fingerprint() != first


def test_half_precision_halves_the_weights(deployment: Path, tmp_path: Path) -> None:
    options = buildtool.Options(tmp_path / "out")
    single = buildtool.convert(deployment, HOST, options).models[0].data_bytes
    deployment.write_text(deployment.read_text().replace("fp32_fp32", "fp16_fp32"))
    half = buildtool.convert(deployment, HOST, options).models[0].data_bytes
    assert half < 0.6 * single
