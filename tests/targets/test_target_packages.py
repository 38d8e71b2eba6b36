"""Targets and passes of other packages: the example is installed and builds; broken packages break nothing else."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool import workflow
from buildtool.config import json_schema, models
from buildtool.errors import ConfigError, InternalError, ToolchainError
from buildtool.extensions import entry_points, targets
from buildtool.ir.graph import Graph
from buildtool.passes import offered, pipeline
from buildtool.reports import machine
from buildtool.requests import build_identity, deployments
from buildtool.settings import Options
from buildtool.targets import registry

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "target-package"
DIGITS = ROOT / "examples" / "digits" / "deploy.yml"
LATHE = Path(sys.executable).with_name("lathe")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the example is installed, as a user would do it."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", folder / "site", folder / "source"], check=True)
    return folder / "site"


def lathe(site: Path, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [str(LATHE), *map(str, words)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def sampled(folder: Path) -> Path:
    """The deployment of the example, beginning with known numbers."""
    np.save(folder / "x.npy", np.array([[1, 2, 3], [-1, 0.5, 10]], np.float32))
    shutil.copy(EXAMPLE / "square.onnx", folder)
    text = (EXAMPLE / "deploy.yml").read_text() + "    validation_inputs_data: [x.npy]\n"
    (folder / "deploy.yml").write_text(text)
    return folder / "deploy.yml"


@pytest.mark.slow
def test_a_chip_of_another_package_gets_its_program(site: Path, tmp_path: Path) -> None:
    done = lathe(site, "build", sampled(tmp_path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    program = tmp_path / "build" / "square" / "lib" / "abacus-1" / "square.elf"
    program.chmod(0o755)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert said == ["2.000", "6.000", "12.000", "2.000", "2.250", "103.000"]  # with the digits of its own section
    report = (tmp_path / "build" / "square" / "report" / "build.json").read_text()
    assert '"powers_to_products"' in report  # without that pass, the chip has no such operator


@pytest.mark.slow
def test_without_the_pass_the_target_says_what_it_cannot_do(site: Path, tmp_path: Path) -> None:
    file = sampled(tmp_path)
    file.write_text(file.read_text() + "    graph_optimize_options: [fold_constants]\n")
    done = lathe(site, "build", file, folder=tmp_path)
    assert done.returncode == 4
    assert "the Abacus has no operator 'pow'" in done.stderr


@pytest.mark.slow
def test_wrong_values_of_its_keys_are_refused_with_their_place(site: Path, tmp_path: Path) -> None:
    file = sampled(tmp_path)
    file.write_text(file.read_text().replace("{digits: 3}", "{digits: 4}"))
    done = lathe(site, "check", file, folder=tmp_path)
    assert done.returncode == 2
    assert "deploy.yml:14:22: error: 'digits' cannot be '4'" in done.stderr
    assert "allowed: 3, 6 or 9" in done.stderr


@pytest.mark.slow
def test_all_commands_know_the_package(site: Path, tmp_path: Path) -> None:
    assert "powers_to_products" in lathe(site, "inspect", "passes", folder=tmp_path).stdout
    assert "abacus-1" in lathe(site, "doctor", "--abi", "abacus-1", folder=tmp_path).stdout


# -- packages that are of no use ---------------------------------------------------------------------------------------
class Packages:
    """Installs packages of one module into a folder that Python looks into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, package: str, group: str, name: str, code: str) -> None:
        module = package.replace("-", "_")
        (self.folder / f"{module}.py").write_text(code)
        importlib.invalidate_caches()
        info = self.folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:IT\n")


def _forget() -> None:
    caches: tuple[Any, ...] = (
        entry_points._found,
        targets.offered,
        targets.words,
        offered.offered,
        models.sections,
        registry.all_targets,
    )
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    _forget()
    yield Packages(folder)
    _forget()
    for file in folder.glob("*.py"):
        sys.modules.pop(file.stem, None)


TARGET = """
class Target:
    name = "{name}"
    class capabilities:
        runtimes = ("{name}",)
        abis = {{}}
    def lower(self, library, abi): ...
    def emit(self, programs): ...
IT = Target()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("OTHER = 1", "AttributeError: module 'broken_chip' has no attribute 'IT'"),
        ("IT = 1", "it is not a target"),
        ("class IT: name = 'a'; capabilities = None", "it is not a target"),
        (TARGET.format(name="x").replace("emit", "omit"), "it has no emit"),
        (TARGET.format(name="x").replace("abis", "chips"), "it has no capabilities.abis"),
        (TARGET.format(name="k210"), "the package 'lathe-build' also has a target of this name"),
    ],
)
def test_a_broken_target_is_told_with_its_package_and_breaks_nothing(packages: Packages, code: str, why: str) -> None:
    packages.add("broken-chip", "lathe.targets", "chip", code)
    assert list(registry.all_targets()) == ["cpu", "hexagon", "k210", "max7800x", "micro", "opencl"]
    (problem,) = registry.not_loaded()
    assert problem.what.startswith(f"the target 'chip' of the package 'broken-chip' cannot be loaded: {why}")
    assert "pip uninstall broken-chip" in problem.remedy
    assert problem in workflow.check(DIGITS).notes


def test_an_unknown_word_reminds_of_packages_that_could_not_be_loaded(packages: Packages, tmp_path: Path) -> None:
    packages.add("broken-chip", "lathe.targets", "chip", "import no_such_module")
    file = tmp_path / "deploy.yml"
    file.write_text(DIGITS.read_text().replace("target_abis: [", "target_abis: [zzzzzz, "))
    with pytest.raises(ConfigError, match="possible cause: the target 'chip' of the package 'broken-chip'"):
        workflow.check(file, files=False)


def test_a_section_that_is_taken_is_refused(packages: Packages) -> None:
    code = TARGET.format(name="x").replace("abis = {}", "abis = {}; sections = {'cnn': None}")
    packages.add("second-chip", "lathe.targets", "chip", code)
    assert "has a section 'cnn' already" in registry.not_loaded()[0].what


def test_an_installation_without_targets_says_how_to_mend_it(
    packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda group: ())
    with pytest.raises(ToolchainError, match="this installation of Lathe offers no targets") as caught:
        registry.all_targets()
    assert "make setup" in caught.value.problems[0].remedy


PASS = """
from buildtool.passes.base import Pass
class IT(Pass):
    name = "{name}"
    summary = "none"
    requires = {requires}
    def run(self, graph):
        {does}
"""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("IT = 1", "it is not a pass"),
        (PASS.format(name="fold_pads", requires=(), does="return False"), "there is a pass 'fold_pads' already"),
        (PASS.format(name="x", requires=("y",), does="return False"), "it requires the pass 'y', which does not exist"),
        (PASS.format(name="x", requires=(), does="...").replace("run", "walk"), "it cannot be created"),
    ],
)
def test_a_broken_pass_is_told_with_its_package(packages: Packages, code: str, why: str) -> None:
    packages.add("broken-pass", "lathe.passes", "x", code)
    assert pipeline.order() == pipeline.ORDER
    (problem,) = registry.not_loaded()
    assert problem.what.startswith(f"the pass 'x' of the package 'broken-pass' cannot be loaded: {why}")


def test_a_pass_that_fails_names_its_package(packages: Packages) -> None:
    packages.add("bad-pass", "lathe.passes", "x", PASS.format(name="x", requires=(), does="return 1 / 0"))
    with pytest.raises(
        InternalError, match="the pass 'x' of the package 'bad-pass' failed: ZeroDivisionError"
    ) as caught:
        pipeline.optimise(Graph())
    assert "remove 'x' from graph_optimize_options" in caught.value.problems[0].remedy


def test_a_pass_runs_behind_those_of_lathe_or_where_a_target_asks_for_it(packages: Packages) -> None:
    packages.add("one", "lathe.passes", "x", PASS.format(name="x", requires=("fold_pads",), does="return False"))
    late = PASS.format(name="late", requires=(), does="return False").replace("requires", "lowers = True; requires")
    packages.add("two", "lathe.passes", "late", late)
    assert [kind.name for kind in pipeline.order()[-2:]] == ["x", "remove_dead_code"]
    assert [kind.name for kind in pipeline.lowering()][-1] == "late"
    assert registry.not_loaded() == ()


def test_the_schema_has_the_words_of_all_targets(packages: Packages) -> None:
    packages.add("one", "lathe.targets", "one", TARGET.format(name="newrun"))
    assert "newrun" in json_schema()["$defs"]["ModelSection"]["properties"]["runtime"]["enum"]


def test_additions_of_packages_identify_a_build(packages: Packages, tmp_path: Path) -> None:
    deployment = deployments.load_deployment(DIGITS)

    def identity() -> str:
        _forget()
        return build_identity.known_tuning(deployment, Options(output=tmp_path / "build")).identity

    before = identity()
    packages.add("one", "lathe.passes", "x", PASS.format(name="x", requires=(), does="return False"))
    added = identity()
    source = packages.folder / "one.py"
    source.write_text(source.read_text() + "# another version\n")
    assert len({before, added, identity()}) == 3


def test_doctor_lists_what_cannot_be_loaded(packages: Packages) -> None:
    packages.add("broken-chip", "lathe.targets", "chip", "import no_such_module")
    (finding,) = [item for item in machine.examine(["host"]) if item.target == "packages"]
    assert not finding.here and not finding.required
    assert "the target 'chip' of the package 'broken-chip' cannot be loaded" in finding.detail
