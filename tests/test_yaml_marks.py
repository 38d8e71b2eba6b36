"""The tree that remembers places."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.errors import ConfigError, Where
from buildtool.yaml_marks import MAX_DEPTH, Mapping, parse_yaml, place_of, plain_data


def test_scalars_are_the_text_that_was_written() -> None:
    root = parse_yaml("{a: on, b: 2.20, c: 0x10, d: ~, e: '~', f: 1:30, g: 007, h: true}", "f", environment={}).root
    assert plain_data(root) == {
        "a": "on",
        "b": "2.20",
        "c": "0x10",
        "d": None,
        "e": "~",
        "f": "1:30",
        "g": "007",
        "h": "true",
    }


def test_places_of_keys_values_and_items() -> None:
    root = parse_yaml("a:\n  b: [x, y]\n  c:\n", "f.yml", environment={}).root
    assert place_of(root, ("a", "b", 1)) == Where("f.yml", 2, 10)
    assert place_of(root, ("a", "b"), key=True) == Where("f.yml", 2, 3)
    assert place_of(root, ("a", "c")) == Where("f.yml", 3, 3)  # without a value: the key
    assert place_of(root, ("a",)) == Where("f.yml", 1, 1)
    assert place_of(root, ("a", "none", "at", "all")) == Where("f.yml", 1, 1)


def test_merge_keys_yield_to_what_is_written() -> None:
    text = "one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\nall:\n  <<: [*one, *two]\n  c: 3\n"
    root = parse_yaml(text, "f", environment={}).root
    assert plain_data(root)["all"] == {"a": "1", "b": "1", "c": "3"}
    assert place_of(root, ("all", "a")).line == 1


def test_variables_expand_in_values_only() -> None:
    root = parse_yaml("${K}: '${A}/${B}'", "f", environment={"A": "x", "B": "y"}).root
    assert plain_data(root) == {"${K}": "x/y"}


def test_variable_with_what_no_value_may_hold() -> None:
    document = parse_yaml("a: ${A}", "f", environment={"A": "x\x1by"})
    assert "U+001B" in document.problems[0].what


def test_deepest_allowed_and_first_refused() -> None:
    parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f", environment={})
    with pytest.raises(ConfigError, match="nested too deeply"):
        parse_yaml("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "f", environment={})


def test_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    from buildtool.yaml_marks import read_yaml

    path = tmp_path / "f.yml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    root = read_yaml(path, environment={}).root
    assert isinstance(root, Mapping) and plain_data(root) == {"a": "1", "b": "2"}
    assert place_of(root, ("b",)) == Where(str(path), 2, 4)
