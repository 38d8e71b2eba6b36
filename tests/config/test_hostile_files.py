"""Whatever bytes a file holds, its reader gets a result or a ConfigError."""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from buildtool.config import load_deployment, load_devices
from buildtool.config.models import DeploymentSection, ModelSection
from buildtool.errors import ConfigError

GOOD = sorted((Path(__file__).parent / "good").glob("*.yml"))

_WORDS = st.sampled_from(
    [*DeploymentSection.model_fields, *ModelSection.model_fields, "m", "cpu", "onnx", "1,2", "<<", "host", "", "0"]
)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _WORDS
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=6), max_leaves=20
)
_GRAPH_KEYS = st.dictionaries(st.sampled_from(sorted(ModelSection.model_fields)), _VALUES, max_size=8)
_FILES = st.dictionaries(st.sampled_from(sorted(DeploymentSection.model_fields)), _VALUES, max_size=5) | st.builds(
    lambda models, top: {**top, "models": models},
    st.dictionaries(st.text(max_size=6), _GRAPH_KEYS, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(sorted(DeploymentSection.model_fields)), _SCALARS, max_size=3),
)


def read(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deploy.yml"
        path.write_bytes(data)
        for reader in (load_deployment, load_devices):
            try:
                reader(path, environment={})
            except ConfigError as error:
                # Messages must be printable.
                error.render().encode("utf-8")
                assert error.exit_code == 2


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    read(data)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,? \n\t\\u0dxU$<~.", max_size=200))
def test_any_text_that_looks_like_yaml(text: str) -> None:
    read(text.encode())


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(_FILES)
def test_any_values_of_the_right_keys(data: object) -> None:
    read(yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "surrogatepass"))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(GOOD), st.integers(0, 2000), st.integers(0, 40), st.binary(max_size=6))
def test_damaged_good_files(path: Path, start: int, length: int, replacement: bytes) -> None:
    data = path.read_bytes()
    start %= len(data)
    with contextlib.suppress(ConfigError):
        read(data[:start] + replacement + data[start + length :])


def test_escapes_that_python_cannot_make_characters_of() -> None:
    read(b'library_name: "\\UFFFFFFFF"\n')
    read(b"%YAML " + b"9" * 5000 + b".1\n---\na: 1\n")
    read(b"a: " + b"[" * 100_000)
    read(b"- " * 100_000)
    read(b'"' + b"\\\n" * 1000)


def test_thousands_of_problems_take_seconds(tmp_path: Path) -> None:
    """Each unknown key was looked up among all, and compared with all known ones: 30,000 took a minute."""
    file = tmp_path / "deploy.yml"
    file.write_text("library_name: a\n" + "".join(f"k{number}: 1\n" for number in range(8000)))
    started = time.thread_time()
    with pytest.raises(ConfigError) as caught:
        load_deployment(file, environment={})
    assert time.thread_time() - started <= 10.0  # most of it reads the YAML
    words = [problem.what for problem in caught.value.problems]
    assert "unknown key 'k0'" in words
    assert len(words) < 600
    assert any("more problems are not listed" in what for what in words)
