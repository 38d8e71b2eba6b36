"""Models of frameworks are shrunk by their recipes; what stands in for a framework here writes no model."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.strangers import drawers
from tests.strangers.drawers import Drawer
from tests.strangers.judge import Verdict
from tests.strangers.pool import Worker
from tests.strangers.recipes import ENDED, Recipe, Written

_STEPS = 9


class _Framework(Drawer):
    """Each step adds one to the first size."""

    def __init__(self) -> None:
        super().__init__(Path(sys.executable), "none")

    def write(self, recipe: Recipe, folder: Path, forms: list[str]) -> Written | str:
        shape = recipe.shape or (4, 6)
        kept = [step not in recipe.dropped for step in range(_STEPS)]
        steps = tuple((shape[0] + sum(kept[: step + 1]), shape[1]) for step in range(_STEPS))
        for form in forms:
            (folder / form).mkdir(parents=True)
            (folder / form / "case.json").write_text(",".join(map(str, sorted(set(range(_STEPS)) - recipe.dropped))))
        return Written(shape, steps, f"{len(recipe.dropped)} of {_STEPS} steps are left out")


class _Judge(Worker):
    """Steps 3 and 7 together are at fault."""

    def judge(self, job: Any) -> Verdict:
        steps = (Path(job["case"]) / "case.json").read_text().split(",")
        return Verdict("wrong" if {"3", "7"} <= set(steps) else "right")


def test_shrinking_leaves_the_steps_at_fault(tmp_path: Path) -> None:
    job = {"case": "", "seed": 5, "form": "keras"}
    told = drawers.shrink(_Framework(), _Judge(tmp_path), job, Verdict("wrong"), tmp_path / "5-keras")
    assert told.startswith(f"{_STEPS - 2} of {_STEPS} steps are left out")
    assert (tmp_path / "5-keras" / "case.json").read_text() == "3,7"
    assert '"shape": [1, 1]' in told
    assert not (tmp_path / "candidate").exists()


def test_a_recipe_is_the_same_when_it_is_read_back() -> None:
    recipe = Recipe(3, (2, 5), frozenset({1, 4}))
    assert Recipe.of(recipe.as_json()) == recipe
    assert recipe.rng(2).random() == Recipe(3).rng(2).random() != recipe.rng(3).random()


@pytest.mark.parametrize("family", drawers.FORMS)
def test_each_form_is_written_for_some_seeds(family: str) -> None:
    written = {form for seed in range(40) for form in drawers.forms_of(family, seed)}
    assert written == {form for group in drawers.FORMS[family] for form in group} - {""}


def test_a_framework_that_dies_is_named(tmp_path: Path) -> None:
    drawer = Drawer(Path("/bin/false"), "keras")
    assert drawer.write(Recipe(1), tmp_path, ["h5"]) == "the process of the framework ended"


_SERVER = """
import os, signal, time
from pathlib import Path
from tests.strangers import recipes
recipes.SECONDS = 1
def write(recipe, folder, forms):
    if recipe.seed == 1:
        (folder / "first").mkdir(parents=True)
        (folder / "first" / "case.json").write_text("{}")
        os.kill(os.getpid(), signal.SIGSEGV)
    if recipe.seed == 2:
        time.sleep(30)
    return recipes.Written((recipe.seed,), (), str(os.getppid()))
recipes.serve(write)
"""


def test_a_model_that_ends_its_process_costs_no_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what other forms of it were written, nor does one that takes too long."""
    monkeypatch.setitem(drawers.FORMS, "some", (("first",), ("second",)))
    drawer = Drawer(Path(sys.executable), "some")
    monkeypatch.setattr(drawer, "_command", [sys.executable, "-c", _SERVER])
    parents = []
    for seed, told in ((0, ""), (1, "ended (-11)"), (2, "took more than 1 s"), (3, "")):
        written = drawer.write(Recipe(seed), tmp_path / str(seed), ["first", "second"])
        if isinstance(written, Written):
            parents.append(written.text)
        else:
            assert written == f"{ENDED} {told}"
    assert len(parents) == 2
    assert len(set(parents)) == 1
    skipped: Counter[str] = Counter()
    jobs = list(drawers.jobs(drawer, "some", range(1, 2), tmp_path / "jobs", skipped))
    drawer.end()
    assert [job["form"] for job in jobs] == ["first"]
    assert skipped == {f"second: {ENDED} ended (-11)": 1}
