"""Names, spellings of targets, and the words of problems."""

from __future__ import annotations

import pytest

from buildtool.config.abis import ALIASES, canonical_abi, targets
from buildtool.config.built import is_built
from buildtool.config.names import CPP_KEYWORDS, file_name_for, identifier_for, is_file_name, is_identifier
from buildtool.wording import did_you_mean, listed, quoted


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("mobilenet_v1", "mobilenet_v1"),
        ("squeezenet-v10", "squeezenet_v10"),
        ("3dnet", "m_3dnet"),
        ("new", "new_"),
        ("a b/c", "a_b_c"),
        ("模型", "model"),
        ("-", "model"),
        ("-class-", "class_"),
    ],
)
def test_identifiers(name: str, identifier: str) -> None:
    assert identifier_for(name) == identifier
    assert is_identifier(identifier)


def test_no_keyword_is_an_identifier() -> None:
    assert all(is_identifier(identifier_for(word)) for word in CPP_KEYWORDS)


@pytest.mark.parametrize("name", ["", ".", "..", "-v", "a/b", "a b", "a\n", "x" * 129, "ü"])
def test_unsafe_file_names(name: str) -> None:
    assert not is_file_name(name)
    assert is_file_name(file_name_for(name))


@pytest.mark.parametrize("word", [*targets(), *ALIASES])
def test_targets_have_one_name(word: str) -> None:
    assert canonical_abi(canonical_abi(word)) == canonical_abi(word) in targets()


def test_android_is_not_linux() -> None:
    assert canonical_abi("arm64-v8a") == "arm64-v8a" != canonical_abi("arm64")
    with pytest.raises(ValueError, match="did you mean 'armv7l'"):
        canonical_abi("armv71")


def test_hexagon_is_not_built_yet() -> None:
    assert {abi for abi in targets() if not is_built("target_abis", abi)} == {"hexagon"}


def test_words() -> None:
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b or c"
    assert quoted("a\x1b\ud800") == r"'a\x1b\ud800'"
    assert len(quoted("x" * 1000)) == 62
    assert did_you_mean("nhwc", ["NHWC", "NCHW"]) == "did you mean 'NHWC'?"
    assert did_you_mean("zzz", ["NHWC"]) == ""
