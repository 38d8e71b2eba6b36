"""The changelog, the decision records, the workflow and the hooks say what the repository does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
DECISIONS = ROOT / "docs" / "decisions"
MOST_WORDS = 330  # half a page
RECORDS = sorted(DECISIONS.glob("[0-9]*.md"))


def _project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])


def _workflow() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text()))


def _makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _made(text: str) -> list[str]:
    """The targets of all `make` commands in a text."""
    return re.findall(r"\bmake ([a-z-]+)", text)


# --- decisions -------------------------------------------------------------------------------------------------------


def test_records_are_numbered_without_gaps() -> None:
    assert [int(path.name[:4]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))
    assert len(RECORDS) >= 13


def test_the_index_lists_each_record_with_its_title() -> None:
    rows = re.findall(r"^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$", (DECISIONS / "index.md").read_text(), re.MULTILINE)
    titles = [path.read_text().splitlines()[0] for path in RECORDS]
    assert [(name, f"# {int(number)}. {title}") for number, name, title in rows] == [
        (path.name, title) for path, title in zip(RECORDS, titles, strict=True)
    ]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_all_parts_and_is_short(path: Path) -> None:
    text = path.read_text()
    parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
    assert parts == ["Context", "Decision", "Consequences", "Alternatives"]
    assert len(text.split()) <= MOST_WORDS


# --- changelog and versions ------------------------------------------------------------------------------------------


def test_the_changelog_ends_at_the_version_of_the_package() -> None:
    headings = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == ("Unreleased", "")
    released = [version for version, date in headings[1:] if date]
    assert len(released) == len(headings) - 1, "each version has a date"
    assert released[0] == _project()["version"]
    assert released == sorted(released, key=lambda text: [int(part) for part in text.split(".")], reverse=True)


def test_the_changelog_uses_the_groups_of_its_layout() -> None:
    groups = set(re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE))
    assert groups <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_names_all_commands() -> None:
    from buildtool.cli.main import COMMANDS

    words = set(re.findall(r"`([a-z-]+)`", (ROOT / "CHANGELOG.md").read_text()))
    assert set(COMMANDS) <= words


# --- hooks and workflow ----------------------------------------------------------------------------------------------


def test_hooks_are_targets_of_the_makefile() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"], "hooks need no network"
    hooks = repositories[0]["hooks"]
    targets = [_made(hook["entry"]) for hook in hooks]
    assert [[hook["id"]] for hook in hooks] == targets
    assert {name for (name,) in targets} <= _makefile_targets()


def test_the_workflow_runs_all_supported_versions_with_both_compilers() -> None:
    workflow = _workflow()
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    least = _project()["requires-python"].removeprefix(">=")
    assert matrix["python"][0] == least
    assert workflow["jobs"]["release"]["strategy"]["matrix"]["python"] == matrix["python"]
    minors = [int(version.removeprefix("3.")) for version in matrix["python"]]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert {entry["name"]: (entry["cc"], entry["cxx"]) for entry in matrix["compiler"]} == {
        "GCC": ("gcc", "g++"),
        "Clang": ("clang-19", "clang++-19"),
    }
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert {"setup", "test", "release"} <= set(_made("\n".join(steps))) <= _makefile_targets()


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_issue_forms_are_forms(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    if path.stem == "config":
        return
    assert {"name", "description", "body"} <= form.keys()
    names = [entry["id"] for entry in form["body"] if entry["type"] != "markdown"]
    assert len(set(names)) == len(names) > 0
    assert any(entry.get("validations", {}).get("required") for entry in form["body"])


def test_classifiers_name_the_versions_of_the_workflow() -> None:
    matrix = _workflow()["jobs"]["test"]["strategy"]["matrix"]
    named = [text.rpartition(" :: ")[2] for text in _project()["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert named == matrix["python"]
