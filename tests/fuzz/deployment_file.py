"""Fuzzes the readers of deployment and device files: any bytes give a result or a ConfigError that can be shown."""

from __future__ import annotations

from tests.fuzz import harness

with harness.instrumented():
    from buildtool.config import load_deployment, load_devices
    from buildtool.config.models import DeploymentSection, ModelSection
    from buildtool.errors import ConfigError

import sys
from pathlib import Path

from tests.fuzz import text_mutations

_GOOD = Path("tests/config/good")
_SEEDS = Path("build/fuzz/seeds/deployment_file")
_WORDS = [
    "models",
    "-",
    ":",
    "[",
    "]",
    "{",
    "}",
    "*",
    "&",
    "!",
    "|",
    ">",
    "'",
    "${HOME}",
    "<<:",
    "~",
    "null",
    "true",
    "0",
    "-1",
    "1e9",
    ".inf",
    "1,2,3,4",
    "host",
    "cpu",
    "onnx",
    "fp32_fp32",
    "..",
]


def main() -> None:
    """The target."""
    if "--write-seeds" in sys.argv:
        _write_seeds()
        return
    folder = harness.FOLDER / "deployment"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "deploy.yml"

    def target(data: bytes) -> None:
        file.write_bytes(data)
        for reader in (load_deployment, load_devices):
            try:
                reader(file, environment={})
            except ConfigError as problem:
                problem.render().encode()

    keys = [*DeploymentSection.model_fields, *ModelSection.model_fields]
    harness.fuzz(target, text_mutations.Mutator([*keys, *_WORDS]))


def _write_seeds() -> None:
    """The good files of the tests, the bad ones, and a file that names every key."""
    _SEEDS.mkdir(parents=True, exist_ok=True)
    for file in sorted(_GOOD.parent.glob("*/*.yml")):
        (_SEEDS / f"{file.parent.name}-{file.name}").write_bytes(file.read_bytes())
    keys = [*DeploymentSection.model_fields, *ModelSection.model_fields]
    (_SEEDS / "keys.yml").write_text("".join(f"{key}: 1\n" for key in keys))


if __name__ == "__main__":
    main()
