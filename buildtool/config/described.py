"""A description of a network, given where a deployment file is expected: the deployment that it stands for."""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from buildtool.errors import ConfigError, Where
from buildtool.extensions.targets import DescriptionFormat, words
from buildtool.sections.readers import FLAG, PATH
from buildtool.sections.section import reader_of, unsaid_of
from buildtool.yaml_marks import Entry, Mapping, Node, Scalar, Sequence


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
                f"{' and '.join(given)} cannot be combined with a deployment file",
                where=Where(str(path)),
                rule="a deployment file names the files of its models",
                remedy="write `weight_file_path`, `validation_inputs_data` and `cnn` into the file",
            )


def description_format(root: Node) -> DescriptionFormat | None:
    """How a file describes a network layer by layer; None where it does not."""
    if not isinstance(root, Mapping) or root.get("models") is not None:
        return None
    return next((each for each in words().descriptions if root.get(each.key) is not None), None)


def deployment(path: Path, beside: Beside, form: DescriptionFormat) -> Mapping:
    """The deployment of one model for one chip that a description stands for."""
    where = Where(str(path))
    model = {
        "platform": _scalar(form.platform, where),
        "runtime": _scalar(form.runtime, where),
        "model_file_path": _scalar(str(path.absolute()), where),
    }
    for key, option, file in (
        ("weight_file_path", "--checkpoint-file", beside.weights),
        ("validation_inputs_data", "--sample-input", beside.sample),
    ):
        if file is not None:
            model[key] = _scalar(str(file.absolute()), Where(f"option {option}"))
    settings = _settings(beside.settings, words().sections.get(form.section))
    if settings.entries:
        model[form.section] = settings
    return _mapping(
        {
            "library_name": _scalar(path.stem, where),
            "target_abis": Sequence((_scalar(form.abi, where),), where),
            "models": _mapping({path.stem: _mapping(model, where)}, where),
        },
        where,
    )


def _settings(given: AnySequence[str], section: type[BaseModel] | None) -> Mapping:
    where = Where("option --cnn")
    found: dict[str, Node] = {}
    for word in given:
        name, equals, value = word.partition("=")
        key = name.replace("-", "_")
        known = section is not None and key in section.model_fields
        if section is not None and known and reader_of(section, key) is PATH and value:
            value = str(Path(value).absolute())  # as all paths on the command line
        unsaid = _unsaid(section, key) if section is not None and known else "1"
        parts = tuple(_scalar(part, where) for part in (value if equals else unsaid).split(","))
        found[key] = parts[0] if len(parts) == 1 else Sequence(parts, where)
    return _mapping(found, where)


def _unsaid(section: type[BaseModel], key: str) -> str:
    """What a setting without a value means: those that are on or off are on."""
    return "1" if reader_of(section, key) is FLAG else unsaid_of(section, key)


def _scalar(text: str, where: Where) -> Node:
    return Scalar(text, where, plain=False)


def _mapping(entries: dict[str, Node], where: Where) -> Mapping:
    return Mapping(tuple(Entry(key, where, value) for key, value in entries.items()), where)
