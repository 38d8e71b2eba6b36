"""A description of a network, given where a deployment file is expected: the deployment that it stands for."""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.errors import ConfigError, Where
from buildtool.yaml_marks import Entry, Mapping, Node, Scalar, Sequence

DEFAULT_TARGET = "max78000"


@dataclass(frozen=True)
class Beside:
    """What the command line gives beside a description."""

    weights: Path | None = None
    sample: Path | None = None
    settings: tuple[str, ...] = ()  # KEY or KEY=VALUE, as in the section `cnn` of a model

    def refuse(self, path: Path) -> None:
        """ConfigError if there is any of it: a deployment file says these things itself."""
        options = {"--checkpoint-file": self.weights, "--sample-input": self.sample, "--cnn": self.settings}
        given = [name for name, value in options.items() if value]
        if given:
            raise ConfigError(
                f"{' and '.join(given)} cannot be used with a deployment file",
                where=Where(str(path)),
                rule="it says itself what its models are made of",
                remedy="write `weight_file_path`, `validation_inputs_data` and `cnn` into the file",
            )


def describes(root: Node) -> bool:
    """Whether a file describes a network layer by layer, as ai8xize reads it."""
    return isinstance(root, Mapping) and root.get("models") is None and root.get("layers") is not None


def deployment(path: Path, beside: Beside) -> Mapping:
    """The deployment of one model for one chip that a description stands for."""
    where = Where(str(path))
    model = {
        "platform": _scalar("ai8x", where),
        "runtime": _scalar("cnn", where),
        "model_file_path": _scalar(str(path.absolute()), where),
    }
    for key, option, file in (
        ("weight_file_path", "--checkpoint-file", beside.weights),
        ("validation_inputs_data", "--sample-input", beside.sample),
    ):
        if file is not None:
            model[key] = _scalar(str(file.absolute()), Where(f"option {option}"))
    settings = _settings(beside.settings)
    if settings.entries:
        model["cnn"] = settings
    return _mapping(
        {
            "library_name": _scalar(path.stem, where),
            "target_abis": Sequence((_scalar(DEFAULT_TARGET, where),), where),
            "models": _mapping({path.stem: _mapping(model, where)}, where),
        },
        where,
    )


def _settings(words: AnySequence[str]) -> Mapping:
    where = Where("option --cnn")
    found: dict[str, Node] = {}
    for word in words:
        key, equals, value = word.partition("=")
        parts = value.split(",")
        one: Node = _scalar(value if equals else "1", where)
        found[key.replace("-", "_")] = (
            one if len(parts) == 1 else Sequence(tuple(_scalar(p, where) for p in parts), where)
        )
    return _mapping(found, where)


def _scalar(text: str, where: Where) -> Node:
    return Scalar(text, where, plain=False)


def _mapping(entries: dict[str, Node], where: Where) -> Mapping:
    return Mapping(tuple(Entry(key, where, value) for key, value in entries.items()), where)
