"""What people see of errors, however much there is to tell."""

from __future__ import annotations

from buildtool.errors import ConfigError, Problem, Where


def test_a_list_without_end_is_cut_in_its_middle() -> None:
    names = ", ".join(f"tensor_{index}" for index in range(100_000))
    error = ConfigError(f"the shapes do not match: {names}.", where=Where("net.onnx", node="n" * 99_999), rule=names)
    told = error.render()
    assert len(told) < 19_000
    assert told.startswith("net.onnx, node 'nnnn")
    assert "the shapes do not match: tensor_0, tensor_1, " in told
    assert "tensor_99999.\n" in told
    assert " characters left out] " in told
    assert str(error) == told
    (problem,) = error.as_json()["problems"]
    assert problem["rule"] == names  # for machines nothing is left out


def test_what_fits_is_told_as_it_is() -> None:
    what = "w" * 6000
    assert Problem(what).render() == f"error: {what}"


def test_mistakes_without_end_are_counted() -> None:
    error = ConfigError([Problem(f"wrong {index}") for index in range(12_345)])
    lines = error.render().splitlines()
    assert lines[0] == "error: wrong 0"
    assert lines[-1] == "12,345 errors; these are the first 200, --json lists all"
    assert len(lines) == 201
