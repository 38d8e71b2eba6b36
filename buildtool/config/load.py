"""Reading a deployment file: the one way in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from buildtool.config.built import unbuilt
from buildtool.config.context import Context
from buildtool.config.deployment import LoadedDeployment
from buildtool.config.models import DeploymentSection
from buildtool.config.normalise import Override, normalise
from buildtool.config.resolve import resolve
from buildtool.config.validate import validate
from buildtool.config.yaml_marks import read_yaml
from buildtool.errors import ConfigError, Problem


def load_deployment(
    path: Path,
    *,
    library_name: str | None = None,
    target_abis: Sequence[str] | None = None,
    target_socs: Sequence[str] | None = None,
    model_graph_format: str | None = None,
    model_data_format: str | None = None,
    glibc_floor: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> LoadedDeployment:
    """Reads, checks and resolves a deployment file.

    The keywords named like keys win over the file, for options of the command line. `${NAME}` is expanded from
    `environment`, or from that of the process. Raises ConfigError with every problem of the file, in the order of
    its lines.
    """
    given: dict[str, Override | None] = {
        "library_name": library_name,
        "target_abis": target_abis,
        "target_socs": target_socs,
        "model_graph_format": model_graph_format,
        "model_data_format": model_data_format,
        "glibc_floor": glibc_floor,
    }
    overrides = {key: value for key, value in given.items() if value is not None}
    document = read_yaml(path, environment=environment)
    normal = normalise(document.root, overrides)
    checked = validate(DeploymentSection, normal.root)
    # What stands where the text itself is wrong is not worth a second complaint.
    places = {problem.where for problem in document.problems}
    found = [*normal.problems, *checked.problems]
    problems = [*document.problems, *(problem for problem in found if problem.where not in places)]
    if checked.section is None:
        raise ConfigError(_in_order(problems))
    context = Context(normal.root, path.absolute().parent, checked.broken | normal.broken, normal.names)
    deployment = resolve(context, checked.section, path)
    problems += context.problems
    if problems:
        raise ConfigError(_in_order(problems))
    return LoadedDeployment(deployment, _in_order([*context.notes, *unbuilt(deployment)]))


def _in_order(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """By position, one for each place and complaint: a file read through an alias says the same thing twice."""
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: (problem.where.line, problem.where.column))
    return tuple(ordered)
