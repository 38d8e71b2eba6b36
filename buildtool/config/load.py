"""Reading a deployment file: the one way in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from buildtool.config.built import unbuilt
from buildtool.config.context import Context
from buildtool.config.deployment import LoadedDeployment
from buildtool.config.described import Beside, description_format
from buildtool.config.described import deployment as deployment_of_description
from buildtool.config.manner import MANNER
from buildtool.config.models import sections
from buildtool.config.normalise import Override, normalise
from buildtool.config.resolve import resolve
from buildtool.errors import ConfigError, Problem
from buildtool.sections.validate import validate
from buildtool.yaml_marks import Document, read_yaml


def load_deployment(
    path: Path,
    *,
    library_name: str | None = None,
    target_abis: Sequence[str] | None = None,
    target_socs: Sequence[str] | None = None,
    model_graph_format: str | None = None,
    model_data_format: str | None = None,
    glibc_floor: str | None = None,
    messages: int | None = None,
    mace_compat: str | None = None,
    paddle_compat: str | None = None,
    all_ops: int | None = None,
    runtime: str | None = None,
    environment: Mapping[str, str] | None = None,
    beside: Beside = Beside(),  # noqa: B008 (frozen)
) -> LoadedDeployment:
    """Reads, checks and resolves a deployment file.

    The keywords named like keys win over the file, for options of the command line; a target there may be
    several with commas between them, and `runtime` holds for every model. `${NAME}` is expanded from
    `environment`, or from that of the process. A description of a network stands for a deployment of it, with what is
    given `beside` it; the target reads it later. Raises ConfigError with every problem of the file, in the order of its
    lines.
    """
    given: dict[str, Override | None] = {
        "library_name": library_name,
        "target_abis": None if target_abis is None else [abi for word in target_abis for abi in word.split(",")],
        "target_socs": target_socs,
        "model_graph_format": model_graph_format,
        "model_data_format": model_data_format,
        "glibc_floor": glibc_floor,
        "messages": messages,
        "mace_compat": mace_compat,
        "paddle_compat": paddle_compat,
        "all_ops": all_ops,
        "runtime": runtime,
    }
    overrides = {key: value for key, value in given.items() if value is not None}
    document = read_yaml(path, environment=environment)
    form = description_format(document.root)
    if form is not None:
        document = Document(deployment_of_description(path, beside, form))
    else:
        beside.refuse(path)
    normal = normalise(document.root, overrides)
    checked = validate(sections().deployment, normal.root, MANNER)
    problems = [*normal.problems, *checked.problems]
    if checked.section is None:
        raise ConfigError(_in_order(document.problems, problems))
    context = Context(normal.root, path.absolute().parent, checked.broken | normal.broken, normal.names)
    deployment = resolve(context, checked.section, path)
    problems += context.problems
    if problems or document.problems:
        raise ConfigError(_in_order(document.problems, problems))
    return LoadedDeployment(deployment, _in_order((), [*context.notes, *unbuilt(deployment)]))


def described_platform(path: Path) -> str:
    """The platform of a network that a file describes; empty where it does not. ConfigError where it is no YAML."""
    form = description_format(read_yaml(path, environment={}).root)
    return "" if form is None else form.platform


def _in_order(of_the_text: Sequence[Problem], others: Sequence[Problem]) -> tuple[Problem, ...]:
    """By position, each complaint once, and nothing more where the text itself is wrong."""
    places = {problem.where for problem in of_the_text}
    kept = dict.fromkeys((*of_the_text, *(problem for problem in others if problem.where not in places)))
    return tuple(sorted(kept, key=lambda problem: (problem.where.line, problem.where.column)))
