"""A description of a network, given where a deployment file is expected: the deployment that it stands for."""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.config.fields import FLAG
from buildtool.config.models import CnnSection
from buildtool.errors import ConfigError, Where
from buildtool.yaml_marks import Entry, Mapping, Node, Scalar, Sequence

DEFAULT_TARGET = "max78000"
_PATHS = ("bias_input",)


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
        name, equals, value = word.partition("=")
        key = name.replace("-", "_")
        if key in _PATHS and value:
            value = str(Path(value).absolute())  # as all paths on the command line
        parts = tuple(_scalar(part, where) for part in (value if equals else _unsaid(key)).split(","))
        found[key] = parts[0] if len(parts) == 1 else Sequence(parts, where)
    return _mapping(found, where)


def _unsaid(key: str) -> str:
    """What a setting without a value means: those that are on or off are on, and no layer has a bias."""
    field = CnnSection.model_fields.get(key)
    if field is not None and FLAG not in field.metadata:
        return "all" if key == "no_bias" else ""
    return "1"


def _scalar(text: str, where: Where) -> Node:
    return Scalar(text, where, plain=False)


def _mapping(entries: dict[str, Node], where: Where) -> Mapping:
    return Mapping(tuple(Entry(key, where, value) for key, value in entries.items()), where)
